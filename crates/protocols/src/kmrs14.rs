//! Server-aided private set intersection: an untrusted helper, many parties, very large sets.
//!
//! S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling Private Set Intersection to Billion-Element Sets",
//! Financial Cryptography 2014: Figures 1 to 4.

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
pub use list::{Items, Matched, Means};
pub use party::{Outcome, Run, SEAL_LEN, Seal, run, run_in_clear};
pub use rows::{AidedProtocol, Check, Variant, aided, find_aided};
pub use slot::{Kind, Slot};
pub use spec::{MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS, PartySpec, Spec};
