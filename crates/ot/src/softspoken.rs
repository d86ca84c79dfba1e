//! # SoftSpokenOT
//!
//! L. Roy, "SoftSpokenOT: quieter OT extension from small-field silent VOLE in the Minicrypt model",
//! CRYPTO 2022 (ePrint 2022/192): Figures 8 (small-field VOLE), 10 (subspace VOLE and its
//! consistency check), 13 and 14 (trees), with the repetition code. With k = 1 the semi-honest form is IKNP
//! (Y. Ishai, J. Kilian, K. Nissim, E. Petrank, CRYPTO 2003, with the improvement of Asharov et al., CCS 2013).
//!
//! | | |
//! |---|---|
//! | security | of [`base`](crate::base); semi-honest or malicious by type |
//! | sender holds | Δ; K_i for each correlation |
//! | receiver holds | u_i, and M_i = K_i + u_i·Δ |
//! | flights | setup: S→R, R→S; extension: R→S, which joins the setup's; malicious: two more, S→R, R→S |
//! | bytes | setup: [`setup_bytes`], once; extension: 128/k − 1 bits a position, [`extend_bytes`] |
//! | cost | 2·2^k/k·… AES blocks a bit for each party: 2, 2, 4, 32 a position for k = 1, 2, 4, 8 |
//!
//! ```text
//!   sender: Δ = (Δ_1, …, Δ_n), Δ_j ∈ F_{2^k}      receiver        n = 128/k
//!
//!   setup, for each tree j of 2^k leaves, over 128 base transfers:
//!        knows leaves x ≠ Δ_j                        knows all leaves
//!
//!   extension, r_x the stream of leaf x:
//!                                                   u_j = Σ_x r_x,  v_j = Σ_x x·r_x
//!                ◀──── c_j = u_j + u_1, j ≥ 2 ────  u = u_1
//!   w_j = Σ_x (x + Δ_j)·r_x + Δ_j·c_j
//!       = v_j + Δ_j·u
//!   w = (w_1, …, w_n), by columns: K_i              v = (v_1, …, v_n), by columns: M_i
//!
//!   malicious, h(a) = a_0 + χ·a_1 + χ²·a_2 + …, a row being cut into elements of GF(2^128):
//!                ────────────  χ  ───────────────▶
//!                ◀──── U = h(u), D = hash(h(v)) ───
//!   D = hash(h(w) + Δ·U)?
//! ```
//!
//! A correlation over bits is [`cot`](crate::cot); `width` successive bits make one value of a VOLE over GF(2^128)
//! by [`Lift`](crate::Lift).
//!
//! **The check.** Rows are hashed, each on its own, by one function of a 2^-128·(positions/128 + 1)-universal family that
//! is linear over GF(2), Section 5 of the paper; it is not the check of Keller, Orsini and Scholl (CRYPTO 2015),
//! whose proof does not hold. a_0 comes from 128 positions that are
//! used for nothing else, so U is uniform. What the sender learns is U, and whether D is the hash of
//! something it can compute: nothing of u. A receiver whose c_j are not of one u passes only
//! if it has guessed the bits of Δ in all rows where they differ.
//!
//! Until the check is done the sender's values are provisional ([`UncheckedSender`]): the sender may send
//! of them only what does not depend on its private input, and after a failed check Δ is not used
//! again.
//!
//! **Where we differ from the paper.** A leaf's stream is AES-128 in counter mode under the leaf.
//! The response carries a hash of h(v) in place of h(v): an honest sender compares it with what it
//! expects, and in the random-oracle model the hash commits the receiver to h(v).

mod check;
mod expand;
mod layout;
mod receiver;
mod sender;

pub use layout::{FieldBits, Request, extend_bytes, setup_bytes};
pub use receiver::{Receiver, ReceiverOutput, UncheckedReceiver, Voles};
pub use sender::{ChallengedSender, Sender, SenderOutput, SenderSetup, UncheckedSender};
