//! Silent VOLE: relation, bytes, flights, distribution.

use crate::support;
use support::{SESSION, Setting};
use vesica_core::{Block, Error, Malicious, ParameterError, Result, Security, SemiHonest};
use vesica_net::Context;
use vesica_ot::silent::cot;
use vesica_ot::silent::vole::{self, Receiver, Sender, Values};
use vesica_simd::gf128;

/// Δ and b.
type SenderPart = (Block, Vec<Block>);
/// a and c.
type ReceiverPart = (Vec<Block>, Vec<Block>);

/// Splits a stream of length `len` into pieces of odd lengths.
fn pieces(len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    let mut next = 1;
    std::iter::from_fn(move || {
        if at == len {
            return None;
        }
        let start = at;
        at = len.min(at + next);
        next = next * 3 + 7;
        Some(start..at)
    })
}

fn send<S: Security>(ctx: &mut Context, lens: &[usize], values: Values) -> Result<SenderPart> {
    let mut sender = Sender::<S>::setup(ctx, &SESSION)?;
    let mut b = Vec::new();
    for len in lens {
        let mut stream = sender.extend(ctx, *len, values)?;
        let mut part = vec![Block::ZERO; *len];
        for piece in pieces(*len) {
            stream.fill(ctx.pool(), &mut part[piece])?;
        }
        assert_eq!(stream.left(), 0);
        b.extend(part);
    }
    Ok((*sender.delta().expose(), b))
}

fn receive<S: Security>(ctx: &mut Context, lens: &[usize], values: Values) -> Result<ReceiverPart> {
    let mut receiver = Receiver::<S>::setup(ctx, &SESSION)?;
    let (mut a, mut c) = (Vec::new(), Vec::new());
    for len in lens {
        let mut stream = receiver.extend(ctx, *len, values)?;
        let (mut a_part, mut c_part) = (vec![Block::ZERO; *len], vec![Block::ZERO; *len]);
        for piece in pieces(*len) {
            stream.fill(ctx.pool(), &mut a_part[piece.clone()], &mut c_part[piece])?;
        }
        a.extend(a_part);
        c.extend(c_part);
    }
    Ok((a, c))
}

fn run<S: Security>(
    setting: &Setting,
    lens: &[usize],
    values: Values,
) -> support::Outcomes<SenderPart, ReceiverPart> {
    setting.run(|ctx| send::<S>(ctx, lens, values), |ctx| receive::<S>(ctx, lens, values))
}

fn assert_relation((delta, b): &SenderPart, (a, c): &ReceiverPart) {
    let mut expected = b.clone();
    gf128::add_scaled(&mut expected, a, *delta);
    let wrong = expected.iter().zip(c).position(|(expected, c)| expected != c);
    assert_eq!(wrong, None, "the first wrong correlation of {}", b.len());
}

fn check<S: Security>(lens: &[usize], values: Values) {
    let run = run::<S>(&Setting::default(), lens, values);
    let mut traffic = vole::setup_bytes::<S>();
    for len in lens {
        traffic = traffic + vole::extend_bytes::<S>(*len, values);
    }
    assert_eq!(run.traffic, traffic, "{lens:?}");
    let (sender, receiver) = run.unwrap();
    assert_eq!(sender.1.len(), lens.iter().sum::<usize>());
    assert_relation(&sender, &receiver);
}

const SUBFIELD: Values = Values::Subfield16 { dim: 5 };

#[test]
fn correlations_of_every_length_are_correct_and_match_the_byte_formula() {
    for len in [0, 1, 2, 512, 513, 5000, 33_000] {
        check::<SemiHonest>(&[len], Values::Full);
        check::<Malicious>(&[len], Values::Full);
        check::<SemiHonest>(&[len], SUBFIELD);
    }
}

#[test]
fn correlations_are_correct_over_several_steps() {
    check::<SemiHonest>(&[700_000], Values::Full);
    check::<SemiHonest>(&[1 << 20], SUBFIELD);
    check::<Malicious>(&[700_000], Values::Full);
}

