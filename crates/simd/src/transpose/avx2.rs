//! Transposition in vectors of 256 bits: tiles of 128 rows and 256 columns.
//!
//! For each group of eight rows, the bytes of the same columns are collected in words of 64 bits.
//! Each word is a square of bits, which is transposed in place. Finally the sixteen bytes of every
//! column are collected.

use crate::Block;
use crate::lanes::store_1;
use core::arch::x86_64::*;

/// Blocks of a row in a tile.
const LANES: usize = 2;

/// Transposes the square of bits in each word: bit j of byte i becomes bit i of byte j.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_squares(mut v: __m256i) -> __m256i {
    macro_rules! swap {
        ($by:literal, $mask:literal) => {
            let moved = _mm256_xor_si256(v, _mm256_srli_epi64::<$by>(v));
            let moved = _mm256_and_si256(moved, _mm256_set1_epi64x($mask));
            v = _mm256_xor_si256(v, _mm256_xor_si256(moved, _mm256_slli_epi64::<$by>(moved)));
        };
    }
    swap!(7, 0x00aa_00aa_00aa_00aa);
    swap!(14, 0x0000_cccc_0000_cccc);
    swap!(28, 0x0000_0000_f0f0_f0f0);
    v
}

riffle!(__m256i, "avx2", _mm256_unpacklo_epi8, _mm256_unpackhi_epi8);

/// The tile of width `LANES` blocks whose rows start at block `first`.
#[target_feature(enable = "avx2")]
fn tile<const LANES: usize>(
    rows: &[Block],
    first: usize,
    blocks_per_row: usize,
    out: &mut [Block],
) {
    // For eight rows, vector k has in lane l the words of columns 128 l + 16 k and the 15 after.
    let mut squares = [[_mm256_setzero_si256(); 16]; 8];
    for eight in 0..16 {
        let mut x = [_mm256_setzero_si256(); 8];
        for (i, x) in x.iter_mut().enumerate() {
            let row = &rows[(8 * eight + i) * blocks_per_row + first..][..LANES];
            // SAFETY: the slice has one or two blocks of 128 bits.
            *x = unsafe {
                match LANES {
                    1 => _mm256_castsi128_si256(_mm_loadu_si128(row.as_ptr().cast())),
                    _ => _mm256_loadu_si256(row.as_ptr().cast()),
                }
            };
        }
        let x = riffle_8(&riffle_8(&riffle_8(&x)));
        for (squares, x) in squares.iter_mut().zip(&x) {
            squares[eight] = transpose_squares(*x);
        }
    }
    let (lanes, _) = out.as_chunks_mut::<128>();
    for (k, squares) in squares.iter().enumerate() {
        let columns = riffle_16(&riffle_16(&riffle_16(&riffle_16(squares))));
        for (i, column) in columns.iter().enumerate() {
            store_1(_mm256_castsi256_si128(*column), &mut lanes[0][16 * k + i]);
            if LANES == 2 {
                store_1(_mm256_extracti128_si256::<1>(*column), &mut lanes[1][16 * k + i]);
            }
        }
    }
}

/// [`super::transpose_128`] for the columns from block `first` of the rows on.
#[target_feature(enable = "avx2")]
pub(super) fn transpose_from(rows: &[Block], first: usize, out: &mut [Block]) {
    let blocks_per_row = rows.len() / 128;
    let (tiles, rest) = out.as_chunks_mut::<{ 128 * LANES }>();
    for (i, out) in tiles.iter_mut().enumerate() {
        tile::<LANES>(rows, first + LANES * i, blocks_per_row, out);
    }
    if !rest.is_empty() {
        tile::<1>(rows, first + LANES * tiles.len(), blocks_per_row, rest);
    }
}

/// See [`super::transpose_128`].
#[target_feature(enable = "avx2")]
pub(super) fn transpose_128(rows: &[Block], out: &mut [Block]) {
    transpose_from(rows, 0, out);
}
