//! What the core gives both parties for an inner product.

use super::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{Learns, Role, SessionId, Values};
use vesica_net::{Context, Meter, Pool, Streams, memory};

const COMMON: usize = 40;
const FACTOR_BITS: u32 = 32;

fn context(peer: Role, streams: Arc<dyn Streams>, seed: u8) -> Context {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    Context::new(vec![(peer, streams)], [seed; 32], pool, Meter::new()).unwrap()
}

/// One run of the core in which every item of the receiver has the value `factor`.
fn core_of(factor: u64, seed: u8) -> (SenderCore, ReceiverCore) {
    let item = |i: usize| Item::from_integer(i as u128 + 1);
    let x: Vec<Item> = (0..2 * COMMON).map(item).collect();
    let y: Vec<Item> = (COMMON..3 * COMMON).map(item).collect();
    let values = Values::new(Role::Sender, 8).unwrap();
    let factors = Values::new(Role::Receiver, FACTOR_BITS).unwrap();
    let len = 2 * COMMON as u64;
    let params = PsiParams::new(SessionId::from_bytes([seed; 32]), len, len, Learns::Receiver);
    let params = params.unwrap().with_query(Query::InnerProduct { values, factors });
    let run = CoreRun { form: form::Form::Silent, params: &params, session: *params.session() };
    let (one, two) = memory::pair();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let ctx = &mut context(Role::Receiver, one, 2 * seed + 1);
            let core = sender_core(ctx, &run, &x).unwrap();
            ctx.finish().unwrap();
            core
        });
        let ctx = &mut context(Role::Sender, two, 2 * seed);
        let receiver = receiver_core(ctx, &run, &y, &vec![factor; y.len()]).unwrap();
        ctx.finish().unwrap();
        (sender.join().unwrap(), receiver)
    })
}

/// Without the masks m_j the sender would have the receiver's values of common items in the clear, and every answer would
/// still be right.
#[test]
fn neither_share_of_a_factor_says_anything_alone() {
    const RUNS: u8 = 50;
    let mut ones = [[[0_u32; 2]; 2]; FACTOR_BITS as usize];
    let mut entries = [0_u32; 2];
    for seed in 0..RUNS {
        // All bits are ones, or none is.
        let factor = u64::from(seed % 2) * ((1 << FACTOR_BITS) - 1);
        let (sender, receiver) = core_of(factor, seed);
        assert_eq!(sender.factors.len(), 2 * COMMON);
        let shares = sender.factors.iter().zip(receiver.factors.iter());
        let mut common = 0;
        for ((alpha, beta), is_common) in shares.zip(receiver.e.iter()) {
            assert!(*alpha < 1 << FACTOR_BITS && *beta < 1 << FACTOR_BITS);
            assert!(!is_common || alpha ^ beta == factor, "shares of a common item");
            common += usize::from(is_common);
            entries[usize::from(is_common)] += 1;
            for (bit, ones) in ones.iter_mut().enumerate() {
                for (share, ones) in [alpha, beta].into_iter().zip(ones) {
                    ones[usize::from(is_common)] += (share >> bit & 1) as u32;
                }
            }
        }
        assert_eq!(common, COMMON);
        let (items, expected) = (sender.pi.iter().copied(), 0..2 * COMMON as u32);
        let mut items: Vec<u32> = items.collect();
        items.sort_unstable();
        assert!(items.into_iter().eq(expected));
    }
    // 2,000 fair bits are further than six standard deviations from a half with a probability below 2^-28.
    for (bit, shares) in ones.iter().enumerate() {
        for (share, counts) in shares.iter().enumerate() {
            for (kind, count) in counts.iter().enumerate() {
                let n = f64::from(entries[kind]);
                let off = (f64::from(*count) - n / 2.0).abs() / (n / 4.0).sqrt();
                assert!(off < 6.0, "bit {bit} of share {share}, common {kind}: {count} of {n}");
            }
        }
    }
}
