//! Blocks as bit matrices, for the kernels with GFNI.

use crate::Block;
use crate::lanes::load_4;
use core::arch::x86_64::*;

/// Sixteen vectors; each holds one byte of 64 blocks.
pub(crate) type Bytes = [__m512i; 16];

/// In each 128-bit lane, byte b of vector i becomes byte i of vector b.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn transpose_bytes(v: &Bytes) -> Bytes {
    // Four perfect shuffles of 256 bytes swap the halves of their 8-bit indices.
    shuffled(shuffled(shuffled(shuffled(*v))))
}

/// Interleaves the bytes of vectors i and i + 8 into vectors 2i and 2i + 1.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled(v: Bytes) -> Bytes {
    let mut out = v;
    for i in 0..8 {
        out[2 * i] = _mm512_unpacklo_epi8(v[i], v[i + 8]);
        out[2 * i + 1] = _mm512_unpackhi_epi8(v[i], v[i + 8]);
    }
    out
}

/// Sets `out[b]` to a matrix for `_mm512_gf2p8affine_epi64_epi8`: applied to a byte of selection
/// bits, it yields byte b of the sum of the selected `blocks`.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
pub(crate) fn matrices_of_8(blocks: &[Block; 8], out: &mut [u64; 16]) {
    // Bytes 8b + j of the permuted vector are byte b of block 7 - j.
    const PICK: [[u8; 64]; 2] = {
        let mut pick = [[0; 64]; 2];
        let mut i = 0;
        while i < 128 {
            pick[i / 64][i % 64] = (16 * (7 - i % 8) + i / 8) as u8;
            i += 1;
        }
        pick
    };
    // The product of these bytes with a matrix is its transpose.
    let powers = _mm512_set1_epi64(0x0102_0408_1020_4080);
    let (halves, _) = blocks.as_chunks::<4>();
    let (front, back) = (load_4(&halves[0]), load_4(&halves[1]));
    for (pick, out) in PICK.iter().zip(out.as_chunks_mut::<8>().0) {
        // SAFETY: 64 bytes are 512 bits.
        let pick = unsafe { _mm512_loadu_si512(pick.as_ptr().cast()) };
        let bytes = _mm512_permutex2var_epi8(front, pick, back);
        let turned = _mm512_gf2p8affine_epi64_epi8::<0>(powers, bytes);
        // SAFETY: eight words are 512 bits.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), turned) }
    }
}
