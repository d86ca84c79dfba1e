//! Sets that are split: two real parties, files of more keys than one partition holds.

mod agreed;
mod detached;
mod lists;

use crate::support::{Pair, both_finish};
use std::fmt::Write;
use std::fs;
use vesica_agreement::Agreement;
use vesica_core::params::WHOLE_SET_LEN;
use vesica_engine::{ConfigFault, Error, Finished, RowSet, RunResult};
use vesica_link::Endpoint;

/// Keys of a large file: two partitions of the default size.
const MANY_KEYS: u64 = 2_400_000;

/// The minimum memory limit; [`MANY_KEYS`] exceed a quarter of it.
const LITTLE: u64 = 150 << 20;

/// Memory that holds all sets of these tests.
const ENOUGH: u64 = 1 << 30;

/// The agreed size of a partition where the default one would only take longer.
const PARTITION_ROWS: u64 = 20_000;

/// Keys of the larger file: two such partitions.
const KEYS: u64 = 30_000;

/// The keys with these numbers, a row each, and a row without a key for every `empty`-th.
fn rows(path: &std::path::Path, numbers: impl Iterator<Item = u64>, empty: u64) {
    let mut text = String::from("email\n");
    for number in numbers {
        writeln!(text, "{number}@a.org").unwrap();
        if number % empty == 0 {
            text.push_str("no key\n");
        }
    }
    fs::write(path, text).unwrap();
}

/// Partitions of [`PARTITION_ROWS`].
fn agreement(pair: &Pair, protocol: &str, receives: &str, more: &str) -> Agreement {
    agreement_of(2, PARTITION_ROWS, pair, protocol, receives, more)
}

/// At most `partitions` of `partition_rows` on average.
fn agreement_of(
    partitions: u64,
    partition_rows: u64,
    pair: &Pair,
    protocol: &str,
    receives: &str,
    more: &str,
) -> Agreement {
    let head = format!(
        "operation = \"intersection\"\nreceives = \"{receives}\"\nsecurity = \"semi-honest\"\n\
         protocol = \"{protocol}\"\npartition_rows = {partition_rows}\n{more}"
    );
    let max_rows = partitions * partition_rows;
    let key = "[[key]]\nname = \"email\"\nprofile = \"email\"";
    let limits = format!("max_rows = {max_rows}");
    pair.agreement_of(&head, key, [&limits, &limits])
}

fn run(pair: &Pair, agreement: &Agreement, memory_bytes: u64) -> [Result<Finished, Error>; 2] {
    both_finish(|party, endpoint: Endpoint| {
        let mut job = pair.job_of(party, agreement.clone(), endpoint);
        job.output = None;
        job.memory_bytes = memory_bytes;
        job.scratch = Some(pair.path("scratch"));
        job
    })
}

/// Checks each bit of `rows`, the rows of a file as `rows` above writes it.
fn assert_rows(
    rows: &RowSet,
    numbers: impl Iterator<Item = u64>,
    empty: u64,
    is_common: impl Fn(u64) -> bool,
) {
    let mut row = 0;
    let bit = |row: u64| rows.words()[(row / 64) as usize] >> (row % 64) & 1 == 1;
    for number in numbers {
        assert_eq!(bit(row), is_common(number), "row {row}, key {number}");
        row += 1;
        if number % empty == 0 {
            assert!(!bit(row), "row {row} has no key");
            row += 1;
        }
    }
    assert_eq!(rows.len(), row);
}

