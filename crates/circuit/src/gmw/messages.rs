//! The bytes of gates, comparisons in bins and results.

use super::sizes;
use crate::{Cost, Reveal};
use vesica_core::Role;
use vesica_ot::Traffic;

/// Payload bytes of a computation, without those of the OTs.
pub(super) fn circuit_bytes(cost: &Cost) -> Traffic {
    let open = 16 * cost.count.words;
    let gates = Traffic {
        sender_to_receiver: open + 16 * cost.count.known_blocks,
        receiver_to_sender: open + 16 * cost.count.known_words,
    };
    let bins = cost.bins.iter().map(sizes::bytes);
    let results = cost.results.iter().map(|(bits, to)| reveal_bytes(*bits, *to));
    bins.chain(results).fold(gates, |sum, bytes| sum + bytes)
}

fn reveal_bytes(bits: u64, to: Reveal) -> Traffic {
    let bytes = bits.div_ceil(64) * 8;
    Traffic {
        sender_to_receiver: if to.includes(Role::Receiver) { bytes } else { 0 },
        receiver_to_sender: if to.includes(Role::Sender) { bytes } else { 0 },
    }
}
