//! The memory that a run takes unless its caller says how much.

mod limit;

use limit::memory_limit;
pub use limit::{Bound, MemoryLimit};

/// The memory of a run by default, in bytes, where the system gives at least twice as much.
pub const MEMORY_BYTES_DEFAULT: u64 = 1 << 30;

/// The least default, in bytes.
const LEAST_BYTES: u64 = 16_000_000;

/// The memory of a run by default: 1 GiB, or half of what the container or the machine has if that
/// is less, but not below 16 MB. The other half is for what is not counted: the program, buffers of
/// the network, pages of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryDefault {
    /// In bytes.
    pub bytes: u64,
    /// The limit that makes it less than [`MEMORY_BYTES_DEFAULT`], if one does.
    pub limit: Option<MemoryLimit>,
}

impl MemoryDefault {
    /// That of this process. Asks the system each time.
    pub fn find() -> Self {
        Self::within(memory_limit())
    }

    fn within(limit: Option<MemoryLimit>) -> Self {
        match limit.filter(|limit| limit.bytes / 2 < MEMORY_BYTES_DEFAULT) {
            Some(limit) => Self { bytes: (limit.bytes / 2).max(LEAST_BYTES), limit: Some(limit) },
            None => Self { bytes: MEMORY_BYTES_DEFAULT, limit: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_small_limit_is_the_default() {
        let limit = |bytes| MemoryLimit { bytes, bound: Bound::ControlGroup };
        let of = |bytes| MemoryDefault::within(Some(limit(bytes)));
        assert_eq!(
            of(512 << 20),
            MemoryDefault { bytes: 256 << 20, limit: Some(limit(512 << 20)) }
        );
        assert_eq!(of(1 << 20).bytes, LEAST_BYTES);
        assert_eq!(of((2 << 30) - 2).bytes, (1 << 30) - 1);
        let whole = MemoryDefault { bytes: MEMORY_BYTES_DEFAULT, limit: None };
        assert_eq!([of(2 << 30), of(1 << 40), MemoryDefault::within(None)], [whole; 3]);
    }
}
