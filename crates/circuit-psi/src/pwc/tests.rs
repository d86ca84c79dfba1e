//! The early reveal: what it shows, what it saves, and that it does not wait for the network.

use super::{GMW_ROW, Pwc, ROW};
use crate::computed::spy::{assert_are_uniform, context, runs, shown};
use crate::computed::{Circuit, Engine, Gmw, Yao};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{EarlyReveal, Item, Learns, PsiParams, Role, SessionId};
use vesica_net::{Shape, memory};
use vesica_ot::Bits;
use vesica_party::{Output, Protocol};

/// The early reveal shows both parties which row matches which column, of lists in an order that
/// each drew itself: it reveals nothing of the places of items in the other party's file.
#[test]
fn the_early_reveal_shows_places_of_lists_that_both_have_shuffled() {
    let n = 24;
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Both)
        .and_then(|params| params.with_item_bits(32))
        .unwrap();
    let set: Vec<Item> = (1..=u128::from(n)).map(Item::from_integer).collect();
    let shown = |seeds| -> Vec<Vec<bool>> {
        let shown = shown::<Pwc>(&params, [&set, &set], seeds);
        shown.iter().map(|bits| bits.iter().collect()).collect()
    };
    let first = shown([1, 100]);
    assert!(first.iter().flatten().filter(|is_match| **is_match).count() == n as usize);
    assert!(first == shown([1, 100]), "nothing else makes the places");
    for seeds in [[2, 100], [3, 100], [1, 101], [1, 102]] {
        assert!(first != shown(seeds), "{seeds:?}");
    }
}

/// Of three common items: the row of each, and the column of each. On shares no places are
/// revealed.
#[test]
fn the_early_reveal_shows_any_places_equally_often() {
    const ITEMS: usize = 3;
    let n = ITEMS as u64;
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Both)
        .and_then(|params| params.with_item_bits(4))
        .unwrap();
    let set: Vec<Item> = (1..=u128::from(n)).map(Item::from_integer).collect();
    let seeds = [rand::random(), rand::random()];
    let places = runs::<Pwc, Yao, 1000>(&params, [&set, &set], seeds).into_iter().map(|run| {
        let [rows, columns] =
            [&run.sender, &run.receiver].map(|of| &of.own.as_ref().unwrap().order);
        let e: Vec<bool> = run.shown.iter().flat_map(Bits::iter).collect();
        assert_eq!(e.len(), ITEMS * ITEMS, "all are compared at once");
        let mut places = [[None; 2]; ITEMS];
        for (lane, _) in e.iter().enumerate().filter(|(_, is_match)| **is_match) {
            let pair = [lane / ITEMS, lane % ITEMS];
            assert_eq!(rows[pair[0]], columns[pair[1]], "equal items match");
            places[rows[pair[0]] as usize] = pair.map(Some);
        }
        assert!(places.iter().flatten().all(Option::is_some), "{places:?}");
        places
    });
    // Each party draws one of six orders, independently of the other.
    assert_are_uniform(places, 6 * 6);
}

/// What was seen of a run of two sets of `n` items of 32 bits, the first `common` of which are in
/// both.
struct Seen {
    time: Duration,
    /// Of the sender and of the receiver.
    sent: [u64; 2],
    /// The fewer changes of direction.
    flights: u64,
}

fn params(n: u64, learns: Learns, early_reveal: EarlyReveal) -> PsiParams {
    PsiParams::new(SessionId::from_bytes([1; 32]), n, n, learns)
        .and_then(|params| params.with_item_bits(32))
        .unwrap()
        .with_early_reveal(early_reveal)
}

/// Runs `protocol` over a network of `shape`. The parties give the right answer.
fn run(protocol: &Protocol, params: &PsiParams, common: u64, shape: Shape) -> Seen {
    let n = params.sender_len() as u64;
    let item = |i: u64| Item::from_integer(u128::from(i) * 0x9e37 + 1);
    let x: Vec<Item> = (0..n).map(item).collect();
    let y: Vec<Item> = (0..common).chain(n..2 * n - common).map(item).collect();
    let (one, two) = memory::pair_with(shape, Duration::from_secs(60));
    let end = |role: Role, items: Vec<Item>, streams| {
        let party = protocol.party(role, *params, Arc::new(items)).unwrap();
        let mut ctx = context(role.other().unwrap(), streams, [role as u8 + 1; 32]);
        let output = party.run(&mut ctx).unwrap();
        ctx.finish().unwrap();
        let expected = match (role, params.learns()) {
            (Role::Sender, Learns::Receiver) => Output::Nothing,
            _ => Output::Positions((0..common as usize).collect()),
        };
        assert_eq!(output, expected, "{role:?} of {}, {params:?}", protocol.id);
        (ctx.meter().bytes_under("").0, ctx.direction_changes())
    };
    let start = Instant::now();
    let [sender, receiver] = std::thread::scope(|scope| {
        let sending = scope.spawn(|| end(Role::Sender, x, one));
        let receiver = end(Role::Receiver, y, two);
        [sending.join().unwrap(), receiver]
    });
    let flights = sender.1.min(receiver.1);
    Seen { time: start.elapsed(), sent: [sender.0, receiver.0], flights }
}

