//! Garbled AND gates: half gates with free XOR.
//!
//! Source: Zahur, Rosulek, Evans, "Two halves make a whole" (EUROCRYPT 2015). A wire has two
//! labels, W for zero and W ⊕ Δ for one. The garbler holds W, the evaluator one of the two, the
//! *active* label. The lowest bit of Δ is one, so the lowest bit of a label, its *colour*,
//! distinguishes the two labels without revealing the value. XOR and NOT of wires are sums of
//! labels.
//!
//! | gate | ciphertexts | hashes at the garbler | at the evaluator |
//! |---|---|---|---|
//! | a ∧ b | 2 | 4 | 2 |
//! | a ∧ s, the garbler knows s | 1 | 2 | 1 |
//!
//! # The hash
//!
//! Each gate has an AES key k = S ⊕ g for its number g and a random start S that both parties know.
//! The constants ω and ω² = ω ⊕ 1 of GF(4) separate the halves of a gate; a block is a vector over
//! GF(4):
//!
//! ```text
//!   H(x; g, h) = π(y) ⊕ y,   y = ω^(1+h)·x,   π = AES under S ⊕ g,   ω·(l ‖ r) = (l ⊕ r) ‖ l
//! ```
//!
//! This is the hash of Guo, Katz, Wang, Weng and Yu ("Better concrete security for half-gates
//! garbling", CRYPTO 2020), who use only ω and a key for each half. Key expansion dominates the
//! cost: two keys per gate would cost a third of the speed, and one key for two gates would gain a
//! fifth. The requirement on the hash is theirs, circular correlation robustness: for labels x
//! chosen by the adversary and bits b, H(x ⊕ Δ; g, h) ⊕ b·Δ looks random if no (g, h) is queried
//! twice. With an ideal cipher it can fail in these ways:
//!
//! * The adversary queries the cipher for a key, an input or an output that we used. Each input or
//!   output is ω^(1+h)·Δ or (ω^(1+h) ⊕ b)·Δ, plus a known value. Both multiples are invertible, so
//!   a query hits with probability 2^-127 for each unknown point under its key, and there are **two
//!   unknown points per key**: 2·2·p/2^127 for p queries.
//! * The two points of a key have the same input: then (ω ⊕ ω²)·Δ = Δ is a value determined by the
//!   labels, with probability 2^-127 per gate; or they have the same output where outputs should be
//!   random, with probability 2^-128 per gate.
//!
//! Over many sessions the random starts spread gates over keys, so each key belongs to few gates,
//! and p counts once, not once per gate: with one key for all of C gates the first bound would be C
//! times as large.
//!
//! # Timing
//!
//! Depends only on the number of gates, not on a label, Δ or a known bit.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod keys;
mod known_bits;
mod portable;

pub use keys::GateHash;
pub use known_bits::KnownBits;

use crate::{Backend, Block};

/// Garbles a ∧ b: gate `first_gate` + i has the zero labels `a[i]` and `b[i]`. Writes the zero
/// labels of the results to `out` and the ciphertexts to `table`: those of all generator halves,
/// and those of all evaluator halves.
///
/// # Panics
/// Unless all lengths are equal.
pub fn garble_and(
    hash: GateHash,
    first_gate: u64,
    delta: Block,
    a: &[Block],
    b: &[Block],
    out: &mut [Block],
    table: [&mut [Block]; 2],
) {
    check_and([a.len(), b.len(), out.len()], [table[0].len(), table[1].len()]);
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { avx512::garble_and(hash.keys(first_gate), delta, [a, b], out, table) };
    }
    portable::garble_and(hash.keys(first_gate), delta, [a, b], out, table);
}

/// Evaluates the gates of [`garble_and`] on the active labels `a` and `b`. Writes the active labels
/// of the results to `out`.
///
/// # Panics
/// As [`garble_and`].
pub fn evaluate_and(
    hash: GateHash,
    first_gate: u64,
    a: &[Block],
    b: &[Block],
    table: [&[Block]; 2],
    out: &mut [Block],
) {
    check_and([a.len(), b.len(), out.len()], table.map(<[Block]>::len));
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe { avx512::evaluate_and(hash.keys(first_gate), [a, b], table, out) };
    }
    portable::evaluate_and(hash.keys(first_gate), [a, b], table, out);
}

/// Garbles a ∧ s: gate `first_gate` + i has the zero label `a[i]` and the i-th bit of `known`.
/// Writes the zero labels of the results to `out` and the ciphertexts, one per gate, to `table`.
///
/// # Panics
/// Unless `a`, `out` and `table` have equal lengths, or if there are too few bits.
pub fn garble_known(
    hash: GateHash,
    first_gate: u64,
    delta: Block,
    known: KnownBits<'_>,
    a: &[Block],
    out: &mut [Block],
    table: &mut [Block],
) {
    assert!(a.len() == out.len() && a.len() == table.len(), "one ciphertext per gate");
    let last = known.first.checked_add(a.len());
    assert!(last.is_some_and(|last| last <= 128 * known.blocks.len()), "one bit per gate");
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe { avx512::garble_known(hash.keys(first_gate), delta, known, a, out, table) };
    }
    portable::garble_known(hash.keys(first_gate), delta, known, a, out, table);
}

/// Evaluates the gates of [`garble_known`].
///
/// # Panics
/// Unless all lengths are equal.
pub fn evaluate_known(
    hash: GateHash,
    first_gate: u64,
    a: &[Block],
    table: &[Block],
    out: &mut [Block],
) {
    assert!(a.len() == out.len() && a.len() == table.len(), "one ciphertext per gate");
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe { avx512::evaluate_known(hash.keys(first_gate), a, table, out) };
    }
    portable::evaluate_known(hash.keys(first_gate), a, table, out);
}

fn check_and([n, b, out]: [usize; 3], ciphertexts: [usize; 2]) {
    assert!(b == n && out == n && ciphertexts == [n; 2], "two ciphertexts per gate");
}

/// Splits the ciphertexts of some gates into the generator halves and the evaluator halves, which
/// follow them.
pub fn halves(table: &[Block]) -> [&[Block]; 2] {
    let (generator, evaluator) = table.split_at(table.len() / 2);
    [generator, evaluator]
}

/// Like [`halves`], mutable.
pub fn halves_mut(table: &mut [Block]) -> [&mut [Block]; 2] {
    let (generator, evaluator) = table.split_at_mut(table.len() / 2);
    [generator, evaluator]
}
