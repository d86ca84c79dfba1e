//! Partitions as small as the agreement allows: small sets are split too.

use super::lists::named;
use super::{assert_rows, rows};
use crate::support::{Listening, Pair};
use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_core::Operation;
use vesica_engine::{Event, Finished, Observer, RunResult};
use vesica_link::{CancelToken, Endpoint};
use vesica_protocols::{Partitions, Protocol};

/// Different keys of the two files.
const KEYS: [u64; 2] = [8000, 6000];

/// The first key of the second file; this key and all later ones of the first file are common.
const FIRST: u64 = 5000;

/// Partitions of at most 1,000 of the 8,000 keys with the self-check items: 16 of 500 and of 375.
const PARTITIONS: u64 = 16;

/// The key numbers of each file, some of which are in two rows.
fn numbers(party: usize) -> impl Iterator<Item = u64> {
    let first = [0, FIRST][party];
    (first..first + KEYS[party]).chain(first + 700..first + 700 + 50 * party as u64)
}

fn agreement(pair: &Pair, more: &str, tables: &str) -> Agreement {
    let head = format!("security = \"semi-honest\"\npartition_rows = 1000\n{more}");
    let tables = format!("[[key]]\nname = \"email\"\nprofile = \"email\"\n{tables}");
    pair.agreement_of(&head, &tables, ["max_rows = 30000", "max_rows = 40000"])
}

/// Listens or connects, and records how many partitions were done, and of how many.
struct Watching {
    listening: Option<Listening>,
    steps: Mutex<BTreeSet<(u64, u64)>>,
}

impl Watching {
    fn new(listening: Option<Listening>) -> Arc<Self> {
        Arc::new(Self { listening, steps: Mutex::default() })
    }
}

impl Observer for Watching {
    fn event(&self, event: &Event<'_>) {
        self.listening.iter().for_each(|listening| listening.event(event));
        if let Event::Step { label: "matching/partitions", done, total } = event {
            self.steps.lock().unwrap().insert((*done, *total));
        }
    }
}

/// Runs both parties, and checks that both matched this many partitions.
fn run(pair: &Pair, agreement: &Agreement, partitions: u64) -> [Finished; 2] {
    let (told, address) = mpsc::channel();
    let watching = [Watching::new(Some(Listening(Mutex::new(told)))), Watching::new(None)];
    let start = |party: usize, endpoint: Endpoint| {
        let mut job = pair.job_of(party, agreement.clone(), endpoint);
        job.output = None;
        let observer = Arc::clone(&watching[party]);
        vesica_engine::run(job, observer, &CancelToken::new()).unwrap()
    };
    let done = std::thread::scope(|scope| {
        let listening = scope.spawn(|| start(0, Endpoint::Listen("127.0.0.1:0".into())));
        let address = address.recv_timeout(Duration::from_secs(20)).unwrap();
        let connecting = start(1, Endpoint::Connect(address));
        [listening.join().unwrap(), connecting]
    });
    let expected: BTreeSet<(u64, u64)> = (0..=partitions).map(|done| (done, partitions)).collect();
    for watching in watching {
        let steps = watching.steps.lock().unwrap();
        // A side whose set is not grouped does not count the single partition.
        assert!(*steps == expected || partitions == 1 && steps.is_empty(), "{steps:?}");
    }
    done
}

fn files() -> Pair {
    let pair = Pair::new();
    for (party, name) in ["one.csv", "two.csv"].into_iter().enumerate() {
        rows(&pair.path(name), numbers(party), 1000);
    }
    pair
}

pub(super) fn of_intersections() -> impl Iterator<Item = &'static Protocol> {
    let can = |row: &&Protocol| {
        row.partitions == Partitions::Sets && row.operations.contains(&Operation::Intersection)
    };
    vesica_protocols::catalogue().iter().filter(can)
}

#[test]
fn every_protocol_that_can_split_finds_the_common_rows_of_small_partitions() {
    let pair = files();
    let mut seen = Vec::new();
    for row in of_intersections() {
        for receives in ["all", "one"] {
            let head = format!(
                "operation = \"intersection\"\nprotocol = \"{}\"\nreceives = \"{receives}\"",
                row.id
            );
            let [one, two] = run(&pair, &agreement(&pair, &head, ""), PARTITIONS);
            let found = one.output.rows().unwrap();
            assert_eq!(found.keys(), KEYS[0] - FIRST, "{}", row.id);
            assert_rows(found, numbers(0), 1000, |number| number >= FIRST);
            assert_eq!(two.report.input.duplicates, 50);
            match receives {
                "all" => {
                    let found = two.output.rows().unwrap();
                    assert_rows(found, numbers(1), 1000, |number| number < KEYS[0]);
                }
                _ => assert!(two.output.rows().is_none()),
            }
        }
        seen.push(row.id);
    }
    assert!(seen.contains(&"rr22") && seen.contains(&"rr22_malicious"), "{seen:?}");
}

