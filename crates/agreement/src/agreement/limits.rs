//! The limits of an agreement, its defaults, and words that more than one part of the code reads or
//! writes.

use vesica_core::params::{MAX_SET_LEN, WHOLE_SET_LEN};

/// Version of the agreement format.
pub const FORMAT_VERSION: u64 = 2;

/// Most rows an agreement can allow one party: the largest set of a run, less room for the
/// self-check.
pub const MAX_ROWS: u64 = MAX_SET_LEN + 1 - 2 * SELF_CHECK_MAX as u64 - 2048;

/// Fewest self-check items of each kind.
pub const SELF_CHECK_MIN: u32 = 8;
/// Most self-check items of each kind.
pub const SELF_CHECK_MAX: u32 = 1024;
/// Self-check items of each kind, by default.
pub const SELF_CHECK_DEFAULT: u32 = 16;
/// Default maximum number of consecutive retries after abandoned runs.
pub const REPEATS_DEFAULT: u32 = 3;
/// Largest such number that an agreement can allow.
pub const REPEATS_MAX: u32 = 100;
/// Fewest rows for a partition, on average: each takes a run of the protocol.
pub const PARTITION_ROWS_MIN: u64 = 1_000;
/// Most rows for a partition, on average, which is also the default.
pub const PARTITION_ROWS_MAX: u64 = WHOLE_SET_LEN;
/// Fewest different keys that a party must have, by default.
pub const MIN_ROWS_DEFAULT: u64 = 1;

/// Longest agreement file, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 10;
/// Longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 200;
/// Longest column name, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Most columns in a key.
pub const MAX_KEYS: usize = 16;
/// Most rules.
pub const MAX_RULES: usize = 32;
/// Most keys that a row can have under one rule.
pub const MAX_KEYS_OF_RULE: u64 = 64;
/// Most values that are excluded from a column of the key.
pub const MAX_EXCLUDED: usize = 100;
/// Longest such value, in bytes.
pub const EXCLUDED_MAX_BYTES: usize = 256;

/// In `receives`: every party.
pub(super) const ALL: &str = "all";
pub(super) const AUTO: &str = "auto";
pub(super) const NEVER: &str = "never";

/// Most bits of a value that leave room in 64 bits for the self-check.
pub(super) const PACKED_MAX_BITS: u32 = 40;
