//! Receivers that deviate in the corrections.

use super::layout::{COLUMNS, TILE};
use super::*;
use crate::support::{Outcomes, SESSION, run};
use vesica_core::{Block, Error, Malicious, Misbehaviour, Result, Secret};

const REFUSED: Error = Error::PeerMisbehaved(Misbehaviour::CorrelationCheckFailed);

/// A run whose receiver changes its corrections. The sender's second result is that of another
/// extension after an error.
fn run_with(
    bits: FieldBits,
    delta: Block,
    request: Request<'_>,
    cheat: receiver::Cheat,
) -> Outcomes<(Result<SenderOutput>, Option<Error>), ReceiverOutput> {
    run(
        |ctx| {
            let delta = Secret::new(delta);
            let mut sender = Sender::<Malicious>::setup_with_delta(ctx, &SESSION, bits, delta)?;
            let first = sender.extend(ctx, request);
            let second = first.is_err().then(|| sender.extend(ctx, request).err()).flatten();
            Ok((first, second))
        },
        |ctx| {
            let mut receiver = Receiver::<Malicious>::setup(ctx, &SESSION, bits)?;
            receiver.cheat = Some(cheat);
            receiver.extend(ctx, request)
        },
    )
}

#[test]
fn rows_with_different_choices_are_refused_and_the_sender_is_unusable_then() {
    let delta = Block::new(0x0123_4567_89ab_cdef_1122_3344_5566_7788);
    let lift = crate::Lift::identity();
    for bits in FieldBits::ALL {
        for request in [Request::cots(1000), Request { cots: 10, voles: 40, lift: &lift }] {
            let cheat = |corrections: &mut [Block], _: usize| {
                corrections.iter_mut().for_each(|block| *block ^= Block::ONE);
            };
            let (first, second) = run_with(bits, delta, request, Box::new(cheat)).sender.unwrap();
            assert_eq!(first.err(), Some(REFUSED), "{bits:?}");
            assert_eq!(second, Some(REFUSED), "{bits:?}");
        }
    }
}

/// The only attack of a receiver: each guess of a bit of Δ is right half of the time.
#[test]
fn a_change_of_one_row_passes_if_the_bit_of_delta_is_zero_and_only_then() {
    for row in [1, 2, 63, 127] {
        for bit in [false, true] {
            let delta = Block::new(0x0123_4567_89ab_cdef_1122_3344_5566_7788 & !(1 << row));
            let delta = delta ^ Block::new(u128::from(bit) << row);
            let cheat = move |corrections: &mut [Block], len: usize| {
                corrections[(row - 1) * len] ^= Block::new(1 << 77);
            };
            let request = Request::cots(3 * TILE * COLUMNS);
            let run = run_with(FieldBits::One, delta, request, Box::new(cheat));
            let (first, _) = run.sender.unwrap();
            match first {
                Err(error) => assert!(bit && error == REFUSED, "row {row}, {bit}"),
                Ok(sent) => {
                    let received = run.receiver.unwrap();
                    let choices = received.cots.choices.iter();
                    let blocks = sent.cots.iter().zip(&received.cots.blocks).zip(choices);
                    assert!(!bit, "row {row}: the change went unnoticed");
                    for ((k, m), choice) in blocks {
                        assert_eq!(*m, *k ^ (delta & Block::mask(choice)), "row {row}");
                    }
                }
            }
        }
    }
}

/// Each position is used once, those of the masks too, and every extension has a different number.
#[test]
fn extensions_use_different_positions() {
    let lift = crate::Lift::identity();
    let requests = [Request::cots(1000), Request { cots: 10, voles: 40, lift: &lift }];
    let blocks: usize = requests.iter().map(|request| request.blocks::<Malicious>()).sum();
    let run = run(
        |ctx| {
            let mut sender = Sender::<Malicious>::setup(ctx, &SESSION, FieldBits::Two)?;
            for request in requests {
                sender.extend(ctx, request)?;
            }
            Ok((sender.next_block, sender.extensions))
        },
        |ctx| {
            let mut receiver = Receiver::<Malicious>::setup(ctx, &SESSION, FieldBits::Two)?;
            for request in requests {
                receiver.extend(ctx, request)?;
            }
            Ok((receiver.next_block, receiver.extensions))
        },
    );
    assert_eq!(run.unwrap(), ((blocks as u128, 2), (blocks as u128, 2)));
}

#[test]
fn a_receiver_is_unusable_after_an_error() {
    let run = run(
        |ctx| Sender::<Malicious>::setup(ctx, &SESSION, FieldBits::Two).map(drop),
        |ctx| {
            let mut receiver = Receiver::<Malicious>::setup(ctx, &SESSION, FieldBits::Two)?;
            let _ = receiver.poison.keep::<()>(Err(REFUSED));
            Ok(receiver.extend(ctx, Request::cots(5)).err())
        },
    );
    assert_eq!(run.receiver, Ok(Some(REFUSED)));
    assert_eq!(
        run.traffic.receiver_to_sender,
        setup_bytes::<Malicious>(FieldBits::Two).receiver_to_sender
    );
}
