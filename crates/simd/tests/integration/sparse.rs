//! Sums of three slots, and linear maps: every backend against the definition.

use crate::support::{lengths, on_every_backend, random_blocks};
use std::collections::BTreeMap;
use vesica_simd::Block;
use vesica_simd::linear::LinearMap;
use vesica_simd::sparse::{rows, slots_of, sums};

fn rows_of(keys: &[Block], slots: usize) -> Vec<[usize; 3]> {
    let mut out = vec![0; keys.len()];
    rows(keys, slots, &mut out);
    out.into_iter().map(slots_of).collect()
}

#[test]
fn the_slots_of_a_row_are_different_and_in_range() {
    let mut keys = random_blocks(1, 3000);
    keys.extend([Block::ZERO, Block::new(u128::MAX), Block::new(u128::MAX << 32)]);
    keys.extend((0..128).map(|bit| Block::new(1 << bit)));
    on_every_backend(|_| {
        for slots in [3, 4, 5, 50, 1000, 1 << 16] {
            for [a, b, c] in rows_of(&keys, slots) {
                assert!(a != b && b != c && a != c);
                assert!(a.max(b).max(c) < slots);
            }
        }
    });
}

#[test]
fn all_sets_of_three_slots_are_equally_likely() {
    let mut seen = BTreeMap::new();
    for mut slots in rows_of(&random_blocks(2, 100_000), 6) {
        slots.sort_unstable();
        *seen.entry(slots).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 20);
    // The mean is 5000, the standard deviation 69.
    assert!(seen.values().all(|count| (4600..5400).contains(count)), "{seen:?}");
}

#[test]
fn sums_equal_those_of_the_three_slots() {
    for slots in [3, 10, 1 << 16] {
        let slots = random_blocks(3, slots);
        for len in lengths() {
            let keys = random_blocks(4, len);
            on_every_backend(|backend| {
                let mut out = vec![Block::ONE; len];
                sums(&keys, &slots, &mut out);
                for ([a, b, c], out) in rows_of(&keys, slots.len()).into_iter().zip(out) {
                    assert!(out == slots[a] ^ slots[b] ^ slots[c], "{}", backend.name());
                }
            });
        }
    }
}

#[test]
fn all_backends_make_the_same_rows() {
    let keys = random_blocks(5, 1001);
    let expected = rows_of(&keys, 41_999);
    on_every_backend(|_| assert_eq!(rows_of(&keys, 41_999), expected));
}

#[test]
fn a_linear_map_adds_the_images_of_the_bits() {
    let images: [Block; 128] = random_blocks(6, 128).try_into().unwrap();
    for len in lengths() {
        let (acc, mut xs) = (random_blocks(7, len), random_blocks(8, len));
        // Single bits first, then random blocks.
        xs.iter_mut().take(128).enumerate().for_each(|(i, x)| *x = Block::new(1 << i));
        on_every_backend(|backend| {
            let mut mapped = acc.clone();
            LinearMap::new(&images).add_to(&mut mapped, &xs);
            for ((mapped, acc), x) in mapped.iter().zip(&acc).zip(&xs) {
                let bits = (0..128).filter(|bit| x.bit(*bit));
                let sum = bits.fold(*acc, |sum, bit| sum ^ images[bit as usize]);
                assert!(*mapped == sum, "{} {len}", backend.name());
            }
        });
    }
}
