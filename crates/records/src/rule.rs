//! Several keys of a row, any of which may match.

use vesica_transforms::{MAX_CHARS, Transform, max_outputs};

/// One of several keys of a row, any of which may match: the columns whose values must all be
/// equal, or meet under transforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRule {
    /// What counts and warnings call it.
    pub name: String,
    /// Its columns, by the positions of their keys, and then by their transforms. At least one.
    pub columns: Vec<RuleColumn>,
    /// The most keys that a row can have under it; a row with more has none.
    pub most: usize,
}

impl KeyRule {
    /// Whether a row can have several keys under the rule, so that their most must be agreed.
    pub fn can_give_several(&self) -> bool {
        max_keys(&self.columns) > 1
    }
}

/// The most keys that a row can have of these columns.
pub fn max_keys(columns: &[RuleColumn]) -> usize {
    let of_column = |column: &RuleColumn| max_outputs(&column.transforms, MAX_CHARS);
    columns.iter().map(of_column).fold(1, usize::saturating_mul)
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

impl RuleColumn {
    /// The column as it is written, where its key is called `key`: `surname | soundex`.
    pub fn in_words(&self, key: &str) -> String {
        let transforms = self.transforms.iter().map(|transform| format!(" | {transform}"));
        key.to_owned() + &transforms.collect::<String>()
    }
}
