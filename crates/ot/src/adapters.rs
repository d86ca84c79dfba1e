//! Other kinds of oblivious transfer, from any correlated transfer.
//!
//! | module | sender | receiver | extra bytes per transfer, to the sender and to the receiver |
//! |---|---|---|---|
//! | [`random`] | two random blocks | a random bit, and the chosen block | – |
//! | [`chosen`] | two blocks of its choice | the one chosen by a bit of its choice | ⅛, 32 |
//! | [`correlated`] | K_i, with the given Δ | K_i + c_i·Δ for a bit c_i of its choice | ⅛, 0 |
//! | [`vole`] | K_i | u_i, and K_i + lift(u_i)·Δ | –; one transfer per bit |
//!
//! All are as secure as the underlying transfer. A receiver with bits of its choice sends the XOR
//! of these and the random ones (D. Beaver, "Precomputing oblivious transfer", CRYPTO 1995). The
//! tweakable circular correlation robust hash π(π(x) + i) + π(x) turns correlated blocks into
//! independent ones (C. Guo, J. Katz, X. Wang, Y. Yu, IEEE S&P 2020), where i is the number of the
//! transfer.

pub mod chosen;
pub mod correlated;
pub mod random;
pub mod vole;
