//! Sparse linear maps with public pseudorandom positions: the codes of LPN.
//!
//! Every output is the sum of a few rows of a table. A row is one block, or two blocks that belong
//! together (a value and its key) and share a cache line and a load. Positions are public, rows are
//! secret, and only the positions decide which addresses are read.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod samples;
mod table;
mod tile;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use samples::samples;
pub use table::Table;
pub use tile::{Coefficients, SAMPLE_WEIGHT, TILE};
pub use word::Word;

use crate::{Backend, Block};
use word::{CHUNK, select};

/// Maximum number of rows per output.
pub const MAX_WEIGHT: usize = 32;

/// Adds the sum of the rows selected by `words[i·weight..][..weight]` to output i:
/// `out[c][i] += Σ_w table[row(words[i·weight + w])][c]`.
///
/// The position that a word selects is `word · table.len() >> BITS`. It is uniform if the length of
/// the table is a power of two, and within 2^−32·len of uniform otherwise.
///
/// # Panics
/// Unless there are exactly `weight` words per output; if the columns have different lengths,
/// `weight` is above [`MAX_WEIGHT`], the table is empty or longer than [`Word::MAX_ROWS`], or its
/// length is not a power of two and the words have 16 bits.
pub fn accumulate<const C: usize, W: Word>(
    table: &[[Block; C]],
    weight: usize,
    words: &[W],
    mut out: [&mut [Block]; C],
) {
    const { assert!(C == 1 || C == 2) };
    let len = out[0].len();
    assert!(out.iter().all(|column| column.len() == len), "columns of different lengths");
    assert!(weight <= MAX_WEIGHT && words.len() == len * weight, "wrong number of words");
    assert!(!table.is_empty() && table.len() <= W::MAX_ROWS, "a table of a valid length");
    assert!(
        table.len().is_power_of_two() || W::MAX_ROWS > 1 << 16,
        "words too short for the table"
    );
    match weight {
        5 => dispatch::<C, 5, W>(table, words, &mut out),
        10 => dispatch::<C, 10, W>(table, words, &mut out),
        21 => dispatch::<C, 21, W>(table, words, &mut out),
        _ => {
            for (i, words) in words.chunks_exact(weight.max(1)).take(len).enumerate() {
                for word in words {
                    let row = &table[word.row(table.len()).to_index()];
                    for (column, value) in out.iter_mut().zip(row) {
                        column[i] ^= *value;
                    }
                }
            }
        }
    }
}

fn dispatch<const C: usize, const WEIGHT: usize, W: Word>(
    table: &[[Block; C]],
    words: &[W],
    out: &mut [&mut [Block]; C],
) {
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the backend is only active where the processor has its instructions.
        Backend::Avx512 => unsafe { x86::avx512::<C, WEIGHT, W>(table, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Backend::Avx2 => unsafe { x86::avx2::<C, WEIGHT, W>(table, words, out) },
        _ => portable::<C, WEIGHT, W>(table, words, out),
    }
}

fn portable<const C: usize, const WEIGHT: usize, W: Word>(
    table: &[[Block; C]],
    words: &[W],
    out: &mut [&mut [Block]; C],
) {
    let mut rows = [[W::default(); WEIGHT]; CHUNK];
    for (chunk, words) in words.chunks(CHUNK * WEIGHT).enumerate() {
        let rows = &mut rows[..words.len() / WEIGHT];
        select(table.len(), words, rows);
        for (i, rows) in rows.iter().enumerate() {
            let mut sum = [Block::ZERO; C];
            for row in rows {
                for (sum, value) in sum.iter_mut().zip(&table[row.to_index()]) {
                    *sum ^= *value;
                }
            }
            for (column, sum) in out.iter_mut().zip(sum) {
                column[chunk * CHUNK + i] ^= sum;
            }
        }
    }
}
