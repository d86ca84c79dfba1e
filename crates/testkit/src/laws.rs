//! What every protocol of an operation must satisfy, however it is built.

mod offers;
mod payloads;
mod places;
mod tampering;

pub(crate) use offers::factors;
pub use offers::what_is_not_offered_is_refused;
pub use payloads::payloads;
pub(crate) use payloads::{payload_len, payloads_of};
pub use places::{empty_places_hold_no_item, placing_that_fails_ends_both_parties};
pub use tampering::{deviations_are_caught_or_harmless, tampering_never_hangs_or_panics};

use crate::sets::{integers, items, overlapping, plain_intersection};
use crate::{Cases, Outcomes, Runner};
use std::sync::Arc;
use vesica_core::params::ceil_log2;
use vesica_core::{
    Bounds, EarlyReveal, Item, Learns, ParameterError, PsiParams, Query, Role, SessionId, Values,
};
use vesica_party::{Compared, Input, Operation, Output, Partitions, Protocol};

/// Runs `protocol` on `x` and `y`: digests, or where it takes none, integers of a small domain.
pub fn run_psi(
    protocol: &Protocol,
    runner: &Runner,
    learns: Learns,
    x: &[Item],
    y: &[Item],
) -> Outcomes {
    run_with_bits(protocol, runner, learns, law_bits(protocol), x, y)
}

/// [`run_psi`] for items of `bits` bits.
fn run_with_bits(
    protocol: &Protocol,
    runner: &Runner,
    learns: Learns,
    bits: u32,
    x: &[Item],
    y: &[Item],
) -> Outcomes {
    let session = SessionId::from_bytes([runner.seed; 32]);
    let params = PsiParams::new(session, x.len() as u64, y.len() as u64, learns)
        .and_then(|params| params.with_item_bits(bits))
        .expect("test sets are small");
    run_with(protocol, runner, params, x, y, None)
}

/// Runs `protocol` with any parameters; `value` is the value of an item, where values are summed.
fn run_with(
    protocol: &Protocol,
    runner: &Runner,
    params: PsiParams,
    x: &[Item],
    y: &[Item],
    value: Option<fn(&Item) -> u64>,
) -> Outcomes {
    let party = |role, items: &[Item]| {
        let set = Arc::new(items.to_vec());
        let input = match value.filter(|_| params.query().values_of(role).is_some()) {
            Some(value) => Input::with_values(set, Arc::new(items.iter().map(value).collect())),
            None => set.into(),
        };
        protocol.party(role, params, input).expect("the sizes agree")
    };
    let (sender, receiver) = (party(Role::Sender, x), party(Role::Receiver, y));
    runner.run(sender, receiver)
}

/// Length of the items that a law tries: digests, or where a protocol takes none, integers of a
/// domain that holds all test sets.
pub(crate) fn law_bits(protocol: &Protocol) -> u32 {
    match *protocol.item_bits.end() {
        Item::BITS => Item::BITS,
        most => most.min(13),
    }
}

/// [`items`] of the length that the protocol takes.
fn items_for(protocol: &Protocol, range: std::ops::Range<u64>) -> Vec<Item> {
    match law_bits(protocol) {
        Item::BITS => items(range),
        bits => integers(bits, range),
    }
}

/// [`overlapping`] of the length that the protocol takes.
pub(crate) fn overlapping_for(
    protocol: &Protocol,
    (n_x, n_y, common): (u64, u64, u64),
) -> (Vec<Item>, Vec<Item>) {
    if law_bits(protocol) == Item::BITS {
        return overlapping(n_x, n_y, common);
    }
    let x = items_for(protocol, 0..n_x);
    let mut y = items_for(protocol, 0..common);
    y.extend(items_for(protocol, n_x..n_x + n_y - common));
    y.sort_unstable();
    (x, y)
}

/// Who may learn the intersection, or the answer about it.
fn learners(protocol: &Protocol) -> &'static [Learns] {
    protocol.learners_of(Operation::Intersection)
}

/// (sender's size, receiver's size, common).
type Sizes = (u64, u64, u64);

