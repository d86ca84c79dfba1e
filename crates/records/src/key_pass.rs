//! From rows to items, in either pass.

use crate::key::{Encoded, KeyColumn, KeyEncoder};
use crate::key_items::KeyItems;
use crate::profile::Refusal;
use crate::rows::Row;
use std::convert::Infallible;
use std::fmt;
use vesica_core::Item;
use vesica_core::hash::{ItemHash, derive};

const FINGERPRINT_LABEL: &str = "vesica records 2026 fingerprint of a pass v1";

/// Items hashed at a time into the fingerprint.
const FINGERPRINT_BLOCK_BYTES: usize = 1 << 15;

/// What a pass saw, to notice that a later pass sees something else: the number of rows and a
/// digest over all items in the order of the rows.
///
/// It stays on this machine: it would let a peer test guesses of the whole set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    rows: u64,
    items: [u8; 32],
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprint").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// What a row gave; `T` is its item, or nothing where the item comes later.
pub(crate) enum Outcome<T> {
    Item(T),
    Empty,
    Refused { key: usize, reason: Refusal },
}

/// Turns rows into items and keeps the fingerprint of what it saw. Both passes use it:
/// with [`KeyPass::collect`] where the items of many rows may wait for each other, else with
/// [`KeyPass::outcome`].
pub(crate) struct KeyPass<'a> {
    encoder: KeyEncoder,
    hash: &'a KeyItems,
    rows: u64,
    /// Unless nobody asks for the fingerprint.
    seen: Option<Seen>,
    /// One key.
    key: Vec<u8>,
    /// Collected keys not hashed yet, each at the start of its [`ItemHash::BATCH_KEY_LEN`] bytes.
    /// Encoding writes straight to where hashing reads.
    waiting: Vec<u8>,
    waiting_lens: [u8; ItemHash::BATCH],
}

impl<'a> KeyPass<'a> {
    pub(crate) fn new(columns: &[KeyColumn], hash: &'a KeyItems) -> Self {
        Self {
            encoder: KeyEncoder::new(columns),
            hash,
            rows: 0,
            seen: Some(Seen {
                digest: [0; 32],
                block: Vec::with_capacity(FINGERPRINT_BLOCK_BYTES),
            }),
            key: Vec::new(),
            waiting: Vec::new(),
            waiting_lens: [0; ItemHash::BATCH],
        }
    }

    /// The same, for a pass that nobody asks for its fingerprint.
    pub(crate) fn without_fingerprint(columns: &[KeyColumn], hash: &'a KeyItems) -> Self {
        Self { seen: None, ..Self::new(columns, hash) }
    }

    #[inline]
    pub(crate) fn outcome(&mut self, row: &impl Row) -> Outcome<Item> {
        self.rows += 1;
        self.key.clear();
        match self.encoder.encode(row, &mut self.key) {
            Encoded::Key => {
                let item = self.hash.item(&self.key);
                self.note(&[item]);
                Outcome::Item(item)
            }
            Encoded::Empty => Outcome::Empty,
            Encoded::Refused { key, reason } => Outcome::Refused { key, reason },
        }
    }

