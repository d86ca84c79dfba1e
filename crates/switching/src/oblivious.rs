//! # Oblivious switching
//!
//! One party, the *holder*, has rows x; the other, the *router*, has an injection π, in which order it wants some
//! or all of them. They get shares of the rows in that order, and nothing else: the holder random a, the router
//! b with b_i = a_i + x_π(i).
//!
//! P. Mohassel, S. Sadeghian, "How to hide circuits in MPC: an efficient framework for private function evaluation",
//! EUROCRYPT 2013; as the functionality F_osn in G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh,
//! "Private set operations from oblivious switching", PKC 2021, §3.2 and Figure 2, which calls the router the receiver.
//! With n_out = n_in it is *permute and share*.
//!
//! | | [`Form::Correlated`] | [`Form::TwoCiphertexts`] |
//! |---|---|---|
//! | security | semi-honest; of silent transfers ([`vesica_ot::silent::cot`]), π(x) + x as a correlation-robust hash, AES as an ideal cipher | semi-honest; of IKNP ([`vesica_ot::softspoken`]), the same hash, AES being pseudorandom |
//! | who learns what | n_in, n_out and ℓ are public | the same |
//! | flights | 5; 3 for few switches; [`flights`] | 3, and 2 more for each 2^16 switches above 2^17; [`flights`] |
//! | bytes, holder to router | ℓ bits a switch; [`bytes`] | 4ℓ bits a switch and ℓ a row; [`bytes`] |
//! | bytes, router to holder | 1 bit a switch | 128 bits a switch |
//! | switches | Σ ⌈log i⌉ up to n_in, without those that lead to no chosen row; [`Shape::switches`] | the same |
//!
//! The switches are those of [Waksman's network](crate::Network), which the router sets so that its rows come first.
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
//! In the drawing the router's lane is a and the holder's b, up to the last line; a lane's value is always their sum.
//! M is K + r·Δ, the key K + d·Δ + c·Δ, so z = w + c·(b_0 + b_1), and a switch with c = 1 exchanges the two values:
//! both lanes get c·(a_0 + a_1 + b_0 + b_1) more, half of it from the one party's own shares and half from the
//! transfer. The paper's form transfers two new masks; here δ = b_0 + b_1 is the holder's alone, so one correlated
//! transfer of δ suffices, and no mask is sent for the first lanes.
//!
//! **Security.** *The holder* sees d, which r hides: r is uniform to it, and it sends nothing that depends on what
//! it gets but hashes. *The router* sees y. H of the key it does not have looks random and is used once, so y looks
//! uniform, whatever b_0 + b_1 is; and nothing else comes. So each view is made of independent uniform values, and
//! with the own output it fixes the other's, since the sum is x_π(i).
//!
//! **The last line.** Each switch adds the same to two lanes, so the sum of the router's shares of all rows would be
//! 0 and that of the holder's the sum of x; and a row that meets no switch would be no share at all. A further use of
//! the shares may rest on their being uniform, as F_osn says they are. So both parties add rows that the holder
//! draws: a simulator that has been given a share of F_osn sets them to the sum of it and of what the view gives.
//! To send a seed in place of the rows is as good where AES is an ideal cipher, which the simulator answers for.
//!
//! **No flight for a piece.** The router says all choices first, and expands the same transfers a second time for the
//! messages: expanding is cheaper than keeping 16 bytes a switch. The holder reads them all before it sends the first
//! correction, for the router does not read before it has said the last. Nobody holds more than a bit a switch and a
//! few pieces, of at most 2^14 switches, besides the rows.
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
//! The router says the choices of 2^17 switches ahead and no more, for it cannot expand these transfers twice. What it
//! says ahead is 2 MiB, which the queues of a connection take whether the holder reads or not.
//!
//! # What differs from the paper
//!
//! The router's transfers have random choices, which a bit a switch corrects (D. Beaver, CRYPTO 1995), where IKNP
//! takes chosen ones at the same cost. The unneeded switches of an injection are left out of each part of the network;
//! the paper leaves its way of doing so to its full version.
//!
//! # What must not leak
//!
//! The time of routing and its memory accesses depend on π, those of everything else on the sizes alone.

mod choices;
mod correlated;
mod packing;
mod parties;
mod rows;
mod shape;
mod two_ciphertexts;
mod walk;

pub use parties::{Holder, Router, hold, route};
pub use rows::Rows;
pub use shape::{Form, Shape, bytes, flights};