/// Sizes by their kind: empty, one, disjoint or equal, one against many, and around the block edge
/// `block` at the sender, the receiver, and both.
fn sizes(block: u64) -> [Vec<Sizes>; 7] {
    let edges = [block - 1, block, block + 1, 2 * block + 1];
    [
        vec![(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 50, 0), (50, 0, 0)],
        vec![(1, 1, 0), (1, 1, 1)],
        vec![(40, 60, 0), (64, 64, 64)],
        vec![(1, 300, 1), (300, 1, 0), (300, 1, 1), (7, 300, 5)],
        edges.map(|n| (n, 3, 2)).to_vec(),
        edges.map(|n| (3, n, 2)).to_vec(),
        vec![(block + 1, block + 1, block / 2)],
    ]
}

/// The sizes and learners of [`psi`]. [`Cases::Each`] is one size of each kind, a different one for
/// different rows, and one that takes little time where there is one;
/// [`Cases::Pairs`] is every size, and each kind with each of the learners.
fn psi_cases(protocol: &Protocol, block: u64, cases: Cases) -> Vec<(Sizes, Learns)> {
    let (kinds, learners) = (sizes(block), learners(protocol));
    if cases == Cases::Each {
        let other: usize = protocol.id.bytes().map(usize::from).sum();
        let turns = cases.of([kinds.len(), learners.len()]).into_iter();
        return turns
            .map(|[kind, learns]| {
                let learns = learners[(learns + other) % learners.len()];
                let sizes = affordable_sizes(protocol, &kinds[kind]);
                (sizes[(kind + other) % sizes.len()], learns)
            })
            .collect();
    }
    let within = if cases == Cases::All { Cases::All } else { Cases::Each };
    let of_kind = |kind: &Vec<Sizes>| {
        let turns = within.of([kind.len(), learners.len()]).into_iter();
        turns.map(|[size, learns]| (kind[size], learners[learns])).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(of_kind).collect()
}

/// The PSI law: the receiver gets exactly the positions of its common items; the sender gets
/// nothing, or with [`Learns::Both`] the same for its own list; and the payload bytes each way
/// are those of the catalogue's formula.
pub fn psi(protocol: &Protocol, block: u64, cases: Cases) {
    for ((n_x, n_y, common), learns) in psi_cases(protocol, block, cases) {
        let (x, y) = overlapping_for(protocol, (n_x, n_y, common));
        let run = run_psi(protocol, &Runner::default(), learns, &x, &y);
        let case = format!("{} n_x={n_x} n_y={n_y} common={common} {learns:?}", protocol.id);

        let expected = Output::Positions(plain_intersection(&y, &x));
        assert_eq!(run.receiver.output, Ok(expected), "receiver, {case}");
        let expected = match learns {
            Learns::Receiver => Output::Nothing,
            Learns::Both => Output::Positions(plain_intersection(&x, &y)),
        };
        assert_eq!(run.sender.output, Ok(expected), "sender, {case}");

        let session = SessionId::from_bytes([0; 32]);
        let params = PsiParams::new(session, n_x, n_y, learns)
            .and_then(|params| params.with_item_bits(law_bits(protocol)))
            .expect("test sets are small");
        let formula = (protocol.bytes)(&params);
        let [sent, received] = [run.sender_bytes(), run.receiver_bytes()];
        let may_depend = protocol.bytes_depend_on_result && learns == Learns::Both;
        if may_depend && common > 0 {
            assert!(sent <= formula.sender_to_receiver, "sender bytes, {case}");
            assert!(received <= formula.receiver_to_sender, "receiver bytes, {case}");
        } else {
            assert_eq!(sent, formula.sender_to_receiver, "sender bytes, {case}");
            assert_eq!(received, formula.receiver_to_sender, "receiver bytes, {case}");
        }
        flights_are_those_of_the_row(protocol, &params, &run, true, &case);
    }
}

/// Runs of the partitions that the law of partitions takes a run out of.
pub(crate) const RUNS: u64 = 4096;

/// The PSI law in a run that is one of 4,096, the most for one result, for sets of very different
/// sizes, and of those of partitions of a thousand items. No message is shorter than in a run
/// alone, and what is compared is long enough for all pairs of items in all runs. Larger sets have
/// each of the learners with [`Cases::All`], and one of them otherwise.
pub fn psi_of_a_partition(protocol: &Protocol, cases: Cases) {
    assert_eq!(protocol.partitions, Partitions::Sets, "{}", protocol.id);
    let sizes = [(0, 0, 0), (0, 1, 0), (2, 0, 0), (1, 1, 1), (1, 2, 0), (2, 1, 1), (2, 2, 2)];
    let smallest = [(1286, 1286, 700), (838, 655, 300), (655, 838, 300)];
    let unequal = [(100, 100, 33), (1, 5000, 1), (5000, 2, 1), (100, 5000, 60), (5000, 100, 0)];
    let all = sizes.into_iter().chain(smallest).chain(unequal).chain([(5000, 5000, 4999)]);
    let learners = learners(protocol);
    for (turn, (n_x, n_y, common)) in all.enumerate() {
        let (x, y) = overlapping(n_x, n_y, common);
        let is_small = n_x.max(n_y) < 10;
        let tried = match cases {
            Cases::All => learners,
            _ if is_small => learners,
            _ => &learners[turn % learners.len()..][..1],
        };
        for learns in tried.iter().copied() {
            let alone = PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, learns)
                .expect("test sets are small");
            let params = alone.with_runs(RUNS).expect("not too many runs");
            let run = run_with(protocol, &Runner::default(), params, &x, &y, None);
            let case = format!("{} n_x={n_x} n_y={n_y} common={common} {learns:?}", protocol.id);
            let expected = Output::Positions(plain_intersection(&y, &x));
            assert_eq!(run.receiver.output, Ok(expected), "receiver, {case}");
            let expected = match learns {
                Learns::Receiver => Output::Nothing,
                Learns::Both => Output::Positions(plain_intersection(&x, &y)),
            };
            assert_eq!(run.sender.output, Ok(expected), "sender, {case}");
            let formula = (protocol.bytes)(&params);
            assert_eq!(run.sender_bytes(), formula.sender_to_receiver, "sender bytes, {case}");
            assert_eq!(run.receiver_bytes(), formula.receiver_to_sender, "receiver bytes, {case}");
            flights_are_those_of_the_row(protocol, &params, &run, true, &case);
            let of_alone = (protocol.bytes)(&alone);
            assert!(formula.sender_to_receiver >= of_alone.sender_to_receiver, "{case}");
            assert!(formula.receiver_to_sender >= of_alone.receiver_to_sender, "{case}");
            if !params.has_empty_set() {
                let compared = (protocol.compared)(&params);
                // In a garbled Bloom filter each of the receiver's items is compared once.
                let is_once = compared.name == Compared::strings(0).name;
                let pairs = if is_once { 0 } else { ceil_log2(n_x) } + ceil_log2(n_y);
                assert_eq!(params.statistical_bits(), 52);
                assert!(compared.bits >= params.statistical_bits() + pairs, "{case}");
            }
        }
    }
}

