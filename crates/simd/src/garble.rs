//! Garbled AND gates: half gates with free XOR, gate after gate.
//!
//! Source: Zahur, Rosulek, Evans, "Two halves make a whole" (EUROCRYPT 2015). A wire has two labels, W for zero and
//! W ⊕ Δ for one; the garbler holds W, the evaluator one of the two, the *active* one. Δ has the lowest bit one, so the
//! lowest bit of a label, its *colour*, tells which of two it is, and says nothing about its value. XOR and NOT of wires
//! are sums of labels.
//!
//! | gate | ciphertexts | hashes at the garbler | at the evaluator |
//! |---|---|---|---|
//! | a ∧ b | 2 | 4 | 2 |
//! | a ∧ s, the garbler knows s | 1 | 2 | 1 |
//!
//! # The hash
//!
//! Each gate has an AES key of its own, k = S ⊕ g for its number g and a random start S that both parties know; the
//! halves of a gate are told apart by the constants ω and ω² = ω ⊕ 1 of GF(4), which a block is a vector over:
//!
//! ```text
//!   H(x; g, h) = π(y) ⊕ y,   y = ω^(1+h)·x,   π = AES under S ⊕ g,   ω·(l ‖ r) = (l ⊕ r) ‖ l
//! ```
//!
//! This is the hash of Guo, Katz, Wang, Weng and Yu ("Better concrete security for half-gates garbling", CRYPTO 2020),
//! who take ω alone and a key for each half. Making the keys is so much of the work that two of them cost a third of the
//! speed, and one for two gates would bring a fifth. What the hash must satisfy is theirs, circular correlation
//! robustness: for labels x of the adversary's choice and bits b, H(x ⊕ Δ; g, h) ⊕ b·Δ looks random when no (g, h) is
//! asked for twice. With an ideal cipher it can fail in these ways:
//!
//! * A key, an input or an output that the adversary asked the cipher for is one that we used. Each is ω^(1+h)·Δ, or
//!   (ω^(1+h) ⊕ b)·Δ, plus what is known; both multiples are invertible, so a question hits with 2^-127 for each unknown
//!   point under its key, and there are **two unknown points a key**: 2·2·p/2^127 for p questions.
//! * The two points of a key have the same input: then (ω ⊕ ω²)·Δ = Δ is a value that the labels fix, 2^-127 a gate;
//!   or, where they should be random, the same output, 2^-128 a gate.
//!
//! Over many sessions the random starts make each key the key of few gates, and p still counts once, not once a gate:
//! with one key for all of C gates the first bound would be C times as large.
//!
//! # Timing
//!
//! Depends on the number of gates alone: not on a label, Δ or a known bit.

use crate::{Backend, Block};

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// The hash of a session's gates.
///
/// No gate number may be used twice under one start.
#[derive(Clone, Copy, Debug)]
pub struct GateHash {
    start: Block,
}

impl GateHash {
    /// The hash that starts at `start`, uniformly random and known to both parties.
    pub const fn new(start: Block) -> Self {
        Self { start }
    }

    fn keys(self, first: u64) -> Keys {
        Keys { hash: self, first }
    }
}

/// The keys of the gates from number `first` on.
#[derive(Clone, Copy)]
struct Keys {
    hash: GateHash,
    first: u64,
}

impl Keys {
    /// The keys from the `i`-th on.
    #[inline]
    fn from(self, i: usize) -> Self {
        self.hash.keys(self.first.wrapping_add(i as u64))
    }

    /// The `i`-th key.
    #[inline]
    fn key(self, i: usize) -> Block {
        self.hash.start ^ Block::new(self.from(i).first.into())
    }
}

/// Bits that the garbler knows, 128 to a block, the least significant first.
#[derive(Clone, Copy)]
pub struct KnownBits<'a> {
    /// The bits.
    pub blocks: &'a [Block],
    /// The number of the first one to use.
    pub first: usize,
}

