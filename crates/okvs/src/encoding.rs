//! What free slots are filled with, and how an encoding fails.

use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Why the encoding of a cluster failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Two keys are equal.
    #[error("two keys are equal")]
    DuplicateKey,
    /// The cluster has more keys than its slots can hold. For random keys, in the number that the
    /// store is for, the probability is part of [`Unsolvable`](EncodeError::Unsolvable)'s.
    #[error("more keys than slots")]
    Overfull,
    /// The equations of the keys have no solution. For random keys, the probability that any
    /// cluster fails with this error or with [`Overfull`](EncodeError::Overfull) is below 2^-40, or
    /// 2^-52 in a store of several runs.
    #[error("the equations of the keys have no solution")]
    Unsolvable,
}

/// The stream that fills the free slots of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    pub(crate) cluster: usize,
    pub(crate) cipher: &'a Aes128,
}

impl Fill<'_> {
    /// Writes the cluster's part of the stream to `out`, from block `from` on.
    pub(crate) fn stream(&self, from: usize, out: &mut [Block]) {
        self.cipher.ctr(((self.cluster as u128) << 64) + from as u128, out);
    }

    /// Fills the `free` ones of `slots`.
    pub(crate) fn slots(&self, slots: &mut [Block], free: impl Fn(usize) -> bool) {
        let mut stream = [Block::ZERO; 64];
        for (i, slots) in slots.chunks_mut(stream.len()).enumerate() {
            let from = i * stream.len();
            self.stream(from, &mut stream);
            for (j, slot) in slots.iter_mut().enumerate() {
                if free(from + j) {
                    *slot = stream[j];
                }
            }
        }
    }
}
