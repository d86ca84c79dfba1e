use super::accumulate;
use super::tile::{Coefficients, GROUP, HALF, SAMPLE_WEIGHT, TILE, lookup, tile_blocks};
use super::word::Word;
use crate::aes::Aes128;
use crate::{Backend, Block, gf128, xor};

/// Adds samples of a sparse code to `out`: to each, the sum of five pseudorandomly chosen rows of
/// the table, and g times the sum of five others, where g is the sample's coefficient.
///
/// Each tile takes blocks of `stream` from the counter `first` on. For each sixteen samples these
/// are the words of all plain rows, then of all multiplied rows; the coefficients follow at the
/// end. Words have 16 bits if that selects without bias, and 32 bits otherwise.
///
/// # Panics
/// If the number of samples is not a multiple of [`TILE`], the columns have different lengths, or
/// the table is empty.
pub fn samples<const C: usize>(
    stream: &Aes128,
    first: u128,
    coefficients: Coefficients<'_>,
    table: &[[Block; C]],
    out: [&mut [Block]; C],
) {
    let len = out[0].len();
    assert!(len.is_multiple_of(TILE), "whole tiles");
    assert!(out.iter().all(|column| column.len() == len), "columns of different lengths");
    assert!(!table.is_empty(), "a table of a valid length");
    if table.len() <= u16::MAX_ROWS && table.len().is_power_of_two() {
        by_words::<C, u16>(stream, first, coefficients, table, out);
    } else {
        by_words::<C, u32>(stream, first, coefficients, table, out);
    }
}

fn by_words<const C: usize, W: Word>(
    stream: &Aes128,
    first: u128,
    coefficients: Coefficients<'_>,
    table: &[[Block; C]],
    mut out: [&mut [Block]; C],
) {
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 && size_of_val(table) <= u32::MAX as usize {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { super::avx512::samples::<C, W>(stream, first, coefficients, table, out) };
    }
    let mut blocks = [Block::ZERO; TILE * SAMPLE_WEIGHT * 4 / Block::LEN + TILE];
    let blocks = &mut blocks[..tile_blocks::<W>(coefficients)];
    for tile in 0..out[0].len() / TILE {
        let counter = first.wrapping_add((tile * blocks.len()) as u128);
        stream.ctr(counter, blocks);
        let (words, elements) = blocks.split_at(blocks.len() - coefficients.blocks());
        let words = W::of_blocks(words);
        let mut out = out.each_mut().map(|column| &mut column[tile * TILE..(tile + 1) * TILE]);
        let mut sums = [[Block::ZERO; TILE]; C];
        for (i, words) in words.chunks_exact(GROUP * SAMPLE_WEIGHT).enumerate() {
            let group = i * GROUP..(i + 1) * GROUP;
            let (plain, scaled) = words.split_at(GROUP * HALF);
            accumulate(table, HALF, plain, out.each_mut().map(|column| &mut column[group.clone()]));
            accumulate(table, HALF, scaled, sums.each_mut().map(|sums| &mut sums[group.clone()]));
        }
        let mut lifted = [Block::ZERO; TILE];
        let elements = match coefficients {
            Coefficients::One => {
                out.iter_mut().zip(&sums).for_each(|(column, sums)| xor::xor(column, sums));
                continue;
            }
            Coefficients::Field => elements,
            Coefficients::Subfield(tables) => {
                for (element, word) in lifted.iter_mut().zip(u16::of_blocks(elements)) {
                    *element = lookup(tables, *word);
                }
                &lifted
            }
        };
        for (column, sums) in out.iter_mut().zip(&sums) {
            gf128::add_products(column, sums, elements);
        }
    }
}
