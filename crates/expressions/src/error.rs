//! Why an expression cannot be computed.

/// What is wrong with an expression, or with the table for it. Places are characters of the text,
/// counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionError {
    /// The text is too long.
    #[error("the expression is longer than {max} characters")]
    TooLong {
        /// Maximum number of characters.
        max: usize,
    },
    /// The expression has too many parts.
    #[error("the expression has more than {max} names, numbers and operators")]
    TooManyParts {
        /// Maximum number of parts.
        max: usize,
    },
    /// Parentheses and signs are nested too deeply.
    #[error("at character {at}: more than {max} parentheses and signs within each other")]
    TooDeep {
        /// Where.
        at: usize,
        /// Maximum depth.
        max: usize,
    },
    /// Two results have the same text, so that their answers would have the same name.
    #[error("{name:?} is asked for twice")]
    Repeated {
        /// The text.
        name: String,
    },
    /// Something else should be there.
    #[error("at character {at}: {expected} is missing here")]
    Expected {
        /// Where.
        at: usize,
        /// What should be there.
        expected: &'static str,
    },
    /// A number is too large.
    #[error("at character {at}: the number has more than 127 bits")]
    NumberTooLarge {
        /// Where.
        at: usize,
    },
    /// A comparison of a comparison.
    #[error("at character {at}: join two comparisons with `and`")]
    ComparedTwice {
        /// Where.
        at: usize,
    },
    /// The table has no such column.
    #[error("at character {at}: the shares have no column {name:?}")]
    UnknownColumn {
        /// Where.
        at: usize,
        /// Its name.
        name: String,
    },
    /// Several columns have this name.
    #[error("at character {at}: the shares have several columns {name:?}")]
    AmbiguousColumn {
        /// Where.
        at: usize,
        /// Its name.
        name: String,
    },
    /// A single value would be revealed.
    #[error("at character {at}: column {name:?} can only stand inside sum() or count()")]
    OutsideSum {
        /// Where.
        at: usize,
        /// The column.
        name: String,
    },
    /// A sum in a sum.
    #[error("at character {at}: sum() and count() cannot stand inside each other")]
    Nested {
        /// Where.
        at: usize,
    },
    /// Several numbers where one is needed.
    #[error("at character {at}: `by` gives several numbers, so nothing can be computed from them")]
    SeveralNumbers {
        /// Where.
        at: usize,
    },
    /// A condition where a number is needed.
    #[error("at character {at}: this is a condition, not a number")]
    NotANumber {
        /// Where.
        at: usize,
    },
    /// A number where a condition is needed.
    #[error("at character {at}: this is a number, not a condition")]
    NotACondition {
        /// Where.
        at: usize,
    },
    /// The limits of buckets are not in order.
    #[error("at character {at}: each number after `in` must be larger than the one before")]
    LimitsNotInOrder {
        /// Where.
        at: usize,
    },
    /// A number could have too many bits.
    #[error("at character {at}: this could be a number of more than 127 bits")]
    TooWide {
        /// Where.
        at: usize,
    },
    /// A column has no possible width.
    #[error("values of column {name:?} have {bits} bits instead of 1 to 64")]
    ColumnBits {
        /// The column.
        name: String,
        /// Its bits.
        bits: u32,
    },
    /// The table has too many entries.
    #[error("{entries} entries exceed the limit of {max}")]
    TooManyEntries {
        /// Their number.
        entries: usize,
        /// Maximum number.
        max: usize,
    },
}

impl ExpressionError {
    /// The character of the text, from 1, at which the fault is; `None` if it is in the whole text
    /// or in the table.
    pub fn at(&self) -> Option<usize> {
        match self {
            Self::TooDeep { at, .. }
            | Self::Expected { at, .. }
            | Self::NumberTooLarge { at }
            | Self::ComparedTwice { at }
            | Self::UnknownColumn { at, .. }
            | Self::AmbiguousColumn { at, .. }
            | Self::OutsideSum { at, .. }
            | Self::Nested { at }
            | Self::SeveralNumbers { at }
            | Self::NotANumber { at }
            | Self::NotACondition { at }
            | Self::LimitsNotInOrder { at }
            | Self::TooWide { at } => Some(*at),
            Self::TooLong { .. }
            | Self::TooManyParts { .. }
            | Self::Repeated { .. }
            | Self::ColumnBits { .. }
            | Self::TooManyEntries { .. } => None,
        }
    }
}
