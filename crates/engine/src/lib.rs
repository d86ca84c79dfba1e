//! A job from table to result.
//!
//! * [`run`] — one run: read, meet, match, check, write; [`Job`] — its inputs.
//! * [`terms`] — what follows from an agreement for a party's file.
//! * [`disk`] — the disk space that a run needs, and whether it is free.
//! * [`MemoryDefault`] — the default memory limit of a run, from what the system offers.
//! * [`look`] — whether a helper would admit a party, and which parties are present.
//! * [`without_agreement`] — a protocol between two parties who have no agreement and no file.
//! * [`shares`] — files of shares, and the values that two of them give.
//! * [`RunResult`] — what a party has learned, in memory; a result file is written from it.
//! * [`Report`] — what a run did, for machines.
//! * [`Event`], [`Observer`] — what a run is doing, for people.
//! * [`Error`] — what went wrong; the variant says who must act.
//! * [`fuzzing`] — entry points for fuzzers.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[cfg(test)]
extern crate self as vesica_engine;
mod answer;
mod clock;
mod dialer;
pub mod disk;
mod early_refusal;
mod error;
mod event;
mod follow;
#[doc(hidden)]
pub mod fuzzing;
mod inspect;
mod job;
mod matching;
mod meeting;
mod output;
mod participants;
mod peer;
mod reading;
mod report;
pub mod terms;
pub mod without_agreement;

pub use early_refusal::leave_word;
pub use error::{ConfigFault, Error, Incompatible, InputFault, Phase, TransportFault};
pub use event::{Event, Observer, Silent};
pub use follow::{reach, run, run_and};
pub use inspect::{HelperSeen, look};
pub use job::{Job, StateOptions};
pub use meeting::WIRE_VERSION;
pub use output::{
    ColumnSum, Finished, IdEntry, Ids, NamedAnswer, OrderLine, RowSet, RunResult, SharesOrder,
    Union, UnionEntry,
};
pub use vesica_expressions::Answer;
pub use vesica_report::{AgreementReport, AnswerReport, Report, Resources, SCHEMA, SumReport};
pub use vesica_scratch::{Bound, MEMORY_BYTES_DEFAULT, MemoryDefault, MemoryLimit};
pub use vesica_share_files as shares;
