//! Keyed BLAKE3 of sixteen short inputs at a time.
//!
//! BLAKE3 distributes the chunks of one long input over the lanes of a vector. An input of at most
//! one block has a single chunk, so here every lane holds a different input.
//!
//! An input of at most 64 bytes is one chunk of one block, hence one compression: chaining value =
//! the key, counter 0, block length = the input's, flags `CHUNK_START`, `CHUNK_END`, `ROOT` and
//! `KEYED_HASH` (the BLAKE3 paper, O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020, 2.1 to 2.6).
//!
//! # Timing
//!
//! Depends at most on the lengths, never on the bytes of a key or an input.

use crate::backend::dispatch;

/// Inputs hashed together.
pub const INPUTS: usize = 16;

/// Longest input in bytes: a block of BLAKE3.
pub const BLOCK_LEN: usize = 64;

/// Bytes kept of each digest.
pub const DIGEST_LEN: usize = 16;

/// The first 16 bytes of BLAKE3's keyed hash of `blocks[i][..lens[i]]`, for each `i`.
///
/// The bytes after an input in its block are ignored. Uses
/// [`Backend::active`](crate::Backend::active).
///
/// # Panics
/// If a length is above [`BLOCK_LEN`].
#[inline]
pub fn keyed_hash_16(
    key: &[u8; 32],
    blocks: &[[u8; BLOCK_LEN]; INPUTS],
    lens: &[u8; INPUTS],
) -> [[u8; DIGEST_LEN]; INPUTS] {
    assert!(
        lens.iter().all(|len| usize::from(*len) <= BLOCK_LEN),
        "an input has at most one block"
    );
    let key = words(key);
    dispatch!(hash(&key, blocks, lens))
}

/// BLAKE3's initial vector, the part that enters a compression.
const IV: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];

/// `CHUNK_START | CHUNK_END | ROOT | KEYED_HASH`.
const FLAGS: u32 = 1 | 1 << 1 | 1 << 3 | 1 << 4;

/// The permutation of the message words between two rounds.
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// The order of the message words in each round.
const SCHEDULE: [[usize; 16]; 7] = {
    let mut rounds = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < 7 {
        let mut i = 0;
        while i < 16 {
            rounds[round][i] = rounds[round - 1][PERMUTATION[i]];
            i += 1;
        }
        round += 1;
    }
    rounds
};

/// `MASK[64 - len..]` starts with `len` bytes of ones, followed by zeros to the end of a block.
static MASK: [u8; 2 * BLOCK_LEN] = {
    let mut mask = [0; 2 * BLOCK_LEN];
    let mut i = 0;
    while i < BLOCK_LEN {
        mask[i] = 0xff;
        i += 1;
    }
    mask
};

/// The mask that keeps the first `len` bytes of a block; `len` is at most a block.
#[inline(always)]
fn mask(len: u8) -> &'static [u8; BLOCK_LEN] {
    let (mask, _) = MASK[BLOCK_LEN - usize::from(len)..]
        .split_first_chunk()
        .expect("every place in the first half has a block after it");
    mask
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let (chunks, _) = bytes.as_chunks();
    std::array::from_fn(|i| u32::from_le_bytes(chunks[i]))
}

/// The quarter round on four words of the state with two message words.
macro_rules! quarter {
    ($v:ident, $a:literal, $b:literal, $c:literal, $d:literal, $x:expr, $y:expr) => {
        $v[$a] = add(add($v[$a], $v[$b]), $x);
        $v[$d] = rotate_16(xor($v[$d], $v[$a]));
        $v[$c] = add($v[$c], $v[$d]);
        $v[$b] = rotate_12(xor($v[$b], $v[$c]));
        $v[$a] = add(add($v[$a], $v[$b]), $y);
        $v[$d] = rotate_8(xor($v[$d], $v[$a]));
        $v[$c] = add($v[$c], $v[$d]);
        $v[$b] = rotate_7(xor($v[$b], $v[$c]));
    };
}

macro_rules! round {
    ($v:ident, $m:ident, $round:literal) => {
        quarter!($v, 0, 4, 8, 12, $m[SCHEDULE[$round][0]], $m[SCHEDULE[$round][1]]);
        quarter!($v, 1, 5, 9, 13, $m[SCHEDULE[$round][2]], $m[SCHEDULE[$round][3]]);
        quarter!($v, 2, 6, 10, 14, $m[SCHEDULE[$round][4]], $m[SCHEDULE[$round][5]]);
        quarter!($v, 3, 7, 11, 15, $m[SCHEDULE[$round][6]], $m[SCHEDULE[$round][7]]);
        quarter!($v, 0, 5, 10, 15, $m[SCHEDULE[$round][8]], $m[SCHEDULE[$round][9]]);
        quarter!($v, 1, 6, 11, 12, $m[SCHEDULE[$round][10]], $m[SCHEDULE[$round][11]]);
        quarter!($v, 2, 7, 8, 13, $m[SCHEDULE[$round][12]], $m[SCHEDULE[$round][13]]);
        quarter!($v, 3, 4, 9, 14, $m[SCHEDULE[$round][14]], $m[SCHEDULE[$round][15]]);
    };
}

