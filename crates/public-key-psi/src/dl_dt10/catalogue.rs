//! The rows of the catalogue.

use super::masks::tag_shape;
use super::{run_receiver, run_sender};
use vesica_core::{PsiParams, Result, Role};
use vesica_modular::modp::Prime;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions,
    Party, Protocol, Security, Traffic, answer, of_set,
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
    bytes: |params| bytes(Prime::Bits2048, params),
    seconds: |params| seconds(Prime::Bits2048, params),
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
        TAGS,
    ],
    sender: |params, input| sender(Prime::Bits2048, params, input),
    receiver: |params, input| receiver(Prime::Bits2048, params, input),
};

/// The row of `dl_dt10_3072`.
pub const ROW_3072: Protocol = Protocol {
    id: "dl_dt10_3072",
    name: "PSI from one-more Diffie–Hellman, 3072 bits",
    assumption: "one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo \
                 ffdhe3072; random oracle",
    bytes_formula: "768 + 768·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags and ℓ as in \
                    dl_dt10",
    bytes: |params| bytes(Prime::Bits3072, params),
    seconds: |params| seconds(Prime::Bits3072, params),
    parameters: &[
        Parameter {
            name: "group",
            value: "squares modulo the 3072-bit safe prime ffdhe3072 (128-bit security)",
            source: "RFC 7919, Appendix A.2; NIST SP 800-57, Part 1",
        },
        Parameter {
            name: "exponents",
            value: "288 bits",
            source: "RFC 7919, §5.2, which asks for 275; Koshiba, Kurosawa, PKC 2004",
        },
        Parameter {
            name: "hash to group",
            value: "BLAKE3 to 3200 bits, reduced and squared",
            source: "within 2^-128 of uniform",
        },
        TAGS,
    ],
    sender: |params, input| sender(Prime::Bits3072, params, input),
    receiver: |params, input| receiver(Prime::Bits3072, params, input),
    ..ROW
};

const TAGS: Parameter = Parameter {
    name: "tag length",
    value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
    source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
};

fn sender(prime: Prime, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Sender, params, input, move |params, x, ctx| run_sender(prime, params, x, ctx))
}

fn receiver(prime: Prime, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Receiver, params, input, move |params, y, ctx| run_receiver(prime, params, y, ctx))
}

/// Exact payload bytes of a run.
pub fn bytes(prime: Prime, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let elements = (prime.element_len() * (1 + params.receiver_len())) as u64;
    Traffic {
        sender_to_receiver: elements + tag_shape(params).bytes(),
        receiver_to_sender: elements + answer::bytes(params),
    }
}

/// A power for each item of both sets, all of it at the sender, after the receiver's product.
fn seconds(prime: Prime, params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    let of_a_power = match prime {
        Prime::Bits2048 => 0.62e-3,
        Prime::Bits3072 => 1.6e-3,
    };
    0.01 + of_a_power * (n_x + n_y)
}
