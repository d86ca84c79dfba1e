//! Transposes and sums of vectors against their definitions, on every backend.

use crate::support::{lengths, on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::transpose::transpose_128;
use vesica_simd::xor::xor;

#[test]
fn columns_become_blocks() {
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 33].map(|groups| 128 * groups) {
        let rows = random_blocks(n as u64, n);
        on_every_backend(|backend| {
            let mut out = vec![Block::ONE; n];
            transpose_128(&rows, &mut out);
            for (i, out) in out.iter().enumerate() {
                for j in 0..128 {
                    let bit = rows[j * n / 128 + i / 128].bit(i as u32 % 128);
                    assert_eq!(out.bit(j as u32), bit, "{}, row {j}, column {i}", backend.name());
                }
            }
        });
    }
}

#[test]
#[should_panic = "columns come in groups of 128"]
fn a_part_of_a_group_is_refused() {
    transpose_128(&[Block::ZERO; 100], &mut [Block::ZERO; 100]);
}

#[test]
#[should_panic = "one bit per column"]
fn missing_rows_are_refused() {
    transpose_128(&[Block::ZERO; 128], &mut [Block::ZERO; 256]);
}

#[test]
fn sums_are_computed_block_by_block() {
    for n in lengths() {
        let (acc, xs) = (random_blocks(1, n), random_blocks(2, n));
        let expected: Vec<_> = acc.iter().zip(&xs).map(|(a, x)| *a ^ *x).collect();
        on_every_backend(|backend| {
            let mut acc = acc.clone();
            xor(&mut acc, &xs);
            assert!(acc == expected, "{}, {n}", backend.name());
        });
    }
}
