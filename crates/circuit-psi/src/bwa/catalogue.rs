//! The rows of the catalogue.

use super::{self as bwa, Bwa, MAX_ITEM_BITS};
use crate::computed::{self, Audited, Gmw, GuardedYao, Yao};
use vesica_core::PsiParams;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, UsableSetLen, assumptions,
};

/// The row of `bwa`.
pub const ROW: Protocol = Protocol {
    id: "bwa",
    name: "BWA: bit vectors of a small domain, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 3 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: Fact::ANSWER,
    flights: computed::flights::<Bwa, Yao>,
    least_flights: None,
    bytes_formula: "16 * 2^sigma for the gates and 32 * 2^sigma for counting them; inputs and \
                    transfers besides",
    bytes: computed::bytes::<Bwa, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Bwa, Yao>(params),
    usable_set_len: Some(domain_len),
    auto: Auto::WhenAlone,
    item_bits: 1..=MAX_ITEM_BITS,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |params| Compared::items(params.item_bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Bwa, Yao>,
    receiver: computed::receiver::<Bwa, Yao>,
};

/// The row of `bwa_gmw`.
pub const GMW_ROW: Protocol = Protocol {
    id: "bwa_gmw",
    name: "BWA: bit vectors of a small domain, on shares",
    flights: computed::flights::<Bwa, Gmw>,
    bytes_formula: "1 bit each way for 2^sigma gates and 4 bits for 2^sigma of counting; transfers \
                    besides",
    bytes: computed::bytes::<Bwa, Gmw>,
    seconds: |params| 0.02 + 5.0e-8 * computed::gates::<Bwa, Gmw>(params),
    sender: computed::sender::<Bwa, Gmw>,
    receiver: computed::receiver::<Bwa, Gmw>,
    auto: Auto::Never,
    ..ROW
};

/// The row of `bwa_one_sided`.
pub const ONE_SIDED_ROW: Protocol = Protocol {
    id: "bwa_one_sided",
    name: "BWA: bit vectors of a small domain, garbled, with both sets audited",
    source: "Huang, Evans, Katz, NDSS 2012, sections 2 and 3",
    security: Security::OneSided,
    operations: Operation::COUNTED,
    sender_learns: Fact::SIZE,
    flights: computed::flights::<Bwa<Audited>, GuardedYao>,
    bytes_formula: "128 * 2^sigma for the gates and 32 * 2^sigma more for counting them; inputs \
                    and transfers besides",
    bytes: computed::bytes::<Bwa<Audited>, GuardedYao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Bwa<Audited>, GuardedYao>(params),
    usable_set_len: None,
    bounds: BoundsKept::No,
    learners: Learners::ReceiverAlone,
    sender: computed::sender::<Bwa<Audited>, GuardedYao>,
    receiver: computed::receiver::<Bwa<Audited>, GuardedYao>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "domain",
    value: "2^sigma items, sigma at most 24 bits",
    source: "NDSS 2012, section 3",
}];

/// A party can bring every item of the domain.
fn domain_len(params: &PsiParams) -> UsableSetLen {
    let len = bwa::domain_len(params) as u64;
    UsableSetLen { free: len, most: len }
}
