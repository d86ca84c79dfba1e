//! Sums of streams weighted by the bits of their numbers: the definition on every backend.

use crate::support::{on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::aes::{Aes128, ctr_bit_sums};

/// Rows and total, stream by stream.
fn by_definition(keys: &[Aes128], bits: usize, first: u128, len: usize) -> Vec<Vec<Block>> {
    let skip = (1 << bits) - keys.len();
    let mut sums = vec![vec![Block::ZERO; len]; bits + 1];
    for (x, key) in (skip..).zip(keys) {
        let mut stream = vec![Block::ZERO; len];
        key.ctr(first, &mut stream);
        for (b, sums) in sums.iter_mut().enumerate() {
            if b == bits || x >> b & 1 == 1 {
                sums.iter_mut().zip(&stream).for_each(|(sum, block)| *sum ^= *block);
            }
        }
    }
    sums
}

#[test]
fn sums_follow_the_definition_on_every_backend() {
    let all: Vec<_> = random_blocks(1, 1 << 8).into_iter().map(Aes128::new).collect();
    for bits in [1, 2, 4, 8] {
        for skip in [0, 1] {
            let keys = &all[..(1 << bits) - skip];
            for len in (0..=35).chain([64, 100]).filter(|len| bits < 6 || len % 7 < 3) {
                // The last two carry out of the low half, one of them in the middle.
                for first in [0, 3 << 70 | 12345, u128::from(u64::MAX), u128::MAX - 5] {
                    let expected = by_definition(keys, bits, first, len);
                    on_every_backend(|backend| {
                        let mut rows = vec![Block::ONE; bits * len];
                        let mut total = vec![Block::ONE; len];
                        ctr_bit_sums(keys, first, &mut rows, &mut total);
                        let case = format!("{}, k = {bits}, {skip}, {len}", backend.name());
                        assert!(rows == expected[..bits].concat(), "{case}");
                        assert!(total == expected[bits], "{case}");
                    });
                }
            }
        }
    }
}

#[test]
#[should_panic = "k is 1, 2, 4 or 8"]
fn other_depths_are_refused() {
    let keys: Vec<_> = random_blocks(1, 8).into_iter().map(Aes128::new).collect();
    ctr_bit_sums(&keys, 0, &mut [Block::ZERO; 3], &mut [Block::ZERO]);
}

#[test]
#[should_panic = "2^k keys, or one fewer"]
fn a_wrong_number_of_keys_is_refused() {
    let keys: Vec<_> = random_blocks(1, 5).into_iter().map(Aes128::new).collect();
    ctr_bit_sums(&keys, 0, &mut [Block::ZERO; 2], &mut [Block::ZERO]);
}
