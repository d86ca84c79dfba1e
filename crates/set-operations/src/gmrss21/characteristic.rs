//! The core, steps 1 to 10: the permuted characteristic.

use super::low_communication;
use super::plan::{CorePlan, CoreRun};
use rand::Rng;
use rand::seq::SliceRandom;
use vesica_core::{Block, Error, Item, Result};
use vesica_net::Context;
use vesica_oprf::{equality, programmable};
use vesica_ot::Bits;
use vesica_switching::oblivious::Rows;
use zeroize::Zeroizing;

/// What the core gives the sender.
pub(super) struct SenderCore {
    /// π, the positions of its items in the order of e.
    pub(super) pi: Zeroizing<Vec<u32>>,
    /// With an inner product, its share of the receiver's value of each item, in the order of e:
    /// random where the item is not common.
    pub(super) factors: Zeroizing<Vec<u64>>,
}

/// What the core gives the receiver.
pub(super) struct ReceiverCore {
    /// Whether the items are common, in the order of π.
    pub(super) e: Bits,
    /// With an inner product, its shares of its values, in the order of π.
    pub(super) factors: Zeroizing<Vec<u64>>,
}

/// The sender's side of the core.
pub(super) fn sender_core(ctx: &mut Context, run: &CoreRun<'_>, x: &[Item]) -> Result<SenderCore> {
    let n_y = run.params.receiver_len();
    if x.is_empty() || n_y == 0 {
        let mut pi = Zeroizing::new((0..x.len() as u32).collect::<Vec<_>>());
        pi.shuffle(ctx.rng());
        return Ok(SenderCore { pi, factors: Zeroizing::default() });
    }
    let core = CorePlan::new(run.form, run.params);
    // 1, 2, 4, 5. The items in their bins, and t.
    let programmable::Received { cuckoo, values: t } = ctx
        .child("oprf", |ctx| programmable::receive(ctx, &run.step("oprf"), &core.programmed, x))?;
    let t = Zeroizing::new(t);
    // 6. The order is uniform, and independent of where the items were placed.
    let full = (0..cuckoo.len())
        .filter_map(|bin| cuckoo.bin(bin).map(|placed| (bin as u32, placed.position)));
    let mut full: Zeroizing<Vec<(u32, u32)>> = Zeroizing::new(full.collect());
    drop(cuckoo);
    full.shuffle(ctx.rng());
    let pi_tilde: Zeroizing<Vec<u32>> = Zeroizing::new(full.iter().map(|(bin, _)| *bin).collect());
    let mut factors = Zeroizing::default();
    if run.form.compares_first() {
        // 9, 7, 8, in this order.
        low_communication::sender(ctx, run, &core, &t, &pi_tilde)?;
    } else {
        // 7.
        let a = core.switch_by_order(ctx, run, &pi_tilde)?;
        // 8.
        let a_prime = pi_tilde.iter().enumerate().map(|(i, bin)| a.block(i) ^ t[*bin as usize]);
        let mut a_prime: Zeroizing<Vec<Block>> = Zeroizing::new(a_prime.collect());
        factors = core.split(&mut a_prime);
        // 9.
        ctx.child("equality", |ctx| {
            let (session, runs) = (&run.step("equality"), run.params.runs());
            equality::send(ctx, session, run.form.equality(), runs, &a_prime)
        })?;
    }
    // 10.
    let pi = Zeroizing::new(full.iter().map(|(_, position)| *position).collect());
    Ok(SenderCore { pi, factors })
}

/// The receiver's side of the core. With an inner product `values` are those of its items, without
/// others none.
pub(super) fn receiver_core(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    y: &[Item],
    values: &[u64],
) -> Result<ReceiverCore> {
    let n_x = run.params.sender_len();
    if n_x == 0 || y.is_empty() {
        let e = (0..n_x).map(|_| false).collect();
        return Ok(ReceiverCore { e, factors: Zeroizing::default() });
    }
    let core = CorePlan::new(run.form, run.params);
    // 3. s, of ℓ bits each; with an inner product, m_j of as many bits as its values follows.
    let mut s = Zeroizing::new(Block::zeros(core.programmed.bins()));
    ctx.rng().fill_bytes(Block::as_bytes_mut(&mut s));
    let mask = Block::new(u128::MAX >> (128 - core.programmed.bits()));
    s.iter_mut().for_each(|s_j| *s_j = *s_j & mask);
    // 2, 4. The OPRF's key, and P.
    ctx.child("oprf", |ctx| {
        programmable::program(ctx, &run.step("oprf"), &core.programmed, y, |entry| {
            let value = values.get(entry.position as usize).copied().unwrap_or(0);
            s[entry.bin as usize] ^ Block::new(u128::from(value) << core.compared_bits)
        })
    })?;
    let mut factors = Zeroizing::default();
    let e = if run.form.compares_first() {
        // 9, 7, 8, in this order.
        low_communication::receiver(ctx, run, &core, &s, n_x)?
    } else {
        // 7.
        let b = core.switch_rows(ctx, run, &Rows::from_blocks(&s, core.programmed.bits()))?;
        let mut b: Zeroizing<Vec<Block>> = Zeroizing::new((0..n_x).map(|i| b.block(i)).collect());
        factors = core.split(&mut b);
        // 9.
        ctx.child("equality", |ctx| {
            let (session, runs) = (&run.step("equality"), run.params.runs());
            equality::receive(ctx, session, run.form.equality(), runs, &b)
        })?
    };
    // 10.
    if e.len() == n_x {
        Ok(ReceiverCore { e, factors })
    } else {
        Err(Error::Bug("a comparison gave another number of bits"))
    }
}
