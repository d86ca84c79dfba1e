use super::BIN_SLOT;
use super::plan::{Mode, Plan, check};
use crate::{Output, Party, answer, sorted_tags};
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tagged::Gathered;
use vesica_core::{Item, PsiParams, Result, SessionId};
use vesica_hashing::{Locations, Simple};
use vesica_net::{Context, Pool};
use vesica_oprf::characters::{Outputs, Shape};
use vesica_ot::coded::kk13;
use vesica_simd::prefetch::prefetch;

/// Items whose masks a CPU thread makes at a time where rows of all bins are there: their rows
/// stay in the second-level cache from when they are read ahead.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(512).unwrap();

/// Items of which the masks are gathered at a time there.
const ITEMS_PER_STEP: usize = 1 << 16;

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`]; `ItemTooLong` when an item has more bits
    /// than `params` say; `SetTooLarge` when there are more than 2^32 masks.
    pub fn new(mode: Mode, params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check(mode, &params, params.sender_len(), &x)?;
        Ok(Self { mode, params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { mode, params, x } = *self;
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = Plan::new(mode, &params);
        let session = params.session();
        let transfers = ctx.child("setup", |ctx| kk13::Sender::setup(ctx, session))?;
        let mut masks = Masks::new(&plan, transfers);
        if plan.is_lopsided() {
            masks.of_items(ctx, &plan, &params, &x)?;
        } else {
            masks.of_bins(ctx, &plan, &params, &x)?;
        }
        let Masks { tags, .. } = masks;
        ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, plan.tags(), &tags))?;
        drop(tags);
        answer::take_items(ctx, &params, &x)
    }
}

/// The masks made so far, and room for the rows, values and outputs of one group.
struct Masks {
    transfers: kk13::Sender,
    rows: Vec<kk13::Row>,
    wanted: Vec<(u32, u128)>,
    outputs: Vec<u128>,
    tags: Gathered,
    done: u64,
    total: u64,
}

impl Masks {
    fn new(plan: &Plan, transfers: kk13::Sender) -> Self {
        Self {
            transfers,
            rows: Vec::new(),
            wanted: Vec::new(),
            outputs: Vec::new(),
            tags: sorted_tags::gather(plan.tags()),
            done: 0,
            total: plan.masks(),
        }
    }

    /// Group by group of bins, as their rows come, and then the stash.
    fn of_bins(
        &mut self,
        ctx: &mut Context,
        plan: &Plan,
        params: &PsiParams,
        x: &[Item],
    ) -> Result<()> {
        let session = params.session();
        let (short, held) = ctx.child("hashing", |ctx| {
            let short = plan.items.shorten(ctx.pool(), params, x);
            let held = Held::new(ctx.pool(), plan, session, &short);
            (short, held)
        });
        ctx.child("masks", |ctx| {
            let mut extensions = plan.extensions();
            let bins = Outputs::new(plan.bin_shape(), session, BIN_SLOT);
            for (group, len) in (0..held.groups()).zip(&mut extensions) {
                self.rows.clear();
                self.extend(ctx, len)?;
                held.wanted(group, plan.bin_shape(), &mut self.wanted);
                self.make(ctx, &bins, 0);
            }
            self.rows.clear();
            self.extend(ctx, extensions.next().unwrap_or(0))?;
            for place in 0..plan.table.stash() {
                let stash = Outputs::new(plan.stash_shape(), session, place as u64 + 1);
                for items in short.chunks(Simple::GROUP_BINS) {
                    self.wanted.clear();
                    self.wanted.extend(items.iter().map(|item| (0, item.integer())));
                    self.make(ctx, &stash, place * plan.stash_shape().rows());
                }
            }
            Ok(())
        })
    }

    /// Item by item, when the rows of all bins are there.
    fn of_items(
        &mut self,
        ctx: &mut Context,
        plan: &Plan,
        params: &PsiParams,
        x: &[Item],
    ) -> Result<()> {
        ctx.child("rows", |ctx| plan.extensions().try_for_each(|len| self.extend(ctx, len)))?;
        ctx.child("masks", |ctx| {
            let outputs = Outputs::new(plan.bin_shape(), params.session(), BIN_SLOT);
            let locations = plan.locations(params.session());
            let pool = ctx.pool().clone();
            for items in x.chunks(ITEMS_PER_STEP) {
                let made = ctx.map(items, ITEMS_PER_TASK, |items| {
                    let short = plan.items.shorten(&pool, params, items);
                    self.of_few_items(&pool, plan, &locations, &outputs, &short)
                });
                made.iter().flatten().for_each(|tag| self.tags.push(*tag));
                self.done += (items.len() * plan.table.functions()) as u64;
                ctx.progress(self.done, self.total);
            }
        });
        Ok(())
    }

    fn of_few_items(
        &self,
        pool: &Pool,
        plan: &Plan,
        locations: &Locations,
        outputs: &Outputs,
        items: &[Item],
    ) -> Vec<u128> {
        let functions = plan.table.functions();
        let rows_per_bin = plan.bin_shape().rows() as u32;
        let mut wanted = Vec::with_capacity(items.len() * functions);
        locations.each(items, |_, place| {
            for (bin, value) in place.bins.iter().zip(&place.values).take(functions) {
                let first = bin * rows_per_bin;
                // A row is half a cache line.
                prefetch(&self.rows, first as usize);
                prefetch(&self.rows, (first + rows_per_bin - 1) as usize);
                wanted.push((first, *value));
            }
        });
        let mut made = vec![0; wanted.len()];
        outputs.of_values(pool, &self.rows, &self.transfers.masks(), &wanted, &mut made);
        made
    }

    /// Adds the next `len` rows.
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<()> {
        let rows = &mut self.rows;
        self.transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))
    }

    /// Makes the masks of what is wanted, in rows counted from `first_row` on.
    fn make(&mut self, ctx: &Context, outputs: &Outputs, first_row: usize) {
        let Self { transfers, rows, wanted, outputs: made, tags, done, total } = self;
        made.resize(wanted.len(), 0);
        outputs.of_values(ctx.pool(), &rows[first_row..], &transfers.masks(), wanted, made);
        made.iter().for_each(|tag| tags.push(*tag));
        *done += made.len() as u64;
        ctx.progress(*done, *total);
    }
}

/// Bits of the bin in its group, beside a value.
const BIN_BITS: u32 = Simple::GROUP_BINS.ilog2();

/// The values in the sender's bins; short ones are packed more tightly.
enum Held {
    Short(Simple<u64>),
    Long(Simple<u128>),
}

impl Held {
    fn new(pool: &Pool, plan: &Plan, session: &SessionId, items: &[Item]) -> Self {
        let locations = plan.locations(session);
        if locations.value_bits() + BIN_BITS <= u64::BITS {
            Held::Short(Simple::packed(pool, &locations, items, |entry, value| {
                (value as u64) << BIN_BITS | u64::from(entry.bin)
            }))
        } else {
            Held::Long(Simple::packed(pool, &locations, items, |entry, value| {
                value << BIN_BITS | u128::from(entry.bin)
            }))
        }
    }

    fn groups(&self) -> usize {
        match self {
            Held::Short(simple) => simple.groups(),
            Held::Long(simple) => simple.groups(),
        }
    }

    /// Sets `wanted` to the values of a group, each with the first of its bin's rows.
    fn wanted(&self, group: usize, shape: Shape, wanted: &mut Vec<(u32, u128)>) {
        wanted.clear();
        let rows = shape.rows() as u32;
        let unpack = |packed: u128| {
            let bin = packed as u32 & ((1 << BIN_BITS) - 1);
            (bin * rows, packed >> BIN_BITS)
        };
        match self {
            Held::Short(simple) => {
                wanted.extend(simple.group(group).iter().map(|held| unpack(u128::from(*held))));
            }
            Held::Long(simple) => {
                wanted.extend(simple.group(group).iter().map(|held| unpack(*held)));
            }
        }
    }
}
