//! Unions and private ids of sets in partitions, which the agreement must allow: they reveal how
//! many keys of each partition are common.

use super::{ENOUGH, PARTITION_ROWS, rows, run};
use crate::support::Pair;
use std::collections::{BTreeMap, BTreeSet};
use vesica_agreement::Agreement;
use vesica_engine::{Ids, RunResult};

/// Keys of the larger file: two partitions.
const KEYS: u64 = PARTITION_ROWS + 1000;

/// Keys that `one` lacks, and keys that it has.
const SMALL: [u64; 6] = [KEYS + 5, 1, 2, KEYS - 1, KEYS, 3];

fn agreement(pair: &Pair, head: &str) -> Agreement {
    let key = "[[key]]\nname = \"email\"\nprofile = \"email\"";
    let limits = format!("max_rows = {}", 2 * PARTITION_ROWS);
    let head = format!("security = \"semi-honest\"\npartition_rows = {PARTITION_ROWS}\n{head}");
    pair.agreement_of(&head, key, [&limits, &limits])
}

/// A large file and a small one.
fn files() -> Pair {
    let pair = Pair::new();
    rows(&pair.path("one.csv"), 0..KEYS, 1000);
    rows(&pair.path("two.csv"), SMALL.into_iter(), u64::MAX);
    pair
}

fn name(number: u64) -> String {
    format!("{number}@a.org")
}

#[test]
fn the_union_of_all_partitions_is_the_union() {
    unions(&[
        ("gmrss21_union", "all"),
        ("gmrss21_union", "one"),
        ("union_low_communication", "all"),
    ]);
}

fn unions(rows: &[(&str, &str)]) {
    let pair = files();
    for (protocol, receives) in rows {
        let head = format!(
            "operation = \"union\"\nprotocol = \"{protocol}\"\nreceives = \"{receives}\"\n\
             partition_counts = true"
        );
        let done = run(&pair, &agreement(&pair, &head), ENOUGH).map(|done| done.unwrap());
        let all: BTreeSet<String> = (0..KEYS).chain([KEYS, KEYS + 5]).map(name).collect();
        for (party, finished) in done.into_iter().enumerate() {
            assert_eq!(finished.report.result.self_check, "passed");
            match finished.output {
                RunResult::Union(union) => {
                    assert_eq!(union.new_keys(), [2, KEYS - 4][party]);
                    assert!(union.entries().map(|entry| entry.values[0]).eq(&all), "{protocol}");
                    let own = union.entries().filter(|entry| entry.rows.is_some()).count();
                    assert_eq!(own as u64, [KEYS, 6][party]);
                }
                RunResult::Nothing => assert_eq!((*receives, party), ("one", 1)),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The identifiers of own keys by their texts.
pub(super) fn named(ids: &Ids) -> BTreeMap<String, [u8; 16]> {
    let own = ids.entries().filter_map(|entry| Some((entry.values?[0].to_owned(), *entry.id)));
    own.collect()
}

#[test]
fn private_ids_of_all_partitions_are_sorted_and_padding_has_none() {
    private_ids("private_id_oprf");
    private_ids("private_id_low_communication");
}

fn private_ids(protocol: &str) {
    let pair = files();
    let head = format!(
        "operation = \"private-id\"\nprotocol = \"{protocol}\"\nreceives = \"all\"\n\
         partition_counts = true"
    );
    let done = run(&pair, &agreement(&pair, &head), ENOUGH).map(|done| done.unwrap());
    let ids = done.map(|finished| match finished.output {
        RunResult::Ids(ids) => ids,
        other => panic!("{other:?}"),
    });
    let [one, two] = [0, 1]
        .map(|party| -> Vec<[u8; 16]> { ids[party].entries().map(|entry| *entry.id).collect() });
    assert_eq!((one.len() as u64, &one), (KEYS + 2, &two));
    assert!(one.is_sorted_by(|one, other| one < other));
    let [one, two] = [named(&ids[0]), named(&ids[1])];
    assert_eq!([one.len() as u64, two.len() as u64], [KEYS, 6]);
    for number in SMALL {
        let id = (number < KEYS).then(|| two[&name(number)]);
        assert_eq!(one.get(&name(number)).copied(), id, "{number}");
    }
}
