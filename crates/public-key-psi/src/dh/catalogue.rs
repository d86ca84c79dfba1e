//! The row of the catalogue.

use super::{POINT_LEN, run_receiver, run_sender};
use vesica_core::{Learns, PsiParams, Role};
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, answer, of_set,
};

/// The row of `dh`.
pub const ROW: Protocol = Protocol {
    id: "dh",
    name: "Diffie–Hellman PSI",
    source: "Meadows, IEEE S&P 1986; as in Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, \
             §3.3",
    security: Security::SemiHonest,
    assumption: "decisional Diffie–Hellman in Ristretto255; random oracle",
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights,
    least_flights: None,
    bytes_formula: "32·n_x + 32·n_y + ℓ·n_y, and ⌈n_x/8⌉ when both learn; ℓ = ⌈(40 + ⌈log n_x⌉ + \
                    ⌈log n_y⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: None,
    auto: Auto::Candidate,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    compared: |params| Compared::tags(8 * params.tag_len_bytes() as u32),
    parameters: &[
        Parameter {
            name: "group",
            value: "Ristretto255 (order about 2^252, 126-bit security)",
            source: "RFC 9496",
        },
        Parameter {
            name: "hash to group",
            value: "ristretto255_XMD:SHA-512_R255MAP_RO_",
            source: "RFC 9380, Appendix B",
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
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    Traffic {
        sender_to_receiver: POINT_LEN as u64 * n_x + params.tag_len_bytes() as u64 * n_y,
        receiver_to_sender: POINT_LEN as u64 * n_y + answer::bytes(params),
    }
}

/// Flights of a run, also where a set is empty: both send their points at the same time, tags
/// answer those of the receiver, bits those of the sender.
fn flights(params: &PsiParams) -> u64 {
    let has_points = params.sender_len() > 0;
    let tags = if params.receiver_len() > 0 { 2 } else { u64::from(has_points) };
    tags + u64::from(has_points && params.learns() == Learns::Both)
}

/// One scalar multiplication for each item of both sets, side by side at both parties.
fn seconds(params: &PsiParams) -> f64 {
    0.002 + 6.2e-6 * (params.sender_len() as f64 + params.receiver_len() as f64)
}
