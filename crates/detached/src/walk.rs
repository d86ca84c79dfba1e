//! The walk through all partitions of a run.
//!
//! ```text
//!  entered ──▶ kept by an earlier process? ──▶ recalled ───────────────────┐
//!          └─▶ otherwise ────────────────────▶ run ─▶ metered ─▶ kept ─────┴─▶ added
//! ```

use crate::in_flight::in_flight;
use crate::metered::{cost_under, counted};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_core::{Error, Result};
use vesica_net::{Connection, Context, Meter, OpenedStreams};
use vesica_partitions::Cost;

/// The stored data of a partition does not belong to it.
pub(crate) const DAMAGED: Error = Error::Storage(ErrorKind::InvalidData);

/// What a run does in each of its partitions.
pub trait PartitionWork: Sync {
    /// What a partition enters.
    type Entered;
    /// What a partition gives, with what it takes to store and to add it.
    type Outcome;

    /// What partition `index` enters.
    ///
    /// # Errors
    /// The errors of the place where the set is.
    fn entered(&self, index: u64) -> Result<Self::Entered>;

    /// Runs partition `index` in `ctx`, a fork of the run's context. What counts as its cost runs
    /// under the label of the [`Walk`].
    ///
    /// # Errors
    /// The errors of the protocol.
    fn run(&self, ctx: &mut Context, index: u64, entered: Self::Entered) -> Result<Self::Outcome>;

    /// The bytes that are stored of a partition. Their number does not depend on the result.
    ///
    /// # Errors
    /// [`Error::Bug`] for an outcome that no partition gives.
    fn keep(&self, outcome: &Self::Outcome, cost: Cost) -> Result<Vec<u8>>;

    /// The outcome and the cost of partition `index` in stored bytes; `None` if they hold something
    /// else.
    fn recall(
        &self,
        index: u64,
        entered: Self::Entered,
        bytes: &[u8],
    ) -> Option<(Self::Outcome, Cost)>;

    /// Adds the outcome of partition `index` to that of the run.
    ///
    /// # Errors
    /// The errors of the place where the result is.
    fn add(&self, index: u64, outcome: Self::Outcome) -> Result<()>;
}

/// How many partitions run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One, in ascending order, in the thread of the caller. Each reports its progress, as in a run
    /// that is not split.
    InTurn,
    /// At most this many, started in ascending order, in threads. None reports its progress.
    InFlight(NonZeroUsize),
}

/// A walk through all partitions of a run, or of one of its steps.
pub struct Walk<'a> {
    /// The session with the peer.
    pub session: &'a dyn Connection,
    /// How many partitions there are.
    pub partitions: u64,
    /// How many run at a time.
    pub pace: Pace,
    /// The number under which the outcome of the first partition is stored; the others follow.
    pub first_kept: u64,
    /// The label under which bytes are counted.
    pub label: &'a str,
    /// Called after each partition with the number of those that are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Walk<'_> {
    /// Runs each partition, or recalls what an earlier process stored of it, and adds its outcome.
    /// All bytes are counted in the meter of `ctx`. Returns the most changes of direction in any
    /// partition.
    ///
    /// # Errors
    /// The first error of a partition; with partitions [in flight](Pace::InFlight), it stops the
    /// session.
    pub fn run(&self, ctx: &mut Context, work: &impl PartitionWork) -> Result<u64> {
        let meter = ctx.meter().clone();
        let (most, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let each = |index: u64, ctx: &mut Context, opened: &OpenedStreams| {
            let cost = self.each(work, index, ctx, opened, &meter)?;
            most.fetch_max(cost.direction_changes, Ordering::Relaxed);
            (self.progress)(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        };
        match self.pace {
            Pace::InTurn => {
                for index in 0..self.partitions {
                    let (mut fork, opened) = ctx.fork_detached()?;
                    each(index, &mut fork, &opened)?;
                }
            }
            Pace::InFlight(at_once) => {
                in_flight(ctx, self.session, self.partitions, at_once, each)?;
            }
        }
        Ok(most.into_inner())
    }

    /// Takes partition `index` from its entry to its outcome; returns its cost. `ctx` was forked
    /// for it even if it does not run, so that the others have the same streams and randomness.
    fn each<W: PartitionWork>(
        &self,
        work: &W,
        index: u64,
        ctx: &mut Context,
        opened: &OpenedStreams,
        meter: &Meter,
    ) -> Result<Cost> {
        let number = self.first_kept + index;
        let entered = work.entered(index)?;
        let (outcome, cost) = match self.session.kept_part(number)? {
            Some(kept) => {
                let recalled = work.recall(index, entered, &kept).ok_or(DAMAGED)?;
                meter.add(&[counted(&recalled.1, self.label)]);
                recalled
            }
            None => {
                let outcome = work.run(ctx, index, entered)?;
                let cost = cost_under(ctx, self.label);
                meter.add(&ctx.meter().report());
                // If no later process can continue the run, the outcome need not be in memory
                // twice.
                if self.session.seed().is_some() {
                    let kept = work.keep(&outcome, cost)?;
                    self.session.keep_part(number, &opened.ids(), &kept)?;
                }
                (outcome, cost)
            }
        };
        work.add(index, outcome)?;
        Ok(cost)
    }
}

#[cfg(test)]
mod tests;
