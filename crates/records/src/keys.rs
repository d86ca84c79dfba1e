//! First pass: rows to a sorted set of distinct items.

use crate::error::{InputError, Place};
use crate::key::{Encoded, KeyColumn, KeyEncoder};
use crate::profile::Refusal;
use crate::progress::{Meter, Progress};
use crate::rows::{Row, Visit, visit};
use crate::sort::sort_distinct;
use crate::source::Source;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use vesica_core::Item;
use vesica_core::hash::{ItemHash, derive};

const FINGERPRINT_LABEL: &str = "vesica records 2026 fingerprint of a pass v1";

/// Items hashed at a time into the fingerprint.
const FINGERPRINT_BLOCK_BYTES: usize = 1 << 15;

/// Places kept for each column and reason.
const FIRST_PLACES: usize = 5;

/// When repeated items are first dropped before the end of the pass: at 64 MiB of items.
const FIRST_COMPACTION: usize = 1 << 22;

/// What a pass must keep to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Most rows the file may have.
    pub max_rows: Option<u64>,
    /// A refused value ends the pass with an error; otherwise it is counted.
    pub strict: bool,
}

/// Values of one column refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCount {
    /// The column in the file.
    pub column: String,
    /// The reason.
    pub reason: Refusal,
    /// How many rows.
    pub count: u64,
    /// The first of them, at most five.
    pub first: Vec<Place>,
}

/// What became of the rows: `rows = empty + refused + duplicates + distinct`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Data rows.
    pub rows: u64,
    /// Rows with an empty key column.
    pub empty: u64,
    /// Rows without an empty key column and with a refused one.
    pub refused: u64,
    /// Rows whose key stood in an earlier row.
    pub duplicates: u64,
    /// Different keys.
    pub distinct: u64,
    /// The refused rows by column and reason, in the order they were first met.
    pub refused_by: Vec<RefusedCount>,
}

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

/// The keys of a file.
#[derive(Clone, Debug)]
pub struct KeySet {
    /// The distinct items, ascending.
    pub items: Vec<Item>,
    /// What became of the rows.
    pub counts: KeyCounts,
    /// What the pass saw.
    pub fingerprint: Fingerprint,
}

/// What a row gave.
pub(crate) enum Outcome {
    Item(Item),
    Empty,
    Refused { key: usize, reason: Refusal },
}

/// Turns rows into items and keeps the fingerprint of what it saw. Both passes use it.
pub(crate) struct KeyPass<'a> {
    encoder: KeyEncoder,
    hash: &'a ItemHash,
    rows: u64,
    digest: [u8; 32],
    block: Vec<u8>,
}

impl<'a> KeyPass<'a> {
    pub(crate) fn new(columns: &[KeyColumn], hash: &'a ItemHash) -> Self {
        Self {
            encoder: KeyEncoder::new(columns),
            hash,
            rows: 0,
            digest: [0; 32],
            block: Vec::with_capacity(FINGERPRINT_BLOCK_BYTES),
        }
    }

    #[inline]
    pub(crate) fn outcome(&mut self, row: &impl Row) -> Outcome {
        self.rows += 1;
        match self.encoder.encode(row) {
            Encoded::Key(key) => {
                let item = self.hash.item(key);
                self.block.extend_from_slice(item.as_bytes());
                if self.block.len() >= FINGERPRINT_BLOCK_BYTES {
                    self.absorb();
                }
                Outcome::Item(item)
            }
            Encoded::Empty => Outcome::Empty,
            Encoded::Refused { key, reason } => Outcome::Refused { key, reason },
        }
    }

    #[cold]
    fn absorb(&mut self) {
        self.digest = derive(FINGERPRINT_LABEL, &[&self.digest, &self.block]);
        self.block.clear();
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn fingerprint(mut self) -> Fingerprint {
        self.absorb();
        Fingerprint { rows: self.rows, items: self.digest }
    }
}

struct Collector<'a> {
    pass: KeyPass<'a>,
    columns: &'a [KeyColumn],
    limits: &'a KeyLimits,
    path: &'a Path,
    items: Vec<Item>,
    compact_at: usize,
    counts: KeyCounts,
}

