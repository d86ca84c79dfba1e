//! Sums of vectors of blocks.

use crate::Block;
use crate::backend::dispatch;
use std::mem::MaybeUninit;

/// Adds `xs` to `acc`, that is `acc[i] ^= xs[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor(acc: &mut [Block], xs: &[Block]) {
    assert_eq!(acc.len(), xs.len(), "the same number of blocks");
    dispatch!(xor(acc, xs));
}

/// The sums of `a` and `b`, block by block, in a new list.
///
/// # Panics
/// If the lengths differ.
pub fn sum(a: &[Block], b: &[Block]) -> Vec<Block> {
    assert_eq!(a.len(), b.len(), "the same number of blocks");
    written(a.len(), |out| dispatch!(sum(Block::as_bytes(a), Block::as_bytes(b), out)))
}

/// The sum of each block of `a` and `b`, in a new list.
pub fn sum_with(a: &[Block], b: Block) -> Vec<Block> {
    let four = [b; 4];
    let [four] = Block::as_bytes(&four).as_chunks::<PATTERN>().0 else {
        unreachable!("four blocks are 64 bytes");
    };
    written(a.len(), |out| dispatch!(sum_with(Block::as_bytes(a), four, out)))
}

/// Bytes of four blocks.
const PATTERN: usize = 4 * Block::LEN;

/// A list of `len` blocks; `write` must write all of its bytes.
fn written(len: usize, write: impl FnOnce(&mut [MaybeUninit<u8>])) -> Vec<Block> {
    let mut blocks = Vec::<Block>::with_capacity(len);
    let bytes = blocks.as_mut_ptr().cast();
    // SAFETY: there is room for `len` blocks, and uninitialised bytes may lie there.
    write(unsafe { std::slice::from_raw_parts_mut(bytes, len * Block::LEN) });
    // SAFETY: all bytes were written, and every bit pattern is a block.
    unsafe { blocks.set_len(len) };
    blocks
}

/// The loops, which the compiler vectorises for the backend. They run over bytes, because it does
/// not vectorise loops over 128-bit integers.
macro_rules! kernel {
    ($backend:ident $(, $feature:literal)?) => {
        mod $backend {
            use super::PATTERN;
            use crate::Block;
            use std::mem::MaybeUninit;

            $(#[target_feature(enable = $feature)])?
            pub(super) fn xor(acc: &mut [Block], xs: &[Block]) {
                let acc = Block::as_bytes_mut(acc);
                for (acc, x) in acc.iter_mut().zip(Block::as_bytes(xs)) {
                    *acc ^= *x;
                }
            }

            /// Writes all of `out`, which must have the length of `a` and `b`.
            $(#[target_feature(enable = $feature)])?
            pub(super) fn sum(a: &[u8], b: &[u8], out: &mut [MaybeUninit<u8>]) {
                assert!(a.len() == out.len() && b.len() == out.len(), "lists of equal length");
                for ((a, b), out) in a.iter().zip(b).zip(out) {
                    out.write(*a ^ *b);
                }
            }

            /// Writes all of `out`, which must have the length of `a`; repeats `b`.
            $(#[target_feature(enable = $feature)])?
            pub(super) fn sum_with(a: &[u8], b: &[u8; PATTERN], out: &mut [MaybeUninit<u8>]) {
                assert_eq!(a.len(), out.len(), "lists of equal length");
                let ((a, a_rest), (out, out_rest)) =
                    (a.as_chunks::<PATTERN>(), out.as_chunks_mut::<PATTERN>());
                for (a, out) in a.iter().zip(out) {
                    for i in 0..PATTERN {
                        out[i].write(a[i] ^ b[i]);
                    }
                }
                for ((a, b), out) in a_rest.iter().zip(b).zip(out_rest) {
                    out.write(*a ^ *b);
                }
            }
        }
    };
}

kernel!(portable);
#[cfg(target_arch = "x86_64")]
kernel!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
kernel!(avx512, "avx512f,avx512bw");
