//! GF(2^128) = GF(2)\[X\] / (X^128 + X^7 + X^2 + X + 1).
//!
//! Bit i of a [`Block`] is the coefficient of X^i; sums are `^`.
//!
//! # Timing
//!
//! Depends on the number of elements, on the exponent of [`pow`], which is public, and on whether
//! the input of [`inverse`] is zero; otherwise not on any element.

use crate::Block;
use crate::backend::dispatch;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod portable;

/// X^128 in the field.
const MODULUS: u64 = 0x87;

/// Powers that [`powers`] computes per step from the previous ones: enough to fill a pipeline, few
/// enough to stay in the first-level cache.
const POWERS_STEP: usize = 512;

/// a · b.
pub fn mul(a: Block, b: Block) -> Block {
    dispatch!(mul(a, b))
}

/// a².
pub fn square(a: Block) -> Block {
    square_times(a, 1)
}

/// a^(2^n).
fn square_times(a: Block, n: u32) -> Block {
    dispatch!(square_times(a, n))
}

/// 1/a; `None` for zero.
pub fn inverse(a: Block) -> Option<Block> {
    if a == Block::ZERO {
        return None;
    }
    // a^(2^n - 1) for n = 1, 3, 7, 15, …, 127 (Itoh and Tsujii).
    let mut ones = a;
    let mut n = 1;
    while n < 127 {
        ones = mul(square_times(ones, n), ones);
        ones = mul(square(ones), a);
        n = 2 * n + 1;
    }
    Some(square(ones))
}

/// a^e; one for e = 0. The time depends on e, never on a.
pub fn pow(a: Block, e: u128) -> Block {
    (0..u128::BITS - e.leading_zeros()).rev().fold(Block::ONE, |power, i| {
        let squared = square(power);
        if e >> i & 1 == 1 { mul(squared, a) } else { squared }
    })
}

/// Multiplies each element by `s`.
pub fn scale(xs: &mut [Block], s: Block) {
    dispatch!(scale(xs, s));
}

/// Adds `xs`, scaled by `s`, to `acc`: `acc[i] += xs[i] * s`.
///
/// # Panics
/// If the lengths differ.
pub fn add_scaled(acc: &mut [Block], xs: &[Block], s: Block) {
    assert_eq!(acc.len(), xs.len(), "the same number of elements");
    dispatch!(add_scaled(acc, xs, s));
}

/// `acc[i] *= xs[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn mul_each(acc: &mut [Block], xs: &[Block]) {
    assert_eq!(acc.len(), xs.len(), "the same number of elements");
    dispatch!(mul_each(acc, xs));
}

/// `acc[i] += xs[i] * ys[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn add_products(acc: &mut [Block], xs: &[Block], ys: &[Block]) {
    assert_eq!(acc.len(), xs.len(), "the same number of elements");
    assert_eq!(acc.len(), ys.len(), "the same number of elements");
    dispatch!(add_products(acc, xs, ys));
}

/// The sum of `xs[i] * ys[i]`, reduced once at the end; zero if there are none.
///
/// # Panics
/// If the lengths differ.
pub fn inner_product(xs: &[Block], ys: &[Block]) -> Block {
    assert_eq!(xs.len(), ys.len(), "the same number of elements");
    dispatch!(inner_product(xs, ys))
}

/// Sets `out` to s, s², s³, …
pub fn powers(s: Block, out: &mut [Block]) {
    let Some(first) = out.first_mut() else { return };
    *first = s;
    let mut done = 1;
    while done < out.len() {
        let (before, after) = out.split_at_mut(done);
        let known = &before[done.saturating_sub(POWERS_STEP)..];
        let n = known.len().min(after.len());
        // Each new power is an earlier one times this.
        let step = before[known.len() - 1];
        after[..n].copy_from_slice(&known[..n]);
        scale(&mut after[..n], step);
        done += n;
    }
}
