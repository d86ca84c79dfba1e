//! The permuted characteristic (Figures 5 and 6): which of the sender's items the receiver has, told
//! the receiver in an order that the sender alone knows.

use super::{Form, comparison, transfers};
use rand::Rng;
use rand::seq::SliceRandom;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Block, Error, Item, Result, Role, SessionId, hash};
use vesica_net::Context;
use vesica_oprf::{equality, programmable};
use vesica_ot::{Bits, Traffic};
use vesica_switching::oblivious::{self, Rows, Sizes};
use zeroize::Zeroizing;

const STEP_LABEL: &str = "vesica v1 permuted characteristic";

/// What both parties know.
pub(super) struct Plan {
    form: Form,
    programmed: programmable::Plan,
    /// Rows of what is compared, or with [`Form::compares_first`] of the shares of one bit.
    shape: Sizes,
    /// ℓ
    bits: u32,
}

impl Plan {
    /// For `n_x` items of the sender and `n_y` of the receiver, none of them zero.
    pub(super) fn new(form: Form, n_x: usize, n_y: usize) -> Self {
        // A pseudorandom t passes for s with probability 2^-λ over all of the sender's items; half of that where the
        // comparison itself errs with the other half.
        let half = u32::from(!form.compares_first());
        let bits = STATISTICAL_SECURITY_BITS + half + ceil_log2(n_x as u64);
        let programmed = programmable::Plan::new(form.oprf(), form.hint(), n_x, n_y, bits);
        let row_bits = if form.compares_first() { 1 } else { bits };
        let shape = Sizes { inputs: programmed.bins(), outputs: n_x, bits: row_bits };
        Self { form, programmed, shape, bits }
    }

    /// ℓ, the length of what is compared.
    pub(super) fn compared_bits(&self) -> u32 {
        self.bits
    }

    fn tests(&self) -> usize {
        self.shape.outputs
    }

    /// Payload bytes; the programmer of the OPRF, the holder of the network and the receiver of the comparison
    /// are all the receiver.
    pub(super) fn bytes(&self) -> Traffic {
        let switching = oblivious::bytes(self.form.switching(), &self.shape);
        let receiver_holds = (self.programmed.bytes() + switching).reversed();
        receiver_holds
            + match self.form.compares_first() {
                true => {
                    let mut bytes = comparison::bytes(self.programmed.bins(), self.bits);
                    bytes.sender_to_receiver += Bits::bytes_len(self.tests()) as u64;
                    bytes
                }
                false => equality::bytes(self.form.equality(), self.tests()),
            }
    }

    /// Messages in a row that wait for each other, at most.
    pub(super) fn flights(&self) -> u64 {
        let parts =
            self.programmed.flights() + oblivious::flights(self.form.switching(), &self.shape);
        let compared = match self.form.compares_first() {
            true => comparison::flights(self.programmed.bins(), self.bits) + 1,
            false => equality::flights(self.form.equality()),
        };
        // Where one part ends and the next begins, messages go the same way: once, or twice in the paper's form.
        parts + compared - if self.form == Form::Paper { 2 } else { 1 }
    }
}

/// A session for one step of another.
pub(super) fn step(session: &SessionId, name: &str) -> SessionId {
    SessionId::from_bytes(hash::derive(STEP_LABEL, &[session.as_bytes(), name.as_bytes()]))
}

