//! Sums of vectors of blocks.

use crate::Block;
use crate::backend::dispatch;

/// Adds `xs` to `acc`, that is `acc[i] ^= xs[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor(acc: &mut [Block], xs: &[Block]) {
    assert_eq!(acc.len(), xs.len(), "as many blocks on both sides");
    dispatch!(xor(acc, xs));
}

/// The loop, which the compiler turns into the vectors of the backend.
macro_rules! kernel {
    ($backend:ident $(, $feature:literal)?) => {
        mod $backend {
            use crate::Block;

            $(#[target_feature(enable = $feature)])?
            pub(super) fn xor(acc: &mut [Block], xs: &[Block]) {
                for (acc, x) in acc.iter_mut().zip(xs) {
                    *acc ^= *x;
                }
            }
        }
    };
}

kernel!(portable);
#[cfg(target_arch = "x86_64")]
kernel!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
kernel!(avx512, "avx512f");
