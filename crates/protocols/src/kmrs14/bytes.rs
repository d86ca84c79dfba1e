//! What crosses the wire.

use super::helper::{DIGEST_LEN, answer_parts, relayed_parts};
use super::outer::inner_format;
use super::party::SEAL_LEN;
use super::rows::Variant;
use super::slot::Slot;
use super::spec::Spec;

/// Bytes of the number of labels.
const SIZE_LEN: u64 = 8;

impl Spec {
    /// Exact bytes of all slots that each party puts, and gets, after the parties have met: of parties that announced
    /// `scales` and have `items` different items each. Hellos, shares and requests come on top: some kilobytes.
    ///
    /// # Panics
    /// For scales that the spec does not allow.
    pub fn bytes(&self, scales: &[u32], items: &[u64]) -> Vec<(u64, u64)> {
        let formats = self.formats(scales).expect("scales that the spec allows");
        let digest = DIGEST_LEN as u64;
        let lens: Vec<u64> = items.iter().map(|items| self.list_len(*items)).collect();
        let list = |party: usize| formats[party].list_bytes(lens[party]);
        let answer = |party: usize| lens[party].div_ceil(8);
        let sizes = SIZE_LEN * (items.len() as u64 - 1);
        if self.variant.hides_size() {
            let seal = SEAL_LEN as u64;
            let relayed = list(1) + seal * u64::from(relayed_parts(formats[1], lens[1]));
            let found = answer(1) + seal * u64::from(answer_parts(lens[1]));
            let first =
                (list(0) + SIZE_LEN + found, sizes + list(0) + relayed + Slot::PLACE_LEN * lens[0]);
            return vec![first, (digest + relayed + SIZE_LEN + 1, 2 * digest + found + sizes)];
        }
        let one = |party: usize| {
            let is_told = u64::from(self.parties[party].receives);
            let (mut put, mut got) = (list(party) + SIZE_LEN, is_told * answer(party) + sizes);
            if self.variant == Variant::Fair {
                put += inner_format(self, &formats, party).list_bytes(items[party]) + 2 * digest;
                got += 2 * digest + digest + digest;
            }
            (put, got)
        };
        (0..items.len()).map(one).collect()
    }
}
