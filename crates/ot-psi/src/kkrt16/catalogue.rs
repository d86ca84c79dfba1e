//! The row of the catalogue.

use super::{check_sizes, comparisons, run_receiver, run_sender, table, tags};
use vesica_core::{PsiParams, Role};
use vesica_oprf::kkrt;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, answer, assumptions, of_set,
};

/// The row of `kkrt16`.
pub const ROW: Protocol = Protocol {
    id: "kkrt16",
    name: "PSI from a batched OPRF",
    source: "Kolesnikov, Kumaresan, Rosulek, Trieu, ACM CCS 2016 (ePrint 2016/799), without a \
             stash",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| answer::flights(params, 4),
    least_flights: None,
    bytes_formula: "setup(W) + W/8·β + tags(3·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both \
                    learn; β ≈ 1.32·n_y; W = 400 to 464 by n_x; setup(W) ≈ 10,000 + 8·W; ℓ = 40 + \
                    ⌈log 3·n_x⌉ + ⌈log n_y⌉, ℓ' = 40 + ⌈log n_x⌉ + ⌈log n_y⌉; tags as in rr22",
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
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    compared: |params| Compared::tags(tags(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; failure \
                    below 2^-40",
            source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018",
        },
        Parameter {
            name: "code",
            value: "pseudorandom, 400 to 464 bits by n_x, up to 488 in one of many runs; all pairs \
                    compared differ in at least 128 places, but with probability 2^-40",
            source: "Kolesnikov, Kumaresan, Rosulek, Trieu 2016; parameters/kkrt",
        },
        Parameter {
            name: "tag length",
            value: "λ + ⌈log 3·n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
            source: "Kolesnikov, Kumaresan, Rosulek, Trieu 2016",
        },
    ],
    sender: |params, input| {
        let party = of_set(Role::Sender, params, input, run_sender)?;
        check_sizes(&params).map(|()| party)
    },
    receiver: |params, input| {
        let party = of_set(Role::Receiver, params, input, run_receiver)?;
        check_sizes(&params).map(|()| party)
    },
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let oprf = kkrt::bytes(table(params).bins(), comparisons(params));
    Traffic {
        sender_to_receiver: oprf.sender_to_receiver + tags(params).bytes(),
        receiver_to_sender: oprf.receiver_to_sender + answer::items_bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    0.006 + 220e-9 * params.sender_len() as f64 + 160e-9 * params.receiver_len() as f64
}
