//! # The batched OPRF of KKRT16
//!
//! V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, "Efficient batched oblivious PRF with
//! applications to private set intersection", ACM CCS 2016 (ePrint 2016/799), Figure 2: m instances,
//! in each of which the receiver learns the function at one input.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of [`coded`](vesica_ot::coded); the hash is correlation robust, AES gives a pseudorandom code |
//! | sender holds | a key of each instance: F_i(x) for every x |
//! | receiver holds | F_i(x_i) for one input x_i of its own in each instance |
//! | flights | setup: R→S, S→R; evaluation: R→S, which joins the setup's |
//! | bytes | of the setup, and W/8 an instance |
//! | cost | receiver 2·W/128 + 4 AES blocks an instance and a hash; sender W/128, and 4 and a hash an evaluation |
//!
//! ```text
//!   sender: s ∈ {0,1}^W, q_1, …, q_m            receiver: x_1, …, x_m;  t_1, …, t_m
//!
//!   u_i from below               ◀────────      t_i = q_i ⊕ (C(x_i) ∧ s)
//!   F_i(x) = H(q_i ⊕ (C(x) ∧ s), i)             F_i(x_i) = H(t_i, i)
//! ```
//!
//! C is a pseudorandom code: the first W bits of x under AES with four keys that the session gives,
//! drawn after all inputs are fixed. The receiver can compute F_i(x) for x ≠ x_i only by guessing s
//! where C(x) and C(x_i) differ; [`width`] gives the W for which all pairs that are compared in a run
//! differ in at least κ = 128 places, but with probability 2^-40. It is the *number of comparisons* that
//! counts: in each instance the sender's inputs with the one of the receiver.
//!
//! H is BLAKE3 keyed by the session; i is counted over all evaluations of a setup.
//!
//! **Streamed.** As [`coded`](vesica_ot::coded): instances are made and used up in parts of
//! [`PART_LEN`] that stay in the second-level cache.
//!
//! **Where we differ from the paper.** The width follows the number of comparisons; for those of the
//! paper, (3 + s)·n with its stash s, it is the paper's: 424, 432, 440, 448, 448 bits for n = 2^8, 2^12, …,
//! 2^24. The base transfers are extended, as in [`coded`](vesica_ot::coded).

mod code;
mod output;
mod receiver;
mod sender;
mod width;

pub use receiver::Receiver;
pub use sender::{Keys, Point, Sender};
pub use width::width;

/// Blocks of a row: codewords have at most 512 bits.
const ROW_BLOCKS: usize = 4;

/// A codeword, or what one becomes.
type Row = [vesica_simd::Block; ROW_BLOCKS];

/// The first instance of a part is a multiple of this, and so is its length unless it is the last.
pub const PART_LEN: usize = vesica_ot::coded::PART_ROWS;

/// Payload bytes of a setup and an evaluation of `len` instances with `comparisons` comparisons.
///
/// # Panics
/// As [`width()`].
pub fn bytes(len: usize, comparisons: u64) -> vesica_ot::Traffic {
    let width = width(comparisons);
    width.setup_bytes() + width.extend_bytes(len)
}
