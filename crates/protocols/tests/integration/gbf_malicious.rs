//! Cut and choose on Bloom filters, beyond the laws of every protocol; see also the parties that
//! deviate in `gbf_malicious/tests.rs`.

use std::sync::Arc;
use vesica_core::{Error, Learns, Misbehaviour, ParameterError, PsiParams, Role, SessionId};
use vesica_protocols::gbf_malicious::{MAX_RECEIVER_LEN, Sizes, usable_set_len};
use vesica_protocols::{Output, Protocol, find};
use vesica_testkit::Runner;
use vesica_testkit::laws::run_psi;
use vesica_testkit::sets::{items, overlapping, plain_intersection};
use vesica_testkit::tamper::Change;

fn protocol() -> &'static Protocol {
    find("gbf_malicious").unwrap()
}

fn params(n_x: u64, n_y: u64) -> PsiParams {
    PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, Learns::Receiver).unwrap()
}

#[test]
fn several_blocks_give_the_exact_intersection() {
    let (n_x, n_y) = (5000, (1 << 13) + 1);
    assert_eq!(Sizes::new(n_y).blocks(), 2);
    let (x, y) = overlapping(n_x, n_y, 3000);
    let run = run_psi(protocol(), &Runner::default(), Learns::Both, &x, &y);
    assert_eq!(run.receiver.output, Ok(Output::Positions(plain_intersection(&y, &x))));
    assert_eq!(run.sender.output, Ok(Output::Positions(plain_intersection(&x, &y))));
    let params = PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, Learns::Both).unwrap();
    let formula = (protocol().bytes)(&params);
    assert_eq!(run.sender_bytes(), formula.sender_to_receiver);
    assert_eq!(run.receiver_bytes(), formula.receiver_to_sender);
    let flights = (protocol().flights)(&params);
    assert_eq!(run.flights(), flights, "blocks take no flights of their own");
}

#[test]
fn the_sizes_are_those_of_the_documents() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/gbf.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut seen = 0;
    for line in page.lines().filter(|line| line.starts_with("| 2^")) {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace(',', "")).collect();
        let [_, len, blocks, all, each, opened, ones, threshold, slots, left, _] = &cells[..]
        else {
            continue;
        };
        let len = 1u64 << len[2..].parse::<u32>().unwrap();
        let sizes = Sizes::new(len);
        let total = sizes.blocks() * sizes.transfers;
        let found = [sizes.blocks(), total, sizes.opened, sizes.ones, sizes.threshold, sizes.slots];
        let expected = [blocks, all, opened, ones, threshold, slots];
        assert_eq!(found.map(|figure| figure.to_string()), expected.map(String::clone), "{len}");
        assert_eq!(format!("{:.0}", total as f64 / len as f64), *each);
        assert_eq!(format!("{:.4}", sizes.ones_left as f64 / sizes.slots as f64), *left);
        seen += 1;
    }
    assert!(seen >= 10, "{seen} lines");
}

#[test]
fn sizes_hold_together_for_every_small_set_and_at_the_edges() {
    let edges = (12..=24).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
    for len in (1..2000).chain(edges) {
        let sizes = Sizes::new(len);
        assert_eq!(sizes.transfers, sizes.slots + sizes.opened, "{len}");
        assert!(sizes.load as u64 * sizes.blocks() as u64 >= len, "{len}");
        assert!(sizes.ones < sizes.transfers && sizes.threshold < sizes.ones, "{len}");
        assert!(sizes.ones - sizes.threshold <= sizes.ones_left, "{len}");
        let cube = |x: usize| (x as u128).pow(3);
        assert!(16 * cube(sizes.ones_left) <= cube(sizes.slots), "{len}");
        if len <= MAX_RECEIVER_LEN {
            assert!((sizes.blocks() * sizes.transfers) as u64 <= 1 << 32, "{len}");
        }
    }
}

#[test]
fn the_bytes_of_no_size_overflow() {
    let max = u64::from(u32::MAX);
    for (n_x, n_y) in [(1, 1), (max, 1), (1, max), (max, max)] {
        let params = params(n_x, n_y);
        assert!((protocol().bytes)(&params).total() > 0);
        assert!(usable_set_len(&params).most >= n_y);
    }
}

#[test]
fn a_receiver_that_deviates_has_less_than_four_times_its_set() {
    for log in [10, 16, 20, 24] {
        let share = usable_set_len(&params(1, 1 << log)).most as f64 / (1u64 << log) as f64;
        assert!((2.0..4.0).contains(&share), "2^{log}: {share}");
    }
}

#[test]
fn sets_of_the_receiver_above_the_limit_are_refused() {
    let len = MAX_RECEIVER_LEN + 1;
    let made = protocol().party(Role::Sender, params(1, len), Arc::new(items(0..1)));
    let expected = ParameterError::SetTooLarge { len, max: MAX_RECEIVER_LEN };
    assert_eq!(made.err(), Some(Error::Parameter(expected)));
    assert!(
        protocol().party(Role::Sender, params(1, MAX_RECEIVER_LEN), Arc::new(items(0..1))).is_ok()
    );
    assert!(protocol().party(Role::Sender, params(2, 1), Arc::new(items(0..1))).is_err());
    assert!(protocol().party(Role::Receiver, params(1, 2), Arc::new(items(0..1))).is_err());
}

/// If the sender's messages are changed in transit, the receiver ends the same way for every set,
/// so that an abort reveals nothing about its set.
#[test]
fn whether_the_receiver_stops_does_not_depend_on_its_set() {
    // Smaller sets have no trees.
    let x = items(0..50);
    let sets = [items(0..400), items(1000..1400), items(20..420)];
    let changes = [Change::Flip, Change::Fill, Change::Repeat];
    let ends = sets.each_ref().map(|y| {
        let attempt = |runner: &Runner| run_psi(protocol(), runner, Learns::Receiver, &x, y);
        let [of_sender, _] = attempt(&Runner::default()).messages();
        let mut ends = Vec::new();
        Runner::default().change_each_message(of_sender, &changes, attempt, |tampering, run| {
            ends.push((tampering.message, tampering.change, run.receiver.output.err()));
        });
        ends
    });
    for [first, others @ ..] in (0..ends[0].len()).map(|i| ends.each_ref().map(|ends| &ends[i])) {
        let (message, change, end) = first;
        for (_, _, other) in others {
            assert_eq!(other.is_some(), end.is_some(), "message {message} {change:?}");
        }
    }
    let reasons: Vec<Error> = ends[0].iter().filter_map(|(_, _, end)| end.clone()).collect();
    let broken = Error::PeerMisbehaved(Misbehaviour::CommitmentBroken);
    assert!(reasons.contains(&broken), "another s than committed to was not refused");
    let checked = Error::PeerMisbehaved(Misbehaviour::CorrelationCheckFailed);
    assert!(reasons.contains(&checked), "no spoiled transfer was caught: {reasons:?}");
}
