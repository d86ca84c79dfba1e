//! Every backend sums the rows that the definition names.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::lpn::{self, Word};
use vesica_simd::{Backend, Block};

fn blocks(rng: &mut ChaCha20Rng, len: usize) -> Vec<Block> {
    (0..len).map(|_| Block::new(rng.random())).collect()
}

/// `f` under every backend of this processor gives the same.
fn same_everywhere<R: PartialEq>(mut f: impl FnMut() -> R) -> R {
    let results: Vec<R> = Backend::available()
        .into_iter()
        .map(|backend| {
            vesica_simd::force(backend).unwrap();
            f()
        })
        .collect();
    vesica_simd::force(Backend::detect()).unwrap();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "backends differ");
    results.into_iter().next().unwrap()
}

fn check<const C: usize, W: Word + Into<u64>>(rng: &mut ChaCha20Rng, rows: usize, bits: u32) {
    let values = blocks(rng, rows * C);
    let table = values.as_chunks::<C>().0;
    for weight in [1, 3, 5, 10, 21, 32] {
        for len in (0usize..70).chain([1000]) {
            let word_blocks = blocks(rng, (len * weight).div_ceil(8 / (bits as usize / 16)));
            let words = &W::of_blocks(&word_blocks)[..len * weight];
            let start: [Vec<Block>; C] = std::array::from_fn(|_| blocks(rng, len));
            let got = same_everywhere(|| {
                let mut out = start.clone();
                lpn::accumulate(table, weight, words, out.each_mut().map(|c| c.as_mut_slice()));
                out
            });
            let mut expected = start.clone();
            for (i, words) in words.chunks(weight).enumerate() {
                for word in words {
                    let row = (u128::from((*word).into()) * rows as u128) >> bits;
                    for c in 0..C {
                        expected[c][i] ^= table[row as usize][c];
                    }
                }
            }
            assert!(got == expected, "weight {weight}, {len} outputs");
        }
    }
}

#[test]
fn accumulate_sums_the_rows_that_the_words_name() {
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    for rows in [1, 2, 64, 1 << 16] {
        check::<1, u16>(rng, rows, 16);
        check::<2, u16>(rng, rows, 16);
    }
    for rows in [1, 3, 100, 81_920] {
        check::<1, u32>(rng, rows, 32);
        check::<2, u32>(rng, rows, 32);
    }
}

#[test]
#[should_panic(expected = "a word too short")]
fn sixteen_bit_words_with_a_biased_table_are_refused() {
    lpn::accumulate(&[[Block::ZERO]; 3], 1, &[0u16], [&mut [Block::ZERO]]);
}

#[test]
#[should_panic(expected = "a table of that length")]
fn an_empty_table_is_refused() {
    lpn::accumulate::<1, u32>(&[], 1, &[0], [&mut [Block::ZERO]]);
}

#[test]
#[should_panic(expected = "columns of different lengths")]
fn columns_of_different_lengths_are_refused() {
    lpn::accumulate(&[[Block::ZERO; 2]; 2], 5, &[0u16; 5], [&mut [Block::ZERO], &mut []]);
}
