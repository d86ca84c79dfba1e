//! The row of the catalogue.

use super::{Opprf, Plan};
use crate::computed::{self, Gmw};
use vesica_core::PsiParams;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, assumptions,
};

/// The row of `psty19`.
pub const ROW: Protocol = Protocol {
    id: "psty19",
    name: "Circuit PSI by a programmable OPRF, on shares",
    source: "Pinkas, Schneider, Tkachenko, Yanai, EUROCRYPT 2019, with the OPRF of Raghuraman, \
             Rindal, ACM CCS 2022",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_AND_VOLE,
    operations: Operation::OF_INTERSECTION,
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: Fact::ANSWER,
    flights: computed::flights::<Opprf, Gmw>,
    least_flights: None,
    bytes_formula: "OPRF of n_y + hint of 3·n_x values of ℓ bits + half a byte for each of (ℓ − \
                    1)·1.32·n_y gates; ℓ = 40 + ⌈log 1.32·n_y⌉; with a sum of the sender's values \
                    ℓ and their length in the hint; transfers and the gates of the query besides",
    bytes: computed::bytes::<Opprf, Gmw>,
    seconds,
    usable_set_len: None,
    auto: Auto::WhenAlone,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    steps: None,
    addends: Some(computed::addend_runs::<Opprf, Gmw>()),
    compared: |params| Compared::outputs(Plan::new(params).bits),
    parameters: PARAMETERS,
    sender: computed::sender::<Opprf, Gmw>,
    receiver: computed::receiver::<Opprf, Gmw>,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "hash table",
        value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; failure below \
                2^-40",
        source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018",
    },
    Parameter {
        name: "length of what is compared",
        value: "ℓ = λ + ⌈log of the bins⌉ bits, λ = 40",
        source: "Pinkas, Schneider, Tkachenko, Yanai 2019, section 5",
    },
    Parameter {
        name: "learning parity with noise",
        value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
        source: "docs/lpn.md, computed by parameters/lpn",
    },
    Parameter {
        name: "key-value store",
        value: "random band over 3·n_x keys; failure below 2^-40",
        source: "Bienstock, Patel, Seo, Yeo 2023; parameters/okvs",
    },
];

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    0.06 + 0.8e-6 * n_x + 3.2e-6 * n_y
}
