//! How the values of keys and the counts of self-check items fit into one sum.

use super::values::ValueTerms;
use vesica_core::params::ceil_log2;
use vesica_core::{Role, Values};
use vesica_heap::may_fail;

/// Values with room for counting self-check items.
///
/// With c self-check items of each kind, a shared one counts 1, and one of the holder's own, or
/// padding, counts c +
/// 1. A correct sum therefore counts c, and no sum with missing or added items does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedValues {
    check_items: u32,
    columns: usize,
    bits: u32,
    signed: bool,
    room: Room,
}

/// Where the sum counts self-check items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// In the lowest 2r bits, 2^r > c: keys have multiples of 2^(2r).
    Below,
    /// In a separate column, after the others.
    Column,
    /// Nowhere: there are no self-check items.
    None,
    /// Nowhere: these are what other values are multiplied with, and every item that is no key
    /// has 1.
    Factor,
}

impl CheckedValues {
    /// For `check_items` self-check items of each kind.
    pub fn new(check_items: u32, terms: &ValueTerms) -> Self {
        let room = match (check_items, terms.are_plain()) {
            (0, _) => Room::None,
            (_, true) => Room::Below,
            (_, false) => Room::Column,
        };
        let (bits, signed) = (terms.bits, terms.signed);
        Self { check_items, columns: terms.width(), bits, signed, room }
    }

    /// Values that are multiplied with the other party's values.
    pub fn of_factors(check_items: u32, terms: &ValueTerms) -> Self {
        Self { room: Room::Factor, ..Self::new(check_items, terms) }
    }

    /// 2r, the bits below a key's value.
    fn check_bits(self) -> u32 {
        2 * ceil_log2(u64::from(self.check_items) + 1)
    }

    /// The values as the protocol takes them; the party in the role `holder` has them.
    pub fn values(self, holder: Role) -> vesica_core::Result<Values> {
        let columns = self.columns as u32;
        let (bits, columns) = match self.room {
            Room::Below => (self.bits + self.check_bits(), columns),
            // The column of the self-check has the length of the others, and holds up to c + 1.
            Room::Column => {
                let check = ceil_log2(u64::from(self.check_items) + 2) + u32::from(self.signed);
                (self.bits.max(check), columns + 1)
            }
            Room::None | Room::Factor => (self.bits, columns),
        };
        let values = Values::new(holder, bits)?.with_columns(columns)?;
        Ok(if self.signed { values.signed() } else { values })
    }

    /// Values of an item in the protocol.
    fn width(self) -> usize {
        self.columns + usize::from(self.room == Room::Column)
    }

    /// The values of the keys in the protocol, made from `keys`, with room for `more` other items;
    /// `None` if there is not enough memory.
    pub fn of_keys(self, mut keys: Vec<u64>, more: usize) -> Option<Vec<u64>> {
        if self.room != Room::Column {
            may_fail(|| keys.try_reserve_exact(more * self.width())).ok()?;
            if self.room == Room::Below {
                keys.iter_mut().for_each(|value| *value <<= self.check_bits());
            }
            return Some(keys);
        }
        let mut wide = Vec::new();
        let items = keys.len() / self.columns;
        may_fail(|| wide.try_reserve_exact((items + more) * self.width())).ok()?;
        for values in keys.chunks_exact(self.columns) {
            wide.extend_from_slice(values);
            wide.push(0);
        }
        Some(wide)
    }

    /// Appends the values of `shared` self-check items, and of `own` ones and padding, to the keys'
    /// values.
    pub fn extend(self, values: &mut Vec<u64>, shared: usize, own: usize) {
        let counted = std::iter::repeat_n(1, shared)
            .chain(std::iter::repeat_n(u64::from(self.check_items) + 1, own));
        for count in counted {
            values.extend(std::iter::repeat_n(0, self.width() - 1));
            values.push(match self.room {
                Room::None => 0,
                Room::Factor => 1,
                _ => count,
            });
        }
    }

    /// The keys' part of sums, column by column; `None` unless they counted every shared self-check
    /// item and no other.
    pub fn of_sums(self, sums: &[i128]) -> Option<Vec<i128>> {
        if sums.len() != self.width() {
            return None;
        }
        let check_items = i128::from(self.check_items);
        match (self.room, sums) {
            (Room::Below, [sum]) => {
                let check = sum & ((1 << self.check_bits()) - 1);
                (check == check_items).then(|| vec![sum >> self.check_bits()])
            }
            (Room::Column, [keys @ .., check]) => (*check == check_items).then(|| keys.to_vec()),
            _ => Some(sums.to_vec()),
        }
    }

