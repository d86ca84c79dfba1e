//! The hash's keys: one for each gate.

use crate::Block;

/// The hash of a session's gates.
///
/// No gate number may be used twice with the same start.
#[derive(Clone, Copy, Debug)]
pub struct GateHash {
    pub(super) start: Block,
}

impl GateHash {
    /// The hash with start `start`, which must be uniformly random and known to both parties.
    pub const fn new(start: Block) -> Self {
        Self { start }
    }

    pub(super) fn keys(self, first: u64) -> Keys {
        Keys { hash: self, first }
    }
}

/// The keys of the gates from number `first` on.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) hash: GateHash,
    pub(super) first: u64,
}

impl Keys {
    /// The keys from the `i`-th on.
    #[inline]
    pub(super) fn from(self, i: usize) -> Self {
        self.hash.keys(self.first.wrapping_add(i as u64))
    }

    /// The `i`-th key.
    #[inline]
    pub(super) fn key(self, i: usize) -> Block {
        self.hash.start ^ Block::new(self.from(i).first.into())
    }
}
