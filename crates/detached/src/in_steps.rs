//! A protocol that finishes each step in all partitions before the next one starts in any.
//!
//! Between two steps, an item's value takes the item's place: storage does not grow, and every step
//! reads its input as the first one reads items.

use crate::in_flight::in_flight;
use crate::part::{PartRun, Rest, StepOutcome, Stepped};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use vesica_core::{Block, Error, Item, Learns, Result};
use vesica_net::{Connection, Context, Meter, OpenedStreams, SpanReport};
use vesica_partitions::{Cost, FinishedPartition, FinishedStep, PartitionOutput};
use vesica_protocols::{Step, Steps};

/// The stored data of a partition does not belong to it.
const DAMAGED: Error = Error::Storage(ErrorKind::InvalidData);

/// The rows of a party by partition, with a value in the place of each item.
pub trait PartRows: Sync {
    /// The values of a partition: before the first step, its items. If several rows may have the
    /// same item, each item once, ascending.
    ///
    /// # Errors
    /// The errors of the place where the rows are.
    fn entered(&self, index: u64) -> Result<Vec<Item>>;

    /// Replaces each value; `items` are those of [`entered`](Self::entered), and `values` follow
    /// their order.
    ///
    /// # Errors
    /// The errors of the place where the rows are.
    fn replace(&self, index: u64, items: &[Item], values: &[Block]) -> Result<()>;

    /// Takes the output of a partition, whose own items now have these `values`.
    ///
    /// # Errors
    /// The errors of the place where the rows are.
    fn add(&self, index: u64, values: &[Item], given: &PartitionOutput) -> Result<()>;
}

/// The partitions of a run, between two steps.
pub struct InSteps<'a> {
    session: &'a dyn Connection,
    rows: &'a dyn PartRows,
    run: PartRun<'a>,
    steps: Steps,
    /// The shared self-check items of each partition.
    shared: &'a [Vec<Item>],
    /// What each partition needs for its next step, besides the values of its items.
    rests: Vec<Mutex<Option<Rest>>>,
    meter: Meter,
}

impl<'a> InSteps<'a> {
    /// For a `run` over `session` with these `rows`; `shared` has the self-check items of each
    /// partition. All bytes are counted in `meter`.
    pub fn new(
        session: &'a dyn Connection,
        rows: &'a dyn PartRows,
        run: PartRun<'a>,
        steps: Steps,
        shared: &'a [Vec<Item>],
        meter: Meter,
    ) -> Self {
        let rests = shared.iter().map(|_| Mutex::new(None)).collect();
        Self { session, rows, run, steps, shared, rests, meter }
    }

