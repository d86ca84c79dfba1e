//! Other flavours of oblivious transfer, over any correlated transfer.
//!
//! | module | sender | receiver | more bytes a transfer, to the sender and to the receiver |
//! |---|---|---|---|
//! | [`random`] | two random blocks | a random bit, and the block it chooses | – |
//! | [`chosen`] | two blocks of its own | the one that a bit of its own chooses | ⅛, 32 |
//! | [`correlated`] | K_i, with the given Δ | K_i + c_i·Δ for a bit c_i of its own | ⅛, 0 |
//! | [`correlated`] | x_i, for δ_i of its own | x_i + c_i·δ_i for a bit c_i of its own | ⅛, 16 |
//! | [`vole`] | K_i | u_i, and K_i + lift(u_i)·Δ | –; a transfer for each bit |
//!
//! All are as secure as the transfer they are made of. A receiver that wants bits of its own sends
//! the sums of them and of the random ones (D. Beaver, "Precomputing oblivious transfer", CRYPTO
//! 1995). Correlated blocks become independent ones under the tweakable circular correlation
//! robust hash π(π(x) + i) + π(x) (C. Guo, J. Katz, X. Wang, Y. Yu, IEEE S&P 2020), i being the
//! number of the transfer.

pub mod chosen;
pub mod correlated;
pub mod random;
pub mod vole;
