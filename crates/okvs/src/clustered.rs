//! The clustered 3-hash encoding.
//!
//! S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM CCS 2022,
//! sections 4 and 5. A row has three ones in the sparse slots of its cluster, and an element of
//! GF(2^128) in each dense slot. Encoding peels the sparse part, like cuckoo insertions in reverse;
//! it solves the rows that cannot be peeled with the dense slots, and substitutes back.
//!
//! Where we differ from the paper:
//! * The dense part of the row of key x is (x, x^2, x^4, …) instead of (x, x^2, x^3, …): a Moore
//!   matrix instead of a Vandermonde matrix. Peeling adds rows over GF(2) only, and for such sums
//!   the dense part keeps this form. It is singular if and only if the sums of the keys are
//!   linearly dependent over GF(2), which has a probability of about 2^-128 for random keys.
//! * Rows that cannot be peeled go through elimination over GF(2) before the dense slots are used.
//!   So only true dependencies of the sparse rows need dense slots.
//! * The number of slots per cluster follows from its binomial load, with a bound for all clusters
//!   together.

mod dense;
#[cfg(test)]
mod failure;
mod line;
mod parameters;
mod peel;
mod residue;
mod table;
mod table_of_many;

use crate::encoding::Fill;
use crate::{EncodeError, Okvs, Scratch};
use dense::{BATCH, Dense};
use parameters::Layout;
use vesica_core::{Block, Runs};
use vesica_simd::sparse;

pub(crate) use peel::Buffers;

/// The clustered 3-hash encoding of n keys: about 1.28 slots per key, decoded with three look-ups.
///
/// Linear over GF(2^128): decoding is a sum of slots times coefficients that depend only on the
/// key. The coefficients of the dense slots are arbitrary field elements, so slots and values need
/// all of GF(2^128); for shortened values use [`BandOkvs`](crate::BandOkvs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusteredOkvs {
    layout: Layout,
}

impl ClusteredOkvs {
    /// The store for `n` keys. The failure probability of [`EncodeError`] holds up to 2^32 keys.
    pub fn new(n: usize) -> Self {
        Self::of_runs(n, Runs::ONE)
    }

    /// The store for `n` keys in each of `runs` that make one result. With two runs or more it has
    /// somewhat more slots, so that [`EncodeError`] has probability 2^-52 in each of them.
    pub fn of_runs(n: usize, runs: Runs) -> Self {
        Self { layout: Layout::new(n, runs) }
    }
}

impl Okvs for ClusteredOkvs {
    fn cluster_count(&self) -> usize {
        self.layout.clusters
    }

    fn cluster_len(&self) -> usize {
        self.layout.sparse + self.layout.dense
    }

    fn solve(
        &self,
        [keys, values]: [&[Block]; 2],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: Fill<'_>,
    ) -> Result<(), EncodeError> {
        if keys.len() > peel::MAX {
            return Err(EncodeError::Overfull);
        }
        fill.slots(slots, |_| true);
        let (sparse, dense) = slots.split_at_mut(self.layout.sparse);
        let buffers = &mut scratch.clustered;
        peel::peel(keys, sparse.len(), buffers);
        residue::solve(keys, values, sparse, dense, buffers)?;
        let dense = Dense::new(dense, keys.len());
        peel::set_targets(keys, values, &dense, buffers);
        peel::substitute_back(sparse, buffers);
        if peel::targets_are_met(keys, sparse, buffers) {
            Ok(())
        } else {
            Err(EncodeError::Unsolvable)
        }
    }

    fn sums(&self, keys: &[Block], slots: &[Block], out: &mut [Block], _: &mut Scratch) {
        let (sparse, dense) = slots.split_at(self.layout.sparse);
        decode(keys, sparse, &Dense::new(dense, keys.len()), out);
    }
}

fn decode(keys: &[Block], sparse: &[Block], dense: &Dense<'_>, out: &mut [Block]) {
    for (keys, out) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        if sparse.is_empty() {
            out.fill(Block::ZERO);
        } else {
            sparse::sums(keys, sparse, out);
        }
        dense.add_to(out, keys);
    }
}
