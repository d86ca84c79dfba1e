//! Unions, private ids, sums of several columns and shares, by two real processes, and what is
//! refused.

mod computed;
mod shares;
mod sums;

use crate::support;
use serde_json::Value;
use shares::{combine, run_with_orders};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use support::{Ended, Place, Terms, vesica};

const TERMS: Terms<'static> = Terms { max_rows: 500, ..support::TERMS };

/// `email,amount,change` of people `range`; the amount is three times the number, the change its
/// negative.
fn people(range: std::ops::Range<u64>) -> String {
    let rows = range.map(|i| format!("User{i}@Example.com,{},-{i}\n", 3 * i));
    "email,amount,change\n".to_owned() + &rows.collect::<String>()
}

fn place(one: std::ops::Range<u64>, two: std::ops::Range<u64>) -> Place {
    let place = Place::new();
    place.write("one.csv", people(one));
    place.write("two.csv", people(two));
    place
}

fn with_report(place: &Place, mut command: Command, report: &str) -> Command {
    command.arg("--report").arg(place.path(report));
    command
}

/// Runs both with these output files.
fn run(place: &Place, terms: &Terms<'_>, outputs: [Option<&str>; 2]) -> [Ended; 2] {
    place.agreement("agreement.toml", terms);
    let one = place.run("agreement.toml", "one", "one.csv", outputs[0]);
    let two = place.run("agreement.toml", "two", "two.csv", outputs[1]);
    let one = with_report(place, one, "one.json");
    let two = with_report(place, two, "two.json");
    place.run_both(one, two)
}

#[track_caller]
fn run_well(place: &Place, terms: &Terms<'_>, outputs: [Option<&str>; 2]) -> [Ended; 2] {
    let ended = run(place, terms, outputs);
    for ended in &ended {
        ended.assert_code(0);
    }
    ended
}

fn result(place: &Place, report: &str) -> Value {
    let report: Value = serde_json::from_str(&place.read(report)).unwrap();
    report["result"].clone()
}

/// Pairs of sets: overlapping, disjoint, equal, and with one or both empty.
const SETS: [[std::ops::Range<u64>; 2]; 6] =
    [[0..20, 15..40], [0..9, 50..60], [0..30, 0..30], [0..0, 0..12], [0..12, 0..0], [0..0, 0..0]];

/// A place for each of the sets, which may be empty.
fn sets() -> impl Iterator<Item = (Place, [BTreeSet<u64>; 2])> {
    SETS.into_iter().map(|[one, two]| {
        let (first, second) = (one.clone().collect(), two.clone().collect());
        (place(one, two), [first, second])
    })
}

fn mail(i: u64) -> String {
    format!("user{i}@example.com")
}

const EMPTY: Terms<'static> = Terms { min_rows: 0, ..TERMS };

#[test]
fn a_union_has_every_key_once_and_marks_the_new_ones() {
    for (place, [one, two]) in sets() {
        let terms = Terms { operation: "union", receives: "all", ..EMPTY };
        run_well(&place, &terms, [Some("u1.csv"), Some("u2.csv")]);
        for (file, report, own, other) in
            [("u1.csv", "one.json", &one, &two), ("u2.csv", "two.json", &two, &one)]
        {
            let mut expected: Vec<String> =
                own.iter().zip(1..).map(|(i, row)| format!("{},no,{row}", mail(*i))).collect();
            expected.extend(other.difference(own).map(|i| mail(*i) + ",yes,"));
            expected.sort_by_key(|line| line.split(',').next().unwrap().to_owned());
            assert_eq!(place.read(file), format!("email,new,rows\n{}", lines(&expected)));
            let result = result(&place, report);
            assert_eq!(result["union_keys"], own.union(other).count());
            assert_eq!(result["new_keys"], other.difference(own).count());
            assert!(result["matched_keys"].is_null() && result["rows_written"].is_null());
            assert_eq!(result["self_check"], "passed");
        }
    }
}

