//! Random OTs from silent OT, in large pieces.

use vesica_core::{Block, Error, Result, Role, Secret, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_ot::silent::cot;
use vesica_ot::silent::pieces::{Extensions, Hashes};
use vesica_simd::aes::Aes128;
use vesica_simd::low_bits::low_bits;
use vesica_simd::xor::xor;
use zeroize::Zeroize;

const HASH_KEY: &str = "vesica circuit 2026 transfers of shared computation";

/// Maximum number of OTs per extension.
#[cfg(not(test))]
const PER_EXTENSION: u64 = Extensions::LONGEST;

/// Small, so that tests reach the end of an extension in the middle of a computation.
#[cfg(test)]
const PER_EXTENSION: u64 = 1 << 18;

const TOO_MANY: Error = Error::Bug("a computation uses more OTs than announced");

/// Number of OTs that are expanded together and hashed under one key.
pub(super) const PIECE: usize = 1 << 14;

/// One party's side of the random OTs.
pub(super) struct Transfers {
    side: Side,
    hashes: Hashes,
}

enum Side {
    /// Holds both messages of each OT.
    Sender(Source<cot::Sender<SemiHonest>, cot::SenderStream>),
    /// Holds a random choice and the chosen message.
    Receiver(Source<cot::Receiver<SemiHonest>, cot::ReceiverStream>),
    /// All OTs were made before the circuit, by another extension.
    Made,
}

/// OTs on demand: one setup, and a new extension when the last one is used up.
pub(super) struct Source<P, S> {
    party: P,
    stream: Option<S>,
    /// OTs of extensions that have not run yet.
    left: u64,
}

/// The sender's two messages of each OT, or the receiver's choice and chosen message.
pub(super) enum Piece {
    Sender {
        zeros: Vec<Block>,
        ones: Vec<Block>,
    },
    /// The choices are 64 to a word.
    Receiver {
        choices: Vec<u64>,
        messages: Vec<Block>,
    },
}

impl Piece {
    /// From correlated OTs, at their sender: K.
    pub(super) fn of_sender(keys: Vec<Block>, delta: &Secret<Block>, hash: &Aes128) -> Self {
        let mut ones = vec![*delta.expose(); keys.len()];
        xor(&mut ones, &keys);
        let mut zeros = keys;
        hash.mmo(&mut zeros);
        hash.mmo(&mut ones);
        Self::Sender { zeros, ones }
    }

    /// From correlated OTs, at their receiver: the choices, and M.
    pub(super) fn of_receiver(choices: Vec<u64>, blocks: Vec<Block>, hash: &Aes128) -> Self {
        let mut messages = blocks;
        hash.mmo(&mut messages);
        Self::Receiver { choices, messages }
    }

    /// Number of OTs.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sender { zeros: blocks, .. } | Self::Receiver { messages: blocks, .. } => {
                blocks.len()
            }
        }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        match self {
            Piece::Sender { zeros, ones } => {
                zeros.zeroize();
                ones.zeroize();
            }
            Piece::Receiver { choices, messages } => {
                choices.zeroize();
                messages.zeroize();
            }
        }
    }
}

impl Transfers {
    /// Sets up `len` OTs, rounded up to whole pieces. The party in role `ot_receiver` is their
    /// receiver.
    pub(super) fn setup(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        ot_receiver: Role,
        len: u64,
    ) -> Result<Self> {
        let left = rounded(len);
        let side = if role == ot_receiver {
            let party = cot::Receiver::setup(ctx, session)?;
            Side::Receiver(Source { party, stream: None, left })
        } else {
            let party = cot::Sender::setup(ctx, session)?;
            Side::Sender(Source { party, stream: None, left })
        };
        Ok(Self { side, hashes: Hashes::new(HASH_KEY, session) })
    }

    /// No OTs besides those that were made before the circuit.
    pub(super) fn made(session: &SessionId) -> Self {
        Self { side: Side::Made, hashes: Hashes::new(HASH_KEY, session) }
    }

    /// Runs the next extension; called at the start so that the first does not interrupt the
    /// circuit.
    pub(super) fn prepare(&mut self, ctx: &mut Context) -> Result<()> {
        match &mut self.side {
            Side::Sender(source) => source.prepare(ctx, cot::Sender::extend),
            Side::Receiver(source) => source.prepare(ctx, cot::Receiver::extend),
            Side::Made => Ok(()),
        }
    }

    /// Whether the next OTs need an extension, which takes interaction.
    pub(super) fn is_used_up(&self) -> bool {
        let left = match &self.side {
            Side::Sender(source) => source.stream.as_ref().map(cot::SenderStream::left),
            Side::Receiver(source) => source.stream.as_ref().map(cot::ReceiverStream::left),
            Side::Made => None,
        };
        left.is_none_or(|left| left == 0)
    }

    /// The next [`PIECE`] OTs as correlated OTs: K, or M with the choice in the lowest bit.
    pub(super) fn correlated(&mut self, ctx: &mut Context) -> Result<Vec<Block>> {
        if self.is_used_up() {
            self.prepare(ctx)?;
        }
        let mut blocks = vec![Block::ZERO; PIECE];
        match &mut self.side {
            Side::Sender(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
            Side::Receiver(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
            Side::Made => return Err(TOO_MANY),
        }
        Ok(blocks)
    }

    /// Δ, at the sender.
    pub(super) fn delta(&self) -> Option<Secret<Block>> {
        match &self.side {
            Side::Sender(source) => Some(source.party.delta()),
            Side::Receiver(_) | Side::Made => None,
        }
    }

    /// The hash for the next piece, under a fresh key.
    pub(super) fn hash(&mut self) -> Aes128 {
        self.hashes.next_piece()
    }

    /// The next [`PIECE`] random OTs.
    pub(super) fn random(&mut self, ctx: &mut Context) -> Result<Piece> {
        let blocks = self.correlated(ctx)?;
        let hash = self.hash();
        Ok(match self.delta() {
            Some(delta) => Piece::of_sender(blocks, &delta, &hash),
            None => {
                let mut choices = vec![0; PIECE / u64::BITS as usize];
                low_bits(&blocks, &mut choices);
                Piece::of_receiver(choices, blocks, &hash)
            }
        })
    }
}

impl<P, S> Source<P, S> {
    /// The OTs of the current extension.
    fn stream(&mut self) -> Result<&mut S> {
        self.stream.as_mut().ok_or(TOO_MANY)
    }

    fn prepare(
        &mut self,
        ctx: &mut Context,
        extend: impl Fn(&mut P, &mut Context, usize) -> Result<S>,
    ) -> Result<()> {
        let len = self.left.min(PER_EXTENSION);
        if len > 0 {
            self.left -= len;
            self.stream = Some(extend(&mut self.party, ctx, len as usize)?);
        }
        Ok(())
    }
}

fn rounded(len: u64) -> u64 {
    len.next_multiple_of(PIECE as u64)
}

/// The extensions that produce `len` OTs.
fn extensions(len: u64) -> Extensions {
    Extensions::bounded(rounded(len), PER_EXTENSION)
}

/// Payload bytes of `len` OTs, with the roles of the OTs.
pub(super) fn bytes(len: u64) -> Traffic {
    extensions(len).bytes()
}

/// Flights of `len` OTs.
pub(super) fn flights(len: u64) -> u64 {
    extensions(len).flights()
}

/// Number of extensions for `len` OTs, at least one.
pub(super) fn extensions_len(len: u64) -> u64 {
    (extensions(len).lens().count() as u64).max(1)
}
