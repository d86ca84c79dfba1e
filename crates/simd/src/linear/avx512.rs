//! Products with 8 × 8 bit matrices (GFNI), 64 blocks at a time.

use crate::Block;
use crate::lanes::{LANES, load_4, store_4};
use crate::matrices::{Bytes, matrices_of_8, transpose_bytes};
use core::arch::x86_64::*;

/// Entry `[j][b]`: the contribution of byte j of a block to byte b of its image.
pub(super) type Matrices = [[u64; 16]; 16];

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn prepare(images: &[Block; 128]) -> Matrices {
    let mut matrices = [[0; 16]; 16];
    for (matrices, images) in matrices.iter_mut().zip(images.as_chunks::<8>().0) {
        matrices_of_8(images, matrices);
    }
    matrices
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn add_to(matrices: &Matrices, acc: &mut [Block], xs: &[Block]) {
    let (accs, acc) = acc.as_chunks_mut::<64>();
    let (batches, xs) = xs.as_chunks::<64>();
    for (acc, xs) in accs.iter_mut().zip(batches) {
        add_64(matrices, acc, xs);
    }
    if !xs.is_empty() {
        let mut padded = [[Block::ZERO; 64]; 2];
        padded[0][..xs.len()].copy_from_slice(xs);
        let [xs, sums] = &mut padded;
        add_64(matrices, sums, xs);
        for (acc, sum) in acc.iter_mut().zip(sums) {
            *acc ^= *sum;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn add_64(matrices: &Matrices, acc: &mut [Block; 64], xs: &[Block; 64]) {
    // Each vector gets the bytes with one index of all blocks, in an order that the inverse
    // transposition undoes.
    let mut bytes: Bytes = [_mm512_setzero_si512(); 16];
    for (vector, xs) in bytes.iter_mut().zip(xs.as_chunks::<LANES>().0) {
        *vector = load_4(xs);
    }
    let bytes = transpose_bytes(&bytes);
    let mut images = [_mm512_setzero_si512(); 16];
    for (b, image) in images.iter_mut().enumerate() {
        let product = |j: usize| {
            let matrix = _mm512_set1_epi64(matrices[j][b].cast_signed());
            _mm512_gf2p8affine_epi64_epi8::<0>(bytes[j], matrix)
        };
        let mut sums = [_mm512_setzero_si512(); 2];
        for j in 0..4 {
            for (i, sum) in sums.iter_mut().enumerate() {
                let (first, second) = (product(4 * j + 2 * i), product(4 * j + 2 * i + 1));
                *sum = _mm512_ternarylogic_epi64::<0x96>(*sum, first, second);
            }
        }
        *image = _mm512_xor_si512(sums[0], sums[1]);
    }
    let images = transpose_bytes(&images);
    for (image, acc) in images.into_iter().zip(acc.as_chunks_mut::<LANES>().0) {
        store_4(_mm512_xor_si512(load_4(acc), image), acc);
    }
}