/// One party's numbers ascend, the other's repeat and descend. Checks the results of each of
/// `runs`: a protocol, who receives, and the memory limit.
fn join(keys: u64, partition_rows: u64, runs: &[(&str, &str, u64)]) {
    let pair = Pair::new();
    let (one, two) = (|| 0..keys, || (keys / 2..keys / 2 + keys).rev().chain(keys..keys + 999));
    rows(&pair.path("one.csv"), one(), 1000);
    rows(&pair.path("two.csv"), two(), 777);
    for &(protocol, receives, memory) in runs {
        let agreement = agreement_of(2, partition_rows, &pair, protocol, receives, "");
        let done = run(&pair, &agreement, memory).map(|finished| finished.unwrap());
        let common = keys - keys / 2;
        for (party, finished) in done.iter().enumerate() {
            let report = &finished.report;
            assert_eq!((report.parties[0].keys, report.parties[1].keys), (keys, keys));
            assert_eq!(report.input.duplicates, [0, 999][party]);
            assert_eq!(report.result.self_check, "passed");
            let on_disk = report.resources.peak_scratch_bytes;
            assert_eq!(on_disk > 0, memory == LITTLE, "{on_disk}");
            assert!(on_disk <= 34 * report.input.rows);
        }
        match (receives, done[0].output.rows()) {
            ("all", Some(rows)) => {
                assert_eq!(rows.keys(), common);
                assert_rows(rows, one(), 1000, |number| number >= keys / 2);
            }
            ("two", None) => {}
            (_, rows) => panic!("{receives}: {rows:?}"),
        }
        let rows = done[1].output.rows().unwrap();
        assert_eq!(rows.keys(), common);
        assert_rows(rows, two(), 777, |number| number < keys);
        assert_eq!(fs::read_dir(pair.path("scratch")).map_or(0, Iterator::count), 0);
    }
}

/// Files of both exceed the memory.
#[test]
fn two_large_files_have_the_rows_of_a_plain_join() {
    join(MANY_KEYS, WHOLE_SET_LEN, &[("rr22_malicious", "all", LITTLE)]);
}

#[test]
#[ignore = "slow: a minute"]
fn two_large_files_do_by_any_protocol_and_memory() {
    join(MANY_KEYS, WHOLE_SET_LEN, &[("rr22", "all", ENOUGH), ("rr22", "two", LITTLE)]);
}

#[test]
fn two_files_in_memory_have_the_rows_of_a_plain_join() {
    join(KEYS, PARTITION_ROWS, &[("rr22", "all", ENOUGH), ("rr22_malicious", "two", ENOUGH)]);
}

/// The smaller set does not fill the partitions, or has no common items.
#[test]
fn a_small_file_is_split_as_the_larger_one() {
    let pair = Pair::new();
    rows(&pair.path("one.csv"), 0..KEYS, 1000);
    for (numbers, protocol, receives) in
        [([5, 7, KEYS + 1, 5], "rr22_malicious", "all"), ([KEYS; 4], "rr22", "one")]
    {
        rows(&pair.path("two.csv"), numbers.into_iter(), u64::MAX);
        let agreement = agreement(&pair, protocol, receives, "");
        let [one, two] = run(&pair, &agreement, ENOUGH).map(|finished| finished.unwrap());
        let expected: Vec<u64> = numbers[..2].iter().copied().filter(|n| *n < KEYS).collect();
        let rows = one.output.rows().unwrap();
        assert_eq!(rows.keys(), expected.len() as u64);
        assert_rows(rows, 0..KEYS, 1000, |number| expected.contains(&number));
        if receives == "all" {
            let rows = two.output.rows().unwrap();
            assert_rows(rows, numbers.into_iter(), u64::MAX, |number| number < KEYS);
        }
    }
}

/// With hidden sizes, the sets are padded to `max_rows`, and the partitions to the size that
/// follows.
#[test]
fn hidden_sizes_are_split_by_the_agreed_ones() {
    let pair = Pair::new();
    rows(&pair.path("one.csv"), 0..1000, 100);
    rows(&pair.path("two.csv"), 500..2500, 100);
    let agreement = agreement(&pair, "rr22", "all", "hide_sizes = true");
    let done = run(&pair, &agreement, ENOUGH).map(|finished| finished.unwrap());
    for finished in &done {
        assert_eq!(finished.report.parties[0].keys, 2 * PARTITION_ROWS);
        assert_eq!(finished.output.rows().unwrap().keys(), 500);
    }
    assert_rows(done[0].output.rows().unwrap(), 0..1000, 100, |number| number >= 500);
}

