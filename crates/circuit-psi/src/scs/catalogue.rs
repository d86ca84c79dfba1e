//! The rows of the catalogue.

use super::Scs;
use super::shuffle::{ByCount, Homomorphic, Sorted, Waksman};
use crate::computed::{self, Audited, Circuit, Gmw, GmwIknp, GuardedYao, Yao};
use vesica_core::PsiParams;
use vesica_hashing::ShortItems;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, UsableSetLen, assumptions,
};

/// The row of `scs_wn`.
pub const WAKSMAN_ROW: Protocol = Protocol {
    id: "scs_wn",
    name: "SCS: sort, compare, shuffle by a Waksman network, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.3 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: Fact::ANSWER,
    flights: computed::flights::<Scs<Waksman>, Yao>,
    least_flights: None,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n) + 16 * sigma * (n*log n - n + 1) \
                    for n = n_x = n_y a power of two; inputs and transfers besides",
    bytes: computed::bytes::<Scs<Waksman>, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<Waksman>, Yao>(params),
    usable_set_len: None,
    auto: Auto::WhenAlone,
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
    compared: |params| Compared::items(ShortItems::of_distinct(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Scs<Waksman>, Yao>,
    receiver: computed::receiver::<Scs<Waksman>, Yao>,
};

/// The row of `scs_wn_one_sided`.
pub const WAKSMAN_ONE_SIDED_ROW: Protocol = Protocol {
    id: "scs_wn_one_sided",
    name: "SCS: sort, compare, shuffle by a Waksman network, garbled, with both sets audited",
    source: "Huang, Evans, Katz, NDSS 2012, sections 2, 3 and 5.3.3",
    security: Security::OneSided,
    operations: Operation::COUNTED,
    sender_learns: Fact::SIZE,
    flights: computed::flights::<Scs<Waksman<Audited>>, GuardedYao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (5n-1)*sigma + 2n) + 16 * sigma * (n*log n - n + 1) \
                    for n = n_x = n_y a power of two; inputs and transfers besides",
    bytes: computed::bytes::<Scs<Waksman<Audited>>, GuardedYao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<Waksman<Audited>>, GuardedYao>(params),
    usable_set_len: Some(announced_len),
    bounds: BoundsKept::No,
    learners: Learners::ReceiverAlone,
    compared: |params| Compared::items(ShortItems::whole(params).bits()),
    parameters: ONE_SIDED_PARAMETERS,
    sender: computed::sender::<Scs<Waksman<Audited>>, GuardedYao>,
    receiver: computed::receiver::<Scs<Waksman<Audited>>, GuardedYao>,
    ..WAKSMAN_ROW
};

/// A receiver can bring guesses in place of the shared items.
fn announced_len(params: &PsiParams) -> UsableSetLen {
    let len = params.receiver_len() as u64;
    UsableSetLen { free: len, most: len }
}

/// The row of `scs_wn_gmw`.
pub const WAKSMAN_GMW_ROW: Protocol = Protocol {
    id: "scs_wn_gmw",
    name: "SCS: sort, compare, shuffle by a Waksman network, on shares",
    source: "Pinkas, Schneider, Zohner, USENIX Security 2014; Huang, Evans, Katz, NDSS 2012, \
             section 5",
    flights: computed::flights::<Scs<Waksman>, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth, 1 bit for each one-sided \
                    gate; transfers besides",
    bytes: computed::bytes::<Scs<Waksman>, Gmw>,
    seconds: |params| 0.02 + 6.0e-8 * computed::gates::<Scs<Waksman>, Gmw>(params),
    sender: computed::sender::<Scs<Waksman>, Gmw>,
    receiver: computed::receiver::<Scs<Waksman>, Gmw>,
    auto: Auto::Never,
    ..WAKSMAN_ROW
};