    /// Runs all steps, each in `at_once` partitions at a time; `progress` is called with the number
    /// of whole partitions that the work so far amounts to. Returns the sum, over the steps, of the
    /// most changes of direction in any partition.
    ///
    /// # Errors
    /// The first error of a partition, which stops the session.
    pub fn run(
        &self,
        ctx: &mut Context,
        at_once: NonZeroUsize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<u64> {
        let steps = Step::all(self.run.params.learns());
        let (done, partitions) = (AtomicU64::new(0), self.run.plan.partitions());
        let mut changes = 0;
        for step in steps {
            let most = AtomicU64::new(0);
            let work = |index: u64, ctx: &mut Context, opened: &OpenedStreams| {
                let cost = match step {
                    Step::Commit => self.commit(index, ctx, opened),
                    Step::Compare => self.compare(index, ctx, opened),
                    Step::Answer => self.answer(index, ctx, opened),
                }?;
                most.fetch_max(cost.direction_changes, Ordering::Relaxed);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                progress(done / steps.len() as u64);
                Ok(())
            };
            in_flight(ctx, self.session, partitions, at_once, work)?;
            changes += most.into_inner();
        }
        Ok(changes)
    }

    fn commit(&self, index: u64, ctx: &mut Context, opened: &OpenedStreams) -> Result<Cost> {
        let shared = &self.shared[index as usize];
        let items = self.rows.entered(index)?;
        if let Some(kept) = self.kept(Step::Commit, index)? {
            return self.recall(index, &items, &kept);
        }
        let own_len = items.len();
        let (stepped, set) = self.run.commit(ctx, index, items, shared)?;
        let cost = self.count(ctx);
        self.keep(Step::Commit, index, opened, || stepped.to_over(cost).to_bytes())?;
        self.replace(index, &set.items()[..own_len], stepped)?;
        Ok(cost)
    }

    fn compare(&self, index: u64, ctx: &mut Context, opened: &OpenedStreams) -> Result<Cost> {
        let values = self.rows.entered(index)?;
        let kept = self.kept(Step::Compare, index)?;
        match kept {
            Some(kept) if self.run.params.learns() == Learns::Both => {
                return self.recall(index, &values, &kept);
            }
            Some(kept) => return self.recall_given(index, &values, &kept),
            None => {}
        }
        let stepped = self.stepped(index, &values)?;
        let compared = self.run.compare(self.steps, ctx, index, stepped)?;
        let cost = self.count(ctx);
        match compared {
            StepOutcome::Output(given) => {
                self.finish(
                    Step::Compare,
                    index,
                    &values,
                    opened,
                    FinishedPartition { given, cost },
                )?;
            }
            StepOutcome::Values(stepped) => {
                self.keep(Step::Compare, index, opened, || stepped.to_over(cost).to_bytes())?;
                self.replace(index, &values, stepped)?;
            }
        }
        Ok(cost)
    }

    fn answer(&self, index: u64, ctx: &mut Context, opened: &OpenedStreams) -> Result<Cost> {
        let values = self.rows.entered(index)?;
        if let Some(kept) = self.kept(Step::Answer, index)? {
            return self.recall_given(index, &values, &kept);
        }
        let stepped = self.stepped(index, &values)?;
        let given = self.run.answer(self.steps, ctx, index, stepped)?;
        let cost = self.count(ctx);
        self.finish(Step::Answer, index, &values, opened, FinishedPartition { given, cost })?;
        Ok(cost)
    }

    /// The result of the previous step for a partition whose items now have these `values`.
    fn stepped(&self, index: u64, values: &[Item]) -> Result<Stepped> {
        let mut rest = self.rests[index as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let rest = rest.take().ok_or(Error::Bug("a partition misses its last step"))?;
        let own = values.iter().map(|value| Block::from_le_bytes(*value.as_bytes())).collect();
        Ok(Stepped { own, rest })
    }

    /// Replaces a step's input with its result; `values` gives their order.
    fn replace(&self, index: u64, values: &[Item], Stepped { own, rest }: Stepped) -> Result<()> {
        self.rows.replace(index, values, &own)?;
        let mut place = self.rests[index as usize].lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(rest);
        Ok(())
    }

    /// Stores and adds the output of a partition.
    fn finish(
        &self,
        step: Step,
        index: u64,
        values: &[Item],
        opened: &OpenedStreams,
        over: FinishedPartition,
    ) -> Result<()> {
        self.rows.add(index, values, &over.given)?;
        self.keep(step, index, opened, || over.to_bytes(values.len()))
    }

    /// Counts the cost of a step in `ctx`, and returns it.
    fn count(&self, ctx: &Context) -> Cost {
        self.meter.add(&ctx.meter().report());
        self.run.cost(ctx)
    }

    /// The number under which a step of a partition is stored.
    fn number(&self, step: Step, index: u64) -> u64 {
        step as u64 * self.run.plan.partitions() + index
    }

    fn kept(&self, step: Step, index: u64) -> Result<Option<Vec<u8>>> {
        Ok(self.session.kept_part(self.number(step, index))?)
    }

    fn keep(
        &self,
        step: Step,
        index: u64,
        opened: &OpenedStreams,
        bytes: impl FnOnce() -> Vec<u8>,
    ) -> Result<()> {
        // If no later process can continue the run, the values need not be in memory twice.
        if self.session.seed().is_none() {
            return Ok(());
        }
        let number = self.number(step, index);
        Ok(self.session.keep_part(number, &opened.ids(), &bytes())?)
    }

    /// Restores a step that an earlier process finished.
    fn recall(&self, index: u64, values: &[Item], kept: &[u8]) -> Result<Cost> {
        let rest_len = Stepped::rest_len(self.shared[index as usize].len());
        let over = FinishedStep::from_bytes(kept, rest_len, values.len());
        let (stepped, cost) = over.and_then(Stepped::of_over).ok_or(DAMAGED)?;
        self.meter.add(&[counted(&cost, self.run.label)]);
        self.replace(index, values, stepped)?;
        Ok(cost)
    }

    /// Restores the output of a partition that an earlier process finished.
    fn recall_given(&self, index: u64, values: &[Item], kept: &[u8]) -> Result<Cost> {
        let over = FinishedPartition::from_bytes(kept, values.len()).ok_or(DAMAGED)?;
        self.meter.add(&[counted(&over.cost, self.run.label)]);
        self.rows.add(index, values, &over.given)?;
        Ok(over.cost)
    }
}

/// One row of the meter for a partition or a step that an earlier process ran.
pub fn counted(cost: &Cost, label: &str) -> SpanReport {
    let (bytes_sent, bytes_received) = cost.payload;
    let label = label.to_owned();
    SpanReport { label, bytes_sent, bytes_received, ..SpanReport::default() }
}
