//! The limits of a pass over the rows, and its counts.

use crate::doubts::float_texts::FloatTexts;
use crate::doubts::frequent::FrequentKey;
use crate::doubts::misfit::Misfit;
use vesica_inputs::error::Place;
use vesica_profiles::Refusal;

/// The limits of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Most rows the file may have.
    pub max_rows: Option<u64>,
    /// A refused value ends the pass with an error; otherwise it is counted.
    pub strict: bool,
    /// A file without rows, or without a usable key, is an empty set rather than an error.
    pub may_be_empty: bool,
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

/// Values of one column that stand in single quotes, which are a part of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleQuoted {
    /// The column in the file.
    pub column: String,
    /// How many rows.
    pub count: u64,
    /// The first of them, at most five.
    pub first: Vec<Place>,
}

/// The outcome of the rows under one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleCounts {
    /// The name of the rule.
    pub name: String,
    /// Rows with a key.
    pub rows: u64,
    /// Rows with more keys than were agreed, which have none.
    pub too_many: u64,
    /// Rows with a value that a transform does not take, which have none.
    pub not_taken: u64,
}

/// The outcome of the rows: without rules, `rows = empty + refused + duplicates + distinct`.
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
    /// The rows under each rule, in their order; none without rules. A row may have several keys
    /// then, and `duplicates` counts repeated keys, not rows.
    pub by_rule: Vec<RuleCounts>,
    /// Rows with a key whose value is empty and counts as 0; 0 where no values are read.
    pub without_value: u64,
    /// The refused rows by column and reason, in the order they were first met.
    pub refused_by: Vec<RefusedCount>,
    /// Rows of a text file with a key in single quotes, by column: where they are fewer than half
    /// of all.
    pub single_quoted: Vec<SingleQuoted>,
    /// Columns compared as text in which most keys look like floating-point numbers.
    pub floats: Vec<FloatTexts>,
    /// The keys of the most rows, where one is in more than 1 % of them and in more than 20: at
    /// most five.
    pub frequent: Vec<FrequentKey>,
    /// The columns whose profile refuses more than 3 % of the values; none where a refused value is
    /// a fault.
    pub misfits: Vec<Misfit>,
}
