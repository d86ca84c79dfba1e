//! Receivers that deviate in the extension below.

use super::{cot, vole};
use crate::support::tamper::{Change, Tampering};
use crate::support::{SESSION, Setting, run};
use vesica_core::{Block, Error, Malicious, Misbehaviour, ParameterError, Role};

const REFUSED: Error = Error::PeerMisbehaved(Misbehaviour::CorrelationCheckFailed);

/// Changes the correction of every row in the same way, regardless of the choices. With this change
/// and a message of the trees Δ could be found, so nothing of the trees may be sent.
fn change(corrections: &mut [Block], _: usize) {
    corrections.iter_mut().for_each(|block| *block ^= Block::ONE);
}

#[test]
fn a_receiver_of_vole_that_cheats_below_sees_nothing_of_the_trees() {
    for len in [100, 600, 40_000] {
        let run = run(
            |ctx| {
                let mut sender = vole::Sender::<Malicious>::setup(ctx, &SESSION)?;
                let first = sender.extend(ctx, len, vole::Values::Full).err();
                let second = sender.extend(ctx, len, vole::Values::Full).err();
                Ok([first, second])
            },
            |ctx| {
                let mut receiver = vole::Receiver::<Malicious>::setup(ctx, &SESSION)?;
                receiver.below().cheat = Some(Box::new(change));
                receiver.extend(ctx, len, vole::Values::Full).map(|_| ())
            },
        );
        assert_eq!(run.sender, Ok([Some(REFUSED), Some(REFUSED)]), "{len}");
        let of_setup = vole::setup_bytes::<Malicious>().sender_to_receiver;
        assert_eq!(run.traffic.sender_to_receiver, of_setup, "{len}");
    }
}

#[test]
fn a_receiver_of_transfers_that_cheats_below_sees_nothing_of_the_trees() {
    for len in [100, 80_000] {
        let run = run(
            |ctx| {
                let mut sender = cot::Sender::<Malicious>::setup(ctx, &SESSION)?;
                let first = sender.extend(ctx, len).err();
                let second = sender.extend(ctx, len).err();
                Ok([first, second])
            },
            |ctx| {
                let mut receiver = cot::Receiver::<Malicious>::setup(ctx, &SESSION)?;
                receiver.below().cheat = Some(Box::new(change));
                receiver.extend(ctx, len).map(|_| ())
            },
        );
        assert_eq!(run.sender, Ok([Some(REFUSED), Some(REFUSED)]), "{len}");
        let of_setup = cot::setup_bytes::<Malicious>().sender_to_receiver;
        assert_eq!(run.traffic.sender_to_receiver, of_setup, "{len}");
    }
}

/// A tree that changes in transit fails the receiver's check.
fn with_a_changed_tree() -> Setting {
    // After the message of the base transfers and the seed.
    let tampering = Tampering::new(Role::Sender, 2, Change::FlipBit(1000));
    Setting { tampering: Some(tampering), ..Setting::default() }
}

#[test]
fn a_receiver_of_vole_sends_nothing_after_it_found_a_wrong_tree() {
    let len = 40_000;
    let run = with_a_changed_tree().run(
        |ctx| {
            let mut sender = vole::Sender::<Malicious>::setup(ctx, &SESSION)?;
            sender.extend(ctx, len, vole::Values::Full).map(drop)
        },
        |ctx| {
            let mut receiver = vole::Receiver::<Malicious>::setup(ctx, &SESSION)?;
            let mut extend = || receiver.extend(ctx, len, vole::Values::Full).err();
            Ok([extend(), extend()])
        },
    );
    assert_eq!(run.receiver, Ok([Some(REFUSED), Some(REFUSED)]));
    let expected = vole::bytes::<Malicious>(len, vole::Values::Full).receiver_to_sender;
    assert_eq!(run.traffic.receiver_to_sender, expected);
}

#[test]
fn a_receiver_of_transfers_sends_nothing_after_it_found_a_wrong_tree() {
    let len = 80_000;
    let run = with_a_changed_tree().run(
        |ctx| {
            let mut sender = cot::Sender::<Malicious>::setup(ctx, &SESSION)?;
            sender.extend(ctx, len).map(drop)
        },
        |ctx| {
            let mut receiver = cot::Receiver::<Malicious>::setup(ctx, &SESSION)?;
            let mut extend = || receiver.extend(ctx, len).err();
            Ok([extend(), extend()])
        },
    );
    assert_eq!(run.receiver, Ok([Some(REFUSED), Some(REFUSED)]));
    let expected = cot::bytes::<Malicious>(len).receiver_to_sender;
    assert_eq!(run.traffic.receiver_to_sender, expected);
}

#[test]
fn refused_requests_leave_the_parties_usable() {
    let too_many: Error =
        ParameterError::TooManyCorrelations { len: (1 << 32) + 1, max: 1 << 32 }.into();
    let run = run(
        |ctx| {
            let mut sender = cot::Sender::<Malicious>::setup(ctx, &SESSION)?;
            assert_eq!(sender.extend(ctx, (1 << 32) + 1).err(), Some(too_many.clone()));
            sender.extend(ctx, 10).map(drop)
        },
        |ctx| {
            let mut receiver = cot::Receiver::<Malicious>::setup(ctx, &SESSION)?;
            assert_eq!(receiver.extend(ctx, (1 << 32) + 1).err(), Some(too_many.clone()));
            receiver.extend(ctx, 10).map(drop)
        },
    );
    run.unwrap();
}
