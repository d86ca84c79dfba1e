//! F from VOLE: one key, at i‖y as an item.

use super::{Form, output_bits};
use crate::vole::{self, Plan, Rows, Seed};
use rand::Rng;
use vesica_core::hash::derive_into;
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Item, Result, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::silent;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

const PLACE_LABEL: &str = "vesica v1 equality place";

/// Places numbered together.
const BATCH: usize = 1 << 8;

pub(super) fn plan(form: Form, len: usize) -> Plan {
    match form {
        Form::VoleFast => Plan::fast(len, output_bits(len)),
        _ => Plan::low_communication(len, output_bits(len)),
    }
}

/// i‖y for each i, as y ⊕ π(i); π is drawn with the seed of the OPRF, after the values are fixed.
fn rows(
    ctx: &Context,
    session: &SessionId,
    plan: &Plan,
    seed: [u8; Seed::LEN],
    y: &[Block],
) -> Rows {
    let mut key = [Block::ZERO];
    derive_into(PLACE_LABEL, &[session.as_bytes(), &seed], Block::as_bytes_mut(&mut key));
    let permutation = Aes128::new(key[0]);
    let mut items = Zeroizing::new(Vec::with_capacity(y.len()));
    let mut places = [Block::ZERO; BATCH];
    for (first, y) in (0..).step_by(BATCH).zip(y.chunks(BATCH)) {
        permutation.ctr(first, &mut places);
        items.extend(y.iter().zip(&places).map(|(y, i)| Item::from_integer((*y ^ *i).get())));
    }
    let seed = Seed::from_bytes(seed);
    Rows::new::<SemiHonest>(ctx.pool(), plan, session, &seed, &items)
}

/// The sender's F at i‖x_i.
pub(super) fn evaluate_everywhere(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    x: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let plan = plan(form, x.len());
    let mut vole =
        ctx.child("setup", |ctx| silent::vole::Sender::<SemiHonest>::setup(ctx, session))?;
    let delta = vole.delta();
    let mut seed = [0; Seed::LEN];
    ctx.peer()?.recv_into(&mut seed)?;
    let rows = ctx.child("hashing", |ctx| rows(ctx, session, &plan, seed, x));
    let mut b = ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;
    ctx.child("oprf", |ctx| {
        let inputs = vole::unmask(ctx, &plan, rows, delta, |pool, part| b.fill(pool, part))?;
        Ok(outputs(ctx, session, inputs, x.len()))
    })
}

/// The receiver's F at i‖y_i.
pub(super) fn evaluate(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    y: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let plan = plan(form, y.len());
    let mut vole =
        ctx.child("setup", |ctx| silent::vole::Receiver::<SemiHonest>::setup(ctx, session))?;
    let mut seed = [0; Seed::LEN];
    ctx.rng().fill_bytes(&mut seed);
    ctx.peer()?.send(&seed)?;
    ctx.peer()?.flush()?;
    let rows = ctx.child("hashing", |ctx| rows(ctx, session, &plan, seed, y));
    let mut ac = ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;
    ctx.child("oprf", |ctx| {
        let inputs = vole::mask(ctx, &plan, rows, |pool, a, c| ac.fill(pool, a, c))?;
        Ok(outputs(ctx, session, inputs, y.len()))
    })
}

/// F in order of the places.
fn outputs(
    ctx: &Context,
    session: &SessionId,
    inputs: vole::Inputs,
    len: usize,
) -> Zeroizing<Vec<Block>> {
    let bits = output_bits(len);
    let mut tagged: Vec<Tagged> =
        inputs.outputs::<SemiHonest>(ctx.pool(), session, Block::ZERO, bits);
    let mut outputs = Zeroizing::new(vec![Block::ZERO; len]);
    for tagged in &mut tagged {
        outputs[tagged.position() as usize] = Block::new(tagged.tag());
        tagged.zeroize();
    }
    outputs
}
