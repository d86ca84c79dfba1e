//! Labels of items under a key that the parties share and the helper does not have.
//!
//! * [`LabelKey`] — items to labels: AES under a separate key for each use.
//! * [`Format`] — the length of labels, and the encoding of a sorted list in segments.
//! * [`Spool`], [`Sorted`] — sorting of lists larger than memory; [`Order`] — the original places.
//! * [`List`] — an encoded list; [`join`](join::common) — the intersection of lists; [`Ranges`] —
//!   lists side by side.
//! * [`Bits`] — one bit per label of a list.
//!
//! A list of labels is always in ascending order, which does not reveal the order of the items:
//! without the key, labels look random, and so does each item's place.
//!
//! Two parties label their items under a shared key, and the helper intersects the sorted lists:
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vesica_core::Item;
//! use vesica_labels::{Format, LabelKey, List, Segments, Spool, join};
//! use vesica_scratch::MemoryScratch;
//! use vesica_net::Pool;
//!
//! struct Encoded(Vec<Vec<u8>>);
//!
//! impl Segments for Encoded {
//!     fn read(&self, index: u32) -> std::io::Result<Vec<u8>> {
//!         Ok(self.0[index as usize].clone())
//!     }
//! }
//!
//! let format = Format::new(10, 60);
//! let encode = |items: std::ops::Range<u128>| -> std::io::Result<(Encoded, Vec<u32>)> {
//!     let items: Vec<Item> = items.map(Item::from_integer).collect();
//!     let mut spool = Spool::new(format, 32, 1 << 20, &MemoryScratch).expect("short enough");
//!     let mut labels = Vec::new();
//!     LabelKey::derive(&[7; 32], "example", 0).of_items(&items, |_, label| labels.push(label));
//!     for (row, label) in labels.into_iter().enumerate() {
//!         spool.push(label, row as u64)?;
//!     }
//!     let sorted = spool.finish()?;
//!     let (mut segments, mut counts) = (Vec::new(), Vec::new());
//!     for index in 0..format.segments() {
//!         let segment = sorted.segment(index)?;
//!         segments.push(sorted.encode(&segment)?);
//!         counts.push(segment.labels.len() as u32);
//!     }
//!     Ok((Encoded(segments), counts))
//! };
//! let (first, second) = (encode(0..1000)?, encode(900..1024)?);
//! let lists = [List::new(format, &first.1, &first.0)?, List::new(format, &second.1, &second.0)?];
//! let pool = Pool::new(NonZeroUsize::MIN)?;
//! let common = join::common(&lists, &pool, &|| false).expect("valid lists").expect("not stopped");
//! assert!(common.iter().all(|bits| bits.count_ones() == 100));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod bits;
mod code;
mod format;
pub mod join;
mod key;
mod list;
mod order;
mod ranges;
mod sort;
mod spool;

pub use bits::Bits;
pub use format::{Format, MAX_SCALE};
pub use key::LabelKey;
pub use list::{List, ListError, Segments, count_segment, decode_segment};
pub use order::Order;
pub use ranges::{Ranges, compared_bits, set_common};
pub use spool::{Segment, Sorted, Spool};

/// A label in the leading bits, as many as its [`Format`] says, followed by zeros.
pub type Label = u128;
