//! Receivers that deviate in the extension below.

use super::{cot, vole};
use crate::support::{SESSION, run};
use vesica_core::{Block, Error, Malicious, Misbehaviour};

const REFUSED: Error = Error::PeerMisbehaved(Misbehaviour::CorrelationCheckFailed);

/// The correction of every row with one and the same change, whatever the choices: with it and a message
/// of the trees Δ can be found, so that nothing of the trees may be sent.
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
