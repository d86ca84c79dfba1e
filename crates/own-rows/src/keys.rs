//! Results that name keys rather than rows: the union and private ids.

use vesica_core::Item;
use vesica_records::{KeyTexts, RowNumbers, key_values};

/// The parts of this party's file that a result with keys needs.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct KeyRows {
    /// The columns of the key in the file.
    pub columns: Vec<String>,
    /// The rows of each key.
    pub numbers: RowNumbers,
    /// Rows in the file.
    pub rows: u64,
}

impl KeyRows {
    fn values<'t>(&self, text: &'t [u8]) -> Vec<&'t str> {
        key_values(text, self.columns.len()).expect("own texts are encoded, the peer's are checked")
    }

    pub(crate) fn rows_of(&self, key: u32) -> impl Iterator<Item = u64> {
        self.numbers.get(key as usize).iter().map(|number| number - 1)
    }
}

/// The keys that at least one party has, ascending by their text.
#[derive(Clone, PartialEq, Eq)]
pub struct Union {
    own: KeyRows,
    keys: Vec<(Vec<u8>, Option<u32>)>,
    new: u64,
}

/// A key of a [`Union`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionEntry<'a> {
    /// The normalised value of each key column, in the order of [`Union::columns`].
    pub values: Vec<&'a str>,
    /// The own rows with this key, ascending, from 0; `None` for a key that only the other party
    /// has.
    pub rows: Option<Vec<u64>>,
}

impl Union {
    /// The union of `keys`, ascending: the text of each, and its position among the `own` keys;
    /// `None` for the `new` ones, which only the other party has.
    pub fn new(own: KeyRows, keys: Vec<(Vec<u8>, Option<u32>)>, new: u64) -> Self {
        Self { own, keys, new }
    }

    /// The key columns, as this party's file calls them.
    pub fn columns(&self) -> &[String] {
        &self.own.columns
    }

    /// The text of each key, and its position among the own keys; `None` if only the other party
    /// has it.
    pub fn keys(&self) -> &[(Vec<u8>, Option<u32>)] {
        &self.keys
    }

    /// Number of keys in the union.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the union has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Number of keys that only the other party has.
    pub fn new_keys(&self) -> u64 {
        self.new
    }

    /// The keys, in an order that does not reveal which party has them.
    pub fn entries(&self) -> impl Iterator<Item = UnionEntry<'_>> {
        self.keys.iter().map(|(text, own)| UnionEntry {
            values: self.own.values(text),
            rows: own.map(|key| self.own.rows_of(key).collect()),
        })
    }

    /// A column for the own rows: the number of each row's key in the union, from 1, in the order
    /// of the file; `None` for a row without a usable key. A key has the same number at both
    /// parties.
    pub fn by_row(&self) -> Vec<Option<u64>> {
        let mut column = vec![None; usize::try_from(self.own.rows).unwrap_or(usize::MAX)];
        for (number, (_, own)) in (1..).zip(&self.keys) {
            for row in own.iter().flat_map(|key| self.own.rows_of(*key)) {
                column[row as usize] = Some(number);
            }
        }
        column
    }
}

/// Identifiers of the keys that at least one party has. Both parties have the same list, and a
/// common key has the same identifier at both.
#[derive(Clone, PartialEq, Eq)]
pub struct Ids {
    own: KeyRows,
    all: Vec<[u8; Item::LEN]>,
    positions: Vec<Option<u32>>,
    texts: KeyTexts,
}

/// An identifier of [`Ids`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdEntry<'a> {
    /// The identifier, 16 bytes, pseudorandom.
    pub id: &'a [u8; Item::LEN],
    /// The own key that has it, one normalised value for each of [`Ids::columns`]; `None` for a key
    /// that only the other party has, and for padding if sizes are hidden.
    pub values: Option<Vec<&'a str>>,
    /// The own rows with that key, ascending, from 0; empty without an own key.
    pub rows: Vec<u64>,
}

impl Ids {
    /// The identifiers `all`, ascending, and for each the position of its key among the `own` keys,
    /// which have these `texts`; `None` for other keys.
    pub fn new(
        own: KeyRows,
        all: Vec<[u8; Item::LEN]>,
        positions: Vec<Option<u32>>,
        texts: KeyTexts,
    ) -> Self {
        Self { own, all, positions, texts }
    }

    /// The key columns, as this party's file calls them.
    pub fn columns(&self) -> &[String] {
        &self.own.columns
    }

    /// Number of identifiers, including padding if sizes are hidden.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no identifier.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The identifiers, ascending.
    pub fn entries(&self) -> impl Iterator<Item = IdEntry<'_>> {
        self.all.iter().zip(&self.positions).map(|(id, position)| IdEntry {
            id,
            values: position.map(|key| self.own.values(self.texts.get(key as usize))),
            rows: position.iter().flat_map(|key| self.own.rows_of(*key)).collect(),
        })
    }

    /// A column for the own rows: the identifier of each row, in the order of the file; `None` for
    /// a row without a usable key.
    pub fn by_row(&self) -> Vec<Option<[u8; Item::LEN]>> {
        let mut column = vec![None; usize::try_from(self.own.rows).unwrap_or(usize::MAX)];
        for (id, position) in self.all.iter().zip(&self.positions) {
            for row in position.iter().flat_map(|key| self.own.rows_of(*key)) {
                column[row as usize] = Some(*id);
            }
        }
        column
    }
}
