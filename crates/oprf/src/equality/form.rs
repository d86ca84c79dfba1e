//! The forms of the comparison, and the length of the outputs that it compares.

use vesica_core::Runs;
use vesica_core::params::ceil_log2;

/// The OPRF underneath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// From VOLE and a key-value store, [`vole`](crate::vole), in low-communication mode: fewest
    /// bytes.
    Vole,
    /// The same in fast mode: about 12 bytes per place more, and less computation.
    VoleFast,
    /// From OT extension, [`kkrt`](crate::kkrt), as in the paper.
    Kkrt,
}

/// ℓ, the length in bits of the outputs that are compared.
pub(super) fn output_bits(len: usize, runs: Runs) -> u32 {
    // One bit more leaves half of the failure probability to the protocol that provides the values.
    runs.statistical_bits() + 1 + ceil_log2(len.max(1) as u64)
}
