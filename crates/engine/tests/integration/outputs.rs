//! The result of a job in memory equals its result file, for every operation and reveal direction.

use crate::support::{Pair, both_finish};
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_engine::shares::{Combined, SharesFile, combine};
use vesica_engine::{Finished, OrderLine, RowSet, RunResult, SharesOrder};
use vesica_protocols::Operation;
use vesica_tables::{OutputOptions, ReadOptions, Source};

/// The keys of each party's rows; one party has a key twice, and a row without a key.
const KEYS: [&[&str]; 2] =
    [&["1", "2", "", "3", "4", "5", "3", "6"], &["9", "3", "8", "4", "5", "7"]];

/// The own rows of `party` whose key is common, from 0.
fn common_rows(party: usize) -> Vec<u64> {
    let is_common = |key: &&str| !key.is_empty() && KEYS[1 - party].contains(key);
    (0..).zip(KEYS[party]).filter(|(_, key)| is_common(key)).map(|(row, _)| row).collect()
}

fn pair() -> Pair {
    let pair = Pair::new();
    for (name, keys) in ["one", "two"].iter().zip(KEYS) {
        let rows: Vec<String> = keys.iter().map(|key| format!("{key},{key}0")).collect();
        fs::write(pair.path(&format!("{name}.csv")), format!("id,amount\n{}\n", rows.join("\n")))
            .unwrap();
    }
    pair
}

fn agreement(pair: &Pair, operation: Operation, receives: &str) -> Agreement {
    let values = "of = \"two\"\ncolumn = \"amount\"\nbits = 8\n";
    let (more, table) = match operation {
        Operation::Threshold => ("threshold = 3\n", String::new()),
        Operation::Sum => ("", format!("[sum]\n{values}")),
        Operation::SharedValues => ("", format!("[shares]\n{values}")),
        _ => ("", String::new()),
    };
    let head = format!(
        "operation = \"{}\"\nreceives = \"{receives}\"\nsecurity = \"semi-honest\"\n{more}",
        operation.name()
    );
    let key = "[[key]]\nname = \"id\"\nprofile = \"exact\"\n";
    pair.agreement_of(&head, &format!("{table}{key}"), ["max_rows = 50"; 2])
}

/// Runs both parties, with result files or without.
fn finish(pair: &Pair, agreement: &Agreement, with_files: bool) -> [Finished; 2] {
    let finished = both_finish(|party, endpoint| {
        let mut job = pair.job_of(party, agreement.clone(), endpoint);
        job.output = job.output.filter(|_| with_files);
        job
    });
    finished.map(|result| result.unwrap_or_else(|error| panic!("{error}")))
}

fn result_files(pair: &Pair) -> usize {
    let entries = fs::read_dir(pair.directory.path()).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().path().display().to_string().contains(".out."))
        .count()
}

fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// Compares the output of `party` with the rows of the files, and with the result file `text`.
fn compare(party: usize, output: &RunResult, text: Option<&str>) {
    let lines = || cells(text.unwrap_or_default());
    let numbers =
        |rows: &[u64]| rows.iter().map(|row| (row + 1).to_string()).collect::<Vec<_>>().join(" ");
    match output {
        RunResult::Rows(rows) => {
            let expected = common_rows(party);
            assert_eq!(rows.iter().collect::<Vec<_>>(), expected);
            assert_eq!(rows.words(), [expected.iter().fold(0, |word, row| word | 1 << row)]);
            assert_eq!((rows.len(), rows.keys()), (KEYS[party].len() as u64, 3));
            assert_eq!((rows.count(), rows.contains(64)), (expected.len() as u64, false));
            let expected: Vec<&str> =
                expected.iter().map(|row| KEYS[party][*row as usize]).collect();
            assert!(text.is_none() || lines().iter().map(|row| row[0]).eq(expected));
        }
        RunResult::Cardinality(count) => {
            assert_eq!(*count, 3);
            assert!(text.is_none_or(|text| text == format!("keys_in_common\n{count}\n")));
        }
        RunResult::Threshold { min, reached } => {
            assert_eq!((*min, *reached), (3, true));
            assert!(text.is_none_or(|text| text == "threshold,reached\n3,true\n"));
        }
        RunResult::Sums { keys, columns } => {
            let [only] = &columns[..] else { panic!("{columns:?}") };
            assert_eq!((&*only.column, only.sum), ("amount", 120));
            assert!(keys.is_none_or(|keys| keys == 3));
            assert!(text.is_none() || lines()[0][..2] == ["amount", "120"]);
        }
        RunResult::Union(union) => {
            assert_eq!((union.len(), union.columns()), (9, &["id".to_owned()][..]));
            let new = union.entries().filter(|entry| entry.rows.is_none()).count();
            assert_eq!(new as u64, union.new_keys());
            for (index, entry) in union.entries().enumerate() {
                let is_new = if entry.rows.is_none() { "yes" } else { "no" };
                let own = entry.rows.clone().unwrap_or_default();
                assert!(own.iter().all(|row| KEYS[party][*row as usize] == entry.values[0]));
                let row = [entry.values[0], is_new, &numbers(&own)];
                assert!(text.is_none() || lines()[index] == row);
            }
        }
        RunResult::Ids(ids) => {
            assert_eq!((ids.len(), ids.columns()), (9, &["id".to_owned()][..]));
            let by_row = ids.by_row();
            assert!(
                by_row
                    .iter()
                    .map(Option::is_some)
                    .eq(KEYS[party].iter().map(|key| !key.is_empty()))
            );
            for (index, entry) in ids.entries().enumerate() {
                assert!(entry.rows.iter().all(|row| by_row[*row as usize] == Some(*entry.id)));
                let id: String = entry.id.iter().map(|byte| format!("{byte:02x}")).collect();
                let key = entry.values.map_or("", |values| values[0]);
                assert!(text.is_none() || lines()[index] == [&*id, key, &numbers(&entry.rows)]);
            }
        }
        RunResult::Shares { file, .. } => {
            assert_eq!(file.values.len(), usize::from(file.keys.is_none()))
        }
        other => panic!("{other:?}"),
    }
}

/// Joins the rows to the entries by the order that both parties know.
fn joined_by_their_order(combined: &Combined, orders: [&SharesOrder; 2]) {
    let known = orders.map(|order| (order.columns(), order.lines().collect::<Vec<_>>()));
    let of = |party: usize| (known[party].0, &known[party].1[..]);
    let rows = |line: &OrderLine| match line {
        OrderLine::Rows(rows) => rows.clone(),
        other => panic!("{other:?}"),
    };
    match (of(0), of(1)) {
        // Shared values: party two has them.
        ((["entry", "common"], common), (["entry", "rows"], lines)) => {
            assert_eq!((common.len(), lines.len()), (6, 6));
            for (entry, line) in lines.iter().enumerate() {
                let [row] = rows(line)[..] else { panic!("{line:?}") };
                let is_common = common_rows(1).contains(&row);
                assert_eq!(common[entry], OrderLine::Common(is_common));
                let key = KEYS[1][row as usize];
                let value = if is_common { format!("{key}0") } else { "0".to_owned() };
                assert_eq!(combined.cells(entry), [value]);
            }
        }
        (one, two) => {
            let (sender, (["place", "rows"], items), (["entry", "place"], places)) =
                (match (one.0, two.0) {
                    (["place", "rows"], _) => (0, one, two),
                    _ => (1, two, one),
                })
            else {
                panic!("{one:?}, {two:?}")
            };
            let keys = KEYS[sender].iter().filter(|key| !key.is_empty()).collect::<BTreeSet<_>>();
            assert_eq!((items.len(), places.len()), (keys.len(), 3));
            let mut found = Vec::new();
            for place in places {
                let OrderLine::Place(place) = place else { panic!("{place:?}") };
                found.extend(rows(&items[*place as usize]));
            }
            found.sort_unstable();
            assert_eq!(found, common_rows(sender), "all rows of a repeated key");
        }
    }
}

