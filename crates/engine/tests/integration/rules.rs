//! Rows that match under any of several rules, against a plain comparison of all rows.

use crate::support::{Pair, both_finish};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use std::fs;
use vesica_agreement::Agreement;
use vesica_engine::{Finished, RunResult};

const COLUMNS: [&str; 4] = ["born", "email", "name", "phone"];

/// The cells of a row, by column; an empty cell has no value.
type Cells = [String; 4];

/// A table in which some rows resemble `other` in some columns.
fn table(rng: &mut ChaCha20Rng, rows: usize, values: u32, other: &[Cells]) -> Vec<Cells> {
    (0..rows)
        .map(|_| {
            let like = other.get(rng.random_range(0..2 * rows));
            std::array::from_fn(|column| match (rng.random_range(0..8), like) {
                (0, _) => String::new(),
                (1..=5, Some(like)) => like[column].clone(),
                _ => rng.random_range(0..values).to_string(),
            })
        })
        .collect()
}

/// A column of a rule, and the transform of its value, if it has one.
type Column = (usize, &'static str);

/// Transforms, most of them none; the last two can make several texts of a value.
const TRANSFORMS: [&str; 6] = ["", "", "first(1)", "last(2)", "delete-one", "replace-one"];

/// The most keys of a row under a rule that has several.
const MOST: usize = 5;

/// Different sets of columns.
fn rules(rng: &mut ChaCha20Rng, most: usize) -> Vec<Vec<Column>> {
    let number = rng.random_range(1..=most);
    let mut rules = BTreeSet::new();
    while rules.len() < number {
        let columns: Vec<usize> = (0..4).filter(|_| rng.random_bool(0.5)).collect();
        let transform = |column| (column, TRANSFORMS[rng.random_range(0..TRANSFORMS.len())]);
        let columns: Vec<Column> = columns.into_iter().map(transform).collect();
        if !columns.is_empty() {
            rules.insert(columns);
        }
    }
    rules.into_iter().collect()
}

fn has_several(rule: &[Column]) -> bool {
    rule.iter().any(|(_, transform)| transform.ends_with("-one"))
}

/// The keys of `row` under the rule of this number, written out: no key if a cell is empty, or if
/// there are more than [`MOST`].
fn keys_under(number: usize, rule: &[Column], row: &Cells) -> Vec<(usize, Vec<String>)> {
    let mut keys = vec![Vec::new()];
    for (column, transform) in rule {
        let cell = &row[*column];
        let texts: BTreeSet<String> = match *transform {
            _ if cell.is_empty() => BTreeSet::new(),
            "first(1)" => [cell[..1].to_owned()].into(),
            "last(2)" => [cell[cell.len().saturating_sub(2)..].to_owned()].into(),
            "delete-one" => {
                let shorter = (0..cell.len()).map(|at| cell[..at].to_owned() + &cell[at + 1..]);
                // A value of one character is not compared with nothing.
                shorter.filter(|text| !text.is_empty()).chain([cell.clone()]).collect()
            }
            "replace-one" => {
                (0..cell.len()).map(|at| cell[..at].to_owned() + "*" + &cell[at + 1..]).collect()
            }
            _ => [cell.clone()].into(),
        };
        let with = |key: &Vec<String>| {
            texts
                .iter()
                .map(|text| [&key[..], std::slice::from_ref(text)].concat())
                .collect::<Vec<_>>()
        };
        keys = keys.iter().flat_map(with).collect();
    }
    if keys.len() > MOST { Vec::new() } else { keys.into_iter().map(|key| (number, key)).collect() }
}

/// The rows of `own` that match a row of `other`, each with the rules under which it does, and how
/// many keys they have in common.
fn plain(own: &[Cells], other: &[Cells], rules: &[Vec<Column>]) -> (Vec<(u64, String)>, u64) {
    let keys = |row: &Cells| {
        let rules = rules.iter().enumerate();
        rules.flat_map(|(number, rule)| keys_under(number, rule, row)).collect::<Vec<_>>()
    };
    let theirs: BTreeSet<_> = other.iter().flat_map(keys).collect();
    let matched = |row: &Cells| {
        let common = keys(row).into_iter().filter(|key| theirs.contains(key));
        let rules: BTreeSet<String> = common.map(|(rule, _)| format!("rule {rule}")).collect();
        rules.into_iter().collect::<Vec<_>>().join("; ")
    };
    let rows = (0..).zip(own).map(|(row, cells)| (row, matched(cells)));
    let rows = rows.filter(|(_, rules)| !rules.is_empty()).collect();
    let ours: BTreeSet<_> = own.iter().flat_map(keys).collect();
    (rows, ours.intersection(&theirs).count() as u64)
}

/// The tables of the keys that rules use, and of the rules.
fn tables(rules: &[Vec<Column>]) -> String {
    let used: BTreeSet<usize> = rules.concat().into_iter().map(|(column, _)| column).collect();
    let key =
        |column: &usize| format!("[[key]]\nname = \"{}\"\nprofile = \"exact\"\n", COLUMNS[*column]);
    let column = |(column, transform): &Column| match *transform {
        "" => COLUMNS[*column].to_owned(),
        transform => format!("{} | {transform}", COLUMNS[*column]),
    };
    let rule = |(number, columns): (usize, &Vec<Column>)| {
        let most = if has_several(columns) { format!("most = {MOST}\n") } else { String::new() };
        let columns: Vec<String> = columns.iter().map(column).collect();
        format!("[[rule]]\nname = \"rule {number}\"\ncolumns = {columns:?}\n{most}")
    };
    let keys: String = used.iter().map(key).collect();
    keys + &rules.iter().enumerate().map(rule).collect::<String>()
}

fn finish(pair: &Pair, agreement: &Agreement) -> [Finished; 2] {
    let finished = both_finish(|party, endpoint| pair.job_of(party, agreement.clone(), endpoint));
    finished.map(|result| result.unwrap_or_else(|error| panic!("{error}")))
}

/// Runs random tables under random rules, and compares the rows of both parties.
fn agree_with_plain_rows(seed: u64, head: &str, rows: [usize; 2], values: u32, both: bool) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let one = table(&mut rng, rows[0], values, &[]);
    let two = table(&mut rng, rows[1], values, &one);
    let rules = rules(&mut rng, 6);
    let pair = Pair::new();
    for (name, table) in [("one", &one), ("two", &two)] {
        let lines: Vec<String> = table.iter().map(|row| row.join(",")).collect();
        let text = format!("{}\n{}\n", COLUMNS.join(","), lines.join("\n"));
        fs::write(pair.path(&format!("{name}.csv")), text).unwrap();
    }
    let receives = if both { "all" } else { "two" };
    let shows = !seed.is_multiple_of(3);
    let head = format!(
        "operation = \"intersection\"\nreceives = \"{receives}\"\nshow_rules = {shows}\n{head}"
    );
    let limits = ["max_rows = 5000\nmin_rows = 0"; 2];
    let agreement = pair.agreement_of(&head, &tables(&rules), limits);
    let finished = finish(&pair, &agreement);
    let expected = [plain(&one, &two, &rules), plain(&two, &one, &rules)];
    for (party, (finished, (rows, keys))) in finished.iter().zip(expected).enumerate() {
        match &finished.output {
            RunResult::Rows(found) => {
                assert!(both || party == 1);
                let lens = [&one, &two].map(|table| table.len() as u64);
                let own = found.iter().map(|row| (row, found.rules_of(row))).collect::<Vec<_>>();
                let told = |(row, rules)| (row, if shows { rules } else { String::new() });
                let expected: Vec<_> = rows.into_iter().map(told).collect();
                assert_eq!(own, expected, "{seed}: {rules:?}");
                assert_eq!((found.len(), found.keys()), (lens[party], keys), "{seed}");
                assert_eq!(found.has_rules(), shows);
            }
            RunResult::Nothing => assert!(!both && party == 0),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn rows_match_under_any_rule() {
    for (seed, (security, protocol)) in
        [("semi-honest", "rr22"), ("malicious", "rr22_malicious"), ("semi-honest", "dh")]
            .into_iter()
            .cycle()
            .take(9)
            .enumerate()
    {
        let head = format!("security = \"{security}\"\nprotocol = \"{protocol}\"\n");
        let rows = [[40, 70], [1, 90], [120, 30]][seed / 3];
        agree_with_plain_rows(seed as u64, &head, rows, 30, seed % 2 == 0);
    }
}

#[test]
fn rows_match_under_any_rule_with_hidden_sizes() {
    let head = "security = \"malicious\"\nhide_sizes = true\n";
    agree_with_plain_rows(100, head, [60, 40], 20, true);
}

#[test]
fn rows_match_under_any_rule_in_partitions() {
    // Of the last, the rows would fit into one partition, but not their keys.
    for (seed, security, rows) in [
        (200, "malicious", [2500, 1800]),
        (201, "semi-honest", [2500, 1800]),
        (202, "malicious", [700, 650]),
    ] {
        let head = format!("security = \"{security}\"\npartition_rows = 1000\n");
        agree_with_plain_rows(seed, &head, rows, 400, true);
    }
}