/// With a protocol against malicious parties, a small set is split less, or not at all.
#[test]
fn a_small_set_has_fewer_partitions_where_padding_would_be_room_for_guesses() {
    let pair = files();
    let head = |protocol| {
        format!("operation = \"intersection\"\nreceives = \"all\"\nprotocol = \"{protocol}\"")
    };
    for (len, protocol, partitions) in [
        (300, "rr22", PARTITIONS),
        (300, "rr22_malicious", 2),
        (5, "rr22", PARTITIONS),
        (5, "rr22_malicious", 1),
    ] {
        let keys = || KEYS[0] - len / 3..KEYS[0] - len / 3 + len;
        rows(&pair.path("two.csv"), keys(), u64::MAX);
        let [one, two] = run(&pair, &agreement(&pair, &head(protocol), ""), partitions);
        let found = one.output.rows().unwrap();
        assert_rows(found, numbers(0), 1000, |number| number >= KEYS[0] - len / 3);
        assert_rows(two.output.rows().unwrap(), keys(), u64::MAX, |number| number < KEYS[0]);
    }
}

#[test]
fn of_numbers_about_small_partitions_the_total_alone_is_opened() {
    let pair = files();
    let text: String =
        (FIRST..FIRST + KEYS[1]).map(|n| format!("{n}@a.org,{}\n", n % 1000)).collect();
    fs::write(pair.path("two.csv"), format!("email,amount\n{text}")).unwrap();
    let outputs = |head: &str, tables: &str| {
        let head = format!("receives = \"all\"\nprotocol = \"psty19\"\n{head}");
        run(&pair, &agreement(&pair, &head, tables), PARTITIONS).map(|finished| finished.output)
    };
    let common = KEYS[0] - FIRST;
    for (min, expected) in
        [(common, RunResult::Cardinality(common)), (common + 1, RunResult::OutsideBounds)]
    {
        let found = outputs(&format!("operation = \"cardinality\"\nmin_matches = {min}"), "");
        assert_eq!(found, [expected.clone(), expected]);
    }
    let sum = "[sum]\nof = \"two\"\ncolumn = \"amount\"\nbits = 16\n";
    let expected: u64 = (FIRST..KEYS[0]).map(|n| n % 1000).sum();
    for output in outputs("operation = \"sum\"", sum) {
        let RunResult::Sums { columns, .. } = &output else { panic!("{output:?}") };
        assert_eq!(columns[0].sum, i128::from(expected));
    }
}

#[test]
fn unions_and_private_ids_of_small_partitions_are_those_of_the_sets() {
    let pair = files();
    let outputs = |operation: &str, partitions| {
        let counts = partitions > 1;
        let head =
            format!("operation = \"{operation}\"\nreceives = \"all\"\npartition_counts = {counts}");
        run(&pair, &agreement(&pair, &head, ""), partitions).map(|finished| finished.output)
    };
    let all: BTreeSet<String> = (0..FIRST + KEYS[1]).map(|n| format!("{n}@a.org")).collect();
    // Small partitions are not enough: the agreement must also allow what each of them reveals.
    for partitions in [PARTITIONS, 1] {
        for (party, output) in outputs("union", partitions).into_iter().enumerate() {
            let RunResult::Union(union) = output else { panic!("{output:?}") };
            assert_eq!(union.new_keys(), all.len() as u64 - KEYS[party]);
            assert!(union.entries().map(|entry| entry.values[0]).eq(&all));
        }
    }
    let ids = outputs("private-id", PARTITIONS).map(|output| match output {
        RunResult::Ids(ids) => ids,
        other => panic!("{other:?}"),
    });
    let [one, two] =
        [0, 1].map(|party| ids[party].entries().map(|entry| *entry.id).collect::<Vec<_>>());
    assert_eq!((one.len(), &one), (all.len(), &two));
    let [one, two] = [named(&ids[0]), named(&ids[1])];
    assert_eq!([one.len() as u64, two.len() as u64], KEYS);
    let common = one.iter().filter(|(name, id)| two.get(*name) == Some(*id)).count();
    assert_eq!(common as u64, KEYS[0] - FIRST);
}
