//! Laws of the operations beyond the intersection: unions, private ids, shares, sums of several
//! columns.

use crate::laws::{RUNS, factors};
use crate::sets::{overlapping, plain_intersection};
use crate::tamper::Change;
use crate::{Cases, Outcomes, Runner, Transcript};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use vesica_core::params::ceil_log2;
use vesica_core::{Bounds, Item, Learns, PsiParams, Query, Role, SessionId, TextLen, Values};
use vesica_party::{Ids, Input, Operation, Order, Output, Partitions, Protocol, Shares};

/// (sender's size, receiver's size, common): empty, one, nothing and everything in common, one
/// against many.
const SIZES: [(u64, u64, u64); 11] = [
    (0, 0, 0),
    (0, 9, 0),
    (9, 0, 0),
    (1, 1, 0),
    (1, 1, 1),
    (64, 64, 64),
    (40, 60, 0),
    (1, 300, 1),
    (300, 1, 1),
    (500, 400, 130),
    (7, 1500, 5),
];

/// One run of one query.
#[derive(Clone, Copy)]
struct Trial<'a> {
    protocol: &'a Protocol,
    query: Query,
    bounds: Bounds,
    learns: Learns,
    x: &'a [Item],
    y: &'a [Item],
    runs: u64,
}

impl Trial<'_> {
    fn params(&self, seed: u8) -> PsiParams {
        let (n_x, n_y) = (self.x.len() as u64, self.y.len() as u64);
        PsiParams::new(SessionId::from_bytes([seed; 32]), n_x, n_y, self.learns)
            .and_then(|params| params.with_runs(self.runs))
            .expect("test sets are small")
            .with_query(self.query)
            .with_bounds(self.bounds)
    }

    fn run(&self, runner: &Runner) -> Outcomes {
        let params = self.params(runner.seed);
        let party = |role, items: &[Item]| {
            let set = Arc::new(items.to_vec());
            let input = match (self.query.values_of(role), self.query.text_len()) {
                (Some(values), _) => Input::with_values(set, Arc::new(values_of(items, values))),
                (_, Some(len)) => {
                    let texts = items.iter().flat_map(|item| text(item, len));
                    Input::with_texts(set, Arc::new(texts.collect()))
                }
                _ => set.into(),
            };
            self.protocol.party(role, params, input).expect("the input fits the parameters")
        };
        runner.run(party(Role::Sender, self.x), party(Role::Receiver, self.y))
    }

    fn name(&self) -> String {
        let common = plain_intersection(self.x, self.y).len();
        let (n_x, n_y) = (self.x.len(), self.y.len());
        format!(
            "{} {:?} {:?} {:?}, {common} of {n_x}, {n_y}",
            self.protocol.id, self.query, self.bounds, self.learns
        )
    }

    /// Checks both outputs against plain sets.
    fn check(&self, run: &Outcomes) {
        let case = self.name();
        let common = plain_intersection(self.x, self.y);
        let sender = run.sender.output.as_ref().unwrap_or_else(|e| panic!("sender, {case}: {e}"));
        let receiver =
            run.receiver.output.as_ref().unwrap_or_else(|e| panic!("receiver, {case}: {e}"));
        let count = common.len() as u64;
        if !self.bounds.contain(count) {
            assert_eq!(
                (sender, receiver),
                (&Output::OutsideBounds, &Output::OutsideBounds),
                "{case}"
            );
            return;
        }
        let to_sender = |output: Output| match self.learns {
            Learns::Both => output,
            Learns::Receiver => Output::Nothing,
        };
        match (self.query, sender, receiver) {
            (Query::Cardinality, ..) => {
                let output = Output::Cardinality(count);
                assert_eq!((sender, receiver), (&to_sender(output.clone()), &output), "{case}");
            }
            (Query::Sum(values), ..) => {
                let all = values_of(self.x, values);
                let sum = |column| {
                    let of = |i: &usize| values.number(all[i * values.columns() + column]);
                    common.iter().map(of).sum::<i128>()
                };
                let sums = (0..values.columns()).map(sum).collect();
                let output = Output::CountedSums { count, sums };
                assert_eq!((sender, receiver), (&to_sender(output.clone()), &output), "{case}");
            }
            (Query::InnerProduct { values, factors }, ..) => {
                let (own, columns) = (values_of(self.x, values), values.columns());
                let theirs = values_of(self.y, factors);
                let factor = |item: &Item| {
                    let at = self.y.iter().position(|y| y == item).expect("it is common");
                    factors.number(theirs[at])
                };
                let sum = |column| {
                    let of =
                        |i: &usize| values.number(own[i * columns + column]) * factor(&self.x[*i]);
                    common.iter().map(of).sum::<i128>()
                };
                let sums = (0..columns).map(sum).collect();
                let output = Output::CountedSums { count, sums };
                assert_eq!((sender, receiver), (&to_sender(output.clone()), &output), "{case}");
            }
            (Query::Union(len), ..) => {
                let receiver_gets = others(self.x, self.y, len);
                assert_eq!(texts(receiver, len), Some(receiver_gets), "receiver, {case}");
                match self.learns {
                    Learns::Receiver => assert_eq!(sender, &Output::Nothing, "{case}"),
                    Learns::Both => {
                        let sender_gets = others(self.y, self.x, len);
                        assert_eq!(texts(sender, len), Some(sender_gets), "sender, {case}");
                    }
                }
            }
            (Query::PrivateId, Output::Ids(a), Output::Ids(b)) => self.check_ids(a, b, &case),
            (Query::Shares(values), Output::Shares(a), Output::Shares(b)) => {
                self.check_shares(values, a, b, &common, &case);
            }
            (Query::SharedValues { values, default }, Output::Shares(a), Output::Shares(b)) => {
                assert_eq!((a.len, b.len), (self.x.len(), self.x.len()), "{case}");
                let sum = a.values.iter().zip(&b.values).map(|(a, b)| a.wrapping_add(*b));
                let sum: Vec<u64> = sum.collect();
                let own = values_of(self.x, values);
                let columns = values.columns();
                let is_common: HashSet<usize> = common.iter().copied().collect();
                let (Order::Items(pi), Order::Common(e)) = (&a.order, &b.order) else {
                    panic!("{case}: {:?}, {:?}", a.order, b.order)
                };
                self.is_an_order_of_x(pi, &case);
                // In the order of the sender each entry is the value of its item, or the default.
                let expected = pi.iter().map(|i| *i as usize).map(|i| {
                    if is_common.contains(&i) {
                        own[i * columns..(i + 1) * columns].to_vec()
                    } else {
                        vec![default; columns]
                    }
                });
                assert!(sum.chunks_exact(columns).map(<[u64]>::to_vec).eq(expected), "{case}");
                let expected = pi.iter().map(|i| is_common.contains(&(*i as usize)));
                assert!(e.iter().copied().eq(expected), "{case}");
            }
            _ => panic!("{case}: {sender:?}, {receiver:?}"),
        }
    }

    fn check_ids(&self, a: &Ids, b: &Ids, case: &str) {
        assert_eq!(a.all, b.all, "{case}");
        assert!(a.all.is_sorted_by(|a, b| a < b), "{case}");
        assert_eq!((a.own.len(), b.own.len()), (self.x.len(), self.y.len()), "{case}");
        let of_x: HashMap<&Item, _> = self.x.iter().zip(&a.own).collect();
        let own: BTreeSet<_> = a.own.iter().chain(&b.own).copied().collect();
        for (item, id) in self.y.iter().zip(&b.own) {
            assert!(of_x.get(item).is_none_or(|other| *other == id), "{case}");
        }
        // Different items have different identifiers, and there are no others.
        assert_eq!(own.into_iter().collect::<Vec<_>>(), a.all, "{case}");
        let union = self.x.iter().chain(self.y).collect::<HashSet<_>>().len();
        assert_eq!(a.all.len(), union, "{case}");
    }

    fn check_shares(
        &self,
        values: Option<Values>,
        a: &Shares,
        b: &Shares,
        common: &[usize],
        case: &str,
    ) {
        let columns = values.map_or(0, |values| values.columns());
        assert_eq!((a.len, b.len), (common.len(), common.len()), "{case}");
        assert_eq!((a.items.len(), b.items.len()), (common.len(), common.len()), "{case}");
        assert_eq!(a.values.len(), columns * common.len(), "{case}");
        let all = values.map_or(Vec::new(), |values| values_of(self.x, values));
        let (Order::Items(pi), Order::Places(rho)) = (&a.order, &b.order) else {
            panic!("{case}: {:?}, {:?}", a.order, b.order)
        };
        self.is_an_order_of_x(pi, case);
        // Both parts of the order together give the item of each entry, and each common one is
        // there once.
        let items: Vec<usize> = rho.iter().map(|place| pi[*place as usize] as usize).collect();
        assert_eq!(sorted(items.iter().copied()), common, "{case}");
        let expected = items
            .iter()
            .map(|i| (self.x[*i].integer(), all[i * columns..(i + 1) * columns].to_vec()));
        let found = (0..a.len).map(|i| {
            let (a_item, b_item) =
                (u128::from_le_bytes(a.items[i]), u128::from_le_bytes(b.items[i]));
            let of = i * columns..(i + 1) * columns;
            let row = a.values[of.clone()].iter().zip(&b.values[of]).map(|(a, b)| a ^ b);
            (a_item ^ b_item, row.collect::<Vec<u64>>())
        });
        assert!(found.eq(expected), "{case}");
    }

    /// Whether `order` has the position of each item of x once, and not in their own order.
    fn is_an_order_of_x(&self, order: &[u32], case: &str) {
        assert_eq!(order.len(), self.x.len(), "{case}");
        let positions = 0..self.x.len() as u32;
        assert!(sorted(order.iter().copied()).into_iter().eq(positions.clone()), "{case}");
        // Forty items are in their own order with a probability of 2^-159.
        assert!(self.x.len() < 40 || !order.iter().copied().eq(positions), "{case}");
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
}

