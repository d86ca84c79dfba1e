//! The operations on two sets.

use crate::{ParameterError, Result, Role};
use std::fmt;

/// The operations that two parties can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// Each own item that the other party also has.
    Intersection,
    /// The number of common items, but not which they are.
    Cardinality,
    /// Whether the number of common items reaches a minimum: one bit.
    Threshold,
    /// The sum of the values of the common items, but not which they are; their number only where a
    /// protocol says so.
    Sum,
    /// The sum over the common items of the sender's value times the receiver's value, and their
    /// number.
    InnerProduct,
    /// The items that at least one party has.
    Union,
    /// A random identifier for each item of the union, the same at both parties. A party learns all
    /// identifiers, and those of its own items.
    PrivateId,
    /// Shares of the common items, in an order that no party knows, and of their values.
    Shares,
    /// Shares of a value for each item of one party: the item's own value if the other party has
    /// the item too, and a default value otherwise.
    SharedValues,
}

impl Operation {
    /// All operations.
    pub const ALL: &[Operation] = &[
        Operation::Intersection,
        Operation::Cardinality,
        Operation::Threshold,
        Operation::Sum,
        Operation::InnerProduct,
        Operation::Union,
        Operation::PrivateId,
        Operation::Shares,
        Operation::SharedValues,
    ];

    /// Those of them without values.
    pub const COUNTED: &[Operation] =
        &[Operation::Intersection, Operation::Cardinality, Operation::Threshold];

    /// The operations on the intersection that circuits compute.
    pub const OF_INTERSECTION: &[Operation] =
        &[Operation::Intersection, Operation::Cardinality, Operation::Threshold, Operation::Sum];

    /// The name in an agreement.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Intersection => "intersection",
            Operation::Cardinality => "cardinality",
            Operation::Threshold => "threshold",
            Operation::Sum => "sum",
            Operation::InnerProduct => "inner-product",
            Operation::Union => "union",
            Operation::PrivateId => "private-id",
            Operation::Shares => "shares",
            Operation::SharedValues => "shared-values",
        }
    }

    /// Whether both parties get a result of their own, so that neither can be the only one to
    /// learn.
    pub const fn is_for_both(self) -> bool {
        matches!(self, Operation::PrivateId | Operation::Shares | Operation::SharedValues)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that [`Query::Sum`] adds or that are shared: one party has a fixed number of them for
/// each of its items.
///
/// A value has 64 bits: a number below 2^bits, or a signed number from −2^(bits−1) to 2^(bits−1) −
/// 1, in two's complement of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    holder: Role,
    bits: u32,
    columns: u32,
    signed: bool,
}

impl Values {
    /// Maximum number of values per item.
    pub const MAX_COLUMNS: u32 = 64;

    /// Maximum bits of the receiver's value in an inner product.
    pub const MAX_FACTOR_BITS: u32 = 32;

    /// One value below 2^`bits` for each item of `holder`.
    ///
    /// # Errors
    /// [`ParameterError::ValueBits`] unless 1 ≤ `bits` ≤ 64.
    pub fn new(holder: Role, bits: u32) -> Result<Self> {
        if !(1..=u64::BITS).contains(&bits) {
            return Err(ParameterError::ValueBits { bits }.into());
        }
        Ok(Self { holder, bits, columns: 1, signed: false })
    }

    /// Changes the number of values per item to `columns`.
    ///
    /// # Errors
    /// [`ParameterError::Columns`] unless 1 ≤ `columns` ≤ [`MAX_COLUMNS`](Self::MAX_COLUMNS).
    pub fn with_columns(self, columns: u32) -> Result<Self> {
        if !(1..=Self::MAX_COLUMNS).contains(&columns) {
            return Err(ParameterError::Columns { columns }.into());
        }
        Ok(Self { columns, ..self })
    }

    /// Makes the values signed: from −2^(bits−1) to 2^(bits−1) − 1.
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// Number of values per item, from 1 to [`MAX_COLUMNS`](Self::MAX_COLUMNS).
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Whether values have a sign.
    pub fn are_signed(&self) -> bool {
        self.signed
    }

    /// Whether there is one unsigned value per item.
    pub fn are_plain(&self) -> bool {
        self.columns == 1 && !self.signed
    }

    /// Whether `value` is in range.
    pub fn contain(&self, value: u64) -> bool {
        let outside = 64 - self.bits;
        if self.signed {
            (value as i64) << outside >> outside == value as i64
        } else {
            value << outside >> outside == value
        }
    }

    /// `value` as a number.
    pub fn number(&self, value: u64) -> i128 {
        if self.signed { i128::from(value as i64) } else { i128::from(value) }
    }