fn lines(rows: &[String]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn a_union_for_one_side_reveals_nothing_to_the_other_and_contains_no_padding() {
    for more in ["", "hide_sizes = true"] {
        let place = place(0..20, 15..40);
        let terms = Terms { operation: "union", receives: "one", more, max_rows: 50, ..TERMS };
        let [one, two] = run_well(&place, &terms, [Some("u.csv"), None]);
        assert!(one.stdout.starts_with("40 keys in the union, 20 new; written to"), "{one:#?}");
        assert!(two.stdout.starts_with("done; one receives the result"), "{two:#?}");
        assert_eq!(place.read("u.csv").lines().count(), 41);
        let result = result(&place, "two.json");
        assert!(result["union_keys"].is_null() && result["new_keys"].is_null(), "{result}");
    }
}

#[test]
fn a_key_too_long_for_the_union_is_an_error_with_its_line_and_column() {
    let place = place(0..20, 8..12);
    let more = "[union]\nkey_bytes = 17\n";
    place.agreement("agreement.toml", &Terms { operation: "union", more, ..TERMS });
    let one = place.run("agreement.toml", "one", "one.csv", Some("u.csv"));
    let two = place.run_brief("agreement.toml", "two", "two.csv", None);
    let [one, _] = place.run_both(one, two);
    let says = "line 12: column \"email\" makes the key longer than 17 bytes";
    one.assert_failed(3, says);
    assert!(!one.stderr.contains("ser10"), "{one:#?}");
    place.assert_no_leftovers(&["u.csv"]);
}

/// The identifiers in a file, each with its key.
fn ids(place: &Place, file: &str) -> Vec<(String, String)> {
    let text = place.read(file);
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("id,email,rows"));
    let split = |row: &str| {
        let (id, key) = row.rsplit_once(',').unwrap().0.split_once(',').unwrap();
        (id.to_owned(), key.to_owned())
    };
    rows.map(split).collect()
}

#[test]
fn private_ids_are_the_same_where_keys_are_and_name_only_ones_own() {
    for (place, sets) in sets() {
        let terms = Terms { operation: "private-id", receives: "all", ..EMPTY };
        run_well(&place, &terms, [Some("i1.csv"), Some("i2.csv")]);
        let files = ["i1.csv", "i2.csv"].map(|file| ids(&place, file));
        let list =
            |rows: &[(String, String)]| rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>();
        assert_eq!(list(&files[0]), list(&files[1]), "both have the same list");
        assert!(files[0].is_sorted_by(|one, other| one.0 < other.0));
        assert!(files[0].iter().all(|(id, _)| id.len() == 32));
        assert_eq!(files[0].len(), sets[0].union(&sets[1]).count());
        let names = files.each_ref().map(|rows| {
            let named = rows.iter().filter(|row| !row.1.is_empty());
            named.map(|(id, key)| (key.clone(), id.clone())).collect::<BTreeMap<_, _>>()
        });
        for (names, set) in names.iter().zip(&sets) {
            assert!(
                names.keys().cloned().eq(set.iter().map(|i| mail(*i)).collect::<BTreeSet<_>>())
            );
        }
        for i in sets[0].intersection(&sets[1]) {
            assert_eq!(names[0][&mail(*i)], names[1][&mail(*i)]);
        }
        assert_eq!(result(&place, "one.json")["union_keys"], files[0].len());
    }
}

const WIDE: &str = "of = \"two\"\ncolumns = [\"amount\", \"change\"]\nbits = 64\nsigned = true\n";

#[test]
fn unions_ids_and_shares_are_their_owners_alone_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = place(0..20, 15..40);
    let mode =
        |file: &str| std::fs::metadata(place.path(file)).unwrap().permissions().mode() & 0o777;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(place.path("one.csv"), open).unwrap();
    for (operation, file) in [("union", "u.csv"), ("private-id", "i.parquet"), ("shares", "s.json")]
    {
        let terms = Terms { operation, receives: "all", ..TERMS };
        run_well(&place, &terms, [Some(file), Some(&format!("two-{file}"))]);
        assert_eq!(mode(file), 0o600, "{operation}");
    }
    run_with_orders(&place, &Terms { operation: "shares", receives: "all", ..TERMS });
    assert_eq!(mode("one.order.csv"), 0o600);
    combine(&place, &["s.json", "two-s.json", "--output", "c.csv"]).assert_code(0);
    assert_eq!(mode("c.csv"), 0o600);
    // A count is readable by others, like the input file.
    run_well(&place, &Terms { operation: "cardinality", ..TERMS }, [Some("n.csv"), None]);
    assert_eq!(mode("n.csv"), 0o644);
}

