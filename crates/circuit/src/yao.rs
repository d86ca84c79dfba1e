//! # Yao's garbled circuits
//!
//! A. Yao, "How to generate and exchange secrets", FOCS 1986, with half gates and free XOR (Zahur, Rosulek, Evans,
//! EUROCRYPT 2015; [`vesica_simd::garble`] has the gates and their hash) and labels for the evaluator's inputs by
//! silent transfers. The sender garbles, the receiver evaluates.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of silent transfers ([`cot`]) and of AES as an ideal cipher; 127 bits of Δ are secret |
//! | who learns what | those who are told a result, the result; the evaluator cannot tell a value from another |
//! | flights | those of the setup, one for the evaluator's inputs, one for all gates; none in between; [`flights`] |
//! | bytes | 32 an AND gate, 16 a one-sided one, a bit for each of the evaluator's inputs; [`bytes`] |
//! | memory | the wires of the circuit's front, 16 bytes a lane; ciphertexts are sent while they are made, and not kept |
//!
//! ```text
//!   garbler                                      evaluator
//!
//!                ────     start, seed    ───▶
//!   silent transfers: Δ, K                       r, M = K + r·Δ
//!
//!   own input x:   W = G(seed) + x·Δ             G(seed)
//!   other's y:   ◀────    d = y + r     ────     M
//!                  W = K + d·Δ
//!   a ∧ b:       ────  ciphertexts: 2   ───▶     the active label of a ∧ b
//!   result:      ────  colours of W     ───▶     + colours of the active labels
//!          or    ◀────  colours of active  ───
//! ```
//!
//! W is the label of zero, W + Δ that of one; the evaluator holds the *active* one, of the value that the wire has.
//!
//! * The garbler's inputs cost nothing: the active labels are a stream that both expand from a seed, and the garbler
//!   derives W from them. The evaluator knows them beforehand, which the hash of the gates allows for: it is secure for
//!   labels that an adversary chooses.
//! * The transfers' Δ is the circuit's. Its lowest bit is one, so that the lowest bit of a label is its colour.
//! * A constant that both know has the active label 0 and W = c·Δ for the value c. NOT is W + Δ, at the garbler alone,
//!   for a constant as for any wire. In an AND gate the label Δ of a constant is hashed as any label that the evaluator
//!   does not hold.
//! * Gates are numbered through from the session's start, as both count them, and none twice.

mod evaluator;
mod garbler;
mod labels;
mod messages;

pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use labels::Labels;

use crate::{Cost, Counting, Reveal};
use vesica_core::{Block, Role, SemiHonest};
use vesica_ot::Traffic;
use vesica_ot::silent::cot;

/// Lanes that circuits work on at a time: the labels of some dozens of wires stay in the cache.
const LANES_AT_ONCE: usize = 1024;

/// What counts the costs of a computation as this one evaluates it.
pub fn counting() -> Counting {
    Counting::new(LANES_AT_ONCE, false)
}

/// The evaluator's private bits, each a transfer.
fn transfers(cost: &Cost) -> usize {
    cost.receiver_inputs.iter().sum::<u64>() as usize
}

/// Payload bytes of a computation.
pub fn bytes(cost: &Cost) -> Traffic {
    let seeds = Traffic { sender_to_receiver: 2 * Block::LEN as u64, receiver_to_sender: 0 };
    let setup = match transfers(cost) {
        0 => seeds,
        transfers => seeds + cot::bytes::<SemiHonest>(transfers),
    };
    let ciphertexts = 2 * cost.count.ands + cost.count.one_sided;
    let gates = Traffic {
        sender_to_receiver: ciphertexts * Block::LEN as u64,
        receiver_to_sender: cost.receiver_inputs.iter().map(|bits| bits.div_ceil(8)).sum(),
    };
    let results = cost.results.iter().map(|(bits, to)| Traffic {
        sender_to_receiver: if to.to(Role::Receiver) { bits.div_ceil(8) } else { 0 },
        receiver_to_sender: if to.to(Role::Sender) { bits.div_ceil(8) } else { 0 },
    });
    let checked = cost.checked_results.iter().map(|bits| Traffic {
        sender_to_receiver: bits.div_ceil(8),
        receiver_to_sender: bits * Block::LEN as u64,
    });
    results.chain(checked).fold(setup + gates, |sum, bytes| sum + bytes)
}

/// Flights of a computation, unless there is nothing to compute or to tell in between.
pub fn flights(cost: &Cost) -> u64 {
    let transfers = transfers(cost);
    let setup = match transfers {
        0 => 0,
        // Few transfers come from the extension below the silent ones.
        _ if cot::extend_bytes::<SemiHonest>(transfers).sender_to_receiver == 0 => 2,
        _ => 4,
    };
    let answers = |to: &Reveal| to.to(Role::Sender);
    let results = cost.results.iter().filter(|(_, to)| answers(to)).count();
    let is_last = cost.results.last().is_some_and(|(_, to)| answers(to));
    let waits = (results + cost.checked_results.len()) as u64 + cost.late_inputs;
    setup + 1 + 2 * waits - u64::from(is_last)
}
