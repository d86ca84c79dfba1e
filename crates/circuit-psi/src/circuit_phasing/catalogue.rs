//! The rows of the catalogue.

use super::Phasing;
use crate::computed::{self, Gmw, GmwIknp, Yao};
use vesica_hashing::ShortItems;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, assumptions,
};

/// The row of `circuit_phasing`.
pub const ROW: Protocol = Protocol {
    id: "circuit_phasing",
    name: "Circuit-Phasing, on shares",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, section 5",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: Fact::ANSWER,
    flights: computed::flights::<Phasing, Gmw>,
    least_flights: None,
    bytes_formula: "for each of beta * max_beta + s * n_x comparisons of w bits: about (16/4 * w - \
                    w/4) / 8 bytes of tables and 1/2 byte for each gate that joins w/4 digits; \
                    transfers besides",
    bytes: computed::bytes::<Phasing, Gmw>,
    seconds: |params| 0.05 + 1.6e-8 * computed::gates::<Phasing, Yao>(params),
    usable_set_len: None,
    // The same circuit takes less of everything after the OPPRF of `psty19`.
    auto: Auto::Never,
    item_bits: 1..=128,
    reserves_zero: true,
    bounds: BoundsKept::ByComputation,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |params| Compared::items(ShortItems::new(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Phasing, Gmw>,
    receiver: computed::receiver::<Phasing, Gmw>,
};

/// The row of `circuit_phasing_paper`.
pub const PAPER_ROW: Protocol = Protocol {
    id: "circuit_phasing_paper",
    name: "Circuit-Phasing, on shares, by gates alone",
    flights: computed::flights::<Phasing<true>, Gmw>,
    bytes_formula: "(beta * max_beta * (sigma' - 1) + s * n_x * (sigma - 1)) / 2, four bits for \
                    each gate; inputs and transfers besides",
    bytes: computed::bytes::<Phasing<true>, Gmw>,
    seconds: |params| 0.05 + 6.4e-8 * computed::gates::<Phasing, Yao>(params),
    sender: computed::sender::<Phasing<true>, Gmw>,
    receiver: computed::receiver::<Phasing<true>, Gmw>,
    ..ROW
};

/// The row of `circuit_phasing_iknp`.
pub const IKNP_ROW: Protocol = Protocol {
    id: "circuit_phasing_iknp",
    name: "Circuit-Phasing, on shares, by gates alone, with IKNP transfers",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, section 5; Asharov, Lindell, \
             Schneider, Zohner, ACM CCS 2013",
    assumption: assumptions::TRANSFERS,
    flights: computed::flights::<Phasing<true>, GmwIknp>,
    bytes_formula: "258 bits, of which 254 are IKNP transfers, for each of beta * max_beta * \
                    (sigma' - 1) + s * n_x * (sigma - 1) gates; two setups of IKNP besides",
    bytes: computed::bytes::<Phasing<true>, GmwIknp>,
    seconds: |params| 0.06 + 9.0e-8 * computed::gates::<Phasing, Yao>(params),
    parameters: IKNP_PARAMETERS,
    sender: computed::sender::<Phasing<true>, GmwIknp>,
    receiver: computed::receiver::<Phasing<true>, GmwIknp>,
    ..PAPER_ROW
};

/// The row of `circuit_phasing_yao`.
pub const YAO_ROW: Protocol = Protocol {
    id: "circuit_phasing_yao",
    name: "Circuit-Phasing, garbled",
    flights: computed::flights::<Phasing, Yao>,
    bytes_formula: "32 * (beta * max_beta * (sigma' - 1) + s * n_x * (sigma - 1)); inputs and \
                    transfers besides",
    bytes: computed::bytes::<Phasing, Yao>,
    seconds: |params| 0.05 + 2.2e-8 * computed::gates::<Phasing, Yao>(params),
    sender: computed::sender::<Phasing, Yao>,
    receiver: computed::receiver::<Phasing, Yao>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "bins",
        value: "2.4 * n_y, two functions",
        source: "Phasing, USENIX Security 2015, section 7.2",
    },
    Parameter {
        name: "stash",
        value: "12, 7, 6, 4, 3, 2 places from 2^8, 2^12, 2^13, 2^16, 2^20, 2^24 items on",
        source: "Phasing, USENIX Security 2015, Table 4; one place more at 2^12 by \
                 parameters/hashing",
    },
    Parameter {
        name: "slots of a bin",
        value: "such that all bins of the sender have room but with probability 2^-40",
        source: "computed; Phasing, section 7.1",
    },
];

const IKNP_PARAMETERS: &[Parameter] =
    &[PARAMETERS[0], PARAMETERS[1], PARAMETERS[2], computed::IKNP_TRANSFERS];
