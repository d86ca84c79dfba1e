//! Laws about peers whose messages are changed.

use super::{affordable, learners, run_psi};
use crate::sets::{overlapping, plain_intersection};
use crate::tamper::{Change, Tampering};
use crate::{Cases, Outcomes, Runner};
use vesica_core::{Item, Learns, Role};
use vesica_party::{Operation, Protocol};

/// However one message is changed, both parties end soon, with a result or a typed error; no panic,
/// no hang, no large allocation. A changed length is always an error at the party that reads it.
pub fn tampering_never_hangs_or_panics(protocol: &Protocol, cases: Cases) {
    // The messages of a circuit are as many as its layers.
    let is_circuit = protocol.operations.contains(&Operation::Cardinality);
    let sizes = if is_circuit { (5, 4, 2) } else { (90, 70, 20) };
    let sets = affordable(protocol, sizes);
    change_each_message(protocol, Change::ALL, cases, &sets, |tampering, _, run| {
        let Tampering { from, change, .. } = *tampering;
        let reader = match from {
            Role::Sender => &run.receiver.output,
            _ => &run.sender.output,
        };
        let must_fail = change.is_of_length() || change == Change::Drop;
        let case = || format!("{} {tampering:?}", protocol.id);
        assert!(reader.is_err() || !must_fail, "not noticed: {}", case());
    });
}

/// If a party sends at most this many messages, [`Cases::Pairs`] makes each change of each of them.
/// Protocols that send more send many similar ones.
const FEW_MESSAGES: usize = 8;

/// Which changes of a party's messages are tried, as (message, change, learner): `messages` is
/// their number by learner.
///
/// Every message is changed, and every change is made with each of the learners. With
/// [`Cases::Pairs`] a few messages are changed in every way. If there are enough messages for every
/// learner to get every change, each is changed once, with the learners in turn; if not, each is
/// changed with every learner.
fn changes_to_try(cases: Cases, messages: &[usize], changes: usize) -> Vec<[usize; 3]> {
    let sent = || messages.iter().copied();
    let [few, most] =
        [sent().min(), sent().max()].map(|sent| sent.expect("some party learns the result"));
    let longer = sent().position(|sent| sent == most).unwrap_or(0);
    if cases == Cases::All || cases == Cases::Pairs && most <= FEW_MESSAGES {
        let others = Cases::All.of([most - few, changes]).into_iter();
        let others = others.map(|[message, change]| [few + message, change, longer]);
        return cases.of([few, changes, messages.len()]).into_iter().chain(others).collect();
    }
    if few >= changes * messages.len() {
        let turn = |message: usize| {
            let learns = if message < few { message / changes % messages.len() } else { longer };
            [message, (message + message / changes) % changes, learns]
        };
        return (0..most).map(turn).collect();
    }
    let with = |learns: usize| {
        let tried = Cases::Each.of([messages[learns], changes]).into_iter();
        tried.map(move |[message, change]| [message, (change + 3 * learns) % changes, learns])
    };
    (0..messages.len()).flat_map(with).collect()
}

/// Runs `protocol` with messages of either party changed in the ways of `changes`, and hands the
/// runs to `check`.
fn change_each_message(
    protocol: &Protocol,
    changes: &[Change],
    cases: Cases,
    (x, y): &(Vec<Item>, Vec<Item>),
    mut check: impl FnMut(&Tampering, Learns, Outcomes),
) {
    let runner = Runner::default();
    let learners = learners(protocol);
    let messages = learners.iter().map(|learns| {
        let undisturbed = run_psi(protocol, &runner, *learns, x, y);
        let is_right = undisturbed.sender.output.is_ok() && undisturbed.receiver.output.is_ok();
        assert!(is_right, "nothing was changed: {}: {undisturbed:?}", protocol.id);
        undisturbed.messages()
    });
    let messages: Vec<_> = messages.collect();
    for party in [0, 1] {
        let from = messages[0][party].0;
        let sent: Vec<_> = messages.iter().map(|sent| sent[party].1 as usize).collect();
        assert!(sent.iter().all(|sent| *sent > 0), "the {from} sends nothing");
        for [message, change, learns] in changes_to_try(cases, &sent, changes.len()) {
            let learns = learners[learns];
            let attempt = |runner: &Runner| run_psi(protocol, runner, learns, x, y);
            let (tampering, run) =
                runner.change_message(from, message as u64, changes[change], attempt);
            check(&tampering, learns, run);
        }
    }
}

/// Law for protocols with malicious security: if any message of a party is changed, the other ends
/// with an error, or with a result that the party could have caused by choosing its set: a part of
/// the plain intersection.
///
/// A party that deviates is played by an honest one whose messages are changed on their way.
pub fn deviations_are_caught_or_harmless(protocol: &Protocol, cases: Cases) {
    // Small sets may take a shorter way.
    deviations_with(protocol, &overlapping(90, 70, 20), cases);
    let of_large = if cases == Cases::All { Cases::All } else { Cases::Each };
    deviations_with(protocol, &overlapping(900, 700, 200), of_large);
}

fn deviations_with(protocol: &Protocol, sets: &(Vec<Item>, Vec<Item>), cases: Cases) {
    let (mut caught, mut harmless) = (0, 0);
    let (x, y) = sets;
    let changes = [Change::Flip, Change::Fill, Change::Repeat];
    change_each_message(protocol, &changes, cases, sets, |tampering, learns, run| {
        let (honest, plain) = match tampering.from {
            Role::Sender => (run.receiver.output, plain_intersection(y, x)),
            _ => (run.sender.output, plain_intersection(x, y)),
        };
        match honest {
            Err(_) => caught += 1,
            Ok(output) => {
                let found = output.into_positions().unwrap_or_default();
                let part = found.iter().all(|i| plain.binary_search(i).is_ok());
                assert!(part, "{tampering:?}, {learns:?}: a false match");
                harmless += 1;
            }
        }
    });
    assert!(caught > harmless, "{caught} deviations were caught, {harmless} were harmless");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_message_is_changed_and_every_change_is_made_with_each_learner() {
        for messages in [[1, 1], [1, 2], [7, 7], [8, 9], [14, 14], [40, 43]] {
            for cases in [Cases::Each, Cases::Pairs, Cases::All] {
                let tried = changes_to_try(cases, &messages, 7);
                let distinct: BTreeSet<_> = tried.iter().collect();
                assert_eq!(distinct.len(), tried.len());
                let of_many = cases != Cases::All && messages[0] >= 2 * 7;
                for (learns, sent) in messages.into_iter().enumerate() {
                    let of = || tried.iter().filter(|case| case[2] == learns);
                    let changed: BTreeSet<_> = of().map(|case| case[0]).collect();
                    assert!(of_many || changed.into_iter().eq(0..sent), "{cases:?} {messages:?}");
                    let made: BTreeSet<_> = of().map(|case| case[1]).collect();
                    assert!(made.into_iter().eq(0..7), "{cases:?} {messages:?}");
                }
                let changed: BTreeSet<_> = tried.iter().map(|case| case[0]).collect();
                assert!(changed.into_iter().eq(0..messages[1]), "{cases:?} {messages:?}");
                let every: BTreeSet<_> = tried.iter().map(|case| [case[0], case[1]]).collect();
                if cases != Cases::Each && messages[1] <= FEW_MESSAGES {
                    assert_eq!(every.len(), messages[1] * 7);
                }
                if cases == Cases::All {
                    assert_eq!(tried.len(), (messages[0] + messages[1]) * 7);
                }
            }
        }
    }
}
