//! Columns of one party that come along with common keys, against a plain join of all rows.

use crate::support::{Pair, both_finish, no_leftovers};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use vesica_agreement::Agreement;
use vesica_engine::{Error, Finished, RunResult};

const KEY: &str = "[[key]]\nname = \"id\"\nprofile = \"integer:64\"\n";
const LIMITS: [&str; 2] = ["max_rows = 5000\nmin_rows = 0"; 2];

/// The key of a row and its text, number and day.
type Row = (u64, [String; 3]);

fn day(rng: &mut ChaCha20Rng) -> String {
    let [year, month, day] = [1..=9999, 1..=12, 1..=28].map(|range| rng.random_range(range));
    format!("{year:04}-{month:02}-{day:02}")
}

fn table(rng: &mut ChaCha20Rng, rows: usize, keys: u64) -> Vec<Row> {
    let cell = |rng: &mut ChaCha20Rng, column| match (rng.random_range(0..5), column) {
        (0, _) => String::new(),
        (_, 0) => ["a", "\u{e9}t\u{e9}", "north wing", "123456789012345678901234"]
            [rng.random_range(0..4)]
        .to_owned(),
        (_, 1) => rng.random::<i64>().to_string(),
        _ => day(rng),
    };
    let row = |rng: &mut ChaCha20Rng| {
        let key = rng.random_range(0..keys);
        (key, std::array::from_fn(|column| cell(rng, column)))
    };
    (0..rows).map(|_| row(rng)).collect()
}

fn write(pair: &Pair, name: &str, rows: &[Row]) {
    let lines: String = rows
        .iter()
        .map(|(key, [text, number, day])| format!("{key},{text},{number},{day}\n"))
        .collect();
    fs::write(pair.path(&format!("{name}.csv")), format!("id,text,number,day\n{lines}")).unwrap();
}

fn columns(of: &str, duplicates: &str) -> String {
    format!(
        "[[columns]]\nof = \"{of}\"\nnames = [\"text\", \"number\", \"day\"]\n\
         types = [\"text 24\", \"integer\", \"date\"]\nduplicates = \"{duplicates}\"\n"
    )
}

fn outcome(pair: &Pair, agreement: &Agreement) -> [Result<Finished, Error>; 2] {
    both_finish(|party, endpoint| {
        let mut job = pair.job_of(party, agreement.clone(), endpoint);
        // The receiver's file has columns of the same names, and the result both.
        if let Some(output) = &mut job.output {
            output.force = true;
        }
        job
    })
}

