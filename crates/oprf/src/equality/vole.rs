//! F from the VOLE OPRF: one key, at i‖y as an item.

use super::form::{Form, output_bits};
use crate::vole::{self, Plan, Seed};
use vesica_core::hash::derive_into;
use vesica_core::{Block, Item, Result, Runs, SemiHonest, SessionId};
use vesica_net::{Context, Pool};
use vesica_simd::aes::Aes128;
use zeroize::Zeroizing;

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
    let mut outputs = Outputs::new(x.len(), runs);
    let plan = plan(form, x.len(), runs);
    vole::run_sender(ctx, session, &plan, Seed::receive, items, |pool, q| outputs.take(pool, q))?;
    Ok(outputs.by_place)
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
    let mut outputs = Outputs::new(y.len(), runs);
    let (plan, draw) = (plan(form, y.len(), runs), Seed::draw_and_send);
    vole::run_receiver(ctx, session, &plan, draw, items, |pool, q| outputs.take(pool, q))?;
    Ok(outputs.by_place)
}

/// i‖y for each i, as y ⊕ π(i). π is drawn together with the seed of the OPRF, when the values are
/// fixed.
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
struct Outputs {
    by_place: Zeroizing<Vec<Block>>,
    bits: u32,
}

impl Outputs {
    fn new(len: usize, runs: Runs) -> Self {
        Self { by_place: Zeroizing::new(Block::zeros(len)), bits: output_bits(len, runs) }
    }

    fn take(&mut self, pool: &Pool, q: vole::Inputs<SemiHonest>) {
        q.outputs(pool, self.bits, |output| {
            self.by_place[output.position() as usize] = Block::new(output.tag());
        });
    }
}
