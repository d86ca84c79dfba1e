//! The lowest bit of each block.

use crate::Block;
use crate::backend::dispatch;

/// Packs the lowest bits of `blocks`, 64 to a word: bit i of `out[j]` comes from block 64·j + i.
///
/// # Panics
/// Unless there are 64 blocks per word.
pub fn low_bits(blocks: &[Block], out: &mut [u64]) {
    assert_eq!(Some(blocks.len()), out.len().checked_mul(64), "64 blocks per word");
    dispatch!(low_bits(blocks, out));
}

/// The loop; the compiler vectorises it for the backend.
macro_rules! kernel {
    ($backend:ident $(, $feature:literal)?) => {
        mod $backend {
            use crate::Block;

            $(#[target_feature(enable = $feature)])?
            pub(super) fn low_bits(blocks: &[Block], out: &mut [u64]) {
                let (words, _) = blocks.as_chunks::<64>();
                for (out, blocks) in out.iter_mut().zip(words) {
                    *out = blocks
                        .iter()
                        .enumerate()
                        .fold(0, |word, (i, block)| word | (block.get() as u64 & 1) << i);
                }
            }
        }
    };
}

kernel!(portable);
#[cfg(target_arch = "x86_64")]
kernel!(avx2, "avx2");

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use crate::Block;
    use crate::lanes::load_4;
    use core::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn low_bits(blocks: &[Block], out: &mut [u64]) {
        // The low halves of four blocks, then of four more.
        let low_halves = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let one = _mm512_set1_epi64(1);
        let (words, _) = blocks.as_chunks::<64>();
        for (out, blocks) in out.iter_mut().zip(words) {
            let (eights, _) = blocks.as_chunks::<8>();
            *out = 0;
            for (i, eight) in eights.iter().enumerate() {
                let (fours, _) = eight.as_chunks::<4>();
                let halves =
                    _mm512_permutex2var_epi64(load_4(&fours[0]), low_halves, load_4(&fours[1]));
                *out |= u64::from(_mm512_test_epi64_mask(halves, one)) << (8 * i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, force};

    #[test]
    fn every_backend_packs_the_lowest_bits() {
        let blocks: Vec<Block> = (0..64 * 9_u128)
            .map(|i| Block::new(((i * i / 7 * 0x1_0001) << 64) | (i * i / 5)))
            .collect();
        let mut expected = [0; 9];
        for (i, block) in blocks.iter().enumerate() {
            expected[i / 64] |= u64::from(block.bit(0)) << (i % 64);
        }
        for backend in Backend::available() {
            force(backend).unwrap();
            let mut out = [u64::MAX; 9];
            low_bits(&blocks, &mut out);
            assert_eq!(out, expected, "{}", backend.name());
        }
        force(Backend::detect()).unwrap();
    }
}
