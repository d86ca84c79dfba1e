//! The key columns, and the encoded key of a row.

use crate::encoding::{PART_HEADER_LEN, push_cell, push_rule, push_text};
use crate::never::Never;
use crate::rule::{KeyRule, RuleColumn};
use std::ops::Range;
use vesica_inputs::error::InputError;
use vesica_profiles::{Normalised, Profile, Refusal};
use vesica_tables::{CellColumn, Row, Source};
use vesica_transforms::{ChainError, Room, Texts, chain};

/// One column of the key.
///
/// ```
/// use std::ops::ControlFlow;
/// use vesica_core::hash::ItemHash;
/// use vesica_records::{KeyColumn, KeyItems, KeyLimits, read_keys};
/// use vesica_tables::{ReadOptions, Source};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("customers.csv");
/// std::fs::write(&file, "id,mail\n1,Ann@example.org\n2,ann@example.org \n3,bob@example.org\n4,\n")?;
///
/// let source = Source::open(&file, &ReadOptions::default())?;
/// let key = [KeyColumn {
///     name: "email".into(),
///     column: "mail".into(),
///     profile: "email".parse()?,
///     never: vec!["unknown@example.org".into()],
/// }];
/// let hash = KeyItems::digests(ItemHash::new("an example", &[]));
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let keys = read_keys(&source, &key, &hash, &KeyLimits::default(), go_on)?;
/// assert_eq!(keys.items.len(), 2);
/// let counts = &keys.counts;
/// assert_eq!((counts.rows, counts.duplicates, counts.empty), (4, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name in the agreement.
    pub name: String,
    /// Its name in this party's file.
    pub column: String,
    /// The rule that normalises its values.
    pub profile: Profile,
    /// Values that are refused: cells that equal one without the blanks at their ends, or that have
    /// its normal form.
    pub never: Vec<String>,
}

/// The cells of the key columns in `source`, in the key's order; checks that each column can be a
/// key under its profile.
pub(crate) fn key_cells(
    source: &Source,
    columns: &[KeyColumn],
) -> Result<Vec<CellColumn>, InputError> {
    columns.iter().map(|column| source.key_column(&column.column, column.profile)).collect()
}

/// The rule for the cells of one column.
pub(crate) struct CellRule {
    profile: Profile,
    never: Option<Never>,
}

impl CellRule {
    pub(crate) fn of(column: &KeyColumn) -> Self {
        Self { profile: column.profile, never: Never::new(&column.never, column.profile) }
    }

    /// Like [`push_cell`], and refuses what the agreement excludes.
    #[inline]
    fn push(&mut self, cell: &[u8], out: &mut Vec<u8>) -> Result<Normalised, Refusal> {
        let start = out.len();
        let done = push_cell(self.profile, cell, out);
        match &mut self.never {
            None => done,
            Some(never) => {
                let normal = out.get(start + PART_HEADER_LEN..).unwrap_or_default();
                never.judge(cell, done, normal)
            }
        }
    }

    /// What becomes of a cell, in the buffer `normal`.
    pub(crate) fn judge(
        &mut self,
        cell: &[u8],
        normal: &mut Vec<u8>,
    ) -> Result<Normalised, Refusal> {
        normal.clear();
        let done = self.profile.normalise_cell(cell, normal);
        match &mut self.never {
            None => done,
            Some(never) => never.judge(cell, done, normal),
        }
    }
}

/// The result for the columns of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// An encoded key, now at the end of the buffer.
    Key,
    /// At least one column is empty.
    Empty,
    /// No column is empty; this one, by its position in the key, was the first refused.
    Refused { key: usize, reason: Refusal },
}

/// Encodes rows in sequence.
pub(crate) struct KeyEncoder {
    cells: Vec<CellRule>,
    rules: Vec<KeyRule>,
    scratch: Vec<u8>,
    /// The encoded parts of a row's columns, for its keys under rules.
    parts: Vec<u8>,
    columns: Vec<Part>,
    /// Rows with a value in each column, for the same.
    filled: Vec<u64>,
    keys: RuleKeys,
    room: Room,
}

/// What a row has under a rule.
pub(crate) enum Under {
    /// This number of keys, at least one and at most as many as agreed.
    Keys(usize),
    /// More keys than were agreed; none of them counts.
    TooMany,
    /// A value that a transform does not take.
    NotTaken,
    /// No key; never [`Encoded::Key`].
    Nothing(Encoded),
}

/// The keys of a row under one rule, in memory that is used again.
#[derive(Default)]
struct RuleKeys {
    keys: Vec<Vec<u8>>,
    len: usize,
}

