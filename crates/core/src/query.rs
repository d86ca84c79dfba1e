//! What is asked of two sets.

use crate::{ParameterError, Result, Role};
use std::fmt;

/// What two parties can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// Which of its own items the other party has too.
    Intersection,
    /// How many items are common, and not which.
    Cardinality,
    /// Whether at least so many items are common: one bit.
    Threshold,
    /// The sum of a value of each common item, and not which; how many only where a protocol says so.
    Sum,
    /// The items that either party has.
    Union,
    /// A random identifier of each item of the union, the same at both parties: all of them, and
    /// which are those of one's own items.
    PrivateId,
    /// Shares of the common items, in an order that nobody knows, and of values of them.
    Shares,
    /// Shares of a value of each item of one party: its own where the other has the item too, and a
    /// default elsewhere.
    SharedValues,
}

impl Operation {
    /// All operations.
    pub const ALL: &[Operation] = &[
        Operation::Intersection,
        Operation::Cardinality,
        Operation::Threshold,
        Operation::Sum,
        Operation::Union,
        Operation::PrivateId,
        Operation::Shares,
        Operation::SharedValues,
    ];

    /// What can be asked of the intersection by a circuit.
    pub const OF_INTERSECTION: &[Operation] =
        &[Operation::Intersection, Operation::Cardinality, Operation::Threshold, Operation::Sum];

    /// The name in an agreement.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Intersection => "intersection",
            Operation::Cardinality => "cardinality",
            Operation::Threshold => "threshold",
            Operation::Sum => "sum",
            Operation::Union => "union",
            Operation::PrivateId => "private-id",
            Operation::Shares => "shares",
            Operation::SharedValues => "shared-values",
        }
    }

    /// Whether both parties get a result of their own, so that neither can be the only one to learn.
    pub const fn is_for_both(self) -> bool {
        matches!(self, Operation::PrivateId | Operation::Shares | Operation::SharedValues)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that [`Query::Sum`] adds or that are shared: one party has some for each of its items.
///
/// A value is 64 bits: a number below 2^bits, or where values are signed, one from −2^(bits−1) to
/// 2^(bits−1) − 1 as two's complement of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    holder: Role,
    bits: u32,
    columns: u32,
    signed: bool,
}

impl Values {
    /// Most values of an item.
    pub const MAX_COLUMNS: u32 = 16;

    /// One value below 2^`bits` of each item of `holder`.
    ///
    /// # Errors
    /// [`ParameterError::ValueBits`] unless 1 ≤ `bits` ≤ 64.
    pub fn new(holder: Role, bits: u32) -> Result<Self> {
        if !(1..=u64::BITS).contains(&bits) {
            return Err(ParameterError::ValueBits { bits }.into());
        }
        Ok(Self { holder, bits, columns: 1, signed: false })
    }

    /// The same with `columns` values of each item.
    ///
    /// # Errors
    /// [`ParameterError::Columns`] unless 1 ≤ `columns` ≤ [`MAX_COLUMNS`](Self::MAX_COLUMNS).
    pub fn with_columns(self, columns: u32) -> Result<Self> {
        if !(1..=Self::MAX_COLUMNS).contains(&columns) {
            return Err(ParameterError::Columns { columns }.into());
        }
        Ok(Self { columns, ..self })
    }

    /// The same with a sign: values from −2^(bits−1) to 2^(bits−1) − 1.
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// How many values an item has, from 1 to [`MAX_COLUMNS`](Self::MAX_COLUMNS).
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Whether values have a sign.
    pub fn are_signed(&self) -> bool {
        self.signed
    }

    /// Whether it is one value of each item, without a sign.
    pub fn are_plain(&self) -> bool {
        self.columns == 1 && !self.signed
    }

    /// Whether `value` is one of these.
    pub fn contain(&self, value: u64) -> bool {
        let outside = 64 - self.bits;
        match self.signed {
            true => (value as i64) << outside >> outside == value as i64,
            false => value << outside >> outside == value,
        }
    }

    /// `value` as a number.
    pub fn number(&self, value: u64) -> i128 {
        if self.signed { i128::from(value as i64) } else { i128::from(value) }
    }

    /// Whose items have the values.
    pub fn holder(&self) -> Role {
        self.holder
    }

    /// Length of a value in bits, from 1 to 64.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

/// What is computed of two sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// The common items themselves.
    #[default]
    Intersection,
    /// How many there are.
    Cardinality,
    /// Whether there are at least `min`.
    Threshold {
        /// The least count that gives yes.
        min: u64,
    },
    /// The sum of their values.
    Sum(Values),
    /// What either party has: each learns the texts of the items that only the other one has.
    Union(TextLen),
    /// Identifiers of the items of the union.
    PrivateId,
    /// Shares of the common items, and of the sender's values of them.
    Shares(Option<Values>),
    /// Shares of the sender's values of its common items, and of `default` for its others.
    SharedValues {
        /// The values.
        values: Values,
        /// What stands for a value of an item that is not common.
        default: u64,
    },
}

/// Length of the texts that stand for the items of a [`Query::Union`], in bytes: all have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLen(u32);

impl TextLen {
    /// The longest.
    pub const MAX: TextLen = TextLen(4096);

    /// Texts of `bytes` bytes.
    ///
    /// # Errors
    /// [`ParameterError::TextLen`] unless 1 ≤ `bytes` ≤ 4096.
    pub fn new(bytes: u32) -> Result<Self> {
        match bytes {
            1..=4096 => Ok(Self(bytes)),
            _ => Err(ParameterError::TextLen { bytes }.into()),
        }
    }

    /// The length in bytes.
    pub fn bytes(self) -> usize {
        self.0 as usize
    }
}

impl Query {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Query::Intersection => Operation::Intersection,
            Query::Cardinality => Operation::Cardinality,
            Query::Threshold { .. } => Operation::Threshold,
            Query::Sum(_) => Operation::Sum,
            Query::Union(_) => Operation::Union,
            Query::PrivateId => Operation::PrivateId,
            Query::Shares(_) => Operation::Shares,
            Query::SharedValues { .. } => Operation::SharedValues,
        }
    }

    /// The values that it is about, if any.
    pub fn values(&self) -> Option<Values> {
        match self {
            Query::Sum(values) | Query::SharedValues { values, .. } => Some(*values),
            Query::Shares(values) => *values,
            _ => None,
        }
    }

    /// The values that a party in `role` brings, if any.
    pub fn values_of(&self, role: Role) -> Option<Values> {
        self.values().filter(|values| values.holder == role)
    }

    /// The length of the texts that both parties bring, if any.
    pub fn text_len(&self) -> Option<TextLen> {
        match self {
            Query::Union(len) => Some(*len),
            _ => None,
        }
    }
}

/// How many common items there must be, both inclusive: outside, the result stays secret (auditing,
/// Y. Huang, D. Evans, J. Katz, NDSS 2012, §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    min: u64,
    max: u64,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { min: 0, max: u64::MAX };

    /// At least `min` and at most `max`, where given.
    ///
    /// # Errors
    /// [`ParameterError::Bounds`] when `min` is above `max`.
    pub fn new(min: Option<u64>, max: Option<u64>) -> Result<Self> {
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(u64::MAX));
        if min > max {
            return Err(ParameterError::Bounds { min, max }.into());
        }
        Ok(Self { min, max })
    }

    /// The least count inside.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest count inside.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Whether every count is inside.
    pub fn are_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether `count` is inside.
    pub fn contain(&self, count: u64) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::NONE
    }
}
