//! Random, chosen and correlated transfer and VOLE, over SoftSpoken and over an ideal transfer.

use crate::support::{Outcomes, SESSION, assert_unbiased, run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_core::{Block, Malicious, Result, Secret};
use vesica_net::Context;
use vesica_ot::adapters::{chosen, correlated, random, vole};
use vesica_ot::softspoken::{self, FieldBits};
use vesica_ot::{Bits, CotReceiver, CotSender, Cots, Lift, Traffic};
use vesica_simd::gf128;

const LENGTHS: [usize; 8] = [0, 1, 7, 8, 127, 128, 129, 70_000];

/// An ideal correlated transfer: a dealer's randomness, known to both parties, and no message.
struct Ideal {
    dealer: ChaCha20Rng,
    delta: Block,
}

impl Ideal {
    fn new() -> Self {
        let mut dealer = ChaCha20Rng::from_seed([9; 32]);
        Self { delta: Block::new(dealer.random()), dealer }
    }

    fn deal(&mut self, len: usize) -> (Vec<Block>, Bits) {
        let blocks = (0..len).map(|_| Block::new(self.dealer.random())).collect();
        (blocks, (0..len).map(|_| self.dealer.random()).collect())
    }
}

impl CotSender for Ideal {
    fn delta(&self) -> Secret<Block> {
        Secret::new(self.delta)
    }

    fn extend(&mut self, _: &mut Context, len: usize) -> Result<Vec<Block>> {
        Ok(self.deal(len).0)
    }
}

impl CotReceiver for Ideal {
    fn extend(&mut self, _: &mut Context, len: usize) -> Result<Cots> {
        let (mut blocks, choices) = self.deal(len);
        blocks.iter_mut().zip(choices.iter()).for_each(|(k, r)| *k ^= self.delta & Block::mask(r));
        Ok(Cots { choices, blocks })
    }
}

fn bits(len: usize, seed: u64) -> Bits {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random()).collect()
}

fn blocks(len: usize, seed: u64) -> Vec<Block> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..len).map(|_| Block::new(rng.random())).collect()
}

/// Runs both parties over the ideal transfer, and over malicious SoftSpoken.
fn over_both<A: Send, B: Send>(
    sender: impl Fn(&mut dyn CotSender, &mut Context) -> Result<A> + Sync,
    receiver: impl Fn(&mut dyn CotReceiver, &mut Context) -> Result<B> + Sync,
    check: impl Fn(&str, Option<Traffic>, A, B),
) {
    let ideal = run(|ctx| sender(&mut Ideal::new(), ctx), |ctx| receiver(&mut Ideal::new(), ctx));
    let traffic = ideal.traffic;
    let (a, b) = ideal.unwrap();
    check("ideal", Some(traffic), a, b);
    let real: Outcomes<A, B> = run(
        |ctx| {
            let mut cots = softspoken::Sender::<Malicious>::setup(ctx, &SESSION, FieldBits::Four)?;
            sender(&mut cots, ctx)
        },
        |ctx| {
            let mut cots =
                softspoken::Receiver::<Malicious>::setup(ctx, &SESSION, FieldBits::Four)?;
            receiver(&mut cots, ctx)
        },
    );
    let (a, b) = real.unwrap();
    check("SoftSpoken", None, a, b);
}

#[test]
fn random_transfer_gives_the_chosen_message() {
    over_both(
        |cots, ctx| {
            let mut transfers = random::Sender::new(cots, &SESSION);
            let mut sent = Vec::new();
            for len in LENGTHS {
                sent.push(transfers.extend(ctx, len)?);
            }
            Ok(sent)
        },
        |cots, ctx| {
            let mut transfers = random::Receiver::new(cots, &SESSION);
            let mut received = Vec::new();
            for len in LENGTHS {
                received.push(transfers.extend(ctx, len)?);
            }
            Ok(received)
        },
        |over, traffic, sent, received| {
            assert!(traffic.is_none_or(|traffic| traffic.total() == 0));
            for ((len, sent), received) in LENGTHS.into_iter().zip(&sent).zip(&received) {
                assert_eq!((sent.len(), received.messages.len()), (len, len), "{over}");
                for (i, (pair, m)) in sent.iter().zip(&received.messages).enumerate() {
                    let choice = received.choices.get(i);
                    assert_eq!(pair[usize::from(choice)], *m, "{over}, {i} of {len}");
                    assert_ne!(pair[usize::from(!choice)], *m, "{over}, {i} of {len}");
                }
            }
            let (zeros, ones): (Vec<_>, Vec<_>) = sent[7].iter().map(|[a, b]| (*a, *b)).unzip();
            let sums: Vec<_> = zeros.iter().zip(&ones).map(|(a, b)| *a ^ *b).collect();
            for (name, blocks) in [("zeros", zeros), ("ones", ones), ("sums", sums)] {
                assert_unbiased(name, &blocks);
            }
        },
    );
}

#[test]
fn chosen_transfer_gives_the_chosen_block_of_the_sender() {
    for len in LENGTHS {
        let pairs: Vec<_> =
            blocks(len, 1).into_iter().zip(blocks(len, 2)).map(|(a, b)| [a, b]).collect();
        let choices = bits(len, 3);
        over_both(
            |cots, ctx| chosen::send(&mut random::Sender::new(cots, &SESSION), ctx, &pairs),
            |cots, ctx| chosen::receive(&mut random::Receiver::new(cots, &SESSION), ctx, &choices),
            |over, traffic, (), received| {
                assert!(traffic.is_none_or(|traffic| traffic == chosen::bytes(len)), "{over}");
                let expected = pairs.iter().zip(choices.iter()).map(|(p, c)| p[usize::from(c)]);
                assert!(received.into_iter().eq(expected), "{over}, {len}");
            },
        );
    }
}

#[test]
fn correlated_transfer_takes_bits_of_the_receiver() {
    for len in LENGTHS {
        let choices = bits(len, 4);
        over_both(
            |mut cots, ctx| Ok((correlated::send(&mut cots, ctx, len)?, *cots.delta().expose())),
            |mut cots, ctx| correlated::receive(&mut cots, ctx, &choices),
            |over, traffic, (sent, delta), received| {
                assert!(traffic.is_none_or(|traffic| traffic == correlated::bytes(len)), "{over}");
                let expected =
                    sent.iter().zip(choices.iter()).map(|(k, c)| *k ^ (delta & Block::mask(c)));
                assert!(received.into_iter().eq(expected), "{over}, {len}");
            },
        );
    }
}

#[test]
fn vole_is_made_of_correlated_transfers() {
    let narrow = Lift::new((0..80).map(|i| Block::new(0x1_0000_0001 << i)).collect());
    for lift in [narrow, Lift::identity()] {
        for len in [0, 1, 100, 9000] {
            over_both(
                |mut cots, ctx| {
                    Ok((vole::send(&mut cots, ctx, len, &lift)?, *cots.delta().expose()))
                },
                |mut cots, ctx| vole::receive(&mut cots, ctx, len, &lift),
                |over, traffic, (sent, delta), received| {
                    assert!(traffic.is_none_or(|traffic| traffic.total() == 0), "{over}");
                    assert_eq!((sent.len(), received.values.len()), (len, len));
                    let expected = sent
                        .iter()
                        .zip(&received.values)
                        .map(|(k, u)| *k ^ gf128::mul(lift.apply(*u), delta));
                    assert!(received.blocks.iter().copied().eq(expected), "{over}, {len}");
                },
            );
        }
    }
}
