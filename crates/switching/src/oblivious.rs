//! # Oblivious switching
//!
//! The *holder* has rows x. The *router* has an injection π: the order in which it selects some or
//! all rows. The parties obtain shares of the selected rows in that order, and learn nothing else:
//! the holder gets random a, the router b with b_i = a_i + x_π(i).
//!
//! P. Mohassel, S. Sadeghian, "How to hide circuits in MPC: an efficient framework for private
//! function evaluation", EUROCRYPT 2013; as the functionality F_osn in G. Garimella, P. Mohassel,
//! M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from oblivious switching", PKC 2021,
//! §3.2 and Figure 2, which calls the router the receiver. With n_out = n_in it is *permute and
//! share*.
//!
//! | | [`Form::Correlated`] | [`Form::TwoCiphertexts`] |
//! |---|---|---|
//! | security | semi-honest, if silent OT is ([`vesica_ot::silent::cot`]), π(x) + x is correlation robust and AES is an ideal cipher | semi-honest, if IKNP is ([`vesica_ot::softspoken`]), with the same hash and AES as a PRF |
//! | who learns what | n_in, n_out and ℓ are public | the same |
//! | flights | 5; 3 for few switches; [`flights`] | 3, plus 2 for each 2^17 switches above the first 2^17; [`flights`] |
//! | bytes, holder to router | ℓ bits per switch; [`bytes`] | 4ℓ bits per switch and ℓ per row; [`bytes`] |
//! | bytes, router to holder | 1 bit per switch | 128 bits per switch |
//! | switches | Σ ⌈log i⌉ up to n_in, without those that lead to no selected row; about n_in·(½·log n_out + 1) for few rows; [`Sizes::switches`] | the same |
//!
//! The switches are those of [Waksman's network](crate::Network). The router sets them so that its
//! rows come first. A part of the network from which one row is selected is a tree in its place:
//! each switch hands on its first lane, and both parties forget their shares of the second.
//!
//! # The correlated form
//!
//! ```text
//!   holder: rows x, Δ, K                                 router: π, r, M = K + r·Δ for each switch
//!
//!                ◀──────  d = c + r, all switches  ──────   c: how the switches stand
//!                ───────  a seed ρ  ────────────────────▶
//!   b_i = x_i                                            a_i = 0
//!   a switch of the lanes 0 and 1:
//!     w = H(K + d·Δ)
//!     y = w + H(K + (1 + d)·Δ) + b_0 + b_1
//!                ───────  y  ───────────────────────────▶   z = H(M) + c·y
//!     b_0 += w, b_1 += w                                 t = z + c·(a_0 + a_1);  a_0 += t, a_1 += t
//!   a_i = b_i + PRG(ρ)_i                                 b_i = a_i + PRG(ρ)_i
//! ```
//!
//! In the figure, a is the router's share of a lane and b the holder's, up to the last line; a
//! lane's value is always their sum. M = K + r·Δ equals K + d·Δ + c·Δ, so z = w + c·(b_0 + b_1). A
//! switch with c = 1 exchanges the two values: each lane gets c·(a_0 + a_1 + b_0 + b_1) added, the
//! a part from the router's own shares and the b part from the OT. The paper's form transfers two
//! fresh masks. Here the holder alone knows δ = b_0 + b_1, so one correlated OT of δ suffices, and
//! the first lanes need no masks.
//!
//! **Security.** *The holder* sees d, which r hides, since r is uniform to the holder; what it
//! sends depends on d only through hashes. *The router* sees y. The hash of the key that it lacks
//! looks random and is used once, so y looks uniform for every b_0 + b_1; the router receives
//! nothing else. So each view consists of independent uniform values. Together with a party's own
//! output it determines the other party's output, since the sum is x_π(i).
//!
//! **The last line.** Each switch adds the same value to two lanes. Without the last line, the
//! router's shares would sum to 0 over all rows and the holder's shares to the sum of x; a row that
//! meets no switch would not be shared at all. A protocol that uses the shares may rely on uniform
//! shares, as F_osn promises. So both parties add rows that the holder draws. A simulator that is
//! given a share from F_osn sets these rows to the sum of that share and the one from the view.
//! Sending a seed instead of the rows is equally secure if AES is an ideal cipher, which the
//! simulator programs.
//!
//! **No flight per piece.** The router first sends all choices. It then expands the same OTs a
//! second time for the messages: expanding is cheaper than storing 16 bytes per switch. The holder
//! reads all choices before it sends the first correction, because the router reads nothing before
//! it has sent its last choice. In addition to the rows, a party stores one bit per switch and a
//! few pieces of at most 2^14 switches.
//!
//! # The form with two ciphertexts
//!
//! ```text
//!   holder: rows x, masks u of all lanes, Δ, K           router: π, r, M = K + r·Δ for each switch
//!
//!                ───────  x_i + u_i  ───────────────────▶   the value of each lane under its mask
//!                ◀───────  IKNP, d = c + r  ─────────────
//!   a switch of the lanes 0 and 1: new masks v_0, v_1
//!     m_0 = (u_0 + v_0, u_1 + v_1)
//!     m_1 = (u_1 + v_0, u_0 + v_1)
//!                ───  m_0 + H(K + d·Δ), m_1 + H(K + (1 + d)·Δ)  ──▶   m_c: adds it to the lanes, exchanged or not
//!   a = the masks of the outputs                         b = the masked outputs
//! ```
//!
//! The router sends the choices of at most 2^17 switches ahead, because it cannot expand these OTs
//! twice. These choices take 2 MiB, which the queues of a connection hold even if the holder does
//! not read.
//!
//! # What differs from the paper
//!
//! The router's OTs have random choices, which one bit per switch corrects (D. Beaver, CRYPTO
//! 1995); IKNP offers chosen OTs at the same cost. An injection leaves switches unneeded in each
//! part of the network, and we omit them; where a part keeps one row, a tree of fewer switches
//! takes its place. The paper defers its method to the full version. The security is the same:
//! which parts are trees follows from n_in and n_out, and a lane that is dropped only takes from
//! what a party holds.
//!
//! # What must not leak
//!
//! The time and the memory accesses of routing depend on π; in all other steps both depend only on
//! the sizes.

mod choices;
mod correlated;
mod packing;
mod parties;
mod pieces;
mod rows;
mod sizes;
mod two_ciphertexts;
mod walk;

pub use parties::{Holder, Router, hold, route};
pub use rows::Rows;
pub use sizes::{Form, Sizes, bytes, flights};
