//! The rows of the file that have a key, for results that name keys rather than rows.

use crate::key_items::NO_ITEM;
use vesica_core::Item;

/// The numbers of the rows of each key. Rows count from 1; a header, blank lines and invalid rows
/// are not counted: the number of a row is its position in any table that is read from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowNumbers {
    numbers: Vec<u64>,
    ends: Vec<usize>,
}

impl RowNumbers {
    /// The row numbers of key `index`, in ascending order.
    ///
    /// # Panics
    /// If there is no such key.
    pub fn get(&self, index: usize) -> &[u64] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start..self.ends[index]]
    }

    /// The item of each of `rows` rows, or [`NO_ITEM`]; `items` has the item of each key.
    ///
    /// # Panics
    /// If there are not as many items as keys, or fewer rows.
    pub fn items(&self, items: &[Item], rows: u64) -> Vec<Item> {
        assert_eq!(items.len(), self.ends.len(), "each key has an item");
        let mut of_rows = vec![NO_ITEM; rows as usize];
        for (key, item) in items.iter().enumerate() {
            self.get(key).iter().for_each(|number| of_rows[*number as usize - 1] = *item);
        }
        of_rows
    }

    /// Adds a key with one row.
    pub(crate) fn push(&mut self, row: u64) {
        self.numbers.push(row);
        self.ends.push(self.numbers.len());
    }

    /// Merges each group of keys into one key, in the order of the groups.
    pub(crate) fn merge<'g>(&mut self, groups: impl Iterator<Item = &'g [u32]>) {
        let mut merged = Self { numbers: Vec::with_capacity(self.numbers.len()), ends: Vec::new() };
        for group in groups {
            // Keys of a group are in the order of their rows.
            for key in group {
                merged.numbers.extend_from_slice(self.get(*key as usize));
            }
            merged.ends.push(merged.numbers.len());
        }
        *self = merged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_key_stay_together_in_order() {
        let mut rows = RowNumbers::default();
        (1..=5).for_each(|row| rows.push(row));
        rows.merge([&[1, 3][..], &[0], &[2, 4]].into_iter());
        assert_eq!([rows.get(0), rows.get(1), rows.get(2)], [&[2, 4][..], &[1], &[3, 5]]);
        rows.push(6);
        rows.merge([&[2][..], &[0, 3], &[1]].into_iter());
        assert_eq!([rows.get(0), rows.get(1), rows.get(2)], [&[3, 5][..], &[2, 4, 6], &[1]]);
    }
}