impl Collector<'_> {
    /// Drops repeated items, so that memory follows the distinct ones. The next time is far
    /// enough away that the sorting is a small part of the pass.
    #[cold]
    fn compact(&mut self) {
        sort_distinct(&mut self.items);
        self.compact_at = FIRST_COMPACTION.max(self.items.len().saturating_mul(4));
    }

    #[cold]
    fn refuse(&mut self, key: usize, reason: Refusal, place: Place) -> Result<(), InputError> {
        let column = &self.columns[key].column;
        if self.limits.strict {
            let (path, column) = (self.path.to_path_buf(), column.clone());
            return Err(InputError::Refused { path, place, column, reason });
        }
        self.counts.refused += 1;
        let known = |row: &&mut RefusedCount| row.reason == reason && row.column == *column;
        match self.counts.refused_by.iter_mut().find(known) {
            Some(row) => {
                row.count += 1;
                if row.first.len() < FIRST_PLACES {
                    row.first.push(place);
                }
            }
            None => self.counts.refused_by.push(RefusedCount {
                column: column.clone(),
                reason,
                count: 1,
                first: vec![place],
            }),
        }
        Ok(())
    }
}

impl Visit for Collector<'_> {
    #[inline]
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        if self.limits.max_rows.is_some_and(|limit| self.pass.rows() >= limit) {
            return Err(too_many(self.path, self.limits));
        }
        match self.pass.outcome(row) {
            Outcome::Item(item) => {
                self.items.push(item);
                if self.items.len() >= self.compact_at {
                    self.compact();
                }
            }
            Outcome::Empty => self.counts.empty += 1,
            Outcome::Refused { key, reason } => self.refuse(key, reason, row.place())?,
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn too_many(path: &Path, limits: &KeyLimits) -> InputError {
    InputError::TooManyRows { path: path.to_path_buf(), limit: limits.max_rows.unwrap_or_default() }
}

/// Reads the keys of all rows into items under `hash`.
///
/// Streams the file: the memory is 16 bytes for a row with a key (for a distinct key, where many
/// repeat) plus fixed buffers. `progress` is called at most some tens of times a second; `Break`
/// ends the pass with [`InputError::Interrupted`].
///
/// # Errors
/// Anything wrong with the file, a limit passed, no row at all, or no row with a key.
pub fn read_keys(
    source: &Source,
    columns: &[KeyColumn],
    hash: &ItemHash,
    limits: &KeyLimits,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    let indices = source.key_indices(columns)?;
    if let (Some(limit), Some(rows)) = (limits.max_rows, source.rows())
        && rows > limit
    {
        return Err(too_many(source.path(), limits));
    }
    let mut collector = Collector {
        pass: KeyPass::new(columns, hash),
        columns,
        limits,
        path: source.path(),
        items: Vec::new(),
        compact_at: FIRST_COMPACTION,
        counts: KeyCounts::default(),
    };
    let mut meter = Meter::new(source.len_bytes(), progress);
    let rows = visit(source, &indices, &mut meter, &mut collector)?;
    let Collector { pass, mut items, mut counts, .. } = collector;
    let path = source.path().to_path_buf();
    if rows == 0 {
        return Err(InputError::NoRows { path });
    }
    sort_distinct(&mut items);
    counts.rows = rows;
    counts.distinct = items.len() as u64;
    counts.duplicates = rows - counts.empty - counts.refused - counts.distinct;
    if items.is_empty() {
        let KeyCounts { rows, empty, refused, .. } = counts;
        return Err(InputError::NoKeys { path, rows, empty, refused });
    }
    Ok(KeySet { items, counts, fingerprint: pass.fingerprint() })
}