/// The flights of a run are those of the row: exactly, or between its least and its most where they
/// depend on the result. Outside the bounds a run ends earlier.
pub(crate) fn flights_are_those_of_the_row(
    protocol: &Protocol,
    params: &PsiParams,
    run: &Outcomes,
    is_inside: bool,
    case: &str,
) {
    let (found, range) = (run.flights(), protocol.flights_range(params));
    assert!(range.start() <= range.end(), "no flights in {range:?}, {case}");
    match (is_inside, protocol.least_flights) {
        (true, None) => assert_eq!(found, *range.end(), "flights, {case}"),
        (true, Some(_)) => assert!(range.contains(&found), "{found} of {range:?} flights, {case}"),
        (false, _) => assert!(found <= *range.end(), "{found} of {range:?} flights, {case}"),
    }
}

/// Sizes at which parts of protocols start to take more messages: a block, a window, a second
/// extension.
const GROWING: [Sizes; 6] = [
    (1, 1, 0),
    (60, 700, 30),
    (700, 60, 30),
    (1500, 1500, 750),
    (4096, 3000, 1500),
    (13_000, 13_000, 6500),
];

/// [`GROWING`] without what `protocol` has no room for, or takes long for by its own estimate.
pub(crate) fn growing(protocol: &Protocol) -> impl Iterator<Item = Sizes> {
    GROWING.into_iter().filter(|(n_x, n_y, _)| {
        let bits = law_bits(protocol);
        // All items differ, and zero may be none.
        let has_room = bits >= 64 || n_x + n_y < 1 << bits;
        let takes_long = || {
            let session = SessionId::from_bytes([0; 32]);
            let params = PsiParams::new(session, *n_x, *n_y, Learns::Receiver)
                .and_then(|params| params.with_item_bits(bits))
                .expect("test sets are small");
            cost(protocol, &params) > 4.0 * AFFORDABLE_SECONDS
        };
        has_room && (*n_x.max(n_y) <= 700 || !takes_long())
    })
}

