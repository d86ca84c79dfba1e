//! # Garbled Bloom filters: oblivious Bloom intersection
//!
//! C. Dong, L. Chen, Z. Wen, "When private set intersection meets big data: an efficient and
//! scalable protocol", ACM CCS 2013, §4 (full version of 2016).
//!
//! | | |
//! |---|---|
//! | security | semi-honest; that of the transfers, and a random oracle |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 5, with IKNP 3; with [`Learns::Both`] one more |
//! | payload bytes | transfers(m) + 32 + ⌈m/8⌉ + m·s, and tags(min(n_x, n_y)) with [`Learns::Both`] |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   setup of the transfers      ◀──────────────▶    setup of the transfers
//!   m transfers: p_0, p_1       ◀──────────────▶    c ←$ {0,1}^m, p_c
//!                               ◀───────────────    r ←$ {0,1}^256
//!                                                   B = Bloom(Y)
//!   G = GarbledBloom({(x, t(x))})  ◀────────────    d = c + B
//!   G_i + p_{i, 1+d_i}          ───────────────▶    where B_i = 1: G_i
//!                                                   y is common iff Σ_{i ∈ h*(y)} G_i = t(y)
//!   [both] x is common iff t'(x) is among them ◀    [both] t'(y) of the common y, and random ones
//! ```
//!
//! m = 1.5·k·max(n_x, n_y) + 1024 slots, k = λ + ⌈log n_x⌉ hash functions, strings of s bytes with 8·s ≥ λ + ⌈log n_y⌉.
//! Three rows of the catalogue: `gbf` with silent transfers, `gbf_iknp` with IKNP, and `gbf_paper`
//! with the paper's parameters: IKNP, k = κ = 128, m = 1.44·k·max(n_x, n_y), strings of 128 bits.
//!
//! **Where we differ from the paper.** An item's indices count once each: where two hash functions
//! agree, the paper's sum loses the slot. The value of an item is a hash t(x) in place of x. The
//! string that a receiver gets where its filter has a zero is the transfer's own pad, so that
//! only one string a slot is sent. Filters are built in blocks, see [`vesica_okvs::bloom`]; so they
//! stay in the cache, and the strings of a block leave while the corrections of the next come, on
//! two forks. The receiver adds up an item's pads before and its strings after, and keeps neither.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod hashing;
mod plan;
mod receiver;
mod sender;
mod transfers;

pub use plan::{Mode, bytes};
pub use receiver::Receiver;
pub use sender::Sender;

use crate::assumptions;
use crate::catalogue::{BoundsKept, Operation, Parameter, Protocol, Security};

const LEARNED_BY_SENDER: &str = "the size of the receiver's set";
const LEARNED_BY_RECEIVER: &str =
    "which of its own items the sender has; the size of the sender's set";

pub(crate) const SILENT_ROW: Protocol = Protocol {
    id: "gbf",
    name: "garbled Bloom filter, silent transfers",
    source: "Dong, Chen, Wen, ACM CCS 2013, §4, with distinct indices",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: LEARNED_BY_SENDER,
    receiver_learns: LEARNED_BY_RECEIVER,
    flights: |_| 5,
    bytes_formula: "COT(m) + 32 + ⌈m/8⌉ + m·⌈(40 + ⌈log n_y⌉)/8⌉, and tags(min(n_x, n_y), ℓ) when both learn; m ≈ 1.5·(40 + ⌈log n_x⌉)·max(n_x, n_y) + 1024 slots; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Silent, params),
    seconds: |params| plan::seconds(Mode::Silent, params),
    usable_set_len: None,
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| plan::compared(Mode::Silent, params),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = λ + ⌈log n_x⌉, λ = 40",
            source: "Dong, Chen, Wen 2013, Theorems 1 and 4; parameters/gbf",
        },
        Parameter {
            name: "slots",
            value: "1.5·k·max(n_x, n_y) + 1024, in blocks of at most 2^17",
            source: "parameters/gbf",
        },
        Parameter {
            name: "string length",
            value: "λ + ⌈log n_y⌉ bits, in whole bytes",
            source: "Dong, Chen, Wen 2013, Theorem 2",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Silent, params, input.into_items())?)),
    receiver: |params, input| {
        Ok(Box::new(Receiver::new(Mode::Silent, params, input.into_items())?))
    },
};

pub(crate) const IKNP_ROW: Protocol = Protocol {
    id: "gbf_iknp",
    name: "garbled Bloom filter, IKNP transfers",
    source: "Dong, Chen, Wen, ACM CCS 2013, §4, with distinct indices; Ishai, Kilian, Nissim, Petrank, CRYPTO 2003",
    assumption: assumptions::TRANSFERS,
    flights: |_| 3,
    bytes_formula: "IKNP(m) + 32 + ⌈m/8⌉ + m·⌈(40 + ⌈log n_y⌉)/8⌉, and tags(min(n_x, n_y), ℓ) when both learn; IKNP(m) = 127·m bits and a setup; m, tags and ℓ as in gbf",
    bytes: |params| bytes(Mode::Iknp, params),
    seconds: |params| plan::seconds(Mode::Iknp, params),
    compared: |params| plan::compared(Mode::Iknp, params),
    parameters: &[
        SILENT_ROW.parameters[0],
        SILENT_ROW.parameters[1],
        SILENT_ROW.parameters[2],
        Parameter {
            name: "transfers",
            value: "IKNP: SoftSpoken with one bit, 128 base transfers",
            source: "Asharov, Lindell, Schneider, Zohner, ACM CCS 2013; Roy, CRYPTO 2022",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Iknp, params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(Mode::Iknp, params, input.into_items())?)),
    ..SILENT_ROW
};

pub(crate) const PAPER_ROW: Protocol = Protocol {
    id: "gbf_paper",
    name: "garbled Bloom filter, parameters of the paper",
    bytes_formula: "IKNP(m) + 32 + ⌈m/8⌉ + 16·m, and tags(min(n_x, n_y), ℓ) when both learn; m ≈ 1.44·128·max(n_x, n_y) slots; IKNP(m) = 127·m bits and a setup; tags and ℓ as in gbf",
    bytes: |params| bytes(Mode::Paper, params),
    seconds: |params| plan::seconds(Mode::Paper, params),
    compared: |params| plan::compared(Mode::Paper, params),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = κ = 128",
            source: "Dong, Chen, Wen 2013, §4.3",
        },
        Parameter {
            name: "slots",
            value: "1.4427·k·max(n_x, n_y), in blocks of at most 2^17",
            source: "Dong, Chen, Wen 2013, §6.2",
        },
        Parameter {
            name: "string length",
            value: "κ = 128 bits",
            source: "Dong, Chen, Wen 2013, §4.3",
        },
        IKNP_ROW.parameters[3],
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Paper, params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(Mode::Paper, params, input.into_items())?)),
    ..IKNP_ROW
};
