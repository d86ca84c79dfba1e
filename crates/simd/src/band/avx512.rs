//! Multiplications by 8 × 8 bit matrices (GFNI), 64 rows at a time.
//!
//! Eight slots form sixteen 8 × 8 matrices, one for each byte of a block. Byte i of a vector holds
//! row i's bits for those eight slots, or byte b of its sum.

use super::row::{BATCH, Row};
use super::window::{WORDS, Window};
use crate::Block;
use crate::lanes::store_4;
use crate::matrices::{Bytes, matrices_of_8, transpose_bytes};
use core::arch::x86_64::*;

/// For eight slots: byte b of each as a matrix, for b from 0 to 15.
type Group = [u64; 16];

pub(super) struct Tables {
    window: Window,
    groups: [Group; 8 * WORDS],
    /// The bits of 64 rows; byte g holds the bits for slots 8g to 8g + 7 modulo 512.
    bits: [[u8; BATCH]; 64],
}

impl Default for Tables {
    fn default() -> Self {
        let (groups, bits) = ([[0; 16]; 8 * WORDS], [[0; BATCH]; 64]);
        Self { window: Window::default(), groups, bits }
    }
}

impl Tables {
    /// Sums for bands whose starts differ by less than a window.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    pub(super) fn sums(
        &mut self,
        slots: &[Block],
        rows: &[Row],
        starts: &[u32],
        out: &mut [Block],
    ) {
        let first = starts.iter().min().map_or(0, |start| *start as usize);
        let last = starts.iter().max().map_or(0, |start| *start as usize);
        for word in self.window.slide_up(first / 64..last / 64 + 9) {
            self.prepare(slots, word);
        }
        transpose_rows(rows, &mut self.bits);

        // The start of each band: the group relative to the first one, and the slot within the
        // group.
        let (first, last) = (first / 8, last / 8);
        let mut groups = [0; BATCH];
        let mut inner = [0; BATCH];
        for ((start, group), inner) in starts.iter().zip(&mut groups).zip(&mut inner) {
            *group = (*start as usize / 8 - first) as u8;
            *inner = (*start % 8) as u8;
        }
        let edges = Edges::new(&groups, &inner);

        let mut acc = [_mm512_setzero_si512(); 16];
        for group in first..=last {
            let bits = load_64(&self.bits[group % 64]);
            let started = edges.started((group - first) as u8);
            self.accumulate(&mut acc, group, _mm512_and_si512(bits, started));
            self.accumulate(&mut acc, group + 64, _mm512_andnot_si512(started, bits));
        }
        for group in last + 1..first + 64 {
            self.accumulate(&mut acc, group, load_64(&self.bits[group % 64]));
        }
        let mut sums = [Block::ZERO; BATCH];
        store_sums(&acc, &mut sums);
        out.copy_from_slice(&sums[..rows.len()]);
    }

    /// For each row of `word`, whose band starts at the row's own slot: the sum of the slots in
    /// later words.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    pub(super) fn later_sums(
        &mut self,
        slots: &[Block],
        word: usize,
        rows: &[Row],
        out: &mut [Block; BATCH],
    ) {
        for later in self.window.slide_down(word + 1..word + 9) {
            self.prepare(slots, later);
        }
        transpose_rows(rows, &mut self.bits);
        let mut groups = [0; BATCH];
        let mut inner = [0; BATCH];
        for (i, (group, inner)) in groups.iter_mut().zip(&mut inner).enumerate() {
            (*group, *inner) = (i as u8 / 8, i as u8 % 8);
        }
        let edges = Edges::new(&groups, &inner);
        let mut acc = [_mm512_setzero_si512(); 16];
        for group in 8 * (word + 1)..8 * (word + 8) {
            self.accumulate(&mut acc, group, load_64(&self.bits[group % 64]));
        }
        for i in 0..8 {
            let group = 8 * (word + 8) + i;
            let bits = load_64(&self.bits[group % 64]);
            let bits = _mm512_andnot_si512(edges.started(i as u8), bits);
            self.accumulate(&mut acc, group, bits);
        }
        store_sums(&acc, out);
    }

    /// Adds the slots of `group`, eight in number, that `bits` selects.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,gfni")]
    fn accumulate(&self, acc: &mut Bytes, group: usize, bits: __m512i) {
        let matrices = &self.groups[group % (8 * WORDS)];
        for (acc, matrix) in acc.iter_mut().zip(matrices) {
            let matrix = _mm512_set1_epi64(matrix.cast_signed());
            *acc = _mm512_xor_si512(*acc, _mm512_gf2p8affine_epi64_epi8::<0>(bits, matrix));
        }
    }

    /// Makes the matrices of the 64 slots of `word`; missing slots are zero.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn prepare(&mut self, slots: &[Block], word: usize) {
        let mut padded = [Block::ZERO; 64];
        let slots = slots.get(64 * word..).unwrap_or_default();
        let slots = match slots.first_chunk::<64>() {
            Some(slots) => slots,
            None => {
                padded[..slots.len()].copy_from_slice(slots);
                &padded
            }
        };
        let first = 8 * word % (8 * WORDS);
        let groups = &mut self.groups[first..first + 8];
        for (slots, group) in slots.as_chunks::<8>().0.iter().zip(groups) {
            matrices_of_8(slots, group);
        }
    }
}

