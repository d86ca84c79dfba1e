//! # The programmable OPRF
//!
//! V. Kolesnikov, N. Matania, B. Pinkas, M. Rosulek, N. Trieu, "Practical multi-party private set
//! intersection from symmetric-key techniques", ACM CCS 2017; with bins as in B. Pinkas, T. Schneider,
//! O. Tkachenko, A. Yanai, "Efficient circuit-based PSI with linear communication", EUROCRYPT 2019,
//! and G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from
//! oblivious switching", PKC 2021 (GMRSS21), section 3.5 and steps 1 to 4 of Figure 6.
//!
//! | | |
//! |---|---|
//! | security | that of the OPRF, semi-honest |
//! | receiver holds | its items X in a cuckoo table, and a value per bin |
//! | programmer holds | nothing; it chose the values at its own items Y |
//! | flights | 5 with VOLE, 4 with KKRT16 |
//! | bytes | [`Plan::bytes`]: those of the OPRF; for the hint 32, and about 3.12·n_y values with [`Hint::Store`] |
//!
//! ```text
//!   programmer: Y, v                                receiver: X
//!
//!                                                   x in one of the bins h_1(x), h_2(x), h_3(x);
//!                                                   A_j = x‖i for the x in bin j = h_i(x)
//!   F                           ◀──────────────▶    F(A_j): either OPRF
//!   P = Encode{ y‖i ↦ v(y, i) ⊕ F(y‖i) }
//!   for all y and i             ───────────────▶    s, P
//!                                                   t_j = Decode(P, A_j) ⊕ F(A_j)
//! ```
//!
//! So t_j = v(x, i) if the programmer also has the item of bin j, and t_j is pseudorandom otherwise; only a comparison
//! of secret values can tell the two cases apart. The programmer's values may depend on the bin j as well, and usually
//! do: Figure 6 has v(y, i) = s_j, one random value per bin.
//!
//! The function's index i is part of the key, so two functions of y that select the same bin program two different
//! keys, and P always holds 3·n_y keys. x‖i is x ⊕ c_i, where c_1, c_2, c_3 derive from the session; two of these
//! inputs collide with probability below 2^-60 for any sets that were fixed before.
//!
//! **With the VOLE OPRF** there is one key for all bins, so only the n_x occupied bins need an evaluation. **With
//! KKRT16** bin j is instance j, and an empty bin takes a random input.
//!
//! **The hint P.** Keys are hashed under s, which the programmer draws after everything is fixed. With [`Hint::Store`]
//! P is a random-band key-value store; it is linear over GF(2), so its slots are as short as the values. With
//! [`Hint::Polynomial`] it has the papers' form, polynomials in mega-bins. F masks all values in it at different
//! points, and the free part is random, so for the receiver P is uniform except at its own A_j.
//!
//! **Streamed.** P is encoded, sent and decoded in parts, each while the next one is made.
//!
//! **Where we differ from the papers.** A key-value store replaces polynomials, with half the length and several times
//! the speed; one OPRF key replaces one key per bin. No stash, as in GMRSS21.

mod hint;
mod inputs;
mod plan;
mod program;
mod receive;

pub(crate) use plan::vole_bytes;
pub use plan::{Hint, MAX_PROGRAMMER_LEN, MAX_RECEIVER_LEN, Oprf, Plan};
pub use program::program;
pub use receive::{Received, receive};
pub use vesica_hashing::simple::Entry;

/// h, the number of hash functions of the cuckoo table.
pub const FUNCTIONS: usize = 3;