/// A run has the flights that the row gives, for small and larger sets and the learners that
/// `cases` tries with them.
pub fn flights_follow_the_sizes(protocol: &Protocol, cases: Cases) {
    let bits = law_bits(protocol);
    let (sizes, learners) = (growing(protocol).collect::<Vec<_>>(), learners(protocol));
    for [size, learns] in cases.of([sizes.len(), learners.len()]) {
        let ((n_x, n_y, common), learns) = (sizes[size], learners[learns]);
        let (x, y) = overlapping_for(protocol, (n_x, n_y, common));
        let run = run_with_bits(protocol, &Runner::default(), learns, bits, &x, &y);
        let params = PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, learns)
            .and_then(|params| params.with_item_bits(bits))
            .expect("test sets are small");
        let case = format!("{} n_x={n_x} n_y={n_y} {learns:?}", protocol.id);
        flights_are_those_of_the_row(protocol, &params, &run, true, &case);
    }
}

/// Law for protocols that take items of a small domain: the result is exact and the bytes are those
/// of the formula, for items of every length, up to sets that fill the whole domain; and longer
/// items are refused.
pub fn psi_of_integers(protocol: &Protocol, cases: Cases) {
    let takes = |bits: &u32| protocol.item_bits.contains(bits);
    let lengths: Vec<u32> = [1, 7, 10, 16, 32, 40, 64, 101].into_iter().filter(takes).collect();
    // Sizes of both sets, and the receiver's first item.
    let sizes = |all: u128| {
        [(all, all, 0), (all, all / 2, 0), (all / 2, all, all / 4), (1, all, 0), (all, 1, 0)]
    };
    let learners = learners(protocol);
    let tried = cases.of([lengths.len(), sizes(0).len(), learners.len()]);
    for (length, bits) in lengths.into_iter().enumerate() {
        let reserved = u128::from(protocol.reserves_zero);
        let fits = |log: &u32| estimate(protocol, 1 << log, bits) <= AFFORDABLE_SECONDS;
        let log = (1..=bits.min(10)).rev().find(fits).unwrap_or(1);
        let all = (1_u128 << log) - reserved;
        // Spread over the domain: the low bits of an odd multiple take every value.
        let spread = |i: u128| (i + reserved).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let item = |i: u128| Item::from_integer(spread(i % all) % (1 << bits));
        for (size, (n_x, n_y, first_y)) in sizes(all).into_iter().enumerate() {
            let x: Vec<Item> = (0..n_x).map(item).collect();
            let y: Vec<Item> = (first_y..first_y + n_y).map(item).collect();
            let tried = |turn: &usize| tried.contains(&[length, size, *turn]);
            for learns in (0..learners.len()).filter(tried).map(|turn| learners[turn]) {
                let run = run_with_bits(protocol, &Runner::default(), learns, bits, &x, &y);
                let case = format!("{} {bits} bits, {n_x} and {n_y}, {learns:?}", protocol.id);
                let expected = Output::Positions(plain_intersection(&y, &x));
                assert_eq!(run.receiver.output, Ok(expected), "receiver, {case}");
                if learns == Learns::Both {
                    let expected = Output::Positions(plain_intersection(&x, &y));
                    assert_eq!(run.sender.output, Ok(expected), "sender, {case}");
                }
                let params =
                    PsiParams::new(SessionId::from_bytes([0; 32]), n_x as u64, n_y as u64, learns)
                        .and_then(|params| params.with_item_bits(bits))
                        .expect("test sets are small");
                let formula = (protocol.bytes)(&params);
                flights_are_those_of_the_row(protocol, &params, &run, true, &case);
                if !protocol.bytes_depend_on_result {
                    assert_eq!(run.sender_bytes(), formula.sender_to_receiver, "bytes, {case}");
                    assert_eq!(run.receiver_bytes(), formula.receiver_to_sender, "bytes, {case}");
                }
            }
        }
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), 1, 1, Learns::Receiver)
            .and_then(|params| params.with_item_bits(bits))
            .expect("test sets are small");
        let too_long = Arc::new(vec![Item::from_integer(1 << bits)]);
        for role in [Role::Sender, Role::Receiver] {
            let refused = protocol.party(role, params, Arc::clone(&too_long)).err();
            assert_eq!(refused, Some(ParameterError::ItemTooLong { bits }.into()));
        }
    }
}