/// The values of items, over the whole range of `values`.
pub(crate) fn values_of(items: &[Item], values: Values) -> Vec<u64> {
    let value = |item: &Item, column: usize| {
        let random = item
            .integer()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            .rotate_left(41 * column as u32);
        let low = random as u64 >> (64 - values.bits());
        let shift = 64 - values.bits();
        if values.are_signed() { ((low << shift) as i64 >> shift) as u64 } else { low }
    };
    items.iter().flat_map(|item| (0..values.columns()).map(move |c| value(item, c))).collect()
}

/// The text of an item in a union: equal for some different items.
pub(crate) fn text(item: &Item, len: TextLen) -> Vec<u8> {
    if item.as_bytes()[3].is_multiple_of(8) {
        return vec![0xff; len.bytes()];
    }
    item.as_bytes().iter().copied().cycle().take(len.bytes()).collect()
}

/// The texts of the items of `theirs` that are not in `own`.
fn others(theirs: &[Item], own: &[Item], len: TextLen) -> Vec<Vec<u8>> {
    let own: HashSet<&Item> = own.iter().collect();
    sorted(theirs.iter().filter(|item| !own.contains(item)).map(|item| text(item, len)))
}

fn texts(output: &Output, len: TextLen) -> Option<Vec<Vec<u8>>> {
    match output {
        Output::OnlyTheirs(texts) => {
            Some(sorted(texts.chunks_exact(len.bytes()).map(<[u8]>::to_vec)))
        }
        _ => None,
    }
}