/// The row of `scs_wn_gmw_iknp`.
pub const WAKSMAN_GMW_IKNP_ROW: Protocol = Protocol {
    id: "scs_wn_gmw_iknp",
    name: "SCS: sort, compare, shuffle by a Waksman network, on shares with IKNP transfers",
    source: "Pinkas, Schneider, Zohner, USENIX Security 2014; Huang, Evans, Katz, NDSS 2012, \
             section 5; Asharov, Lindell, Schneider, Zohner, ACM CCS 2013",
    assumption: assumptions::TRANSFERS,
    flights: computed::flights::<Scs<Waksman>, GmwIknp>,
    bytes_formula: "258 bits, of which 254 are IKNP transfers, for each gate of the circuit of \
                    least depth, 1 bit for each one-sided gate and 128 for each lane of them; two \
                    setups of IKNP besides",
    bytes: computed::bytes::<Scs<Waksman>, GmwIknp>,
    seconds: |params| 0.03 + 9.0e-8 * computed::gates::<Scs<Waksman>, GmwIknp>(params),
    parameters: IKNP_PARAMETERS,
    sender: computed::sender::<Scs<Waksman>, GmwIknp>,
    receiver: computed::receiver::<Scs<Waksman>, GmwIknp>,
    ..WAKSMAN_GMW_ROW
};

/// The row of `scs_by_count`.
pub const BY_COUNT_ROW: Protocol = Protocol {
    id: "scs_by_count",
    name: "SCS: sort, compare, shuffle as the number of matches allows, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.1, 5.3.3 and 6",
    operations: &[Operation::Intersection],
    flights: computed::flights::<Scs<ByCount>, Yao>,
    bytes_formula: "as scs_wn; when both learn 32 for each of n + 2*log n gates more, and fewer \
                    for few matches: 64*sigma for each comparator of n/m - 1 sorters of 2*m \
                    items in place of the network",
    bytes: computed::bytes::<Scs<ByCount>, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<ByCount>, Yao>(params),
    bytes_depend_on_result: true,
    sender: computed::sender::<Scs<ByCount>, Yao>,
    receiver: computed::receiver::<Scs<ByCount>, Yao>,
    auto: Auto::Never,
    ..WAKSMAN_ROW
};

/// The row of `scs_sort`.
pub const SORT_ROW: Protocol = Protocol {
    id: "scs_sort",
    name: "SCS: sort, compare, shuffle by sorting, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.1 and 6",
    flights: computed::flights::<Scs<Sorted>, Yao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n + 2*sigma*((log n)^2 - log n + \
                    4)*n/4 - 2*sigma) for n = n_x = n_y a power of two; inputs and transfers \
                    besides",
    bytes: computed::bytes::<Scs<Sorted>, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<Sorted>, Yao>(params),
    sender: computed::sender::<Scs<Sorted>, Yao>,
    receiver: computed::receiver::<Scs<Sorted>, Yao>,
    auto: Auto::Never,
    ..WAKSMAN_ROW
};

/// The row of `scs_sort_gmw`.
pub const SORT_GMW_ROW: Protocol = Protocol {
    id: "scs_sort_gmw",
    name: "SCS: sort, compare, shuffle by sorting, on shares",
    flights: computed::flights::<Scs<Sorted>, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth; transfers besides",
    bytes: computed::bytes::<Scs<Sorted>, Gmw>,
    seconds: |params| 0.02 + 6.0e-8 * computed::gates::<Scs<Sorted>, Gmw>(params),
    sender: computed::sender::<Scs<Sorted>, Gmw>,
    receiver: computed::receiver::<Scs<Sorted>, Gmw>,
    ..SORT_ROW
};

/// The row of `scs_he`.
pub const HE_ROW: Protocol = Protocol {
    id: "scs_he",
    name: "SCS: sort, compare, homomorphic shuffle, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.2 and 6, Figure 6",
    assumption: assumptions::SILENT_AND_PAILLIER_2048,
    flights: computed::flights::<Scs<Homomorphic<false>>, Yao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n + (sigma+40+log n)*n) for n = n_x = \
                    n_y a power of two; 512 for each of n + n/slots ciphertexts; inputs and \
                    transfers besides",
    bytes: computed::bytes::<Scs<Homomorphic<false>>, Yao>,
    seconds: |params| {
        let rows = <Scs<Homomorphic<false>>>::public(params).rows() as f64;
        0.5 + 3.0e-3 * rows + 2.0e-8 * computed::gates::<Scs<Homomorphic<false>>, Yao>(params)
    },
    parameters: HE_PARAMETERS,
    sender: computed::sender::<Scs<Homomorphic<false>>, Yao>,
    receiver: computed::receiver::<Scs<Homomorphic<false>>, Yao>,
    auto: Auto::Never,
    ..WAKSMAN_ROW
};

