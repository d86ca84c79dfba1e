//! The row of the catalogue, and what a run costs.

use super::plan::{Plan, check};
use super::{run_receiver, run_sender};
use vesica_core::{PsiParams, Role};
use vesica_ot::coded::kk13;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, answer, assumptions, of_set,
};

/// The row of `psz14`.
pub const ROW: Protocol = Protocol {
    id: "psz14",
    name: "OT-PSI of Pinkas, Schneider and Zohner",
    source: "Pinkas, Schneider, Zohner, USENIX Security 2014; Pinkas, Schneider, Segev, Zohner, \
             USENIX Security 2015, §3.5",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights: |params| answer::flights(params, 4),
    least_flights: None,
    bytes_formula: "setup + 32·t·(2.4·n_y + s) + tags((2 + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') \
                    when both learn; t = ⌈σ'/8⌉; s from Table 4; ℓ = 40 + ⌈log (2 + s)·n_x⌉ + ⌈log \
                    (n_y·max_β + s·n_x)⌉; σ', ℓ' and tags as in ot_phasing",
    bytes,
    seconds,
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
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |params| Compared::masks(Plan::new(params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "2-way cuckoo, 2.4 bins an item, stash of 12, 7, 6, 4, 3, 2 from 2^8, 2^12, \
                    2^13, 2^16, 2^20, 2^24 on",
            source: "Pinkas, Schneider, Segev, Zohner 2015, Table 4; parameters/hashing",
        },
        Parameter {
            name: "places in a bin",
            value: "the fewest that a bin passes with probability below 2^-40",
            source: "binomial tail and union bound, as Pinkas, Schneider, Segev, Zohner 2015, §7.1",
        },
        Parameter {
            name: "transfers",
            value: "1 out of 256, Walsh–Hadamard code of 256 bits, distance 128",
            source: "Kolesnikov, Kumaresan, CRYPTO 2013",
        },
    ],
    sender: |params, input| {
        check(&params, params.sender_len(), input.items())?;
        of_set(Role::Sender, params, input, run_sender)
    },
    receiver: |params, input| {
        check(&params, params.receiver_len(), input.items())?;
        of_set(Role::Receiver, params, input, run_receiver)
    },
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = Plan::new(params);
    let extensions = plan.extensions().map(kk13::extend_bytes);
    let transfers = extensions.fold(kk13::setup_bytes(), |sum, extension| sum + extension);
    Traffic {
        sender_to_receiver: transfers.sender_to_receiver + plan.tags().bytes(),
        receiver_to_sender: transfers.receiver_to_sender + answer::items_bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let plan = Plan::new(params);
    let rows = plan.table.bins() as f64 * plan.shape().rows() as f64;
    0.02 + 40e-9 * rows + 120e-9 * (plan.masks() + plan.own_masks()) as f64
}
