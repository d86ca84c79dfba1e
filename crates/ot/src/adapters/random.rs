//! Random oblivious transfer: both messages and the choice are random.

use crate::{Bits, CotReceiver, CotSender};
use vesica_core::hash::derive_into;
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use vesica_simd::xor::xor;
use zeroize::Zeroizing;

const HASH_KEY: &str = "vesica ot 2026 random OT hash";

/// Transfers hashed under one key of π; this bounds an attacker's gain from many transfers.
const PER_KEY: usize = 1 << 16;

/// H(x, i) for numbered transfers, where the session and i / 2^16 key π: it makes independent
/// blocks of correlated ones.
///
/// For callers that number transfers themselves; [`Sender`] and [`Receiver`] count on their own.
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    session: SessionId,
}

impl Hash {
    /// The hash of one session, in which each number is used once.
    pub fn new(session: &SessionId) -> Self {
        Self { session: *session }
    }

    /// Replaces x_i by H(x_i, i); the first block has number `first`.
    pub fn apply(&self, first: u64, blocks: &mut [Block]) {
        let (mut next, mut left) = (first, blocks);
        while !left.is_empty() {
            let (key, place) = (next / PER_KEY as u64, next % PER_KEY as u64);
            let (now, later) = left.split_at_mut(left.len().min(PER_KEY - place as usize));
            self.pi(key).tccr(now, u128::from(next));
            next += now.len() as u64;
            left = later;
        }
    }

    fn pi(&self, key: u64) -> Aes128 {
        let mut block = [0; Block::LEN];
        derive_into(HASH_KEY, &[self.session.as_bytes(), &key.to_le_bytes()], &mut block);
        Aes128::new(Block::from_le_bytes(block))
    }
}

/// The party that gets both messages.
pub struct Sender<C: CotSender> {
    cots: C,
    hash: Hash,
    next: u64,
}

impl<C: CotSender> Sender<C> {
    /// Uses the transfers of `cots`; no one else may use them.
    pub fn new(cots: C, session: &SessionId) -> Self {
        Self { cots, hash: Hash::new(session), next: 0 }
    }

    /// Both messages of `len` new transfers.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    pub fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<[Block; 2]>> {
        let mut zeros = Zeroizing::new(self.cots.extend(ctx, len)?);
        let mut ones = Zeroizing::new(vec![*self.cots.delta().expose(); len]);
        xor(&mut ones, &zeros);
        self.hash.apply(self.next, &mut zeros);
        self.hash.apply(self.next, &mut ones);
        self.next += len as u64;
        Ok(zeros.iter().zip(ones.iter()).map(|(zero, one)| [*zero, *one]).collect())
    }
}

/// The party that gets a random bit and the message chosen by it.
pub struct Receiver<C: CotReceiver> {
    cots: C,
    hash: Hash,
    next: u64,
}

/// A receiver's random transfers.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// The random choices.
    pub choices: Bits,
    /// The chosen messages.
    pub messages: Vec<Block>,
}

impl<C: CotReceiver> Receiver<C> {
    /// Uses the transfers of `cots`; no one else may use them.
    pub fn new(cots: C, session: &SessionId) -> Self {
        Self { cots, hash: Hash::new(session), next: 0 }
    }

    /// Choices and messages of `len` new transfers.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Received> {
        let mut cots = self.cots.extend(ctx, len)?;
        let choices = std::mem::take(&mut cots.choices);
        let mut messages = std::mem::take(&mut cots.blocks);
        self.hash.apply(self.next, &mut messages);
        self.next += len as u64;
        Ok(Received { choices, messages })
    }
}

/// Sends c_i + r_i, which turns a transfer with the random choice r_i into one with the choice c_i.
pub(super) fn send_corrections(ctx: &mut Context, choices: &Bits, random: &Bits) -> Result<()> {
    ctx.peer()?.send(&choices.xor(random).to_bytes())
}

/// Receives the message of [`send_corrections`] for `len` transfers.
pub(super) fn receive_corrections(ctx: &mut Context, len: usize) -> Result<Bits> {
    Ok(Bits::from_bytes(&ctx.peer()?.recv(Bits::bytes_len(len))?, len))
}
