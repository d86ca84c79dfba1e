//! Runs in parts: every part ends with addends, and one opening gives the answer of the whole.

use std::sync::Arc;
use vesica_core::{
    Bounds, Error, Item, Learns, ParameterError, PsiParams, Query, Role, SessionId, Values,
};
use vesica_protocols::{Addends, Input, Output, Protocol, catalogue, find};
use vesica_testkit::sets::{items, overlapping};
use vesica_testkit::tamper::Change;
use vesica_testkit::{Outcomes, Runner};

const LEARNS: [Learns; 2] = [Learns::Receiver, Learns::Both];

/// Both parties' sets of each part, and how many items of each are common.
type Parts = Vec<([Vec<Item>; 2], u64)>;

/// The rows that run in parts.
fn rows() -> impl Iterator<Item = &'static Protocol> {
    let rows = catalogue().iter().filter(|row| row.addends.is_some());
    assert!(rows.clone().any(|row| row.id == "psty19"));
    rows
}

/// `len` parts of sets of different sizes; some have nothing in common.
fn parts(len: u64) -> Parts {
    let part = |i: u64| {
        let (n_x, n_y, common) = (3 + i % 11, 14 - i % 9, i % 4);
        let first = 100 * i;
        let x = items(first..first + n_x);
        let y = items(first + n_x - common..first + n_x - common + n_y);
        ([x, y], common)
    };
    (0..len).map(part).collect()
}

fn session(i: u64) -> SessionId {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&i.to_le_bytes());
    SessionId::from_bytes(bytes)
}

fn params(session_of: u64, [n_x, n_y]: [usize; 2], query: Query, learns: Learns) -> PsiParams {
    let params = PsiParams::new(session(session_of), n_x as u64, n_y as u64, learns).unwrap();
    params.with_query(query)
}

/// The parameters of the whole run.
fn whole(parts: &Parts, query: Query, learns: Learns) -> PsiParams {
    let len = |party: usize| parts.iter().map(|(sets, _)| sets[party].len()).sum();
    params(u64::MAX, [len(0), len(1)], query, learns)
}

/// An item's value: the largest of the query for some.
fn value(item: &Item, of: Values) -> u64 {
    let most = u64::MAX >> (64 - of.bits());
    if item.integer().is_multiple_of(3) { most } else { item.integer() as u64 & most }
}

fn input(set: &[Item], params: &PsiParams, role: Role) -> Input {
    let items = Arc::new(set.to_vec());
    match params.query().values_of(role) {
        Some(of) => Input::with_values(items, Arc::new(set.iter().map(|x| value(x, of)).collect())),
        None => items.into(),
    }
}

/// Both parties' addends of part `i`; the traffic is as in the row.
fn addends_of_part(row: &Protocol, i: u64, sets: &[Vec<Item>; 2], of: &PsiParams) -> [Addends; 2] {
    let lens = [sets[0].len(), sets[1].len()];
    let params = params(i, lens, of.query(), of.learns()).with_bounds(of.bounds());
    let [sender, receiver] = [(Role::Sender, 0), (Role::Receiver, 1)]
        .map(|(role, party)| row.part(role, params, input(&sets[party], &params, role)).unwrap());
    let run = Runner { seed: i as u8, ..Runner::default() }.run(sender, receiver);
    let runs = row.addends.unwrap();
    let bytes = (runs.part_bytes)(&params);
    let case = || format!("{} {params:?}", row.id);
    assert_eq!(run.sender_bytes(), bytes.sender_to_receiver, "{}", case());
    assert_eq!(run.receiver_bytes(), bytes.receiver_to_sender, "{}", case());
    assert_eq!(run.flights(), (runs.part_flights)(&params), "{}", case());
    [run.sender.output, run.receiver.output].map(|output| output.unwrap().into_addends().unwrap())
}

