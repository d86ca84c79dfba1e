//! Sets larger than memory, split into partitions that are matched one by one.
//!
//! Both parties split their items in the same way, and match the partitions with the same number.
//! Each partition of a party is padded to the same length, so that its peer learns the size of the
//! whole set and nothing of the partitions.
//!
//! * [`Plan`] — how many partitions there are, and to what length they are padded: public figures.
//! * [`Splitter`] — which partition an item belongs to, under a secret of the session.
//! * [`Buckets`], [`Grouped`] — the items of a file's rows, grouped, in memory or on disk.
//! * [`FinishedPartition`], [`FinishedAddends`], [`FinishedLists`] — a partition's result, in the
//!   form stored until the run ends; [`FinishedStep`] — the result of one of its steps.
//! * [`session_of`] — the session of one partition.
//!
//! ```
//! use vesica_core::Item;
//! use vesica_scratch::MemoryScratch;
//! use vesica_partitions::{Buckets, PartitionBits, Splitter};
//!
//! let rows: Vec<Item> = (0..1000).map(Item::from_integer).collect();
//! let splitter = Splitter::new(&[7; 32]);
//! let mut buckets = Buckets::new(8, 1 << 20, &MemoryScratch);
//! let mut prefixes = Vec::new();
//! splitter.prefixes(&rows, &mut prefixes);
//! buckets.push(&rows, &prefixes)?;
//! let grouped = buckets.finish(4)?;
//!
//! // Every other item of each partition is in the result.
//! let mut bits = PartitionBits::new(&grouped);
//! let mut items = Vec::new();
//! for partition in 0..4 {
//!     grouped.read(partition, &mut items)?;
//!     bits.set(partition, 0, (0..items.len()).map(|entry| entry % 2 == 0));
//! }
//! let words = grouped.into_rows(&bits)?;
//! let set: u32 = words.iter().map(|word| word.count_ones()).sum();
//! assert!((500..=504).contains(&set));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod bits;
mod buckets;
mod finished;
mod plan;
mod splitter;

pub use bits::PartitionBits;
pub use buckets::{Buckets, DISK_BYTES_PER_ROW, Grouped};
pub use finished::{
    Cost, FinishedAddends, FinishedLists, FinishedPartition, FinishedStep, Listed, PartitionOutput,
    code_of, reason,
};
pub use plan::{MAX_PARTITIONS, Plan};
pub use splitter::{NO_PREFIX, Splitter, session_of};