/// The possible learners.
pub(crate) fn learners(protocol: &Protocol, query: &Query) -> &'static [Learns] {
    protocol.learners_of(query.operation())
}

/// The queries that `protocol` offers.
fn queries(protocol: &Protocol) -> Vec<Query> {
    let values = |bits| Values::new(Role::Sender, bits).expect("1 to 64 bits");
    let columns = |bits, columns| values(bits).with_columns(columns).expect("1 to 64 columns");
    let len = |bytes| TextLen::new(bytes).expect("1 to 4096 bytes");
    let all = [
        Query::Cardinality,
        Query::Sum(values(20)),
        Query::Sum(columns(64, 3)),
        Query::Sum(columns(5, Values::MAX_COLUMNS)),
        Query::Sum(columns(64, 2).signed()),
        Query::Sum(values(1).signed()),
        Query::InnerProduct { values: columns(64, 2).signed(), factors: factors(32) },
        Query::InnerProduct { values: values(20), factors: factors(7) },
        Query::InnerProduct { values: values(1), factors: factors(1) },
        Query::Union(len(16)),
        Query::Union(len(5)),
        Query::Union(len(66)),
        Query::PrivateId,
        Query::Shares(None),
        Query::Shares(Some(columns(64, 2).signed())),
        Query::SharedValues { values: columns(64, 2), default: 7 },
        Query::SharedValues { values: values(32).signed(), default: u64::MAX },
    ];
    all.into_iter().filter(|query| protocol.operations.contains(&query.operation())).collect()
}

