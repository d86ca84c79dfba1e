//! The rows of the catalogue: each is an operation in one form.

use super::cost::{bytes, compared, flights, least_flights_of_shares, seconds};
use super::form::{Form, Identifiers, Variant};
use super::{Receiver, Sender};
use vesica_core::{PsiParams, Result};
use vesica_party::{
    Auto, BoundsKept, Fact, Input, Learners, Operation, Pairwise, Parameter, Partitions, Party,
    Protocol, Security, assumptions,
};

const SILENT: Variant = Variant { form: Form::Silent, identifiers: None };
const PAPER: Variant = Variant { form: Form::Paper, identifiers: None };
const SLOPPY: Variant =
    Variant { identifiers: Some(Identifiers::Sloppy(Form::LowCommunication)), ..SILENT };
const SLOPPY_PAPER: Variant =
    Variant { identifiers: Some(Identifiers::Sloppy(Form::Paper)), ..PAPER };
const SHORT: Variant = Variant { form: Form::LowCommunication, identifiers: None };
const SHORT_IDS: Variant =
    Variant { identifiers: Some(Identifiers::Oprf(Form::LowCommunication)), ..SHORT };
const WHOLE: Variant = Variant { identifiers: Some(Identifiers::Oprf(Form::Silent)), ..SILENT };

const SOURCE: &str = "Garimella, Mohassel, Rosulek, Sadeghian, Singh, PKC 2021, on silent \
                      transfers and key-value stores";
const SOURCE_SHORT: &str = "Pinkas, Schneider, Tkachenko, Yanai, EUROCRYPT 2019, up to the \
                            comparison; then switching as in Garimella et al., PKC 2021";
const SOURCE_PAPER: &str = "Garimella, Mohassel, Rosulek, Sadeghian, Singh, PKC 2021, as published";

const PARTS: &str = "characteristic(n_x, n_y) = OPRF of n_x + hint of 3·n_y values of ℓ bits + (ℓ \
                     + 1)/8·switches + OPRF of n_x + (41 + ⌈log n_x⌉)/8·n_x; ℓ = 41 + ⌈log n_x⌉; \
                     switches ≈ 1.15·n_x·log n_x";

const PARTS_SHORT: &str = "characteristic(n_x, n_y) = OPRF of n_x + hint of 3·n_y values of ℓ bits \
                           + comparison on shares of 1.32·n_x values of ℓ bits, about ℓ/2 bytes \
                           each + switches/4 + n_x/8; ℓ = 40 + ⌈log n_x⌉; switches ≈ 1.15·n_x·log \
                           n_x";

const PARTS_PAPER: &str = "characteristic(n_x, n_y) = KKRT16 of 1.32·n_x instances + polynomials \
                           of 3·n_y values, 16 bytes each and padded 2.3 times + (128 + \
                           4·ℓ)/8·switches + ℓ/8·1.32·n_x + KKRT16 of n_x instances + (41 + ⌈log \
                           n_x⌉)/8·n_x; ℓ = 41 + ⌈log n_x⌉; switches ≈ 1.15·n_x·log n_x";

/// The row of `gmrss21_cardinality`.
pub const CARDINALITY_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality",
    name: "Cardinality by oblivious switching",
    source: SOURCE,
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_AND_VOLE,
    operations: &[Operation::Cardinality],
    sender_learns: Fact::SIZE_AND_BOUNDS,
    receiver_learns: &[Fact::Count, Fact::PeerSetLen],
    flights: |params| flights(SILENT, params),
    least_flights: None,
    bytes_formula: PARTS,
    bytes: |params| bytes(SILENT, params),
    seconds: |params| seconds(SILENT, params),
    usable_set_len: None,
    auto: Auto::Candidate,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByReceiver,
    learners: Learners::Any,
    wide_values: false,
    payloads: false,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::No,
    steps: None,
    addends: None,
    compared: |params| compared(SILENT, params),
    parameters: PARAMETERS,
    sender: |params, input| sender(SILENT, params, input),
    receiver: |params, input| receiver(SILENT, params, input),
};

/// The row of `gmrss21_cardinality_paper`.
pub const CARDINALITY_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality_paper",
    name: "Cardinality by oblivious switching, as published",
    ..as_published(CARDINALITY_ROW, PARTS_PAPER)
};

