//! # GMRSS21: set operations from oblivious switching
//!
//! G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from oblivious switching",
//! PKC 2021; private ids from two whole OPRFs besides.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; gap Diffie–Hellman, LPN, random oracle and ideal cipher |
//! | receiver learns | the number of common items in every operation (with private ids by the size of the union), and the result |
//! | sender learns | n_y, and its result where it has one; with bounds whether the number is inside |
//! | payload bytes | those of the parts, see [`bytes`](crate::Protocol::bytes) |
//!
//! ```text
//!   sender: X                                          receiver: Y, random s_1 … s_m
//!
//!   x in one of its bins, m in all (cuckoo hashing)
//!                             ◀── programmable OPRF ──  (y‖i) ↦ s_h_i(y)
//!   t_j, equal to s_j iff the item in bin j is common
//!   random order π̃ of the bins that are full
//!                             ◀── oblivious switching ─ s
//!   a_i                                                b_i = a_i ⊕ s_π̃(i)
//!   a_i ⊕ t_π̃(i)              ─── equality ──────────▶ e_i: whether the i-th item in the sender's order is common
//! ```
//!
//! That is the *permuted characteristic* (Figure 6). What follows it:
//!
//! | operation | |
//! |---|---|
//! | intersection (Figure 8) | a transfer of each item: the receiver gets it where e_i = 1 |
//! | cardinality (§4.3) | nothing: the weight of e |
//! | sum (Figure 11) | a transfer of a share of zero, or of the value where e_i = 1 |
//! | union (Figure 8) | a transfer of each item's text: the receiver gets it where e_i = 0 |
//! | shares of the intersection (Figure 13) | oblivious switching of the items, in an order of the receiver's |
//! | shares of values (§4.3) | as the sum, and not added up |
//! | private ids (Figure 15) | before it, R(z) of both sets; then the union of these |
//!
//! The receiver knows how many items are common before it knows which texts or values come, and so could stop there.
//! Of a union its size says as much. With bounds it ends the run there by itself, and tells the sender that it does.
//!
//! # Forms
//!
//! | | [`Form::Silent`] | [`Form::LowCommunication`] | [`Form::Paper`] |
//! |---|---|---|---|
//! | OPRF | VOLE (RR22) at the full bins | VOLE, short | KKRT16, one instance a bin |
//! | hint | key-value store | key-value store | a polynomial for each mega-bin |
//! | switching | silent correlated transfer, ℓ + 1 bits a switch | the same, of one-bit shares of the results | IKNP, two ciphertexts of 2·ℓ bits |
//! | equality | VOLE OPRF, after switching | on shares, before switching | KKRT16, after switching |
//! | transfers | silent | silent | IKNP |
//!
//! # Deviations
//!
//! * Sets may be of any two sizes. Tests are made for the full bins only, which number n_x.
//! * A share of zero is drawn by the transfer itself, and the sender sends what the shares add up to (Figure 11 draws
//!   them beforehand): the receiver's view is the same.
//! * The values that are compared have ℓ = 41 + ⌈log n_x⌉ bits, 40 + ⌈log n_x⌉ where they are compared first.
//! * Identifiers have 128 bits. [`Identifiers::Oprf`] takes whole OPRFs, which are shorter than the sloppy ones: no hint.

mod additive;
mod announce;
mod characteristic;
mod comparison;
mod private_id;
mod receiver;
mod sender;
mod transfers;

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_distinct;
use crate::{Input, Party, Shares};
use additive::Layout;
use receiver::Receiver;
use sender::Sender;
use vesica_core::params::ceil_log2;
use vesica_core::{Item, Learns, ParameterError, PsiParams, Query, Result, Values};
use vesica_oprf::{equality, programmable};
use vesica_switching::oblivious::{self, Rows, Sizes};

/// What the parts are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The fastest that are safe.
    Silent,
    /// The shortest: what is compared stays where it is, and the shares of the results are put in order.
    LowCommunication,
    /// Those of the paper, to compare with.
    Paper,
}

