use super::super::choices::Choices;
use super::super::packing::{bytes_len, unpack};
use super::super::rows::words_of;
use super::super::walk::Switches;
use super::{ANNOUNCED, Pads, add_hashed};
use std::collections::VecDeque;
use vesica_core::{Block, Error, Result, Secret, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::silent::cot::{self, ReceiverStream};
use vesica_ot::silent::pieces::Extensions;
use vesica_simd::low_bits::low_bits;
use zeroize::{Zeroize, Zeroizing};

/// The party that chooses the order, as the receiver of silent OT.
pub(crate) struct Router {
    /// Two streams of the same OTs: first for the choices, then for the messages, which are too
    /// many to store.
    of_choices: VecDeque<ReceiverStream>,
    of_messages: VecDeque<ReceiverStream>,
    pads: Pads,
    all: u64,
    started: u64,
    choices: Option<Choices>,
    pieces: VecDeque<Piece>,
    messages: Secret<Vec<Block>>,
    /// Used pieces, kept for their memory.
    spent: Vec<Piece>,
    passed: usize,
}

/// The corrections of consecutive switches.
#[derive(Default)]
struct Piece {
    len: usize,
    hashed: Vec<Block>,
    /// The holder's corrections, as received.
    received: Vec<u8>,
    /// The first switch.
    first: u64,
    /// Added to both lanes after the exchange.
    sums: Vec<u64>,
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.hashed.zeroize();
        self.sums.zeroize();
    }
}

impl Router {
    /// Sends the corrections of the choices.
    pub(crate) fn announce(&mut self, ctx: &mut Context, choices: Choices) -> Result<()> {
        /// OTs that are expanded together, so that they stay in the cache.
        const PIECE: usize = 1 << 14;
        let mut messages = Secret::new(Vec::new());
        let mut words = Secret::new(Vec::new());
        for first in (0..self.all).step_by(ANNOUNCED) {
            let len = (self.all - first).min(ANNOUNCED as u64) as usize;
            let mut differ = Zeroizing::new(choices.from(first)[..len.div_ceil(64)].to_vec());
            let at_once = PIECE * ctx.pool().len();
            for (differ, start) in differ.chunks_mut(at_once / 64).zip((0..len).step_by(at_once)) {
                let messages = messages.expose_mut();
                messages.resize(64 * differ.len(), Block::ZERO);
                let count = (len - start).min(at_once);
                fill(ctx, &mut self.of_choices, &mut messages[..count])?;
                messages[count..].fill(Block::ZERO);
                let words: &mut Vec<u64> = words.expose_mut();
                words.resize(differ.len(), 0);
                low_bits(messages, words);
                differ.iter_mut().zip(words).for_each(|(differ, word)| *differ ^= *word);
            }
            let bytes: Vec<u8> = differ.iter().flat_map(|word| word.to_le_bytes()).collect();
            ctx.peer()?.send(&bytes[..Bits::bytes_len(len)])?;
        }
        ctx.peer()?.flush()?;
        self.choices = Some(choices);
        Ok(())
    }
}

/// Fills `messages` with the next OTs.
fn fill(
    ctx: &Context,
    streams: &mut VecDeque<ReceiverStream>,
    messages: &mut [Block],
) -> Result<()> {
    let mut rest = messages;
    while let (Some(stream), false) = (streams.front_mut(), rest.is_empty()) {
        let (now, later) = rest.split_at_mut(rest.len().min(stream.left()));
        stream.fill(ctx.pool(), now)?;
        rest = later;
        if stream.left() == 0 {
            streams.pop_front();
        }
    }
    Ok(())
}

impl Switches for Router {
    fn setup(ctx: &mut Context, session: &SessionId, switches: u64, bits: u32) -> Result<Self> {
        let [mut of_choices, mut of_messages] = [(); 2].map(|()| VecDeque::new());
        if switches > 0 {
            let mut receiver = cot::Receiver::<SemiHonest>::setup(ctx, session)?;
            for len in Extensions::new(switches).lens() {
                let [one, other] = receiver.extend_readers(ctx, len)?;
                of_choices.push_back(one);
                of_messages.push_back(other);
            }
        }
        Ok(Self {
            of_choices,
            of_messages,
            pads: Pads::new(bits, session),
            all: switches,
            started: 0,
            choices: None,
            pieces: VecDeque::new(),
            messages: Secret::new(Vec::new()),
            spent: Vec::new(),
            passed: 0,
        })
    }

    fn ready(&self) -> usize {
        self.pieces.front().map_or(0, |piece| piece.len - self.passed)
    }

    /// Makes the next pieces, one per thread, with the holder's corrections.
    fn begin(&mut self, ctx: &mut Context) -> Result<()> {
        let piece_len = self.pads.piece_len();
        ctx.progress(self.started, self.all);
        let most = (ctx.pool().len() * piece_len) as u64;
        let len = (self.all - self.started).min(most) as usize;
        let Some(choices) = self.choices.as_ref().filter(|_| len > 0) else {
            return Err(Error::Bug("a network has more switches than announced"));
        };
        self.messages.expose_mut().resize(len, Block::ZERO);
        fill(ctx, &mut self.of_messages, self.messages.expose_mut())?;
        let (bits, words) = (self.pads.bits, words_of(self.pads.bits));
        let mut tasks = Vec::new();
        for messages in self.messages.expose().chunks(piece_len) {
            let mut piece = self.spent.pop().unwrap_or_default();
            (piece.len, piece.first) = (messages.len(), self.started);
            self.started += piece.len as u64;
            piece.received.resize(bytes_len(piece.len, bits), 0);
            ctx.peer()?.recv_into(&mut piece.received)?;
            self.pieces.push_back(piece);
            tasks.push((self.pads.next(), messages));
        }
        let tasks = tasks.into_iter().zip(&mut self.pieces).collect();
        ctx.pool().for_each(tasks, |((hashes, messages), piece)| {
            let Piece { first, hashed, received, sums, .. } = piece;
            sums.resize(messages.len() * words, 0);
            unpack(received, bits, sums);
            for (rows, choices) in sums.chunks_mut(64 * words).zip(choices.from(*first)) {
                for (i, row) in rows.chunks_exact_mut(words).enumerate() {
                    let mask = (choices >> i & 1).wrapping_neg();
                    row.iter_mut().for_each(|word| *word &= mask);
                }
            }
            hashed.resize(messages.len(), Block::ZERO);
            add_hashed(&hashes, bits, messages, hashed, sums);
        });
        Ok(())
    }

    fn apply<const W: usize>(&mut self, words: usize, pairs: &mut [u64]) {
        let w = if W == 0 { words } else { W };
        let (Some(piece), Some(choices)) = (self.pieces.front(), &self.choices) else { return };
        let choices = choices.from(piece.first);
        let sums = piece.sums[self.passed * w..].chunks_exact(w);
        for (i, (pair, sum)) in (self.passed..).zip(pairs.chunks_exact_mut(2 * w).zip(sums)) {
            let mask = (choices[i / 64] >> (i % 64) & 1).wrapping_neg();
            let (one, other) = pair.split_at_mut(w);
            for j in 0..w {
                let both = (one[j] ^ other[j]) & mask ^ sum[j];
                one[j] ^= both;
                other[j] ^= both;
            }
        }
        self.passed += pairs.len() / (2 * w);
    }

    fn end(&mut self, _: &mut Context) -> Result<()> {
        self.spent.extend(self.pieces.pop_front());
        self.passed = 0;
        Ok(())
    }
}
