//! The rows of the catalogue.

use super::{Mode, run_receiver, run_sender, tags};
use vesica_core::{PsiParams, Result, Role, SemiHonest};
use vesica_oprf::vole;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions,
    Party, Protocol, Security, Traffic, answer, assumptions, of_set, payloads,
};

/// The row of `rr22`.
pub const FAST_ROW: Protocol = Protocol {
    id: "rr22",
    name: "VOLE-PSI, fast",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), semi-honest, fast mode",
    security: Security::SemiHonest,
    assumption: assumptions::VOLE,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| flights(Mode::Fast, params),
    least_flights: None,
    bytes_formula: "VOLE(m) + 32 + 16·m + tags(n_x, ℓ), ⌈n_x/8⌉ when both learn, and n_x payloads \
                    if there are any; m ≈ 1.28·n_y slots of the 3-hash store; tags(n, ℓ) = ⌈(n + \
                    2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Fast, params),
    seconds: |params| seconds(Mode::Fast, params),
    usable_set_len: None,
    auto: Auto::Candidate,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    learners: Learners::Any,
    wide_values: false,
    payloads: true,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    compared: |params| Compared::tags(tags(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "3-hash binary, clustered, dense columns over GF(2^128); failure below 2^-40",
            source: "Raghuraman, Rindal 2022, §4; parameters/okvs",
        },
        FIELD,
        LPN,
        TAGS,
    ],
    sender: |params, input| sender(Mode::Fast, params, input),
    receiver: |params, input| receiver(Mode::Fast, params, input),
};

/// The row of `rr22_low_communication`.
pub const LOW_COMMUNICATION_ROW: Protocol = Protocol {
    id: "rr22_low_communication",
    name: "VOLE-PSI, low communication",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), semi-honest, with the store of \
             Bienstock, Patel, Seo, Yeo, USENIX Security 2023",
    assumption: assumptions::SUBFIELD_VOLE,
    bytes_formula: "VOLE(m) + 32 + ⌈ℓ/16⌉·2·m + tags(n_x, ℓ), ⌈n_x/8⌉ when both learn, and n_x \
                    payloads if there are any; m ≈ 1.04·n_y slots of the random-band store; tags \
                    and ℓ as in rr22",
    flights: |params| flights(Mode::LowCommunication, params),
    bytes: |params| bytes(Mode::LowCommunication, params),
    seconds: |params| seconds(Mode::LowCommunication, params),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "random band of at most 512 bits; failure below 2^-40",
            source: "Bienstock, Patel, Seo, Yeo 2023; parameters/okvs",
        },
        FIELD,
        LPN,
        TAGS,
    ],
    sender: |params, input| sender(Mode::LowCommunication, params, input),
    receiver: |params, input| receiver(Mode::LowCommunication, params, input),
    ..FAST_ROW
};

const FIELD: Parameter = Parameter {
    name: "field",
    value: "GF(2^128); Δ uniform in it",
    source: "Raghuraman, Rindal 2022, §5",
};

const LPN: Parameter = Parameter {
    name: "learning parity with noise",
    value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
    source: "docs/lpn.md, computed by parameters/lpn",
};

const TAGS: Parameter = Parameter {
    name: "tag length",
    value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
    source: "Raghuraman, Rindal 2022, §5",
};

/// Exact payload bytes of a run.
pub fn bytes(mode: Mode, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let oprf = vole::bytes::<SemiHonest>(&mode.plan(params));
    Traffic {
        sender_to_receiver: oprf.sender_to_receiver
            + tags(params).bytes()
            + payloads::bytes(params.query().payload_len(), params.sender_len()),
        receiver_to_sender: oprf.receiver_to_sender + answer::bytes(params),
    }
}

/// Flights of a run: the tags follow the OPRF.
fn flights(mode: Mode, params: &PsiParams) -> u64 {
    answer::flights(params, vole::flights::<SemiHonest>(&mode.plan(params)) + 1)
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(mode: Mode, params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    match mode {
        Mode::Fast => 0.012 + 80e-9 * n_x + 140e-9 * n_y,
        Mode::LowCommunication => 0.013 + 80e-9 * n_x + 290e-9 * n_y,
    }
}

fn sender(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    let payloads = input.payloads().cloned();
    of_set(Role::Sender, params, input, move |params, x, ctx| {
        run_sender(mode, params, x, payloads.as_deref().map(|all| &all[..]), ctx)
    })
}

fn receiver(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Receiver, params, input, move |params, y, ctx| run_receiver(mode, params, y, ctx))
}
