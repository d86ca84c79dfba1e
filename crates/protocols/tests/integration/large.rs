//! Large sets, many seeds: the result is the plain intersection, exactly.

use std::sync::Arc;
use vesica_core::{Learns, PsiParams, Role, SessionId};
use vesica_protocols::{Output, Protocol, catalogue, find};
use vesica_testkit::Runner;
use vesica_testkit::sets::items;

/// Runs the protocol on two sets of 2^`log_n` items, of which every third is common, and compares.
fn exact(protocol: &Protocol, log_n: u32, seed: u8) {
    let n = 1u64 << log_n;
    let common = n / 3;
    // Each seed has its own items; the common ones lie at different places on the two sides.
    let first = u64::from(seed) << 40;
    let x = items(first..first + n);
    let mut y = items(first + n - common..first + 2 * n - common);
    let half = y.len() / 2;
    y.rotate_left(half);
    let expected: Vec<usize> =
        (0..n as usize).filter(|i| ((i + half) % n as usize) < common as usize).collect();

    let session = SessionId::from_bytes([seed; 32]);
    let params = PsiParams::new(session, n, n, Learns::Receiver).unwrap();
    let sender = protocol.party(Role::Sender, params, Arc::new(x)).unwrap();
    let receiver = protocol.party(Role::Receiver, params, Arc::new(y)).unwrap();
    let run = Runner { seed, ..Runner::default() }.run(sender, receiver);
    assert_eq!(run.sender.output, Ok(Output::Nothing), "{} seed {seed}", protocol.id);
    let exact = run.receiver.output == Ok(Output::Positions(expected));
    assert!(exact, "{} at 2^{log_n} with seed {seed}", protocol.id);
}

fn vole_psi() -> impl Iterator<Item = &'static Protocol> {
    catalogue().iter().filter(|row| row.id.starts_with("rr22"))
}

#[test]
fn two_to_the_sixteen_items_give_the_exact_intersection() {
    assert_eq!(vole_psi().count(), 3);
    vole_psi().for_each(|protocol| exact(protocol, 16, 1));
}

#[test]
#[ignore = "slow: a hundred runs of 2^20 items for each protocol"]
fn a_hundred_seeds_of_two_to_the_twenty_items_give_the_exact_intersection() {
    for protocol in vole_psi() {
        (0..100).for_each(|seed| exact(protocol, 20, seed));
    }
}

#[test]
#[ignore = "slow: twenty runs of 2^24 items"]
fn twenty_seeds_of_two_to_the_twenty_four_items_give_the_exact_intersection() {
    let fast = [find("rr22").unwrap(), find("rr22_malicious").unwrap()];
    for protocol in fast {
        (0..20).for_each(|seed| exact(protocol, 24, seed));
    }
    (0..20).for_each(|seed| exact(find("rr22_low_communication").unwrap(), 24, seed));
}
