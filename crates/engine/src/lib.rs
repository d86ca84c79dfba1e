//! A job from table to result.
//!
//! * [`agreement`] — what the two organisations agreed on; hashed and bound into the session.
//! * [`explain`] — the agreement in plain words: who learns what, what is assumed.
//! * [`job`] — one run: read, meet, agree, match, check, write.
//! * [`bench`](mod@bench) — one party of a benchmark run on generated items.
//! * [`Report`] — what a run did, for machines.
//! * [`Event`], [`Observer`] — what a run is doing, for people.
//! * [`Error`] — what went wrong; the variant says who must act.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod bench;
mod error;
mod event;
pub mod explain;
pub mod job;
mod meeting;
mod report;
mod resources;
mod run;
mod self_check;

pub use error::{ConfigFault, Error, Incompatible, InputFault, Phase, TransportFault};
pub use event::{Event, Observer, Silent};
pub use job::{Job, reach, run};
pub use report::{Report, SCHEMA};
pub use resources::Resources;
