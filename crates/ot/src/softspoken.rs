//! # SoftSpokenOT
//!
//! L. Roy, "SoftSpokenOT: quieter OT extension from small-field silent VOLE in the Minicrypt
//! model", CRYPTO 2022 (ePrint 2022/192): small-field VOLE, subspace VOLE with the repetition code,
//! and their consistency checks. With k = 1 the semi-honest form is IKNP (Y. Ishai, J. Kilian,
//! K. Nissim, E. Petrank, CRYPTO 2003, as improved by G. Asharov, Y. Lindell, T. Schneider,
//! M. Zohner, ACM CCS 2013).
//!
//! | | |
//! |---|---|
//! | security | semi-honest or malicious by type, if [`base`](crate::base) is secure and AES is a PRF |
//! | sender holds | Δ; K_i per correlation |
//! | receiver holds | u_i, and M_i = K_i + u_i·Δ |
//! | flights | setup: S→R, R→S; extension: R→S, which joins the setup's; the check adds none |
//! | bytes | setup: [`setup_bytes`], once; extension: 128/k − 1 bits per position, [`extend_bytes`] |
//! | cost | AES blocks per position and party: 2, 2, 4, 32 for k = 1, 2, 4, 8 |
//!
//! ```text
//!   sender: Δ = (Δ_1, …, Δ_n), Δ_j ∈ F_{2^k}        receiver        n = 128/k
//!
//!   setup: for each j a tree of 2^k leaves, over k of 128 base transfers
//!        knows all leaves but x = Δ_j                knows all leaves
//!
//!   extension: r_x is the stream of leaf x
//!                                                    u_j = Σ_x r_x,  v_j = Σ_x x·r_x
//!                ◀──── c_j = u_j + u_1, j ≥ 2 ────   u = u_1
//!   w_j = Σ_x (x + Δ_j)·r_x + Δ_j·c_j
//!       = v_j + Δ_j·u
//!   K_i = column i of (w_1, …, w_n)                  M_i = column i of (v_1, …, v_n)
//!
//!   check: χ_1, χ_2 = hash(setup, number of the extension, request, all c_j)
//!   h_i(a) = m_i + χ_i·a_1 + χ_i²·a_2 + …, a row cut into elements of GF(2^128)
//!                ◀── U = h(u), D = hash of h(v) ──
//!   is D the hash of h(w) + Δ·U?
//! ```
//!
//! A position yields one correlated transfer; `width` consecutive positions yield one value of a
//! VOLE over GF(2^128) by a [`Lift`](crate::Lift).
//!
//! **The check.** h = (h_1, h_2) hashes each row separately. It is linear over GF(2) and, for N
//! positions, from a family that is ((N/128 + 1)·2^-128)²-universal. This is the paper's check, not
//! that of M. Keller, E. Orsini and P. Scholl (CRYPTO 2015), whose proof does not hold. m_1 and m_2
//! come from 128 positions each that serve no other purpose, so U is uniform. Beyond U the sender
//! learns only whether D is the hash of something it can compute, and nothing of u. A receiver
//! whose c_j do not belong to one u passes only if it guessed the bits of Δ in all rows where they
//! differ, each with probability ½.
//!
//! **No challenge.** The points χ are the hash of everything that the receiver has sent: the base
//! transfers, the trees, and the corrections, byte by byte. The response travels with the
//! corrections, and the sender checks it before it returns any output, so nothing that depends on K
//! reaches a receiver that has not passed the check. A receiver can try other corrections until the
//! points suit it. One try succeeds, for one of the at most 2^13 pairs of rows, with probability
//! 2^13·((N/128 + 1)·2^-128)². For up to 2^48 positions that is 2^-161, so more than 2^128 hashes
//! are needed. The receiver cannot test its guesses of bits of Δ locally: only the sender's
//! reaction reveals them.
//!
//! After a failed check, or any other error, a party refuses further use, because the failure
//! revealed something about Δ to the receiver.
//!
//! **Where we differ from the paper.** The stream of a leaf is AES-128 in counter mode under the
//! leaf. The points are a hash of the receiver's messages instead of the sender's coins, and there
//! are two instead of one. The response has a hash of h(v) instead of h(v): the sender compares it
//! with the expected hash, and in the random-oracle model the hash commits the receiver to h(v).

mod check;
mod expand;
mod layout;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use layout::{FieldBits, Request, extend_bytes, setup_bytes};
pub use receiver::{Receiver, ReceiverOutput, Voles};
pub(crate) use sender::random_block;
pub use sender::{Sender, SenderOutput, SenderSetup};