/// Each party learns the result on plain sets, and the payload bytes equal the formula.
///
/// [`Cases::Pairs`] is every size with every query, [`Cases::Each`] is every size with one of them.
pub fn answers_are_those_of_plain_sets(protocol: &Protocol, cases: Cases) {
    let queries = queries(protocol);
    let learners_len = |query: &Query| learners(protocol, query).len();
    let most = queries.iter().map(learners_len).max().unwrap_or(0);
    let tried = match cases {
        Cases::Pairs => Cases::All.of([queries.len(), SIZES.len(), 1]),
        _ => cases.of([queries.len(), SIZES.len(), most]),
    };
    for (turn, [query, sizes, learns]) in tried.into_iter().enumerate() {
        let (query, (n_x, n_y, common)) = (queries[query], SIZES[sizes]);
        // With an odd number of sizes, the learners of a size change from query to query.
        let learns = match cases {
            Cases::All => learns,
            Cases::Pairs => turn % learners_len(&query),
            Cases::Each => learns % learners_len(&query),
        };
        let Some(learns) = learners(protocol, &query).get(learns).copied() else { continue };
        let (x, y) = overlapping(n_x, n_y, common);
        let trial = Trial { protocol, query, bounds: Bounds::NONE, learns, x: &x, y: &y, runs: 1 };
        let run = trial.run(&Runner::default());
        trial.check(&run);
        bytes_are_the_formula(&trial, &run, common);
    }
}

/// [`answers_are_those_of_plain_sets`] in a run that is one of 4,096 for one result, for sets of
/// very different sizes, with values long enough that no two of them agree by chance in all runs.
pub fn answers_of_a_partition(protocol: &Protocol) {
    assert_eq!(protocol.partitions, Partitions::Sets, "{}", protocol.id);
    let sizes = [(0, 1, 0), (2, 0, 0), (1, 1, 1), (1, 2, 0), (2, 2, 2), (100, 100, 33)];
    let unequal = [(1, 5000, 1), (5000, 2, 1), (838, 655, 300), (100, 5000, 60), (5000, 5000, 1)];
    let query = queries(protocol)[0];
    for (n_x, n_y, common) in sizes.into_iter().chain(unequal) {
        let (x, y) = overlapping(n_x, n_y, common);
        for learns in learners(protocol, &query).iter().copied() {
            let trial =
                Trial { protocol, query, bounds: Bounds::NONE, learns, x: &x, y: &y, runs: RUNS };
            let run = trial.run(&Runner::default());
            trial.check(&run);
            bytes_are_the_formula(&trial, &run, common);
            let params = trial.params(1);
            if !params.has_empty_set() {
                let least = trial.params(1).statistical_bits() + ceil_log2(n_x);
                assert!((protocol.compared)(&params).bits >= least, "{}", trial.name());
            }
        }
    }
}

fn bytes_are_the_formula(trial: &Trial<'_>, run: &Outcomes, common: u64) {
    let case = trial.name();
    let params = trial.params(1);
    let formula = (trial.protocol.bytes)(&params);
    let found = (run.sender_bytes(), run.receiver_bytes());
    let most = (formula.sender_to_receiver, formula.receiver_to_sender);
    let (n_x, n_y) = (trial.x.len() as u64, trial.y.len() as u64);
    // The largest result has the most bytes.
    let largest = match trial.query {
        Query::Union(_) | Query::PrivateId => common == 0,
        _ => common == n_x.min(n_y),
    };
    let may_depend = trial.protocol.bytes_depend_on_result && trial.learns == Learns::Both;
    if !may_depend || largest {
        assert_eq!(found, most, "{case}");
    } else {
        assert!(found.0 <= most.0 && found.1 <= most.1, "{found:?} of {most:?}, {case}");
    }
    crate::laws::flights_are_those_of_the_row(trial.protocol, &params, run, true, &case);
}

