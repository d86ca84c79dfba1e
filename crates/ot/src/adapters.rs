//! Other flavours of oblivious transfer, over any correlated transfer.
//!
//! | module | sender | receiver | bytes a transfer besides the correlated one |
//! |---|---|---|---|
//! | [`random`] | two random blocks | a random bit, and the block it chooses | 0 |
//! | [`chosen`] | two blocks of its own | a bit of its own, and the block it chooses | ⅛ to the sender, 32 to the receiver |
//! | [`correlated`] | K_i, with Δ of the correlated transfer | a bit c_i of its own, K_i + c_i·Δ | ⅛ to the sender |
//! | [`correlated`] | x_i, for differences δ_i of its own | a bit c_i of its own, x_i + c_i·δ_i | ⅛ to the sender, 16 to the receiver |
//! | [`vole`] | K_i | u_i and K_i + lift(u_i)·Δ | 0, over as many transfers as a value has bits |
//!
//! All are as secure as the transfer they are made of. A receiver that wants bits of its own sends
//! the sums of them and of the random ones (D. Beaver, "Precomputing oblivious transfer", CRYPTO
//! 1995). Correlated blocks become independent ones under the tweakable circular correlation robust hash
//! π(π(x) + i) + π(x) (C. Guo, J. Katz, X. Wang, Y. Yu, IEEE S&P 2020), i being the number of
//! the transfer.

pub mod chosen;
pub mod correlated;
pub mod random;
pub mod vole;
