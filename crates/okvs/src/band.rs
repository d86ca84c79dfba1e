//! The random-band encoding.
//!
//! A. Bienstock, S. Patel, J. Y. Seo, K. Yeo, "Near-optimal oblivious key-value stores for
//! efficient PSI, PSU and volume-hiding multi-maps", USENIX Security 2023. A row is random within a
//! band of slots that starts at a random place, and zero outside it. Elimination takes the rows in
//! order of their starts. Each row stays within its band, so elimination is short and walks through
//! the slots once.
//!
//! Where we differ from the paper: a band is 512 slots wide for every n, and its bits are stored at
//! their slot number modulo 512. So rows add without shifts, a row is one 512-bit word, and the
//! slots per key are the fewest for that width. With fewer than about 470 keys, rows are random in
//! all slots.

mod buffers;
mod decode;
mod eliminate;
#[cfg(test)]
mod failure;
mod line;
mod order;
mod parameters;
mod rows;
mod table;
mod table_of_many;

pub(crate) use buffers::Buffers;

use crate::encoding::Fill;
use crate::{EncodeError, Okvs, Scratch};
use parameters::Layout;
use vesica_core::{Block, Runs};

/// Slots per group of keys; a group fits into the second-level cache.
const GROUP: usize = 1 << 12;

/// Maximum number of groups that one pass moves keys to.
const MAX_GROUPS: usize = 512;

/// The random-band encoding of n keys: about 1.04 slots per key.
///
/// Linear over GF(2): decoding is a sum of slots. So slots and values may come from any subspace,
/// such as blocks with zero upper bits, if the caller restricts `fill`'s stream to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandOkvs {
    layout: Layout,
}

impl BandOkvs {
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

impl Okvs for BandOkvs {
    fn cluster_count(&self) -> usize {
        self.layout.clusters
    }

    fn cluster_len(&self) -> usize {
        self.layout.slots
    }

    fn group_count(&self) -> usize {
        let in_cluster =
            (self.cluster_len() / GROUP).clamp(1, (MAX_GROUPS / self.layout.clusters).max(1));
        self.layout.clusters * in_cluster
    }

    fn solve(
        &self,
        [keys, values]: [&[Block]; 2],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: Fill<'_>,
    ) -> Result<(), EncodeError> {
        let Buffers { order, system } = &mut scratch.band;
        order::sort(&self.layout, keys, order);
        eliminate::eliminate(&self.layout, keys, values, slots, order, system)?;
        eliminate::substitute_back(slots, system, fill);
        decode::verify(&self.layout, keys, values, slots, order)
    }

    fn sums(&self, keys: &[Block], slots: &[Block], out: &mut [Block], scratch: &mut Scratch) {
        let order = &mut scratch.band.order;
        order::sort(&self.layout, keys, order);
        decode::decode(&self.layout, keys, slots, out, order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_simd::aes::Aes128;

    fn encoded(n: usize, scratch: &mut Scratch) -> (BandOkvs, Vec<Block>, Vec<Block>) {
        let okvs = BandOkvs::new(n);
        let mut keys = vec![Block::ZERO; n];
        let fill = Aes128::new(Block::new(1));
        fill.ctr(1 << 100, &mut keys);
        let mut slots = vec![Block::ZERO; okvs.len()];
        okvs.encode(0, &keys, &keys, &mut slots, scratch, &fill).expect("a solution");
        (okvs, keys, slots)
    }

    #[test]
    fn an_encoding_needs_a_row_per_slot_and_eight_bytes_per_key() {
        let (mut scratch, n) = (Scratch::new(), 100_000);
        let (okvs, ..) = encoded(n, &mut scratch);
        assert_eq!(scratch.band.system.bytes(), 64 * okvs.len() + okvs.len().div_ceil(64) * 8);
        assert!((8 * n..9 * n).contains(&scratch.band.order.bytes()));
    }

    #[test]
    fn released_memory_is_allocated_again_on_demand() {
        let (mut scratch, n) = (Scratch::new(), 10_000);
        let (okvs, keys, slots) = encoded(n, &mut scratch);
        scratch.release();
        assert_eq!(scratch.band.system.bytes() + scratch.band.order.bytes(), 0);
        let mut out = vec![Block::ZERO; n];
        okvs.decode(&keys, &slots, &mut out, &mut scratch);
        assert!(out == keys);
        assert!(encoded(n, &mut scratch).2 == slots);
    }
}