/// Estimated seconds that one of many runs may take.
const AFFORDABLE_SECONDS: f64 = 0.25;

/// Least size that [`affordable`] gives.
const LEAST_LEN: u64 = 20;

/// What a run of two sets of `n` items takes by the row's own estimate.
fn estimate(protocol: &Protocol, n: u64, bits: u32) -> f64 {
    let session = SessionId::from_bytes([0; 32]);
    let params = PsiParams::new(session, n, n, Learns::Receiver)
        .and_then(|params| params.with_item_bits(bits))
        .expect("test sets are small");
    cost(protocol, &params)
}

/// The row's own estimate, on a slow network too.
pub(crate) fn cost(protocol: &Protocol, params: &PsiParams) -> f64 {
    const BYTES_PER_SECOND: f64 = 3.0e7;
    (protocol.seconds)(params) + (protocol.bytes)(params).total() as f64 / BYTES_PER_SECOND
}

/// [`cost`] of a run that compares sets of these sizes.
fn cost_of(protocol: &Protocol, (n_x, n_y): (u64, u64)) -> f64 {
    let session = SessionId::from_bytes([0; 32]);
    let params = PsiParams::new(session, n_x, n_y, Learns::Receiver)
        .and_then(|params| params.with_item_bits(law_bits(protocol)));
    cost(protocol, &params.expect("test sets are small"))
}

/// Those of `sizes` with which a run takes little time by its own estimate, or else the one that
/// takes the least.
fn affordable_sizes(protocol: &Protocol, sizes: &[Sizes]) -> Vec<Sizes> {
    let seconds = |&(n_x, n_y, _): &Sizes| cost_of(protocol, (n_x, n_y));
    let quick: Vec<_> =
        sizes.iter().copied().filter(|sizes| seconds(sizes) <= AFFORDABLE_SECONDS).collect();
    if quick.is_empty() {
        let least = sizes.iter().copied().min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        return least.into_iter().collect();
    }
    quick
}

/// The sets of [`overlapping`], halved until a run of `protocol` takes little time by its own
/// estimate: where each item costs an exponentiation of some milliseconds, a law is as true of
/// fewer.
fn affordable(
    protocol: &Protocol,
    (mut n_x, mut n_y, mut common): (u64, u64, u64),
) -> (Vec<Item>, Vec<Item>) {
    while n_x.min(n_y) / 2 >= LEAST_LEN && cost_of(protocol, (n_x, n_y)) > AFFORDABLE_SECONDS {
        (n_x, n_y, common) = (n_x / 2, n_y / 2, common / 2);
    }
    overlapping_for(protocol, (n_x, n_y, common))
}

