//! # OT extension with a code
//!
//! V. Kolesnikov, R. Kumaresan, "Improved OT extension for transferring short secrets", CRYPTO 2013
//! (KK13); with pseudorandom codes V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, "Efficient
//! batched oblivious PRF with applications to private set intersection", ACM CCS 2016 (KKRT16),
//! Figure 2. Both generalise the extension of Y. Ishai, J. Kilian, K. Nissim, E. Petrank, CRYPTO
//! 2003, which uses the repetition code.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, if [`softspoken`](crate::softspoken) is and AES is a PRF |
//! | sender holds | s ∈ {0,1}^W, and q_i for each row |
//! | receiver holds | t_i = q_i ⊕ (C(c_i) ∧ s) for its choice c_i of each row |
//! | flights | setup: R→S, S→R; extension: R→S, which joins the setup's |
//! | bytes | [`setup_bytes`], once; extension: W bits per row |
//! | cost | AES blocks per row: receiver 2·W/128, sender W/128 |
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
//! For any value c the sender computes q_i ⊕ (C(c) ∧ s), which equals t_i if c = c_i. For every
//! other value it differs from t_i by (C(c) ⊕ C(c_i)) ∧ s. Codewords differ in at least 128 places,
//! so the receiver would have to guess 128 bits of s, and a correlation robust hash of the result
//! looks random.
//!
//! * [`kk13`] — 1-out-of-N transfer for N ≤ 256: the Walsh–Hadamard code, W = 256.
//! * [`random`] — random 1-out-of-N transfer: the hashed rows of KK13.
//! * [`rows`] — any code whose codewords are computed row by row, such as the pseudorandom code of
//!   KKRT16.
//!
//! **Streamed.** Rows are made in tiles that stay in the second-level cache, and corrections are
//! sent as they are made. The caller's closure receives the rows in order, [`PART_ROWS`] at a time,
//! or a multiple of that with several CPU threads. The whole matrix is never in memory.
//!
//! **Nothing is checked.** The protocol is semi-honest. The channel rejects wrong lengths, and
//! every message of the right length is one that some receiver could have sent. A receiver that
//! deviates chooses words that are not codewords, for which nothing is guaranteed.
//!
//! **Where we differ from the papers.** The W transfers of the setup are random transfers, extended
//! from 128 base transfers by [`softspoken`](crate::softspoken): one more flight, and half the time
//! or less. So s is the random choice of these transfers.

pub mod kk13;
pub mod random;
pub mod rows;
mod setup;
mod stream;

pub use setup::{ReceiverSetup, setup_bytes};
pub use stream::PART_ROWS;
