//! Transposition of bit matrices with 128 rows.
//!
//! # Timing
//!
//! Depends on the size alone.

use crate::Block;
use crate::backend::dispatch;

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
/// Fastest when the matrix fits the second-level cache (n up to some 10,000 columns), because it
/// walks all the rows at once.
///
/// # Panics
/// If n is not a multiple of 128, or `rows` does not hold n blocks.
pub fn transpose_128(rows: &[Block], out: &mut [Block]) {
    assert!(out.len().is_multiple_of(128), "columns come in groups of 128");
    assert_eq!(rows.len(), out.len(), "128 rows of as many bits as there are columns");
    dispatch!(transpose_128(rows, out));
}
