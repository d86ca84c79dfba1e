//! How keys, self-check items and padding share a small domain.

use vesica_core::{Item, Role};

/// Items that are integers: keys, self-check items and padding side by side. Each number has at
/// most one meaning: in this order, from 1 on, the keys, the self-check items of both parties, then
/// the sender's own items, then the receiver's own. So items of different kinds are different, and
/// padding of one side never equals the other's. No item is zero, which some protocols reserve. No
/// number is left out, so that a vector over the domain is only as much longer than one over the
/// keys as there are other items.
///
/// None of these numbers is secret. So there is no padding where a party may deviate: it could
/// enter the other party's padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerItems {
    keys: u128,
    shared: u64,
    own: u64,
}

impl IntegerItems {
    /// The first number. No item is zero.
    const FIRST: u128 = 1;

    /// For keys of `key_bits` bits, `shared` further items that both parties have, and for each
    /// party at most `own` items that it has alone: self-check items and padding.
    pub fn new(key_bits: u32, shared: u64, own: u64) -> Self {
        Self { keys: 1 << key_bits, shared, own }
    }

    /// The largest item.
    pub fn largest(self) -> u128 {
        Self::FIRST - 1 + self.keys + u128::from(self.shared) + 2 * u128::from(self.own)
    }

    /// Bits of an item.
    pub fn item_bits(self) -> u32 {
        Item::BITS - self.largest().leading_zeros()
    }

    /// The item of the key 0; the item of key k is larger by k.
    pub fn first_key(self) -> u128 {
        Self::FIRST
    }

    /// Self-check item number `i` of both parties.
    pub fn shared(self, i: u64) -> Item {
        Item::from_integer(Self::FIRST + self.keys + u128::from(i))
    }

    /// Item number `i` that only the party in `role` has.
    pub fn own(self, role: Role, i: u64) -> Item {
        let before = match role {
            Role::Sender => 0,
            _ => u128::from(self.own),
        };
        Item::from_integer(
            Self::FIRST + self.keys + u128::from(self.shared) + before + u128::from(i),
        )
    }
}
