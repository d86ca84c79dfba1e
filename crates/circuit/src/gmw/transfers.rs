//! Random OTs from silent OT, in large pieces.

use vesica_core::{Block, Error, Result, Role, Secret, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_ot::silent::cot;
use vesica_ot::silent::pieces::{Extensions, Hashes};
use vesica_simd::aes::Aes128;
use vesica_simd::xor::xor;
use zeroize::Zeroize;

const HASH_KEY: &str = "vesica circuit 2026 transfers of shared computation";

/// Maximum number of OTs per extension.
#[cfg(not(test))]
const PER_EXTENSION: u64 = Extensions::LONGEST;

/// Small, so that tests reach the end of an extension in the middle of a computation.
#[cfg(test)]
const PER_EXTENSION: u64 = 1 << 18;

/// Number of OTs that are expanded together and hashed under one key.
pub(super) const PIECE: usize = 1 << 14;

/// One party's side of the random OTs.
pub(super) enum Transfers {
    /// Holds both messages of each OT.
    Sender(Source<cot::Sender<SemiHonest>, cot::SenderStream>),
    /// Holds a random choice and the chosen message.
    Receiver(Source<cot::Receiver<SemiHonest>, cot::ReceiverStream>),
}

/// OTs on demand: one setup, and a new extension when the last one is used up.
pub(super) struct Source<P, S> {
    party: P,
    stream: Option<S>,
    /// OTs of extensions that have not run yet.
    left: u64,
    hashes: Hashes,
}

/// The sender's two messages of each OT, or the receiver's choice and chosen message.
pub(super) enum Piece {
    Sender {
        zeros: Vec<Block>,
        ones: Vec<Block>,
    },
    /// The choice is the lowest bit of `choices[i]`.
    Receiver {
        choices: Vec<Block>,
        messages: Vec<Block>,
    },
}

impl Drop for Piece {
    fn drop(&mut self) {
        match self {
            Piece::Sender { zeros: a, ones: b } | Piece::Receiver { choices: a, messages: b } => {
                a.zeroize();
                b.zeroize();
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
        let hashes = Hashes::new(HASH_KEY, session);
        Ok(if role == ot_receiver {
            let party = cot::Receiver::setup(ctx, session)?;
            Self::Receiver(Source { party, stream: None, left, hashes })
        } else {
            let party = cot::Sender::setup(ctx, session)?;
            Self::Sender(Source { party, stream: None, left, hashes })
        })
    }

    /// Runs the next extension; called at the start so that the first does not interrupt the
    /// circuit.
    pub(super) fn prepare(&mut self, ctx: &mut Context) -> Result<()> {
        match self {
            Self::Sender(source) => source.prepare(ctx, cot::Sender::extend),
            Self::Receiver(source) => source.prepare(ctx, cot::Receiver::extend),
        }
    }

    /// Whether the next OTs need an extension, which takes interaction.
    pub(super) fn is_used_up(&self) -> bool {
        let left = match self {
            Self::Sender(source) => source.stream.as_ref().map(cot::SenderStream::left),
            Self::Receiver(source) => source.stream.as_ref().map(cot::ReceiverStream::left),
        };
        left.is_none_or(|left| left == 0)
    }

    /// Whether this party is the sender of the OTs.
    pub(super) fn is_sender(&self) -> bool {
        matches!(self, Self::Sender(_))
    }

    /// The next [`PIECE`] OTs as correlated OTs: K, or M with the choice in the lowest bit.
    pub(super) fn correlated(&mut self, ctx: &mut Context) -> Result<Vec<Block>> {
        if self.is_used_up() {
            self.prepare(ctx)?;
        }
        let mut blocks = vec![Block::ZERO; PIECE];
        match self {
            Self::Sender(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
            Self::Receiver(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
        }
        Ok(blocks)
    }

    /// Δ, at the sender.
    pub(super) fn delta(&self) -> Option<Secret<Block>> {
        match self {
            Self::Sender(source) => Some(source.party.delta()),
            Self::Receiver(_) => None,
        }
    }

    /// The hash for the next piece, under a fresh key.
    pub(super) fn hash(&mut self) -> Aes128 {
        match self {
            Self::Sender(source) => source.hashes.next_piece(),
            Self::Receiver(source) => source.hashes.next_piece(),
        }
    }

    /// The next [`PIECE`] random OTs.
    pub(super) fn random(&mut self, ctx: &mut Context) -> Result<Piece> {
        let blocks = self.correlated(ctx)?;
        let hash = self.hash();
        Ok(match self.delta() {
            Some(delta) => {
                let mut ones = vec![*delta.expose(); blocks.len()];
                xor(&mut ones, &blocks);
                let mut zeros = blocks;
                hash.mmo(&mut zeros);
                hash.mmo(&mut ones);
                Piece::Sender { zeros, ones }
            }
            None => {
                let mut messages = blocks.clone();
                hash.mmo(&mut messages);
                Piece::Receiver { choices: blocks, messages }
            }
        })
    }
}

impl<P, S> Source<P, S> {
    /// The OTs of the current extension.
    fn stream(&mut self) -> Result<&mut S> {
        self.stream.as_mut().ok_or(Error::Bug("a computation uses more OTs than announced"))
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
