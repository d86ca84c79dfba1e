//! # The batched OPRF of KKRT16
//!
//! V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, "Efficient batched oblivious PRF with
//! applications to private set intersection", ACM CCS 2016 (ePrint 2016/799), Figure 2: m
//! instances. In each of them the receiver learns the function at one input.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, if [`coded`](vesica_ot::coded) is, the hash is correlation robust, and AES yields a pseudorandom code |
//! | sender holds | a key per instance: F_i(x) for every x |
//! | receiver holds | F_i(x_i) for one input x_i of its choice per instance |
//! | flights | setup: R→S, S→R; evaluation: R→S, which joins the setup's |
//! | bytes | those of the setup, and W/8 per instance |
//! | cost | receiver 2·W/128 + 4 AES blocks and a hash per instance; sender W/128 per instance, and 4 and a hash per evaluation |
//!
//! ```text
//!   sender: s ∈ {0,1}^W, q_1, …, q_m            receiver: x_1, …, x_m;  t_1, …, t_m
//!
//!   u_i from below               ◀────────      t_i = q_i ⊕ (C(x_i) ∧ s)
//!   F_i(x) = H(q_i ⊕ (C(x) ∧ s), i)             F_i(x_i) = H(t_i, i)
//! ```
//!
//! C is a pseudorandom code: the first W bits of x under AES with four keys derived from the
//! session, which is drawn after all inputs are fixed. To compute F_i(x) for x ≠ x_i the receiver
//! must guess s where C(x) and C(x_i) differ. [`width`] returns the W for which all pairs compared
//! in a run, or in all runs that make one result, differ in at least κ = 128 places, except with
//! probability 2^-40. The *number of comparisons* matters: in each instance, the sender's inputs
//! are compared with the receiver's one input.
//!
//! H is BLAKE3 keyed by the session; i counts over all evaluations of a setup.
//!
//! **Streamed.** As [`coded`](vesica_ot::coded): instances are produced and consumed in parts of
//! [`PART_LEN`] that stay in the second-level cache.
//!
//! **Where we differ from the paper.** The width follows the number of comparisons; for the
//! paper's, (3 + s)·n with its stash s, it is the paper's: 424, 432, 440, 448, 448 bits for n =
//! 2^8, 2^12, …, 2^24. The base transfers are extended, as in [`coded`](vesica_ot::coded).

mod code;
mod output;
mod receiver;
mod sender;
mod width;

pub use receiver::Receiver;
pub use sender::{Keys, Point, Sender};
pub use width::width;

use width::ROW_BLOCKS;

/// A codeword, or a row.
type Row = [vesica_simd::Block; ROW_BLOCKS];

/// The first instance of a part is a multiple of this number, and so is its length, except for the
/// last part.
pub const PART_LEN: usize = vesica_ot::coded::PART_ROWS;

/// Payload bytes of a setup and an evaluation of `len` instances with `comparisons` comparisons.
///
/// # Panics
/// As [`width()`].
pub fn bytes(len: usize, comparisons: u64) -> vesica_ot::Traffic {
    let width = width(comparisons);
    width.setup_bytes() + width.extend_bytes(len)
}
