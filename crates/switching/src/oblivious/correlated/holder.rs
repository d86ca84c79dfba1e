use super::super::packing::pack;
use super::super::rows::words_of;
use super::super::walk::Switches;
use super::{ANNOUNCED, Pads, add_hashed};
use std::collections::VecDeque;
use vesica_core::{Block, Error, Result, Secret, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::silent::cot;
use vesica_ot::silent::pieces::Extensions;
use zeroize::Zeroize;

/// The party with the rows, as the sender of silent OT.
pub(crate) struct Holder {
    delta: Secret<Block>,
    streams: VecDeque<cot::SenderStream>,
    pads: Pads,
    /// Number of all switches, and of those with a piece.
    all: u64,
    started: u64,
    /// The router's corrections of the choices.
    differ: Vec<u8>,
    /// Pieces not used up yet.
    pieces: VecDeque<Piece>,
    keys: Secret<Vec<Block>>,
    /// Used pieces, kept for their memory.
    spent: Vec<Piece>,
    /// Switches of the first piece that are done.
    passed: usize,
    message: Vec<u8>,
}

/// The masks and corrections of consecutive switches.
#[derive(Default)]
struct Piece {
    len: usize,
    hashed: Vec<Block>,
    /// w, which the holder adds to both lanes.
    masks: Vec<u64>,
    /// The XOR of both hashes; adding both lanes completes the correction.
    corrections: Vec<u64>,
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.hashed.zeroize();
        self.masks.zeroize();
        self.corrections.zeroize();
    }
}

impl Holder {
    /// Receives the corrections of all choices.
    ///
    /// This happens before the first correction goes out, because the router reads none before it
    /// has sent its last choice. Two parties that write without reading deadlock once the queues
    /// between them are full.
    pub(crate) fn receive_corrections(&mut self, ctx: &mut Context) -> Result<()> {
        self.differ = vec![0; Bits::bytes_len(self.all as usize)];
        for differ in self.differ.chunks_mut(ANNOUNCED / 8) {
            ctx.peer()?.recv_into(differ)?;
        }
        Ok(())
    }
}

impl Switches for Holder {
    fn setup(ctx: &mut Context, session: &SessionId, switches: u64, bits: u32) -> Result<Self> {
        let mut streams = VecDeque::new();
        let mut delta = Secret::new(Block::ZERO);
        if switches > 0 {
            let mut sender = cot::Sender::<SemiHonest>::setup(ctx, session)?;
            delta = sender.delta();
            for len in Extensions::new(switches).lens() {
                streams.push_back(sender.extend(ctx, len)?);
            }
        }
        Ok(Self {
            delta,
            streams,
            pads: Pads::new(bits, session),
            all: switches,
            started: 0,
            differ: Vec::new(),
            pieces: VecDeque::new(),
            keys: Secret::new(Vec::new()),
            spent: Vec::new(),
            passed: 0,
            message: Vec::new(),
        })
    }

    fn ready(&self) -> usize {
        self.pieces.front().map_or(0, |piece| piece.len - self.passed)
    }

    /// Makes the next pieces, one per thread.
    fn begin(&mut self, ctx: &mut Context) -> Result<()> {
        let piece_len = self.pads.piece_len();
        ctx.progress(self.started, self.all);
        let most = (ctx.pool().len() * piece_len) as u64;
        let len = (self.all - self.started).min(most) as usize;
        if len == 0 {
            return Err(Error::Bug("a network has more switches than announced"));
        }
        self.keys.expose_mut().resize(len, Block::ZERO);
        let mut rest = self.keys.expose_mut().as_mut_slice();
        while let (Some(stream), false) = (self.streams.front_mut(), rest.is_empty()) {
            let (now, later) = rest.split_at_mut(rest.len().min(stream.left()));
            stream.fill(ctx.pool(), now)?;
            rest = later;
            if stream.left() == 0 {
                self.streams.pop_front();
            }
        }
        let (bits, words, delta) = (self.pads.bits, words_of(self.pads.bits), &self.delta);
        // Pieces start at whole bytes.
        let differ = self.differ[self.started as usize / 8..].chunks(piece_len / 8);
        let mut tasks = Vec::new();
        for (keys, differ) in self.keys.expose_mut().chunks_mut(piece_len).zip(differ) {
            let mut piece = self.spent.pop().unwrap_or_default();
            piece.len = keys.len();
            self.pieces.push_back(piece);
            tasks.push((self.pads.next(), keys, differ));
        }
        let tasks = tasks.into_iter().zip(&mut self.pieces).collect();
        ctx.pool().for_each(tasks, |((hashes, keys, differ), piece)| {
            let delta = *delta.expose();
            for (keys, byte) in keys.chunks_mut(8).zip(differ) {
                for (i, key) in keys.iter_mut().enumerate() {
                    *key ^= delta & Block::mask(byte >> i & 1 == 1);
                }
            }
            let Piece { hashed, masks, corrections, .. } = piece;
            hashed.resize(keys.len(), Block::ZERO);
            masks.clear();
            masks.resize(keys.len() * words, 0);
            add_hashed(&hashes, bits, keys, hashed, masks);
            keys.iter_mut().for_each(|key| *key ^= delta);
            corrections.clone_from(masks);
            add_hashed(&hashes, bits, keys, hashed, corrections);
        });
        self.started += len as u64;
        Ok(())
    }

    fn apply<const W: usize>(&mut self, words: usize, pairs: &mut [u64]) {
        let w = if W == 0 { words } else { W };
        let Some(piece) = self.pieces.front_mut() else { return };
        let masks = piece.masks[self.passed * w..].chunks_exact(w);
        let corrections = piece.corrections[self.passed * w..].chunks_exact_mut(w);
        self.passed += pairs.len() / (2 * w);
        for ((pair, mask), correction) in pairs.chunks_exact_mut(2 * w).zip(masks).zip(corrections)
        {
            let (one, other) = pair.split_at_mut(w);
            for j in 0..w {
                correction[j] ^= one[j] ^ other[j];
                one[j] ^= mask[j];
                other[j] ^= mask[j];
            }
        }
    }

    /// Sends the corrections of the first piece.
    fn end(&mut self, ctx: &mut Context) -> Result<()> {
        self.passed = 0;
        if let Some(piece) = self.pieces.pop_front() {
            pack(&piece.corrections, self.pads.bits, &mut self.message);
            ctx.peer()?.send(&self.message)?;
            self.spent.push(piece);
        }
        Ok(())
    }
}
