//! A party's set as it enters a protocol: its keys, with self-check items and padding, and the
//! checks of a result.
//!
//! * [`CheckedSet`] — the set; [`Additions`] — what is added to its keys; [`TextForm`] — how its
//!   texts are made.
//! * [`shared_items`] — the self-check items that both parties know.
//! * [`texts`] — the texts of a union, in which self-check items and padding are marked.

mod set;
pub mod texts;

pub use set::{Additions, CheckedSet, TextForm, shared_items};