/// More CPU threads and another network change nothing about the result, for either learner.
pub fn psi_is_the_same_everywhere(protocol: &Protocol, cases: Cases) {
    const THREADS: [usize; 2] = [1, 3];
    const SHAPES: [vesica_net::Shape; 3] =
        [vesica_net::Shape::LAN, vesica_net::Shape::GIGABIT, vesica_net::Shape::WAN];
    const SIZES: [Sizes; 2] = [(120, 90, 40), (5000, 3000, 1234)];
    let learners = learners(protocol);
    let levels = [THREADS.len(), SHAPES.len(), learners.len(), SIZES.len()];
    for [threads, shape, learns, sizes] in cases.of(levels) {
        let (threads, shape, learns) = (THREADS[threads], SHAPES[shape], learners[learns]);
        let (x, y) = affordable(protocol, SIZES[sizes]);
        let runner = Runner { threads, shape, ..Runner::default() };
        let session = SessionId::from_bytes([runner.seed; 32]);
        let params = PsiParams::new(session, x.len() as u64, y.len() as u64, learns)
            .and_then(|params| params.with_item_bits(law_bits(protocol)))
            .expect("test sets are small");
        // As parties with a connection run.
        let params = params.with_early_reveal(EarlyReveal::Paced);
        let run = run_with(protocol, &runner, params, &x, &y, None);
        let case = format!("{}, {threads} threads, {shape:?}, {learns:?}", protocol.id);
        let expected = Output::Positions(plain_intersection(&y, &x));
        assert_eq!(run.receiver.output, Ok(expected), "{case}");
        let expected = match learns {
            Learns::Receiver => Output::Nothing,
            Learns::Both => Output::Positions(plain_intersection(&x, &y)),
        };
        assert_eq!(run.sender.output, Ok(expected), "{case}");
    }
}

/// Bytes, messages and flights depend on the public sizes alone: other data and other overlaps of
/// the same sizes look the same on the wire.
pub fn traffic_depends_only_on_sizes(protocol: &Protocol, cases: Cases) {
    // Two other data of the same sizes.
    let learners = learners(protocol);
    let tried = cases.of([learners.len(), 2]);
    for (turn, learns) in learners.iter().copied().enumerate() {
        if protocol.bytes_depend_on_result && learns == Learns::Both {
            continue;
        }
        let shape_of = |x: &[Item], y: &[Item], seed| {
            let runner = Runner { seed, ..Runner::default() };
            let run = run_psi(protocol, &runner, learns, x, y);
            assert!(run.receiver.output.is_ok());
            let rows = run.sender.meter.report();
            rows.into_iter()
                .map(|row| (row.label, row.bytes_sent, row.bytes_received, row.messages_sent))
                .collect::<Vec<_>>()
        };
        let (x, y) = affordable(protocol, (700, 900, 0));
        let disjoint = shape_of(&x, &y, 1);
        let (n_x, n_y) = (x.len() as u64, y.len() as u64);
        if tried.contains(&[turn, 0]) {
            let (x, y) = overlapping_for(protocol, (n_x, n_y, n_x.min(n_y)));
            assert_eq!(shape_of(&x, &y, 2), disjoint);
        }
        if tried.contains(&[turn, 1]) {
            let other = |first: u64, len| items_for(protocol, first..first + len);
            let (x, y) = (other(5000, n_x), other(5000 + n_x / 2, n_y));
            assert_eq!(shape_of(&x, &y, 3), disjoint);
        }
    }
}

/// The value of an item, where values are summed: below 2^20.
fn value(item: &Item) -> u64 {
    (item.integer() % 1_000_003) as u64
}

