//! # Silent correlated transfer
//!
//! The sender holds Δ, whose lowest bit is one, and K; the receiver holds random bits r and M = K +
//! r·Δ. The lowest bit of K is zero, so the lowest bit of M is r, and one table of blocks serves
//! both.
//!
//! | | |
//! |---|---|
//! | security | semi-honest or malicious by type, if [`softspoken`] is, and regular LPN over GF(2) is hard; Δ has 127 secret bits |
//! | flights | as [`vole`](super::vole) |
//! | bytes | [`bytes`], [`setup_bytes`], [`extend_bytes`] |
//! | memory | of a stream: two tables of k seeds, and a few blocks per tree |
//!
//! ```text
//!   sender: Δ                                   receiver
//!
//!   SoftSpoken: transfers for the seeds x, and for each level of each tree
//!                ◀────  corrections, code seed  ────
//!                ────  tree seed, tree messages  ───▶
//!   leaves v                                    w = v + e·Δ, e one in each tree
//!   steps, each from k of these:
//!        K = x_K·A + v                          M = x_M·A + w
//!   malicious: the check of the trees
//! ```
//!
//! The leaves of each tree sum to Δ, so no message is needed for the errors: they are one.
//!
//! The trees are sent after SoftSpoken's check, as in [`vole`](super::vole).

mod receiver;
mod sender;

pub use receiver::{Receiver, ReceiverStream};
pub use sender::{Sender, SenderStream};

use super::check;
use super::parameters::CotPlan;
use super::tree::Leaves;
use crate::softspoken::{self, FieldBits, Request};
use crate::{Lift, Traffic};
use std::sync::LazyLock;
use vesica_core::{Block, Security};

/// The extension below produces little, so its bytes matter most.
const FIELD_BITS: FieldBits = FieldBits::Eight;

static IDENTITY: LazyLock<Lift> = LazyLock::new(Lift::identity);

/// Payload bytes of a setup and one extension by `len` transfers.
pub fn bytes<S: Security>(len: usize) -> Traffic {
    setup_bytes::<S>() + extend_bytes::<S>(len)
}

/// Payload bytes of a setup.
pub fn setup_bytes<S: Security>() -> Traffic {
    softspoken::setup_bytes::<S>(FIELD_BITS)
}

/// Payload bytes of one extension by `len` transfers.
pub fn extend_bytes<S: Security>(len: usize) -> Traffic {
    if len == 0 {
        return Traffic::default();
    }
    let plan = CotPlan::new(len);
    let below = softspoken::extend_bytes::<S>(FIELD_BITS, request::<S>(&plan));
    if plan.steps.is_empty() {
        return below;
    }
    let message_len = |depth| Leaves::Correlated.message_len(depth);
    let of_group = |group: &super::parameters::Group| group.trees * message_len(group.depth);
    let trees = (1 + plan.groups().iter().map(of_group).sum::<usize>()) * Block::LEN;
    let check = if S::MALICIOUS { check::BYTES } else { Traffic::default() };
    let own = Traffic {
        sender_to_receiver: trees as u64 + check.sender_to_receiver,
        receiver_to_sender: Block::LEN as u64 + check.receiver_to_sender,
    };
    below + own
}

/// Flights of a setup and one extension by `len` transfers, as
/// [`vole::flights`](super::vole::flights).
pub fn flights<S: Security>(len: usize) -> u64 {
    match CotPlan::new(len).steps.is_empty() {
        true => 2,
        false if S::MALICIOUS => 5,
        false => 3,
    }
}

/// The request to the extension below, with one spare VOLE if the trees are checked.
fn request<S: Security>(plan: &CotPlan) -> Request<'static> {
    let spare = usize::from(S::MALICIOUS && !plan.steps.is_empty());
    Request { cots: plan.transfers(), voles: spare, lift: &IDENTITY }
}

/// The bit that holds a choice.
const CHOICE: Block = Block::ONE;

/// Clears the bit that holds a choice.
fn clear_choices(blocks: &mut [Block]) {
    let others = Block::new(!CHOICE.get());
    blocks.iter_mut().for_each(|block| *block = *block & others);
}
