//! Server-aided private set intersection: an untrusted helper, many parties, very large sets.
//!
//! S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling Private Set Intersection to Billion-Element Sets",
//! Financial Cryptography 2014: Figures 1 to 4.

mod board;
mod rows;
mod slot;
mod spec;

pub use board::{Board, Boards};
pub use rows::{AidedProtocol, Check, Variant, aided, find_aided};
pub use slot::{Kind, Slot};
pub use spec::{MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS, PartySpec, Spec};