/// The row of `scs_he_3072`.
pub const HE_3072_ROW: Protocol = Protocol {
    id: "scs_he_3072",
    name: "SCS: sort, compare, homomorphic shuffle with keys of 3072 bits, garbled",
    assumption: assumptions::SILENT_AND_PAILLIER_3072,
    flights: computed::flights::<Scs<Homomorphic<true>>, Yao>,
    bytes_formula: "as scs_he; 768 for each of n + n/slots ciphertexts",
    bytes: computed::bytes::<Scs<Homomorphic<true>>, Yao>,
    seconds: |params| {
        let rows = <Scs<Homomorphic<true>>>::public(params).rows() as f64;
        1.0 + 8.0e-3 * rows + 2.0e-8 * computed::gates::<Scs<Homomorphic<true>>, Yao>(params)
    },
    parameters: HE_3072_PARAMETERS,
    sender: computed::sender::<Scs<Homomorphic<true>>, Yao>,
    receiver: computed::receiver::<Scs<Homomorphic<true>>, Yao>,
    ..HE_ROW
};

/// The row of `scs_he_gmw`.
pub const HE_GMW_ROW: Protocol = Protocol {
    id: "scs_he_gmw",
    name: "SCS: sort, compare, homomorphic shuffle, on shares",
    flights: computed::flights::<Scs<Homomorphic<false>>, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth; 512 bytes for each of n + \
                    n/slots ciphertexts; transfers besides",
    bytes: computed::bytes::<Scs<Homomorphic<false>>, Gmw>,
    seconds: |params| {
        let rows = <Scs<Homomorphic<false>>>::public(params).rows() as f64;
        0.5 + 3.0e-3 * rows + 6.0e-8 * computed::gates::<Scs<Homomorphic<false>>, Gmw>(params)
    },
    sender: computed::sender::<Scs<Homomorphic<false>>, Gmw>,
    receiver: computed::receiver::<Scs<Homomorphic<false>>, Gmw>,
    ..HE_ROW
};

const LENGTH: Parameter = Parameter {
    name: "length of compared items",
    value: "sigma, at most 40 + 2 * log max(n_x, n_y) bits; longer ones are hashed",
    source: "Phasing, USENIX Security 2015, section 8",
};

const ITEMS: Parameter = Parameter {
    name: "items of both sets",
    value: "at most 2^25",
    source: "memory: 16 bytes for each bit of each item",
};

const PARAMETERS: &[Parameter] = &[LENGTH, ITEMS];

const IKNP_PARAMETERS: &[Parameter] = &[LENGTH, ITEMS, computed::IKNP_TRANSFERS];

const ONE_SIDED_PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "length of compared items",
        value: "sigma, up to 128 bits: none is hashed",
        source: "two items of one short hash could be found, and tested as one",
    },
    ITEMS,
];

const MASKS: Parameter = Parameter {
    name: "masks",
    value: "40 + log n bits longer than the items",
    source: "statistical distance 2^-40 over all items",
};

const HE_PARAMETERS: &[Parameter] = &[
    LENGTH,
    ITEMS,
    Parameter {
        name: "Paillier modulus",
        value: "2048 bits",
        source: "NIST SP 800-57 part 1, 112 bits",
    },
    MASKS,
];

const HE_3072_PARAMETERS: &[Parameter] = &[
    LENGTH,
    ITEMS,
    Parameter {
        name: "Paillier modulus",
        value: "3072 bits",
        source: "NIST SP 800-57 part 1, 128 bits",
    },
    MASKS,
];
