use super::super::packing::pack;
use super::super::rows::{Rows, words_of};
use super::super::walk::Switches;
use super::{FIELD_BITS, Pads, ROWS, add_hashed, row_pieces};
use rand::Rng;
use vesica_core::{Block, Error, Result, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::softspoken::{Request, Sender};
use zeroize::Zeroize;

/// The party with the rows, as the sender of the OTs.
pub(crate) struct Holder {
    transfers: Option<Sender<SemiHonest>>,
    pads: Pads,
    left: u64,
    /// The masks of both lanes behind each switch of the piece.
    masks: Rows,
    /// The masked rows, until the first choices are here.
    masked: Vec<Vec<u8>>,
    /// The pads of both ciphertexts; XORed with the plaintexts they form the message.
    ciphertexts: Vec<u64>,
    len: usize,
    passed: usize,
    message: Vec<u8>,
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.ciphertexts.zeroize();
    }
}

/// A fresh seed.
fn seed(ctx: &mut Context) -> Block {
    let mut seed = [0; Block::LEN];
    ctx.rng().fill_bytes(&mut seed);
    Block::from_le_bytes(seed)
}

impl Holder {
    /// Masks the rows, and returns the masks. The rows leave with the first ciphertexts: a message
    /// between the setup and the router's choices would be one more flight.
    pub(crate) fn mask(&mut self, ctx: &mut Context, rows: &Rows) -> Result<Rows> {
        let (bits, words) = (rows.bits(), rows.words_per_row());
        let masks = Rows::from_seed(seed(ctx), rows.len(), bits);
        let mut first = 0;
        for len in row_pieces(rows.len(), bits) {
            let range = first * words..(first + len) * words;
            let masked = rows.words()[range.clone()].iter().zip(&masks.words()[range]);
            let masked: Vec<u64> = masked.map(|(row, mask)| row ^ mask).collect();
            let mut message = Vec::new();
            pack(&masked, bits, &mut message);
            self.masked.push(message);
            first += len;
        }
        // Without switches there are no choices to wait for.
        if self.left == 0 {
            self.send_masked(ctx)?;
        }
        Ok(masks)
    }

    fn send_masked(&mut self, ctx: &mut Context) -> Result<()> {
        self.masked.drain(..).try_for_each(|message| ctx.peer()?.send(&message))
    }
}

impl Switches for Holder {
    fn setup(ctx: &mut Context, session: &SessionId, switches: u64, bits: u32) -> Result<Self> {
        let transfers =
            if switches > 0 { Some(Sender::setup(ctx, session, FIELD_BITS)?) } else { None };
        Ok(Self {
            transfers,
            pads: Pads::new(bits, session),
            left: switches,
            masks: Rows::zeros(0, bits),
            masked: Vec::new(),
            ciphertexts: Vec::new(),
            len: 0,
            passed: 0,
            message: Vec::new(),
        })
    }

    fn ready(&self) -> usize {
        self.len - self.passed
    }

    fn begin(&mut self, ctx: &mut Context) -> Result<()> {
        let len = self.left.min(self.pads.piece_len() as u64) as usize;
        let Some(transfers) = self.transfers.as_mut().filter(|_| len > 0) else {
            return Err(Error::Bug("a network has more switches than announced"));
        };
        self.left -= len as u64;
        (self.len, self.passed) = (len, 0);
        let delta = transfers.delta();
        let mut keys = transfers.extend(ctx, Request::cots(len))?;
        let differ = ctx.peer()?.recv(Bits::bytes_len(len))?;
        for (keys, byte) in keys.cots.chunks_mut(8).zip(differ) {
            for (i, key) in keys.iter_mut().enumerate() {
                *key ^= *delta.expose() & Block::mask(byte >> i & 1 == 1);
            }
        }
        self.send_masked(ctx)?;
        let (bits, words) = (self.pads.bits, words_of(self.pads.bits));
        self.ciphertexts.clear();
        self.ciphertexts.resize(len * ROWS * words, 0);
        let (hashes, mut hashed) = (self.pads.next(), vec![Block::ZERO; len]);
        for offset in [0, 2 * words] {
            let (rows, stride) = (&mut self.ciphertexts, ROWS * words);
            add_hashed(&hashes, bits, &keys.cots, &mut hashed, rows, offset, stride);
            keys.cots.iter_mut().for_each(|key| *key ^= *delta.expose());
        }
        hashed.zeroize();
        self.masks = Rows::from_seed(seed(ctx), 2 * len, bits);
        Ok(())
    }

    fn apply<const W: usize>(&mut self, words: usize, pairs: &mut [u64]) {
        let w = if W == 0 { words } else { W };
        let masks = self.masks.words()[2 * w * self.passed..].chunks_exact(2 * w);
        let ciphertexts = self.ciphertexts[ROWS * w * self.passed..].chunks_exact_mut(ROWS * w);
        self.passed += pairs.len() / (2 * w);
        for ((pair, masks), ciphertexts) in
            pairs.chunks_exact_mut(2 * w).zip(masks).zip(ciphertexts)
        {
            // The first ciphertext holds the mask changes of a straight switch, the second the
            // changes of an exchange.
            let (straight, exchanged) = ciphertexts.split_at_mut(2 * w);
            for j in 0..w {
                straight[j] ^= pair[j] ^ masks[j];
                straight[w + j] ^= pair[w + j] ^ masks[w + j];
                exchanged[j] ^= pair[w + j] ^ masks[j];
                exchanged[w + j] ^= pair[j] ^ masks[w + j];
            }
            pair.copy_from_slice(masks);
        }
    }

    /// Sends the ciphertexts of the piece.
    fn end(&mut self, ctx: &mut Context) -> Result<()> {
        pack(&self.ciphertexts, self.pads.bits, &mut self.message);
        ctx.peer()?.send(&self.message)
    }
}
