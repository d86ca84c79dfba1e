use super::plan::{Mode, Plan, check};
use super::{BIN_SLOT, is_trivial};
use crate::{Output, Party, answer, sorted_tags};
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Item, PsiParams, Result, SessionId};
use vesica_hashing::Simple;
use vesica_net::{Context, Pool};
use vesica_oprf::characters::{Outputs, Shape};
use vesica_ot::coded::kk13;

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
        if is_trivial(&params) {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = Plan::new(mode, &params);
        let session = params.session();
        let transfers = ctx.child("setup", |ctx| kk13::Sender::setup(ctx, session))?;
        let (short, held) = ctx.child("hashing", |ctx| {
            let short = plan.items.of(ctx.pool(), &params, &x);
            let held = Held::new(ctx.pool(), &plan, session, &short);
            (short, held)
        });
        let tags = ctx.child("masks", |ctx| {
            let mut masks = Masks::new(&plan, transfers);
            let mut extensions = plan.extensions();
            let bins = Outputs::new(plan.bin_shape(), session, BIN_SLOT);
            for (group, len) in (0..held.groups()).zip(&mut extensions) {
                masks.extend(ctx, len)?;
                held.wanted(group, plan.bin_shape(), &mut masks.wanted);
                masks.make(ctx, &bins, 0);
            }
            masks.extend(ctx, extensions.next().unwrap_or(0))?;
            for place in 0..plan.table.stash() {
                let stash = Outputs::new(plan.stash_shape(), session, place as u64 + 1);
                for items in short.chunks(Simple::GROUP_BINS) {
                    masks.wanted.clear();
                    masks.wanted.extend(items.iter().map(|item| (0, item.integer())));
                    masks.make(ctx, &stash, place * plan.stash_shape().rows());
                }
            }
            Ok::<_, vesica_core::Error>(masks.tags)
        })?;
        drop((short, held));
        // A tag stands for nothing here: the sender is never told which of them was found.
        ctx.child("tags", |ctx| sorted_tags::send(ctx, plan.tags(), tags))?;
        answer::take_items(ctx, &params, &x)
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
                wanted.extend(simple.group(group).iter().map(|held| unpack(*held)))
            }
        }
    }
}

/// The masks made so far, and room for the rows, values and outputs of one group.
struct Masks {
    transfers: kk13::Sender,
    rows: Vec<kk13::Row>,
    wanted: Vec<(u32, u128)>,
    outputs: Vec<u128>,
    tags: Vec<Tagged>,
    total: u64,
}

impl Masks {
    fn new(plan: &Plan, transfers: kk13::Sender) -> Self {
        Self {
            transfers,
            rows: Vec::new(),
            wanted: Vec::new(),
            outputs: Vec::new(),
            tags: Vec::with_capacity(plan.masks() as usize),
            total: plan.masks(),
        }
    }

    /// Replaces the rows by the next `len`.
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<()> {
        self.rows.clear();
        let rows = &mut self.rows;
        self.transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))
    }

    /// Makes the masks of what is wanted, in rows counted from `first_row` on.
    fn make(&mut self, ctx: &Context, outputs: &Outputs, first_row: usize) {
        let Self { transfers, rows, wanted, outputs: made, tags, total } = self;
        made.resize(wanted.len(), 0);
        outputs.of_values(ctx.pool(), &rows[first_row..], &transfers.masks(), wanted, made);
        tags.extend(made.iter().map(|tag| Tagged::new(*tag, 0)));
        ctx.progress(tags.len() as u64, *total);
    }
}
