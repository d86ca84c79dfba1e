//! Channels, contexts, in-memory and shaped pairs.
//!
//! * [`Streams`], [`StreamReader`], [`StreamWriter`] — what a transport must offer.

#![forbid(unsafe_code)]

mod stream;

pub use stream::{StreamId, StreamPair, StreamReader, StreamWriter, Streams};