impl Form {
    fn oprf(self) -> programmable::Oprf {
        match self {
            Form::Silent => programmable::Oprf::VoleFast,
            Form::LowCommunication => programmable::Oprf::Vole,
            Form::Paper => programmable::Oprf::Kkrt,
        }
    }

    fn hint(self) -> programmable::Hint {
        match self {
            Form::Silent | Form::LowCommunication => programmable::Hint::Store,
            Form::Paper => programmable::Hint::Polynomial,
        }
    }

    fn switching(self) -> oblivious::Form {
        match self {
            Form::Silent | Form::LowCommunication => oblivious::Form::Correlated,
            Form::Paper => oblivious::Form::TwoCiphertexts,
        }
    }

    fn equality(self) -> equality::Form {
        match self {
            Form::Silent => equality::Form::VoleFast,
            Form::LowCommunication => equality::Form::Vole,
            Form::Paper => equality::Form::Kkrt,
        }
    }

    /// Whether values are compared before anything is put in order.
    fn compares_first(self) -> bool {
        self == Form::LowCommunication
    }
}

/// How the parties get identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identifiers {
    /// From programmable OPRFs that are right at common items only (§4.5).
    Sloppy(Form),
    /// From the OPRF of RR22, in both directions.
    Oprf(Form),
}

/// A row's choices.
#[derive(Clone, Copy, Debug)]
struct Plan {
    form: Form,
    /// With private ids.
    identifiers: Option<Identifiers>,
}

const SILENT: Plan = Plan { form: Form::Silent, identifiers: None };
const PAPER: Plan = Plan { form: Form::Paper, identifiers: None };
const SLOPPY: Plan =
    Plan { identifiers: Some(Identifiers::Sloppy(Form::LowCommunication)), ..SILENT };
const SLOPPY_PAPER: Plan = Plan { identifiers: Some(Identifiers::Sloppy(Form::Paper)), ..PAPER };
const SHORT: Plan = Plan { form: Form::LowCommunication, identifiers: None };
const SHORT_IDS: Plan =
    Plan { identifiers: Some(Identifiers::Oprf(Form::LowCommunication)), ..SHORT };
const WHOLE: Plan = Plan { identifiers: Some(Identifiers::Oprf(Form::Silent)), ..SILENT };

/// Largest set: bins and their functions' entries are numbered with 32 bits.
const MAX_ITEMS: u64 = 1 << 30;

fn check(params: &PsiParams, input: &Input) -> Result<()> {
    for len in [params.sender_len() as u64, params.receiver_len() as u64] {
        if len > MAX_ITEMS {
            return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
        }
    }
    check_distinct(input.items())
}

fn make_sender(plan: Plan, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    check(&params, &input)?;
    Ok(Box::new(Sender::new(plan, params, input)?))
}

fn make_receiver(plan: Plan, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
    check(&params, &input)?;
    Ok(Box::new(Receiver::new(plan, params, input)?))
}

/// How sums are shared: with a bit more than any of them needs, for the sign.
fn sum_layout(params: &PsiParams, values: Values) -> Layout {
    let bits = values.bits() + ceil_log2(params.sender_len() as u64) + 1;
    Layout {
        rows: params.sender_len(),
        columns: values.columns(),
        bytes: bits.div_ceil(8) as usize,
    }
}

/// Bits of an item and its values.
fn shared_bits(columns: usize) -> u32 {
    Item::BITS + u64::BITS * columns as u32
}

/// The network that shares `common` items.
fn shared_shape(params: &PsiParams, columns: usize, common: usize) -> Sizes {
    Sizes { inputs: params.sender_len(), outputs: common, bits: shared_bits(columns) }
}

fn shares_of_rows(rows: &Rows) -> Shares {
    let mut shares = Shares { len: rows.len(), ..Shares::default() };
    for i in 0..rows.len() {
        let row = rows.row(i);
        let mut item = [0; Item::LEN];
        item[..8].copy_from_slice(&row[0].to_le_bytes());
        item[8..].copy_from_slice(&row[1].to_le_bytes());
        shares.items.push(item);
        shares.values.extend_from_slice(&row[2..]);
    }
    shares
}

