//! Expressions that are computed on the shares of a run.

use crate::support::{Pair, both_finish};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use vesica_engine::{Answer, ConfigFault, Error, Finished, NamedAnswer, RunResult};
use vesica_tables::OutputOptions;

const EXPRESSION: &str = "sum(price * units) > 1000, sum(price), count(where units < 0), \
                          sum(units by price in 0, 40), count() * sum(price * price) - \
                          sum(price) * sum(price)";

/// The keys of both parties.
const SETS: [[Range<i64>; 2]; 5] =
    [[0..40, 30..75], [0..9, 50..60], [20..30, 20..30], [0..3, 0..200], [0..0, 0..12]];

/// Price and units of a key of the party with the values.
fn values(key: i64) -> [i64; 2] {
    [(key * 37) % 101 - 30, (key * 11) % 23 - 7]
}

fn pair(sets: &[Range<i64>; 2]) -> Pair {
    let pair = Pair::new();
    for (name, keys) in ["one", "two"].iter().zip(sets) {
        let row = |key: i64| format!("{key},{},{}\n", values(key)[0], values(key)[1]);
        let rows: String = keys.clone().map(row).collect();
        fs::write(pair.path(&format!("{name}.csv")), "id,price,units\n".to_owned() + &rows)
            .unwrap();
    }
    pair
}

struct Asked<'a> {
    receives: &'a str,
    circuit: &'a str,
    of: &'a str,
    head: &'a str,
}

fn run(pair: &Pair, asked: &Asked<'_>) -> [Result<Finished, Error>; 2] {
    let Asked { receives, circuit, of, head } = asked;
    let head = format!(
        "operation = \"shares\"\nreceives = \"{receives}\"\nsecurity = \"semi-honest\"\n{head}"
    );
    let tables = format!(
        "[shares]\nof = \"{of}\"\ncolumns = [\"price\", \"units\"]\nbits = 9\nsigned = true\n\
         compute = \"{EXPRESSION}\"\ncircuit = \"{circuit}\"\n[[key]]\nname = \"id\"\nprofile = \
         \"exact\"\n"
    );
    let agreement = pair.agreement_of(&head, &tables, ["max_rows = 300\nmin_rows = 0"; 2]);
    both_finish(|party, endpoint| pair.job_of(party, agreement.clone(), endpoint))
}

/// What the expression gives over these keys.
fn expected(keys: &[i64]) -> Vec<Answer> {
    let rows: Vec<[i128; 2]> = keys.iter().map(|key| values(*key).map(i128::from)).collect();
    let sum = |of: &dyn Fn(i128, i128) -> i128| rows.iter().map(|[p, u]| of(*p, *u)).sum::<i128>();
    let within =
        |range: Range<i128>| Answer::Number(sum(&|p, u| if range.contains(&p) { u } else { 0 }));
    let total = sum(&|p, _| p);
    vec![
        Answer::Condition(sum(&|p, u| p * u) > 1000),
        Answer::Number(total),
        Answer::Number(sum(&|_, u| i128::from(u < 0))),
        within(i128::MIN..0),
        within(0..40),
        within(40..i128::MAX),
        Answer::Number(rows.len() as i128 * sum(&|p, _| p * p) - total * total),
    ]
}

const NAMES: [&str; 7] = [
    "sum(price * units) > 1000",
    "sum(price)",
    "count(where units < 0)",
    "sum(units) for price < 0",
    "sum(units) for 0 <= price < 40",
    "sum(units) for price >= 40",
    "count() * sum(price * price) - sum(price) * sum(price)",
];

