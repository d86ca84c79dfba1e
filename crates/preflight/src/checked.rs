//! The findings of a check.

use crate::needs::Needs;
use jiff::civil::Date;
use std::io;
use std::path::PathBuf;
use vesica_engine::{ConfigFault, Error, InputFault};
use vesica_records::{ColumnShapes, Faults, KeyColumn, KeyCounts, Profile};
use vesica_tables::{InputError, OutputError, Source};

/// The findings of a check. Holds counts, names, places and shapes, never a value of a cell.
///
/// Serialised, it is one table of these fields. Those of [`Read`] and its counts are at the same
/// level, and null where the data was not read to its end. Helpers for display are described in
/// words.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The party whose rows these are, if that is known.
    pub party: Option<String>,
    /// The outcome of the rows; `None` if the pass ended before the end of the data, and
    /// [`Checked::refused`] says why.
    pub read: Option<Read>,
    /// The columns of the key, in the agreement's order.
    pub key: Vec<CheckedKey>,
    /// The columns of values that this party brings, as its data names them.
    pub value_columns: Vec<String>,
    /// The columns that this party sends, as its data names them.
    pub sent_columns: Vec<String>,
    /// Faults of rows with which a run would end; if the pass ended early, those found so far.
    pub faults: Faults,
    /// The requirements of the agreement, if the party is known.
    pub limits: Option<Limits>,
    /// The last day of the agreement, if it has passed.
    pub expired: Option<Date>,
    /// The memory and disk that a run needs; `None` if not known in advance, see [`Needs::of`].
    pub needs: Option<Needs>,
    /// Why a run would refuse these rows now; `None` if it would accept them.
    pub refused: Option<Refused>,
}

/// The outcome of the rows, where all were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The counts of the rows; `duplicates` and `distinct` are 0 if `distinct` below is `None`.
    pub counts: KeyCounts,
    /// Different keys; `None` if there were too many to compare them, which happens only with
    /// intersections.
    pub distinct: Option<u64>,
    /// The keys under each rule, in the rules' order; none without rules.
    pub rules: Vec<RuleRead>,
}

/// The keys of rows under one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRead {
    /// Its name in the agreement.
    pub name: String,
    /// Rows with a key under it.
    pub rows: u64,
    /// Rows with more keys than were agreed, which have none.
    pub too_many: u64,
    /// Rows with a value that a transform does not take, which have none.
    pub not_taken: u64,
    /// Different keys; `None` as [`Read::distinct`].
    pub distinct: Option<u64>,
    /// Keys of more than one row; `None` as [`Read::distinct`].
    pub repeated: Option<u64>,
}

impl Read {
    /// Rows with a usable key.
    pub fn keyed(&self) -> u64 {
        self.counts.rows - self.counts.empty - self.counts.refused
    }

    /// Different keys under all rules, or rows with a key where the different ones were not
    /// counted.
    fn distinct_or_keyed(&self) -> u64 {
        self.distinct.unwrap_or(self.keyed())
    }

    /// Rows whose key an earlier row has; under rules, keys that an earlier row has. `None` as
    /// [`Read::distinct`].
    pub fn duplicates(&self) -> Option<u64> {
        self.distinct.map(|_| self.counts.duplicates)
    }
}

/// A column of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedKey {
    /// Its name in the agreement.
    pub name: String,
    /// The rule that normalises its values.
    pub profile: Profile,
    /// Its name in the data, and the shapes of its values in the first rows.
    pub shapes: ColumnShapes,
}

impl CheckedKey {
    pub(crate) fn new(key: &KeyColumn, shapes: ColumnShapes) -> Self {
        Self { name: key.name.clone(), profile: key.profile, shapes }
    }

    /// Number of first rows whose shapes were examined.
    pub fn shape_rows(&self) -> u64 {
        self.shapes.shapes.iter().map(|shape| shape.count).sum::<u64>() + self.shapes.other
    }
}

/// The agreement's requirements on a party's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lower bound on the different keys.
    pub min_rows: u64,
    /// Upper bound on the rows.
    pub max_rows: u64,
}

