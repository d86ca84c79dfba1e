//! A run over the rows of a party, step by step: each step of the protocol finishes in all
//! partitions before the next one starts in any. A protocol without such steps is a single step.
//!
//! Between two steps, an item's value takes the item's place: storage does not grow, and every step
//! reads its input as the first one reads items.

use crate::part::{PartRun, Rest, StepOutcome, Stepped};
use crate::walk::{Pace, PartitionWork, Walk};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use vesica_core::{Block, Error, Item, Learns, Result};
use vesica_net::{Connection, Context};
use vesica_partitions::{Cost, FinishedPartition, FinishedStep, PartitionOutput};
use vesica_protocols::{Step, Steps};

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
    /// The shared self-check items of each partition.
    shared: &'a [Vec<Item>],
    /// What each partition needs for its next step, besides the values of its items.
    rests: Vec<Mutex<Option<Rest>>>,
}

impl<'a> InSteps<'a> {
    /// For a `run` over `session` with these `rows`; `shared` has the self-check items of each
    /// partition.
    pub fn new(
        session: &'a dyn Connection,
        rows: &'a dyn PartRows,
        run: PartRun<'a>,
        shared: &'a [Vec<Item>],
    ) -> Self {
        let rests = shared.iter().map(|_| Mutex::new(None)).collect();
        Self { session, rows, run, shared, rests }
    }

    /// Runs all steps, each in `at_once` partitions at a time; `progress` is called with the number
    /// of whole partitions that the work so far amounts to. All bytes are counted in the meter of
    /// `ctx`. Returns the sum, over the steps, of the most changes of direction in any partition.
    ///
    /// # Errors
    /// The first error of a partition, which stops the session.
    pub fn run(
        &self,
        ctx: &mut Context,
        at_once: NonZeroUsize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<u64> {
        let stages: Vec<Stage> = match self.run.steps() {
            None => vec![Stage::Whole],
            Some(steps) => {
                let all = Step::all(self.run.params.learns()).iter();
                all.map(|step| Stage::Step(steps, *step)).collect()
            }
        };
        let (partitions, mut changes) = (self.run.plan.partitions(), 0);
        for (number, stage) in (0..).zip(&stages) {
            let before = number * partitions;
            let progress = |done: u64| progress((before + done) / stages.len() as u64);
            let walk = Walk {
                session: self.session,
                partitions,
                pace: Pace::InFlight(at_once),
                first_kept: before,
                label: self.run.label,
                progress: &progress,
            };
            changes += walk.run(ctx, &StageWork { of: self, stage: *stage })?;
        }
        Ok(changes)
    }

    /// The result of the previous step for a partition whose items now have these `values`.
    fn stepped(&self, index: u64, values: &[Item]) -> Result<Stepped> {
        let mut rest = self.rests[index as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let rest = rest.take().ok_or(Error::Bug("a partition misses its last step"))?;
        let own = values.iter().map(|value| Block::from_le_bytes(*value.as_bytes())).collect();
        Ok(Stepped { own, rest })
    }
}

/// What runs in all partitions before the next begins in any.
#[derive(Clone, Copy)]
enum Stage {
    /// The whole protocol.
    Whole,
    /// One of its steps.
    Step(Steps, Step),
}

/// A stage of the run, in each partition. A partition enters its values, and gives them with its
/// outcome.
struct StageWork<'a> {
    of: &'a InSteps<'a>,
    stage: Stage,
}

impl StageWork<'_> {
    /// Whether another stage follows, for which this one gives values.
    fn gives_values(&self) -> bool {
        match self.stage {
            Stage::Step(_, Step::Commit) => true,
            Stage::Step(_, Step::Compare) => self.of.run.params.learns() == Learns::Both,
            Stage::Step(_, Step::Answer) | Stage::Whole => false,
        }
    }
}

impl PartitionWork for StageWork<'_> {
    type Entered = Vec<Item>;
    type Outcome = (Vec<Item>, StepOutcome);

    fn entered(&self, index: u64) -> Result<Vec<Item>> {
        self.of.rows.entered(index)
    }

    fn run(&self, ctx: &mut Context, index: u64, values: Vec<Item>) -> Result<Self::Outcome> {
        let (run, shared) = (&self.of.run, &self.of.shared[index as usize]);
        Ok(match self.stage {
            Stage::Whole => {
                let (given, items) = run.run(ctx, index, values, shared)?;
                (items, StepOutcome::Output(given))
            }
            Stage::Step(_, Step::Commit) => {
                let (stepped, items) = run.commit(ctx, index, values, shared)?;
                (items, StepOutcome::Values(stepped))
            }
            Stage::Step(steps, Step::Compare) => {
                let stepped = self.of.stepped(index, &values)?;
                (values, run.compare(steps, ctx, index, stepped)?)
            }
            Stage::Step(steps, Step::Answer) => {
                let stepped = self.of.stepped(index, &values)?;
                (values, StepOutcome::Output(run.answer(steps, ctx, index, stepped)?))
            }
        })
    }

    fn keep(&self, (values, outcome): &Self::Outcome, cost: Cost) -> Result<Vec<u8>> {
        Ok(match outcome {
            StepOutcome::Values(stepped) => stepped.to_over(cost).to_bytes(),
            StepOutcome::Output(given) => given.to_bytes(values.len(), cost),
        })
    }

    fn recall(&self, index: u64, values: Vec<Item>, bytes: &[u8]) -> Option<(Self::Outcome, Cost)> {
        if self.gives_values() {
            let rest_len = Stepped::rest_len(self.of.shared[index as usize].len());
            let over = FinishedStep::from_bytes(bytes, rest_len, values.len())?;
            let (stepped, cost) = Stepped::of_over(over)?;
            return Some(((values, StepOutcome::Values(stepped)), cost));
        }
        let FinishedPartition { given, cost } = FinishedPartition::from_bytes(bytes, values.len())?;
        Some(((values, StepOutcome::Output(given)), cost))
    }

    fn add(&self, index: u64, (values, outcome): Self::Outcome) -> Result<()> {
        let InSteps { rows, rests, .. } = self.of;
        match outcome {
            StepOutcome::Values(Stepped { own, rest }) => {
                rows.replace(index, &values, &own)?;
                let place = &rests[index as usize];
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
                Ok(())
            }
            StepOutcome::Output(given) => rows.add(index, &values, &given),
        }
    }
}
