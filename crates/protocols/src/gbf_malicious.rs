//! # Bloom filters with malicious security
//!
//! P. Rindal, M. Rosulek, "Improved private set intersection against malicious adversaries",
//! EUROCRYPT 2017 (ePrint 2016/746): the repair of C. Dong, L. Chen, Z. Wen, ACM CCS 2013, §5.
//!
//! | | |
//! |---|---|
//! | security | malicious; learning parity with noise, random oracle and ideal cipher |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 9; with [`Learns::Both`] 10 |
//! | payload bytes | COT(2^b·N) + 128 + 2^b·(⌈N/8⌉ + ⌈c/8⌉ + ⌈m·⌈log N⌉/8⌉ + 16) + tags(n_x, 128), and p·n_x with [`Learns::Both`] |
//! | p | ⌈(λ + ⌈log n_x⌉) / 8⌉ bytes |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   s ←$ {0,1}^256;  H(s)       ───────────────▶
//!   setup of the transfers      ◀──────────────▶    setup of the transfers
//!                                                   b ←$ {0,1}^N with M ones
//!   N transfers: m_{i,0}, m_{i,1}  ◀───────────▶    m_{i,b_i}, checked
//!                               ◀───────────────    r
//!   C ⊂ [N], |C| = c; C, s      ───────────────▶    H(s) right?
//!                               ◀───────────────    R = {i ∈ C: b_i = 0}, r* = Σ_{i ∈ R} m_{i,b_i}
//!   |C| − |R| ≤ τ?  r* = Σ_{i ∈ R} m_{i,0}?         B = Bloom_{s,r}(Y)
//!   π injective, outside C?     ◀───────────────    π: [m] → [N] ∖ C with b_{π(i)} = 1 where B_i = 1
//!   K_x = H(x, Σ_{i ∈ h*(x)} m_{π(i),1})            K_y = H(y, Σ_{i ∈ h*(y)} m_{π(i),b_{π(i)}})
//!   {K_x}, sorted               ───────────────▶    y is common iff K_y is among them
//!   [both] x is common iff proved  ◀────────────    [both] a proof for each common tag
//! ```
//!
//! h*(x) is the *set* of the k = 96 indices of x. All hashes are random oracles; K has all κ = 128 bits.
//!
//! **What a party that deviates can do.** The sender: choose its set, no larger than n_x but for items that share
//! a tag, which take 2^64 hashes a pair. It sends
//! nothing that the receiver could refuse because of its bits, but for the transfers' own check, which
//! knows no Y. The receiver: choose a set of more items than n_y, [`usable_set_len`] at most. Its
//! filter has more than the share (1/16)^(1/3) of ones with probability below 2^-40, so that an item it had not hashed
//! before it sent π is tested with probability below 2^-128. With [`Learns::Both`] either may stop early and the
//! receiver may keep matches from the sender, but cannot claim one that its set does not have.
//!
//! **Where we differ from the paper.** The seed of the hash functions is drawn with the challenge C,
//! when the choices are fixed already. C has a fixed size and is sent as a seed, so that no choice of
//! it can leave the receiver too few ones. A slot that is zero may go to a transfer whose bit is one, once
//! all others are used up: the sender's view of π is uniform either way. The [`Sizes`] follow from
//! the number of ones that a filter has, not from k·n, and λ = 40 is taken in bits; k is the same for all. The tags are sent as the Elias–Fano code of their set. With
//! [`Learns::Both`] each match is proved by a second hash of the input of K.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod cut;
mod hashing;
mod injection;
mod plan;
mod proofs;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use plan::{MAX_RECEIVER_LEN, Sizes, bytes, usable_set_len};
pub use receiver::Receiver;
pub use sender::Sender;

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security};
use vesica_core::SessionId;
use vesica_core::hash::derive;

const COIN_LABEL: &str = "vesica v1 gbf malicious coin";

/// The commitment to s, which is itself random.
fn commit(session: &SessionId, s: &[u8; plan::SEED_LEN]) -> [u8; 32] {
    derive(COIN_LABEL, &[session.as_bytes(), s])
}

pub(crate) const ROW: Protocol = Protocol {
    id: "gbf_malicious",
    name: "Bloom filter with cut and choose, malicious",
    source: "Rindal, Rosulek, EUROCRYPT 2017 (ePrint 2016/746), after Dong, Chen, Wen, ACM CCS 2013",
    security: Security::Malicious,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 9,
    bytes_formula: "COT(2^b·N) + 128 + 2^b·(⌈N/8⌉ + ⌈c/8⌉ + ⌈m·⌈log N⌉/8⌉ + 16) + tags(n_x, 128), and p·n_x when both learn; 2^b blocks of N transfers, 2^b·N ≈ 250·n_y from a thousand items on, of which c are opened and m = N − c used; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; p = ⌈(40 + ⌈log n_x⌉)/8⌉",
    bytes,
    seconds: plan::seconds,
    usable_set_len: Some(usable_set_len),
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |_| Compared::outputs(plan::TAG_BITS),
    parameters: &[
        Parameter {
            name: "hash functions",
            value: "k = 96; indices count once",
            source: "Rindal, Rosulek 2017, §5; parameters/gbf",
        },
        Parameter {
            name: "cut and choose",
            value: "N, c, ones and threshold from n_y; each tail below 2^-40, an item outside is tested with probability below 2^-128",
            source: "Rindal, Rosulek 2017, §5; parameters/gbf",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
        Parameter { name: "output length", value: "128 bits", source: "Rindal, Rosulek 2017, §4" },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input)?)),
};
