//! F from the VOLE OPRF: one key, at i‖y as an item.

use super::{Form, output_bits};
use crate::vole::{self, Plan, Seed};
use vesica_core::hash::derive_into;
use vesica_core::{Block, Item, Result, SemiHonest, SessionId};
use vesica_net::{Context, Pool};
use vesica_simd::aes::Aes128;
use zeroize::Zeroizing;

const PLACE_LABEL: &str = "vesica v1 equality place";

/// Places numbered together.
const BATCH: usize = 1 << 8;

pub(super) fn plan(form: Form, len: usize) -> Plan {
    match form {
        Form::VoleFast => Plan::fast(len, output_bits(len)),
        _ => Plan::low_communication(len, output_bits(len)),
    }
}

/// The sender's F at i‖x_i.
pub(super) fn evaluate_everywhere(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    x: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let items = |_: &mut Context, r: &Seed| Ok(numbered(session, r, x));
    let mut outputs = Outputs::new(x.len());
    let plan = plan(form, x.len());
    vole::run_sender(ctx, session, &plan, Seed::receive, items, |pool, q| outputs.take(pool, q))?;
    Ok(outputs.0)
}

/// The receiver's F at i‖y_i.
pub(super) fn evaluate(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    y: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let items = |_: &mut Context, r: &Seed| Ok(numbered(session, r, y));
    let mut outputs = Outputs::new(y.len());
    let (plan, draw) = (plan(form, y.len()), Seed::draw_and_send);
    vole::run_receiver(ctx, session, &plan, draw, items, |pool, q| outputs.take(pool, q))?;
    Ok(outputs.0)
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
struct Outputs(Zeroizing<Vec<Block>>);

impl Outputs {
    fn new(len: usize) -> Self {
        Self(Zeroizing::new(Block::zeros(len)))
    }

    fn take(&mut self, pool: &Pool, q: vole::Inputs<SemiHonest>) {
        q.outputs(pool, output_bits(self.0.len()), |output| {
            self.0[output.position() as usize] = Block::new(output.tag());
        });
    }
}
