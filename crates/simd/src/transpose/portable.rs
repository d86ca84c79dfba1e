//! Transposes squares of bits by swapping quarters, then the quarters of these, and so on.

use crate::Block;

/// Transposes a square: bit j of word i becomes bit i of word j.
pub(crate) fn transpose_64(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width != 0 {
        for pair in square.chunks_exact_mut(2 * width) {
            let (upper, lower) = pair.split_at_mut(width);
            for (a, b) in upper.iter_mut().zip(lower) {
                let swap = (*a >> width ^ *b) & mask;
                *a ^= swap << width;
                *b ^= swap;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// See [`super::transpose_128`].
pub(super) fn transpose_128(rows: &[Block], out: &mut [Block]) {
    let blocks_per_row = rows.len() / 128;
    for (group, out) in out.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let row = |j: usize| rows[j * blocks_per_row + group].get();
        for (half, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            let quarter = |first_row: usize| {
                let mut square =
                    std::array::from_fn(|j| (row(first_row + j) >> (64 * half)) as u64);
                transpose_64(&mut square);
                square
            };
            for ((out, low), high) in out.iter_mut().zip(quarter(0)).zip(quarter(64)) {
                *out = Block::new(u128::from(low) | u128::from(high) << 64);
            }
        }
    }
}
