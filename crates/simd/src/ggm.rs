//! Levels of GGM trees, and access to one secret place of a level.
//!
//! The children of node j of m are the nodes j and j + m of the next level.
//!
//! # Timing
//!
//! Depends only on the number of blocks, not on a block or on an index within range.

use crate::aes::Aes128;
use crate::{Backend, Block, xor};

#[cfg(target_arch = "x86_64")]
mod avx512;

/// Replaces the first half of `nodes`, a level, by the level below: the children of x are H(x) and
/// x + H(x), where H is [`Aes128::ccr`]. Returns the sum of the first children.
///
/// # Panics
/// If the length is odd.
pub fn children(node: &Aes128, nodes: &mut [Block]) -> Block {
    let (left, right) = halves(nodes);
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 && left.len().is_multiple_of(4) {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { avx512::children(node, left, right) };
    }
    right.copy_from_slice(left);
    node.ccr(left);
    xor::xor(right, left);
    sum(left)
}

/// Like [`children`], and then hashes all of them with [`Aes128::tccr`] under `leaf`, with tweaks
/// from `2^64·tree` on. Returns the sum of the first children before hashing, and the sum of all
/// after it.
///
/// # Panics
/// If the length is odd.
pub fn hashed_children(
    node: &Aes128,
    leaf: &Aes128,
    tree: u64,
    nodes: &mut [Block],
) -> (Block, Block) {
    #[cfg(target_arch = "x86_64")]
    {
        let (left, right) = halves(nodes);
        if Backend::active() == Backend::Avx512 && left.len().is_multiple_of(4) {
            // SAFETY: the backend is only active where the processor has its instructions.
            return unsafe { avx512::hashed_children(node, leaf, tree, left, right) };
        }
    }
    let first_children = children(node, nodes);
    leaf.tccr(nodes, u128::from(tree) << 64);
    (first_children, sum(nodes))
}

fn halves(nodes: &mut [Block]) -> (&mut [Block], &mut [Block]) {
    assert!(nodes.len().is_multiple_of(2), "an even number of nodes");
    nodes.split_at_mut(nodes.len() / 2)
}

/// The sum of all blocks.
pub fn sum(blocks: &[Block]) -> Block {
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { avx512::sum(blocks) };
    }
    // Four parallel sums, to fit vector registers.
    let (chunks, rest) = blocks.as_chunks::<4>();
    let mut sums = [Block::ZERO; 4];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, block)| *sum ^= *block);
    }
    sums.iter().chain(rest).fold(Block::ZERO, |sum, block| sum ^ *block)
}

/// The block at `index`, or zero beyond the last; reads every block.
pub fn at(blocks: &[Block], index: usize) -> Block {
    let chosen = blocks.iter().enumerate().map(|(i, block)| *block & equal_mask(i, index));
    chosen.fold(Block::ZERO, |sum, block| sum ^ block)
}

/// Adds `value` to the block at `index`, if it exists; writes every block.
pub fn add_at(blocks: &mut [Block], index: usize, value: Block) {
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { avx512::add_at(blocks, index, value) };
    }
    for (i, block) in blocks.iter_mut().enumerate() {
        *block ^= value & equal_mask(i, index);
    }
}

/// All ones if the numbers are equal; a comparison could become a branch.
#[inline(always)]
fn equal_mask(a: usize, b: usize) -> Block {
    let equal = std::hint::black_box(((a ^ b) as u128).wrapping_sub(1) >> 127);
    Block::new(equal.wrapping_neg())
}