#[test]
fn invalid_values_are_refused_with_their_line_and_column() {
    let table = |more: &str| {
        format!("[sum]\nof = \"two\"\ncolumns = [\"amount\", \"change\"]\nbits = 8\n{more}\n")
    };
    let signed = "signed = true";
    let first = "signed = true\nduplicates = \"first\"";
    for (rows, more, says) in [
        ("a@b.example,1,text", signed, Some("line 2: column \"change\"")),
        ("a@b.example,1.5,0", signed, Some("line 2: column \"amount\"")),
        ("a@b.example,1,-1", "", Some("line 2: column \"change\" holds a number below zero")),
        (
            "a@b.example,128,1",
            signed,
            Some("line 2: column \"amount\" holds a number outside -2^7"),
        ),
        (
            "a@b.example,100,1\nc@b.example,1,1\nA@b.example,28,1",
            signed,
            Some("line 4: the values of one key in column \"amount\""),
        ),
        (
            "a@b.example,1,1\nc@b.example,1,1\nA@b.example,2,1",
            "duplicates = \"refuse\"",
            Some("line 4: the key is already in line 2"),
        ),
        ("a@b.example,100,1\nA@b.example,100,1", first, None),
        ("a@b.example,,", signed, None),
    ] {
        let place = Place::new();
        place.write("one.csv", "email\na@b.example\n");
        place.write("two.csv", format!("email,amount,change\n{rows}\n"));
        let more = table(more);
        place.agreement("agreement.toml", &Terms { operation: "sum", more: &more, ..TERMS });
        let one = match says {
            Some(_) => place.run_brief("agreement.toml", "one", "one.csv", None),
            None => place.run("agreement.toml", "one", "one.csv", None),
        };
        let two = place.run("agreement.toml", "two", "two.csv", None);
        let [one, two] = place.run_both(with_report(&place, one, "one.json"), two);
        match says {
            Some(says) => {
                two.assert_failed(3, says);
            }
            None => {
                one.assert_code(0);
                let sums = result(&place, "one.json")["sums"].clone();
                let expected = if rows.contains("100") { ["100", "1"] } else { ["0", "0"] };
                assert_eq!([&sums[0]["sum"], &sums[1]["sum"]], expected, "{rows}");
            }
        }
    }
}

#[test]
fn a_key_of_several_columns_comes_back_in_its_columns() {
    let place = Place::new();
    place.write("one.csv", "new,email\nx,a@b.example\n\"y,z\",b@b.example\n");
    place
        .write("two.csv", "new,email\n\"y,z\",b@b.example\ny,\"z\"\"@b.example\"\ny,c@b.example\n");
    place.agreement("plain.toml", &Terms { operation: "union", receives: "all", ..TERMS });
    let text = place.read("plain.toml") + "\n[[key]]\nname = \"new\"\nprofile = \"trim\"\n";
    place.write("agreement.toml", text);
    let one = place.run("agreement.toml", "one", "one.csv", Some("u1.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", Some("u2.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    let expected = "email,new,new_,rows\na@b.example,x,no,1\nb@b.example,\"y,z\",no,2\n\
                    c@b.example,y,yes,\n";
    assert_eq!(place.read("u1.csv"), expected);
}

fn bench(words: &[&str]) -> Value {
    let output =
        vesica().arg("bench").args(words).args(["--runs", "1", "--json"]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_benchmark_checks_every_set_operation() {
    for words in [
        &["gmrss21_cardinality", "--operation", "cardinality"][..],
        &[
            "gmrss21_cardinality_sum",
            "--operation",
            "sum",
            "--value-columns",
            "3",
            "--value-signed",
        ],
        &["gmrss21_union", "--operation", "union", "--both"],
        &["gmrss21_union", "--operation", "union", "--text-bytes", "40"],
        &["gmrss21_private_id", "--operation", "private-id"],
        &["gmrss21_secret_shared_intersection", "--operation", "shares"],
        &["gmrss21_secret_shared_intersection", "--operation", "shares", "--value-columns", "2"],
        &["gmrss21_values", "--operation", "shared-values"],
    ] {
        for shape in [&["--size", "90,50"][..], &["--size", "60", "--common", "0"]] {
            let json = bench(&[words, shape].concat());
            assert_eq!(json["result_ok"], true, "{words:?}");
            assert_eq!(json["operation"], words[2]);
        }
    }
}

#[test]
fn new_agreements_ask_for_every_set_operation() {
    for (words, lines) in [
        (&["union"][..], &["operation = \"union\"", "[union]", "key_bytes = 64"][..]),
        (&["union", "--key-bytes", "9"], &["key_bytes = 9"]),
        (&["private-id"], &["receives = \"all\""]),
        (&["shares"], &["receives = \"all\""]),
        (&["shares", "--shares-column", "a"], &["[shares]", "of = \"shop\"", "column = \"a\""]),
        (&["shared-values"], &["[shares]", "column = \"amount\"", "default = 0"]),
        (
            &["sum", "--sum-column", "a", "--sum-column", "b", "--sum-signed"],
            &[
                "receives = \"publisher\"",
                "of = \"shop\"",
                "columns = [\"a\", \"b\"]",
                "signed = true",
            ],
        ),
    ] {
        let output = vesica().args(["agree", "new", "--operation"]).args(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in lines {
            assert!(text.lines().any(|one| one.starts_with(line)), "{line} is not in\n{text}");
        }
    }
    let refused = ["agree", "new", "--operation", "private-id", "--receives", "shop"];
    let output = vesica().args(refused).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("gives each side its own result"), "{complaint}");
}
