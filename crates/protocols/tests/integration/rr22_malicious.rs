//! The default protocol beyond the laws of every protocol: items that both parties know, and how
//! many items a receiver that deviates has room for.

use std::sync::Arc;
use vesica_core::{Error, Item, Learns, Misbehaviour, PsiParams, Role, SessionId};
use vesica_protocols::rr22_malicious::usable_set_len;
use vesica_protocols::{Input, Output, Protocol, UsableSetLen, find};
use vesica_testkit::sets::{items, plain_intersection};
use vesica_testkit::{Outcomes, Runner};

/// Self-check items of an agreement that does not say.
const SHARED: u64 = 16;

fn protocol() -> &'static Protocol {
    find("rr22_malicious").unwrap()
}

fn params(n_x: u64, n_y: u64, shared: u64, learns: Learns) -> PsiParams {
    let session = SessionId::from_bytes([1; 32]);
    PsiParams::new(session, n_x, n_y, learns).unwrap().with_shared(shared).unwrap()
}

/// Items for keys, followed by `shared` items, from 2^20 on, that both parties know.
fn with_shared(keys: std::ops::Range<u64>, shared: u64) -> Vec<Item> {
    let mut set = items(keys);
    set.extend(items(1 << 20..(1 << 20) + shared));
    set
}

fn run(x: &[Item], y: &[Item], shared: u64, learns: Learns) -> Outcomes {
    let params = params(x.len() as u64, y.len() as u64, shared, learns);
    let party = |role, set: &[Item]| {
        let range = set.len() - shared as usize..set.len();
        let input = Input::from(Arc::new(set.to_vec())).with_shared(range);
        protocol().party(role, params, input).unwrap()
    };
    Runner::default().run(party(Role::Sender, x), party(Role::Receiver, y))
}

#[test]
fn known_items_are_found_as_any_others_with_every_store() {
    // Around the sizes at which another store is taken.
    let by_keys = [(1, 1), (3, 100), (40, 496), (40, 497), (700, 6128), (700, 6129)];
    let by_products = [(8176, 496), (8177, 496), (127_084, 17), (127_085, 17), (140_000, 16)];
    for (n_x, n_y) in by_keys.into_iter().chain(by_products) {
        for learns in [Learns::Receiver, Learns::Both] {
            let (x, y) = (with_shared(0..n_x, SHARED), with_shared(n_x / 2..n_x / 2 + n_y, SHARED));
            let run = run(&x, &y, SHARED, learns);
            let formula =
                (protocol().bytes)(&params(x.len() as u64, y.len() as u64, SHARED, learns));
            assert_eq!(run.sender_bytes(), formula.sender_to_receiver, "{n_x} and {n_y}");
            assert_eq!(run.receiver_bytes(), formula.receiver_to_sender, "{n_x} and {n_y}");
            let common = plain_intersection(&y, &x);
            assert!(common.len() >= SHARED as usize);
            assert_eq!(run.receiver.output, Ok(Output::Positions(common)), "{n_x} and {n_y}");
            let expected = match learns {
                Learns::Receiver => Output::Nothing,
                Learns::Both => Output::Positions(plain_intersection(&x, &y)),
            };
            assert_eq!(run.sender.output, Ok(expected), "{n_x} and {n_y}");
        }
    }
}

#[test]
fn a_receiver_with_a_guess_in_place_of_a_known_item_gets_nothing() {
    // One polynomial, the band and the clustered store.
    for n_y in [5, 600, 6200] {
        let (x, mut y) = (with_shared(0..50, SHARED), with_shared(100..100 + n_y, SHARED));
        // The sender has it, and the receiver announced one less.
        let last = y.len() - 1;
        y[last] = x[7];
        let run = run(&x, &y, SHARED, Learns::Receiver);
        let refused = Error::PeerMisbehaved(Misbehaviour::SharedNotProved);
        assert_eq!(run.sender.output, Err(refused), "{n_y} keys");
        assert!(run.receiver.output.is_err(), "{n_y} keys");
    }
}

#[test]
fn sets_without_their_known_items_are_refused() {
    let params = params(20, 20, SHARED, Learns::Receiver);
    let set = Arc::new(items(0..20));
    for shared in [0..0, 0..15, 5..21] {
        let input = Input::from(Arc::clone(&set)).with_shared(shared);
        assert!(protocol().party(Role::Sender, params, input.clone()).is_err());
        assert!(protocol().party(Role::Receiver, params, input).is_err());
    }
}

fn usable(rows: u64, shared: u64) -> UsableSetLen {
    usable_against(rows, rows, shared)
}

/// For a receiver that announces `rows` rows to a sender that announced `sender_rows`.
fn usable_against(sender_rows: u64, rows: u64, shared: u64) -> UsableSetLen {
    usable_set_len(&params(sender_rows + shared, rows + shared, shared, Learns::Both))
}

#[test]
fn small_sets_have_no_room_for_guesses() {
    for rows in (1..=496).step_by(33) {
        assert_eq!(usable(rows, SHARED).free, rows, "one polynomial has no free slot");
    }
    for rows in (497..6128).step_by(131) {
        let free = usable(rows, SHARED).free;
        assert!(free <= rows + 44 + rows / 28, "{free} of {rows}");
    }
    // With as many known items as an agreement may have the band is taken from the first row on.
    assert_eq!(usable(1, 1024).free, 53);
}

#[test]
fn few_slots_are_free_where_a_polynomial_would_take_long() {
    // Sizes of the sender around 2^22 products.
    for (rows, most) in [(17, 127_084), (100, 36_141), (496, 8176)] {
        assert_eq!(usable_against(most, rows, SHARED).free, rows);
        let free = usable_against(most + 1, rows, SHARED).free;
        assert!(free > rows && free <= rows + 44 + rows / 28, "{free} of {rows}");
    }
    // Free slots would be several times the rows here.
    for rows in 1..=16 {
        assert_eq!(usable_against(1 << 28, rows, SHARED).free, rows);
    }
}

#[test]
fn the_guesses_in_the_documents_are_those_of_the_code() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security/guesses.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("| rows announced |").expect("the table of guesses");
    let (mut seen, mut wrong) = (0, Vec::new());
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace(',', "")).collect();
        let [rows, sender_rows, free, free_times, most, most_times] = &cells[..] else {
            panic!("{line}")
        };
        let [rows, sender_rows] = [rows, sender_rows].map(|cell| match cell.strip_prefix("2^") {
            Some(power) => 1u64 << power.parse::<u32>().unwrap(),
            None => cell.parse().unwrap(),
        });
        let found = usable_against(sender_rows, rows, SHARED);
        let times = |len: u64| format!("{:.2}", len as f64 / rows as f64);
        let expected =
            [found.free.to_string(), times(found.free), found.most.to_string(), times(found.most)];
        if [free, free_times, most, most_times] != expected.each_ref() {
            wrong.push((rows, sender_rows, expected));
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(seen >= 12, "{seen} lines");
}