/// Law for protocols that answer other queries than the intersection, and audit: each party learns
/// the plain answer or nothing, outside the bounds both learn that and nothing else, and the bytes
/// are those of the formula.
pub fn queries(protocol: &Protocol, cases: Cases) {
    const SIZES: [Sizes; 6] =
        [(0, 7, 0), (1, 1, 1), (9, 5, 0), (40, 33, 5), (33, 40, 10), (150, 3, 3)];
    let bounds = |min, max| Bounds::new(min, max).expect("they do not contradict");
    let mut bounds_of = vec![Bounds::NONE];
    if protocol.bounds.are_kept() {
        bounds_of.extend([
            bounds(Some(0), Some(0)),
            bounds(Some(5), None),
            bounds(None, Some(5)),
            bounds(Some(3), Some(9)),
            bounds(Some(10), Some(1 << 40)),
            bounds(Some(1 << 40), None),
        ]);
    }
    let sum = |holder| Query::Sum(Values::new(holder, 20).expect("values have 20 bits"));
    let threshold = |min| Query::Threshold { min };
    let all = [
        Query::Intersection,
        Query::Cardinality,
        threshold(0),
        threshold(5),
        threshold(1 << 33),
        sum(Role::Sender),
        sum(Role::Receiver),
    ];
    let offered = |query: &Query| protocol.operations.contains(&query.operation());
    let queries: Vec<Query> = all.into_iter().filter(offered).collect();
    let learners = learners(protocol);
    let tried: Vec<[usize; 4]> = if cases == Cases::Each {
        // Each query with each of the learners.
        let all = learners.len();
        let turns = cases.of([all * queries.len(), bounds_of.len(), SIZES.len()]).into_iter();
        turns.map(|[turn, bounds, sizes]| [turn / all, bounds, turn % all, sizes]).collect()
    } else {
        cases.of([queries.len(), bounds_of.len(), learners.len(), SIZES.len()])
    };
    for [query, bounds, learns, sizes] in tried {
        one_query(protocol, queries[query], bounds_of[bounds], learners[learns], SIZES[sizes]);
    }
}

fn one_query(
    protocol: &Protocol,
    query: Query,
    bounds: Bounds,
    learns: Learns,
    (n_x, n_y, common): Sizes,
) {
    let (x, y) = overlapping_for(protocol, (n_x, n_y, common));
    let params = PsiParams::new(SessionId::from_bytes([3; 32]), n_x, n_y, learns)
        .and_then(|params| params.with_item_bits(law_bits(protocol)))
        .expect("test sets are small")
        .with_query(query)
        .with_bounds(bounds);
    let case = format!("{} {query:?} {bounds:?} {learns:?} {common} of {n_x}, {n_y}", protocol.id);
    let run = run_with(protocol, &Runner::default(), params, &x, &y, Some(value));
    let plain = |own: &[Item], other: &[Item]| {
        let positions = plain_intersection(own, other);
        match query {
            Query::Cardinality => Output::Cardinality(common),
            Query::Threshold { min } => Output::AtLeast(common >= min),
            Query::Sum(_) => {
                Output::Sum(positions.iter().map(|i| u128::from(value(&own[*i]))).sum())
            }
            _ => Output::Positions(positions),
        }
    };
    let is_inside = bounds.contain(common);
    let expected = |output: Output, is_told: bool| match (is_inside, is_told) {
        (false, _) => Output::OutsideBounds,
        (true, true) => output,
        (true, false) => Output::Nothing,
    };
    assert_eq!(run.receiver.output, Ok(expected(plain(&y, &x), true)), "receiver, {case}");
    let told = learns == Learns::Both;
    assert_eq!(run.sender.output, Ok(expected(plain(&x, &y), told)), "sender, {case}");
    flights_are_those_of_the_row(protocol, &params, &run, is_inside, &case);
    let formula = (protocol.bytes)(&params);
    let bytes = (run.sender_bytes(), run.receiver_bytes());
    let most = (formula.sender_to_receiver, formula.receiver_to_sender);
    let may_depend = protocol.bytes_depend_on_result && learns == Learns::Both;
    if is_inside && !(may_depend && common > 0) {
        assert_eq!(bytes, most, "{case}");
    } else {
        assert!(bytes.0 <= most.0 && bytes.1 <= most.1, "{case}");
    }
}