/// Payload bytes: exact, or the most where they depend on the number of common items.
fn bytes(plan: Plan, params: &PsiParams) -> Traffic {
    let (n_x, n_y) = (params.sender_len(), params.receiver_len());
    let both = params.learns() == Learns::Both;
    let nothing = vesica_ot::Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    let mut bytes = match params.has_empty_set() {
        true => nothing,
        false => characteristic::Plan::new(plan.form, n_x, n_y).bytes(),
    };
    bytes.receiver_to_sender += announce::bounds_bytes(params);
    let after = match (plan.identifiers, params.query()) {
        (Some(identifiers), _) => {
            bytes.receiver_to_sender += announce::union_bytes(params, Item::LEN);
            private_id::bytes(identifiers, params) + transfers::bytes(plan.form, n_x, Item::LEN)
        }
        (_, Query::Union(len)) => {
            if both {
                bytes.receiver_to_sender += announce::union_bytes(params, len.bytes());
            }
            transfers::bytes(plan.form, n_x, len.bytes())
        }
        (_, Query::SharedValues { values, .. }) => {
            let layout = Layout { rows: n_x, columns: values.columns(), bytes: 8 };
            additive::bytes(plan.form, layout)
        }
        _ if params.has_empty_set() => nothing,
        (_, Query::Cardinality) => {
            bytes.receiver_to_sender += if both { announce::COUNT_LEN as u64 } else { 0 };
            nothing
        }
        (_, Query::Sum(values)) => {
            let layout = sum_layout(params, values);
            bytes.sender_to_receiver += (layout.columns * layout.bytes) as u64;
            if both {
                bytes.receiver_to_sender += announce::sums_bytes(params, values);
            }
            additive::bytes(plan.form, layout)
        }
        (_, Query::Shares(values)) => {
            bytes.receiver_to_sender += announce::COUNT_LEN as u64;
            let columns = values.map_or(0, |values| values.columns());
            let shape = shared_shape(params, columns, n_x.min(n_y));
            oblivious::bytes(plan.form.switching(), &shape)
        }
        _ => {
            bytes.receiver_to_sender += crate::answer::bytes(params);
            transfers::bytes(plan.form, n_x, Item::LEN)
        }
    };
    let total = bytes + after;
    Traffic {
        sender_to_receiver: total.sender_to_receiver,
        receiver_to_sender: total.receiver_to_sender,
    }
}

/// ℓ
fn compared(plan: Plan, params: &PsiParams) -> Compared {
    let (n_x, n_y) = (params.sender_len(), params.receiver_len());
    Compared::outputs(characteristic::Plan::new(plan.form, n_x, n_y).compared_bits())
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    let levels = f64::from(ceil_log2(params.sender_len() as u64));
    0.04 + 1e-6 * n_y + n_x * (0.6e-6 + 60e-9 * levels)
}

/// The same where values are compared first.
fn seconds_of_short(params: &PsiParams) -> f64 {
    seconds(params) + 2.3e-6 * params.sender_len() as f64
}

/// The same for the parts of the paper.
fn seconds_of_paper(params: &PsiParams) -> f64 {
    5.0 * seconds(params)
}

const SOURCE: &str = "Garimella, Mohassel, Rosulek, Sadeghian, Singh, PKC 2021, on silent transfers and key-value stores";
const SOURCE_SHORT: &str = "Pinkas, Schneider, Tkachenko, Yanai, EUROCRYPT 2019, up to the comparison; then switching as in Garimella et al., PKC 2021";
const SOURCE_PAPER: &str = "Garimella, Mohassel, Rosulek, Sadeghian, Singh, PKC 2021, as published";

const PARTS: &str = "characteristic(n_x, n_y) = OPRF of n_x + hint of 3·n_y values of ℓ bits + (ℓ + 1)/8·switches + OPRF of n_x + (41 + ⌈log n_x⌉)/8·n_x; ℓ = 41 + ⌈log n_x⌉; switches ≈ 1.15·n_x·log n_x";

