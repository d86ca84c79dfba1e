//! Transposition of bit matrices with 128 rows.
//!
//! # Timing
//!
//! Depends only on the size.

use crate::Block;
use crate::backend::dispatch;

/// Defines, for one vector type, the riffles of 8 and of 16 vectors: within each lane of 16 bytes
/// they interleave the bytes of one half of the vectors with those of the other half.
///
/// Three riffles of 8, or four of 16, transpose each lane: read vector by vector, it then has the
/// first byte of every vector, then the second byte of every vector, and so on.
///
/// Written out, because a loop would keep the vectors in memory.
#[cfg(target_arch = "x86_64")]
macro_rules! riffle {
    ($vector:ident, $feature:literal, $low:ident, $high:ident) => {
        riffle!(@ riffle_8 8 $vector $feature $low $high, 0 4 1 5 2 6 3 7);
        riffle!(@ riffle_16 16 $vector $feature $low $high, 0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15);
    };
    (@ $name:ident $n:literal $vector:ident $feature:literal $low:ident $high:ident,
     $($i:literal $j:literal)*) => {
        #[inline]
        #[target_feature(enable = $feature)]
        fn $name(x: &[$vector; $n]) -> [$vector; $n] {
            [$($low(x[$i], x[$j]), $high(x[$i], x[$j])),*]
        }
    };
}
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod portable;

/// Transposes a matrix of 128 rows and n = `out.len()` columns of bits: bit j of `out[i]` is bit
/// i of row j.
///
/// `rows` holds the rows one after the other, n/128 blocks each; bit i of a row is bit i mod 128
/// of its block i/128.
///
/// Fastest if the matrix fits into the second-level cache (n up to some 10,000 columns), because it
/// processes all rows at once.
///
/// # Panics
/// If n is not a multiple of 128, or `rows` does not hold n blocks.
pub fn transpose_128(rows: &[Block], out: &mut [Block]) {
    assert!(out.len().is_multiple_of(128), "columns come in groups of 128");
    assert_eq!(rows.len(), out.len(), "128 rows with one bit per column");
    dispatch!(transpose_128(rows, out));
}
