//! The limits of a run.

/// Most parties of a run.
pub const MAX_PARTIES: usize = 16;

/// Most rows of one party.
pub const MAX_ROWS: u64 = 1 << 30;

/// Most copies of an item.
pub const MAX_COPIES: u32 = 64;

/// Most dummies of each kind.
pub const MAX_DUMMIES: u32 = 1 << 24;

/// Statistical security, in bits.
pub(super) const LAMBDA: u32 = vesica_core::params::STATISTICAL_SECURITY_BITS;