/// The row of `gmrss21_intersection`.
pub const INTERSECTION_ROW: Protocol = Protocol {
    id: "gmrss21_intersection",
    name: "Intersection by oblivious switching",
    operations: &[Operation::Intersection],
    receiver_learns: Fact::INTERSECTION,
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x items of \
                    16 bytes; n_x/8 when both learn",
    // For illustration, as the paper says: an intersection needs no switching.
    auto: Auto::Never,
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_cardinality_sum`.
pub const SUM_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality_sum",
    name: "Cardinality and sums by oblivious switching",
    operations: &[Operation::Sum],
    receiver_learns: &[Fact::CountAndSum, Fact::PeerSetLen],
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x rows of \
                    columns·⌈(bits + ⌈log n_x⌉ + 1)/8⌉ bytes + one such row; 8 + 16·columns when \
                    both learn",
    // The receiver learns the number of common items, which the question does not ask for.
    auto: Auto::WhenAlone,
    wide_values: true,
    payloads: false,
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_inner_product`.
pub const INNER_PRODUCT_ROW: Protocol = Protocol {
    id: "gmrss21_inner_product",
    name: "Inner product by oblivious switching",
    operations: &[Operation::InnerProduct],
    receiver_learns: &[Fact::CountAndInnerProduct, Fact::PeerSetLen],
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality, with ℓ + f bits in the \
                    hint and the switches for values of f bits + transfers of n_x·(1 + f) rows of \
                    columns·⌈(bits + f + ⌈log n_x⌉ + 1)/8⌉ bytes + one such row; 8 + 16·columns \
                    when both learn",
    wide_values: true,
    payloads: false,
    steps: None,
    addends: None,
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_intersection_paper`.
pub const INTERSECTION_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_intersection_paper",
    name: "Intersection by oblivious switching, as published",
    ..as_published(
        INTERSECTION_ROW,
        "characteristic(n_x, n_y) as in gmrss21_cardinality_paper + transfers of n_x items of 16 \
         bytes; n_x/8 when both learn",
    )
};

/// The row of `gmrss21_cardinality_sum_paper`.
pub const SUM_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality_sum_paper",
    name: "Cardinality and sums by oblivious switching, as published",
    ..as_published(
        SUM_ROW,
        "characteristic(n_x, n_y) as in gmrss21_cardinality_paper + transfers of n_x rows of \
         columns·⌈(bits + ⌈log n_x⌉ + 1)/8⌉ bytes + one such row; 8 + 16·columns when both learn",
    )
};

/// The row of `gmrss21_union`.
pub const UNION_ROW: Protocol = Protocol {
    id: "gmrss21_union",
    name: "Union by oblivious switching",
    operations: &[Operation::Union],
    sender_learns: &[Fact::PeerSetLen, Fact::PeersOwnItems],
    receiver_learns: &[Fact::PeersOwnItemsAndCount, Fact::PeerSetLen],
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x texts; 8 \
                    bytes and the texts of the union when both learn",
    bounds: BoundsKept::No,
    learners: Learners::Any,
    bytes_depend_on_result: true,
    pairwise: Pairwise::No,
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_union_paper`.
pub const UNION_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_union_paper",
    name: "Union by oblivious switching, as published",
    ..as_published(
        UNION_ROW,
        "characteristic(n_x, n_y) as in gmrss21_cardinality_paper + transfers of n_x texts; 8 \
         bytes and the texts of the union when both learn",
    )
};

/// The row of `gmrss21_secret_shared_intersection`.
pub const SHARES_ROW: Protocol = Protocol {
    id: "gmrss21_secret_shared_intersection",
    name: "Shares of the intersection by oblivious switching",
    operations: &[Operation::Shares],
    sender_learns: &[Fact::Count, Fact::PeerSetLen],
    receiver_learns: &[Fact::Count, Fact::PeerSetLen],
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + 8 + (128 + 64·columns + \
                    1)/8 for each switch from n_x to the common items",
    wide_values: true,
    payloads: false,
    bytes_depend_on_result: true,
    pairwise: Pairwise::No,
    steps: None,
    addends: None,
    least_flights: Some(|params| least_flights_of_shares(SILENT.form, params)),
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_secret_shared_intersection_paper`.
pub const SHARES_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_secret_shared_intersection_paper",
    name: "Shares of the intersection by oblivious switching, as published",
    least_flights: Some(|params| least_flights_of_shares(PAPER.form, params)),
    ..as_published(
        SHARES_ROW,
        "characteristic(n_x, n_y) as in gmrss21_cardinality_paper + 8 + (128 + 4·(128 + \
         64·columns))/8 for each switch from n_x to the common items + (128 + 64·columns)/8·n_x",
    )
};

/// The row of `gmrss21_values`.
pub const VALUES_ROW: Protocol = Protocol {
    id: "gmrss21_values",
    name: "Shares of values or defaults by oblivious switching",
    operations: &[Operation::SharedValues],
    receiver_learns: &[Fact::CountAndEntries, Fact::PeerSetLen],
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x rows of \
                    8·columns bytes",
    wide_values: true,
    payloads: false,
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_private_id`.
pub const PRIVATE_ID_ROW: Protocol = Protocol {
    id: "gmrss21_private_id",
    assumption: assumptions::SILENT_AND_ALL_VOLE,
    name: "Private ids by sloppy OPRFs and oblivious switching",
    operations: &[Operation::PrivateId],
    sender_learns: &[Fact::Ids, Fact::PeerSetLen],
    receiver_learns: &[Fact::Ids, Fact::PeerSetLen],
    flights: |params| flights(SLOPPY, params),
    bytes_formula: "OPRF of n_x + hint of 3·n_y values of 128 bits, and the same with n_x and n_y \
                    exchanged; characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of \
                    n_x identifiers; 8 bytes and the identifiers of the union",
    bytes: |params| bytes(SLOPPY, params),
    seconds: |params| seconds(SLOPPY, params),
    bounds: BoundsKept::No,
    learners: Learners::Any,
    bytes_depend_on_result: true,
    pairwise: Pairwise::No,
    partitions: Partitions::Sets,
    steps: None,
    addends: None,
    auto: Auto::Never,
    sender: |params, input| sender(SLOPPY, params, input),
    receiver: |params, input| receiver(SLOPPY, params, input),
    ..CARDINALITY_ROW
};

/// The row of `gmrss21_private_id_paper`.
pub const PRIVATE_ID_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_private_id_paper",
    name: "Private ids by oblivious switching, as published",
    source: SOURCE_PAPER,
    assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
    bytes_formula: "KKRT16 of 1.32·n_x instances + polynomials of 3·n_y values, and the same with \
                    n_x and n_y exchanged; characteristic(n_x, n_y) as in \
                    gmrss21_cardinality_paper + transfers of n_x identifiers; 8 bytes and the \
                    identifiers of the union",
    flights: |params| flights(SLOPPY_PAPER, params),
    bytes: |params| bytes(SLOPPY_PAPER, params),
    compared: |params| compared(SLOPPY_PAPER, params),
    seconds: |params| seconds(SLOPPY_PAPER, params),
    sender: |params, input| sender(SLOPPY_PAPER, params, input),
    receiver: |params, input| receiver(SLOPPY_PAPER, params, input),
    parameters: PAPER_PARAMETERS,
    ..PRIVATE_ID_ROW
};

/// The row of `private_id_oprf`.
pub const PRIVATE_ID_OPRF_ROW: Protocol = Protocol {
    id: "private_id_oprf",
    assumption: assumptions::SILENT_AND_VOLE,
    name: "Private ids by two VOLE OPRFs and oblivious switching",
    source: "identifiers by the OPRF of Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), in \
             both directions; their union by Garimella et al., PKC 2021",
    flights: |params| flights(WHOLE, params),
    bytes_formula: "OPRF of n_x + OPRF of n_y; characteristic(n_x, n_y) as in gmrss21_cardinality \
                    + transfers of n_x identifiers; 8 bytes and the identifiers of the union",
    bytes: |params| bytes(WHOLE, params),
    seconds: |params| seconds(WHOLE, params),
    auto: Auto::Candidate,
    sender: |params, input| sender(WHOLE, params, input),
    receiver: |params, input| receiver(WHOLE, params, input),
    ..PRIVATE_ID_ROW
};

/// The row of `cardinality_low_communication`.
pub const CARDINALITY_SHORT_ROW: Protocol = Protocol {
    id: "cardinality_low_communication",
    name: "Cardinality by comparison and oblivious switching",
    ..low_communication(CARDINALITY_ROW, PARTS_SHORT)
};

/// The row of `union_low_communication`.
pub const UNION_SHORT_ROW: Protocol = Protocol {
    id: "union_low_communication",
    name: "Union by comparison and oblivious switching",
    ..low_communication(
        UNION_ROW,
        "characteristic(n_x, n_y) as in cardinality_low_communication + transfers of n_x texts; 8 \
         bytes and the texts of the union when both learn",
    )
};

/// The row of `private_id_low_communication`.
pub const PRIVATE_ID_SHORT_ROW: Protocol = Protocol {
    id: "private_id_low_communication",
    assumption: assumptions::SILENT_AND_ALL_VOLE,
    name: "Private ids by two VOLE OPRFs, comparison and oblivious switching",
    bytes_formula: "OPRF of n_x + OPRF of n_y; characteristic(n_x, n_y) as in \
                    cardinality_low_communication + transfers of n_x identifiers; 8 bytes and the \
                    identifiers of the union",
    flights: |params| flights(SHORT_IDS, params),
    bytes: |params| bytes(SHORT_IDS, params),
    compared: |params| compared(SHORT_IDS, params),
    seconds: |params| seconds(SHORT_IDS, params),
    sender: |params, input| sender(SHORT_IDS, params, input),
    receiver: |params, input| receiver(SHORT_IDS, params, input),
    ..PRIVATE_ID_OPRF_ROW
};

/// `row` in the form of low communication.
const fn low_communication(row: Protocol, formula: &'static str) -> Protocol {
    Protocol {
        source: SOURCE_SHORT,
        assumption: assumptions::SILENT_AND_SUBFIELD_VOLE,
        bytes_formula: formula,
        flights: |params| flights(SHORT, params),
        bytes: |params| bytes(SHORT, params),
        compared: |params| compared(SHORT, params),
        seconds: |params| seconds(SHORT, params),
        sender: |params, input| sender(SHORT, params, input),
        receiver: |params, input| receiver(SHORT, params, input),
        ..row
    }
}

/// `row` in the form of the paper.
const fn as_published(row: Protocol, formula: &'static str) -> Protocol {
    Protocol {
        source: SOURCE_PAPER,
        assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
        bytes_formula: formula,
        flights: |params| flights(PAPER, params),
        bytes: |params| bytes(PAPER, params),
        compared: |params| compared(PAPER, params),
        seconds: |params| seconds(PAPER, params),
        auto: Auto::Never,
        sender: |params, input| sender(PAPER, params, input),
        receiver: |params, input| receiver(PAPER, params, input),
        parameters: PAPER_PARAMETERS,
        ..row
    }
}

const TABLE: Parameter = Parameter {
    name: "hash table",
    value: "3-way cuckoo without stash, (40 + log n_x + 256)/240 bins an item; failure below 2^-40",
    source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018",
};

const LENGTH: Parameter = Parameter {
    name: "length of what is compared",
    value: "ℓ = λ + 1 + ⌈log n_x⌉ bits, λ = 40; without the 1 where it is compared on shares",
    source: "Garimella et al. 2021, section 6",
};

const PARAMETERS: &[Parameter] = &[
    TABLE,
    LENGTH,
    Parameter {
        name: "learning parity with noise",
        value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
        source: "docs/lpn.md, computed by parameters/lpn",
    },
    Parameter {
        name: "key-value store",
        value: "random band over 3·n_y keys; failure below 2^-40",
        source: "Bienstock, Patel, Seo, Yeo 2023; parameters/okvs",
    },
];

const PAPER_PARAMETERS: &[Parameter] = &[
    TABLE,
    LENGTH,
    Parameter {
        name: "transfers",
        value: "IKNP with 128 columns, and two ciphertexts of 2·ℓ bits a switch",
        source: "Garimella et al. 2021, section 6.2",
    },
    Parameter {
        name: "hint",
        value: "polynomials over GF(2^128), padded so that a mega-bin overflows below 2^-40",
        source: "Garimella et al. 2021, section 3.5; computed",
    },
];

fn sender(variant: Variant, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    Ok(Box::new(Sender::new(variant, params, input)?))
}

fn receiver(variant: Variant, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    Ok(Box::new(Receiver::new(variant, params, input)?))
}
