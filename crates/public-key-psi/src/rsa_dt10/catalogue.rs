//! The rows of the catalogue.

use super::blinding::tag_shape;
use super::{run_receiver, run_sender};
use vesica_core::{PsiParams, Result, Role};
use vesica_modular::rsa::KeySize;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions,
    Party, Protocol, Security, Traffic, answer, of_set,
};

/// The row of `rsa_dt10`.
pub const ROW: Protocol = Protocol {
    id: "rsa_dt10",
    name: "Blind-RSA PSI, 2048 bits",
    source: "De Cristofaro, Tsudik, Financial Cryptography 2010 (ePrint 2009/491), from blind RSA \
             signatures",
    security: Security::SemiHonest,
    assumption: "one-more RSA inversion for 2048 bits, of 112-bit security; random oracle",
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| answer::flights(params, 3),
    least_flights: None,
    bytes_formula: "260 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags(n, ℓ) = ⌈(n + \
                    2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(KeySize::Bits2048, params),
    seconds: |params| seconds(KeySize::Bits2048, params),
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
            name: "modulus",
            value: "2048 bits, fresh for every run (112-bit security)",
            source: "NIST SP 800-57, Part 1",
        },
        EXPONENT,
        FULL_DOMAIN_HASH,
        TAGS,
    ],
    sender: |params, input| sender(KeySize::Bits2048, params, input),
    receiver: |params, input| receiver(KeySize::Bits2048, params, input),
};

/// The row of `rsa_dt10_3072`.
pub const ROW_3072: Protocol = Protocol {
    id: "rsa_dt10_3072",
    name: "Blind-RSA PSI, 3072 bits",
    assumption: "one-more RSA inversion for 3072 bits; random oracle",
    bytes_formula: "388 + 768·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags and ℓ as in \
                    rsa_dt10",
    bytes: |params| bytes(KeySize::Bits3072, params),
    seconds: |params| seconds(KeySize::Bits3072, params),
    parameters: &[
        Parameter {
            name: "modulus",
            value: "3072 bits, fresh for every run (128-bit security)",
            source: "NIST SP 800-57, Part 1",
        },
        EXPONENT,
        FULL_DOMAIN_HASH,
        TAGS,
    ],
    sender: |params, input| sender(KeySize::Bits3072, params, input),
    receiver: |params, input| receiver(KeySize::Bits3072, params, input),
    ..ROW
};

const EXPONENT: Parameter = Parameter {
    name: "public exponent",
    value: "65537",
    source: "RFC 8017; NIST FIPS 186-5, A.1.1",
};

const FULL_DOMAIN_HASH: Parameter = Parameter {
    name: "full-domain hash",
    value: "BLAKE3 to 128 bits more than the modulus has, reduced",
    source: "Bellare, Rogaway, ACM CCS 1993; within 2^-128 of uniform",
};

const TAGS: Parameter = Parameter {
    name: "tag length",
    value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
    source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
};

/// Exact payload bytes of a run.
pub fn bytes(size: KeySize, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let elements = (size.len_bytes() * params.receiver_len()) as u64;
    Traffic {
        sender_to_receiver: size.public_key_len() as u64 + elements + tag_shape(params).bytes(),
        receiver_to_sender: elements + answer::bytes(params),
    }
}

/// The key, and a root for each item of both sets: all of it at the sender.
fn seconds(size: KeySize, params: &PsiParams) -> f64 {
    let roots = params.sender_len() as f64 + params.receiver_len() as f64;
    match size {
        KeySize::Bits2048 => 0.05 + 1.3e-3 * roots,
        KeySize::Bits3072 => 0.26 + 4.15e-3 * roots,
    }
}

fn sender(size: KeySize, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Sender, params, input, move |params, x, ctx| run_sender(size, params, x, ctx))
}

fn receiver(size: KeySize, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Receiver, params, input, move |params, y, ctx| run_receiver(size, params, y, ctx))
}