/// Why a run would refuse the rows. Of several reasons, the first in this order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The data cannot be read to its end, has more rows than agreed, or has no row with a key; or
    /// the caller ended the pass.
    #[error(transparent)]
    Data(InputError),
    /// Rows have faults: [`Checked::faults`].
    #[error("rows have faults")]
    Faults,
    /// There are fewer different keys than agreed.
    #[error("{distinct} different keys where the agreement asks for at least {min}")]
    TooFewKeys {
        /// Different keys; rows with a key, if the different ones were not counted.
        distinct: u64,
        /// `min_rows` of this party.
        min: u64,
    },
    /// The agreement has expired.
    #[error("the agreement expired on {on}")]
    Expired {
        /// Its last day.
        on: Date,
    },
    /// The run needs more memory than its limit.
    #[error("a run takes {least} bytes of memory, and may take {given}")]
    Memory {
        /// The least with which it works.
        least: u64,
        /// The limit.
        given: u64,
    },
    /// The result would have two columns of one name.
    #[error(transparent)]
    Output(OutputError),
    /// No file for intermediate data can be created.
    #[error("no file can be created in {} ({kind})", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        kind: io::ErrorKind,
    },
    /// There is too little disk space for intermediate data.
    #[error("a run takes {needed} bytes in {}, where {free} are free", folder.display())]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// Upper bound on what the run needs.
        needed: u64,
        /// The free space.
        free: u64,
    },
}

impl Refused {
    /// The error of a run; `None` for [`Refused::Faults`], where it is that of the first fault.
    pub fn error(&self) -> Option<Error> {
        match self {
            Refused::Data(error) => Some(error.clone().into()),
            Refused::Output(error) => Some(InputFault::Output(error.clone()).into()),
            Refused::Faults => None,
            Refused::TooFewKeys { distinct, min } => {
                Some(InputFault::TooFewKeys { distinct: *distinct, min: *min }.into())
            }
            Refused::Expired { on } => Some(ConfigFault::Expired { on: *on }.into()),
            Refused::Memory { least, given } => {
                Some(ConfigFault::MemoryTooSmall { least: *least, given: *given }.into())
            }
            Refused::Scratch { folder, kind } => {
                Some(ConfigFault::Scratch { folder: folder.clone(), kind: *kind }.into())
            }
            Refused::Disk { folder, needed, free } => {
                let (folder, needed, free) = (folder.clone(), *needed, *free);
                Some(ConfigFault::ScratchTooSmall { folder, needed, free }.into())
            }
        }
    }
}

impl Checked {
    /// Whether there are fewer different keys than agreed, as far as they were counted; `None` if
    /// the data was not read to its end or there are no limits.
    pub fn has_too_few_keys(&self) -> Option<bool> {
        let (read, limits) = (self.read.as_ref()?, self.limits?);
        Some(read.distinct_or_keyed() < limits.min_rows)
    }

    /// The memory or the disk that a run lacks.
    fn missing(&self) -> Option<Refused> {
        match self.needs.as_ref()?.fault()? {
            ConfigFault::MemoryTooSmall { least, given } => Some(Refused::Memory { least, given }),
            ConfigFault::ScratchTooSmall { folder, needed, free } => {
                Some(Refused::Disk { folder, needed, free })
            }
            _ => None,
        }
    }

    /// Whether there are more rows than agreed. These are not read.
    pub fn has_too_many_rows(&self) -> bool {
        matches!(self.refused, Some(Refused::Data(InputError::TooManyRows { .. })))
    }

    /// Why a run would refuse the rows of `source`, which were read to its end, or else the folder
    /// for intermediate data, which `scratch` tests.
    pub(crate) fn judge(
        &self,
        source: &Source,
        may_be_empty: bool,
        scratch: impl FnOnce() -> Option<Refused>,
    ) -> Option<Refused> {
        let read = self.read.as_ref()?;
        let distinct = read.distinct_or_keyed();
        // Faults say more than the fact that no rows are left without them.
        if !self.faults.is_empty() {
            return Some(Refused::Faults);
        }
        let KeyCounts { rows, empty, refused, .. } = read.counts;
        let (path, format) = (source.path().to_path_buf(), source.format());
        match (rows, distinct) {
            (0, _) if !may_be_empty => {
                return Some(Refused::Data(InputError::NoRows { path, format }));
            }
            (_, 0) if !may_be_empty => {
                return Some(Refused::Data(InputError::NoKeys { path, rows, empty, refused }));
            }
            _ => {}
        }
        match (self.limits, self.expired) {
            (Some(Limits { min_rows: min, .. }), _) if distinct < min => {
                Some(Refused::TooFewKeys { distinct, min })
            }
            (_, Some(on)) => Some(Refused::Expired { on }),
            _ => scratch().or_else(|| self.missing()),
        }
    }
}