impl KnownBits<'_> {
    /// Bit `i` from the first one on.
    #[inline]
    fn get(&self, i: usize) -> bool {
        let i = self.first + i;
        self.blocks[i / 128].bit((i % 128) as u32)
    }
}

/// Garbles a ∧ b, the gate of number `first_gate` + i for the zero labels `a[i]` and `b[i]`: the zero labels of the results to `out`, the
/// ciphertexts to `table`, first those of all generator halves, then those of all evaluator halves.
///
/// # Panics
/// If there are not equally many of all, and twice as many ciphertexts.
pub fn garble_and(
    hash: GateHash,
    first_gate: u64,
    delta: Block,
    a: &[Block],
    b: &[Block],
    out: &mut [Block],
    table: &mut [Block],
) {
    let table = check_and([a.len(), b.len(), out.len()], table.len(), || halves_mut(table));
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: the backend is only active where the processor has its instructions.
        return unsafe { avx512::garble_and(hash.keys(first_gate), delta, [a, b], out, table) };
    }
    portable::garble_and(hash.keys(first_gate), delta, [a, b], out, table);
}

/// Evaluates what [`garble_and`] garbled: active labels `a`, `b`, the same gates and ciphertexts; the active labels of the
/// results to `out`.
///
/// # Panics
/// As [`garble_and`].
pub fn evaluate_and(
    hash: GateHash,
    first_gate: u64,
    a: &[Block],
    b: &[Block],
    table: &[Block],
    out: &mut [Block],
) {
    let table = check_and([a.len(), b.len(), out.len()], table.len(), || {
        let (generator, evaluator) = table.split_at(table.len() / 2);
        [generator, evaluator]
    });
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe { avx512::evaluate_and(hash.keys(first_gate), [a, b], table, out) };
    }
    portable::evaluate_and(hash.keys(first_gate), [a, b], table, out);
}

/// Garbles a ∧ s, the gate of number `first_gate` + i for the zero label `a[i]` and the i-th of `known`: the zero labels of the results to `out`, the
/// ciphertexts, one a gate, to `table`.
///
/// # Panics
/// If there are not equally many of all, or too few bits.
pub fn garble_known(
    hash: GateHash,
    first_gate: u64,
    delta: Block,
    known: KnownBits<'_>,
    a: &[Block],
    out: &mut [Block],
    table: &mut [Block],
) {
    assert!(a.len() == out.len() && a.len() == table.len(), "a ciphertext for each gate");
    let last = known.first.checked_add(a.len());
    assert!(last.is_some_and(|last| last <= 128 * known.blocks.len()), "a bit for each gate");
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe {
            avx512::garble_known(hash.keys(first_gate), delta, known, a, (out, table))
        };
    }
    portable::garble_known(hash.keys(first_gate), delta, known, a, (out, table));
}

/// Evaluates what [`garble_known`] garbled.
///
/// # Panics
/// If there are not equally many of all.
pub fn evaluate_known(
    hash: GateHash,
    first_gate: u64,
    a: &[Block],
    table: &[Block],
    out: &mut [Block],
) {
    assert!(a.len() == out.len() && a.len() == table.len(), "a ciphertext for each gate");
    #[cfg(target_arch = "x86_64")]
    if Backend::active() == Backend::Avx512 {
        // SAFETY: as above.
        return unsafe { avx512::evaluate_known(hash.keys(first_gate), a, table, out) };
    }
    portable::evaluate_known(hash.keys(first_gate), a, table, out);
}

fn check_and<T>(gates: [usize; 3], ciphertexts: usize, halves: impl FnOnce() -> T) -> T {
    let [n, b, out] = gates;
    assert!(b == n && out == n && Some(ciphertexts) == n.checked_mul(2), "two ciphertexts a gate");
    halves()
}

fn halves_mut(table: &mut [Block]) -> [&mut [Block]; 2] {
    let (generator, evaluator) = table.split_at_mut(table.len() / 2);
    [generator, evaluator]
}
