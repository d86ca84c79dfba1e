//! Several keys of a row, any of which may match.

use vesica_transforms::Transform;

/// One of several keys of a row, any of which may match: the columns whose values must all be
/// equal, or meet under transforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRule {
    /// Its columns. At least one.
    pub columns: Vec<RuleColumn>,
    /// The most keys that a row can have under it; a row with more has none.
    pub most: usize,
}

/// A column of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleColumn {
    /// Its position among the [`KeyColumn`](crate::KeyColumn)s.
    pub key: usize,
    /// What is compared: what these, one after another, make of the value; without them, the value
    /// itself.
    pub transforms: Vec<Transform>,
}
