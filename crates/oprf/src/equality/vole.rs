//! F from the VOLE OPRF: one key, at i‖y as an item.

use super::{Form, output_bits};
use crate::vole::{self, Plan, Seed};
use vesica_core::hash::derive_into;
use vesica_core::{Block, Item, Result, Runs, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

const PLACE_LABEL: &str = "vesica v1 equality place";

/// Places numbered together.
const BATCH: usize = 1 << 8;

pub(super) fn plan(form: Form, len: usize, runs: Runs) -> Plan {
    match form {
        Form::VoleFast => Plan::fast(len, output_bits(len, runs), runs),
        _ => Plan::low_communication(len, output_bits(len, runs), runs),
    }
}

/// The sender's F at i‖x_i.
pub(super) fn evaluate_everywhere(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    runs: Runs,
    x: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let items = |_: &mut Context, r: &Seed| Ok(numbered(session, r, x));
    let q = vole::run_sender(ctx, session, &plan(form, x.len(), runs), Seed::receive, items)?;
    Ok(outputs(ctx, q, output_bits(x.len(), runs), x.len()))
}

/// The receiver's F at i‖y_i.
pub(super) fn evaluate(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    runs: Runs,
    y: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let items = |_: &mut Context, r: &Seed| Ok(numbered(session, r, y));
    let q =
        vole::run_receiver(ctx, session, &plan(form, y.len(), runs), Seed::draw_and_send, items)?;
    Ok(outputs(ctx, q, output_bits(y.len(), runs), y.len()))
}

/// i‖y for each i, as y ⊕ π(i). π is drawn together with the seed of the OPRF, when the values are fixed.
fn numbered(session: &SessionId, r: &Seed, y: &[Block]) -> Zeroizing<Vec<Item>> {
    let mut key = [Block::ZERO];
    derive_into(PLACE_LABEL, &[session.as_bytes(), r.as_bytes()], Block::as_bytes_mut(&mut key));
    let permutation = Aes128::new(key[0]);
    let mut items = Zeroizing::new(Vec::with_capacity(y.len()));
    let mut places = [Block::ZERO; BATCH];
    for (first, y) in (0..).step_by(BATCH).zip(y.chunks(BATCH)) {
        permutation.ctr(first, &mut places);
        items.extend(y.iter().zip(&places).map(|(y, i)| Item::from_integer((*y ^ *i).get())));
    }
    items
}

/// F in the order of the places.
fn outputs(
    ctx: &Context,
    q: vole::Inputs<SemiHonest>,
    bits: u32,
    len: usize,
) -> Zeroizing<Vec<Block>> {
    let mut tagged = q.outputs(ctx.pool(), bits);
    let mut outputs = Zeroizing::new(vec![Block::ZERO; len]);
    for tagged in &mut tagged {
        outputs[tagged.position() as usize] = Block::new(tagged.tag());
        tagged.zeroize();
    }
    outputs
}
