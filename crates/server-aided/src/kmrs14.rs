//! # KMRS14: private set intersection with a helper
//!
//! S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling Private Set Intersection to
//! Billion-Element Sets", Financial Cryptography 2014: Figures 1 to 4. The paper's server is the
//! helper here.
//!
//! | | Figure 1 | Figure 2 | Figure 3 | Figure 4 |
//! |---|---|---|---|---|
//! | module | `semi_honest` | `malicious` | `fair` | `size_hiding` |
//! | id | `server_aided` | `server_aided_malicious` | `server_aided_fair` | `server_aided_size_hiding`, `pet` |
//! | parties | 2 to 16 | 2 | 2 | 2 |
//!
//! | | |
//! |---|---|
//! | security, `server_aided` | semi-honest |
//! | security, `server_aided_malicious`, `server_aided_fair`, `server_aided_size_hiding`, `pet` | malicious |
//! | security among parties, `server_aided` | any collusion of parties that deviate in any way |
//! | security among parties, `server_aided_malicious`, `server_aided_size_hiding`, `pet` | one party that deviates in any way |
//! | security among parties, `server_aided_fair` | one party that deviates in any way; it learns nothing that the other does not |
//! | assumption | AES-128 is a pseudorandom permutation; for what the parties tell each other, X25519 or ML-KEM-768, Ed25519, AES-256-GCM-SIV and BLAKE3 are secure; the helper colludes with no party: together with one it could test every guess against the others' sets |
//! | party learns, `server_aided` | which of its items all parties have, and the size of each other set |
//! | party learns, `server_aided_malicious`, `server_aided_size_hiding` | which of its items both parties have, and the size of the other set |
//! | party learns, `server_aided_fair` | which of its items both parties have, and the size of the other set; both learn it or none, where the helper follows the protocol |
//! | party learns, `pet` | whether the two values are equal |
//! | helper learns, `server_aided` | who takes part, the size of each set, and how many items each group of parties has in common |
//! | helper learns, `server_aided_malicious`, `server_aided_fair` | who takes part, the size of each set, and how many items are common |
//! | helper learns, `server_aided_size_hiding` | who takes part and the size of each set; not how many items are common |
//! | helper learns, `pet` | who takes part; not whether the values are equal |
//!
//! All figures assume that **the helper colludes with no party**. F is AES-128; labels are its
//! outputs, truncated ([`Spec::formats`]).
//!
//! ```text
//!   P_i, with the set S_i                                  helper
//!
//!   K_1, …, D_0, D_1, …: from a coin toss of the parties, which the helper cannot read
//!   its steps of the figure       ── put ──▶  slots  ──▶   its steps of the figure: `advance`
//!   each waits for its slots      ◀── get ──  of a board ◀──  when the slots before are filled
//! ```
//!
//! The module of a figure has the figure's picture, with the paper's step numbers, and below it the
//! steps of the party and of the helper. A word on an arrow is the [`Kind`] of the slot. What is
//! put into a slot of the [board](Board) stays there, so the parties need not be connected at the
//! same time, and every program can stop at any point and run again: each step first checks whether
//! the board has its outcome.
//!
//! # Where and why we differ
//!
//! * **The permutations π sort by label.** Without the key that order is as random as the labels
//!   are; it reveals nothing beyond the labels. It lets the helper merge streams instead of filling
//!   tables, and saves the leading bits of each label. The published shuffle is biased: it swaps
//!   with j drawn by AES of the element itself, from a range that is not a power of two.
//! * **The answer is a bit for each label of the party's own list** (as in section 4 of the paper),
//!   also in the fair protocol: the number of bits does not depend on the common keys, so no
//!   padding is needed (the published padding to |S_1| + t is too short for c copies).
//! * **Labels have 40 + log Σ N_i·N_j bits.** The published length bounds collisions within one
//!   set, which gives 2^-20.
//! * **x ‖ α and dummies** are not longer blocks, but have other keys: one for each copy number α,
//!   for D_0 and for each D_i.
//! * **To open K_2 and D, the parties open the secret that they derive from.** These belong to one
//!   run, as all keys and dummies do: labels of a second run under the same key would distinguish
//!   dummies from items.
//! * **F' replaces F_K2** for the labels that the parties open in Figure 3: a party that has K_2
//!   could invert F, and search for a list that makes the other party's checks fail, or that makes
//!   the run end if the other has a certain item.
//! * **The parties of Figure 3 compare the commitments and sizes** before they open their lists,
//!   and the helper checks that both answers will pass before it opens them. Otherwise a helper
//!   that is not bound yet could forge an answer from the first list that is opened, and a party
//!   could make only the other abort.
//! * **A party remembers what the helper showed it** ([`Memory`]), and accepts nothing else after
//!   an interruption.
//! * **Parties meet through the helper**: the coin toss of Figures 2 to 4 is also used in Figure 1,
//!   where the paper lets P_1 choose K.
//! * **Figure 1 has dummies too**, as a self-check.

mod fair;
mod malicious;
mod semi_honest;
mod size_hiding;

mod board;
mod bytes;
mod catalogue;
pub mod helper;
mod label_keys;
mod learned;
mod limits;
mod list;
mod party;
mod side_by_side;
mod slot;
mod spec;
mod stored;

pub use board::{Board, Boards, Wanted};
pub use bytes::Room;
pub use catalogue::{AidedProtocol, Check, Variant, aided, find_aided};
pub use learned::{Answer, HelperFact, HelperLearns, Noun, PartyLearns};
pub use limits::{MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS};
pub use list::{CommonRows, Means};
pub use party::{Memory, Outcome, RunFacts, SEAL_LEN, Seal, run, run_in_clear};
pub use slot::{Kind, Slot};
pub use spec::{PartySpec, Spec};