/// Both parties' addends of each part.
fn addends(row: &Protocol, parts: &Parts, of: &PsiParams) -> Vec<[Addends; 2]> {
    let part = |(i, (sets, _)): (u64, &([Vec<Item>; 2], u64))| addends_of_part(row, i, sets, of);
    (0..).zip(parts).map(part).collect()
}

/// Both parties' sums of their addends.
fn added(params: &PsiParams, addends: &[[Addends; 2]]) -> [Addends; 2] {
    [0, 1].map(|party| {
        let mut sum = Addends::zeros(params);
        addends.iter().for_each(|part| sum.add(&part[party]).unwrap());
        sum
    })
}

fn open(row: &Protocol, params: PsiParams, own: &[Addends; 2], runner: &Runner) -> Outcomes {
    let [sender, receiver] = [(Role::Sender, &own[0]), (Role::Receiver, &own[1])]
        .map(|(role, own)| row.opening(role, params, own.clone()).unwrap());
    runner.run(sender, receiver)
}

/// What the opening gives both parties; its traffic is as in the row.
fn opened(row: &Protocol, params: PsiParams, own: &[Addends; 2]) -> [Output; 2] {
    let run = open(row, params, own, &Runner::default());
    let runs = row.addends.unwrap();
    let case = || format!("{} {params:?}", row.id);
    let outputs = [run.sender.output.as_ref(), run.receiver.output.as_ref()];
    let outputs = outputs.map(|output| output.unwrap().clone());
    if outputs[0] != Output::OutsideBounds {
        let bytes = (runs.opening_bytes)(&params);
        assert_eq!(run.sender_bytes(), bytes.sender_to_receiver, "{}", case());
        assert_eq!(run.receiver_bytes(), bytes.receiver_to_sender, "{}", case());
        assert_eq!(run.flights(), (runs.opening_flights)(&params), "{}", case());
    }
    outputs
}

/// The answer about the whole sets, without a protocol.
fn answer(parts: &Parts, params: &PsiParams) -> Output {
    let count = parts.iter().map(|(_, common)| common).sum();
    if !params.bounds().contain(count) {
        return Output::OutsideBounds;
    }
    match params.query() {
        Query::Cardinality => Output::Cardinality(count),
        Query::Threshold { min } => Output::AtLeast(count >= min),
        Query::Sum(of) => {
            let common = parts.iter().flat_map(|([x, y], _)| x.iter().filter(|x| y.contains(x)));
            Output::Sum(common.map(|x| u128::from(value(x, of))).sum())
        }
        query => panic!("{query:?} has no number"),
    }
}

/// What the sender and the receiver end with.
fn expected(parts: &Parts, params: &PsiParams) -> [Output; 2] {
    let answer = answer(parts, params);
    match params.learns() {
        Learns::Receiver if answer != Output::OutsideBounds => [Output::Nothing, answer],
        _ => [answer.clone(), answer],
    }
}

/// None, and some that the count keeps, that it keeps narrowly, and that it breaks.
fn bounds_around(count: u64) -> Vec<Bounds> {
    let mut pairs = vec![
        (None, None),
        (Some(count), None),
        (Some(count + 1), None),
        (None, Some(count)),
        (Some(count), Some(count)),
        (Some(0), Some(count + 1)),
        (Some(count + 1), Some(count + 9)),
    ];
    if count > 0 {
        pairs.extend([(None, Some(count - 1)), (Some(count - 1), Some(u64::MAX - 1))]);
    }
    pairs.into_iter().map(|(min, max)| Bounds::new(min, max).unwrap()).collect()
}

