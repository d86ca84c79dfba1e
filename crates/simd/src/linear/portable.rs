//! The sum of the images of all set bits; every image is read.

use crate::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Blocks that are mapped together.
const AT_ONCE: usize = 8;

/// The image of each bit, in words.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Images([[u64; 2]; 128]);

pub(super) fn prepare(images: &[Block; 128]) -> Box<Images> {
    let mut prepared = Box::new(Images([[0; 2]; 128]));
    for (words, image) in prepared.0.iter_mut().zip(images) {
        *words = words_of(*image);
    }
    prepared
}

fn words_of(block: Block) -> [u64; 2] {
    [block.get() as u64, (block.get() >> 64) as u64]
}

pub(super) fn add_to(images: &Images, acc: &mut [Block], xs: &[Block]) {
    for (acc, xs) in acc.chunks_mut(AT_ONCE).zip(xs.chunks(AT_ONCE)) {
        let (mut words, mut sums) = ([[0; AT_ONCE]; 2], [[0; AT_ONCE]; 2]);
        for (i, x) in xs.iter().enumerate() {
            [words[0][i], words[1][i]] = words_of(*x);
        }
        for (words, images) in words.iter().zip(images.0.as_chunks::<64>().0) {
            for (bit, image) in images.iter().enumerate() {
                for i in 0..AT_ONCE {
                    let mask = (words[i] >> bit & 1).wrapping_neg();
                    sums[0][i] ^= image[0] & mask;
                    sums[1][i] ^= image[1] & mask;
                }
            }
        }
        for (i, acc) in acc.iter_mut().enumerate() {
            *acc ^= Block::new(u128::from(sums[0][i]) | u128::from(sums[1][i]) << 64);
        }
    }
}
