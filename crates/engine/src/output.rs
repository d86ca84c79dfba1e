//! The result of a finished job, in memory: the same type for runs between two parties and with a
//! helper.

mod file;

pub(crate) use file::{Results, check, check_order};
pub(crate) use vesica_own_rows::KeyRows;
pub use vesica_own_rows::{IdEntry, Ids, OrderLine, RowSet, SharesOrder, Union, UnionEntry};

use std::fmt;
use vesica_expressions::Answer;
use vesica_share_files::SharesFile;

/// What a party has learned when its job has finished, checked and without self-check items. The
/// operation of the agreement decides the variant, and whether this party receives a result.
///
/// [`run`](crate::run) returns it, whether or not a result file is written; [`RunResult::write`]
/// writes the file. Its `Debug` form has counts only.
///
/// # Leakage
/// The result itself: rows, keys and identifiers are as confidential as the input, and keys of a
/// [`Union`] can be the other party's. Memory is not wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub enum RunResult {
    /// This party does not receive the result.
    Nothing,
    /// The number of common keys is outside the agreed bounds. Both parties learn this and nothing
    /// else, including one that receives no result.
    OutsideBounds,
    /// Intersection: the own rows whose key is common to all parties.
    Rows(RowSet),
    /// Intersection, if [workers](vesica_detached::Workers) have the rows. They know which of them
    /// are common.
    Detached {
        /// Number of different own keys that are common to both parties.
        keys: u64,
        /// Number of own rows that have them.
        rows: u64,
        /// Number of own rows.
        of: u64,
    },
    /// Cardinality: the number of different common keys.
    Cardinality(u64),
    /// Threshold: whether at least `min` different keys are common.
    Threshold {
        /// The threshold in the agreement.
        min: u64,
        /// The answer.
        reached: bool,
    },
    /// Sum: the sums of the values of the common keys.
    Sums {
        /// The number of different common keys, if the protocol computes it too.
        keys: Option<u64>,
        /// The sums, in the order of the agreement's columns.
        columns: Vec<ColumnSum>,
    },
    /// Shares with an expression: what it gives.
    Answers {
        /// The number of different common keys.
        keys: u64,
        /// The answers, in the order of the expression; one for each bucket.
        answers: Vec<NamedAnswer>,
    },
    /// Union: the keys that at least one party has.
    Union(Union),
    /// Private ids: identifiers of the keys that at least one party has, and identifiers of the own
    /// rows.
    Ids(Ids),
    /// Shares and shared values: this party's shares. [`combine`](crate::shares::combine) takes
    /// both parties' shares.
    Shares {
        /// The shares.
        file: SharesFile,
        /// What this party knows of their order.
        order: SharesOrder,
    },
}

/// The sum of one column of values over the common keys, of all rows or of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSum {
    /// The column's name in the agreement, the group's, or `column[group]`.
    pub column: String,
    /// The sum. A key counts once; the agreement's `duplicates` decides the value of a repeated
    /// key.
    pub sum: i128,
}

/// What a part of an expression gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAnswer {
    /// Its text in the agreement, such as `sum(price * units) > 1000`; of a bucket with its limits.
    pub name: String,
    /// The number, or whether the condition holds.
    pub answer: Answer,
}

impl NamedAnswer {
    /// The answer as text: decimal digits, `true` or `false`.
    pub fn text(&self) -> String {
        match self.answer {
            Answer::Number(number) => number.to_string(),
            Answer::Condition(holds) => holds.to_string(),
        }
    }
}

/// What [`run`](crate::run) returns.
#[derive(Debug)]
pub struct Finished {
    /// What the run did: counts, times and parameters, never a key or a row.
    pub report: crate::Report,
    /// What this party learned.
    pub output: RunResult,
}

impl RunResult {
    /// Number of different common keys, if this party learns it.
    pub fn keys_in_common(&self) -> Option<u64> {
        match self {
            Self::Rows(rows) => Some(rows.keys()),
            Self::Cardinality(keys) | Self::Detached { keys, .. } | Self::Answers { keys, .. } => {
                Some(*keys)
            }
            Self::Sums { keys, .. } => *keys,
            _ => None,
        }
    }

    /// The own rows in the result, if the result is rows.
    pub fn rows(&self) -> Option<&RowSet> {
        match self {
            Self::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// What this party knows of the order of its shares, if the result is shares.
    pub fn order(&self) -> Option<&SharesOrder> {
        match self {
            Self::Shares { order, .. } => Some(order),
            _ => None,
        }
    }
}

impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::OutsideBounds => f.write_str("OutsideBounds"),
            Self::Rows(rows) => rows.fmt(f),
            Self::Detached { keys, rows, of } => {
                write!(f, "Detached({keys} keys, {rows} of {of} rows)")
            }
            Self::Cardinality(count) => write!(f, "Cardinality({count})"),
            Self::Threshold { min, reached } => write!(f, "Threshold({reached}, of {min})"),
            Self::Sums { columns, .. } => write!(f, "Sums({} columns)", columns.len()),
            Self::Answers { answers, .. } => write!(f, "Answers({} answers)", answers.len()),
            Self::Union(union) => write!(f, "Union({} keys)", union.len()),
            Self::Ids(ids) => write!(f, "Ids({} identifiers)", ids.len()),
            Self::Shares { file, .. } => write!(f, "Shares({} entries)", file.entries),
        }
    }
}