/// For each of `queries`, for one learner and for two, with and without bounds: opens the addends
/// of `parts`, and compares the answer with the one in clear and with that of one run. All queries
/// need the same addends.
fn assert_answers(row: &Protocol, parts: &Parts, queries: &[Query]) {
    let count: u64 = parts.iter().map(|(_, common)| common).sum();
    let of_bounds = bounds_around(count);
    let [without, with] = [of_bounds[0], of_bounds[1]].map(|bounds| {
        let params = whole(parts, queries[0], Learns::Receiver).with_bounds(bounds);
        added(&params, &addends(row, parts, &params))
    });
    for (query, learns) in queries.iter().flat_map(|query| LEARNS.map(|learns| (*query, learns))) {
        for bounds in &of_bounds {
            let params = whole(parts, query, learns).with_bounds(*bounds);
            let own = if bounds.are_none() { &without } else { &with };
            let outputs = opened(row, params, own);
            assert_eq!(outputs, expected(parts, &params), "{} {params:?}", row.id);
        }
        let params = whole(parts, query, learns);
        let [sender, receiver] = [(Role::Sender, 0), (Role::Receiver, 1)].map(|(role, party)| {
            let set: Vec<Item> =
                parts.iter().flat_map(|(sets, _)| sets[party].iter().copied()).collect();
            row.party(role, params, input(&set, &params, role)).unwrap()
        });
        let run = Runner::default().run(sender, receiver);
        let outputs = [run.sender.output, run.receiver.output].map(Result::unwrap);
        assert_eq!(outputs, expected(parts, &params), "{} {params:?}", row.id);
    }
}

fn sum(holder: Role, bits: u32) -> Query {
    Query::Sum(Values::new(holder, bits).unwrap())
}

#[test]
fn parts_and_their_opening_count_as_one_run_of_the_whole_sets() {
    for row in rows() {
        for len in [1, 2, 7, 24] {
            let parts = parts(len);
            let count: u64 = parts.iter().map(|(_, common)| common).sum();
            let thresholds = [0, count, count + 1, u64::MAX].map(|min| Query::Threshold { min });
            let queries = [&[Query::Cardinality], &thresholds[..]].concat();
            assert_answers(row, &parts, &queries);
        }
    }
}

#[test]
fn parts_and_their_opening_sum_as_one_run_of_the_whole_sets() {
    for row in rows() {
        for (len, holder, bits) in [
            (1, Role::Sender, 64),
            (2, Role::Receiver, 64),
            (7, Role::Sender, 1),
            (7, Role::Receiver, 40),
            (24, Role::Sender, 64),
        ] {
            assert_answers(row, &parts(len), &[sum(holder, bits)]);
        }
    }
}

#[test]
fn every_bit_of_an_addend_is_set_in_about_half_of_the_parts() {
    for row in rows() {
        // The same sets in all parts: only the parties' draws differ.
        let (x, y) = overlapping(9, 8, 3);
        let parts = vec![([x, y], 3); 64];
        let params = whole(&parts, sum(Role::Sender, 8), Learns::Receiver)
            .with_bounds(Bounds::new(Some(1), None).unwrap());
        let addends = addends(row, &parts, &params);
        for party in [0, 1] {
            let set = |bit: &dyn Fn(&Addends) -> bool| {
                addends.iter().filter(|part| bit(&part[party])).count()
            };
            let counts = (0..64).map(|i| set(&|of| of.count >> i & 1 == 1));
            let sums = (0..128).map(|i| set(&|of| of.sums[0] >> i & 1 == 1));
            for (bit, ones) in counts.chain(sums).enumerate() {
                // 4.5 standard deviations of 4 on either side.
                assert!((14..=50).contains(&ones), "party {party}, bit {bit}: {ones} of 64");
            }
        }
        for part in &addends {
            assert_eq!(part[0].count.wrapping_add(part[1].count), 3);
        }
    }
}

