//! Steps 1 to 3 of the sender.

use super::plan::{BIN_SLOT, Plan};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use vesica_core::tagged::Gathered;
use vesica_core::{Item, PsiParams, Result, SessionId};
use vesica_hashing::{Locations, Simple};
use vesica_net::{Context, Pool};
use vesica_oprf::characters::{Outputs, Shape};
use vesica_ot::coded::kk13;
use vesica_party::sorted_tags;
use vesica_simd::prefetch::prefetch;

/// Items whose masks a CPU thread makes at a time when the rows of all bins are there: the rows
/// stay in the second-level cache after they are read ahead.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(512).unwrap();

/// Items whose masks are gathered at a time there.
const ITEMS_PER_STEP: usize = 1 << 16;

/// V so far, and room for the rows, values and masks of one group.
pub(super) struct Masks<'a> {
    plan: &'a Plan,
    session: &'a SessionId,
    transfers: kk13::Sender,
    rows: Vec<kk13::Row>,
    values: Vec<(u32, u128)>,
    made: Vec<u128>,
    v: Gathered,
    done: u64,
}

impl<'a> Masks<'a> {
    pub(super) fn new(plan: &'a Plan, session: &'a SessionId, transfers: kk13::Sender) -> Self {
        Self {
            plan,
            session,
            transfers,
            rows: Vec::new(),
            values: Vec::new(),
            made: Vec::new(),
            v: sorted_tags::gather(plan.tags()),
            done: 0,
        }
    }

    /// Steps 2 and 3, group by group of bins as their rows come, and then the stash.
    pub(super) fn of_bins(mut self, ctx: &mut Context, t_1: Bins<'_>) -> Result<Gathered> {
        let (plan, session) = (self.plan, self.session);
        ctx.child("masks", |ctx| {
            let mut extensions = plan.extensions();
            let f = Outputs::new(plan.bin_shape(), session, BIN_SLOT);
            for (group, len) in (0..t_1.groups()).zip(&mut extensions) {
                // 2. t rows a bin, 1-out-of-256
                self.rows.clear();
                self.extend(ctx, len)?;
                // 3. V: F_b(R, i) for x in bin b by function i
                t_1.values(group, plan.bin_shape(), &mut self.values);
                self.make(ctx, &f, 0);
            }
            // The same for the stash.
            self.rows.clear();
            self.extend(ctx, extensions.next().unwrap_or(0))?;
            for place in 0..plan.table.stash() {
                let f = Outputs::new(plan.stash_shape(), session, place as u64 + 1);
                for items in t_1.items.chunks(Simple::GROUP_BINS) {
                    self.values.clear();
                    self.values.extend(items.iter().map(|item| (0, item.integer())));
                    self.make(ctx, &f, place * plan.stash_shape().rows());
                }
            }
            Ok(self.v)
        })
    }

    /// Step 2 for all bins, then steps 1 and 3 item by item.
    pub(super) fn of_items(
        mut self,
        ctx: &mut Context,
        params: &PsiParams,
        x: &[Item],
    ) -> Result<Gathered> {
        let plan = self.plan;
        ctx.child("rows", |ctx| plan.extensions().try_for_each(|len| self.extend(ctx, len)))?;
        ctx.child("masks", |ctx| {
            let f = Outputs::new(plan.bin_shape(), self.session, BIN_SLOT);
            let locations = plan.locations(self.session);
            let pool = ctx.pool().clone();
            for items in x.chunks(ITEMS_PER_STEP) {
                let made = ctx.map(items, ITEMS_PER_TASK, |items| {
                    let short = plan.items.shorten(&pool, params, items);
                    self.of_few_items(&pool, &locations, &f, &short)
                });
                made.iter().flatten().for_each(|mask| self.v.push(*mask));
                self.done += (items.len() * plan.table.functions()) as u64;
                ctx.progress(self.done, plan.masks());
            }
        });
        Ok(self.v)
    }

    fn of_few_items(
        &self,
        pool: &Pool,
        locations: &Locations,
        f: &Outputs,
        items: &[Item],
    ) -> Vec<u128> {
        let functions = self.plan.table.functions();
        let rows_per_bin = self.plan.bin_shape().rows() as u32;
        let mut values = Vec::with_capacity(items.len() * functions);
        locations.each(items, |_, place| {
            for (bin, value) in place.bins.iter().zip(&place.values).take(functions) {
                let first = bin * rows_per_bin;
                // A row is half a cache line.
                prefetch(&self.rows, first as usize);
                prefetch(&self.rows, (first + rows_per_bin - 1) as usize);
                values.push((first, *value));
            }
        });
        let mut made = vec![0; values.len()];
        f.of_values(pool, &self.rows, &self.transfers.masks(), &values, &mut made);
        made
    }

    /// Adds the next `len` rows.
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<()> {
        let rows = &mut self.rows;
        let transfers = &mut self.transfers;
        ctx.child("extension", |ctx| {
            transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))
        })
    }

    /// Makes the masks of the values, in rows counted from `first_row` on.
    fn make(&mut self, ctx: &Context, f: &Outputs, first_row: usize) {
        let Self { plan, transfers, rows, values, made, v, done, .. } = self;
        made.resize(values.len(), 0);
        f.of_values(ctx.pool(), &rows[first_row..], &transfers.masks(), values, made);
        made.iter().for_each(|mask| v.push(*mask));
        *done += made.len() as u64;
        ctx.progress(*done, plan.masks());
    }
}

/// Bits of the number of a bin in its group, stored with a value.
const BIN_BITS: u32 = Simple::GROUP_BINS.ilog2();

/// T_1, with the items as they are compared.
pub(super) struct Bins<'a> {
    held: Held,
    items: Cow<'a, [Item]>,
}

/// The values in the bins; short ones are packed more tightly.
enum Held {
    Short(Simple<u64>),
    Long(Simple<u128>),
}

impl<'a> Bins<'a> {
    pub(super) fn new(
        pool: &Pool,
        plan: &Plan,
        session: &SessionId,
        items: Cow<'a, [Item]>,
    ) -> Self {
        let locations = plan.locations(session);
        let held = if locations.value_bits() + BIN_BITS <= u64::BITS {
            Held::Short(Simple::packed(pool, &locations, &items, |entry, value| {
                (value as u64) << BIN_BITS | u64::from(entry.bin)
            }))
        } else {
            Held::Long(Simple::packed(pool, &locations, &items, |entry, value| {
                value << BIN_BITS | u128::from(entry.bin)
            }))
        };
        Self { held, items }
    }

    fn groups(&self) -> usize {
        match &self.held {
            Held::Short(simple) => simple.groups(),
            Held::Long(simple) => simple.groups(),
        }
    }

    /// Sets `values` to those of a group, each with the first of its bin's rows.
    fn values(&self, group: usize, shape: Shape, values: &mut Vec<(u32, u128)>) {
        values.clear();
        let rows = shape.rows() as u32;
        let unpack = |packed: u128| {
            let bin = packed as u32 & ((1 << BIN_BITS) - 1);
            (bin * rows, packed >> BIN_BITS)
        };
        match &self.held {
            Held::Short(simple) => {
                values.extend(simple.group(group).iter().map(|held| unpack(u128::from(*held))));
            }
            Held::Long(simple) => {
                values.extend(simple.group(group).iter().map(|held| unpack(*held)));
            }
        }
    }
}
