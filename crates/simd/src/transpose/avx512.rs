//! Transposition in vectors of 512 bits: tiles of 128 rows and 512 columns.
//!
//! As in 256 bits, but one GFNI instruction transposes the squares.

use crate::Block;
use crate::lanes::{LANES, load_4, store_1};
use core::arch::x86_64::*;

/// Transposes the square of bits in each word: bit j of byte 7 - i becomes bit i of byte j.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn transpose_squares(v: __m512i) -> __m512i {
    // Reads the word as a matrix whose first row is the last byte, and multiplies it by each unit
    // vector; byte j of the operand is unit vector j.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(units, v)
}

riffle!(__m512i, "avx512f,avx512bw", _mm512_unpacklo_epi8, _mm512_unpackhi_epi8);

/// The tile whose rows start at block `first`.
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn tile(rows: &[Block], first: usize, blocks_per_row: usize, out: &mut [Block; 128 * LANES]) {
    // For eight rows, vector k has in lane l the words of columns 128 l + 16 k and the 15 after.
    let mut squares = [[_mm512_setzero_si512(); 16]; 8];
    for eight in 0..16 {
        let mut x = [_mm512_setzero_si512(); 8];
        for (i, x) in x.iter_mut().enumerate() {
            let row = &rows[(8 * eight + 7 - i) * blocks_per_row + first..];
            *x = load_4(row.first_chunk().expect("a whole tile"));
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
            let at = 16 * k + i;
            store_1(_mm512_castsi512_si128(*column), &mut lanes[0][at]);
            store_1(_mm512_extracti32x4_epi32::<1>(*column), &mut lanes[1][at]);
            store_1(_mm512_extracti32x4_epi32::<2>(*column), &mut lanes[2][at]);
            store_1(_mm512_extracti32x4_epi32::<3>(*column), &mut lanes[3][at]);
        }
    }
}

/// See [`super::transpose_128`].
#[target_feature(enable = "avx512f,avx512bw,gfni,avx2")]
pub(super) fn transpose_128(rows: &[Block], out: &mut [Block]) {
    let blocks_per_row = rows.len() / 128;
    let (tiles, rest) = out.as_chunks_mut::<{ 128 * LANES }>();
    for (i, out) in tiles.iter_mut().enumerate() {
        tile(rows, LANES * i, blocks_per_row, out);
    }
    super::avx2::transpose_from(rows, LANES * tiles.len(), rest);
}
