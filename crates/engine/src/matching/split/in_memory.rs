//! Sets in memory, matched one partition after the other: counts and sums by their shares, unions
//! and private ids by their lists.

use super::{Matched, Splitting};
use crate::matching::run_alone;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vesica_agreement::split::{Listing, Numbers, Parts, lens, partition};
use vesica_core::{Error, ParameterError, PsiParams, Result};
use vesica_detached::{Pace, PartitionWork, Walk, run_under};
use vesica_net::Context;
use vesica_own_rows::self_check::CheckedSet;
use vesica_partitions::{Cost, Plan};
use vesica_protocols::Output;

impl Splitting<'_> {
    /// Runs the protocol on each partition of `set`, and opens the total of the shares; returns the
    /// output of the whole run, and the most changes of direction of a run.
    ///
    /// # Errors
    /// Errors of the runs.
    pub(crate) fn run_addends(
        &self,
        ctx: &mut Context,
        set: &CheckedSet,
        matched: Matched<'_>,
        label: &str,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Output, u64)> {
        let Matched { row, role, params, .. } = matched;
        let numbers = Numbers::new(row, role, params);
        let (numbers, changes) = self.each_part(ctx, label, set, matched, progress, numbers)?;
        let opening = row.opening(role, *params, numbers.total())?;
        let (output, of_opening) = run_alone(opening, ctx, label)?;
        Ok((output, changes + of_opening))
    }

    /// Runs the protocol on each partition of `set` and joins the lists; returns the output of the
    /// whole run, and the most changes of direction of a run.
    ///
    /// # Errors
    /// Errors of the runs.
    pub(crate) fn run_lists(
        &self,
        ctx: &mut Context,
        set: &CheckedSet,
        matched: Matched<'_>,
        label: &str,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Output, u64)> {
        let Matched { row, role, .. } = matched;
        let listing = Listing::new(row, role, set.len());
        let (listing, changes) = self.each_part(ctx, label, set, matched, progress, listing)?;
        Ok((listing.output(), changes))
    }

    /// Takes all partitions of `set` through the protocol, and passes their outcomes to `parts`.
    /// Returns these, and the most changes of direction of a run.
    fn each_part<P: Parts>(
        &self,
        ctx: &mut Context,
        label: &str,
        set: &CheckedSet,
        matched: Matched<'_>,
        progress: &(dyn Fn(u64) + Sync),
        parts: P,
    ) -> Result<(P, u64)> {
        let plan = matched.plan;
        let [shared, padding] = set.check_items();
        let own = self.positions_of(plan, set, 0..set.own_len());
        let shared = self.positions_of(plan, set, shared);
        let places = Mutex::new(Places { own, shared, padding });
        let work = SetWork { set, matched, label, places, parts: Mutex::new(parts) };
        let walk = Walk {
            session: self.session,
            partitions: plan.partitions(),
            // Lists follow the order of the partitions, and one partition's copy of the set is
            // enough.
            pace: Pace::InTurn,
            first_kept: 0,
            label,
            progress,
        };
        progress(0);
        let changes = walk.run(ctx, &work)?;
        Ok((work.parts.into_inner().unwrap_or_else(PoisonError::into_inner), changes))
    }

    /// The positions of the items of `set` in `range`, by partition.
    fn positions_of(&self, plan: Plan, set: &CheckedSet, range: Range<usize>) -> Vec<Vec<usize>> {
        let (mut of, mut prefixes) = (vec![Vec::new(); plan.partitions() as usize], Vec::new());
        self.splitter.prefixes(&set.items()[range.clone()], &mut prefixes);
        for (position, prefix) in range.zip(prefixes) {
            of[plan.partition_of(prefix) as usize].push(position);
        }
        of
    }
}

/// The positions of a set's items that no partition has entered yet.
struct Places {
    /// Of own items, by partition.
    own: Vec<Vec<usize>>,
    /// Of shared self-check items, by partition.
    shared: Vec<Vec<usize>>,
    /// Of padding, which fits into any partition. They go to the partitions in their order: a run
    /// that is repeated enters the same.
    padding: Range<usize>,
}

impl Places {
    /// Takes the positions of partition `index`, which has `len` in all: own items, then shared
    /// self-check items, which are at the returned range of them, then padding.
    fn take(&mut self, index: usize, len: usize) -> Result<(Vec<usize>, Range<usize>)> {
        let mut positions = std::mem::take(&mut self.own[index]);
        let own_len = positions.len();
        positions.append(&mut self.shared[index]);
        let shared = own_len..positions.len();
        let missing = len
            .checked_sub(positions.len())
            .ok_or(Error::Bug("a partition is longer than its bound"))?;
        positions.extend(self.padding.by_ref().take(missing));
        if positions.len() != len {
            return Err(Error::Bug("there is too little padding"));
        }
        Ok((positions, shared))
    }
}

/// The protocol in each partition of a set in memory.
struct SetWork<'a, P> {
    set: &'a CheckedSet,
    matched: Matched<'a>,
    label: &'a str,
    places: Mutex<Places>,
    parts: Mutex<P>,
}

impl<P> SetWork<'_, P> {
    fn parts(&self) -> MutexGuard<'_, P> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one partition enters.
struct Entered {
    params: PsiParams,
    positions: Vec<usize>,
    /// Where shared self-check items are among them.
    shared: Range<usize>,
}

impl<P: Parts> PartitionWork for SetWork<'_, P> {
    type Entered = Entered;
    type Outcome = (Entered, Output);

    fn entered(&self, index: u64) -> Result<Entered> {
        let Matched { role, params, plan, .. } = self.matched;
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let shared_len = places.shared[index as usize].len() as u64;
        let params = partition(plan, params, index, shared_len)?;
        let [len, _] = lens(role, &params);
        let (positions, shared) = places.take(index as usize, len)?;
        Ok(Entered { params, positions, shared })
    }

    fn run(&self, ctx: &mut Context, _: u64, entered: Entered) -> Result<Self::Outcome> {
        let Entered { params, positions, shared } = &entered;
        let input = self.set.part(positions, shared.clone()).ok_or(ParameterError::OutOfMemory)?;
        let party = self.parts().party(*params, input)?;
        let output = run_under(ctx, self.label, |ctx| party.run(ctx))?;
        Ok((entered, output))
    }

    fn keep(&self, (entered, output): &Self::Outcome, cost: Cost) -> Result<Vec<u8>> {
        self.parts().keep(&entered.params, output, cost)
    }

    fn recall(&self, _: u64, entered: Entered, bytes: &[u8]) -> Option<(Self::Outcome, Cost)> {
        let (output, cost) = self.parts().recall(&entered.params, bytes)?;
        Some(((entered, output), cost))
    }

    fn add(&self, _: u64, (entered, output): Self::Outcome) -> Result<()> {
        self.parts().take(&entered.positions, output)
    }
}
