//! The row of the catalogue.

use super::masks::tag_shape;
use super::{run_receiver, run_sender};
use vesica_core::{PsiParams, Role};
use vesica_modular::modp::ELEMENT_LEN;
use vesica_party::{
    BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions, Protocol,
    Security, Traffic, answer, of_set,
};

/// The row of `dl_dt10`.
pub const ROW: Protocol = Protocol {
    id: "dl_dt10",
    name: "PSI from one-more Diffie–Hellman, 2048 bits",
    source: "De Cristofaro, Tsudik, Financial Cryptography 2010 (ePrint 2009/491), from one-more \
             gap Diffie–Hellman",
    security: Security::SemiHonest,
    assumption: "one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo \
                 ffdhe2048, of 112-bit security; random oracle",
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| answer::flights(params, 2),
    least_flights: None,
    bytes_formula: "512 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags(n, ℓ) = ⌈(n + \
                    2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes,
    seconds,
    usable_set_len: None,
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    learners: Learners::Any,
    wide_values: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    addends: None,
    compared: |params| Compared::tags(tag_shape(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "group",
            value: "squares modulo the 2048-bit safe prime ffdhe2048 (112-bit security)",
            source: "RFC 7919, Appendix A.1; NIST SP 800-57, Part 1",
        },
        Parameter {
            name: "exponents",
            value: "256 bits",
            source: "RFC 7919, §5.2, which asks for 225; Koshiba, Kurosawa, PKC 2004",
        },
        Parameter {
            name: "hash to group",
            value: "BLAKE3 to 2176 bits, reduced and squared",
            source: "within 2^-128 of uniform",
        },
        Parameter {
            name: "tag length",
            value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
    ],
    sender: |params, input| of_set(Role::Sender, params, input, run_sender),
    receiver: |params, input| of_set(Role::Receiver, params, input, run_receiver),
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let elements = (ELEMENT_LEN * (1 + params.receiver_len())) as u64;
    Traffic {
        sender_to_receiver: elements + tag_shape(params).bytes(),
        receiver_to_sender: elements + answer::bytes(params),
    }
}

/// A power for each item of both sets, all of it at the sender, after the receiver's product.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    0.01 + 0.62e-3 * (n_x + n_y)
}