#[test]
fn a_setup_serves_many_extensions() {
    check::<SemiHonest>(&[3, 600, 40_000, 0, 1], Values::Full);
    check::<Malicious>(&[3, 600, 40_000, 0, 1], Values::Full);
}

#[test]
fn threads_and_pieces_do_not_change_the_result() {
    let one = run::<SemiHonest>(&Setting::default(), &[300_000], Values::Full).unwrap();
    let setting = Setting { threads: 3, ..Setting::default() };
    let three = run::<SemiHonest>(&setting, &[300_000], Values::Full).unwrap();
    assert!(one == three);
}

#[test]
fn subfield_values_lie_in_their_space_and_fill_it() {
    let (_, (mut a, _)) = run::<SemiHonest>(&Setting::default(), &[40_000], SUBFIELD).unwrap();
    let before = a.clone();
    SUBFIELD.lower(&mut a);
    assert!(a.iter().all(|value| value.get() >> 80 == 0));
    let ones = a.iter().fold([0u32; 80], |mut ones, value| {
        ones.iter_mut().zip(0..).for_each(|(ones, i)| *ones += u32::from(value.bit(i)));
        ones
    });
    assert!(ones.iter().all(|ones| (19_000..21_000).contains(ones)), "{ones:?}");
    SUBFIELD.lift(&mut a);
    assert!(a == before);
}

#[test]
fn subfield_values_against_a_malicious_peer_are_refused() {
    let run = run::<Malicious>(&Setting::default(), &[1000], SUBFIELD);
    let refused = Error::Parameter(ParameterError::UnsupportedOperation);
    assert_eq!(run.sender.err(), Some(refused.clone()));
    assert_eq!(run.receiver.err(), Some(refused));
}

#[test]
fn setup_and_first_extension_take_three_flights_and_malicious_five() {
    let semi_honest = run::<SemiHonest>(&Setting::default(), &[40_000], Values::Full);
    assert_eq!(semi_honest.flights, 3);
    let malicious = run::<Malicious>(&Setting::default(), &[40_000], Values::Full);
    assert_eq!(malicious.flights, 5);
}

#[test]
fn bytes_stay_within_their_targets() {
    let total = |len, values| vole::bytes::<SemiHonest>(len, values).total();
    assert!(total(1_100_000, SUBFIELD) <= 330_000, "{}", total(1_100_000, SUBFIELD));
    assert!(total(1_400_000, Values::Full) <= 700_000, "{}", total(1_400_000, Values::Full));
    assert!(total(1 << 24, Values::Full) <= (1 << 24) / 8 * 3);
}

/// Callers get Δ in a wrapper that wipes it, so that no copy remains unnoticed.
#[test]
fn delta_comes_in_a_wrapper_that_wipes_it() {
    fn wiping(delta: vesica_core::Secret<Block>) -> Block {
        assert_eq!(format!("{delta:?}"), "Secret(..)");
        *delta.expose()
    }
    let run = Setting::default().run(
        |ctx| {
            let vole = Sender::<Malicious>::setup(ctx, &SESSION)?;
            let cot = cot::Sender::<SemiHonest>::setup(ctx, &SESSION)?;
            let of_trait = wiping(vesica_ot::CotSender::delta(&cot));
            assert!(wiping(cot.delta()) == of_trait && of_trait.bit(0));
            assert!(
                wiping(vole.delta()) == wiping(vole.delta()) && wiping(vole.delta()) != of_trait
            );
            Ok(())
        },
        |ctx| {
            Receiver::<Malicious>::setup(ctx, &SESSION)?;
            cot::Receiver::<SemiHonest>::setup(ctx, &SESSION)?;
            Ok(())
        },
    );
    assert_eq!((run.sender, run.receiver), (Ok(()), Ok(())));
}
