//! The row of the catalogue, and what a run costs.

use super::plan::{Plan, SEED_LEN, TAG_BITS, usable_set_len};
use super::{Receiver, Sender, proofs};
use vesica_core::elias_fano::Shape;
use vesica_core::{Block, Malicious, PsiParams};
use vesica_ot::silent::cot;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, answer, assumptions,
};

/// The row of `gbf_malicious`.
pub const ROW: Protocol = Protocol {
    id: "gbf_malicious",
    name: "Bloom filter with cut and choose, malicious",
    source: "Rindal, Rosulek, EUROCRYPT 2017 (ePrint 2016/746), after Dong, Chen, Wen, ACM CCS \
             2013",
    security: Security::Malicious,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights,
    least_flights: None,
    bytes_formula: "COT(2^b·N) + 128 + 2^b·(⌈N/8⌉ + ⌈c/8⌉ + ⌈m·⌈log N⌉/8⌉ + 16) + tags(n_x, 128), \
                    and p·n_x when both learn; 2^b blocks of N transfers, 2^b·N ≈ 250·n_y from a \
                    thousand items on, of which c are opened and m = N − c used; tags(n, ℓ) = ⌈(n \
                    + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; p = ⌈(40 + ⌈log n_x⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: Some(usable_set_len),
    auto: Auto::Never,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |_| Compared::outputs(TAG_BITS),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = 96; indices count once",
            source: "Rindal, Rosulek 2017, §5; parameters/gbf",
        },
        Parameter {
            name: "cut and choose",
            value: "N, c, ones and threshold from n_y; each tail below 2^-40, an item outside is \
                    tested with probability below 2^-128",
            source: "Rindal, Rosulek 2017, §5; parameters/gbf",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
        Parameter { name: "output length", value: "128 bits", source: "Rindal, Rosulek 2017, §4" },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input)?)),
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = Plan::new(params);
    let (sizes, blocks) = (plan.sizes, plan.sizes.blocks());
    let transfers = cot::bytes::<Malicious>(blocks * sizes.transfers);
    let tags = Shape::new(params.sender_len() as u64, TAG_BITS).bytes();
    let opening = sizes.opened.div_ceil(8) + Block::LEN;
    let of_block = plan.corrections_len() + opening + plan.places_len(sizes.slots);
    Traffic {
        sender_to_receiver: transfers.sender_to_receiver + 3 * SEED_LEN as u64 + tags,
        receiver_to_sender: transfers.receiver_to_sender
            + (SEED_LEN + blocks * of_block) as u64
            + proofs::bytes(params),
    }
}

/// Flights of a run: after the transfers r, C, π with what it follows, and the tags.
fn flights(params: &PsiParams) -> u64 {
    if params.has_empty_set() {
        return 0;
    }
    let sizes = Plan::new(params).sizes;
    let transfers = cot::flights::<Malicious>(sizes.blocks() * sizes.transfers);
    answer::flights(params, transfers.next_multiple_of(2) + 3)
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    0.01 + 2.5e-6 * n_x + 12e-6 * n_y
}
