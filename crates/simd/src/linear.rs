//! Linear maps of blocks to blocks over GF(2), such as products with an element of GF(2^128),
//! squares, and sums of those.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::{Backend, Block};
#[cfg(target_arch = "x86_64")]
use zeroize::Zeroize;

/// A linear map of 128 bits to 128 bits, prepared for many blocks.
///
/// Neither addresses nor branches depend on blocks or images, which are wiped when the map is
/// dropped.
pub struct LinearMap(Prepared);

enum Prepared {
    Portable(Box<portable::Images>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<avx512::Matrices>),
}

impl LinearMap {
    /// The map that takes the block with only bit i set to `images[i]`.
    pub fn new(images: &[Block; 128]) -> Self {
        match Backend::active() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only a backend that the processor can run is ever active.
            Backend::Avx512 => Self(Prepared::Avx512(Box::new(unsafe { avx512::prepare(images) }))),
            _ => Self(Prepared::Portable(portable::prepare(images))),
        }
    }

    /// Adds the image of `xs[i]` to `acc[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_to(&self, acc: &mut [Block], xs: &[Block]) {
        assert_eq!(acc.len(), xs.len(), "the same number of blocks");
        match &self.0 {
            Prepared::Portable(images) => portable::add_to(images, acc, xs),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: these are prepared only where that backend is active.
            Prepared::Avx512(matrices) => unsafe { avx512::add_to(matrices, acc, xs) },
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        match self {
            // It wipes itself when dropped.
            Prepared::Portable(_) => {}
            #[cfg(target_arch = "x86_64")]
            Prepared::Avx512(matrices) => matrices.as_flattened_mut().zeroize(),
        }
    }
}