/// Also where the sets fit in memory, and before a party contacts the other.
#[test]
fn a_folder_for_intermediate_data_that_cannot_be_written_ends_the_run() {
    let pair = Pair::new();
    rows(&pair.path("one.csv"), 0..9, 1000);
    rows(&pair.path("two.csv"), 0..9, 1000);
    fs::write(pair.path("scratch"), "a file").unwrap();
    for ended in run(&pair, &agreement(&pair, "rr22", "all", ""), LITTLE) {
        let is_of_scratch = matches!(&ended, Err(Error::Config(ConfigFault::Scratch { .. })));
        assert!(is_of_scratch, "{ended:?}");
    }
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_works() {
    let pair = Pair::new();
    rows(&pair.path("one.csv"), 0..MANY_KEYS, 1000);
    rows(&pair.path("two.csv"), 0..9, 1000);
    let agreement = agreement_of(2, WHOLE_SET_LEN, &pair, "rr22", "all", "");
    // Both have too little. The other side of the first one to detect it is told that the run has
    // stopped.
    let ended = run(&pair, &agreement, 64 << 20);
    let least = ended.iter().find_map(|ended| match ended {
        Err(Error::Config(ConfigFault::MemoryTooSmall { least, .. })) => Some(*least),
        _ => None,
    });
    assert!(ended.iter().all(Result::is_err));
    let least = least.unwrap_or_else(|| panic!("{ended:?}"));
    assert!(least <= LITTLE && run(&pair, &agreement, least).iter().all(Result::is_ok));
}

/// An agreement on a count or sum, with values of `two`'s for a sum.
fn of_number(pair: &Pair, head: &str, sums: bool) -> Agreement {
    let head = format!(
        "receives = \"all\"\nsecurity = \"semi-honest\"\n\
         partition_rows = {PARTITION_ROWS}\n{head}"
    );
    let mut tables = "[[key]]\nname = \"email\"\nprofile = \"email\"\n".to_owned();
    if sums {
        tables += "[sum]\nof = \"two\"\ncolumn = \"amount\"\nbits = 16\n";
    }
    let limits = format!("max_rows = {}", 2 * PARTITION_ROWS);
    pair.agreement_of(&head, &tables, [&limits, &limits])
}

/// Only the total is opened, of shares from each partition.
#[test]
fn numbers_about_sets_in_partitions_are_opened_once() {
    let pair = Pair::new();
    let keys = PARTITION_ROWS + 1000;
    rows(&pair.path("one.csv"), 0..keys, 1000);
    let small = [1, 2, 3, keys - 1, keys, keys + 5];
    let text: String = small.iter().map(|n| format!("{n}@a.org,{}\n", n % 100)).collect();
    fs::write(pair.path("two.csv"), format!("email,amount\n{text}")).unwrap();
    let outputs = |head: &str, sums| {
        let agreement = of_number(&pair, head, sums);
        run(&pair, &agreement, ENOUGH).map(|finished| finished.unwrap().output)
    };
    for (bounds, count) in [("", Some(4)), ("min_matches = 5\n", None)] {
        let head = format!("operation = \"cardinality\"\nprotocol = \"psty19\"\n{bounds}");
        let expected = count.map_or(RunResult::OutsideBounds, RunResult::Cardinality);
        assert_eq!(outputs(&head, false), [expected.clone(), expected], "{bounds}");
    }
    let expected: i128 = small[..4].iter().map(|n| i128::from(n % 100)).sum();
    for output in outputs("operation = \"sum\"\nprotocol = \"psty19\"", true) {
        let RunResult::Sums { columns, .. } = &output else { panic!("{output:?}") };
        assert_eq!(columns[0].sum, expected);
    }
}

/// Half of the rows have one key. The first file has so few different keys that the set is not
/// split after all.
#[test]
fn one_key_in_half_of_the_rows_is_one_key() {
    let pair = Pair::new();
    let few = 900_000;
    let many = WHOLE_SET_LEN + 100_000;
    for (keys, others, common) in
        [(few, [3, few], vec![3]), (many, [7, many - 1], vec![7, many - 1])]
    {
        let numbers = || (0..keys).flat_map(|number| [number, 7]);
        rows(&pair.path("one.csv"), numbers(), u64::MAX);
        rows(&pair.path("two.csv"), others.into_iter(), u64::MAX);
        let agreement = agreement_of(3, WHOLE_SET_LEN, &pair, "rr22", "one", "");
        let [one, _] = run(&pair, &agreement, LITTLE).map(|finished| finished.unwrap());
        assert_eq!((one.report.input.distinct, one.report.input.duplicates), (keys, keys));
        let rows = one.output.rows().unwrap();
        assert_rows(rows, numbers(), u64::MAX, |number| common.contains(&number));
    }
}