/// Runs random tables, in which keys repeat, and compares what the file of each receiver holds with
/// a plain join.
fn agrees_with_a_plain_join(seed: u64, head: &str, rows: [usize; 2], of: usize, both: bool) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let keys = 1 + rows.iter().sum::<usize>() as u64;
    let tables = rows.map(|rows| table(&mut rng, rows, keys));
    let pair = Pair::new();
    let names = ["one", "two"];
    for (name, table) in names.iter().zip(&tables) {
        write(&pair, name, table);
    }
    let receives = if both { "all" } else { names[1 - of] };
    let head = format!("operation = \"intersection\"\nreceives = \"{receives}\"\n{head}");
    let tables_of = columns(names[of], "first") + KEY;
    let agreement = pair.agreement_of(&head, &tables_of, LIMITS);
    let finished = outcome(&pair, &agreement);
    for (party, finished) in finished.into_iter().enumerate() {
        let finished = finished.unwrap_or_else(|error| panic!("{head}: {error}"));
        if party == of && !both {
            assert!(matches!(finished.output, RunResult::Nothing), "{head}");
            continue;
        }
        let mut theirs = HashMap::new();
        for (key, cells) in &tables[1 - party] {
            theirs.entry(key).or_insert(cells);
        }
        let line = |(key, [text, number, day]): &Row| {
            let cells = theirs.get(key)?;
            let more = if party == of { String::new() } else { format!(",{}", cells.join(",")) };
            Some(format!("{key},{text},{number},{day}{more}\n"))
        };
        let expected: String = tables[party].iter().filter_map(line).collect();
        let path = pair.path(&format!("{}.out.csv", names[party]));
        let found = fs::read_to_string(&path).unwrap();
        let (header, found) = found.split_once('\n').unwrap();
        let prefix = names[of];
        let more = format!(",{prefix}_text,{prefix}_number,{prefix}_day");
        let more = if party == of { "" } else { &more };
        assert_eq!(header, format!("id,text,number,day{more}"), "{head}");
        assert_eq!(found, expected, "{seed} {head}");
        if party != of {
            // The input can be read by others.
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

fn of_protocol(protocol: &str) -> String {
    let security = if protocol == "rr22_malicious" { "malicious" } else { "semi-honest" };
    format!("security = \"{security}\"\nprotocol = \"{protocol}\"\n")
}

#[test]
fn common_keys_bring_the_columns_of_the_other_party() {
    let protocols = ["rr22", "rr22_malicious", "rr22_low_communication"];
    let sizes = [[40, 70], [1, 90], [300, 20], [5, 0], [0, 5]];
    for (seed, (rows, protocol)) in
        sizes.into_iter().flat_map(|rows| protocols.map(|protocol| (rows, protocol))).enumerate()
    {
        let (of, both) = (seed % 2, seed % 3 == 0 || seed % 5 == 1);
        agrees_with_a_plain_join(seed as u64, &of_protocol(protocol), rows, of, both);
    }
}

#[test]
fn columns_come_along_with_hidden_sizes() {
    for (seed, protocol) in ["rr22", "rr22_malicious"].into_iter().enumerate() {
        let head = of_protocol(protocol) + "hide_sizes = true\n";
        agrees_with_a_plain_join(100 + seed as u64, &head, [60, 40], seed, true);
    }
}

/// Sets with columns are matched whole.
#[test]
fn columns_come_along_with_sets_that_would_be_split() {
    for (seed, security) in ["malicious", "semi-honest"].into_iter().enumerate() {
        let head = format!("security = \"{security}\"\npartition_rows = 1000\n");
        agrees_with_a_plain_join(200 + seed as u64, &head, [4000, 3000], seed, seed == 0);
    }
}

/// Both parties' outcomes if `two` sends its columns, in a file of these lines, to `one`.
#[track_caller]
fn refused(lines: &str, tables: &str, says: &str) {
    let pair = Pair::new();
    fs::write(pair.path("one.csv"), "id\n1\n2\n").unwrap();
    fs::write(pair.path("two.csv"), lines).unwrap();
    let head = "operation = \"intersection\"\nreceives = \"one\"\nsecurity = \"malicious\"";
    let agreement = pair.agreement_of(head, &(tables.to_owned() + KEY), LIMITS);
    let [one, two] = outcome(&pair, &agreement);
    assert!(one.is_err(), "{one:?}");
    let error = two.expect_err(lines);
    let Error::Input(fault) = &error else { panic!("{error:?}") };
    assert!(fault.to_string().contains(says), "{fault}");
    no_leftovers(&pair);
}

#[test]
fn cells_that_do_not_fit_are_refused_before_the_run() {
    let of = |row: &str| format!("id,text,number,day\n7,,,\n{row}\n");
    let tables = columns("two", "refuse");
    let long = "1234567890123456789012345";
    refused(&of(&format!("8,{long},,")), &tables, "line 3");
    // 24 characters are more bytes.
    refused(&of(&format!("8,{},,", "\u{e9}".repeat(24))), &tables, "24 bytes");
    refused(&of("8,,1.5,"), &tables, "\"number\"");
    refused(&of("8,,9223372036854775808,"), &tables, "\"number\"");
    refused(&of("8,,,29.11.2026"), &tables, "\"day\"");
    refused(&of("8,,,2026-02-30"), &tables, "\"day\"");
    refused(&of("7,,,"), &tables, "line 3");
}

#[test]
fn a_file_without_an_agreed_column_is_refused() {
    refused("id,text,number\n7,a,1\n", &columns("two", "first"), "day");
}