const PARTS_SHORT: &str = "characteristic(n_x, n_y) = OPRF of n_x + hint of 3·n_y values of ℓ bits + comparison on shares of 1.32·n_x values of ℓ bits, about ℓ/2 bytes each + switches/4 + n_x/8; ℓ = 40 + ⌈log n_x⌉; switches ≈ 1.15·n_x·log n_x";

const PARTS_PAPER: &str = "characteristic(n_x, n_y) = KKRT16 of 1.32·n_x instances + polynomials of 3·n_y values, 16 bytes each and padded 2.3 times + (128 + 4·ℓ)/8·switches + ℓ/8·1.32·n_x + KKRT16 of n_x instances + (41 + ⌈log n_x⌉)/8·n_x; ℓ = 41 + ⌈log n_x⌉; switches ≈ 1.15·n_x·log n_x";

pub(crate) const CARDINALITY_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality",
    name: "Cardinality by oblivious switching",
    source: SOURCE,
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_AND_VOLE,
    operations: &[Operation::Cardinality],
    sender_learns: "the size of the receiver's set; with bounds, whether the number of common items is inside",
    receiver_learns: "how many items are common; the size of the sender's set",
    flights: |params| flights(SILENT, params),
    bytes_formula: PARTS,
    bytes: |params| bytes(SILENT, params),
    seconds,
    usable_set_len: None,
    named_only: false,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByReceiver,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| compared(SILENT, params),
    parameters: PARAMETERS,
    sender: |params, input| make_sender(SILENT, params, input),
    receiver: |params, input| make_receiver(SILENT, params, input),
};

pub(crate) const CARDINALITY_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality_paper",
    name: "Cardinality by oblivious switching, as published",
    ..as_published(CARDINALITY_ROW, PARTS_PAPER)
};

pub(crate) const INTERSECTION_ROW: Protocol = Protocol {
    id: "gmrss21_intersection",
    name: "Intersection by oblivious switching",
    operations: &[Operation::Intersection],
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x items of 16 bytes; n_x/8 when both learn",
    // For illustration, as the paper says: an intersection needs no switching.
    named_only: true,
    ..CARDINALITY_ROW
};

pub(crate) const SUM_ROW: Protocol = Protocol {
    id: "gmrss21_cardinality_sum",
    name: "Cardinality and sums by oblivious switching",
    operations: &[Operation::Sum],
    receiver_learns: "how many items are common and the sum of their values; the size of the sender's set",
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x rows of columns·⌈(bits + ⌈log n_x⌉ + 1)/8⌉ bytes + one such row; 8 + 16·columns when both learn",
    // It tells the number of common items, which the question does not ask for.
    named_only: true,
    wide_values: true,
    ..CARDINALITY_ROW
};

pub(crate) const UNION_ROW: Protocol = Protocol {
    id: "gmrss21_union",
    name: "Union by oblivious switching",
    operations: &[Operation::Union],
    sender_learns: "the size of the receiver's set; with a result of its own, the items that only the receiver has",
    receiver_learns: "the items that only the sender has, and so how many are common; the size of the sender's set",
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x texts; 8 bytes and the texts of the union when both learn",
    bounds: BoundsKept::No,
    bytes_depend_on_result: true,
    ..CARDINALITY_ROW
};

pub(crate) const UNION_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_union_paper",
    name: "Union by oblivious switching, as published",
    ..as_published(
        UNION_ROW,
        "characteristic(n_x, n_y) as in gmrss21_cardinality_paper + transfers of n_x texts; 8 bytes and the texts of the union when both learn",
    )
};

pub(crate) const SHARES_ROW: Protocol = Protocol {
    id: "gmrss21_secret_shared_intersection",
    name: "Shares of the intersection by oblivious switching",
    operations: &[Operation::Shares],
    sender_learns: "how many items are common; the size of the receiver's set",
    receiver_learns: "how many items are common; the size of the sender's set",
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + 8 + (128 + 64·columns + 1)/8 for each switch from n_x to the common items",
    wide_values: true,
    bytes_depend_on_result: true,
    ..CARDINALITY_ROW
};

