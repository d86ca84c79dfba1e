//! # Yao's garbled circuits
//!
//! A. Yao, "How to generate and exchange secrets", FOCS 1986, with half gates and free XOR (Zahur,
//! Rosulek, Evans, EUROCRYPT 2015; [`vesica_simd::garble`] has the gates and their hash). The
//! evaluator gets the labels of its inputs by silent OT. The sender garbles, the receiver
//! evaluates.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, if silent OT is; over OT against malicious parties, [one-sided](#over-transfers-against-malicious-parties) ([`cot`]) and AES is an ideal cipher; Δ has 127 secret bits |
//! | who learns what | the parties named by [`Reveal`], the result; the evaluator cannot tell a value from another |
//! | flights | those of the setup, one for the evaluator's inputs, one for all gates; [`flights`] |
//! | bytes | 32 per AND gate, 16 per one-sided gate, one bit per input bit of the evaluator; [`bytes`] |
//! | memory | the live wires of the circuit, 16 bytes per lane; the ciphertexts of a message, or with several threads of a part of at most 2^20 gates |
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
//! W is the label of zero, W + Δ the label of one. The evaluator holds the *active* label, that of
//! the wire's value.
//!
//! * The garbler's inputs cost nothing. Both parties expand the active labels from a seed, and the
//!   garbler derives W from them. So the evaluator knows these labels in advance; the hash of the
//!   gates stays secure when the adversary chooses labels.
//! * The OTs' Δ is the circuit's. Its lowest bit is one, so the lowest bit of a label is its
//!   colour.
//! * A public constant has the active label 0, and W = c·Δ for its value c. NOT is W + Δ, at the
//!   garbler only, for constants as for all wires. In an AND gate the label Δ of a constant is
//!   hashed like any label that the evaluator does not hold.
//! * Both parties number the gates from the start of the session; no number is used twice.

//!
//! # Over transfers against malicious parties
//!
//! [`Garbler::over`] and [`Evaluator::over`] take the adversary of the transfers as a type. Over
//! transfers against malicious parties, and if nothing is revealed but to the evaluator (Huang,
//! Evans, Katz, NDSS 2012, §2; the definition is that of one-sided simulation, C. Hazay, Y.
//! Lindell, "Efficient Secure Two-Party Protocols", 2010, §2.6.2):
//!
//! * An evaluator that deviates learns what is revealed to it, for an input that is fixed before it
//!   has seen a gate, and nothing else: it has one label of each wire, and the circuit is the
//!   garbler's.
//! * A garbler that deviates receives transfers, and bits that a random pad hides. So it learns
//!   nothing, but it can garble another circuit, and so choose what the evaluator finds as a
//!   function of the evaluator's input.

mod evaluator;
mod garbler;
mod labels;
mod lane_wise;
mod messages;

pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use labels::Labels;

use crate::{Cost, Counting, Reveal};
use vesica_core::{Block, Role, Security, SemiHonest};
use vesica_ot::Traffic;
use vesica_ot::silent::cot;

/// Lanes per call: the labels of a few dozen wires stay in the cache.
const LANES_AT_ONCE: usize = 1024;

/// A [`Counting`] that counts as this evaluator works.
pub fn counting() -> Counting {
    Counting::new(LANES_AT_ONCE, false)
}

/// Private bits of the evaluator; each takes one OT.
fn transfers(cost: &Cost) -> usize {
    cost.receiver_inputs.iter().sum::<u64>() as usize
}

/// Payload bytes of a computation.
pub fn bytes(cost: &Cost) -> Traffic {
    bytes_over::<SemiHonest>(cost)
}

/// The same over transfers against the adversary `S`.
pub fn bytes_over<S: Security>(cost: &Cost) -> Traffic {
    let seeds = Traffic { sender_to_receiver: 2 * Block::LEN as u64, receiver_to_sender: 0 };
    let setup = match transfers(cost) {
        0 => seeds,
        transfers => seeds + cot::bytes::<S>(transfers),
    };
    let ciphertexts = 2 * cost.count.ands + cost.count.one_sided;
    let gates = Traffic {
        sender_to_receiver: ciphertexts * Block::LEN as u64,
        receiver_to_sender: cost.receiver_inputs.iter().map(|bits| bits.div_ceil(8)).sum(),
    };
    let results = cost.results.iter().map(|(bits, to)| Traffic {
        sender_to_receiver: if to.includes(Role::Receiver) { bits.div_ceil(8) } else { 0 },
        receiver_to_sender: if to.includes(Role::Sender) { bits.div_ceil(8) } else { 0 },
    });
    let checked = cost.checked_results.iter().map(|bits| Traffic {
        sender_to_receiver: bits.div_ceil(8),
        receiver_to_sender: bits * Block::LEN as u64,
    });
    results.chain(checked).fold(setup + gates, |sum, bytes| sum + bytes)
}

/// Flights of a computation; fewer if there is nothing to compute or to reveal in between.
pub fn flights(cost: &Cost) -> u64 {
    flights_over::<SemiHonest>(cost)
}

/// The same over transfers against the adversary `S`.
pub fn flights_over<S: Security>(cost: &Cost) -> u64 {
    let transfers = transfers(cost);
    let setup = match transfers {
        0 => 0,
        // A few OTs come directly from the OT extension below silent OT.
        _ if cot::extend_bytes::<S>(transfers).sender_to_receiver == 0 => 2,
        _ => cot::flights::<S>(transfers) + 1,
    };
    let answers = |to: &Reveal| to.includes(Role::Sender);
    let results = cost.results.iter().filter(|(_, to)| answers(to)).count();
    let is_last = cost.results.last().is_some_and(|(_, to)| answers(to));
    let waits = (results + cost.checked_results.len()) as u64 + cost.late_inputs;
    setup + 1 + 2 * waits - u64::from(is_last)
}
