//! Silent correlated transfer: relation, bytes, flights, distribution.

use crate::support;
use support::{SESSION, Setting};
use vesica_core::{Block, Error, Malicious, Result, Security, SemiHonest};
use vesica_net::Context;
use vesica_ot::silent::cot::{self, Receiver, Sender};
use vesica_ot::{CotReceiver, CotSender};

/// Δ and K.
type SenderPart = (Block, Vec<Block>);

fn send<S: Security>(ctx: &mut Context, lens: &[usize]) -> Result<SenderPart> {
    let mut sender = Sender::<S>::setup(ctx, &SESSION)?;
    let mut keys = Vec::new();
    for len in lens {
        keys.extend(CotSender::extend(&mut sender, ctx, *len)?);
    }
    Ok((*sender.delta().expose(), keys))
}

fn receive<S: Security>(ctx: &mut Context, lens: &[usize]) -> Result<Vec<Block>> {
    let mut receiver = Receiver::<S>::setup(ctx, &SESSION)?;
    let mut blocks = Vec::new();
    for len in lens {
        let cots = CotReceiver::extend(&mut receiver, ctx, *len)?;
        assert!(cots.choices.iter().eq(cots.blocks.iter().map(|block| block.bit(0))));
        blocks.extend_from_slice(&cots.blocks);
    }
    Ok(blocks)
}

fn run<S: Security>(
    setting: &Setting,
    lens: &[usize],
) -> support::Outcomes<SenderPart, Vec<Block>> {
    setting.run(|ctx| send::<S>(ctx, lens), |ctx| receive::<S>(ctx, lens))
}

fn check<S: Security>(lens: &[usize]) -> Vec<Block> {
    let run = run::<S>(&Setting::default(), lens);
    let mut traffic = cot::setup_bytes::<S>();
    for len in lens {
        traffic = traffic + cot::extend_bytes::<S>(*len);
    }
    assert_eq!(run.traffic, traffic, "{lens:?}");
    let ((delta, keys), blocks) = run.unwrap();
    assert_eq!((keys.len(), blocks.len()), (lens.iter().sum(), lens.iter().sum()));
    assert!(delta.bit(0) && keys.iter().all(|key| !key.bit(0)));
    for (i, (key, block)) in keys.iter().zip(&blocks).enumerate() {
        assert!(*key ^ (delta & Block::mask(block.bit(0))) == *block, "transfer {i} of {lens:?}");
    }
    blocks
}

#[test]
fn transfers_of_every_length_are_correct_and_match_the_byte_formula() {
    for len in [0, 1, 2, 1000, 20_000, 60_000] {
        check::<SemiHonest>(&[len]);
        check::<Malicious>(&[len]);
    }
}

#[test]
fn transfers_are_correct_over_several_steps() {
    check::<SemiHonest>(&[1 << 20]);
    check::<Malicious>(&[700_000]);
}

#[test]
fn a_setup_serves_many_extensions() {
    check::<SemiHonest>(&[3, 600, 100_000, 0, 1]);
    check::<Malicious>(&[3, 600, 100_000, 0, 100_001]);
}

#[test]
fn threads_do_not_change_the_result() {
    let one = run::<SemiHonest>(&Setting::default(), &[300_000]).unwrap();
    let setting = Setting { threads: 3, ..Setting::default() };
    assert!(one == run::<SemiHonest>(&setting, &[300_000]).unwrap());
}

#[test]
fn setup_and_first_extension_take_three_flights_and_malicious_five() {
    assert_eq!(run::<SemiHonest>(&Setting::default(), &[100_000]).flights, 3);
    assert_eq!(run::<Malicious>(&Setting::default(), &[100_000]).flights, 5);
}

#[test]
fn a_stream_returns_no_more_than_requested() {
    let run = Setting::default().run(
        |ctx| {
            let mut stream = Sender::<SemiHonest>::setup(ctx, &SESSION)?.extend(ctx, 10)?;
            stream.fill(ctx.pool(), &mut [Block::ZERO; 9])?;
            stream.fill(ctx.pool(), &mut [Block::ZERO; 2])
        },
        |ctx| Receiver::<SemiHonest>::setup(ctx, &SESSION)?.extend(ctx, 10).map(|_| ()),
    );
    assert!(matches!(run.sender, Err(Error::Bug(_))));
}

#[test]
fn bits_are_balanced_and_uncorrelated() {
    let len = 200_000;
    let blocks = check::<SemiHonest>(&[len]);
    support_statistics(&blocks, 128);
}

/// Every bit is one about half of the time, and selected pairs of bits, within a block or at some
/// distances, agree about half of the time: within six standard deviations.
fn support_statistics(blocks: &[Block], bits: u32) {
    let bound = |n: usize| 3.0 * (n as f64).sqrt();
    let balanced = |ones: usize, n: usize| (ones as f64 - n as f64 / 2.0).abs() < bound(n);
    for i in 0..bits {
        let ones = blocks.iter().filter(|block| block.bit(i)).count();
        assert!(balanced(ones, blocks.len()), "bit {i}: {ones}");
        let j = (i * 7 + 1) % bits;
        if i != j {
            let equal = blocks.iter().filter(|block| block.bit(i) == block.bit(j)).count();
            assert!(balanced(equal, blocks.len()), "bits {i} and {j}: {equal}");
        }
        for distance in [1, 128, 512] {
            let pairs = blocks.iter().zip(&blocks[distance..]);
            let equal = pairs.filter(|(a, b)| a.bit(i) == b.bit(i)).count();
            assert!(
                balanced(equal, blocks.len() - distance),
                "bit {i}, distance {distance}: {equal}"
            );
        }
    }
}

#[test]
fn all_streams_of_one_extension_return_the_same_transfers() {
    for len in [0, 100, 600, 100_000] {
        let run = Setting::default().run(
            |ctx| send::<Malicious>(ctx, &[len]),
            |ctx| {
                let mut receiver = Receiver::<Malicious>::setup(ctx, &SESSION)?;
                let [mut one, mut other] = receiver.extend_readers(ctx, len)?;
                let (mut all, mut parts) = (vec![Block::ZERO; len], vec![Block::ZERO; len]);
                one.fill(ctx.pool(), &mut all)?;
                parts.chunks_mut(777).try_for_each(|part| other.fill(ctx.pool(), part))?;
                assert!(one.fill(ctx.pool(), &mut [Block::ZERO]).is_err());
                Ok([all, parts])
            },
        );
        let ((delta, keys), [all, parts]) = run.unwrap();
        assert!(all == parts, "{len}");
        let related =
            |(key, block): (&Block, &Block)| *key ^ (delta & Block::mask(block.bit(0))) == *block;
        assert!(keys.iter().zip(&all).all(related), "{len}");
    }
}
