//! How the two sides of a protocol talk: blocking, counted, limited channels and the context
//! that carries them.
//!
//! * [`Context`] — the only argument of a protocol besides its input: peer, randomness, CPU pool,
//!   labelled spans, forks.
//! * [`Channel`] — messages of agreed lengths over one stream; flushes before it waits, writes on
//!   its own thread, counts every byte, stays closed after an error.
//! * [`Meter`] — bytes, flights and time by label.
//! * [`Pool`] — the CPU threads a party may use.
//! * [`Streams`], [`StreamReader`], [`StreamWriter`], [`StreamId`] — what a transport must offer.
//! * [`memory`] — an in-memory pair of parties, plain or with an emulated network.
//! * [`shape`] — bandwidth and delay of the emulated networks.

#![forbid(unsafe_code)]

mod channel;
mod context;
pub mod memory;
mod meter;
mod pool;
mod run_both;
pub mod shape;
mod stream;
mod write_queue;

pub use channel::{Channel, Limits, MESSAGE_HEADER_LEN};
pub use context::{Context, Progress};
pub use meter::{Meter, SpanReport};
pub use pool::Pool;
pub use run_both::run_both;
pub use shape::{Pacer, Shape};
pub use stream::{StreamId, StreamPair, StreamReader, StreamWriter, Streams};
