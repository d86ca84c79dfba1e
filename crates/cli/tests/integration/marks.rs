//! `--mark`: all rows, with a column that marks the common ones; `--refused`: the refused rows.

use crate::support::{Ended, Place, Running, TERMS, Terms, people, vesica};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Party `one` has four rows: the second is refused and the third is not common. Party `two` has
/// people 1 to 8.
fn place(terms: &Terms<'_>) -> Place {
    let place = Place::new();
    let rows = people(1..9);
    let [first, last] = [1, 4].map(|line| rows.lines().nth(line).unwrap().to_owned());
    let text = format!("id,email\n{first}\n9,secret-cell\n10,nobody@nowhere.example\n{last}\n");
    place.write("one.csv", text);
    place.write("two.csv", rows);
    place.agreement("agreement.toml", &Terms { receives: "one", ..*terms });
    place
}

fn check(place: &Place, more: &[&str]) -> Ended {
    let mut command = vesica();
    command.arg("check").arg(place.path("agreement.toml")).args(["--quiet", "--key"]);
    command.arg(place.path("one.key")).arg("--input").arg(place.path("one.csv")).args(more);
    Running::start(command).wait()
}

fn assert_listed(place: &Place, name: &str) {
    let list = place.read(name);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "line,column,reason"), "{list}");
    assert!(lines[1].starts_with("3,email,"), "{list}");
    assert!(!list.contains("secret"), "{list}");
    let mode = fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn all_rows_are_written_with_a_mark_and_refused_ones_are_listed() {
    let place = place(&TERMS);
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--mark", "in_common", "--refused"]).arg(place.path("refused.csv"));
    one.arg("--report").arg(place.path("report.json"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let [one, two] = place.run_both(one, two);
    one.assert_code(0);
    two.assert_code(0);
    let told = "2 keys in common; 4 rows written to";
    assert!(one.stdout.contains(told) && one.stdout.contains(", 2 marked"), "{one:#?}");
    let (given, written) = (place.read("one.csv"), place.read("out.csv"));
    let mark = ["in_common", "1", "0", "0", "1"];
    let marked = given.lines().zip(mark).map(|(line, mark)| format!("{line},{mark}"));
    assert!(written.lines().eq(marked), "{written}");
    assert_listed(&place, "refused.csv");
    let report: Value = serde_json::from_str(&place.read("report.json")).unwrap();
    let result = &report["result"];
    assert_eq!((&result["rows_written"], &result["rows_marked"]), (&4.into(), &2.into()));
}

/// The cells that both parties' rows have in the last column, by address; none for a row without a
/// usable key.
fn marked(place: &Place, operation: &'static str) -> [Vec<(String, String)>; 2] {
    place.agreement("agreement.toml", &Terms { operation, receives: "all", ..TERMS });
    let [one, two] = ["one", "two"].map(|party| {
        let input = format!("{party}.csv");
        let output = format!("{party}.out.csv");
        let mut command = place.run("agreement.toml", party, &input, Some(&output));
        command.args(["--mark", "mark", "--force"]);
        command
    });
    let [one, two] = place.run_both(one, two);
    one.assert_code(0);
    two.assert_code(0);
    assert!(one.stdout.contains("; 4 rows written to") && one.stdout.contains(", 3 marked"));
    ["one", "two"].map(|party| {
        let written = place.read(&format!("{party}.out.csv"));
        let given = place.read(&format!("{party}.csv"));
        let mode = fs::metadata(place.path(&format!("{party}.out.csv"))).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        assert_eq!(written.lines().count(), given.lines().count());
        let rows = written.lines().zip(given.lines()).map(|(written, given)| {
            let cell = written.strip_prefix(given).unwrap().strip_prefix(',').unwrap();
            (given.split(',').nth(1).unwrap().to_owned(), cell.to_owned())
        });
        rows.collect()
    })
}

#[test]
fn rows_of_private_ids_and_of_a_union_join_on_their_mark() {
    let place = place(&TERMS);
    for operation in ["private-id", "union"] {
        let [one, two] = marked(&place, operation);
        assert_eq!((&*one[0].1, &*two[0].1), ("mark", "mark"));
        assert_eq!((&*one[2].0, &*one[2].1), ("secret-cell", ""), "{operation}");
        let cell_at = |rows: &[(String, String)], address: &str| {
            rows.iter().find(|(other, _)| other == address).map(|(_, cell)| cell.clone())
        };
        for row in [1, 3, 4] {
            let (address, cell) = &one[row];
            let theirs = cell_at(&two, address);
            assert_eq!(theirs.is_some(), row != 3, "{operation}: {address}");
            assert!(theirs.is_none_or(|theirs| theirs == *cell), "{operation}: {address}");
            if operation == "private-id" {
                assert!(cell.len() == 32 && cell.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
        }
        // Different keys have different cells, and a key in a row of both sides has one.
        let mut cells: Vec<&String> = one[1..]
            .iter()
            .chain(&two[1..])
            .map(|(_, cell)| cell)
            .filter(|cell| !cell.is_empty())
            .collect();
        cells.sort();
        cells.dedup();
        assert_eq!(cells.len(), 9, "{operation}");
        if operation == "union" {
            let mut numbers: Vec<u64> = cells.iter().map(|cell| cell.parse().unwrap()).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(1..=9));
        }
    }
}

#[test]
fn the_list_is_there_when_a_run_ends_without_a_result() {
    // The run ends after the file is read, because it has too few keys.
    let place = place(&Terms { min_rows: 4, max_rows: 100, ..TERMS });
    place.write("refused.csv", "an older list");
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.arg("--refused").arg(place.path("refused.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let [one, _] = place.run_both(one, two);
    one.assert_failed(3, "at least 4");
    assert_listed(&place, "refused.csv");
    assert!(!place.path("out.csv").exists());
}

#[test]
fn a_check_lists_refused_rows_too() {
    let place = place(&TERMS);
    let list = place.path("refused.csv");
    let list = list.to_str().unwrap();
    for more in [&["--refused", list][..], &["--refused", list], &["--json", "--refused", list]] {
        check(&place, more).assert_code(0);
        assert_listed(&place, "refused.csv");
    }
    fs::remove_file(list).unwrap();
    check(&place, &["--strict", "--refused", list]).assert_code(3);
    assert_listed(&place, "refused.csv");
    // A pass that reads to the end of the file gives a complete list; with too many rows it stops
    // early.
    fs::remove_file(list).unwrap();
    place.agreement("agreement.toml", &Terms { receives: "one", max_rows: 3, ..TERMS });
    check(&place, &["--refused", list]).assert_code(3);
    assert!(!place.path("refused.csv").exists(), "a partial list would look complete");
}

#[test]
fn the_list_takes_the_name_of_no_other_file_of_the_run() {
    let place = place(&TERMS);
    let input = place.read("one.csv");
    for name in ["one.csv", "agreement.toml", "one.key", "out.csv", "list.xlsx", "no/list.csv"] {
        let before = fs::read(place.path(name)).ok();
        let mut one = place.run_brief("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--listen", "127.0.0.1:0", "--refused"]).arg(place.path(name));
        let ended = Running::start(one).wait();
        assert!(ended.code.is_some_and(|code| [2, 3].contains(&code)), "{name}: {ended:#?}");
        if name != "out.csv" {
            let list = place.path(name);
            let ended = check(&place, &["--refused", list.to_str().unwrap()]);
            assert!(ended.code.is_some_and(|code| [2, 3].contains(&code)), "{name}: {ended:#?}");
        }
        assert_eq!(fs::read(place.path(name)).ok(), before, "{name}");
    }
    assert_eq!(place.read("one.csv"), input);
}

#[test]
fn a_mark_is_refused_before_anyone_is_met() {
    for (operation, party, mark, code, says) in [
        ("cardinality", "one", "hit", 3, "--mark is only for an intersection, a union and private"),
        ("cardinality", "one", "hit", 3, "and the operation is cardinality"),
        ("union", "one", "email", 3, "the result already has a column \"email\""),
        ("intersection", "one", "email", 3, "the result already has a column \"email\""),
        ("intersection", "two", "hit", 3, "two does not receive the result"),
        ("intersection", "one", "", 2, "a name of a column has 1 to 256 bytes"),
    ] {
        let place = place(&TERMS);
        let receives = if operation == "union" { "all" } else { "one" };
        place.agreement("agreement.toml", &Terms { operation, receives, ..TERMS });
        let input = format!("{party}.csv");
        let mut one = place.run_brief("agreement.toml", party, &input, Some("out.csv"));
        one.args(["--listen", "127.0.0.1:0", "--mark", mark]);
        Running::start(one).wait().assert_failed(code, says);
        assert!(!place.path("out.csv").exists());
    }
    let place = place(&TERMS);
    let mut one = place.run_brief("agreement.toml", "one", "one.csv", None);
    one.args(["--listen", "127.0.0.1:0", "--mark", "hit"]);
    Running::start(one).wait().assert_failed(2, "--output");
}