/// The start of each row's band within a group of eight slots.
struct Edges {
    groups: __m512i,
    /// In the group in which the band starts: ones from its first slot on.
    masks: __m512i,
}

impl Edges {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(groups: &[u8; BATCH], inner: &[u8; BATCH]) -> Self {
        // Byte i: ones from bit i on.
        let table = _mm512_set1_epi64(0x80c0_e0f0_f8fc_feff_u64.cast_signed());
        let masks = _mm512_permutexvar_epi8(load_64(inner), table);
        Self { groups: load_64(groups), masks }
    }

    /// The slots of `group` at or after the start of each row's band, as a mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn started(&self, group: u8) -> __m512i {
        let group = _mm512_set1_epi8(group.cast_signed());
        let before = _mm512_cmplt_epu8_mask(self.groups, group);
        let here = _mm512_cmpeq_epu8_mask(self.groups, group);
        let all = _mm512_movm_epi8(before);
        _mm512_mask_mov_epi8(all, here, self.masks)
    }
}

/// Sets byte i of `out[g]` to byte g of row i; bytes of missing rows become zero.
#[target_feature(enable = "avx512f,avx512vbmi")]
fn transpose_rows(rows: &[Row], out: &mut [[u8; BATCH]; 64]) {
    // First collects the words of eight rows in each vector, then the bytes with the same index.
    let mut together = [0_u8; 64];
    for (i, together) in together.iter_mut().enumerate() {
        *together = (8 * (i % 8) + i / 8) as u8;
    }
    let together = load_64(&together);
    let mut words = [[_mm512_setzero_si512(); 8]; 8];
    for (eight, words) in rows.chunks(8).zip(&mut words) {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (vector, row) in rows.iter_mut().zip(eight) {
            *vector = load_8(row);
        }
        *words = transpose_8(rows);
    }
    for word in 0..8 {
        let mut bytes = [_mm512_setzero_si512(); 8];
        for (bytes, words) in bytes.iter_mut().zip(&words) {
            *bytes = _mm512_permutexvar_epi8(together, words[word]);
        }
        for (vector, out) in transpose_8(bytes).into_iter().zip(&mut out[8 * word..]) {
            store_64(vector, out);
        }
    }
}

/// Word j of vector i becomes word i of vector j.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_8(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    let low = |a, b| _mm512_unpacklo_epi64(a, b);
    let high = |a, b| _mm512_unpackhi_epi64(a, b);
    let pairs = [
        [low(a, b), low(c, d), low(e, f), low(g, h)],
        [high(a, b), high(c, d), high(e, f), high(g, h)],
    ];
    // Lanes 0 and 2 of the first two, then of the last two; and lanes 1 and 3.
    let even = |a, b| _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
    let odd = |a, b| _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
    let mut out = [_mm512_setzero_si512(); 8];
    for (i, [ab, cd, ef, gh]) in pairs.into_iter().enumerate() {
        let (front, back) = (even(ab, cd), even(ef, gh));
        out[i] = even(front, back);
        out[4 + i] = odd(front, back);
        let (front, back) = (odd(ab, cd), odd(ef, gh));
        out[2 + i] = even(front, back);
        out[6 + i] = odd(front, back);
    }
    out
}

/// Sets `sums[i]` to byte i of all sixteen vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_sums(acc: &Bytes, sums: &mut [Block; BATCH]) {
    let v = transpose_bytes(acc);
    for (i, vector) in v.into_iter().enumerate() {
        let mut lanes = [Block::ZERO; 4];
        store_4(vector, &mut lanes);
        for (lane, block) in lanes.into_iter().enumerate() {
            sums[16 * lane + i] = block;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are 512 bits.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_64(v: __m512i, bytes: &mut [u8; 64]) {
    // SAFETY: 64 bytes are 512 bits.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_8(words: &[u64; 8]) -> __m512i {
    // SAFETY: eight words are 512 bits.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