pub(crate) const VALUES_ROW: Protocol = Protocol {
    id: "gmrss21_values",
    name: "Shares of values or defaults by oblivious switching",
    operations: &[Operation::SharedValues],
    receiver_learns: "how many items are common, and which entries of the shared list are theirs; the size of the sender's set",
    bytes_formula: "characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x rows of 8·columns bytes",
    wide_values: true,
    ..CARDINALITY_ROW
};

pub(crate) const PRIVATE_ID_ROW: Protocol = Protocol {
    id: "gmrss21_private_id",
    assumption: assumptions::SILENT_AND_ALL_VOLE,
    name: "Private ids by sloppy OPRFs and oblivious switching",
    operations: &[Operation::PrivateId],
    sender_learns: "a random identifier of each of its items and those of the union, and so how many items are common; the size of the receiver's set",
    receiver_learns: "a random identifier of each of its items and those of the union, and so how many items are common; the size of the sender's set",
    flights: |params| flights(SLOPPY, params),
    bytes_formula: "OPRF of n_x + hint of 3·n_y values of 128 bits, and the same with n_x and n_y exchanged; characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x identifiers; 8 bytes and the identifiers of the union",
    bytes: |params| bytes(SLOPPY, params),
    seconds: |params| seconds(params) + seconds_of_ids(params) + 1.2e-6 * both_sizes(params),
    bounds: BoundsKept::No,
    bytes_depend_on_result: true,
    named_only: true,
    sender: |params, input| make_sender(SLOPPY, params, input),
    receiver: |params, input| make_receiver(SLOPPY, params, input),
    ..CARDINALITY_ROW
};

pub(crate) const PRIVATE_ID_PAPER_ROW: Protocol = Protocol {
    id: "gmrss21_private_id_paper",
    name: "Private ids by oblivious switching, as published",
    source: SOURCE_PAPER,
    assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
    bytes_formula: "KKRT16 of 1.32·n_x instances + polynomials of 3·n_y values, and the same with n_x and n_y exchanged; characteristic(n_x, n_y) as in gmrss21_cardinality_paper + transfers of n_x identifiers; 8 bytes and the identifiers of the union",
    flights: |params| flights(SLOPPY_PAPER, params),
    bytes: |params| bytes(SLOPPY_PAPER, params),
    compared: |params| compared(SLOPPY_PAPER, params),
    seconds: |params| 3.0 * seconds_of_paper(params),
    sender: |params, input| make_sender(SLOPPY_PAPER, params, input),
    receiver: |params, input| make_receiver(SLOPPY_PAPER, params, input),
    parameters: PAPER_PARAMETERS,
    ..PRIVATE_ID_ROW
};

pub(crate) const PRIVATE_ID_OPRF_ROW: Protocol = Protocol {
    id: "private_id_oprf",
    assumption: assumptions::SILENT_AND_VOLE,
    name: "Private ids by two VOLE OPRFs and oblivious switching",
    source: "identifiers by the OPRF of Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), in both directions; their union by Garimella et al., PKC 2021",
    flights: |params| flights(WHOLE, params),
    bytes_formula: "OPRF of n_x + OPRF of n_y; characteristic(n_x, n_y) as in gmrss21_cardinality + transfers of n_x identifiers; 8 bytes and the identifiers of the union",
    bytes: |params| bytes(WHOLE, params),
    seconds: |params| seconds(params) + seconds_of_ids(params),
    named_only: false,
    sender: |params, input| make_sender(WHOLE, params, input),
    receiver: |params, input| make_receiver(WHOLE, params, input),
    ..PRIVATE_ID_ROW
};

pub(crate) const CARDINALITY_SHORT_ROW: Protocol = Protocol {
    id: "cardinality_low_communication",
    name: "Cardinality by comparison and oblivious switching",
    ..low_communication(CARDINALITY_ROW, PARTS_SHORT)
};

