//! Band sums: every backend against the definition.

use crate::support::{lengths, on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::band::{Row, Sums, WIDTH, substitute_back, sum};

fn random_words(seed: u64, len: usize) -> Vec<u64> {
    random_blocks(seed, len).into_iter().map(|block| block.get() as u64).collect()
}

fn random_rows(seed: u64, len: usize) -> Vec<Row> {
    random_words(seed, 8 * len).as_chunks().0.to_vec()
}

fn slow_sum(row: &Row, slots: &[Block], start: usize) -> Block {
    (start..(start + WIDTH).min(slots.len())).fold(Block::ZERO, |sum, slot| {
        let selected = row[slot % WIDTH / 64] >> (slot % 64) & 1 == 1;
        if selected { sum ^ slots[slot] } else { sum }
    })
}

fn assert_sums(slots: &[Block], starts: &[u32]) {
    let rows = random_rows(5, starts.len());
    let expected: Vec<_> =
        rows.iter().zip(starts).map(|(row, start)| slow_sum(row, slots, *start as usize)).collect();
    let single: Vec<_> =
        rows.iter().zip(starts).map(|(row, start)| sum(row, slots, *start as usize)).collect();
    assert!(single == expected);
    on_every_backend(|backend| {
        let mut out = vec![Block::ONE; starts.len()];
        let mut sums = Sums::new(slots);
        sums.compute(&rows, starts, &mut out);
        assert!(out == expected, "{} {:?}", backend.name(), starts.first());
        // In two calls, and again from the start.
        let half = starts.len() / 2;
        sums.compute(&rows[..half], &starts[..half], &mut out[..half]);
        sums.compute(&rows[half..], &starts[half..], &mut out[half..]);
        assert!(out == expected, "{}", backend.name());
    });
}

#[test]
fn sums_follow_the_definition_for_sorted_starts() {
    for len in [1, 7, 64, 65, 511, 512, 513, 600, 1000, 5000, 20_000] {
        let slots = random_blocks(len as u64, len);
        for count in [0, 1, 5, 6, 7, 8, 9, 63, 64, 65, 200, 3000] {
            let starts = len.saturating_sub(WIDTH) + 1;
            let mut starts: Vec<_> = random_words(9, count)
                .into_iter()
                .map(|word| (word % starts as u64) as u32)
                .collect();
            starts.sort_unstable();
            assert_sums(&slots, &starts);
        }
    }
}

#[test]
fn sums_follow_the_definition_for_starts_in_any_order_and_past_the_end() {
    let slots = random_blocks(1, 3000);
    let starts: Vec<_> =
        random_words(2, 1000).into_iter().map(|word| (word % 3100) as u32).collect();
    assert_sums(&slots, &starts);
    let equal = vec![77; 200];
    assert_sums(&slots, &equal);
    assert_sums(&[], &equal);
    let every_edge: Vec<_> = (0..600).collect();
    assert_sums(&slots, &every_edge);
}

#[test]
fn substituting_back_solves_an_echelon_form() {
    for len in lengths().chain([511, 512, 513, 575, 576, 577]) {
        let mut rows = random_rows(1, len);
        let solved = random_words(2, len.div_ceil(64));
        for (slot, row) in rows.iter_mut().enumerate() {
            row[slot % WIDTH / 64] |= 1 << (slot % 64);
        }
        let given = random_blocks(3, len);
        on_every_backend(|backend| {
            let mut slots = given.clone();
            substitute_back(&rows, &solved, &mut slots);
            for slot in 0..len {
                if solved[slot / 64] >> (slot % 64) & 1 == 1 {
                    let sum = slow_sum(&rows[slot], &slots, slot);
                    assert!(sum == given[slot], "{} {len} {slot}", backend.name());
                } else {
                    assert!(slots[slot] == given[slot]);
                }
            }
        });
    }
}
