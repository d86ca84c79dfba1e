//! The rows of the catalogue, and what a run costs.

use super::plan::{Mode, Plan, check};
use super::{run_receiver, run_sender};
use vesica_core::{PsiParams, Result, Role};
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions,
    Party, Protocol, Security, Traffic, answer, assumptions, of_set,
};

/// The row of `ot_phasing`.
pub const ROW: Protocol = Protocol {
    id: "ot_phasing",
    name: "OT-Phasing",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §6, with the index of the \
             hash function (Lambæk, ePrint 2016/665); no stash",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| answer::flights(params, 4),
    least_flights: None,
    bytes_formula: "setup + 32·t·β + tags(h·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both learn; \
                    h = 3 and β ≈ 1.32·n_y, or h = 2 and β ≥ 16·n_y where that is less; t = ⌈(σ' − \
                    ⌊log β⌋ + 2)/8⌉; σ' = min(σ, 40 + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉)); ℓ = \
                    40 + ⌈log h·n_x⌉ + ⌈log n_y⌉, ℓ' = 40 + ⌈log n_x⌉ + ⌈log n_y⌉; tags as in rr22",
    bytes: |params| bytes(Mode::Stashless, params),
    seconds: |params| seconds(Mode::Stashless, params),
    usable_set_len: None,
    auto: Auto::Never,
    item_bits: 1..=128,
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
    compared: |params| Compared::masks(Plan::new(Mode::Stashless, params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; or 2-way \
                    where n_y ≪ n_x; failure below 2^-40",
            source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018; docs/protocols/phasing.md",
        },
        CODE,
        TAGS,
    ],
    sender: |params, input| sender(Mode::Stashless, params, input),
    receiver: |params, input| receiver(Mode::Stashless, params, input),
};

/// The row of `ot_phasing_paper`. Between sets of very different sizes it has no stash, and placing
/// fails in one of 56 runs at n_y = 2^8, which both parties see: an event of the receiver's set
/// under the functions of the session.
pub const PAPER_ROW: Protocol = Protocol {
    id: "ot_phasing_paper",
    name: "OT-Phasing, with the paper's table and stash",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §6 and Table 4, with the \
             index of the hash function (Lambæk, ePrint 2016/665)",
    bytes_formula: "setup + 32·t·β + 32·⌈σ'/8⌉·s + tags((h + s)·n_x, ℓ), and tags(min(n_x, n_y), \
                    ℓ') when both learn; h = 3, β = 1.2·n_y and s from Table 4, or h = 2, β = \
                    2.4·n_y and s = 0 where n_y ≥ 2^8 and n_x ≥ 16·n_y; t, σ', ℓ' as in \
                    ot_phasing; ℓ = 40 + ⌈log (h + s)·n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Paper, params),
    seconds: |params| seconds(Mode::Paper, params),
    compared: |params| Compared::masks(Plan::new(Mode::Paper, params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo, 1.2 bins an item, stash of 12, 7, 6, 4, 3, 2 from 2^8, 2^12, \
                    2^13, 2^16, 2^20, 2^24 on",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §8 and Table 4; parameters/hashing",
        },
        Parameter {
            name: "hash table where n_y ≥ 2^8 and n_x ≥ 16·n_y",
            value: "2-way cuckoo, 2.4 bins an item, no stash: placing fails, and ends the run, \
                    once in 56 runs at n_y = 2^8, in 385 at 2^12",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §8.2.2; parameters/hashing",
        },
        CODE,
        TAGS,
    ],
    // The paper's stashes are for one run: they are not known to fail more rarely.
    partitions: Partitions::No,
    sender: |params, input| sender(Mode::Paper, params, input),
    receiver: |params, input| receiver(Mode::Paper, params, input),
    ..ROW
};

const CODE: Parameter = Parameter {
    name: "transfers",
    value: "1 out of 256, Walsh–Hadamard code of 256 bits, distance 128",
    source: "Kolesnikov, Kumaresan, CRYPTO 2013",
};

const TAGS: Parameter = Parameter {
    name: "mask length",
    value: "λ + log of all masks + log n_y bits, λ = 40",
    source: "Pinkas, Schneider, Segev, Zohner 2015, §2.1",
};

/// Exact payload bytes of a run.
pub fn bytes(mode: Mode, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let traffic = Plan::new(mode, params).traffic();
    Traffic {
        receiver_to_sender: traffic.receiver_to_sender + answer::items_bytes(params),
        ..traffic
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(mode: Mode, params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let plan = Plan::new(mode, params);
    let rows = plan.table.bins() as f64 * plan.bin_shape().rows() as f64;
    0.02 + 45e-9 * rows + 95e-9 * plan.masks() as f64
}

fn sender(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    check(mode, &params, params.sender_len(), input.items())?;
    of_set(Role::Sender, params, input, move |params, x, ctx| run_sender(mode, params, x, ctx))
}

fn receiver(mode: Mode, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    check(mode, &params, params.receiver_len(), input.items())?;
    of_set(Role::Receiver, params, input, move |params, y, ctx| run_receiver(mode, params, y, ctx))
}
