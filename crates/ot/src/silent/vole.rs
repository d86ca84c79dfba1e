//! # Silent VOLE
//!
//! The sender holds Δ and b; the receiver holds a and c = a·Δ + b. The values a are pseudorandom in
//! GF(2^128), or in a subspace of it, see [`Values`].
//!
//! | | |
//! |---|---|
//! | security | semi-honest or malicious by type, if [`softspoken`] is, and regular LPN over GF(2^128) or GF(2^16) is hard |
//! | flights | setup and first extension: S→R, R→S, S→R. Later extensions: R→S, S→R. Malicious: R→S, S→R in addition |
//! | bytes | [`bytes`], [`setup_bytes`], [`extend_bytes`] |
//! | memory | of a stream: two tables of k seeds, and a few blocks per tree |
//!
//! ```text
//!   sender: Δ                                   receiver
//!
//!   SoftSpoken: transfers for each level of each tree, and VOLEs for the noise values of
//!   the first code
//!                ◀────  corrections, code seed  ────
//!                ────  tree seed, tree messages  ───▶
//!   errors' keys  v                             w = v + e·Δ, e
//!   first code: b = v·H                         c = w·H, a = e·H         (dual LPN)
//!   steps, each from k of these:
//!        b = x_b·A + v                          c = x_c·A + w, a = x_a·A + e
//!
//!   malicious:
//!                ◀────  χ, x = ⟨χ, e⟩ + s  ────     s of a spare VOLE
//!                ────  hash(⟨χ, v⟩ + K_s + x·Δ)  ──▶  hash(⟨χ, w⟩ + M_s)?
//! ```
//!
//! The check covers all trees of an extension, those of the first code and of all steps.
//!
//! SoftSpoken's response arrives with its corrections, and the sender checks it before it sends
//! anything of a tree: with a tree, a receiver that deviated below could find Δ.

mod receiver;
mod sender;

pub use super::values::Values;
pub use receiver::{Receiver, ReceiverStream};
pub use sender::{Sender, SenderStream};

use super::check;
use super::parameters::{Start, VolePlan};
use crate::Traffic;
use crate::softspoken::{self, FieldBits, Request};
use vesica_core::{Block, Security};

/// The extension below produces little, so its bytes matter most.
const FIELD_BITS: FieldBits = FieldBits::Eight;

/// Payload bytes of a setup and one extension by `len` correlations.
pub fn bytes<S: Security>(len: usize, values: Values) -> Traffic {
    setup_bytes::<S>() + extend_bytes::<S>(len, values)
}

/// Payload bytes of a setup.
pub fn setup_bytes<S: Security>() -> Traffic {
    softspoken::setup_bytes::<S>(FIELD_BITS)
}

/// Payload bytes of one extension by `len` correlations.
///
/// # Panics
/// If the space of values does not exist.
pub fn extend_bytes<S: Security>(len: usize, values: Values) -> Traffic {
    if len == 0 {
        return Traffic::default();
    }
    let plan = VolePlan::new(len, values);
    let lift = values.map();
    let below = softspoken::extend_bytes::<S>(FIELD_BITS, request::<S>(&plan, &lift));
    if plan.start == Start::Direct {
        return below;
    }
    let trees = (1 + plan.message_blocks()) * Block::LEN;
    let check = if S::MALICIOUS { check::BYTES } else { Traffic::default() };
    let own = Traffic {
        sender_to_receiver: trees as u64 + check.sender_to_receiver,
        receiver_to_sender: Block::LEN as u64 + check.receiver_to_sender,
    };
    below + own
}

/// Flights of a setup and one extension by `len` correlations: two where they come directly from
/// the extension below, the last of them from the receiver; else three, or five against deviating
/// parties, the last from the sender.
///
/// # Panics
/// As [`extend_bytes`].
pub fn flights<S: Security>(len: usize, values: Values) -> u64 {
    match VolePlan::new(len, values).start {
        Start::Direct => 2,
        _ if S::MALICIOUS => 5,
        _ => 3,
    }
}

/// The request to the extension below.
fn request<'a, S: Security>(plan: &VolePlan, lift: &'a crate::Lift) -> Request<'a> {
    let spare = usize::from(S::MALICIOUS && plan.start != Start::Direct);
    Request { cots: plan.transfers(), voles: plan.voles() + spare, lift }
}
