//! From rows to items.

use crate::doubts::frequent::{Frequent, FrequentKey};
use crate::key::{Encoded, KeyColumn, KeyEncoder, Under};
use crate::key_items::KeyItems;
use std::convert::Infallible;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_inputs::error::{InFile, Place};
use vesica_profiles::Refusal;
use vesica_tables::Row;

/// The outcome of a row. Its item follows later.
pub(crate) enum Outcome {
    Item,
    Empty,
    Refused {
        key: usize,
        reason: Refusal,
    },
    /// More keys under a rule than were agreed.
    TooMany,
    /// A value that a transform does not take.
    NotTaken,
}

/// Turns rows into items. The items of many rows wait for each other, since hashing several at once
/// is faster.
pub(crate) struct KeyPass<'a> {
    encoder: KeyEncoder,
    hash: &'a KeyItems,
    rows: u64,
    /// Collected keys not hashed yet, each at the start of its [`ItemHash::BATCH_KEY_LEN`] bytes.
    /// Encoding writes straight to where hashing reads.
    waiting: Vec<u8>,
    waiting_lens: [u8; ItemHash::BATCH],
    waiting_places: [Place; ItemHash::BATCH],
    /// The file of the rows, if their places alone do not identify them.
    file: Option<InFile>,
    frequent: Frequent,
}

impl<'a> KeyPass<'a> {
    pub(crate) fn new(columns: &[KeyColumn], hash: &'a KeyItems) -> Self {
        Self {
            encoder: KeyEncoder::new(columns, hash.rules()),
            hash,
            rows: 0,
            waiting: Vec::new(),
            waiting_lens: [0; ItemHash::BATCH],
            waiting_places: std::array::from_fn(|_| Place::Row(0)),
            file: None,
            frequent: Frequent::new(),
        }
    }

