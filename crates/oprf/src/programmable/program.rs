use super::inputs::{HintSeed, Inputs, inner_session};
use super::{Entry, FUNCTIONS, Oprf, Plan, hint};
use crate::kkrt::{self, Keys, PART_LEN, Point};
use crate::vole;
use rand::Rng;
use std::num::NonZeroUsize;
use vesica_core::{Block, Item, Result, SemiHonest, SessionId};
use vesica_hashing::{Locations, Simple};
use vesica_net::Context;
use vesica_okvs::Partition;
use vesica_simd::prefetch::prefetch;
use zeroize::{Zeroize, Zeroizing};

/// Points evaluated together: they stay in the first-level cache.
const POINTS_PER_BATCH: usize = 512;

/// Items that one CPU thread works on at a time.
const ITEMS_PER_TASK: usize = 1 << 12;

/// Distance in items at which items are prefetched, so that cache misses overlap.
const AHEAD: usize = 32;

const _: () = assert!(PART_LEN == Simple::<u64>::GROUP_BINS);

/// v(y, i) ⊕ F(y‖i) for each y and i.
type Masked = Zeroizing<Vec<[Block; FUNCTIONS]>>;

/// The programmer's part, for its distinct items `y`. For each item and each function i, the
/// receiver's value at y‖i becomes the lowest [`Plan::bits`] bits of `value` of that entry.
///
/// `value` is called once for each of the 3·n_y entries, in any order and from any thread. Its time
/// must not depend on secrets. `session` as in [`receive`](super::receive()).
///
/// # Errors
/// [`SetLenMismatch`](vesica_core::ParameterError::SetLenMismatch) and
/// [`SetTooLarge`](vesica_core::ParameterError::SetTooLarge) from the plan;
/// [`DuplicateItem`](vesica_core::ParameterError::DuplicateItem); errors of the connection and of
/// the OPRF; [`Bug`](vesica_core::Error::Bug) with probability 2^-40, if the hint cannot be
/// encoded.
pub fn program(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    y: &[Item],
    value: impl Fn(Entry) -> Block + Sync,
) -> Result<()> {
    plan.check(plan.programmer_len, y.len())?;
    if plan.has_empty_set() {
        return Ok(());
    }
    let session = &inner_session(session);
    let mut seed = HintSeed::default();
    ctx.rng().fill_bytes(&mut seed.0);
    let (partition, masked) = match plan.oprf {
        Oprf::Vole | Oprf::VoleFast => mask_by_vole(ctx, session, plan, &seed, y, value)?,
        Oprf::Kkrt => mask_by_kkrt(ctx, session, plan, &seed, y, value)?,
    };
    ctx.child("hint", |ctx| {
        ctx.peer()?.send(&seed.0)?;
        ctx.peer()?.flush()?;
        hint::send(ctx, plan, &partition, masked.as_flattened())
    })
}

/// y‖i for every y and i.
fn inputs(session: &SessionId, y: &[Item]) -> Zeroizing<Vec<Block>> {
    let inputs = Inputs::new(session);
    Zeroizing::new(y.iter().flat_map(|y| inputs.all(y)).collect())
}

fn mask_by_vole(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    seed: &HintSeed,
    y: &[Item],
    value: impl Fn(Entry) -> Block + Sync,
) -> Result<(Partition, Masked)> {
    let mut partition = None;
    let items = |ctx: &mut Context, _: &vole::Seed| {
        let inputs = inputs(session, y);
        let items = inputs.iter().map(|input| Item::from_integer(input.get()));
        let items: Zeroizing<Vec<Item>> = Zeroizing::new(items.collect());
        partition = Some(hint::partition(ctx.pool(), plan, session, seed, inputs));
        Ok(items)
    };
    let mut masked = Zeroizing::new(vec![[Block::ZERO; FUNCTIONS]; y.len()]);
    let flat = masked.as_flattened_mut();
    let (vole_plan, receive) = (plan.vole(), vole::Seed::receive);
    vole::run_sender::<SemiHonest, _>(ctx, session, &vole_plan, receive, items, |pool, q| {
        q.outputs(pool, 128, |f| flat[f.position() as usize] = Block::new(f.tag()));
    })?;
    let partition = partition.expect("the items were asked for");
    ctx.child("oprf", |ctx| {
        let mask = Block::new(plan.mask());
        let locations = Locations::of_digests(plan.table(), session);
        let chunks = y.chunks(ITEMS_PER_TASK).zip(masked.chunks_mut(ITEMS_PER_TASK));
        ctx.pool().for_each((0..).step_by(ITEMS_PER_TASK).zip(chunks).collect(), |task| {
            let (first, (y, masked)): (u32, _) = task;
            let mut masked = (first..).zip(masked);
            locations.each(y, |_, place| {
                let Some((position, masked)) = masked.next() else { return };
                for (function, (bin, masked)) in (0..).zip(place.bins.iter().zip(masked)) {
                    *masked ^= value(Entry { bin: *bin, position, function }) & mask;
                }
            });
        });
    });
    Ok((partition, masked))
}

