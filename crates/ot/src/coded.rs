//! # OT extension with a code
//!
//! V. Kolesnikov, R. Kumaresan, "Improved OT extension for transferring short secrets", CRYPTO 2013
//! (KK13); with pseudorandom codes V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu,
//! "Efficient batched oblivious PRF with applications to private set intersection", ACM CCS 2016
//! (KKRT16), Figure 2. Both widen the extension of Y. Ishai, J. Kilian, K. Nissim, E. Petrank, CRYPTO
//! 2003, whose code is that of repetition.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; of [`softspoken`](crate::softspoken), AES being pseudorandom |
//! | sender holds | s ∈ {0,1}^W, and q_i for each row |
//! | receiver holds | t_i = q_i ⊕ (C(c_i) ∧ s) for its choice c_i of each row |
//! | flights | setup: R→S, S→R; extension: R→S, which joins the setup's |
//! | bytes | [`setup_bytes`], once; extension: W bits a row |
//! | cost | AES blocks a row: receiver 2·W/128, sender W/128 |
//!
//! ```text
//!   sender: s ∈ {0,1}^W                         receiver: c_1, …, c_m
//!
//!   setup: W transfers, of which the *receiver* has both seeds
//!        k_j^{s_j}                                   k_j^0, k_j^1
//!
//!   extension, columns j of m bits
//!                                               T0_j = G(k_j^0), T1_j = G(k_j^1)
//!                ◀────     U_j      ────        U_j = T0_j ⊕ T1_j ⊕ C_j
//!   Q_j = G(k_j^{s_j}) ⊕ s_j·U_j                C_j: bit j of C(c_1), …, C(c_m)
//!   q_i = row i of Q                            t_i = row i of T0
//! ```
//!
//! For any value c the sender computes q_i ⊕ (C(c) ∧ s), which is t_i if c = c_i. For every other value
//! it differs from t_i by (C(c) ⊕ C(c_i)) ∧ s, and codewords differ in at least 128 places: the receiver
//! would have to guess 128 bits of s, so a correlation robust hash of it looks random.
//!
//! * [`kk13`] — 1-out-of-N transfer for N ≤ 256: the code of Walsh and Hadamard, W = 256.
//! * [`random`] — its strings hashed: random 1-out-of-N transfer.
//! * [`rows`] — any code that gives its codewords row by row, as the pseudorandom one of KKRT16.
//!
//! **Streamed.** Rows are made in tiles that stay in the second-level cache, corrections are sent as
//! they are made, and the caller's closure gets the rows in order, [`PART_ROWS`] at a time; where there
//! are more CPU threads, made by all of them, as many times that. No matrix is ever in memory.
//!
//! **Nothing is checked.** The setting is semi-honest: a wrong length is refused by the channel, and
//! of right lengths every message is one that some receiver could have sent. A receiver that deviates
//! chooses words that are no codewords, for which nothing is promised.
//!
//! **Where we differ from the papers.** The W transfers of the setup are random ones, extended from 128
//! base transfers by [`softspoken`](crate::softspoken): a flight more and half the time or less. So s
//! is the random choice of these transfers.

pub mod kk13;
pub mod random;
pub mod rows;
mod setup;
mod stream;

pub use setup::{ReceiverSetup, setup_bytes};
pub use stream::PART_ROWS;
