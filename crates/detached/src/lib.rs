//! Runs a protocol on partitions: in this process, or as tasks in other processes.
//!
//! * [`PartRun`]: what a partition enters, and what its output contains.
//! * [`Walk`] takes all partitions of a run through their [`PartitionWork`], recalls those that an
//!   earlier process finished, and keeps the others.
//! * [`InSteps`] walks over a party's [`PartRows`], once for each step of the protocol.
//! * [`RunSpec`]: what detached tasks need to know of the run; [`Task`] and [`TaskResult`]: one
//!   turn of a partition, which is its protocol run on all bytes received so far, and the turn's
//!   result.
//! * [`Workers`]: programs in other processes, to which [`run_detached`] hands the tasks of a run.
//!
//! A task is a pure function of its run spec, of its partition's items and of the peer's bytes. It
//! may run any number of times, on any machine, even several times at once.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod coordinator;
mod fault;
mod in_flight;
mod in_steps;
mod metered;
mod part;
mod run_spec;
mod turn;
mod walk;
mod workers;

pub use coordinator::{DetachedMatches, run_detached};
pub use fault::Fault;
pub use in_steps::{InSteps, PartRows};
pub use metered::run_under;
pub use part::{PartRun, Rest, StepOutcome, Stepped};
pub use run_spec::RunSpec;
pub use turn::{ParcelRecord, PartitionResult, Point, ReceivedAt, Task, TaskResult, digest_of};
pub use walk::{Pace, PartitionWork, Walk};
pub use workers::{BucketCounts, Workers, WorkersFault, buckets_of};