/// Outside the bounds both learn that and nothing else, and no result is sent.
pub fn bounds_are_kept(protocol: &Protocol) {
    assert!(protocol.bounds.are_kept());
    let bounds = |min, max| Bounds::new(min, max).expect("they do not contradict");
    for query in queries(protocol) {
        for (bounds, is_inside) in [
            (bounds(Some(10), None), true),
            (bounds(Some(11), None), false),
            (bounds(None, Some(9)), false),
            (bounds(Some(3), Some(10)), true),
        ] {
            let (x, y) = overlapping(40, 33, 10);
            for learns in learners(protocol, &query) {
                let trial =
                    Trial { protocol, query, bounds, learns: *learns, x: &x, y: &y, runs: 1 };
                let run = trial.run(&Runner::default());
                trial.check(&run);
                let formula = (protocol.bytes)(&trial.params(1)).total();
                let found = run.sender_bytes() + run.receiver_bytes();
                crate::laws::flights_are_those_of_the_row(
                    protocol,
                    &trial.params(1),
                    &run,
                    is_inside,
                    &trial.name(),
                );
                assert!(found <= formula, "{}", trial.name());
                assert!(
                    is_inside || found < formula || query == Query::Cardinality,
                    "{}",
                    trial.name()
                );
            }
        }
        for (n_x, n_y) in [(0, 5), (5, 0), (0, 0)] {
            let (x, y) = overlapping(n_x, n_y, 0);
            let bounds = bounds(Some(1), None);
            let trial = Trial {
                protocol,
                query,
                bounds,
                learns: learners(protocol, &query)[0],
                x: &x,
                y: &y,
                runs: 1,
            };
            trial.check(&trial.run(&Runner::default()));
        }
    }
}

/// Four threads give the same results as one, as do another session and other randomness.
pub fn answers_are_the_same_everywhere(protocol: &Protocol, cases: Cases) {
    let (x, y) = overlapping(900, 1100, 300);
    let queries = queries(protocol);
    for [query, way] in cases.of([queries.len(), 2]) {
        let (query, (threads, seed)) = (queries[query], [(4, 1), (1, 7)][way]);
        let runner = Runner { threads, seed, ..Runner::default() };
        let learns = *learners(protocol, &query).last().expect("some party learns the result");
        let trial = Trial { protocol, query, bounds: Bounds::NONE, learns, x: &x, y: &y, runs: 1 };
        trial.check(&trial.run(&runner));
    }
}

/// A party's view looks the same for all data of the other party: equally many messages of the same
/// lengths, and each with a random number of ones.
///
/// Excludes what is a result by itself: the union that the sender receives.
pub fn views_do_not_depend_on_the_others_data(protocol: &Protocol, cases: Cases) {
    let queries = queries(protocol);
    for [query, from] in cases.of([queries.len(), 2]) {
        let (query, from) = (queries[query], [Role::Sender, Role::Receiver][from]);
        let learns = learners(protocol, &query)[0];
        let view = |x: &[Item], y: &[Item], seed| {
            let transcript = Transcript::new(from);
            let runner =
                Runner { seed, transcripts: vec![transcript.clone()], ..Runner::default() };
            let trial = Trial { protocol, query, bounds: Bounds::NONE, learns, x, y, runs: 1 };
            trial.check(&trial.run(&runner));
            transcript.messages()
        };
        let (n_x, n_y, common) = (1500_u64, 1200_u64, 400_u64);
        let (x, y) = overlapping(n_x, n_y, common);
        let first = view(&x, &y, 1);
        // Other data of the sending party with as many common items: the view of the other party.
        let low = |first: u64, len: u64| (first..first + len).map(|i| Item::from_integer(i.into()));
        let other = match from {
            Role::Sender => {
                let x: Vec<Item> =
                    y[..common as usize].iter().copied().chain(low(1, n_x - common)).collect();
                view(&x, &y, 2)
            }
            _ => {
                // If the sender does not learn the number of common items, it differs.
                let common = if learns == Learns::Receiver { 3 } else { common };
                let y: Vec<Item> =
                    x[..common as usize].iter().copied().chain(low(1, n_y - common)).collect();
                view(&x, &y, 2)
            }
        };
        let case = format!("{} {query:?} from {from}", protocol.id);
        let lens = |messages: &[Vec<u8>]| messages.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lens(&first), lens(&other), "{case}");
        for (i, (a, b)) in first.iter().zip(&other).enumerate() {
            let ones = |m: &[u8]| m.iter().map(|byte| f64::from(byte.count_ones())).sum::<f64>();
            // The difference of two binomials has the variance bits/2.
            let bits = 8.0 * a.len() as f64;
            let difference = (ones(a) - ones(b)).abs();
            assert!(
                difference <= 6.5 * (bits / 2.0).sqrt() + 1.0,
                "message {i}: {difference} of {bits}, {case}"
            );
        }
    }
}

