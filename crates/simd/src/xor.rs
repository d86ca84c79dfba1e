//! Sums of vectors of blocks.

use crate::Block;

/// Adds `xs` to `acc`, that is `acc[i] ^= xs[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor(acc: &mut [Block], xs: &[Block]) {
    assert_eq!(acc.len(), xs.len(), "as many blocks on both sides");
    for (acc, x) in acc.iter_mut().zip(xs) {
        *acc ^= *x;
    }
}