fn mask_by_kkrt(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    seed: &HintSeed,
    y: &[Item],
    value: impl Fn(Entry) -> Block + Sync,
) -> Result<(Partition, Masked)> {
    let mut oprf =
        ctx.child("setup", |ctx| kkrt::Sender::setup(ctx, session, plan.comparisons()))?;
    let (simple, partition) = ctx.child("hashing", |ctx| {
        let simple = Simple::new(ctx.pool(), &Locations::of_digests(plan.table(), session), y);
        (simple, hint::partition(ctx.pool(), plan, session, seed, inputs(session, y)))
    });
    let masked = ctx.child("oprf", |ctx| {
        let inputs = Inputs::new(session);
        let mask = Block::new(plan.mask());
        let mut masked = Zeroizing::new(vec![[Block::ZERO; FUNCTIONS]; y.len()]);
        let pool = ctx.pool().clone();
        oprf.evaluate(ctx, plan.bins(), |first, keys| {
            let groups = first / PART_LEN..(first + keys.len()).div_ceil(PART_LEN);
            let groups: Vec<usize> = groups.collect();
            let mut made = pool.map_chunks(&groups, NonZeroUsize::MIN, |group| {
                let mut made = evaluate_group(&keys, first, &simple, group[0], y, &inputs);
                made.iter_mut().for_each(|(entry, f)| *f ^= value(*entry) & mask);
                made
            });
            for (entry, f) in made.iter_mut().flatten() {
                masked[entry.position as usize][usize::from(entry.function)] = *f;
                f.zeroize();
            }
        })?;
        Ok::<_, vesica_core::Error>(masked)
    })?;
    Ok((partition, masked))
}

/// F at the entries in the bins of one group; the first of `keys` is that of bin `first_bin`.
fn evaluate_group(
    keys: &Keys<'_>,
    first_bin: usize,
    simple: &Simple,
    group: usize,
    y: &[Item],
    inputs: &Inputs,
) -> Vec<(Entry, Block)> {
    let mut points = [Point::default(); POINTS_PER_BATCH];
    let mut outputs = [Block::ZERO; POINTS_PER_BATCH];
    let mut made = Vec::with_capacity(simple.group(group).len());
    let mut entries = simple.entries(group);
    let mut ahead = simple.entries(group);
    ahead.by_ref().take(AHEAD).for_each(|entry| prefetch(y, entry.position as usize));
    while entries.len() > 0 {
        let len = entries.len().min(POINTS_PER_BATCH);
        let first = made.len();
        for (entry, point) in entries.by_ref().take(len).zip(&mut points) {
            if let Some(ahead) = ahead.next() {
                prefetch(y, ahead.position as usize);
            }
            let input = inputs.of(&y[entry.position as usize], entry.function);
            *point = Point { instance: entry.bin - first_bin as u32, input };
            made.push((entry, Block::ZERO));
        }
        keys.evaluate(&points[..len], &mut outputs[..len]);
        made[first..].iter_mut().zip(&outputs).for_each(|((_, f), output)| *f = *output);
    }
    points.iter_mut().for_each(|point| point.input.zeroize());
    outputs.zeroize();
    made
}
