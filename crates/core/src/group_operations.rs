//! Counts of the public-key operations of this process, for measurements.
//!
//! The literature compares protocols by them. A count depends on the number of items alone, so it
//! reveals nothing else.
//!
//! ```
//! use vesica_core::group_operations::{self, GroupOperation};
//!
//! let before = group_operations::counts();
//! group_operations::add(GroupOperation::Power, 3);
//! assert_eq!(group_operations::counts().since(&before).of(GroupOperation::Power), 3);
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOperation {
    /// A power modulo a large number with a secret exponent, or a multiple of a point.
    Power,
    /// A power with a secret exponent of an element whose powers are in a table.
    PowerFromTable,
    /// A power with a short public exponent.
    ShortPower,
    /// A power whose exponent is the private key of RSA: two of [`Power`](Self::Power) modulo
    /// primes, which are counted too.
    Root,
    /// An inversion, of one element or of the product of many.
    Inversion,
    /// A hash into a group or to residues.
    HashToGroup,
}

const KINDS: usize = GroupOperation::HashToGroup as usize + 1;

static COUNTS: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

/// Counts `times` more of an operation.
pub fn add(operation: GroupOperation, times: usize) {
    COUNTS[operation as usize].fetch_add(times as u64, Ordering::Relaxed);
}

/// How often this process has done each.
pub fn counts() -> Counts {
    Counts(std::array::from_fn(|kind| COUNTS[kind].load(Ordering::Relaxed)))
}

/// A number for each [`GroupOperation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts([u64; KINDS]);

impl Counts {
    /// Those that are not in `before`, an earlier result of [`counts`].
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind] - before.0[kind]))
    }

    /// The number of one operation.
    pub fn of(&self, operation: GroupOperation) -> u64 {
        self.0[operation as usize]
    }
}