/// In step a tile waits for the matches of the last but one: some 60 round trips of 40 ms. A party
/// that sends as many as the network holds waits for few, and takes no longer than one that
/// compares all pairs and reveals at the end.
#[test]
fn early_reveal_keeps_a_slow_network_busy() {
    let one_way_delay = Duration::from_millis(20);
    let shape = Shape { bits_per_second: Some(200_000_000), one_way_delay };
    let timed = |learns, early_reveal, common| {
        run(&ROW, &params(64, learns, early_reveal), common, shape).time
    };
    let in_step = timed(Learns::Both, EarlyReveal::InStep, 0);
    assert!(in_step > 100 * one_way_delay, "{in_step:?}");
    for learns in [Learns::Receiver, Learns::Both] {
        for common in [0, 32] {
            // A busy machine can make a run slow, but not each time.
            let mut pairs = (0..5).map(|_| {
                let at_the_end = timed(learns, EarlyReveal::Never, common);
                (timed(learns, EarlyReveal::Paced, common), at_the_end)
            });
            let is_fast = |(paced, at_the_end)| paced * 3 < in_step && paced * 4 < at_the_end * 5;
            assert!(pairs.any(is_fast), "{learns:?}, {common}: {in_step:?}");
        }
    }
}

#[test]
fn a_paced_early_reveal_saves_comparisons_and_stays_below_the_formula() {
    let n = 200;
    let params = params(n, Learns::Both, EarlyReveal::Paced);
    let formula = (ROW.bytes)(&params);
    let formula = [formula.sender_to_receiver, formula.receiver_to_sender];
    let of = |common| {
        let seen = run(&ROW, &params, common, Shape::LOOPBACK);
        assert!(ROW.flights_range(&params).contains(&seen.flights), "{} flights", seen.flights);
        seen.sent
    };
    assert_eq!(of(0), formula);
    // ((2n − n̂)² + n̂)/4 comparisons of n², and some that were on their way: on a busy machine at
    // times many.
    for (common, share) in [(n, 0.25), (n / 2, 0.5625)] {
        let mut found = (0..10).map(|_| {
            let [sender, receiver] = of(common);
            let found = sender as f64 / formula[0] as f64;
            assert!(receiver <= formula[1] && (share - 0.02..=1.0).contains(&found), "{found}");
            found
        });
        assert!(found.any(|found| found < 0.9), "{common} common");
    }
}

#[test]
fn without_an_early_reveal_the_traffic_does_not_depend_on_the_matches() {
    // On shares there is none.
    for (protocol, early_reveal) in [
        (&ROW, EarlyReveal::Never),
        (&GMW_ROW, EarlyReveal::InStep),
        (&GMW_ROW, EarlyReveal::Paced),
    ] {
        for n in [5, 40, 100] {
            let params = params(n, Learns::Both, early_reveal);
            let formula = (protocol.bytes)(&params);
            for common in [0, n / 2, n] {
                let seen = run(protocol, &params, common, Shape::LOOPBACK);
                let formula = [formula.sender_to_receiver, formula.receiver_to_sender];
                assert_eq!(seen.sent, formula, "{}, {n}", protocol.id);
                assert_eq!(seen.flights, (protocol.flights)(&params), "{}, {n}", protocol.id);
            }
        }
    }
}

/// What the catalogue says of a run is counted block by block; equal blocks are counted once.
#[test]
fn a_count_of_all_comparisons_takes_a_few_steps_at_any_sizes() {
    fn counted<E: Engine>(n_x: u64, n_y: u64) {
        let session = SessionId::from_bytes([1; 32]);
        let params = PsiParams::new(session, n_x, n_y, Learns::Receiver)
            .and_then(|params| params.with_item_bits(32))
            .unwrap();
        let mut counting = E::counting();
        Pwc::public(&params).evaluate(&mut counting).unwrap();
        assert!(counting.steps() <= 64, "{} steps for {n_x} and {n_y}", counting.steps());
        assert_eq!(counting.count().ands, 31 * n_x * n_y, "{n_x} and {n_y}");
    }
    for (n_x, n_y) in [(1, 1), (3, 5000), (5000, 3), (1 << 14, 1 << 14), (1 << 16, 1 << 16)] {
        counted::<Yao>(n_x, n_y);
        counted::<Gmw>(n_x, n_y);
    }
}
