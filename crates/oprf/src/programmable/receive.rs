use super::inputs::{HintSeed, Inputs, inner_session};
use super::{Oprf, Plan, hint};
use crate::{kkrt, vole};
use rand::Rng;
use vesica_core::{Block, Item, Result, SemiHonest, SessionId};
use vesica_hashing::{Cuckoo, Locations};
use vesica_net::Context;
use vesica_ot::coded::ReceiverSetup;
use vesica_simd::prefetch::prefetch;
use zeroize::Zeroizing;

/// Distance in items at which items are prefetched, so that cache misses overlap.
const AHEAD: usize = 32;

/// The receiver's result.
pub struct Received {
    /// The receiver's items in bins.
    pub cuckoo: Cuckoo,
    /// A value of [`Plan::bits`] bits for each bin. If the programmer has the item of the bin, it
    /// is the value programmed for the function that placed the item there; otherwise it is
    /// pseudorandom. Zero for empty bins.
    pub values: Vec<Block>,
}

/// The receiver's part, for its distinct items `x`.
///
/// `session` must be drawn after both sets are fixed, and must not be that of another run in the
/// same direction. A session derived from it is used inside, never `session` itself.
///
/// # Errors
/// [`SetLenMismatch`](vesica_core::ParameterError::SetLenMismatch) and
/// [`SetTooLarge`](vesica_core::ParameterError::SetTooLarge) from the plan;
/// [`HashingFailed`](vesica_core::ParameterError::HashingFailed) with probability 2^-40; errors of
/// the connection and of the OPRF.
pub fn receive(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    x: &[Item],
) -> Result<Received> {
    plan.check(plan.receiver_len, x.len())?;
    let session = &inner_session(session);
    if plan.has_empty_set() {
        return without_programmer(ctx, session, plan, x);
    }
    let (occupied, cuckoo, mut values) = match plan.oprf {
        Oprf::Vole | Oprf::VoleFast => evaluate_vole(ctx, session, plan, x)?,
        Oprf::Kkrt => evaluate_kkrt(ctx, session, plan, x)?,
    };
    ctx.child("hint", |ctx| {
        let mut seed = HintSeed::default();
        ctx.peer()?.recv_into(&mut seed.0)?;
        let Occupied { bins, inputs } = occupied;
        let partition = hint::partition(ctx.pool(), plan, session, &seed, inputs);
        let mask = Block::new(plan.mask());
        hint::receive(ctx, plan, &partition, |key, value| {
            let bin = &mut values[bins[key] as usize];
            *bin = (*bin ^ value) & mask;
        })
    })?;
    Ok(Received { cuckoo, values: std::mem::take(&mut *values) })
}

/// The occupied bins, ascending, and the A_j of each.
struct Occupied {
    bins: Vec<u32>,
    inputs: Zeroizing<Vec<Block>>,
}

impl Occupied {
    fn new(session: &SessionId, cuckoo: &Cuckoo, x: &[Item]) -> Self {
        let of = Inputs::new(session);
        let mut bins = Vec::with_capacity(x.len());
        let mut inputs = Zeroizing::new(Vec::with_capacity(x.len()));
        for bin in 0..cuckoo.len() {
            if let Some(ahead) = cuckoo.position(bin + AHEAD) {
                prefetch(x, ahead);
            }
            if let Some(placed) = cuckoo.bin(bin) {
                bins.push(bin as u32);
                inputs.push(of.of(&x[placed.position as usize], placed.function));
            }
        }
        Self { bins, inputs }
    }
}

type Evaluated = (Occupied, Cuckoo, Zeroizing<Vec<Block>>);

fn place(ctx: &Context, session: &SessionId, plan: &Plan, x: &[Item]) -> Result<Cuckoo> {
    let table = plan.table();
    Cuckoo::new(&table, &Locations::of_digests(table, session).bins(ctx.pool(), x))
}

fn evaluate_vole(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    x: &[Item],
) -> Result<Evaluated> {
    let mut placed = None;
    let items = |ctx: &mut Context, _: &vole::Seed| {
        let cuckoo = place(ctx, session, plan, x)?;
        let occupied = Occupied::new(session, &cuckoo, x);
        let items = occupied.inputs.iter().map(|input| Item::from_integer(input.get()));
        let items: Zeroizing<Vec<Item>> = Zeroizing::new(items.collect());
        placed = Some((cuckoo, occupied));
        Ok(items)
    };
    let (plan, draw) = (plan.vole(), vole::Seed::draw_and_send);
    let mut outputs = Zeroizing::new(Block::zeros(x.len()));
    vole::run_receiver::<SemiHonest, _>(ctx, session, &plan, draw, items, |pool, q| {
        q.outputs(pool, 128, |f| outputs[f.position() as usize] = Block::new(f.tag()));
    })?;
    let (cuckoo, occupied) = placed.expect("the items were asked for");
    let mut values = Zeroizing::new(Block::zeros(cuckoo.len()));
    for (bin, output) in occupied.bins.iter().zip(&*outputs) {
        values[*bin as usize] = *output;
    }
    Ok((occupied, cuckoo, values))
}

fn evaluate_kkrt(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    x: &[Item],
) -> Result<Evaluated> {
    let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
    let (cuckoo, occupied) = ctx.child("hashing", |ctx| {
        let cuckoo = place(ctx, session, plan, x)?;
        let occupied = Occupied::new(session, &cuckoo, x);
        Ok::<_, vesica_core::Error>((cuckoo, occupied))
    })?;
    let mut oprf =
        ctx.child("setup", |ctx| kkrt::Receiver::new(ctx, setup, session, plan.comparisons()))?;
    let values = ctx.child("oprf", |ctx| {
        let mut random = [0; Block::LEN];
        ctx.rng().fill_bytes(&mut random);
        let random = Block::from_le_bytes(random);
        let mut values = Zeroizing::new(vec![Block::ZERO; cuckoo.len()]);
        // Consecutive bins are also consecutive in the list of occupied bins.
        let inputs = |first: usize, out: &mut [Block]| {
            let mut next = occupied.bins.partition_point(|bin| (*bin as usize) < first);
            for (bin, out) in (first..).zip(out) {
                let is_occupied = occupied.bins.get(next) == Some(&(bin as u32));
                *out = if is_occupied { occupied.inputs[next] } else { random };
                next += usize::from(is_occupied);
            }
        };
        let mut next = 0;
        let count = cuckoo.len();
        oprf.evaluate(ctx, count, inputs, |first, outputs| {
            while let Some(bin) = occupied.bins.get(next).map(|bin| *bin as usize)
                && bin < first + outputs.len()
            {
                values[bin] = outputs[bin - first];
                next += 1;
            }
        })?;
        ctx.peer()?.flush()?;
        Ok::<_, vesica_core::Error>(values)
    })?;
    Ok((occupied, cuckoo, values))
}

/// Nothing is programmed, so the values of all occupied bins are random.
fn without_programmer(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    x: &[Item],
) -> Result<Received> {
    let cuckoo = if x.is_empty() {
        Cuckoo::new::<0>(&plan.table(), &[])?
    } else {
        place(ctx, session, plan, x)?
    };
    let mut values = vec![Block::ZERO; cuckoo.len()];
    ctx.rng().fill_bytes(Block::as_bytes_mut(&mut values));
    for (bin, value) in values.iter_mut().enumerate() {
        let mask = if cuckoo.bin(bin).is_some() { plan.mask() } else { 0 };
        *value = *value & Block::new(mask);
    }
    Ok(Received { cuckoo, values })
}