/// The sender's part: the order in which the receiver is told of its items `x`, as positions.
pub(super) fn sender(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    x: &[Item],
    n_y: usize,
) -> Result<Zeroizing<Vec<u32>>> {
    if x.is_empty() || n_y == 0 {
        let mut order = Zeroizing::new((0..x.len() as u32).collect::<Vec<_>>());
        order.shuffle(ctx.rng());
        return Ok(order);
    }
    let plan = Plan::new(form, x.len(), n_y);
    let programmable::Received { cuckoo, values } = ctx.child("oprf", |ctx| {
        programmable::receive(ctx, &step(session, "oprf"), &plan.programmed, x)
    })?;
    let values = Zeroizing::new(values);
    let full = (0..cuckoo.len())
        .filter_map(|bin| cuckoo.bin(bin).map(|placed| (bin as u32, placed.position)));
    let mut tests: Zeroizing<Vec<(u32, u32)>> = Zeroizing::new(full.collect());
    drop(cuckoo);
    // What is told is in this order: uniform, and independent of where the items were placed.
    tests.shuffle(ctx.rng());
    let injection: Zeroizing<Vec<u32>> =
        Zeroizing::new(tests.iter().map(|(bin, _)| *bin).collect());
    if form.compares_first() {
        let shares = compare(ctx, session, Role::Sender, &values, plan.bits)?;
        let rows = route(ctx, session, &plan, &injection)?;
        let masked = (0..injection.len())
            .map(|i| (rows.number(i) == 1) ^ shares[injection[i] as usize])
            .collect::<Bits>();
        ctx.child("equality", |ctx| transfers::send_bits(ctx, &masked))?;
    } else {
        let rows = route(ctx, session, &plan, &injection)?;
        let own = |(i, bin): (usize, &u32)| rows.block(i) ^ values[*bin as usize];
        let own: Zeroizing<Vec<Block>> =
            Zeroizing::new(injection.iter().enumerate().map(own).collect());
        ctx.child("equality", |ctx| {
            equality::send(ctx, &step(session, "equality"), form.equality(), &own)
        })?;
    }
    Ok(Zeroizing::new(tests.iter().map(|(_, position)| *position).collect()))
}

/// The receiver's part: which of the sender's items it has, in the sender's order.
pub(super) fn receiver(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    n_x: usize,
    y: &[Item],
) -> Result<Bits> {
    if n_x == 0 || y.is_empty() {
        return Ok((0..n_x).map(|_| false).collect());
    }
    let plan = Plan::new(form, n_x, y.len());
    let mut targets = Zeroizing::new(Block::zeros(plan.programmed.bins()));
    ctx.rng().fill_bytes(Block::as_bytes_mut(&mut targets));
    let mask = Block::new(u128::MAX >> (128 - plan.bits));
    targets.iter_mut().for_each(|target| *target = *target & mask);
    ctx.child("oprf", |ctx| {
        programmable::program(ctx, &step(session, "oprf"), &plan.programmed, y, |entry| {
            targets[entry.bin as usize]
        })
    })?;
    let is_common = if form.compares_first() {
        let shares = compare(ctx, session, Role::Receiver, &targets, plan.bits)?;
        let numbers =
            Zeroizing::new(shares.iter().map(|share| u64::from(*share)).collect::<Vec<_>>());
        let rows = hold(ctx, session, &plan, &Rows::from_numbers(&numbers, 1))?;
        let masked = ctx.child("equality", |ctx| transfers::recv_bits(ctx, n_x))?;
        masked.iter().enumerate().map(|(i, bit)| bit ^ (rows.number(i) == 1)).collect()
    } else {
        let rows = hold(ctx, session, &plan, &Rows::from_blocks(&targets, plan.bits))?;
        let own: Zeroizing<Vec<Block>> = Zeroizing::new((0..n_x).map(|i| rows.block(i)).collect());
        ctx.child("equality", |ctx| {
            equality::receive(ctx, &step(session, "equality"), form.equality(), &own)
        })?
    };
    match is_common.len() == n_x {
        true => Ok(is_common),
        false => Err(Error::Bug("a comparison gave another number of bits")),
    }
}

fn compare(
    ctx: &mut Context,
    session: &SessionId,
    role: Role,
    values: &[Block],
    bits: u32,
) -> Result<Zeroizing<Vec<bool>>> {
    let session = step(session, "comparison");
    ctx.child("comparison", |ctx| comparison::shares(ctx, &session, role, values, bits))
        .map(Zeroizing::new)
}

fn route(ctx: &mut Context, session: &SessionId, plan: &Plan, injection: &[u32]) -> Result<Rows> {
    let session = step(session, "switching");
    ctx.child("switching", |ctx| {
        oblivious::route(ctx, &session, plan.form.switching(), injection, &plan.shape)
    })
}

fn hold(ctx: &mut Context, session: &SessionId, plan: &Plan, rows: &Rows) -> Result<Rows> {
    let session = step(session, "switching");
    ctx.child("switching", |ctx| {
        oblivious::hold(ctx, &session, plan.form.switching(), rows, plan.tests())
    })
}
