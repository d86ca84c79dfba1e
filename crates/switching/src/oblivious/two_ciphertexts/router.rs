use super::super::choices::Choices;
use super::super::packing::{bytes_len, unpack};
use super::super::rows::{Rows, words_of};
use super::super::walk::Switches;
use super::{FIELD_BITS, Pads, ROWS, WINDOW, add_hashed, row_pieces};
use std::collections::VecDeque;
use vesica_core::{Block, Error, Result, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::softspoken::{Receiver, Request};
use vesica_ot::{Bits, Cots};
use zeroize::{Zeroize, Zeroizing};

/// The party that chooses the order, as the receiver of the OTs.
pub(crate) struct Router {
    transfers: Option<Receiver<SemiHonest>>,
    pads: Pads,
    choices: Option<Choices>,
    all: u64,
    /// Number of switches whose choices were sent, and of those whose answers arrived.
    announced: u64,
    started: u64,
    waiting: VecDeque<Cots>,
    /// The first switch of the piece, and the number of its switches.
    first: u64,
    len: usize,
    /// Added to both lanes of each switch after the exchange.
    sums: Vec<u64>,
    passed: usize,
}

impl Drop for Router {
    fn drop(&mut self) {
        self.sums.zeroize();
    }
}

impl Router {
    /// Sends the corrections of the first choices.
    pub(crate) fn announce(&mut self, ctx: &mut Context, choices: Choices) -> Result<()> {
        self.choices = Some(choices);
        self.announce_until(ctx, 2 * WINDOW)
    }

    fn announce_until(&mut self, ctx: &mut Context, end: u64) -> Result<()> {
        let (Some(choices), Some(transfers)) = (&self.choices, &mut self.transfers) else {
            return Ok(());
        };
        while self.announced < end.min(self.all) {
            let len = (self.all - self.announced).min(self.pads.piece_len() as u64) as usize;
            let cots = std::mem::take(&mut transfers.extend(ctx, Request::cots(len))?.cots);
            let words = choices.from(self.announced).iter().take(len.div_ceil(64));
            let bytes =
                Zeroizing::new(words.flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
            let differ = Bits::from_bytes(&bytes[..Bits::bytes_len(len)], len).xor(&cots.choices);
            ctx.peer()?.send(&differ.to_bytes())?;
            self.waiting.push_back(cots);
            self.announced += len as u64;
        }
        ctx.peer()?.flush()
    }

    /// Receives the rows under the holder's masks.
    pub(crate) fn masked(&mut self, ctx: &mut Context, inputs: usize) -> Result<Rows> {
        let bits = self.pads.bits;
        let words = words_of(bits);
        let mut rows = vec![0; inputs * words];
        let mut rest = rows.as_mut_slice();
        for len in row_pieces(inputs, bits) {
            let (now, later) = rest.split_at_mut(len * words);
            unpack(&ctx.peer()?.recv(bytes_len(len, bits))?, bits, now);
            rest = later;
        }
        Ok(Rows::from_words(inputs, bits, rows))
    }
}

impl Switches for Router {
    fn setup(ctx: &mut Context, session: &SessionId, switches: u64, bits: u32) -> Result<Self> {
        let transfers =
            if switches > 0 { Some(Receiver::setup(ctx, session, FIELD_BITS)?) } else { None };
        Ok(Self {
            transfers,
            pads: Pads::new(bits, session),
            choices: None,
            all: switches,
            announced: 0,
            started: 0,
            waiting: VecDeque::new(),
            first: 0,
            len: 0,
            sums: Vec::new(),
            passed: 0,
        })
    }

    fn ready(&self) -> usize {
        self.len - self.passed
    }

    fn begin(&mut self, ctx: &mut Context) -> Result<()> {
        if self.started > 0 && self.started.is_multiple_of(WINDOW) {
            self.announce_until(ctx, self.started + 2 * WINDOW)?;
        }
        let (Some(cots), Some(choices)) = (self.waiting.pop_front(), &self.choices) else {
            return Err(Error::Bug("a network has more switches than announced"));
        };
        let len = cots.blocks.len();
        (self.first, self.len, self.passed) = (self.started, len, 0);
        self.started += len as u64;
        let (bits, words) = (self.pads.bits, words_of(self.pads.bits));
        let mut ciphertexts = vec![0; ROWS * words * len];
        unpack(&ctx.peer()?.recv(bytes_len(ROWS * len, bits))?, bits, &mut ciphertexts);
        self.sums.resize(2 * words * len, 0);
        let choices = choices.from(self.first);
        let pairs = ciphertexts.chunks_exact(ROWS * words);
        for (i, (sum, pair)) in self.sums.chunks_exact_mut(2 * words).zip(pairs).enumerate() {
            let mask = (choices[i / 64] >> (i % 64) & 1).wrapping_neg();
            let (zero, one) = pair.split_at(2 * words);
            for ((sum, zero), one) in sum.iter_mut().zip(zero).zip(one) {
                *sum = zero ^ (zero ^ one) & mask;
            }
        }
        let (hashes, mut hashed) = (self.pads.next(), vec![Block::ZERO; len]);
        add_hashed(&hashes, bits, &cots.blocks, &mut hashed, &mut self.sums, 0, 2 * words);
        hashed.zeroize();
        Ok(())
    }

    fn apply<const W: usize>(&mut self, words: usize, pairs: &mut [u64]) {
        let w = if W == 0 { words } else { W };
        let Some(choices) = &self.choices else { return };
        let choices = choices.from(self.first);
        let sums = self.sums[2 * w * self.passed..].chunks_exact(2 * w);
        for (i, (pair, sums)) in (self.passed..).zip(pairs.chunks_exact_mut(2 * w).zip(sums)) {
            let mask = (choices[i / 64] >> (i % 64) & 1).wrapping_neg();
            for j in 0..w {
                let exchange = (pair[j] ^ pair[w + j]) & mask;
                pair[j] ^= exchange ^ sums[j];
                pair[w + j] ^= exchange ^ sums[w + j];
            }
        }
        self.passed += pairs.len() / (2 * w);
    }

    fn end(&mut self, _: &mut Context) -> Result<()> {
        Ok(())
    }
}
