//! SoftSpoken against peers that deviate: each message changed in each way.

use crate::support;
use support::tamper::Change;
use support::{Outcomes, SESSION, Setting, change_each_message};
use vesica_core::{Block, Error, Malicious, Misbehaviour, Result, Role, Security, SemiHonest};
use vesica_net::Context;
use vesica_ot::Lift;
use vesica_ot::softspoken::{FieldBits, Receiver, ReceiverOutput, Request, Sender, SenderOutput};

/// Two tiles of transfers, one of VOLEs.
const COTS: usize = 2500;
const VOLES: usize = 10;

type Sent = (Block, SenderOutput);

fn sender<S: Security>(ctx: &mut Context, bits: FieldBits) -> Result<Sent> {
    let mut sender = Sender::<S>::setup(ctx, &SESSION, bits)?;
    let request = Request { cots: COTS, voles: VOLES, lift: &Lift::identity() };
    let output = sender.extend(ctx, request)?;
    Ok((*sender.delta().expose(), output))
}

fn receiver<S: Security>(ctx: &mut Context, bits: FieldBits) -> Result<ReceiverOutput> {
    let mut receiver = Receiver::<S>::setup(ctx, &SESSION, bits)?;
    let request = Request { cots: COTS, voles: VOLES, lift: &Lift::identity() };
    receiver.extend(ctx, request)
}

fn attempt<S: Security>(setting: &Setting, bits: FieldBits) -> Outcomes<Sent, ReceiverOutput> {
    setting.run(|ctx| sender::<S>(ctx, bits), |ctx| receiver::<S>(ctx, bits))
}

/// How many of the runs, each with one change, ended with the failed check; all of them end with an
/// error that names the peer.
fn caught(
    bits: FieldBits,
    from: Role,
    changes: impl Iterator<Item = (u64, Change, u8)>,
) -> (usize, usize) {
    let (mut runs, mut caught) = (0, 0);
    for (message, change, seed) in changes {
        let case = format!("{bits:?}, {from} {message}, {change:?}, seed {seed}");
        let setting = Setting { seed, ..Setting::default() };
        let (_, run) = setting
            .change_message(from, message, change, |setting| attempt::<Malicious>(setting, bits));
        runs += 1;
        if run.sender.as_ref().is_err_and(is_failed_check) {
            caught += 1;
        } else {
            let errors = [run.sender.err(), run.receiver.err()];
            let named = |error: &Option<Error>| matches!(error, Some(Error::PeerMisbehaved(_)));
            assert!(errors.iter().any(named), "unnoticed: {case}");
        }
    }
    (runs, caught)
}

fn is_failed_check(error: &Error) -> bool {
    *error == Misbehaviour::CorrelationCheckFailed.into()
}

/// Number of messages from `from`, and which of them is the first correction.
fn messages(bits: FieldBits, from: Role) -> u64 {
    match (from, bits) {
        // The points.
        (Role::Sender, _) => 1,
        // The point; trees' sums and tags; corrections of two tiles of transfers, one of VOLEs,
        // and the mask; the response.
        (_, FieldBits::One) => 1 + 4 + 1,
        _ => 1 + 2 + 4 + 1,
    }
}

#[test]
fn a_changed_length_is_an_error_and_nothing_hangs() {
    let changes = [
        Change::FlipBit(1000),
        Change::Fill,
        Change::Zero,
        Change::Drop,
        Change::Repeat,
        Change::Truncate,
        Change::Grow,
        Change::Announce,
    ];
    let malicious = |setting: &Setting| attempt::<Malicious>(setting, FieldBits::Four);
    let undisturbed = change_each_message(&changes, malicious, |tampering, run| {
        let read = match tampering.from {
            Role::Sender => run.receiver.err(),
            _ => run.sender.err(),
        };
        if tampering.change.is_of_length() {
            let is_named =
                matches!(read, Some(Error::PeerMisbehaved(Misbehaviour::WrongMessageLen { .. })));
            assert!(is_named, "{tampering:?}");
        }
        assert!(read.is_some() || tampering.change != Change::Drop, "{tampering:?}");
    });
    let expected =
        [Role::Sender, Role::Receiver].map(|from| (from, messages(FieldBits::Four, from)));
    assert_eq!(undisturbed.messages, expected);
    let semi_honest = |setting: &Setting| attempt::<SemiHonest>(setting, FieldBits::Two);
    change_each_message(&changes, semi_honest, |_, _| ());
}

#[test]
fn every_changed_message_of_a_malicious_run_is_caught() {
    for bits in FieldBits::ALL {
        for from in [Role::Sender, Role::Receiver] {
            let count = messages(bits, from);
            let bit_flips = [0, 77, 1234, 8191, 20_000].map(Change::FlipBit);
            let changes = bit_flips.into_iter().chain([Change::Fill, Change::Zero]);
            let all = changes.flat_map(|change| (0..count).map(move |m| (m, change, 1)));
            let (runs, caught) = caught(bits, from, all);
            // The other runs fail because a changed point is not valid.
            let of_points = runs / count as usize;
            assert!(runs - caught <= of_points, "{bits:?}: only {caught} of {runs} caught");
        }
    }
}

/// For any Δ, because what arrives differs from what the receiver made the points of.
#[test]
fn a_changed_tree_or_correction_or_response_is_always_caught() {
    for bits in FieldBits::ALL {
        let flips = (0..60).map(|i| {
            let message = 1 + i % (messages(bits, Role::Receiver) - 1);
            (message, Change::FlipBit(i as usize * 397), 1 + i as u8)
        });
        let (runs, caught) = caught(bits, Role::Receiver, flips);
        assert_eq!(caught, runs, "{bits:?}");
    }
}

#[test]
fn another_session_or_another_k_is_caught() {
    let other = vesica_core::SessionId::from_bytes([8; 32]);
    let run = support::run(
        |ctx| sender::<Malicious>(ctx, FieldBits::Four),
        |ctx| {
            let mut receiver = Receiver::<Malicious>::setup(ctx, &other, FieldBits::Four)?;
            receiver.extend(ctx, Request::cots(COTS))
        },
    );
    assert!(is_failed_check(&run.sender.err().expect("caught")));
    let run = support::run(
        |ctx| sender::<Malicious>(ctx, FieldBits::Four),
        |ctx| receiver::<Malicious>(ctx, FieldBits::Eight),
    );
    assert!(matches!(run.sender.err(), Some(Error::PeerMisbehaved(_))));
}

#[test]
fn a_peer_that_leaves_in_the_middle_is_an_error() {
    let run = support::run(
        |ctx| sender::<Malicious>(ctx, FieldBits::Eight),
        |ctx| Receiver::<Malicious>::setup(ctx, &SESSION, FieldBits::Eight).map(drop),
    );
    assert!(matches!(run.sender.err(), Some(Error::Transport(_))));
    let run = support::run(|_| Ok(()), |ctx| receiver::<Malicious>(ctx, FieldBits::Eight));
    assert!(matches!(run.receiver.err(), Some(Error::Transport(_))));
}
