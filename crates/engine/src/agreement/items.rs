//! How keys, self-check items and padding share a small domain.

use vesica_core::params::ceil_log2;
use vesica_core::{Item, Role};

/// Items that are integers: keys, self-check items and padding side by side.
///
/// Two bits above the others say what an item is, so that none of one kind equals one of another: a
/// key, a self-check item of both parties, or an item of the sender's or of the receiver's own. No
/// item is zero, which some protocols keep for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerItems {
    bits: u32,
}

impl IntegerItems {
    /// For keys of `key_bits` bits, and at most `own` items that only one party has.
    pub(crate) fn new(key_bits: u32, own: u64) -> Self {
        Self { bits: key_bits.max(ceil_log2(own.saturating_add(1))) }
    }

    /// Bits of an item, the two that say what it is included.
    pub fn item_bits(self) -> u32 {
        self.bits + 2
    }

    /// What stands above the bits of a key.
    pub(crate) fn key_mark(self) -> u128 {
        1 << self.bits
    }

    /// Self-check item number `i` of both parties.
    pub(crate) fn shared(self, i: u64) -> Item {
        self.item(2, i)
    }

    /// Item number `i` that only the party in `role` has.
    pub(crate) fn own(self, role: Role, i: u64) -> Item {
        // The receiver's have no mark and count from one, so that none is zero.
        match role {
            Role::Sender => self.item(3, i),
            _ => self.item(0, i.saturating_add(1)),
        }
    }

    fn item(self, kind: u128, i: u64) -> Item {
        Item::from_integer(kind << self.bits | u128::from(i))
    }
}