impl RuleKeys {
    /// One key, which `start` begins.
    fn begin(&mut self, start: impl Fn(&mut Vec<u8>)) {
        if self.keys.is_empty() {
            self.keys.push(Vec::new());
        }
        self.keys[0].clear();
        start(&mut self.keys[0]);
        self.len = 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    /// Appends `part` to all keys.
    fn append(&mut self, part: &[u8]) {
        self.keys[..self.len].iter_mut().for_each(|key| key.extend_from_slice(part));
    }

    /// Replaces each key by one for each of `texts`.
    fn append_each(&mut self, texts: &Texts) {
        let before = self.len;
        self.len *= texts.len();
        if self.keys.len() < self.len {
            self.keys.resize(self.len, Vec::new());
        }
        let (first, others) = self.keys.split_at_mut(before);
        for (place, key) in others[..self.len - before].iter_mut().enumerate() {
            key.clone_from(&first[place % before]);
        }
        for (keys, text) in self.keys.chunks_mut(before).zip(texts.iter()) {
            keys.iter_mut().for_each(|key| push_text(text, key));
        }
    }
}

/// What became of a row's cell in one column.
enum Part {
    /// The place of its encoded part.
    Value(Range<usize>),
    Empty,
    Refused(Refusal),
}

impl KeyEncoder {
    pub(crate) fn new(columns: &[KeyColumn], rules: &[KeyRule]) -> Self {
        Self {
            cells: columns.iter().map(CellRule::of).collect(),
            rules: rules.to_vec(),
            scratch: Vec::new(),
            parts: Vec::new(),
            columns: Vec::new(),
            filled: vec![0; columns.len()],
            keys: RuleKeys::default(),
            room: Room::default(),
        }
    }

    /// Encodes the cells of `row` for [`under`](Self::under).
    pub(crate) fn look(&mut self, row: &impl Row) {
        self.parts.clear();
        self.columns.clear();
        for (key, cell) in self.cells.iter_mut().enumerate() {
            let start = self.parts.len();
            let part = match cell.push(row.cell(key, &mut self.scratch), &mut self.parts) {
                Ok(Normalised::Value) => Part::Value(start..self.parts.len()),
                Ok(Normalised::Empty) => Part::Empty,
                Err(reason) => Part::Refused(reason),
            };
            // A refused value may have left its part.
            if !matches!(part, Part::Value(_)) {
                self.parts.truncate(start);
            }
            self.filled[key] += u64::from(!matches!(part, Part::Empty));
            self.columns.push(part);
        }
    }

    /// In how many rows that [`look`](Self::look) saw each column has a value.
    pub(crate) fn filled(&self) -> &[u64] {
        &self.filled
    }

    /// Makes the keys, under the rule of this number, of the row that [`look`](Self::look) saw
    /// last.
    pub(crate) fn under(&mut self, rule: usize) -> Under {
        let Self { rules, parts, columns, keys, room, .. } = self;
        let KeyRule { columns: of_rule, most, .. } = &rules[rule];
        keys.begin(|key| push_rule(rule, key));
        let mut refused = None;
        for RuleColumn { key, transforms } in of_rule {
            let place = match &columns[*key] {
                Part::Value(place) => place.clone(),
                Part::Empty => return Under::Nothing(Encoded::Empty),
                Part::Refused(reason) => {
                    refused = refused.or(Some((*key, *reason)));
                    continue;
                }
            };
            if transforms.is_empty() {
                keys.append(&parts[place]);
                continue;
            }
            let value = &parts[place.start + PART_HEADER_LEN..place.end];
            // Profiles make UTF-8.
            let value = std::str::from_utf8(value).unwrap_or_default();
            match chain(transforms, value, *most, room) {
                Ok(texts) if keys.len() * texts.len() <= *most => keys.append_each(texts),
                Ok(_) | Err(ChainError::TooMany { .. }) => return Under::TooMany,
                Err(_) => return Under::NotTaken,
            }
        }
        match refused {
            Some((key, reason)) => Under::Nothing(Encoded::Refused { key, reason }),
            None => Under::Keys(keys.len()),
        }
    }

    /// One of the keys that [`under`](Self::under) made last.
    pub(crate) fn key(&self, place: usize) -> &[u8] {
        &self.keys.keys[place]
    }

    /// Appends the key of `row` to `out`; without a key, `out` is unchanged.
    #[inline]
    pub(crate) fn encode(&mut self, row: &impl Row, out: &mut Vec<u8>) -> Encoded {
        let start = out.len();
        let mut refused = None;
        for (key, rule) in self.cells.iter_mut().enumerate() {
            let cell = row.cell(key, &mut self.scratch);
            match rule.push(cell, out) {
                Ok(Normalised::Value) => {}
                Ok(Normalised::Empty) => {
                    out.truncate(start);
                    return Encoded::Empty;
                }
                Err(reason) => refused = refused.or(Some((key, reason))),
            }
        }
        match refused {
            Some((key, reason)) => {
                out.truncate(start);
                Encoded::Refused { key, reason }
            }
            // Without columns there is no key.
            None if out.len() == start => Encoded::Empty,
            None => Encoded::Key,
        }
    }
}
