//! Communication between the two sides of a protocol: blocking, counted, limited channels and the
//! context that holds them.
//!
//! * [`Context`] — the only argument of a protocol besides its input: peer, randomness, CPU pool,
//!   labelled spans, forks.
//! * [`Channel`] — messages of agreed lengths over one stream; flushes before it waits, writes on
//!   its own thread, counts every byte, stays closed after an error.
//! * [`Giver`], [`Taker`] — hand values from one part of a protocol to another that runs in
//!   parallel.
//! * [`Window`] — how many messages a party sends before it waits for an answer.
//! * [`Meter`] — bytes, flights and time by label.
//! * [`MessageOrder`] — which message waits for which: the flights of a run.
//! * [`Pool`] — the CPU threads a party may use.
//! * [`Streams`], [`StreamReader`], [`StreamWriter`], [`StreamId`] — the interface of a transport.
//! * [`memory`] — an in-memory pair of parties, plain or with an emulated network.
//! * [`shape`] — bandwidth and delay of the emulated networks.
//! * [`Replay`] — a party that does not stay alive between flights: each [`Turn`] runs its program
//!   again from the start; [`Flight`], [`SentDigests`].
//!
//! Two parties over an in-memory pair:
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vesica_core::{Result, Role};
//! use vesica_net::{Context, Meter, Pool, memory};
//!
//! let (alice, bob) = memory::pair();
//! let bob = std::thread::spawn(move || -> Result<Vec<u8>> {
//!     let pool = Pool::new(NonZeroUsize::MIN)?;
//!     let mut ctx = Context::new(vec![(Role::Sender, bob)], [1; 32], pool, Meter::new())?;
//!     ctx.peer()?.recv(5)
//! });
//! let pool = Pool::new(NonZeroUsize::MIN)?;
//! let mut ctx = Context::new(vec![(Role::Receiver, alice)], [2; 32], pool, Meter::new())?;
//! ctx.child("greeting", |ctx| ctx.peer()?.send(b"hello"))?;
//! ctx.finish()?;
//! assert_eq!(bob.join().expect("the thread does not panic")?, b"hello");
//! assert_eq!(ctx.meter().bytes_under("greeting"), (5, 0));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod channel;
mod connection;
mod context;
mod detached;
mod handover;
pub mod memory;
mod message_order;
mod meter;
mod pool;
mod replay;
mod run_both;
pub mod shape;
mod stream;
mod window;
mod write_queue;

pub use channel::{Channel, Limits, MESSAGE_HEADER_LEN, framed};
pub use connection::Connection;
pub use context::{Context, OpenedStreams, Progress};
pub use detached::{Detached, Parcel, Received};
pub use handover::{Giver, Taker};
pub use message_order::MessageOrder;
pub use meter::{Meter, SpanReport};
pub use pool::Pool;
pub use replay::{Flight, Replay, SentDigests, Turn, TurnOutcome};
pub use run_both::run_both;
pub use shape::{Pacer, Shape};
pub use stream::{StreamId, StreamPair, StreamReader, StreamWriter, Streams};
pub use window::Window;
