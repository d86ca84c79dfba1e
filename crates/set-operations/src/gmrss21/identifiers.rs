//! Identifiers of items: R(z) = F_A(z) ⊕ F_B(z). Each party has the key of one function and learns
//! the other function at its own items (§4.5; steps 1 to 8 of Figure 15).

use super::form::{Form, Identifiers};
use super::plan::{CoreRun, step};
use rand::Rng;
use vesica_core::{Block, Item, PsiParams, Result, Role, Runs, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_oprf::programmable;
use vesica_oprf::vole::{self, Plan, Seed};
use vesica_ot::Traffic;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// Length of an identifier in bits.
const BITS: u32 = 128;

/// Payload bytes of both directions.
pub(super) fn bytes(identifiers: Identifiers, params: &PsiParams) -> Traffic {
    let to_sender =
        learning_bytes(identifiers, params.sender_len(), params.receiver_len(), params.runs());
    let to_receiver =
        learning_bytes(identifiers, params.receiver_len(), params.sender_len(), params.runs());
    // The party that learns is the receiver of the OPRF.
    to_sender.reversed() + to_receiver
}

fn learning_bytes(identifiers: Identifiers, learner: usize, holder: usize, runs: Runs) -> Traffic {
    match identifiers {
        _ if learner == 0 || holder == 0 => Traffic::default(),
        Identifiers::Sloppy(form) => sloppy_plan(form, learner, holder, runs).bytes(),
        Identifiers::Oprf(form) => vole::bytes::<SemiHonest>(&plan(form, learner, runs)),
    }
}

/// Messages in a row that wait for each other, the last of them from the party that the core begins
/// with.
pub(super) fn flights(identifiers: Identifiers, params: &PsiParams) -> u64 {
    let (n_x, n_y, runs) = (params.sender_len(), params.receiver_len(), params.runs());
    match identifiers {
        Identifiers::Sloppy(form) => {
            let of = |learner, holder| sloppy_plan(form, learner, holder, runs).flights();
            // With KKRT16 each OPRF begins with a message of its learner, who sent the last before;
            // so does the core.
            let joined = if form == Form::Paper { 2 } else { 0 };
            (of(n_x, n_y) + of(n_y, n_x)).saturating_sub(joined)
        }
        Identifiers::Oprf(_) if params.has_empty_set() => 0,
        Identifiers::Oprf(form) => {
            let of = |learner| vole::flights::<SemiHonest>(&plan(form, learner, runs));
            // An OPRF ends with its learner, with whom the second one begins, and the core.
            of(n_x) + of(n_y) - 2
        }
    }
}

fn sloppy_plan(form: Form, learner: usize, holder: usize, runs: Runs) -> programmable::Plan {
    programmable::Plan::new(form.oprf(), form.hint(), learner, holder, BITS, runs)
}

/// The identifiers of this party's `items`, in their order.
pub(super) fn of_items(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    identifiers: Identifiers,
    role: Role,
    items: &[Item],
) -> Result<Vec<Block>> {
    let (n_x, n_y, runs) = (run.params.sender_len(), run.params.receiver_len(), run.params.runs());
    let mut ids = vec![Block::ZERO; items.len()];
    // First the sender learns, then the receiver.
    let turns = [("first", Role::Sender, n_x, n_y), ("second", Role::Receiver, n_y, n_x)];
    for (turn, learner, learner_len, holder_len) in turns {
        let session = step(&run.session, turn);
        let other_len = if learner == role { holder_len } else { learner_len };
        ctx.child("identifiers", |ctx| match identifiers {
            Identifiers::Sloppy(form) => {
                let plan = &sloppy_plan(form, learner_len, holder_len, runs);
                if learner == role {
                    learn_sloppily(ctx, &session, plan, items, other_len, &mut ids)
                } else {
                    hold_sloppily(ctx, &session, plan, items, other_len, &mut ids)
                }
            }
            Identifiers::Oprf(form) => {
                let plan = &plan(form, learner_len, runs);
                if learner == role {
                    learn(ctx, &session, plan, items, other_len, &mut ids)
                } else {
                    hold(ctx, &session, plan, items, other_len, &mut ids)
                }
            }
        })?;
    }
    Ok(ids)
}

/// Adds `block` to the identifier of the item at `position`.
fn add(ids: &mut [Block], position: u32, block: Block) {
    let id = &mut ids[position as usize];
    *id ^= block;
}

/// The learner's side of the sloppy function: the holder's function at the common items, and
/// pseudorandom values at the learner's others.
fn learn_sloppily(
    ctx: &mut Context,
    session: &SessionId,
    plan: &programmable::Plan,
    items: &[Item],
    other_len: usize,
    ids: &mut [Block],
) -> Result<()> {
    if items.is_empty() || other_len == 0 {
        return Ok(());
    }
    let programmable::Received { cuckoo, values } =
        programmable::receive(ctx, session, plan, items)?;
    let values = Zeroizing::new(values);
    for (bin, value) in values.iter().enumerate() {
        if let Some(placed) = cuckoo.bin(bin) {
            add(ids, placed.position, *value);
        }
    }
    Ok(())
}

/// The holder's side: its function is AES with a key that it draws now.
fn hold_sloppily(
    ctx: &mut Context,
    session: &SessionId,
    plan: &programmable::Plan,
    items: &[Item],
    other_len: usize,
    ids: &mut [Block],
) -> Result<()> {
    let mut key = [0; Block::LEN];
    ctx.rng().fill_bytes(&mut key);
    let prf = Aes128::new(Block::from_le_bytes(key));
    key.zeroize();
    let own = items.iter().map(|item| Block::from_le_bytes(*item.as_bytes()));
    let mut own = Zeroizing::new(own.collect::<Vec<_>>());
    prf.encrypt(&mut own);
    ids.iter_mut().zip(own.iter()).for_each(|(id, own)| *id ^= *own);
    if !items.is_empty() && other_len > 0 {
        programmable::program(ctx, session, plan, items, |entry| own[entry.position as usize])?;
    }
    Ok(())
}

/// The sizes of the OPRF of RR22 for a party that learns it at `len` items.
fn plan(form: Form, len: usize, runs: Runs) -> Plan {
    match form {
        Form::LowCommunication => Plan::low_communication(len, BITS, runs),
        _ => Plan::fast(len, BITS, runs),
    }
}

/// The learner's side of the OPRF of RR22.
fn learn(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    items: &[Item],
    other_len: usize,
    ids: &mut [Block],
) -> Result<()> {
    if items.is_empty() || other_len == 0 {
        return Ok(());
    }
    let draw = Seed::draw_and_send;
    let own = |_: &mut Context, _: &Seed| Ok(items);
    vole::run_receiver::<SemiHonest, _>(ctx, session, plan, draw, own, |pool, q| {
        q.outputs(pool, BITS, |f| add(ids, f.position(), Block::new(f.tag())));
    })
}

/// The holder's side.
fn hold(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    items: &[Item],
    other_len: usize,
    ids: &mut [Block],
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    if other_len == 0 {
        // The other party has no item, so random identifiers are enough.
        let mut own = Zeroizing::new(Block::zeros(ids.len()));
        ctx.rng().fill_bytes(Block::as_bytes_mut(&mut own));
        ids.iter_mut().zip(own.iter()).for_each(|(id, own)| *id ^= *own);
        return Ok(());
    }
    let own = |_: &mut Context, _: &Seed| Ok(items);
    vole::run_sender::<SemiHonest, _>(ctx, session, plan, Seed::receive, own, |pool, q| {
        q.outputs(pool, BITS, |f| add(ids, f.position(), Block::new(f.tag())));
    })
}