    /// The least and the largest value of a key.
    pub fn range(self) -> (i128, i128) {
        if self.signed {
            (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }

    /// The least and the largest possible sum in each column over any subset of keys with these
    /// `values`.
    pub fn reach(self, values: &[u64]) -> Vec<(i128, i128)> {
        let mut reach = vec![(0, 0); self.columns];
        for row in values.chunks_exact(self.columns) {
            for ((least, most), value) in reach.iter_mut().zip(row) {
                let number =
                    if self.signed { i128::from(*value as i64) } else { i128::from(*value) };
                *least += number.min(0);
                *most += number.max(0);
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::{PACKED_MAX_BITS, SELF_CHECK_MAX, SELF_CHECK_MIN};
    use super::super::values::{MAX_SUMS, MAX_VALUE_COLUMNS, VALUE_MAX_BITS};
    use super::*;
    use vesica_records::Duplicates;

    fn terms(columns: usize, bits: u32, signed: bool) -> ValueTerms {
        let columns = (0..columns).map(|i| i.to_string()).collect();
        let (of, duplicates) = ("a".to_owned(), Duplicates::Sum);
        ValueTerms { of, columns, groups: None, bits, signed, duplicates }
    }

    /// The sums over all of `keys`, `shared` shared items and `own` own ones.
    fn sums(checked: CheckedValues, keys: &[u64], shared: usize, own: usize) -> Vec<i128> {
        let values = checked.values(Role::Sender).unwrap();
        let mut all = checked.of_keys(keys.to_vec(), shared + own).unwrap();
        checked.extend(&mut all, shared, own);
        assert!(all.iter().all(|value| values.contain(*value)));
        let mut sums = vec![0; values.columns()];
        for row in all.chunks_exact(values.columns()) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += values.number(*value));
        }
        sums
    }

    #[test]
    fn a_sum_reveals_every_number_of_missing_and_added_items() {
        let minus = |n: i64| -n as u64;
        for (terms, keys, expected) in [
            (terms(1, 4, false), vec![7, 5], vec![12]),
            (terms(1, 1, true), vec![minus(1), 0], vec![-1]),
            (terms(2, 64, false), vec![u64::MAX, 1, u64::MAX, 2], vec![2 * ((1 << 64) - 1), 3]),
            (terms(1, 41, false), vec![7, 5], vec![12]),
        ] {
            for check_items in [SELF_CHECK_MIN, 15, 16, 100] {
                let checked = CheckedValues::new(check_items, &terms);
                for shared in 0..=check_items {
                    for own in 0..=check_items.min(3) {
                        let sums = sums(checked, &keys, shared as usize, own as usize);
                        let right = shared == check_items && own == 0;
                        let expected = right.then(|| expected.clone());
                        assert_eq!(checked.of_sums(&sums), expected, "{shared} {own}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_length_has_room_for_the_check() {
        let largest = (1 << PACKED_MAX_BITS) - 1;
        let checked = CheckedValues::new(SELF_CHECK_MAX, &terms(1, PACKED_MAX_BITS, false));
        let all = sums(checked, &[largest], SELF_CHECK_MAX as usize, 0);
        assert_eq!(checked.of_sums(&all), Some(vec![largest.into()]));
        let widest = terms(MAX_VALUE_COLUMNS, VALUE_MAX_BITS, true);
        assert!(CheckedValues::new(SELF_CHECK_MAX, &widest).values(Role::Sender).is_ok());
        let most = terms(MAX_SUMS, VALUE_MAX_BITS, true);
        let values = CheckedValues::new(SELF_CHECK_MAX, &most).values(Role::Sender).unwrap();
        assert_eq!(values.columns(), MAX_SUMS + 1);
    }

    #[test]
    fn factors_are_one_where_there_is_no_key() {
        for check_items in [0, 3] {
            let checked = CheckedValues::of_factors(check_items, &terms(1, 7, false));
            let values = checked.values(Role::Receiver).unwrap();
            assert_eq!((values.bits(), values.columns()), (7, 1));
            let mut all = checked.of_keys(vec![100, 0], 5).unwrap();
            checked.extend(&mut all, 3, 2);
            assert_eq!(all, [100, 0, 1, 1, 1, 1, 1]);
        }
    }

    #[test]
    fn without_self_check_items_values_are_unchanged() {
        let checked = CheckedValues::new(0, &terms(2, 3, false));
        assert_eq!(checked.values(Role::Sender).unwrap().columns(), 2);
        let mut values = checked.of_keys(vec![1, 2, 3, 4], 1).unwrap();
        checked.extend(&mut values, 0, 1);
        assert_eq!(values, [1, 2, 3, 4, 0, 0]);
    }

    #[test]
    fn the_reach_covers_every_sum_of_some_keys() {
        let checked = CheckedValues::new(16, &terms(2, 8, true));
        let values = [3, -4, -5, 0, 7, -1].map(|value: i64| value as u64);
        assert_eq!(checked.reach(&values), [(-5, 10), (-5, 0)]);
        assert_eq!(checked.range(), (-128, 127));
    }
}
