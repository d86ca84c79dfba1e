//! # The VOLE OPRF
//!
//! P. Rindal, P. Schoppmann, "VOLE-PSI: fast OPRF and circuit-PSI from vector-OLE", EUROCRYPT
//! 2021; S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM
//! CCS 2022 (RR22), Figures 4 and 5 of ePrint 2022/320.
//!
//! ```text
//!   sender: Δ ∈ F, b ∈ F^m                      receiver: X, r; a ∈ B^m, c = aΔ + b
//!
//!                                               P = Encode({(x, H_B(x, r))})
//!        K = b + AΔ            ◀────────        r, A = P + a
//!        F(y) = H_o(Decode(K, y) − Δ·H_B(y, r))  F(x) = H_o(Decode(c, x))
//! ```
//!
//! This module holds the steps around the correlation; who sends what else, and when, is the
//! protocol's. They work cluster by cluster of the key-value store: neither party ever holds all
//! of P, A or K. [`Plan`] is the public shape, [`Rows`] a party's items hashed and grouped,
//! [`mask`] the receiver's and [`unmask`] the sender's pass; both end in [`Inputs`] of the hash
//! H_o, which [`Inputs::outputs`] computes. [`overfitting`] bounds the set of a receiver that deviates.
//!
//! **Where we differ from the paper.** B is a GF(2)-subspace of F = GF(2^128), in fast mode all of
//! it. The paper's low-communication mode takes a field B and an extension of it with at least
//! 2^128 elements; but nothing in the protocol multiplies two elements of B. Decode is
//! GF(2)-linear there, so Decode(K, y) − Δ·H_B(y) = Decode(c, y) + Δ·(Decode(P, y) − H_B(y)), and
//! for y ∉ X the last factor is a nonzero element of F except with probability 2^-dim B: the
//! argument is the paper's.
//!
//! Both hashes are made of one: k = H(x, r) places the item in the store, H_B(x, r) is a function
//! of k. See [`Hashing`] for the functions of each security level.

mod hashing;
pub mod overfitting;
mod pass;
mod plan;

pub use hashing::{Hashing, Seed};
pub use pass::{Inputs, Rows, mask, unmask};
pub use plan::Plan;
