//! Every backend sums the rows that the definition selects.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::aes::Aes128;
use vesica_simd::lpn::{self, Coefficients, SAMPLE_WEIGHT, TILE, Table, Word};
use vesica_simd::{Backend, Block, gf128};

fn blocks(rng: &mut ChaCha20Rng, len: usize) -> Vec<Block> {
    (0..len).map(|_| Block::new(rng.random())).collect()
}

/// Runs `f` on every backend of this processor, and checks that the results are equal.
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
fn accumulate_sums_the_rows_that_the_words_select() {
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
#[should_panic(expected = "words too short")]
fn sixteen_bit_words_with_a_biased_table_are_refused() {
    lpn::accumulate(&[[Block::ZERO]; 3], 1, &[0u16], [&mut [Block::ZERO]]);
}

#[test]
#[should_panic(expected = "a table of a valid length")]
fn an_empty_table_is_refused() {
    lpn::accumulate::<1, u32>(&[], 1, &[0], [&mut [Block::ZERO]]);
}

#[test]
#[should_panic(expected = "columns of different lengths")]
fn columns_of_different_lengths_are_refused() {
    lpn::accumulate(&[[Block::ZERO; 2]; 2], 5, &[0u16; 5], [&mut [Block::ZERO], &mut []]);
}

/// The samples of one tile by the definition, word by word.
fn samples_by_definition<const C: usize, W: Word + Into<u64>>(
    stream: &Aes128,
    first: u128,
    coefficients: Coefficients<'_>,
    table: &[[Block; C]],
    bits: u32,
) -> [Vec<Block>; C] {
    let word_blocks = TILE * SAMPLE_WEIGHT * bits as usize / 128;
    let mut blocks = vec![Block::ZERO; word_blocks + TILE];
    stream.ctr(first, &mut blocks);
    let words = W::of_blocks(&blocks[..word_blocks]);
    let rows: Vec<_> = words
        .iter()
        .map(|word| table[((u128::from((*word).into()) * table.len() as u128) >> bits) as usize])
        .collect();
    std::array::from_fn(|c| {
        let sample = |i: usize| {
            let sum = |half: usize| {
                let start = i / 16 * 16 * SAMPLE_WEIGHT + half * 80 + i % 16 * 5;
                rows[start..start + 5].iter().fold(Block::ZERO, |sum, row| sum ^ row[c])
            };
            let coefficient = match coefficients {
                Coefficients::One => Block::ONE,
                Coefficients::Field => blocks[word_blocks + i],
                Coefficients::Subfield(tables) => {
                    let word = u16::of_blocks(&blocks[word_blocks..])[i];
                    tables[0][usize::from(word & 0xff)] ^ tables[1][usize::from(word >> 8)]
                }
            };
            sum(0) ^ gf128::mul(sum(1), coefficient)
        };
        (0..TILE).map(sample).collect()
    })
}

fn check_samples<const C: usize, W: Word + Into<u64>>(
    rng: &mut ChaCha20Rng,
    rows: usize,
    bits: u32,
) {
    let columns: [Vec<Block>; C] = std::array::from_fn(|_| blocks(rng, rows));
    let table = Table::new(columns.each_ref().map(|column| column.as_slice()));
    let stream = Aes128::new(Block::new(rng.random()));
    let elements = blocks(rng, 512);
    let tables = [0, 1].map(|half| std::array::from_fn(|i| elements[256 * half + i]));
    let first = rng.random::<u64>() as u128 >> 1 | 5 << 64;
    for coefficients in [Coefficients::One, Coefficients::Field, Coefficients::Subfield(&tables)] {
        let per_tile = TILE * SAMPLE_WEIGHT * bits as usize / 128
            + match coefficients {
                Coefficients::One => 0,
                Coefficients::Subfield(_) => TILE / 8,
                Coefficients::Field => TILE,
            };
        let start: [Vec<Block>; C] = std::array::from_fn(|_| blocks(rng, 2 * TILE));
        let got = same_everywhere(|| {
            let mut out = start.clone();
            let columns = out.each_mut().map(|column| column.as_mut_slice());
            lpn::samples(&stream, first, coefficients, &table, columns);
            out
        });
        for tile in 0..2 {
            let first = first + (tile * per_tile) as u128;
            let expected =
                samples_by_definition::<C, W>(&stream, first, coefficients, &table, bits);
            for c in 0..C {
                let got = got[c][tile * TILE..(tile + 1) * TILE].iter().copied();
                let start = &start[c][tile * TILE..(tile + 1) * TILE];
                let expected = expected[c].iter().zip(start).map(|(sample, old)| *sample ^ *old);
                assert!(got.eq(expected), "{rows} rows, tile {tile}, column {c}");
            }
        }
    }
}

#[test]
fn samples_follow_their_definition() {
    let rng = &mut ChaCha20Rng::seed_from_u64(5);
    for rows in [1, 64, 1 << 15, 1 << 16] {
        check_samples::<1, u16>(rng, rows, 16);
        check_samples::<2, u16>(rng, rows, 16);
    }
    for rows in [3, 100, 81_920, 1 << 17] {
        check_samples::<1, u32>(rng, rows, 32);
        check_samples::<2, u32>(rng, rows, 32);
    }
}

#[test]
#[should_panic(expected = "whole tiles")]
fn parts_of_tiles_are_refused() {
    let stream = Aes128::new(Block::ZERO);
    let table = Table::new([&[Block::ZERO; 4]]);
    let out = &mut [Block::ZERO; TILE - 1];
    lpn::samples(&stream, 0, Coefficients::One, &table, [out]);
}

#[test]
fn a_table_has_the_rows_of_its_columns() {
    let rng = &mut ChaCha20Rng::seed_from_u64(6);
    for len in [0, 1, 2, 1000, 1 << 16, (1 << 16) + 1] {
        let columns = [blocks(rng, len), blocks(rng, len)];
        let table = Table::new([&columns[0], &columns[1]]);
        assert_eq!(table.len(), len);
        assert!(table.iter().enumerate().all(|(i, row)| *row == [columns[0][i], columns[1][i]]));
    }
}
