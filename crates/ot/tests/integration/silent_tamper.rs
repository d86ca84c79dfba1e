//! Silent correlations with a peer, or a network, that changes one message.

use crate::support::tamper::{Change, Tampering};
use crate::support::{SESSION, Setting, change_each_message};
use vesica_core::{Block, Malicious, Result, Security, SemiHonest};
use vesica_net::Context;
use vesica_ot::silent::{cot, vole};
use vesica_simd::gf128;

const LENGTHS: [Change; 5] =
    [Change::Truncate, Change::Grow, Change::Announce, Change::Drop, Change::Repeat];
const CONTENTS: [Change; 4] =
    [Change::FlipBit(0), Change::FlipBit(12_345), Change::Fill, Change::Zero];

/// What a party ends with: Δ and its columns.
type Part = (Block, Vec<Vec<Block>>);

fn send_vole<S: Security>(ctx: &mut Context, len: usize) -> Result<Part> {
    let mut sender = vole::Sender::<S>::setup(ctx, &SESSION)?;
    let mut stream = sender.extend(ctx, len, vole::Values::Full)?;
    let mut b = vec![Block::ZERO; len];
    stream.fill(ctx.pool(), &mut b)?;
    Ok((*sender.delta().expose(), vec![b]))
}

fn receive_vole<S: Security>(ctx: &mut Context, len: usize) -> Result<Part> {
    let mut receiver = vole::Receiver::<S>::setup(ctx, &SESSION)?;
    let mut stream = receiver.extend(ctx, len, vole::Values::Full)?;
    let (mut a, mut c) = (vec![Block::ZERO; len], vec![Block::ZERO; len]);
    stream.fill(ctx.pool(), &mut a, &mut c)?;
    Ok((Block::ZERO, vec![a, c]))
}

fn send_cot<S: Security>(ctx: &mut Context, len: usize) -> Result<Part> {
    let mut sender = cot::Sender::<S>::setup(ctx, &SESSION)?;
    let mut stream = sender.extend(ctx, len)?;
    let mut keys = vec![Block::ZERO; len];
    stream.fill(ctx.pool(), &mut keys)?;
    Ok((*sender.delta().expose(), vec![keys]))
}

fn receive_cot<S: Security>(ctx: &mut Context, len: usize) -> Result<Part> {
    let mut receiver = cot::Receiver::<S>::setup(ctx, &SESSION)?;
    let mut stream = receiver.extend(ctx, len)?;
    let mut blocks = vec![Block::ZERO; len];
    stream.fill(ctx.pool(), &mut blocks)?;
    let choices = blocks.iter().map(|block| *block & Block::ONE).collect();
    Ok((Block::ZERO, vec![choices, blocks]))
}

/// Whether the parties' correlations hold.
fn holds(sender: &Part, receiver: &Part) -> bool {
    let mut expected = sender.1[0].clone();
    gf128::add_scaled(&mut expected, &receiver.1[0], sender.0);
    expected == receiver.1[1]
}

type Protocol = fn(&mut Context, usize) -> Result<Part>;

/// Runs with every message of either party changed in turn; `check` sees each outcome.
fn every_message(
    (send, receive): (Protocol, Protocol),
    len: usize,
    changes: &[Change],
    check: impl Fn(&Tampering, Result<Part>, Result<Part>),
) {
    let attempt = |setting: &Setting| setting.run(|ctx| send(ctx, len), |ctx| receive(ctx, len));
    let undisturbed = change_each_message(changes, attempt, |tampering, run| {
        check(tampering, run.sender, run.receiver);
    });
    assert!(undisturbed.messages.iter().all(|(_, sent)| *sent > 1));
    let (sender, receiver) = undisturbed.unwrap();
    assert!(holds(&sender, &receiver));
}

/// No change leaves the parties with correlations that do not hold.
fn caught_or_harmless(tampering: &Tampering, sender: Result<Part>, receiver: Result<Part>) {
    if let (Ok(sender), Ok(receiver)) = (&sender, &receiver) {
        assert!(holds(sender, receiver), "{tampering:?} went unnoticed");
    }
}

#[test]
fn any_changed_message_of_malicious_vole_is_caught_or_harmless() {
    let vole: (Protocol, Protocol) = (send_vole::<Malicious>, receive_vole::<Malicious>);
    every_message(vole, 600, &CONTENTS, caught_or_harmless);
    every_message(vole, 150_000, &CONTENTS[1..2], caught_or_harmless);
}

#[test]
fn any_changed_message_of_malicious_cot_is_caught_or_harmless() {
    let cot: (Protocol, Protocol) = (send_cot::<Malicious>, receive_cot::<Malicious>);
    every_message(cot, 80_000, &CONTENTS, caught_or_harmless);
}

#[test]
fn a_changed_content_never_panics_or_hangs_the_semi_honest_parties() {
    let vole: (Protocol, Protocol) = (send_vole::<SemiHonest>, receive_vole::<SemiHonest>);
    every_message(vole, 600, &CONTENTS, |_, _, _| ());
    let cot: (Protocol, Protocol) = (send_cot::<SemiHonest>, receive_cot::<SemiHonest>);
    every_message(cot, 80_000, &CONTENTS, |_, _, _| ());
}

/// A message of another length, one too many or one too few is an error of the party that waits for
/// it, unless no party waits for anything after it.
fn noticed(tampering: &Tampering, sender: Result<Part>, receiver: Result<Part>) {
    let is_noticed = sender.is_err() || receiver.is_err();
    let may_be_last = matches!(tampering.change, Change::Repeat);
    assert!(is_noticed || may_be_last, "{tampering:?} went unnoticed");
}

#[test]
fn messages_of_wrong_lengths_and_numbers_are_noticed() {
    every_message((send_vole::<SemiHonest>, receive_vole::<SemiHonest>), 600, &LENGTHS, noticed);
    every_message((send_vole::<Malicious>, receive_vole::<Malicious>), 600, &LENGTHS, noticed);
    every_message((send_cot::<Malicious>, receive_cot::<Malicious>), 80_000, &LENGTHS, noticed);
}

/// A receiver whose peer stops after some message fails as soon as it notices, with a transport
/// error.
#[test]
fn a_peer_that_stops_in_the_middle_is_an_error() {
    for len in [600, 150_000] {
        let run = Setting::default().run(
            |ctx| {
                let mut sender = vole::Sender::<SemiHonest>::setup(ctx, &SESSION)?;
                let _ = &mut sender;
                Err::<(), _>(vesica_core::Error::Bug("stopped"))
            },
            |ctx| receive_vole::<SemiHonest>(ctx, len),
        );
        assert!(matches!(run.receiver, Err(vesica_core::Error::Transport(_))));
    }
}
