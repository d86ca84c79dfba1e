//! Linear maps of blocks to blocks over GF(2), such as products with an element of GF(2^128),
//! squares, and sums of those.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::{Backend, Block};

/// A linear map of 128 bits to 128 bits, prepared for many blocks.
///
/// Where the processor has no instructions for bit matrices, blocks decide which places of a table
/// are read, so that the time it takes may tell of them.
pub struct LinearMap(Prepared);

enum Prepared {
    Portable(Box<portable::Tables>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<avx512::Matrices>),
}

impl LinearMap {
    /// The map that takes the block of bit i alone to `images[i]`.
    pub fn new(images: &[Block; 128]) -> Self {
        match Backend::active() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only a backend that the processor can run is ever active.
            Backend::Avx512 => Self(Prepared::Avx512(Box::new(unsafe { avx512::prepare(images) }))),
            _ => Self(Prepared::Portable(portable::prepare(images))),
        }
    }

    /// Adds to `acc[i]` the image of `xs[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_to(&self, acc: &mut [Block], xs: &[Block]) {
        assert_eq!(acc.len(), xs.len(), "as many blocks on both sides");
        match &self.0 {
            Prepared::Portable(tables) => portable::add_to(tables, acc, xs),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: these are prepared only where that backend is active.
            Prepared::Avx512(matrices) => unsafe { avx512::add_to(matrices, acc, xs) },
        }
    }
}
