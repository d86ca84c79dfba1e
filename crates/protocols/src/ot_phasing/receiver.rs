use super::BIN_SLOT;
use super::plan::{Mode, Plan, check};
use crate::{Output, Party, answer, sorted_tags};
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Item, PsiParams, Result};
use vesica_hashing::{Cuckoo, Simple};
use vesica_net::Context;
use vesica_oprf::characters::{Choices, Outputs};
use vesica_ot::coded::{ReceiverSetup, kk13};
use vesica_simd::prefetch::prefetch;

/// How many bins ahead items are read.
const AHEAD: usize = 16;

/// P_2: learns which of its items the sender has.
pub struct Receiver {
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// As [`super::Sender::new`].
    pub fn new(mode: Mode, params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check(mode, &params, params.receiver_len(), &y)?;
        Ok(Self { mode, params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { mode, params, y } = *self;
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(mode, &params);
        let session = params.session();
        let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
        let (short, cuckoo, locations) = ctx.child("hashing", |ctx| {
            let short = plan.items.shorten(ctx.pool(), &params, &y);
            let locations = plan.locations(session);
            let bins = locations.bins(ctx.pool(), &short);
            let cuckoo = Cuckoo::new(&plan.table, &bins)?;
            Ok::<_, vesica_core::Error>((short, cuckoo, locations))
        })?;
        let mut transfers = ctx.child("setup", |ctx| kk13::Receiver::new(ctx, setup))?;

        let mut tags = Vec::with_capacity(y.len());
        ctx.child("masks", |ctx| {
            let shape = plan.bin_shape();
            let bins = Outputs::new(shape, session, BIN_SLOT);
            let (mut rows, mut choices) = (Vec::new(), Choices::new(shape));
            let (mut held, mut items) = (Vec::new(), Vec::new());
            let (mut places, mut outputs) = (Vec::new(), Vec::new());
            for first in (0..cuckoo.len()).step_by(Simple::GROUP_BINS) {
                let group = first..(first + Simple::GROUP_BINS).min(cuckoo.len());
                held.clear();
                items.clear();
                for bin in group.clone() {
                    if let Some(position) = cuckoo.position(bin + AHEAD) {
                        prefetch(&short, position);
                    }
                    if let Some(placed) = cuckoo.bin(bin) {
                        held.push((bin - first, placed));
                        items.push(short[placed.position as usize]);
                    }
                }
                // In an empty bin any value could be an item of the sender's.
                choices.begin(group.len());
                places.clear();
                let mut next = held.iter();
                locations.each(&items, |_, place| {
                    let Some((bin, placed)) = next.next() else { return };
                    choices.set(*bin, place.values[usize::from(placed.function)]);
                    places.push((bin * shape.rows()) as u32);
                });
                rows.clear();
                transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))?;
                outputs.resize(places.len(), 0);
                bins.of_own(ctx.pool(), &rows, &places, &mut outputs);
                let made = held.iter().zip(&outputs);
                tags.extend(made.map(|((_, placed), tag)| Tagged::new(*tag, placed.position)));
                ctx.progress(tags.len() as u64, y.len() as u64);
            }
            let shape = plan.stash_shape();
            let mut choices = Choices::new(shape);
            choices.begin(plan.table.stash());
            for (place, position) in cuckoo.stash().iter().enumerate() {
                choices.set(place, short[*position as usize].integer());
            }
            rows.clear();
            transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))?;
            for (place, position) in cuckoo.stash().iter().enumerate() {
                let stash = Outputs::new(shape, session, place as u64 + 1);
                let mut tag = [0];
                stash.of_own(ctx.pool(), &rows, &[(place * shape.rows()) as u32], &mut tag);
                tags.push(Tagged::new(tag[0], *position));
            }
            ctx.finish()
        })?;
        drop((short, cuckoo));
        let matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, plan.tags(), tags))?;
        let common = sorted_tags::own_positions(&matches, y.len());
        answer::give_items(ctx, &params, &y, &common)?;
        Ok(Output::Positions(common))
    }
}
