//! What is asked of the intersection of two sets.

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
    /// The sum of a value of each common item, and not which or how many.
    Sum,
}

impl Operation {
    /// All operations.
    pub const ALL: &[Operation] =
        &[Operation::Intersection, Operation::Cardinality, Operation::Threshold, Operation::Sum];

    /// The name in an agreement.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Intersection => "intersection",
            Operation::Cardinality => "cardinality",
            Operation::Threshold => "threshold",
            Operation::Sum => "sum",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that [`Query::Sum`] adds: one party has one for each of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    holder: Role,
    bits: u32,
}

impl Values {
    /// Values below 2^`bits` of the items of `holder`.
    ///
    /// # Errors
    /// [`ParameterError::ValueBits`] unless 1 ≤ `bits` ≤ 64.
    pub fn new(holder: Role, bits: u32) -> Result<Self> {
        if !(1..=u64::BITS).contains(&bits) {
            return Err(ParameterError::ValueBits { bits }.into());
        }
        Ok(Self { holder, bits })
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

/// What is computed of the common items.
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
}

impl Query {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Query::Intersection => Operation::Intersection,
            Query::Cardinality => Operation::Cardinality,
            Query::Threshold { .. } => Operation::Threshold,
            Query::Sum(_) => Operation::Sum,
        }
    }

    /// The values that a party in `role` brings, if any.
    pub fn values_of(&self, role: Role) -> Option<Values> {
        match self {
            Query::Sum(values) if values.holder == role => Some(*values),
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
