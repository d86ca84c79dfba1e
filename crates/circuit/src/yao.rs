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
//! | flights | those of the setup, one for the evaluator's inputs, one for all gates; none in between |
//! | bytes | 32 an AND gate, 16 a one-sided one, a bit for each of the evaluator's inputs; [`gates_bytes`], [`setup_bytes`], [`input_bytes`], [`reveal_bytes`] |
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

use crate::{Count, Reveal};
use vesica_core::{Block, Role, SemiHonest};
use vesica_ot::silent::cot;
use vesica_ot::{Bits, Traffic};

/// Lanes that circuits work on at a time: the labels of some dozens of wires stay in the cache.
const LANES_AT_ONCE: usize = 1024;

/// Payload bytes of the setup for that many bits of the evaluator.
pub fn setup_bytes(evaluator_bits: usize) -> Traffic {
    let seeds = Traffic { sender_to_receiver: 2 * Block::LEN as u64, receiver_to_sender: 0 };
    if evaluator_bits == 0 { seeds } else { seeds + cot::bytes::<SemiHonest>(evaluator_bits) }
}

/// Payload bytes of `width` wires of `len` lanes each of the private bits of the party in role `of`.
pub fn input_bytes(of: Role, width: usize, len: usize) -> Traffic {
    let bytes = if of == Role::Receiver { bits_bytes(width, len) } else { 0 };
    Traffic { sender_to_receiver: 0, receiver_to_sender: bytes }
}

/// Payload bytes of all gates.
pub fn gates_bytes(count: &Count) -> Traffic {
    let blocks = 2 * count.ands + count.one_sided;
    Traffic { sender_to_receiver: blocks * Block::LEN as u64, receiver_to_sender: 0 }
}

/// Payload bytes of the values of `width` wires of `len` lanes each to those in `to`.
pub fn reveal_bytes(width: usize, len: usize, to: Reveal) -> Traffic {
    let bytes = bits_bytes(width, len);
    Traffic {
        sender_to_receiver: if to.to(Role::Receiver) { bytes } else { 0 },
        receiver_to_sender: if to.to(Role::Sender) { bytes } else { 0 },
    }
}

/// Payload bytes of the values of `width` wires of `len` lanes each to both, checked.
pub fn reveal_checked_bytes(width: usize, len: usize) -> Traffic {
    let labels = (width * len * Block::LEN) as u64;
    Traffic { sender_to_receiver: bits_bytes(width, len), receiver_to_sender: labels }
}

/// Each wire's bits start with a byte.
fn bits_bytes(width: usize, len: usize) -> u64 {
    (width * Bits::bytes_len(len)) as u64
}
