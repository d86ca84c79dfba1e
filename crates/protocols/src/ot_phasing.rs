//! # OT-Phasing: PSI from 1-out-of-N transfers and permutation-based hashing
//!
//! B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: Private Set Intersection using
//! Permutation-based Hashing", USENIX Security 2015, §6, with the index of the hash function in what
//! is compared (§4, and M. Lambæk, ePrint 2016/665).
//!
//! | | |
//! |---|---|
//! | security | semi-honest; gap Diffie–Hellman, random oracle, AES being pseudorandom |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 4; with [`Learns::Both`] 5 |
//! | payload bytes | setup + 32·t·β + 32·t_s·s + tags((h + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | t | ⌈(σ' − ⌊log β⌋ + 2)/8⌉ characters in a bin, t_s = ⌈σ'/8⌉ in the stash |
//! | σ' | the smaller of σ and λ + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉) |
//! | ℓ, ℓ' | λ + ⌈log (h + s)·n_x⌉ + ⌈log n_y⌉; λ + ⌈log n_x⌉ + ⌈log n_y⌉ |
//!
//! ```text
//!   sender P_1: X                                   receiver P_2: Y
//!
//!   every x in the bins of all h functions          every y in one bin (cuckoo), or in the stash
//!   t rows a bin, 1-out-of-256  ◀──────────────▶    chooses the characters of what is in its bin
//!   x in bin b by function i: F_b(R, i)             y in bin b by function i: F_b(R, i)
//!   {F_b(R, i), …}, sorted      ───────────────▶    y is common iff its F is among them
//!   [both] x is common iff its tag came ◀──────     [both] tags of what is common, and
//!                                                          random ones besides
//! ```
//!
//! F_b is [`vesica_oprf::characters`]: the paper's single mask a bin (§6.1).
//!
//! Bins of the sender are never padded: what it holds in which bin stays with it. In an empty bin or place
//! of the stash the receiver chooses no value at all ([`NONE`](vesica_ot::coded::kk13::NONE)): a value
//! could be an item of the sender's, and the receiver would learn that.
//!
//! An item of σ > σ' bits is hashed to σ' first ([`vesica_hashing::ShortItems`]).
//!
//! Two rows of the catalogue. `ot_phasing` has no stash: three functions and so many bins that placing
//! fails with probability below 2^-40, or where n_y ≪ n_x two functions and yet more bins, whichever
//! takes fewer bytes. `ot_phasing_paper` has 1.2·n_y bins and the stash of the paper's Table 4.
//!
//! **Where we differ from the paper.** The index of the function is compared too, and functions are permutations of three rounds, see
//! [`vesica_hashing::locations`]. Masks are sent as the Elias–Fano code of their set, which hides their
//! order as a random permutation would, and counts all masks in ℓ. With n_y ≪ n_x the paper uses two functions, 2.4·n_y
//! bins and no stash, and then placing fails, and tells the sender so, about once in n_y runs; the
//! wide table fails once in 2^40. When both learn, the sender gets tags of the common *items*: which
//! of its masks were found would tell it where the receiver placed them.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod plan;
mod receiver;
mod sender;

use crate::answer;
use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use plan::Plan;
use vesica_core::PsiParams;

pub use plan::Mode;
pub use receiver::Receiver;
pub use sender::Sender;

/// The slot of the functions of bins; place k of the stash has slot k + 1.
const BIN_SLOT: u64 = 0;

pub(crate) const ROW: Protocol = Protocol {
    id: "ot_phasing",
    name: "OT-Phasing",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §6, with the index of the hash function (Lambæk, ePrint 2016/665); no stash",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 4,
    bytes_formula: "setup + 32·t·β + tags(h·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both learn; h = 3 and β ≈ 1.32·n_y, or h = 2 and β ≥ 16·n_y where that is less; t = ⌈(σ' − ⌊log β⌋ + 2)/8⌉; σ' = min(σ, 40 + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉)); ℓ = 40 + ⌈log h·n_x⌉ + ⌈log n_y⌉, ℓ' = 40 + ⌈log n_x⌉ + ⌈log n_y⌉; tags as in rr22",
    bytes: |params| bytes(Mode::Stashless, params),
    seconds: |params| seconds(Mode::Stashless, params),
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::masks(Plan::new(Mode::Stashless, params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; or 2-way where n_y ≪ n_x; failure below 2^-40",
            source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018; docs/protocols/phasing.md",
        },
        CODE,
        TAGS,
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Stashless, params, input.into_items())?)),
    receiver: |params, input| {
        Ok(Box::new(Receiver::new(Mode::Stashless, params, input.into_items())?))
    },
};

pub(crate) const PAPER_ROW: Protocol = Protocol {
    id: "ot_phasing_paper",
    name: "OT-Phasing, with the paper's table and stash",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §6 and Table 4, with the index of the hash function (Lambæk, ePrint 2016/665)",
    bytes_formula: "setup + 32·t·β + 32·⌈σ'/8⌉·s + tags((3 + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both learn; β = 1.2·n_y; s from Table 4; t, σ', ℓ' as in ot_phasing; ℓ = 40 + ⌈log (3 + s)·n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Paper, params),
    seconds: |params| seconds(Mode::Paper, params),
    compared: |params| Compared::masks(Plan::new(Mode::Paper, params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo, 1.2 bins an item, stash of 12, 6, 4, 3, 2 at 2^8, 2^12, 2^16, 2^20, 2^24",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §8 and Table 4",
        },
        CODE,
        TAGS,
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Paper, params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(Mode::Paper, params, input.into_items())?)),
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