/// However one message is changed, both parties end soon, with a result or a typed error.
///
/// [`Cases::Each`] changes each message and makes each change with one of the queries,
/// [`Cases::Pairs`] with each of them.
pub fn tampering_never_hangs_or_panics(protocol: &Protocol, cases: Cases) {
    let (x, y) = overlapping(12, 9, 4);
    let queries: Vec<Query> = queries(protocol).into_iter().step_by(2).collect();
    for (turn, query) in queries.iter().copied().enumerate() {
        let learns = *learners(protocol, &query).last().expect("some party learns the result");
        let trial = Trial { protocol, query, bounds: Bounds::NONE, learns, x: &x, y: &y, runs: 1 };
        let runner = Runner::default();
        let undisturbed = trial.run(&runner);
        trial.check(&undisturbed);
        for (from, messages) in undisturbed.messages() {
            assert!(messages > 0, "the {from} sends nothing");
            let levels = [messages as usize, Change::ALL.len()];
            let tried = match cases {
                Cases::All => cases.of(levels),
                _ => Cases::Each.of(levels),
            };
            for (i, [message, change]) in tried.into_iter().enumerate() {
                if cases == Cases::Each && i % queries.len() != turn {
                    continue;
                }
                let attempt = |runner: &Runner| trial.run(runner);
                let (message, change) = (message as u64, Change::ALL[change]);
                let (tampering, run) = runner.change_message(from, message, change, attempt);
                let from_sender = tampering.from == Role::Sender;
                let reader = if from_sender { run.receiver } else { run.sender };
                let must_fail = tampering.change.is_of_length();
                let case = || format!("{} {tampering:?}", trial.name());
                assert!(reader.output.is_err() || !must_fail, "{}", case());
            }
        }
    }
}

/// A run of the first query of each operation has the flights that the row gives, for small and
/// larger sets and the queries and learners that `cases` tries with them.
pub fn flights_follow_the_sizes(protocol: &Protocol, cases: Cases) {
    let mut first: Vec<Query> = Vec::new();
    for query in queries(protocol) {
        if first.iter().all(|other| other.operation() != query.operation()) {
            first.push(query);
        }
    }
    let asked: Vec<(Query, Learns)> = first
        .into_iter()
        .flat_map(|query| learners(protocol, &query).iter().map(move |learns| (query, *learns)))
        .collect();
    let sizes: Vec<_> = crate::laws::growing(protocol).collect();
    for [size, question] in cases.of([sizes.len(), asked.len()]) {
        let (n_x, n_y, common) = sizes[size];
        let (x, y) = overlapping(n_x, n_y, common);
        let (query, learns) = asked[question];
        let bounds = Bounds::NONE;
        let trial = Trial { protocol, query, bounds, learns, x: &x, y: &y, runs: 1 };
        let run = trial.run(&Runner::default());
        let (params, case) = (trial.params(1), trial.name());
        crate::laws::flights_are_those_of_the_row(protocol, &params, &run, true, &case);
    }
}

/// Whether the laws of this module apply to `protocol`.
pub fn are_offered(protocol: &Protocol) -> bool {
    let is_beyond = |operation: &Operation| {
        matches!(
            operation,
            Operation::Union | Operation::PrivateId | Operation::Shares | Operation::SharedValues
        )
    };
    let counts_alone = protocol.operations == [Operation::Cardinality];
    let is_wide = protocol.wide_values;
    protocol.operations.iter().any(is_beyond) || counts_alone || is_wide
}
