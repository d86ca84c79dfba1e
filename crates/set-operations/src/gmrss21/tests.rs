//! What the core gives both parties for an inner product, and what the sender sees before.

use super::plan::CorePlan;
use super::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{Block, Item, Learns, Role, SessionId, Values};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_oprf::programmable;

const COMMON: usize = 40;
const FACTOR_BITS: u32 = 32;

fn context(peer: Role, streams: Arc<dyn Streams>, seed: u8) -> Context {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    Context::new(vec![(peer, streams)], [seed; 32], pool, Meter::new()).unwrap()
}

/// The bits of a value of the receiver, all set.
const FACTOR: u64 = (1 << FACTOR_BITS) - 1;

/// A run of the core in which every item of the receiver has the value [`FACTOR`]: both sets, of
/// which the second half of the sender's is common, and the parameters.
fn setting(seed: u8) -> (Vec<Item>, Vec<Item>, PsiParams) {
    let item = |i: usize| Item::from_integer(i as u128 + 1);
    let x = (0..2 * COMMON).map(item).collect();
    let y = (COMMON..3 * COMMON).map(item).collect();
    let values = Values::new(Role::Sender, 8).unwrap();
    let factors = Values::new(Role::Receiver, FACTOR_BITS).unwrap();
    let len = 2 * COMMON as u64;
    let params = PsiParams::new(SessionId::from_bytes([seed; 32]), len, len, Learns::Receiver);
    (x, y, params.unwrap().with_query(Query::InnerProduct { values, factors }))
}

/// Runs `sender` with the receiver's side of the core.
fn run<T: Send>(
    seed: u8,
    sender: impl FnOnce(&mut Context, &CoreRun<'_>, &[Item]) -> T + Send,
) -> (T, Result<ReceiverCore>) {
    let (x, y, params) = setting(seed);
    let run = CoreRun { form: form::Form::Silent, params: &params, session: *params.session() };
    let (one, two) = memory::pair();
    std::thread::scope(|scope| {
        let sender =
            scope.spawn(|| sender(&mut context(Role::Receiver, one, 2 * seed + 1), &run, &x));
        let ctx = &mut context(Role::Sender, two, 2 * seed);
        let receiver = receiver_core(ctx, &run, &y, &vec![FACTOR; y.len()]);
        (sender.join().unwrap(), receiver)
    })
}

#[test]
fn shares_of_factors_give_the_value_where_an_item_is_common() {
    let (sender, receiver) = run(1, |ctx, run, x| sender_core(ctx, run, x).unwrap());
    let receiver = receiver.unwrap();
    assert_eq!([sender.factors.len(), receiver.factors.len()], [2 * COMMON; 2]);
    let mut common = 0;
    let shares = sender.factors.iter().zip(receiver.factors.iter());
    for ((position, (alpha, beta)), is_common) in
        sender.pi.iter().zip(shares).zip(receiver.e.iter())
    {
        assert_eq!(is_common, *position as usize >= COMMON);
        assert_eq!(is_common, alpha ^ beta == FACTOR, "32 random bits are all set once in 2^32");
        common += usize::from(is_common);
    }
    assert_eq!(common, COMMON);
}

/// Without the masks m_j the sender would decode the receiver's values of common items in the
/// clear, and every answer would still be right.
#[test]
fn what_the_sender_decodes_of_a_factor_is_masked() {
    const RUNS: u8 = 50;
    let mut ones = [0_u32; FACTOR_BITS as usize];
    for seed in 0..RUNS {
        let (decoded, _) = run(seed, |ctx, run, x| {
            let core = CorePlan::new(run.form, run.params);
            let programmable::Received { cuckoo, values } = ctx
                .child("oprf", |ctx| {
                    programmable::receive(ctx, &run.step("oprf"), &core.programmed, x)
                })
                .unwrap();
            let is_common = |bin: &usize| {
                cuckoo.bin(*bin).is_some_and(|placed| placed.position as usize >= COMMON)
            };
            let mut common: Vec<Block> =
                (0..cuckoo.len()).filter(is_common).map(|bin| values[bin]).collect();
            core.split(&mut common).to_vec()
        });
        assert_eq!(decoded.len(), COMMON);
        for factor in decoded {
            (0..).zip(&mut ones).for_each(|(bit, ones)| *ones += (factor >> bit & 1) as u32);
        }
    }
    // 2,000 fair bits are further than six standard deviations from a half with a probability below
    // 2^-28.
    let n = f64::from(RUNS) * COMMON as f64;
    for (bit, ones) in ones.iter().enumerate() {
        let off = (f64::from(*ones) - n / 2.0).abs() / (n / 4.0).sqrt();
        assert!(off < 6.0, "bit {bit}: {ones} of {n}");
    }
}
