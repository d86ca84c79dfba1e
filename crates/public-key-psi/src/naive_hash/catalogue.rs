//! The row of the catalogue.

use super::{SALT_LEN, run_receiver, run_sender};
use vesica_core::{Learns, PsiParams, Role};
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, answer, of_set,
};

/// The row of `naive_hash`.
pub const ROW: Protocol = Protocol {
    id: "naive_hash",
    name: "salted hashing (insecure baseline)",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §3.1",
    security: Security::Insecure,
    assumption: "none holds: the receiver can test guesses at the sender's items",
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: &[Fact::Guesses],
    flights,
    least_flights: None,
    bytes_formula: "32 + ℓ·n_x, and ⌈n_x/8⌉ when both learn; ℓ = ⌈(40 + ⌈log n_x⌉ + ⌈log n_y⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: None,
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
    compared: |params| Compared::tags(8 * params.tag_len_bytes() as u32),
    parameters: &[
        Parameter {
            name: "salt",
            value: "256 bits",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
        Parameter {
            name: "tag length",
            value: "λ + log n_x + log n_y bits, λ = 40, rounded up to bytes",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
    ],
    sender: |params, input| of_set(Role::Sender, params, input, run_sender),
    receiver: |params, input| of_set(Role::Receiver, params, input, run_receiver),
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    let n_x = params.sender_len() as u64;
    Traffic {
        sender_to_receiver: params.tag_len_bytes() as u64 * n_x,
        receiver_to_sender: SALT_LEN as u64 + answer::bytes(params),
    }
}

/// Flights of a run: the key, also where a set is empty; tags and bits where the sender has items.
fn flights(params: &PsiParams) -> u64 {
    match (params.sender_len(), params.learns()) {
        (0, _) => 1,
        (_, Learns::Receiver) => 2,
        (_, Learns::Both) => 3,
    }
}

/// One hash an item, and a look-up for each of the receiver's.
fn seconds(params: &PsiParams) -> f64 {
    0.001 + 1.2e-7 * params.sender_len() as f64 + 1.2e-7 * params.receiver_len() as f64
}
