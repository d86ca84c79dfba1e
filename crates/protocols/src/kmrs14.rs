//! Server-aided private set intersection: an untrusted helper, many parties, very large sets.
//!
//! S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling Private Set Intersection to Billion-Element Sets",
//! Financial Cryptography 2014: Figures 1 to 4.
//!
//! | | Figure 1 | Figure 2 | Figure 3 | Figure 4 |
//! |---|---|---|---|---|
//! | id | `server_aided` | `server_aided_malicious` | `server_aided_fair` | `server_aided_size_hiding`, `pet` |
//! | parties | 2 to 16 | 2 | 2 | 2 |
//! | secure against a helper that | follows the protocol | deviates | deviates | deviates |
//! | or against | any collusion of parties | one party | one party; and both learn, or none | one party |
//! | the helper learns | sizes, who shares how many | sizes, how many are common | sizes, how many are common | sizes |
//!
//! All of it under the assumption that **the helper colludes with no party**. F is AES-128; labels are its outputs, cut
//! short ([`Spec::formats`]).
//!
//! ```text
//!   P_i                                                    helper
//!   K from a coin toss between the parties, sealed from the helper
//!   T_i = π_i(F_K(S_i^c + D_0 + D_i))                ──▶
//!                                                          I = ∩ T_i
//!   aborts unless all of D_0, nothing of D_i, and    ◀──   for each label of T_i: is it in I?
//!   all copies of an item or none are in I
//! ```
//!
//! Figure 3 has T_i = π_i(F'_K2(F_K1(S_i)^c) + F_K2(D_0 + D_i)), F'(v) being F(v) ⊕ v; the helper commits to its answers,
//! the parties tell each other what they saw of that, open F_K1(S_i) and K_2, and only when the helper has made both T_i
//! again, and both answers will pass, does it open. Figure 4:
//!
//! ```text
//!   P_1                              helper                              P_2
//!                                      K_2 from a coin toss between helper and P_2
//!   T_1 = π_1(F_K1(S_1^c + Δ_1)) ──▶
//!                                ◀── T'_1 = π_3(F_K2(T_1))
//!                                ◀──────────────────────────────────────  T'_2 = π_2(F_K2(F_K1(S_2^c + Δ_2))), sealed
//!   I = T'_1 ∩ T'_2, sealed      ──────────────────────────────────────▶  checks, outputs
//!                                      ◀──────────────────────────────── release
//!                                ◀── π_3
//!   checks, outputs
//! ```
//!
//! Parties and helper never talk but through the slots of a [board](Board): what is in a slot stays there. So the
//! parties need not be there at the same time, and every program can be ended at any point and started again.
//!
//! # Where and why we differ
//!
//! * **The permutations π sort by label.** To whoever lacks the key that order is as random as the labels are; with the
//!   labels it says nothing at all. It lets the helper merge streams in place of filling tables, and saves the leading
//!   bits of each label. The published shuffle is biased: it swaps with j drawn by AES of the element itself, from a
//!   range that is no power of two.
//! * **The answer is a bit for each label of one's own list** (section 4 of the paper does so, too), in the fair protocol
//!   as well: bits have the same length whatever is common, so that no padding is needed (the published padding to
//!   |S_1| + t is too short for c copies).
//! * **Labels have 40 + log Σ N_i·N_j bits.** The published length bounds collisions within one set, which gives 2^-20.
//! * **x ‖ α and dummies** are not longer blocks, but other keys: one for each copy number α, for D_0 and for each D_i.
//! * **K_2 and D are opened by the secret that they come from**, and are of one run, as all keys and dummies are: labels of
//!   a second run under the same key would tell dummies from items.
//! * **F' in place of F_K2** for what the parties open in Figure 3: whoever has K_2 could invert F, and look for a list with
//!   which the other party's checks fail, or the run ends where the other has an item.
//! * **A party remembers what the helper showed it** ([`Memory`]), and takes nothing else when it comes back.
//! * **Parties meet through the helper**: the coin toss of Figures 2 to 4 is used in Figure 1 also, where the paper lets
//!   P_1 choose K.

mod board;
mod bytes;
pub mod helper;
mod list;
mod outer;
mod party;
mod rows;
mod slot;
mod spec;

pub use board::{Board, Boards};
pub use bytes::Room;
pub use list::{Items, Matched, Means};
pub use party::{Memory, Outcome, Run, SEAL_LEN, Seal, run, run_in_clear};
pub use rows::{AidedProtocol, Check, Variant, aided, find_aided};
pub use slot::{Kind, Slot};
pub use spec::{MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS, PartySpec, Spec};
