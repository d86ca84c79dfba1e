//! How keys, self-check items and padding share a small domain, and values a sum.

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

/// Values of a sum with room below them in which the self-check items count.
///
/// With c self-check items of each kind, a shared one has the value 1 and one of the holder's own,
/// or padding, c + 1; keys have multiples of 2^(2r), 2^r > c. A right sum then has c as its lowest
/// 2r bits, whatever the keys, and those bits tell apart every number of lost and of invented ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedValues {
    canaries: u32,
}

impl CheckedValues {
    /// For `canaries` self-check items of each kind.
    pub(crate) fn new(canaries: u32) -> Self {
        Self { canaries }
    }

    /// 2r, the bits below a key's value.
    pub(crate) fn check_bits(self) -> u32 {
        2 * ceil_log2(u64::from(self.canaries) + 1)
    }

    /// The value of a key in the protocol.
    pub(crate) fn of_key(self, value: u64) -> u64 {
        value << self.check_bits()
    }

    /// The value of a shared self-check item.
    pub(crate) fn of_shared(self) -> u64 {
        1
    }

    /// The value of one of the holder's own, and of padding.
    pub(crate) fn of_own(self) -> u64 {
        u64::from(self.canaries) + 1
    }

    /// The keys' part of a sum; `None` unless it counted every shared self-check item and no other.
    pub(crate) fn of_keys(self, sum: u128) -> Option<u128> {
        let check = sum & ((1 << self.check_bits()) - 1);
        (check == u128::from(self.canaries)).then(|| sum >> self.check_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SELF_CHECK_MAX, SELF_CHECK_MIN, SUM_MAX_BITS};
    use super::*;

    #[test]
    fn a_sum_tells_every_number_of_lost_and_invented_items() {
        for canaries in [SELF_CHECK_MIN, 15, 16, 100] {
            let values = CheckedValues::new(canaries);
            let keys = u128::from(values.of_key(7)) + u128::from(values.of_key(5));
            for shared in 0..=canaries {
                for own in 0..=canaries {
                    let sum = keys
                        + u128::from(shared) * u128::from(values.of_shared())
                        + u128::from(own) * u128::from(values.of_own());
                    let right = shared == canaries && own == 0;
                    assert_eq!(values.of_keys(sum), right.then_some(12), "{shared} {own}");
                }
            }
        }
    }

    #[test]
    fn every_value_has_room_for_the_check() {
        let values = CheckedValues::new(SELF_CHECK_MAX);
        assert!(SUM_MAX_BITS + values.check_bits() <= u64::BITS);
        let largest = (1 << SUM_MAX_BITS) - 1;
        let sum = u128::from(values.of_key(largest)) + u128::from(SELF_CHECK_MAX);
        assert_eq!(values.of_keys(sum), Some(largest.into()));
    }
}