    /// The party whose items have the values.
    pub fn holder(&self) -> Role {
        self.holder
    }

    /// Length of a value in bits, from 1 to 64.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

/// The operation on two sets, with its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// The common items themselves.
    #[default]
    Intersection,
    /// The common items themselves, and for the receiver the sender's payload of each.
    Payloads(PayloadLen),
    /// The number of common items.
    Cardinality,
    /// Whether there are at least `min` common items.
    Threshold {
        /// The smallest count that gives yes.
        min: u64,
    },
    /// The sum of the values of the common items.
    Sum(Values),
    /// The sum of the products of both parties' values of the common items, one for each column of
    /// the sender's.
    InnerProduct {
        /// The sender's values.
        values: Values,
        /// The receiver's: one for each of its items, without a sign, of at most
        /// [`Values::MAX_FACTOR_BITS`].
        factors: Values,
    },
    /// The items of the union; each party learns the texts of the items that only the other party
    /// has.
    Union(TextLen),
    /// Identifiers for the items of the union.
    PrivateId,
    /// Shares of the common items, and of the sender's values for them.
    Shares(Option<Values>),
    /// Shares of the sender's values for its common items, and of `default` for its other items.
    SharedValues {
        /// The values.
        values: Values,
        /// The value for items that are not common.
        default: u64,
    },
}

/// Length of the texts that represent the items of a [`Query::Union`], in bytes; equal for all
/// texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLen(u32);

impl TextLen {
    /// The maximum length.
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

/// Length of a payload of [`Query::Payloads`], in bytes; equal for all items of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadLen(u32);

impl PayloadLen {
    /// The maximum length.
    pub const MAX: PayloadLen = PayloadLen(4096);

    /// Payloads of `bytes` bytes.
    ///
    /// # Errors
    /// [`ParameterError::PayloadLen`] unless 1 ≤ `bytes` ≤ 4096.
    pub fn new(bytes: u32) -> Result<Self> {
        match bytes {
            1..=4096 => Ok(Self(bytes)),
            _ => Err(ParameterError::PayloadLen { bytes }.into()),
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
            Query::Intersection | Query::Payloads(_) => Operation::Intersection,
            Query::Cardinality => Operation::Cardinality,
            Query::Threshold { .. } => Operation::Threshold,
            Query::Sum(_) => Operation::Sum,
            Query::InnerProduct { .. } => Operation::InnerProduct,
            Query::Union(_) => Operation::Union,
            Query::PrivateId => Operation::PrivateId,
            Query::Shares(_) => Operation::Shares,
            Query::SharedValues { .. } => Operation::SharedValues,
        }
    }

    /// The values it uses, if any; of an inner product those of the sender.
    pub fn values(&self) -> Option<Values> {
        match self {
            Query::Sum(values)
            | Query::SharedValues { values, .. }
            | Query::InnerProduct { values, .. } => Some(*values),
            Query::Shares(values) => *values,
            _ => None,
        }
    }

    /// The values of the receiver that an inner product multiplies with.
    pub fn factors(&self) -> Option<Values> {
        match self {
            Query::InnerProduct { factors, .. } => Some(*factors),
            _ => None,
        }
    }

    /// The values that the party in `role` holds, if any.
    pub fn values_of(&self, role: Role) -> Option<Values> {
        let both = [self.values(), self.factors()];
        both.into_iter().flatten().find(|values| values.holder == role)
    }

    /// The length of the texts that both parties hold, if any.
    pub fn text_len(&self) -> Option<TextLen> {
        match self {
            Query::Union(len) => Some(*len),
            _ => None,
        }
    }

    /// The length of the payloads that the sender holds, if any.
    pub fn payload_len(&self) -> Option<PayloadLen> {
        match self {
            Query::Payloads(len) => Some(*len),
            _ => None,
        }
    }
}

/// Inclusive bounds on the number of common items. Outside the bounds the result stays secret
/// (auditing, Y. Huang, D. Evans, J. Katz, NDSS 2012, §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    min: u64,
    max: u64,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { min: 0, max: u64::MAX };

    /// At least `min` and at most `max`, if given.
    ///
    /// # Errors
    /// [`ParameterError::Bounds`] if `min` is above `max`.
    pub fn new(min: Option<u64>, max: Option<u64>) -> Result<Self> {
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(u64::MAX));
        if min > max {
            return Err(ParameterError::Bounds { min, max }.into());
        }
        Ok(Self { min, max })
    }

    /// The smallest count within the bounds.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest count within the bounds.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Whether every count is within the bounds.
    pub fn are_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether `count` is within the bounds.
    pub fn contain(&self, count: u64) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::NONE
    }
}
