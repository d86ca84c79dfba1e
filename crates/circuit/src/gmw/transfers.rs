//! Random transfers, from silent ones, in large pieces.

use vesica_core::{Block, Error, Result, Role, Secret, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_ot::silent::cot;
use vesica_ot::silent::pieces::{Extensions, Hashes};
use vesica_simd::aes::Aes128;
use vesica_simd::xor::xor;
use zeroize::Zeroize;

const HASH_KEY: &str = "vesica circuit 2026 transfers of shared computation";

/// Transfers that one extension gives at most.
#[cfg(not(test))]
const PER_EXTENSION: u64 = Extensions::LONGEST;

/// So few that tests meet the end of an extension in the middle of everything.
#[cfg(test)]
const PER_EXTENSION: u64 = 1 << 18;

/// Transfers that are expanded and hashed together, and those that are hashed under one key.
pub(super) const PIECE: usize = 1 << 14;

/// One party's end of random transfers.
pub(super) enum Transfers {
    /// Of the one who holds both messages of each.
    Giver(Source<cot::Sender<SemiHonest>, cot::SenderStream>),
    /// Of the one who holds a random choice and its message.
    Chooser(Source<cot::Receiver<SemiHonest>, cot::ReceiverStream>),
}

/// Transfers on demand: setup once, an extension where the last one is used up.
pub(super) struct Source<P, S> {
    party: P,
    stream: Option<S>,
    /// Transfers that no extension has given yet.
    left: u64,
    hashes: Hashes,
}

/// Both messages of each transfer, or a choice in the lowest bit and its message.
pub(super) enum Piece {
    Given {
        zeros: Vec<Block>,
        ones: Vec<Block>,
    },
    /// The lowest bit of `choices[i]` is the choice.
    Chosen {
        choices: Vec<Block>,
        messages: Vec<Block>,
    },
}

impl Drop for Piece {
    fn drop(&mut self) {
        match self {
            Piece::Given { zeros: a, ones: b } | Piece::Chosen { choices: a, messages: b } => {
                a.zeroize();
                b.zeroize();
            }
        }
    }
}

impl Transfers {
    /// Sets up for `len` transfers, rounded up to whole pieces, in which the party in role `chooser` chooses.
    pub(super) fn setup(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        chooser: Role,
        len: u64,
    ) -> Result<Self> {
        let left = rounded(len);
        let hashes = Hashes::new(HASH_KEY, session);
        Ok(if role == chooser {
            let party = cot::Receiver::setup(ctx, session)?;
            Self::Chooser(Source { party, stream: None, left, hashes })
        } else {
            let party = cot::Sender::setup(ctx, session)?;
            Self::Giver(Source { party, stream: None, left, hashes })
        })
    }

    /// Runs the first extension now, and not in the middle of a circuit.
    pub(super) fn prepare(&mut self, ctx: &mut Context) -> Result<()> {
        match self {
            Self::Giver(source) => source.prepare(ctx, cot::Sender::extend),
            Self::Chooser(source) => source.prepare(ctx, cot::Receiver::extend),
        }
    }

    /// Whether the next transfers need an extension, which is a conversation.
    pub(super) fn is_used_up(&self) -> bool {
        let left = match self {
            Self::Giver(source) => source.stream.as_ref().map(cot::SenderStream::left),
            Self::Chooser(source) => source.stream.as_ref().map(cot::ReceiverStream::left),
        };
        left.is_none_or(|left| left == 0)
    }

    /// Whether this party holds both messages.
    pub(super) fn is_giver(&self) -> bool {
        matches!(self, Self::Giver(_))
    }

    /// The next transfers as correlated ones: K, or M whose lowest bit is the choice. They are [`PIECE`] many.
    pub(super) fn correlated(&mut self, ctx: &mut Context) -> Result<Vec<Block>> {
        if self.is_used_up() {
            self.prepare(ctx)?;
        }
        let mut blocks = vec![Block::ZERO; PIECE];
        match self {
            Self::Giver(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
            Self::Chooser(source) => source.stream()?.fill(ctx.pool(), &mut blocks)?,
        }
        Ok(blocks)
    }

    /// Δ of a giver.
    pub(super) fn delta(&self) -> Option<Secret<Block>> {
        match self {
            Self::Giver(source) => Some(source.party.delta()),
            Self::Chooser(_) => None,
        }
    }

    /// The hash of the next piece, under a key of its own.
    pub(super) fn hash(&mut self) -> Aes128 {
        match self {
            Self::Giver(source) => source.hashes.of_next_piece(),
            Self::Chooser(source) => source.hashes.of_next_piece(),
        }
    }

    /// The next [`PIECE`] random transfers.
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
                Piece::Given { zeros, ones }
            }
            None => {
                let mut messages = blocks.clone();
                hash.mmo(&mut messages);
                Piece::Chosen { choices: blocks, messages }
            }
        })
    }
}

impl<P, S> Source<P, S> {
    /// The transfers of the last extension; one that is used up refuses to give more.
    fn stream(&mut self) -> Result<&mut S> {
        self.stream.as_mut().ok_or(Error::Bug("a computation takes more transfers than it said"))
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

/// The extensions that give `len` transfers.
fn extensions(len: u64) -> Extensions {
    Extensions::of_at_most(rounded(len), PER_EXTENSION)
}

/// Payload bytes of `len` transfers; the chooser is their receiver.
pub(super) fn bytes(len: u64) -> Traffic {
    extensions(len).bytes()
}

/// Flights of `len` transfers.
pub(super) fn flights(len: u64) -> u64 {
    extensions(len).flights()
}

/// How many extensions give `len` transfers, at least one.
pub(super) fn extensions_len(len: u64) -> u64 {
    (extensions(len).lens().count() as u64).max(1)
}
