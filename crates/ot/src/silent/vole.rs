//! # Silent VOLE
//!
//! The sender holds Δ and b; the receiver holds a and c = a·Δ + b. The values a are pseudorandom in
//! GF(2^128), or in a subspace of it, see [`Values`].
//!
//! | | |
//! |---|---|
//! | security | of [`softspoken`](crate::softspoken) and regular LPN over GF(2^128) or GF(2^16); semi-honest or malicious by type |
//! | flights | setup and first extension: S→R, R→S, S→R; malicious: two more, R→S, S→R. Later extensions: R→S, S→R; malicious: S→R, R→S in between, and the two |
//! | bytes | [`bytes`], [`setup_bytes`], [`extend_bytes`] |
//! | memory | of a stream: two tables of k seeds, and a few blocks a tree |
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
//! **The check** is that of Ferret and of C. Weng, K. Yang, J. Katz, X. Wang, "Wolverine" (IEEE S&P
//! 2021). A sender that deviates in a tree is caught unless it has guessed where the tree's error is: what a sender learns
//! of the errors by not being caught is within the assumption. χ of leaf j of tree i is μ_i·χ_j.
//!
//! With a malicious receiver the trees of the first extension are sent before SoftSpoken's check:
//! nothing else depends on Δ then, and after a failed check Δ is not used again. Later
//! extensions wait for the check.

mod receiver;
mod sender;

pub use super::values::Values;
pub use receiver::{Receiver, ReceiverStream};
pub use sender::{Sender, SenderStream};

use super::parameters::{DUAL_TREES, Plan, Start};
use crate::Traffic;
use crate::softspoken::{self, FieldBits, Request};
use vesica_core::hash::derive;
use vesica_core::{Block, Security};
use vesica_simd::aes::Aes128;

const CHECK: &str = "vesica ot 2026 silent VOLE check";

/// The extension below is asked for little, so few bytes count most.
const FIELD_BITS: FieldBits = FieldBits::Eight;

/// Trees in one message.
const TREES_PER_MESSAGE: usize = 512;

const _: () = assert!(DUAL_TREES <= TREES_PER_MESSAGE, "the dual code's trees are one message");

/// Length of the sender's answer in the check.
const DIGEST_LEN: usize = 32;

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
/// If there is no such space of values.
pub fn extend_bytes<S: Security>(len: usize, values: Values) -> Traffic {
    if len == 0 {
        return Traffic::default();
    }
    let plan = Plan::new(len, values);
    let lift = values.map();
    let below = softspoken::extend_bytes::<S>(FIELD_BITS, request::<S>(&plan, &lift));
    if plan.start == Start::Direct {
        return below;
    }
    let trees = (1 + plan.message_blocks()) * Block::LEN;
    let (question, answer) = if S::MALICIOUS { (2 * Block::LEN, DIGEST_LEN) } else { (0, 0) };
    let own = Traffic {
        sender_to_receiver: (trees + answer) as u64,
        receiver_to_sender: (Block::LEN + question) as u64,
    };
    below + own
}

/// What the extension below is asked for.
fn request<'a, S: Security>(plan: &Plan, lift: &'a crate::Lift) -> Request<'a> {
    let spare = usize::from(S::MALICIOUS && plan.start != Start::Direct);
    Request { cots: plan.transfers(), voles: plan.voles() + spare, lift }
}

/// χ: the public coefficients of the check.
struct Challenge {
    leaves: Vec<Block>,
    trees: Vec<Block>,
}

impl Challenge {
    fn new(seed: Block, plan: &Plan) -> Self {
        let depth = plan.dual_depth().max(plan.steps.row.depth);
        let mut leaves = vec![Block::ZERO; 1 << depth];
        let mut trees = vec![Block::ZERO; plan.dual_trees() + plan.steps.all_trees()];
        let stream = Aes128::new(seed);
        stream.ctr(0, &mut leaves);
        stream.ctr(1 << 64, &mut trees);
        Self { leaves, trees }
    }
}

fn digest(sum: Block) -> [u8; DIGEST_LEN] {
    derive(CHECK, &[&sum.to_le_bytes()])
}
