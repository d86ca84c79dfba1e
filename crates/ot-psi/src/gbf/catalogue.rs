//! The rows of the catalogue, and what a run costs.

use super::plan::{Mode, Plan, SEED_LEN};
use super::{run_receiver, run_sender, transfers};
use vesica_core::{PsiParams, Result, Role};
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions,
    Party, Protocol, Security, Traffic, answer, assumptions, of_set,
};

/// The row of `gbf`.
pub const SILENT_ROW: Protocol = Protocol {
    id: "gbf",
    name: "garbled Bloom filter, silent transfers",
    source: "Dong, Chen, Wen, ACM CCS 2013, §4, with distinct indices",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| flights(Mode::Silent, params),
    least_flights: None,
    bytes_formula: "COT(m) + 32 + ⌈m/8⌉ + m·⌈(40 + ⌈log n_y⌉)/8⌉, and tags(min(n_x, n_y), ℓ) when \
                    both learn; m ≈ 1.5·(40 + ⌈log n_x⌉)·max(n_x, n_y) + 1024 slots; tags(n, ℓ) = \
                    ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Silent, params),
    seconds: |params| seconds(Mode::Silent, params),
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
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    compared: |params| compared(Mode::Silent, params),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = λ + ⌈log n_x⌉, λ = 40",
            source: "Dong, Chen, Wen 2013, Theorems 1 and 4; parameters/gbf",
        },
        Parameter {
            name: "slots",
            value: "1.5·k·max(n_x, n_y) + 1024, in blocks of at most 2^17",
            source: "parameters/gbf",
        },
        Parameter {
            name: "string length",
            value: "λ + ⌈log n_y⌉ bits, in whole bytes",
            source: "Dong, Chen, Wen 2013, Theorem 2",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
    ],
    sender: |params, input| sender(Mode::Silent, params, input),
    receiver: |params, input| receiver(Mode::Silent, params, input),
};

/// The row of `gbf_iknp`.
pub const IKNP_ROW: Protocol = Protocol {
    id: "gbf_iknp",
    name: "garbled Bloom filter, IKNP transfers",
    source: "Dong, Chen, Wen, ACM CCS 2013, §4, with distinct indices; Ishai, Kilian, Nissim, \
             Petrank, CRYPTO 2003",
    assumption: assumptions::TRANSFERS,
    flights: |params| flights(Mode::Iknp, params),
    bytes_formula: "IKNP(m) + 32 + ⌈m/8⌉ + m·⌈(40 + ⌈log n_y⌉)/8⌉, and tags(min(n_x, n_y), ℓ) when \
                    both learn; IKNP(m) = 127·m bits and a setup; m, tags and ℓ as in gbf",
    bytes: |params| bytes(Mode::Iknp, params),
    seconds: |params| seconds(Mode::Iknp, params),
    compared: |params| compared(Mode::Iknp, params),
    parameters: &[
        SILENT_ROW.parameters[0],
        SILENT_ROW.parameters[1],
        SILENT_ROW.parameters[2],
        Parameter {
            name: "transfers",
            value: "IKNP: SoftSpoken with one bit, 128 base transfers",
            source: "Asharov, Lindell, Schneider, Zohner, ACM CCS 2013; Roy, CRYPTO 2022",
        },
    ],
    sender: |params, input| sender(Mode::Iknp, params, input),
    receiver: |params, input| receiver(Mode::Iknp, params, input),
    ..SILENT_ROW
};

/// The row of `gbf_paper`.
pub const PAPER_ROW: Protocol = Protocol {
    id: "gbf_paper",
    name: "garbled Bloom filter, parameters of the paper",
    bytes_formula: "IKNP(m) + 32 + ⌈m/8⌉ + 16·m, and tags(min(n_x, n_y), ℓ) when both learn; m ≈ \
                    1.44·128·max(n_x, n_y) slots; IKNP(m) = 127·m bits and a setup; tags and ℓ as \
                    in gbf",
    flights: |params| flights(Mode::Paper, params),
    bytes: |params| bytes(Mode::Paper, params),
    seconds: |params| seconds(Mode::Paper, params),
    compared: |params| compared(Mode::Paper, params),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = κ = 128",
            source: "Dong, Chen, Wen 2013, §4.3",
        },
        Parameter {
            name: "slots",
            value: "1.4427·k·max(n_x, n_y), in blocks of at most 2^17",
            source: "Dong, Chen, Wen 2013, §6.2",
        },
        Parameter {
            name: "string length",
            value: "κ = 128 bits",
            source: "Dong, Chen, Wen 2013, §4.3",
        },
        IKNP_ROW.parameters[3],
    ],
    sender: |params, input| sender(Mode::Paper, params, input),
    receiver: |params, input| receiver(Mode::Paper, params, input),
    // Its lengths are those of the paper, for a run that makes a result alone.
    partitions: Partitions::No,
    ..IKNP_ROW
};

/// Exact payload bytes of a run.
pub fn bytes(mode: Mode, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = Plan::new(mode, params);
    let transfers = transfers::bytes(&plan);
    let blocks = plan.shape.blocks();
    Traffic {
        sender_to_receiver: transfers.sender_to_receiver + (blocks * plan.strings_len()) as u64,
        receiver_to_sender: transfers.receiver_to_sender
            + SEED_LEN as u64
            + (blocks * plan.corrections_len()) as u64
            + answer::items_bytes(params),
    }
}

/// Flights of a run: the strings follow the corrections.
fn flights(mode: Mode, params: &PsiParams) -> u64 {
    if params.has_empty_set() {
        return 0;
    }
    answer::flights(params, transfers::flights(&Plan::new(mode, params)) + 1)
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(mode: Mode, params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let slots = Plan::new(mode, params).shape.len() as f64;
    match mode {
        Mode::Silent => 0.012 + 27e-9 * slots,
        Mode::Iknp => 0.008 + 21e-9 * slots,
        Mode::Paper => 0.008 + 24e-9 * slots,
    }
}

/// The length of the strings.
fn compared(mode: Mode, params: &PsiParams) -> Compared {
    Compared::strings(8 * Plan::new(mode, params).string_len as u32)
}

fn sender(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Sender, params, input, move |params, x, ctx| run_sender(mode, params, x, ctx))
}

fn receiver(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    of_set(Role::Receiver, params, input, move |params, y, ctx| run_receiver(mode, params, y, ctx))
}