pub(crate) const UNION_SHORT_ROW: Protocol = Protocol {
    id: "union_low_communication",
    name: "Union by comparison and oblivious switching",
    ..low_communication(
        UNION_ROW,
        "characteristic(n_x, n_y) as in cardinality_low_communication + transfers of n_x texts; 8 bytes and the texts of the union when both learn",
    )
};

pub(crate) const PRIVATE_ID_SHORT_ROW: Protocol = Protocol {
    id: "private_id_low_communication",
    assumption: assumptions::SILENT_AND_ALL_VOLE,
    name: "Private ids by two VOLE OPRFs, comparison and oblivious switching",
    bytes_formula: "OPRF of n_x + OPRF of n_y; characteristic(n_x, n_y) as in cardinality_low_communication + transfers of n_x identifiers; 8 bytes and the identifiers of the union",
    flights: |params| flights(SHORT_IDS, params),
    bytes: |params| bytes(SHORT_IDS, params),
    compared: |params| compared(SHORT_IDS, params),
    seconds: |params| seconds_of_short(params) + seconds_of_ids(params),
    sender: |params, input| make_sender(SHORT_IDS, params, input),
    receiver: |params, input| make_receiver(SHORT_IDS, params, input),
    ..PRIVATE_ID_OPRF_ROW
};

/// `row` with the results put in order in place of what is compared.
const fn low_communication(row: Protocol, formula: &'static str) -> Protocol {
    Protocol {
        source: SOURCE_SHORT,
        assumption: assumptions::SILENT_AND_SUBFIELD_VOLE,
        bytes_formula: formula,
        flights: |params| flights(SHORT, params),
        bytes: |params| bytes(SHORT, params),
        compared: |params| compared(SHORT, params),
        seconds: seconds_of_short,
        sender: |params, input| make_sender(SHORT, params, input),
        receiver: |params, input| make_receiver(SHORT, params, input),
        ..row
    }
}

/// `row` with the parts of the paper.
const fn as_published(row: Protocol, formula: &'static str) -> Protocol {
    Protocol {
        source: SOURCE_PAPER,
        assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
        bytes_formula: formula,
        flights: |params| flights(PAPER, params),
        bytes: |params| bytes(PAPER, params),
        compared: |params| compared(PAPER, params),
        seconds: seconds_of_paper,
        named_only: true,
        sender: |params, input| make_sender(PAPER, params, input),
        receiver: |params, input| make_receiver(PAPER, params, input),
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

fn both_sizes(params: &PsiParams) -> f64 {
    params.sender_len() as f64 + params.receiver_len() as f64
}

/// Estimated seconds of the OPRFs of [`Identifiers::Oprf`].
fn seconds_of_ids(params: &PsiParams) -> f64 {
    0.02 + 0.2e-6 * both_sizes(params)
}

/// Messages in a row that wait for each other; the sets have some thousand items, or they may be fewer.
fn flights(plan: Plan, params: &PsiParams) -> u64 {
    let (n_x, n_y) = (params.sender_len(), params.receiver_len());
    let characteristic = characteristic::Plan::new(plan.form, n_x, n_y);
    let transfers = transfers::flights(plan.form, n_x);
    let after = match (plan.identifiers, params.query()) {
        (Some(identifiers), _) => private_id::flights(identifiers, params) + transfers + 1,
        (_, Query::Cardinality) => 0,
        (_, Query::Shares(values)) => {
            let columns = values.map_or(0, |values| values.columns());
            let shape = shared_shape(params, columns, n_x.min(n_y));
            1 + oblivious::flights(plan.form.switching(), &shape).max(5)
        }
        _ => transfers,
    };
    // After the bounds the sender has heard something, so that what follows is set up anew.
    let bounds = match (announce::bounds_bytes(params), params.query()) {
        (0, _) => 0,
        (_, Query::Cardinality) => 1,
        _ => 3,
    };
    characteristic.flights() + after + bounds
}
