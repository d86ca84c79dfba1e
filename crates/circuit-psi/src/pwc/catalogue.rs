//! The rows of the catalogue.

use super::Pwc;
use crate::computed::{self, Gmw, Yao};
use vesica_hashing::ShortItems;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, assumptions,
};

/// The row of `pwc`.
pub const ROW: Protocol = Protocol {
    id: "pwc",
    name: "PWC: pairwise comparisons, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 4 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: Fact::ANSWER,
    flights: computed::flights::<Pwc, Yao>,
    least_flights: Some(computed::least_flights::<Pwc, Yao>),
    bytes_formula: "32 * (sigma - 1) * n_x * n_y for the gates, fewer when both learn; inputs and \
                    transfers besides",
    bytes: computed::bytes::<Pwc, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Pwc, Yao>(params),
    usable_set_len: None,
    auto: Auto::Never,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: true,
    pairwise: Pairwise::Early,
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |params| Compared::items(ShortItems::new(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Pwc, Yao>,
    receiver: computed::receiver::<Pwc, Yao>,
};

/// The row of `pwc_gmw`, which makes all comparisons: the early reveal would save none of the
/// transfers.
pub const GMW_ROW: Protocol = Protocol {
    id: "pwc_gmw",
    name: "PWC: pairwise comparisons, on shares",
    flights: computed::flights::<Pwc, Gmw>,
    least_flights: None,
    bytes_formula: "4 bits for each of (sigma - 1) * n_x * n_y gates; transfers besides",
    bytes: computed::bytes::<Pwc, Gmw>,
    seconds: |params| 0.02 + 5.0e-8 * computed::gates::<Pwc, Gmw>(params),
    bytes_depend_on_result: false,
    pairwise: Pairwise::AtEnd,
    sender: computed::sender::<Pwc, Gmw>,
    receiver: computed::receiver::<Pwc, Gmw>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "length of compared items",
        value: "sigma, at most 40 + log n_x + log max(n_x, n_y) bits; longer ones are hashed",
        source: "Phasing, USENIX Security 2015, section 8",
    },
    Parameter {
        name: "comparisons",
        value: "n_x * n_y, at most 2^28",
        source: "NDSS 2012, section 4",
    },
];
