//! The batched OPRF: equal outputs for equal inputs, and different outputs for different inputs.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use vesica_core::{Block, Result, Role, SessionId};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_oprf::kkrt::{self, PART_LEN, Point};
use vesica_ot::coded::ReceiverSetup;

const SESSION: SessionId = SessionId::from_bytes([3; 32]);

fn party<R>(
    peer: Role,
    streams: Arc<dyn Streams>,
    threads: usize,
    party: impl FnOnce(&mut Context) -> Result<R>,
) -> (R, u64) {
    let pool = Pool::new(NonZeroUsize::new(threads).expect("a thread")).unwrap();
    let seed = [if peer == Role::Sender { 1 } else { 2 }; 32];
    let meter = Meter::new();
    let mut ctx = Context::new(vec![(peer, streams)], seed, pool, meter.clone()).unwrap();
    let result = party(&mut ctx).unwrap();
    ctx.finish().unwrap();
    (result, meter.bytes_under("").0)
}

fn input(instance: usize) -> Block {
    Block::new(0x1234_5678_9abc_def0_u128.wrapping_mul(instance as u128 + 1))
}

/// Successive evaluations of `lens` instances: the sender's F_i at the input of instance i and at
/// one other input, and the receiver's F_i at the input.
fn run(threads: usize, lens: &[usize], comparisons: u64) -> (Vec<[Block; 2]>, Vec<Block>) {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let (sent, received) = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            party(Role::Receiver, sender_end, threads, |ctx| {
                let mut oprf = kkrt::Sender::setup(ctx, &SESSION, comparisons)?;
                let mut outputs = Vec::new();
                for len in lens {
                    let before = outputs.len();
                    oprf.evaluate(ctx, *len, |first, keys| {
                        assert_eq!(before + first, outputs.len(), "parts come in order");
                        assert!(first.is_multiple_of(PART_LEN));
                        let points: Vec<Point> = (0..keys.len())
                            .flat_map(|i| {
                                let own = input(outputs.len() + i);
                                [own, own ^ Block::ONE]
                                    .map(|input| Point { instance: i as u32, input })
                            })
                            .collect();
                        let mut out = vec![Block::ZERO; points.len()];
                        keys.evaluate(&points, &mut out);
                        outputs.extend_from_slice(out.as_chunks().0);
                    })?;
                }
                Ok(outputs)
            })
        });
        let receiving = party(Role::Sender, receiver_end, threads, |ctx| {
            let setup = ReceiverSetup::send(ctx, &SESSION)?;
            let mut oprf = kkrt::Receiver::new(ctx, setup, &SESSION, comparisons)?;
            let mut outputs = Vec::new();
            for len in lens {
                let before = outputs.len();
                let inputs = |first: usize, out: &mut [Block]| {
                    (before + first..).zip(out).for_each(|(i, out)| *out = input(i));
                };
                oprf.evaluate(ctx, *len, inputs, |first, part| {
                    assert_eq!(before + first, outputs.len(), "parts come in order");
                    outputs.extend_from_slice(part);
                })?;
            }
            Ok(outputs)
        });
        (sending.join().unwrap(), receiving)
    });
    let expected = lens.iter().map(|len| kkrt::width(comparisons).extend_bytes(*len));
    let expected = expected.fold(kkrt::bytes(0, comparisons), |sum, bytes| sum + bytes);
    assert_eq!((sent.1, received.1), (expected.sender_to_receiver, expected.receiver_to_sender));
    (sent.0, received.0)
}

#[test]
fn outputs_agree_at_the_receivers_inputs_only() {
    for comparisons in [1, 1 << 21, 3 << 32] {
        let lens = [1, 0, 127, 2048, 10_000];
        let (sent, received) = run(1, &lens, comparisons);
        assert_eq!((sent.len(), received.len()), (12_176, 12_176));
        let mut all: Vec<u128> = Vec::new();
        for (i, ([own, other], received)) in sent.iter().zip(&received).enumerate() {
            assert!(own == received, "instance {i}");
            all.extend([own.get(), other.get()]);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * received.len(), "no two outputs are equal");
    }
}

#[test]
fn thread_counts_give_equal_outputs() {
    let lens = [20_000, 5];
    let one = run(1, &lens, 40_010);
    assert!(one == run(3, &lens, 40_010));
}

/// Every bit is one about half of the time, and so is the sum of the bits at two points of an
/// instance: within six standard deviations.
#[test]
fn outputs_are_unbiased() {
    let (sent, _) = run(1, &[50_000], 100_000);
    let bound = 6.0 * (sent.len() as f64).sqrt() / 2.0;
    for bit in 0..128 {
        let mut ones = [0.0; 3];
        for [own, other] in &sent {
            for (ones, block) in ones.iter_mut().zip([*own, *other, *own ^ *other]) {
                *ones += f64::from(u8::from(block.bit(bit)));
            }
        }
        let half = sent.len() as f64 / 2.0;
        assert!(ones.iter().all(|ones| (ones - half).abs() <= bound), "bit {bit}");
    }
}
