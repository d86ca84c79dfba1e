//! Labels of items under a key that the parties share and a helper does not have.
//!
//! * [`LabelKey`] — items to labels: AES under a key of its own for each use.
//! * [`Format`] — how many bits a label has, and how a sorted list of them is written in segments.
//! * [`Spool`], [`Sorted`] — lists larger than memory, sorted; [`Order`] — what stood where before.
//! * [`Scratch`] — where they go meanwhile: memory, or files that the caller makes.
//! * [`List`] — a list in its written form; [`join`](join::common) — what several lists have in common;
//!   [`Ranges`] — the lists side by side, for who finds it elsewhere.
//! * [`Bits`] — a bit for each label of a list.
//!
//! A list of labels is always in ascending order, the one order that every list has and that says nothing about
//! where its items came from: the labels are pseudo-random to everybody without the key, so that for them the
//! place of an item in the order is as random as its label.

#![forbid(unsafe_code)]

mod bits;
mod code;
mod format;
pub mod join;
mod key;
mod list;
mod order;
mod ranges;
mod scratch;
mod sort;
mod spool;

pub use bits::Bits;
pub use format::{Format, MAX_SCALE};
pub use key::LabelKey;
pub use list::{List, ListError, Segments, count_segment, decode_segment};
pub use order::Order;
pub use ranges::{Ranges, compared_bits, set_common};
pub use scratch::{MemoryScratch, Scratch, ScratchFile};
pub use spool::{Segment, Sorted, Spool};

/// A label, in the leading bits; as many as its [`Format`] says, and zeros.
pub type Label = u128;