    /// Appends the item of a row that has a key to `items`, in the order of the rows but not at
    /// once: after the last row comes [`KeyPass::flush`].
    #[inline]
    pub(crate) fn collect(&mut self, row: &impl Row, items: &mut Vec<Item>) -> Outcome<()> {
        match self.collect_with(row, items, |_| Ok::<_, Infallible>(())) {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }

    /// The same, and shows each encoded key to `look`.
    #[inline]
    pub(crate) fn collect_with<E>(
        &mut self,
        row: &impl Row,
        items: &mut Vec<Item>,
        look: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<Outcome<()>, E> {
        const WIDTH: usize = ItemHash::BATCH_KEY_LEN;
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
        let len = self.waiting.len() - start;
        if len > WIDTH {
            self.collect_long(start, items);
            return Ok(Outcome::Item(()));
        }
        self.waiting_lens[start / WIDTH] = len as u8;
        // Cheaper than filling up: the number of bytes is a constant.
        self.waiting.extend_from_slice(&[0; WIDTH]);
        self.waiting.truncate(start + WIDTH);
        if self.waiting.len() == WIDTH * ItemHash::BATCH {
            self.flush(items);
        }
        Ok(Outcome::Item(()))
    }

    /// Takes the last key, from `start` on, which is too long for a batch.
    #[cold]
    fn collect_long(&mut self, start: usize, items: &mut Vec<Item>) {
        let item = self.hash.item(&self.waiting[start..]);
        self.waiting.truncate(start);
        self.flush(items);
        items.push(item);
        self.note(&[item]);
    }

    /// Hashes the keys that wait.
    #[inline(never)]
    pub(crate) fn flush(&mut self, items: &mut Vec<Item>) {
        let known = items.len();
        let (keys, _) = self.waiting.as_chunks();
        if let Ok(batch) = keys.try_into() {
            items.extend_from_slice(&self.hash.items(batch, &self.waiting_lens));
        } else {
            let keys = keys.iter().zip(&self.waiting_lens);
            items.extend(keys.map(|(key, len)| self.hash.item(&key[..usize::from(*len)])));
        }
        self.waiting.clear();
        self.note(&items[known..]);
    }

    #[inline]
    fn note(&mut self, items: &[Item]) {
        if let Some(seen) = &mut self.seen {
            items.iter().for_each(|item| seen.note(item));
        }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// What the pass saw; without a fingerprint, the number of rows only.
    pub(crate) fn fingerprint(self) -> Fingerprint {
        Fingerprint { rows: self.rows, items: self.seen.map_or([0; 32], Seen::digest) }
    }
}

/// The items so far, digested.
struct Seen {
    digest: [u8; 32],
    block: Vec<u8>,
}

impl Seen {
    #[inline]
    fn note(&mut self, item: &Item) {
        self.block.extend_from_slice(item.as_bytes());
        if self.block.len() >= FINGERPRINT_BLOCK_BYTES {
            self.absorb();
        }
    }

    #[cold]
    fn absorb(&mut self) {
        self.digest = derive(FINGERPRINT_LABEL, &[&self.digest, &self.block]);
        self.block.clear();
    }

    fn digest(mut self) -> [u8; 32] {
        self.absorb();
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use crate::profile::Profile;

    struct OneCell(Vec<u8>);

    impl Row for OneCell {
        fn cell<'a>(&'a self, _: usize, _: &'a mut Vec<u8>) -> &'a [u8] {
            &self.0
        }

        fn place(&self) -> Place {
            Place::Row(1)
        }
    }

    /// What collecting and taking one by one give for rows of these lengths.
    fn both(lens: impl Iterator<Item = usize>) -> [(Vec<Item>, Fingerprint); 2] {
        let rows: Vec<_> = lens.enumerate().map(|(i, len)| OneCell(vec![i as u8; len])).collect();
        let hash = KeyItems::digests(ItemHash::new("keys test", &[]));
        let columns = [KeyColumn { name: "k".into(), column: "k".into(), profile: Profile::EXACT }];
        let mut pass = KeyPass::new(&columns, &hash);
        let one_by_one = rows
            .iter()
            .filter_map(|row| match pass.outcome(row) {
                Outcome::Item(item) => Some(item),
                Outcome::Empty | Outcome::Refused { .. } => None,
            })
            .collect();
        let one_by_one = (one_by_one, pass.fingerprint());
        let (mut pass, mut collected) = (KeyPass::new(&columns, &hash), Vec::new());
        for row in &rows {
            pass.collect(row, &mut collected);
        }
        pass.flush(&mut collected);
        [one_by_one, (collected, pass.fingerprint())]
    }

    #[test]
    fn collected_items_and_fingerprint_are_those_of_the_rows_one_by_one() {
        // Empty cells, every length around a block with its header, long keys at every place in
        // a batch, and more items than one block of the fingerprint.
        for cycle in [1, 2, 59, 60, 61, 62, 83] {
            let [one_by_one, collected] = both((0..7000).map(|i| i % cycle));
            assert!(one_by_one == collected, "lengths below {cycle}");
        }
        let [one_by_one, collected] = both((0..3000).map(|i| if i % 37 == 5 { 200 } else { 59 }));
        assert_eq!(collected.0.len(), 3000);
        assert!(one_by_one == collected);
    }

    #[test]
    fn the_last_keys_are_hashed_whatever_their_number() {
        for rows in 0..40 {
            let [one_by_one, collected] = both(std::iter::repeat_n(20, rows));
            assert_eq!(collected.0.len(), rows);
            assert!(one_by_one == collected, "{rows} rows");
        }
    }
}