fn check(operation: Operation, receives: &str) {
    let pair = pair();
    let agreement = agreement(&pair, operation, receives);
    let ending = match operation {
        Operation::Shares | Operation::SharedValues => "json",
        _ => "csv",
    };
    for with_files in [false, true] {
        let finished = finish(&pair, &agreement, with_files);
        let receivers = agreement.receiver_names().count();
        assert_eq!(result_files(&pair), if with_files { receivers } else { 0 }, "{operation:?}");
        for (party, Finished { report, output }) in finished.iter().enumerate() {
            let name = ["one", "two"][party];
            if !agreement.is_receiver_of_result(name) {
                assert_eq!((output, report.result.learned), (&RunResult::Nothing, false));
                continue;
            }
            assert_eq!(output.keys_in_common(), report.result.matched_keys);
            let rows = output.rows().map(RowSet::count);
            assert_eq!(rows.filter(|_| with_files), report.result.rows_written);
            let path = pair.path(&format!("{name}.out.{ending}"));
            let text = with_files.then(|| fs::read_to_string(&path).unwrap());
            compare(party, output, text.as_deref());
            // Writing it again gives the same file.
            let source = pair.path(&format!("{name}.csv"));
            let source = Source::open(source, &ReadOptions::default()).unwrap();
            let again = OutputOptions { path: pair.path(&format!("again.{ending}")), force: true };
            output.write(&source, &again, &mut |_| ControlFlow::Continue(())).unwrap();
            let written = fs::read_to_string(&again.path).unwrap();
            assert!(text.is_none_or(|text| text == written), "{operation:?}");
            if let RunResult::Shares { file, .. } = output {
                assert_eq!(SharesFile::load(&again.path).as_ref(), Ok(file));
            }
        }
        if let [
            RunResult::Shares { file: one, order: first },
            RunResult::Shares { file: two, order: second },
        ] = finished.each_ref().map(|one| &one.output)
        {
            let combined = combine(one, two).unwrap();
            let entries = combined.entries();
            assert!(entries == if operation == Operation::Shares { 3 } else { 6 }, "{entries}");
            joined_by_their_order(&combined, [first, second]);
        }
        if let [RunResult::Ids(one), RunResult::Ids(two)] =
            finished.each_ref().map(|one| &one.output)
        {
            let of =
                |rows: Vec<Option<[u8; 16]>>| rows.into_iter().flatten().collect::<BTreeSet<_>>();
            assert_eq!(of(one.by_row()).intersection(&of(two.by_row())).count(), 3);
        }
    }
}

macro_rules! operations {
    ($($name:ident: $operation:ident for $($receives:literal),+;)+) => {$(
        #[test]
        fn $name() {
            $(check(Operation::$operation, $receives);)+
        }
    )+};
}

operations! {
    rows_in_memory_are_those_of_the_file: Intersection for "one", "two", "all";
    a_count_in_memory_is_that_of_the_file: Cardinality for "one", "two", "all";
    an_answer_in_memory_is_that_of_the_file: Threshold for "one", "two", "all";
    a_sum_in_memory_is_that_of_the_file: Sum for "one", "two", "all";
    a_union_in_memory_is_that_of_the_file: Union for "one", "two", "all";
    ids_in_memory_are_those_of_the_file: PrivateId for "all";
    shares_in_memory_are_those_of_the_file: Shares for "all";
    shared_values_in_memory_are_those_of_the_file: SharedValues for "all";
}

#[test]
fn outside_the_bounds_there_is_no_output_and_no_file() {
    let pair = pair();
    let head = "operation = \"intersection\"\nreceives = \"one\"\nsecurity = \"semi-honest\"\n\
                min_matches = 4\n";
    let key = "[[key]]\nname = \"id\"\nprofile = \"exact\"\n";
    let agreement = pair.agreement_of(head, key, ["max_rows = 50"; 2]);
    for finished in finish(&pair, &agreement, true) {
        assert_eq!(finished.output, RunResult::OutsideBounds);
        assert_eq!(finished.report.result.within_bounds, Some(false));
    }
    assert_eq!(result_files(&pair), 0);
}
