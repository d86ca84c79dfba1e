//! How keys, self-check items and padding share a small domain.

use vesica_core::params::ceil_log2;
use vesica_core::{Item, Role};

/// Items that are integers: keys, self-check items and padding side by side.
/// The highest bit marks a key. Without it each number has at most one meaning: in this order, from 1 on, the
/// self-check items of both parties, then the sender's own items, then the receiver's own. So items of different
/// kinds are different, and padding of one side never equals the other's. No item is zero, which some protocols
/// reserve.
///
/// None of these numbers is secret, and between parties that follow the protocol they need not be. There is no room
/// for padding that cannot be guessed: protocols that take small domains are semi-honest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerItems {
    bits: u32,
    shared: u64,
    own: u64,
}

impl IntegerItems {
    /// For keys of `key_bits` bits, `shared` items that both parties have besides, and for each party at most `own`
    /// items that it has alone: self-check items and padding.
    pub fn new(key_bits: u32, shared: u64, own: u64) -> Self {
        let others = own.saturating_mul(2).saturating_add(shared);
        Self { bits: key_bits.max(ceil_log2(others.saturating_add(1))), shared, own }
    }

    /// Bits of an item, including the mark of a key.
    pub fn item_bits(self) -> u32 {
        self.bits + 1
    }

    /// The bit that marks a key.
    pub fn key_mark(self) -> u128 {
        1 << self.bits
    }

    /// Self-check item number `i` of both parties.
    pub fn shared(self, i: u64) -> Item {
        Item::from_integer(1 + u128::from(i))
    }

    /// Item number `i` that only the party in `role` has.
    pub fn own(self, role: Role, i: u64) -> Item {
        let before = match role {
            Role::Sender => 0,
            _ => u128::from(self.own),
        };
        Item::from_integer(1 + u128::from(self.shared) + before + u128::from(i))
    }
}
