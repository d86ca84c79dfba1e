//! Samples, sixteen at a time: the stream of the next sixteen is encrypted while the rows of the
//! current ones are loading.

use super::tile::{Coefficients, GROUP, HALF, TILE, lookup, tile_blocks};
use super::word::Word;
use crate::Block;
use crate::aes::Aes128;
use crate::aes::avx512::{permute, round_keys};
use crate::gf128::avx512::times;
use crate::lanes::{LANES, load_4, store_4};
use core::arch::x86_64::*;

/// Words of each half of a group.
const WORDS: usize = GROUP * HALF;

/// Blocks aligned to a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// Sets `out` to the stream from `counter` on, which must not carry out of its low half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn stream<const N: usize>(keys: &[__m512i; 11], counter: u128, out: &mut [[Block; LANES]; N]) {
    let start = _mm512_broadcast_i32x4(_mm_set_epi64x((counter >> 64) as i64, counter as i64));
    let mut x = [start; N];
    for (i, x) in (0..).zip(&mut x) {
        let i = 4 * i;
        *x = _mm512_add_epi64(*x, _mm512_set_epi64(0, i + 3, 0, i + 2, 0, i + 1, 0, i));
    }
    permute(keys, &mut x);
    for (x, out) in x.into_iter().zip(out) {
        store_4(x, out);
    }
}

/// The kind of a sample's coefficient, as in [`Coefficients`].
mod kind {
    pub(super) const ONE: u8 = 0;
    pub(super) const SUBFIELD: u8 = 1;
    pub(super) const FIELD: u8 = 2;
}

/// Converts words to offsets of rows of a table, in bytes.
#[derive(Clone, Copy)]
struct Offsets {
    /// For a table of 2^b rows: how far a word is shifted down, to b bits.
    down: Option<__m128i>,
    /// How far a row number is shifted up, to an offset in bytes.
    up: __m128i,
    len: __m512i,
}

impl Offsets {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new<const C: usize, W: Word>(len: usize) -> Self {
        let bits = 8 * size_of::<W>() as i32;
        let down = len.is_power_of_two().then(|| _mm_cvtsi32_si128(bits - len.ilog2() as i32));
        let up = _mm_cvtsi32_si128(size_of::<[Block; C]>().ilog2() as i32);
        Self { down, up, len: _mm512_set1_epi64(len as i64) }
    }

    /// The offsets for sixteen words in 32 bits each.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(&self, words: __m512i) -> __m512i {
        let rows = match self.down {
            Some(down) => _mm512_srl_epi32(words, down),
            // Only words of 32 bits: the high half of the product.
            None => {
                let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(words, self.len));
                let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(words), self.len);
                _mm512_mask_blend_epi32(0b1010_1010_1010_1010, even, odd)
            }
        };
        _mm512_sll_epi32(rows, self.up)
    }

    /// Sets `out` to the offsets for the words in `blocks`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn fill<W: Word>(&self, blocks: &[[Block; LANES]; 10], out: &mut [[u32; 16]; 10]) {
        for (i, out) in out.iter_mut().enumerate() {
            let words = if size_of::<W>() == 2 {
                let halves: &[[Block; 2]] = blocks.as_flattened().as_chunks::<2>().0;
                // SAFETY: two blocks are 256 bits.
                _mm512_cvtepu16_epi32(unsafe { _mm256_loadu_si256(halves[i].as_ptr().cast()) })
            } else {
                load_4(&blocks[i])
            };
            // SAFETY: sixteen numbers of 32 bits are 512 bits.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self.of(words)) };
        }
    }
}

/// The XOR of `sum` and the rows at the offsets `at[..N]` of a table with one block per row.
///
/// # Safety
/// The offsets must be those of rows of the table at `start`, and `N` offsets must be readable from
/// `at`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
unsafe fn sum_1<const N: usize>(start: *const u8, at: *const u32, mut sum: __m128i) -> __m128i {
    for i in 0..N {
        // SAFETY: as the caller promises.
        let row = unsafe { _mm_load_si128(start.add(*at.add(i) as usize).cast()) };
        sum = _mm_xor_si128(sum, row);
    }
    sum
}

/// Like [`sum_1`], for a table with two blocks per row.
///
/// # Safety
/// As [`sum_1`].
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
unsafe fn sum_2<const N: usize>(start: *const u8, at: *const u32, mut sum: __m256i) -> __m256i {
    for i in 0..N {
        // SAFETY: as the caller promises.
        let row = unsafe { _mm256_loadu_si256(start.add(*at.add(i) as usize).cast()) };
        sum = _mm256_xor_si256(sum, row);
    }
    sum
}

/// # Safety
/// The processor must have these features, the table's size in bytes must fit into 32 bits, and the
/// columns must have equal lengths, a multiple of [`TILE`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,vaes,vpclmulqdq")]
pub(super) unsafe fn samples<const C: usize, W: Word>(
    aes: &Aes128,
    first: u128,
    coefficients: Coefficients<'_>,
    table: &[[Block; C]],
    out: [&mut [Block]; C],
) {
    let blocks = tile_blocks::<W>(coefficients);
    // SAFETY: the caller's.
    unsafe {
        match coefficients {
            Coefficients::One => {
                kernel::<C, { kind::ONE }, W>(aes, first, blocks, &NO_TABLES, table, out);
            }
            Coefficients::Subfield(tables) => {
                kernel::<C, { kind::SUBFIELD }, W>(aes, first, blocks, tables, table, out);
            }
            Coefficients::Field => {
                kernel::<C, { kind::FIELD }, W>(aes, first, blocks, &NO_TABLES, table, out);
            }
        }
    }
}