/// Defines the compression over the surrounding module's `Word`, one or many lanes of 32 bits,
/// and its operations. A macro, not a generic function: the whole must be compiled under one
/// target feature.
macro_rules! compression {
    ($($feature:literal)?) => {
        /// The first four words of the digests of message blocks `m` of `len` bytes.
        #[inline]
        $(#[target_feature(enable = $feature)])?
        fn compress(key: &[u32; 8], m: &[Word; 16], len: Word) -> [Word; 4] {
            let zero = splat(0);
            let mut v = [
                splat(key[0]), splat(key[1]), splat(key[2]), splat(key[3]),
                splat(key[4]), splat(key[5]), splat(key[6]), splat(key[7]),
                splat(IV[0]), splat(IV[1]), splat(IV[2]), splat(IV[3]),
                zero, zero, len, splat(FLAGS),
            ];
            round!(v, m, 0);
            round!(v, m, 1);
            round!(v, m, 2);
            round!(v, m, 3);
            round!(v, m, 4);
            round!(v, m, 5);
            round!(v, m, 6);
            [xor(v[0], v[8]), xor(v[1], v[9]), xor(v[2], v[10]), xor(v[3], v[11])]
        }
    };
}

mod portable {
    use super::{BLOCK_LEN, DIGEST_LEN, FLAGS, INPUTS, IV, SCHEDULE, mask, words};

    type Word = u32;

    fn splat(word: u32) -> Word {
        word
    }

    fn add(a: Word, b: Word) -> Word {
        a.wrapping_add(b)
    }

    fn xor(a: Word, b: Word) -> Word {
        a ^ b
    }

    fn rotate_16(a: Word) -> Word {
        a.rotate_right(16)
    }

    fn rotate_12(a: Word) -> Word {
        a.rotate_right(12)
    }

    fn rotate_8(a: Word) -> Word {
        a.rotate_right(8)
    }

    fn rotate_7(a: Word) -> Word {
        a.rotate_right(7)
    }

    compression!();

    pub(super) fn hash(
        key: &[u32; 8],
        blocks: &[[u8; BLOCK_LEN]; INPUTS],
        lens: &[u8; INPUTS],
    ) -> [[u8; DIGEST_LEN]; INPUTS] {
        let mut digests = [[0; DIGEST_LEN]; INPUTS];
        for ((digest, block), len) in digests.iter_mut().zip(blocks).zip(lens) {
            let mask = mask(*len);
            let message: [u8; BLOCK_LEN] = std::array::from_fn(|i| block[i] & mask[i]);
            let words = compress(key, &words(&message), u32::from(*len));
            for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
        }
        digests
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK_LEN, DIGEST_LEN, FLAGS, INPUTS, IV, SCHEDULE, mask};
    use core::arch::x86_64::*;

    type Word = __m256i;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(word: u32) -> Word {
        _mm256_set1_epi32(word.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(a: Word, b: Word) -> Word {
        _mm256_add_epi32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn xor(a: Word, b: Word) -> Word {
        _mm256_xor_si256(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotate_16(a: Word) -> Word {
        let bytes = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
        _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotate_12(a: Word) -> Word {
        _mm256_or_si256(_mm256_srli_epi32::<12>(a), _mm256_slli_epi32::<20>(a))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotate_8(a: Word) -> Word {
        let bytes = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
        _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotate_7(a: Word) -> Word {
        _mm256_or_si256(_mm256_srli_epi32::<7>(a), _mm256_slli_epi32::<25>(a))
    }

    compression!("avx2");

    /// Columns of four rows of 32-bit words, in each half of 128 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn transpose_4([a, b, c, d]: [Word; 4]) -> [Word; 4] {
        let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab_low, cd_low),
            _mm256_unpackhi_epi64(ab_low, cd_low),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn hash(
        key: &[u32; 8],
        blocks: &[[u8; BLOCK_LEN]; INPUTS],
        lens: &[u8; INPUTS],
    ) -> [[u8; DIGEST_LEN]; INPUTS] {
        let mut digests = [[0; DIGEST_LEN]; INPUTS];
        for first in [0, 8] {
            let masked = |lane: usize, half: usize| {
                let (block, mask) = (&blocks[first + lane], mask(lens[first + lane]));
                // SAFETY: `half` is 0 or 1, and both arrays have two halves of 32 bytes.
                unsafe {
                    let block = _mm256_loadu_si256(block.as_ptr().cast::<Word>().add(half));
                    let mask = _mm256_loadu_si256(mask.as_ptr().cast::<Word>().add(half));
                    _mm256_and_si256(block, mask)
                }
            };
            let mut m = [_mm256_setzero_si256(); 16];
            for half in [0, 1] {
                let low = transpose_4(core::array::from_fn(|lane| masked(lane, half)));
                let high = transpose_4(core::array::from_fn(|lane| masked(4 + lane, half)));
                for word in 0..4 {
                    let at = 8 * half + word;
                    m[at] = _mm256_permute2x128_si256::<0x20>(low[word], high[word]);
                    m[at + 4] = _mm256_permute2x128_si256::<0x31>(low[word], high[word]);
                }
            }
            let len: [u32; 8] = core::array::from_fn(|lane| u32::from(lens[first + lane]));
            // SAFETY: eight words of 32 bits are 256 bits.
            let len = unsafe { _mm256_loadu_si256(len.as_ptr().cast()) };
            let rows = transpose_4(compress(key, &m, len));
            for (lane, row) in rows.into_iter().enumerate() {
                // SAFETY: 256 bits are two digests of 128 bits.
                let [low, high]: [[u8; DIGEST_LEN]; 2] = unsafe { core::mem::transmute(row) };
                digests[first + lane] = low;
                digests[first + lane + 4] = high;
            }
        }
        digests
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BLOCK_LEN, DIGEST_LEN, FLAGS, INPUTS, IV, SCHEDULE, mask};
    use core::arch::x86_64::*;

    type Word = __m512i;

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn splat(word: u32) -> Word {
        _mm512_set1_epi32(word.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add(a: Word, b: Word) -> Word {
        _mm512_add_epi32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn xor(a: Word, b: Word) -> Word {
        _mm512_xor_si512(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rotate_16(a: Word) -> Word {
        _mm512_ror_epi32::<16>(a)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rotate_12(a: Word) -> Word {
        _mm512_ror_epi32::<12>(a)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rotate_8(a: Word) -> Word {
        _mm512_ror_epi32::<8>(a)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rotate_7(a: Word) -> Word {
        _mm512_ror_epi32::<7>(a)
    }

    compression!("avx512f");

    /// Columns of four rows of 32-bit words, in each quarter of 128 bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transpose_4([a, b, c, d]: [Word; 4]) -> [Word; 4] {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn hash(
        key: &[u32; 8],
        blocks: &[[u8; BLOCK_LEN]; INPUTS],
        lens: &[u8; INPUTS],
    ) -> [[u8; DIGEST_LEN]; INPUTS] {
        // Loops instead of closures: closures are compiled separately and remain calls.
        let mut rows = [_mm512_setzero_si512(); INPUTS];
        for (row, (block, len)) in rows.iter_mut().zip(blocks.iter().zip(lens)) {
            // SAFETY: both arrays have 512 bits.
            *row = unsafe {
                let block = _mm512_loadu_si512(block.as_ptr().cast());
                _mm512_and_si512(block, _mm512_loadu_si512(mask(*len).as_ptr().cast()))
            };
        }
        // Quarter q of `fours[i][w]` has word 4q + w of lanes 4i to 4i + 3.
        let mut fours = [[_mm512_setzero_si512(); 4]; 4];
        for (four, rows) in fours.iter_mut().zip(rows.as_chunks().0) {
            *four = transpose_4(*rows);
        }
        let mut m = [_mm512_setzero_si512(); 16];
        for w in 0..4 {
            let [a, b, c, d] = [fours[0][w], fours[1][w], fours[2][w], fours[3][w]];
            // The quarters 0 and 2, and 1 and 3, of each pair of rows.
            let (ab_even, ab_odd) =
                (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
            let (cd_even, cd_odd) =
                (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
            m[w] = _mm512_shuffle_i32x4::<0x88>(ab_even, cd_even);
            m[4 + w] = _mm512_shuffle_i32x4::<0x88>(ab_odd, cd_odd);
            m[8 + w] = _mm512_shuffle_i32x4::<0xdd>(ab_even, cd_even);
            m[12 + w] = _mm512_shuffle_i32x4::<0xdd>(ab_odd, cd_odd);
        }
        // SAFETY: sixteen bytes are 128 bits.
        let len = _mm512_cvtepu8_epi32(unsafe { _mm_loadu_si128(lens.as_ptr().cast()) });
        let mut digests = [[0; DIGEST_LEN]; INPUTS];
        for (lane, row) in transpose_4(compress(key, &m, len)).into_iter().enumerate() {
            // SAFETY: 512 bits are four digests of 128 bits.
            let row: [[u8; DIGEST_LEN]; 4] = unsafe { core::mem::transmute(row) };
            for (quarter, digest) in row.into_iter().enumerate() {
                digests[4 * quarter + lane] = digest;
            }
        }
        digests
    }
}