    /// Appends the item of a row that has a key to `items`, in the order of the rows but not at
    /// once: after the last row comes [`KeyPass::flush`].
    #[inline]
    pub(crate) fn collect(&mut self, row: &impl Row, items: &mut Vec<Item>) -> Outcome {
        match self.collect_with(row, items, |_| Ok::<_, Infallible>(())) {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }

    /// Like [`collect`](Self::collect), and shows each encoded key to `look`.
    #[inline]
    pub(crate) fn collect_with<E>(
        &mut self,
        row: &impl Row,
        items: &mut Vec<Item>,
        look: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<Outcome, E> {
        self.rows += 1;
        let start = self.waiting.len();
        match self.encoder.encode(row, &mut self.waiting) {
            Encoded::Key => {
                if let Err(error) = look(&self.waiting[start..]) {
                    self.waiting.truncate(start);
                    return Err(error);
                }
            }
            Encoded::Empty => return Ok(Outcome::Empty),
            Encoded::Refused { key, reason } => return Ok(Outcome::Refused { key, reason }),
        }
        self.take(start, row, items);
        Ok(Outcome::Item)
    }

    /// Like [`collect`](Self::collect), for rows with keys under several rules. Calls `of_rule`
    /// with the number of each rule and an outcome, [`KeyRule::most`](crate::KeyRule::most) times
    /// for each rule. Without rules it calls `of_rule` once.
    pub(crate) fn collect_each(
        &mut self,
        row: &impl Row,
        items: &mut Vec<Item>,
        mut of_rule: impl FnMut(usize, Outcome),
    ) {
        let hash = self.hash;
        if hash.rules().is_empty() {
            return of_rule(0, self.collect(row, items));
        }
        self.rows += 1;
        self.encoder.look(row);
        for (number, rule) in hash.rules().iter().enumerate() {
            let mut given = 0;
            match self.encoder.under(number) {
                Under::Keys(keys) => {
                    given = keys;
                    for place in 0..keys {
                        let start = self.waiting.len();
                        self.waiting.extend_from_slice(self.encoder.key(place));
                        self.take(start, row, items);
                        of_rule(number, Outcome::Item);
                    }
                }
                Under::TooMany => {
                    given = 1;
                    of_rule(number, Outcome::TooMany);
                }
                Under::NotTaken => {
                    given = 1;
                    of_rule(number, Outcome::NotTaken);
                }
                Under::Nothing(Encoded::Refused { key, reason }) => {
                    given = 1;
                    of_rule(number, Outcome::Refused { key, reason });
                }
                Under::Nothing(_) => {}
            }
            (given..rule.most).for_each(|_| of_rule(number, Outcome::Empty));
        }
    }

    /// Takes the last key, from `start` on, which is of `row`.
    #[inline]
    fn take(&mut self, start: usize, row: &impl Row, items: &mut Vec<Item>) {
        const WIDTH: usize = ItemHash::BATCH_KEY_LEN;
        let len = self.waiting.len() - start;
        if len > WIDTH {
            let place = self.place(row);
            return self.collect_long(start, place, items);
        }
        self.waiting_lens[start / WIDTH] = len as u8;
        self.waiting_places[start / WIDTH] = self.place(row);
        // Cheaper than filling up: the number of bytes is a constant.
        self.waiting.extend_from_slice(&[0; WIDTH]);
        self.waiting.truncate(start + WIDTH);
        if self.waiting.len() == WIDTH * ItemHash::BATCH {
            self.flush(items);
        }
    }

    /// The rows that follow are in `file`.
    pub(crate) fn enter(&mut self, file: &InFile) {
        self.file = file.part.is_some().then(|| file.clone());
    }

    #[inline]
    fn place(&self, row: &impl Row) -> Place {
        match &self.file {
            None => row.place(),
            Some(file) => file.place(row.place()),
        }
    }

    /// Takes the last key, from `start` on, which is too long for a batch.
    #[cold]
    fn collect_long(&mut self, start: usize, place: Place, items: &mut Vec<Item>) {
        let key = &self.waiting[start..];
        let item = self.hash.item(key);
        self.frequent.take(item, key, &place);
        self.waiting.truncate(start);
        self.flush(items);
        items.push(item);
    }

    /// Hashes the keys that wait.
    #[inline(never)]
    pub(crate) fn flush(&mut self, items: &mut Vec<Item>) {
        let (keys, _) = self.waiting.as_chunks();
        let first = items.len();
        if let Ok(batch) = keys.try_into() {
            items.extend_from_slice(&self.hash.items(batch, &self.waiting_lens));
        } else {
            let keys = keys.iter().zip(&self.waiting_lens);
            items.extend(keys.map(|(key, len)| self.hash.item(&key[..usize::from(*len)])));
        }
        let rows = keys.iter().zip(&self.waiting_lens).zip(&self.waiting_places);
        for (item, ((key, len), place)) in items[first..].iter().zip(rows) {
            self.frequent.take(*item, &key[..usize::from(*len)], place);
        }
        self.waiting.clear();
    }

    /// The keys of many rows, after the last row and [`KeyPass::flush`].
    pub(crate) fn frequent(&mut self, columns: &[KeyColumn]) -> Vec<FrequentKey> {
        self.frequent.finish(columns, self.hash.rules(), self.rows)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Under rules the number of rows with a value in each column.
    pub(crate) fn filled(&self) -> Option<&[u64]> {
        (!self.hash.rules().is_empty()).then(|| self.encoder.filled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_profiles::Profile;

    struct OneCell(Vec<u8>);

    impl Row for OneCell {
        fn cell<'a>(&'a self, _: usize, _: &'a mut Vec<u8>) -> &'a [u8] {
            &self.0
        }

        fn place(&self) -> Place {
            Place::Row(1)
        }
    }

    /// The items of rows of these lengths, one by one and as the pass collects them.
    fn both(lens: impl Iterator<Item = usize>) -> [Vec<Item>; 2] {
        let rows: Vec<_> = lens.enumerate().map(|(i, len)| OneCell(vec![i as u8; len])).collect();
        let hash = KeyItems::digests(ItemHash::new("keys test", &[]));
        let columns = [KeyColumn {
            name: "k".into(),
            column: "k".into(),
            profile: Profile::EXACT,
            never: vec![],
        }];
        let mut encoder = KeyEncoder::new(&columns, &[]);
        let one_by_one = rows
            .iter()
            .filter_map(|row| {
                let mut key = Vec::new();
                match encoder.encode(row, &mut key) {
                    Encoded::Key => Some(hash.item(&key)),
                    Encoded::Empty | Encoded::Refused { .. } => None,
                }
            })
            .collect();
        let (mut pass, mut collected) = (KeyPass::new(&columns, &hash), Vec::new());
        for row in &rows {
            pass.collect(row, &mut collected);
        }
        pass.flush(&mut collected);
        [one_by_one, collected]
    }

    #[test]
    fn collected_items_are_those_of_the_rows_one_by_one() {
        // Empty cells, every length around a block with its header, and long keys at every place in
        // a batch.
        for cycle in [1, 2, 59, 60, 61, 62, 83] {
            let [one_by_one, collected] = both((0..7000).map(|i| i % cycle));
            assert!(one_by_one == collected, "lengths below {cycle}");
        }
        let [one_by_one, collected] = both((0..3000).map(|i| if i % 37 == 5 { 200 } else { 59 }));
        assert_eq!(collected.len(), 3000);
        assert!(one_by_one == collected);
    }

    #[test]
    fn the_last_keys_are_hashed_whatever_their_number() {
        for rows in 0..40 {
            let [one_by_one, collected] = both(std::iter::repeat_n(20, rows));
            assert_eq!(collected.len(), rows);
            assert!(one_by_one == collected, "{rows} rows");
        }
    }
}