#[test]
fn the_answers_are_those_of_the_common_rows_at_those_who_receive() {
    // Every set with every receiver and both circuits, and all six pairs of those.
    let mut circuits = ["garbled", "gmw"].iter().cycle();
    let mut sides = ["one", "two", "two", "one"].iter().cycle();
    for sets in &SETS {
        let common: Vec<i64> = sets[0].clone().filter(|key| sets[1].contains(key)).collect();
        let expected = expected(&common);
        for receives in ["one", "two", "all"] {
            let (circuit, of) = (*circuits.next().unwrap(), *sides.next().unwrap());
            let pair = pair(sets);
            let case = format!("{sets:?}, {circuit}, of {of}, to {receives}");
            let finished = run(&pair, &Asked { receives, circuit, of, head: "" })
                .map(|finished| finished.unwrap_or_else(|error| panic!("{case}: {error}")));
            for (name, Finished { report, output }) in ["one", "two"].iter().zip(&finished) {
                let file = pair.path(&format!("{name}.out.csv"));
                assert!(!pair.path(&format!("{name}.out.json")).exists());
                if receives != "all" && receives != *name {
                    assert_eq!(output, &RunResult::Nothing, "{case}");
                    assert!(!file.exists() && report.result.answers.is_none(), "{case}");
                    continue;
                }
                let answers = NAMES.iter().zip(&expected).map(|(name, answer)| NamedAnswer {
                    name: (*name).to_owned(),
                    answer: *answer,
                });
                let answers: Vec<_> = answers.collect();
                let texts: Vec<String> = answers.iter().map(NamedAnswer::text).collect();
                let keys = common.len() as u64;
                assert_eq!(output, &RunResult::Answers { keys, answers }, "{case}");
                let rows =
                    format!("{},keys_in_common\n{},{keys}\n", NAMES.join(","), texts.join(","));
                assert_eq!(fs::read_to_string(file).unwrap(), rows, "{case}");
                assert_eq!(report.result.matched_keys, Some(keys));
                assert_eq!(report.result.shared_entries, None);
                assert_eq!(report.agreement.compute.as_deref(), Some(EXPRESSION));
                assert_eq!(report.agreement.circuit, Some(circuit));
                let told: BTreeMap<_, _> = report
                    .result
                    .answers
                    .iter()
                    .flatten()
                    .map(|one| (&*one.name, (one.number.clone(), one.holds)))
                    .collect();
                assert_eq!(told.len(), NAMES.len());
                assert_eq!(told[NAMES[0]].1, Some(texts[0] == "true"));
                assert_eq!(told[NAMES[1]], (Some(texts[1].clone()), None));
            }
            let phases = &finished[0].report.phases;
            assert!(phases.iter().any(|one| one.name == "matching/computing"), "{phases:?}");
        }
    }
}

#[test]
fn outside_the_bounds_nothing_is_computed() {
    for (head, inside) in
        [("min_matches = 10\n", true), ("min_matches = 11\n", false), ("max_matches = 9\n", false)]
    {
        let pair = pair(&SETS[0]);
        let asked = Asked { receives: "one", circuit: "garbled", of: "two", head };
        for (name, finished) in ["one", "two"].iter().zip(run(&pair, &asked)) {
            let Finished { report, output } = finished.unwrap();
            assert_eq!(report.result.within_bounds, Some(inside), "{head}");
            let is_computed = report.phases.iter().any(|one| one.name == "matching/computing");
            assert_eq!(is_computed, inside);
            match output {
                RunResult::OutsideBounds => assert!(!inside),
                RunResult::Answers { keys, .. } => {
                    assert_eq!((inside, *name, keys), (true, "one", 10))
                }
                other => assert_eq!((other, inside, *name), (RunResult::Nothing, true, "two")),
            }
            assert_eq!(pair.path(&format!("{name}.out.csv")).exists(), inside && *name == "one");
        }
    }
}

#[test]
fn hidden_sizes_change_no_answer() {
    let pair = pair(&SETS[0]);
    let head = "hide_sizes = true\n";
    let asked = Asked { receives: "two", circuit: "gmw", of: "two", head };
    let [_, two] = run(&pair, &asked);
    let RunResult::Answers { answers, .. } = two.unwrap().output else { panic!("no answers") };
    let answers: Vec<_> = answers.iter().map(|one| one.answer).collect();
    assert_eq!(answers, expected(&(30..40).collect::<Vec<_>>()));
}

#[test]
fn there_is_no_order_of_shares_that_no_party_gets() {
    let pair = pair(&SETS[2]);
    let head = "operation = \"shares\"\nreceives = \"all\"\nsecurity = \"semi-honest\"\n";
    let tables = "[shares]\nof = \"two\"\ncolumn = \"price\"\nbits = 9\nsigned = true\n\
                  compute = \"sum(price)\"\n[[key]]\nname = \"id\"\nprofile = \"exact\"\n";
    let agreement = pair.agreement_of(head, tables, ["max_rows = 300"; 2]);
    let finished = both_finish(|party, endpoint| {
        let mut job = pair.job_of(party, agreement.clone(), endpoint);
        let path = pair.path(&format!("{party}.order.csv"));
        job.order = Some(OutputOptions { path, force: false });
        job
    });
    let refused = |error: &Error| matches!(error, Error::Config(ConfigFault::NoOrder { .. }));
    assert!(finished.iter().any(|one| one.as_ref().is_err_and(refused)), "{finished:?}");
}
