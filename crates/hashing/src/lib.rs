//! Hashing to bins. One party places each of its items in one bin; the other places its items in
//! all bins that the first party could have used, so that equal items meet.
//!
//! | module | contents |
//! |---|---|
//! | [`Table`] | the numbers of bins, hash functions and stash places: tables of safe sizes |
//! | [`locations`] | the bins of an item under each function, for digests and permutation-based |
//! | [`cuckoo`] | at most one item per bin, and a stash |
//! | [`simple`] | every item in the bins of all its functions, bin by bin |
//! | [`ShortItems`] | items hashed to the length that protocols need |
//! | [`max_load()`] | the maximum load of a bin in simple hashing |
//!
//! A cuckoo table holds each item in one of the bins that its functions select:
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vesica_core::{Item, Runs, SessionId};
//! use vesica_hashing::{Cuckoo, Locations, Table};
//! use vesica_net::Pool;
//!
//! let items: Vec<Item> = (0..1000).map(Item::from_integer).collect();
//! let table = Table::stashless(items.len(), Runs::ONE);
//! let locations = Locations::of_digests(table, &SessionId::from_bytes([1; 32]));
//! let bins = locations.bins(&Pool::new(NonZeroUsize::MIN)?, &items);
//! let cuckoo = Cuckoo::new(&table, &bins)?;
//! let placed: Vec<_> = (0..cuckoo.len()).filter_map(|bin| Some((bin, cuckoo.bin(bin)?))).collect();
//! assert_eq!(placed.len(), items.len());
//! assert!(placed.iter().all(|(bin, placed)| {
//!     bins[placed.position as usize][usize::from(placed.function)] as usize == *bin
//! }));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod cuckoo;
pub mod locations;
mod max_load;
mod short;
pub mod simple;
mod table;

pub use cuckoo::{Cuckoo, Placed};
pub use locations::Locations;
pub use max_load::max_load;
pub use short::ShortItems;
pub use simple::Simple;
pub use table::{MAX_FUNCTIONS, MAX_MEASURED_FUNCTIONS, Table};
