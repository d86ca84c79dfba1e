//! # The programmable OPRF
//!
//! V. Kolesnikov, N. Matania, B. Pinkas, M. Rosulek, N. Trieu, "Practical multi-party private set
//! intersection from symmetric-key techniques", ACM CCS 2017; with bins as in B. Pinkas, T.
//! Schneider, O. Tkachenko, A. Yanai, "Efficient circuit-based PSI with linear communication",
//! EUROCRYPT 2019, and G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set
//! operations from oblivious switching", PKC 2021 (GMRSS21), section 3.5 and steps 1 to 4 of
//! Figure 6.
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
//! So t_j = v(x, i) if the programmer has the item of bin j, and t_j is pseudorandom otherwise;
//! only a comparison of secret values can distinguish the two cases. The programmer's values may
//! depend on the bin j as well, and usually do: in Figure 6 v(y, i) = s_j, one random value for
//! each bin.
//!
//! The function's index i is part of the key, so that two functions of y that give the same bin
//! program two different keys, and P always holds 3·n_y. x‖i is x ⊕ c_i, where c_1, c_2, c_3 are
//! derived from the session: two of these agree with probability below 2^-60 for any sets that were
//! fixed before.
//!
//! **With the VOLE OPRF** there is one key for all bins, so F is evaluated for the n_x occupied
//! bins only. **With KKRT16** bin j is instance j, and an empty bin takes a random input.
//!
//! **The hint P.** Keys are hashed under s, which the programmer draws once everything else is
//! fixed. With [`Hint::Store`] P is a random-band key-value store, which is linear over GF(2), so
//! that its slots are as short as the values. With [`Hint::Polynomial`] it has the papers' form,
//! polynomials in mega-bins. All values in it are masked with F at different points, and free slots
//! are random; so P is uniform for the receiver, except at its own A_j.
//!
//! **Streamed.** Each part of P is sent and decoded while the next part is encoded.
//!
//! **Where we differ from the papers.** A key-value store instead of polynomials, half as long and
//! several times faster; one OPRF key instead of one for each bin. No stash, as in GMRSS21.

mod hint;
mod inputs;
mod plan;
mod program;
mod receive;

pub use plan::{Hint, MAX_PROGRAMMER_LEN, MAX_RECEIVER_LEN, Oprf, Plan};
pub use program::program;
pub use receive::{Received, receive};
pub use vesica_hashing::simple::Entry;

/// h, the number of hash functions of the cuckoo table.
pub const FUNCTIONS: usize = 3;
