//! Sets in memory, matched one partition after the other: counts and sums by their shares, unions
//! and private ids by their lists.

use super::{DAMAGED, Matched, Splitting, cost, counted};
use crate::matching::run_alone;
use std::ops::Range;
use vesica_agreement::split::{Listing, Numbers, Parts, lens, partition};
use vesica_core::{Error, ParameterError, PsiParams, Result};
use vesica_net::Context;
use vesica_own_rows::self_check::CheckedSet;
use vesica_partitions::{Cost, Plan};
use vesica_protocols::{Input, Output};

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
        let mut numbers = Numbers::new(row, role, params);
        let changes = self.each_part(ctx, label, set, matched, progress, &mut numbers)?;
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
        let mut listing = Listing::new(row, role, set.len());
        let changes = self.each_part(ctx, label, set, matched, progress, &mut listing)?;
        Ok((listing.output(), changes))
    }

    /// Makes a party for each partition of `set`, runs it unless an earlier process did, and passes
    /// its outcome to `parts`. Returns the most changes of direction of a run.
    fn each_part(
        &self,
        ctx: &mut Context,
        label: &str,
        set: &CheckedSet,
        Matched { role, params, plan, .. }: Matched<'_>,
        progress: &(dyn Fn(u64) + Sync),
        parts: &mut dyn Parts,
    ) -> Result<u64> {
        let [shared, mut padding] = set.check_items();
        let own = self.positions_of(plan, set, 0..set.own_len());
        let shared = self.positions_of(plan, set, shared);
        let mut changes = 0;
        for (index, (mut positions, shared)) in (0..).zip(own.into_iter().zip(shared)) {
            progress(index);
            let params = partition(plan, params, index, shared.len() as u64)?;
            let [len, _] = lens(role, &params);
            let own_len = positions.len();
            positions.extend(shared);
            let known = own_len..positions.len();
            let missing = len
                .checked_sub(positions.len())
                .ok_or(Error::Bug("a partition is longer than its bound"))?;
            positions.extend(padding.by_ref().take(missing));
            if positions.len() != len {
                return Err(Error::Bug("there is too little padding"));
            }
            let entered = || set.part(&positions, known).ok_or(ParameterError::OutOfMemory.into());
            let (output, cost) = self.part(ctx, label, index, &params, entered, parts)?;
            parts.take(&positions, output)?;
            changes = changes.max(cost.direction_changes);
        }
        progress(plan.partitions());
        Ok(changes)
    }

    /// The outcome and cost of partition `index`: as an earlier process stored them, or by a run on
    /// `entered`.
    fn part(
        &self,
        ctx: &mut Context,
        label: &str,
        index: u64,
        params: &PsiParams,
        entered: impl FnOnce() -> Result<Input>,
        parts: &dyn Parts,
    ) -> Result<(Output, Cost)> {
        let meter = ctx.meter().clone();
        // Also for a partition that does not run, so that the following ones have the same streams
        // and randomness.
        let (mut own, opened) = ctx.fork_detached()?;
        if let Some(kept) = self.session.kept_part(index)? {
            let (output, cost) = parts.recall(params, &kept).ok_or(DAMAGED)?;
            meter.add(&[counted(&cost, label)]);
            return Ok((output, cost));
        }
        let party = parts.party(*params, entered()?)?;
        let output = own.child(label, |ctx| {
            let output = party.run(ctx)?;
            ctx.finish()?;
            Ok::<_, Error>(output)
        })?;
        let cost = cost(&own, label);
        meter.add(&own.meter().report());
        // A run that cannot be resumed need not have its lists in memory twice.
        if self.session.seed().is_some() {
            let kept = parts.keep(params, &output, cost)?;
            self.session.keep_part(index, &opened.ids(), &kept)?;
        }
        Ok((output, cost))
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