static NO_TABLES: [[Block; 256]; 2] = [[Block::ZERO; 256]; 2];

/// # Safety
/// As [`samples`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,vaes,vpclmulqdq")]
unsafe fn kernel<const C: usize, const KIND: u8, W: Word>(
    aes: &Aes128,
    first: u128,
    tile_blocks: usize,
    tables: &[[Block; 256]; 2],
    table: &[[Block; C]],
    mut out: [&mut [Block]; C],
) {
    let keys = round_keys(aes.schedule());
    let offsets_of = Offsets::new::<C, W>(table.len());
    let group_blocks = 2 * WORDS * size_of::<W>() / Block::LEN;
    let words_blocks = group_blocks * (TILE / GROUP);
    let start: *const u8 = table.as_ptr().cast();

    // The start of the stream of a group's tile, and the group's index in the tile.
    let place_of = |group: usize| {
        let (tile, in_tile) = (group / (TILE / GROUP), group % (TILE / GROUP));
        (first + (tile * tile_blocks) as u128, in_tile)
    };
    let mut words = Aligned([[Block::ZERO; LANES]; 10]);
    let mut elements = Aligned([[Block::ZERO; LANES]; GROUP / LANES]);
    let mut offsets = Aligned([[[0u32; 16]; 10]; 2]);
    let mut sums = Aligned([[[[Block::ZERO; LANES]; GROUP / LANES]; C]; 2]);
    let groups = out[0].len() / GROUP;
    // The steps of one round do not wait for each other: while the rows of a group are loading, the
    // offsets of the next group are encrypted and the sums of the previous one are multiplied.
    for round in 0..groups + 2 {
        if round < groups {
            let (counter, in_tile) = place_of(round);
            let counter = counter + (in_tile * group_blocks) as u128;
            if size_of::<W>() == 2 {
                let (now, _) = words.0.split_first_chunk_mut::<5>().expect("ten vectors");
                stream(&keys, counter, now);
            } else {
                stream(&keys, counter, &mut words.0);
            }
            offsets_of.fill::<W>(&words.0, &mut offsets.0[round % 2]);
        }
        if round >= 2 && KIND != kind::ONE {
            let (counter, in_tile) = place_of(round - 2);
            let counter = counter + words_blocks as u128;
            if KIND == kind::FIELD {
                stream(&keys, counter + (in_tile * GROUP) as u128, &mut elements.0);
            } else {
                let mut now = [[Block::ZERO; LANES]; 1];
                stream(&keys, counter + (in_tile * 2) as u128, &mut now);
                let words = u16::of_blocks(now.as_flattened());
                for (element, word) in elements.0.as_flattened_mut().iter_mut().zip(words) {
                    *element = lookup(tables, *word);
                }
            }
            let place = (round - 2) * GROUP;
            for (column, sums) in out.iter_mut().zip(&sums.0[round % 2]) {
                let outputs = column[place..place + GROUP].as_chunks_mut::<LANES>().0;
                for ((out, sums), elements) in outputs.iter_mut().zip(sums).zip(&elements.0) {
                    let products = times(load_4(sums), load_4(elements));
                    store_4(_mm512_xor_si512(load_4(out), products), out);
                }
            }
        }
        if round >= 1 && round <= groups {
            let place = (round - 1) * GROUP;
            let plain: *const u32 = offsets.0[(round - 1) % 2].as_flattened().as_ptr();
            let sums: *mut __m128i = sums.0[(round - 1) % 2].as_mut_ptr().cast();
            // SAFETY: offsets are of rows of the table, and i of outputs and sums.
            unsafe {
                let scaled = plain.add(WORDS);
                let columns = out.each_mut().map(|column| column.as_mut_ptr().add(place));
                for i in 0..GROUP {
                    let (plain, scaled) = (plain.add(i * HALF), scaled.add(i * HALF));
                    let target = columns[0].add(i).cast::<__m128i>();
                    if C == 1 {
                        let mut sum = sum_1::<HALF>(start, plain, _mm_loadu_si128(target));
                        if KIND == kind::ONE {
                            sum = sum_1::<HALF>(start, scaled, sum);
                        } else {
                            let other = sum_1::<HALF>(start, scaled, _mm_setzero_si128());
                            _mm_store_si128(sums.add(i), other);
                        }
                        _mm_storeu_si128(target, sum);
                    } else {
                        let second = columns[C - 1].add(i).cast::<__m128i>();
                        let old = _mm256_loadu2_m128i(second, target);
                        let mut sum = sum_2::<HALF>(start, plain, old);
                        if KIND == kind::ONE {
                            sum = sum_2::<HALF>(start, scaled, sum);
                        } else {
                            let other = sum_2::<HALF>(start, scaled, _mm256_setzero_si256());
                            _mm256_storeu2_m128i(sums.add(GROUP + i), sums.add(i), other);
                        }
                        _mm256_storeu2_m128i(second, target, sum);
                    }
                }
            }
        }
    }
}