#[test]
fn a_changed_message_of_the_opening_is_an_error_or_gives_no_possible_answer() {
    for row in rows() {
        let parts = parts(2);
        let of_contents = &[Change::Flip, Change::Fill][..];
        for (query, changes) in
            [(Query::Cardinality, Change::ALL), (sum(Role::Sender, 16), of_contents)]
        {
            let params = whole(&parts, query, Learns::Receiver);
            let own = added(&params, &addends(row, &parts, &params));
            let right = answer(&parts, &params);
            let smaller = params.sender_len().min(params.receiver_len()) as u128;
            let messages = open(row, params, &own, &Runner::default()).messages();
            let mut noticed = 0;
            for of_party in messages {
                let attempt = |runner: &Runner| open(row, params, &own, runner);
                Runner::default().change_each_message(of_party, changes, attempt, |how, run| {
                    let reader = match how.from {
                        Role::Sender => &run.receiver.output,
                        _ => &run.sender.output,
                    };
                    let must_fail = how.change.is_of_length() || how.change == Change::Drop;
                    assert!(reader.is_err() || !must_fail, "not noticed: {how:?}");
                    let is_possible = match &run.receiver.output {
                        Ok(output) if *output == right => return,
                        Ok(Output::Cardinality(count)) => u128::from(*count) <= smaller,
                        Ok(Output::Sum(sum)) => *sum < smaller << 16,
                        Ok(output) => panic!("{how:?}: {output:?}"),
                        Err(_) => false,
                    };
                    assert!(!is_possible, "{how:?}: {:?}", run.receiver.output);
                    noticed += 1;
                });
            }
            assert!(noticed > 0, "{query:?}");
        }
    }
}

#[test]
fn a_changed_message_of_the_opening_moves_no_count_into_its_bounds() {
    for row in rows() {
        let parts = parts(3);
        let params = whole(&parts, Query::Cardinality, Learns::Both)
            .with_bounds(Bounds::new(Some(5), Some(9)).unwrap());
        let own = added(&params, &addends(row, &parts, &params));
        assert_eq!(opened(row, params, &own), [Output::OutsideBounds, Output::OutsideBounds]);
        let messages = open(row, params, &own, &Runner::default()).messages();
        for of_party in messages {
            let attempt = |runner: &Runner| open(row, params, &own, runner);
            let changes = [Change::Flip, Change::Fill, Change::Zero];
            Runner::default().change_each_message(of_party, &changes, attempt, |how, run| {
                for output in [run.sender.output, run.receiver.output] {
                    let is_kept = matches!(output, Ok(Output::OutsideBounds) | Err(_));
                    assert!(is_kept, "{how:?}: {output:?}");
                }
            });
        }
    }
}

#[test]
fn parts_of_empty_sets_send_nothing_and_add_nothing() {
    for row in rows() {
        for lens in [[0, 5], [4, 0], [0, 0]] {
            let sets = lens.map(|len| items(0..len));
            for query in [Query::Cardinality, sum(Role::Receiver, 8)] {
                let params = whole(&vec![(sets.clone(), 0)], query, Learns::Receiver);
                let own = addends_of_part(row, 1, &sets, &params);
                assert_eq!(own, [Addends::zeros(&params), Addends::zeros(&params)]);
                let outputs = opened(row, params, &own);
                assert_eq!(outputs, expected(&vec![(sets.clone(), 0)], &params));
            }
        }
    }
}

#[test]
fn questions_without_a_number_and_rows_without_addends_have_no_parts() {
    let sets = [items(0..4), items(2..6)];
    let refused = |row: &Protocol, query: Query| {
        let params = params(1, [4, 4], query, Learns::Receiver);
        let part = row.part(Role::Sender, params, input(&sets[0], &params, Role::Sender)).err();
        let opening = row.opening(Role::Sender, params, Addends::zeros(&params)).err();
        [part, opening]
    };
    let unsupported = Some(Error::Parameter(ParameterError::UnsupportedOperation));
    for row in rows() {
        assert_eq!(refused(row, Query::Intersection), [unsupported.clone(), unsupported.clone()]);
        let params = params(1, [4, 4], sum(Role::Sender, 8), Learns::Receiver);
        let of_count = Addends { count: 5, sums: Vec::new() };
        let refused = row.opening(Role::Receiver, params, of_count).err();
        assert!(matches!(refused, Some(Error::Bug(_))), "{refused:?}");
    }
    let without = find("circuit_phasing").unwrap();
    assert_eq!(refused(without, Query::Cardinality), [unsupported.clone(), unsupported]);
}
