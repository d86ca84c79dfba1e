//! Unions, private ids, sums of several columns and shares, by two real processes, and what is refused.

use crate::support;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use support::{Ended, Place, Terms, vesica};

const TERMS: Terms<'static> = Terms { max_rows: 500, ..support::TERMS };

/// `email,amount,change` of people `range`; the amount is three times the number, the change its negative.
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

/// Sets around every edge: apart, one in the other, the same, and empty ones.
const SETS: [[std::ops::Range<u64>; 2]; 6] =
    [[0..20, 15..40], [0..9, 50..60], [0..30, 0..30], [0..0, 0..12], [0..12, 0..0], [0..0, 0..0]];

/// With these sets; sides may be empty.
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

/// The identifiers of a file, and the keys beside them.
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
fn sums_of_several_columns_with_a_sign_come_with_their_number() {
    for receives in ["one", "all"] {
        for (place, [one, two]) in sets() {
            let more = format!("[sum]\n{WIDE}");
            run_well(
                &place,
                &Terms { operation: "sum", receives, more: &more, ..EMPTY },
                [None, None],
            );
            let common: Vec<u64> = one.intersection(&two).copied().collect();
            let sum: u64 = common.iter().sum();
            let expected =
                |sign: &str, sum: u64| if sum == 0 { "0".into() } else { format!("{sign}{sum}") };
            for (report, learns) in [("one.json", true), ("two.json", receives == "all")] {
                let result = result(&place, report);
                if !learns {
                    assert!(result["sums"].is_null() && result["matched_keys"].is_null());
                    continue;
                }
                assert_eq!(result["matched_keys"], common.len());
                assert_eq!(result["sums"][0]["sum"], expected("", 3 * sum));
                assert_eq!(result["sums"][1]["sum"], expected("-", sum));
                assert_eq!(result["sums"][1]["column"], "change");
            }
        }
    }
}

/// `email,region,amount` of people `range`, in one of three regions or in none.
fn people_of_regions(range: std::ops::Range<u64>) -> String {
    let region = |i: u64| ["north", "south", "east", ""][i as usize % 4];
    let rows = range.map(|i| format!("User{i}@Example.com,{},{}\n", region(i), 3 * i));
    "email,region,amount\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn each_group_has_a_sum_or_its_number_of_rows() {
    let groups = "by = \"region\"\ngroups = [\"north\", \"south\", \"east\"]\nbits = 20\n";
    for (receives, columns) in [("one", "column = \"amount\"\n"), ("all", "")] {
        for (place, [one, two]) in sets() {
            let rows = two.iter().min().copied().unwrap_or(0)
                ..two.len() as u64 + two.iter().min().copied().unwrap_or(0);
            place.write("two.csv", people_of_regions(rows));
            let more = format!("[sum]\nof = \"two\"\n{columns}{groups}");
            let terms = Terms { operation: "sum", receives, more: &more, ..EMPTY };
            let [ended, _] = run_well(&place, &terms, [Some("s.csv"), None]);
            let common: Vec<u64> = one.intersection(&two).copied().collect();
            let of = |group: u64| {
                let rows = common.iter().filter(|i| **i % 4 == group);
                rows.map(|i| if columns.is_empty() { 1 } else { 3 * i }).sum::<u64>()
            };
            let result = result(&place, "one.json");
            for (group, name) in ["north", "south", "east"].into_iter().enumerate() {
                let sum = of(group as u64);
                let (label, line) = match columns {
                    "" => (name.to_owned(), format!("rows of {name} over common keys: ")),
                    _ => (
                        format!("amount[{name}]"),
                        format!("sum of amount[{name}] over common keys: "),
                    ),
                };
                assert_eq!(result["sums"][group]["column"], label);
                assert_eq!(result["sums"][group]["sum"], sum.to_string());
                assert!(ended.stdout.contains(&line), "{ended:#?}");
            }
            let header = match columns {
                "" => "north,south,east",
                _ => "amount[north],amount[south],amount[east]",
            };
            let [n, s, e] = [0, 1, 2].map(of);
            let expected = format!("{header},keys_in_common\n{n},{s},{e},{}\n", common.len());
            assert_eq!(place.read("s.csv"), expected);
        }
    }
    let place = place(0..20, 15..40);
    let west = people_of_regions(15..40).replacen("south", "west", 1);
    place.write("two.csv", west);
    let more = format!("[sum]\nof = \"two\"\n{groups}");
    let [_, two] = run(&place, &Terms { operation: "sum", more: &more, ..TERMS }, [None, None]);
    assert!(two.stderr.contains("holds the name of no group"), "{two:#?}");
    assert!(!two.stderr.contains("west"), "{two:#?}");
}

#[test]
fn an_inner_product_multiplies_values_of_both_sides() {
    let table = "[product]\nof = \"two\"\ncolumns = [\"amount\", \"change\"]\nbits = 20\nsigned = \
                 true\ntimes = \"weight\"\ntimes_bits = 9\n";
    for receives in ["one", "all"] {
        for (place, [one, two]) in sets() {
            // The first key of this side has two rows, whose weights add up.
            let weights =
                one.iter().chain(one.first()).map(|i| format!("{},{}\n", mail(*i), i + 1));
            place.write("one.csv", "email,weight\n".to_owned() + &weights.collect::<String>());
            let terms = Terms { operation: "inner-product", receives, more: table, ..EMPTY };
            let [ended, _] = run_well(&place, &terms, [Some("s.csv"), None]);
            let weight = |i: &u64| (i + 1) * if one.first() == Some(i) { 2 } else { 1 };
            let common: Vec<u64> = one.intersection(&two).copied().collect();
            let sum: i64 = common.iter().map(|i| (i * weight(i)) as i64).sum();
            for (report, learns) in [("one.json", true), ("two.json", receives == "all")] {
                let result = result(&place, report);
                if !learns {
                    assert!(result["sums"].is_null() && result["matched_keys"].is_null());
                    continue;
                }
                assert_eq!(result["matched_keys"], common.len());
                assert_eq!(result["sums"][0]["column"], "amount*weight");
                assert_eq!(result["sums"][0]["sum"], (3 * sum).to_string());
                assert_eq!(result["sums"][1]["sum"], (-sum).to_string());
                assert_eq!(result["self_check"], "passed");
            }
            let line = "sum of amount*weight over common keys: ";
            assert!(ended.stdout.contains(line), "{ended:#?}");
            let header = "amount*weight,change*weight,keys_in_common";
            let expected = format!("{header}\n{},{},{}\n", 3 * sum, -sum, common.len());
            assert_eq!(place.read("s.csv"), expected);
        }
    }
    // Hidden sizes add padding, and bounds end the run; the largest values fit.
    let place = place(0..20, 15..40);
    let most = (1_u64 << 32) - 1;
    let rows = |value: u64| (15..20).map(|i| format!("{},{value}\n", mail(i))).collect::<String>();
    place.write("one.csv", format!("email,weight\n{}", rows(most)));
    place.write("two.csv", format!("email,amount\n{}", rows(u64::MAX)));
    let table = "[product]\nof = \"two\"\ncolumn = \"amount\"\nbits = 64\ntimes = \
                 \"weight\"\ntimes_bits = 32\n";
    for (head, answer) in [
        ("hide_sizes = true\nmin_matches = 5\n", Some(5 * u128::from(most) * u128::from(u64::MAX))),
        ("min_matches = 6\n", None),
    ] {
        let more = format!("{head}{table}");
        let terms = Terms { operation: "inner-product", more: &more, ..TERMS };
        run(&place, &terms, [None, None]);
        let result = result(&place, "one.json");
        match answer {
            Some(sum) => assert_eq!(result["sums"][0]["sum"], sum.to_string()),
            None => assert_eq!(result["within_bounds"], false),
        }
    }
}

#[test]
fn a_named_protocol_adds_one_column_and_reveals_the_count_and_the_file_has_both() {
    let place = place(0..20, 15..40);
    let more = "[sum]\nof = \"two\"\ncolumn = \"amount\"\nbits = 20\n";
    let protocol = "gmrss21_cardinality_sum";
    let terms = Terms { operation: "sum", protocol, more, ..TERMS };
    let [one, _] = run_well(&place, &terms, [Some("s.csv"), None]);
    assert!(
        one.stdout.starts_with("5 keys in common\nsum of amount over common keys: 255; "),
        "{one:#?}"
    );
    assert_eq!(place.read("s.csv"), "column,sum,keys_in_common\namount,255,5\n");
    let more = format!("[sum]\n{WIDE}");
    let terms = Terms { operation: "sum", more: &more, ..TERMS };
    run_well(&place, &terms, [Some("w.csv"), None]);
    assert_eq!(place.read("w.csv"), "amount,change,keys_in_common\n255,-85,5\n");
    place.write("two.csv", people(15..40).replacen("change", "keys_in_common", 1));
    let more = more.replace("change", "keys_in_common");
    run_well(&place, &Terms { more: &more, ..terms }, [Some("k.csv"), None]);
    assert_eq!(place.read("k.csv"), "amount,keys_in_common,keys_in_common_\n255,-85,5\n");
}

#[test]
fn bounds_that_the_receiver_enforces_end_the_run_on_both_sides() {
    for (operation, protocol, table) in [
        ("sum", "auto", format!("[sum]\n{WIDE}")),
        ("cardinality", "gmrss21_cardinality", String::new()),
        ("shares", "auto", format!("[shares]\n{WIDE}")),
    ] {
        let receives = if operation == "shares" { "all" } else { "one" };
        let out = (operation == "shares").then_some("x.json");
        for (bound, inside) in [("min_matches = 5", true), ("min_matches = 6", false)] {
            let place = place(0..20, 15..40);
            let more = format!("{bound}\n{table}");
            let terms = Terms { operation, protocol, receives, more: &more, ..TERMS };
            let ended = run(&place, &terms, [out, out.map(|_| "y.json")]);
            for (ended, report) in ended.iter().zip(["one.json", "two.json"]) {
                ended.assert_code(if inside { 0 } else { 1 });
                assert_eq!(result(&place, report)["within_bounds"], inside, "{operation}");
            }
            if !inside {
                let result = result(&place, "one.json");
                assert!(result["sums"].is_null() && result["matched_keys"].is_null());
                place.assert_no_leftovers(&["x.json", "y.json"]);
            }
        }
    }
}

#[test]
fn empty_values_are_counted_under_their_own_heading() {
    let place = place(0..3, 0..3);
    let more = format!("[sum]\n{WIDE}");
    place.agreement("agreement.toml", &Terms { operation: "sum", more: &more, ..TERMS });
    let check = || {
        let mut command = vesica();
        command.args(["check", "agreement.toml", "--key", "two.key", "--input", "two.csv"]);
        command.current_dir(place.path(""));
        support::Running::start(command).wait()
    };
    let ended = check();
    assert!(!ended.assert_code(0).stdout.contains("values\n"), "{ended:#?}");
    place.write("two.csv", people(0..3) + "user9@example.com,,1\n");
    let ended = check();
    let says = "\nvalues\n            1  with an empty value in one of the columns";
    assert!(ended.assert_code(0).stdout.contains(says), "{ended:#?}");
}

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
    // A count is as open as the file.
    run_well(&place, &Terms { operation: "cardinality", ..TERMS }, [Some("n.csv"), None]);
    assert_eq!(mode("n.csv"), 0o644);
}

fn combine(place: &Place, words: &[&str]) -> Ended {
    let mut command = vesica();
    command.arg("combine").args(words).current_dir(place.path(""));
    support::Running::start(command).wait()
}

fn row_of_bars(row: &str) -> String {
    row.replace(',', "|") + "\n"
}

fn sorted_rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect());
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.sort();
    rows
}

#[test]
fn shares_of_both_sides_give_the_common_keys_and_their_values() {
    for (place, [one, two]) in sets() {
        let more = format!("[shares]\n{WIDE}").replace("bits = 64", "bits = 9");
        let terms = Terms { operation: "shares", receives: "all", more: &more, ..EMPTY };
        let [first, _] = run_well(&place, &terms, [Some("a.json"), Some("b.json")]);
        let common: Vec<u64> = one.intersection(&two).copied().collect();
        assert_eq!(result(&place, "two.json")["shared_entries"], common.len());
        assert!(first.stdout.starts_with("shares of "), "{first:#?}");
        assert!(first.stdout.contains("; no self-check\n"), "{first:#?}");
        let said = [&first.stdout, &first.stderr].map(|said| said.contains("passed"));
        assert_eq!(said, [false; 2], "{first:#?}");
        assert_eq!(result(&place, "two.json")["self_check"], "none");
        let printed = combine(&place, &["a.json", "b.json"]);
        printed.assert_code(0);
        assert!(printed.stdout.starts_with("item,amount,change\n"), "{printed:#?}");
        let bare: String = place.read("one.csv").lines().skip(1).map(row_of_bars).collect();
        place.write("bare", bare + "nobody@example.com|0|0\n");
        let form = ["--no-header", "--delimiter", "|", "--format", "csv", "--column", "email=1"];
        for (file, form) in [("one.csv", &[][..]), ("two.csv", &[]), ("bare", &form)] {
            let named = ["b.json", "a.json", "--keys", file, "--agreement", "agreement.toml"];
            let named = combine(&place, &[&named, form].concat());
            named.assert_code(0);
            let rows: Vec<Vec<String>> =
                sorted_rows(&named.stdout).into_iter().map(|row| row[1..].to_vec()).collect();
            let expected = common.iter().map(|i| {
                let change = if *i == 0 { "0".to_owned() } else { format!("-{i}") };
                vec![mail(*i), (3 * i).to_string(), change]
            });
            let mut rows = rows;
            rows.sort();
            let mut expected: Vec<_> = expected.collect();
            expected.sort();
            assert_eq!(rows, expected);
        }
    }
}

#[test]
fn shared_values_are_those_of_common_keys_and_the_default_elsewhere() {
    for (place, [one, two]) in sets() {
        let more = format!("[shares]\n{WIDE}default = -7\n").replace("bits = 64", "bits = 9");
        let terms = Terms { operation: "shared-values", receives: "all", more: &more, ..EMPTY };
        run_well(&place, &terms, [Some("a.json"), Some("b.json")]);
        let ended = combine(&place, &["a.json", "b.json", "--output", "c.csv"]);
        ended.assert_code(0);
        let mut expected: Vec<Vec<String>> = two
            .iter()
            .map(|i| match one.contains(i) {
                true => vec![(3 * i).to_string(), (-(*i as i64)).to_string()],
                false => vec!["-7".to_owned(); 2],
            })
            .collect();
        expected.sort();
        assert_eq!(sorted_rows(&place.read("c.csv")), expected);
    }
}

/// Runs both with a file for the order each, and gives the rows of the combined shares and both tables of the order.
fn run_with_orders(place: &Place, terms: &Terms<'_>) -> [Vec<Vec<String>>; 3] {
    place.agreement("agreement.toml", terms);
    let command = |name: &str| {
        let (rows, shares) = (format!("{name}.csv"), format!("{name}.json"));
        let mut command = place.run("agreement.toml", name, &rows, Some(&shares));
        command.args(["--force", "--order"]).arg(place.path(&format!("{name}.order.csv")));
        command
    };
    for ended in place.run_both(command("one"), command("two")) {
        ended.assert_code(0);
    }
    let combined = combine(place, &["one.json", "two.json"]);
    combined.assert_code(0);
    let cells =
        |text: &str| text.lines().map(|row| row.split(',').map(str::to_owned).collect()).collect();
    let read = |name: &str| cells(&place.read(&format!("{name}.order.csv")));
    [cells(&combined.stdout), read("one"), read("two")]
}

/// The cells of the rows with these numbers, counted from 1, in a file.
fn rows_of(place: &Place, file: &str, numbers: &str) -> Vec<Vec<String>> {
    let text = place.read(file);
    let rows: Vec<&str> = text.lines().collect();
    let row = |number: &str| rows[number.parse::<usize>().unwrap()];
    let cells = |row: &str| row.split(',').map(str::to_owned).collect();
    numbers.split_whitespace().map(row).map(cells).collect()
}

/// The sums of the amounts and of the changes of rows.
fn sums(rows: &[Vec<String>]) -> Vec<String> {
    let sum = |column: usize| rows.iter().map(|row| row[column].parse::<i64>().unwrap()).sum();
    [1, 2].map(|column| i64::to_string(&sum(column))).to_vec()
}

#[test]
fn the_order_puts_the_rows_of_its_owner_beside_shared_values() {
    for (place, [one, two]) in sets() {
        // A key with two rows, whose values add up.
        let twice = if two.contains(&17) { "user17@example.com,51,-17\n" } else { "" };
        place.write("two.csv", place.read("two.csv") + twice);
        for hide in ["", "hide_sizes = true\n"] {
            let more = format!("{hide}[shares]\n{WIDE}default = -7\n");
            let terms = Terms { operation: "shared-values", receives: "all", more: &more, ..EMPTY };
            let [combined, of_one, of_two] = run_with_orders(&place, &terms);
            assert_eq!(
                (&*of_one[0].join(","), &*of_two[0].join(",")),
                ("entry,common", "entry,rows")
            );
            let entries = if hide.is_empty() { two.len() } else { 500 };
            assert_eq!([combined.len(), of_one.len(), of_two.len()], [entries + 1; 3]);
            let mut keys = BTreeSet::new();
            for entry in 1..=entries {
                assert_eq!([&of_one[entry][0], &of_two[entry][0]], [&entry.to_string(); 2]);
                let rows = rows_of(&place, "two.csv", &of_two[entry][1]);
                let Some(row) = rows.first() else {
                    // Padding.
                    assert_eq!(
                        (&*of_one[entry][1], combined[entry].join(",")),
                        ("no", "-7,-7".into())
                    );
                    continue;
                };
                assert!(rows.iter().all(|other| other[0].eq_ignore_ascii_case(&row[0])));
                let key = row[0].to_lowercase();
                let is_common = one.iter().any(|i| mail(*i) == key);
                assert_eq!(of_one[entry][1], if is_common { "yes" } else { "no" });
                let expected = if is_common { sums(&rows) } else { vec!["-7".to_owned(); 2] };
                assert_eq!(combined[entry], expected, "{key}");
                keys.insert(key);
            }
            assert!(keys == two.iter().map(|i| mail(*i)).collect());
        }
    }
}

#[test]
fn both_orders_together_put_rows_beside_shares() {
    for (place, [one, two]) in sets() {
        let twice = if two.contains(&17) { "user17@example.com,51,-17\n" } else { "" };
        place.write("two.csv", place.read("two.csv") + twice);
        let more = format!("[shares]\n{WIDE}");
        let terms = Terms { operation: "shares", receives: "all", more: &more, ..EMPTY };
        let [combined, of_one, of_two] = run_with_orders(&place, &terms);
        assert_eq!((&*of_one[0].join(","), &*of_two[0].join(",")), ("entry,place", "place,rows"));
        assert_eq!(of_two.len(), two.len() + 1);
        assert_eq!([combined.len(), of_one.len()], [one.intersection(&two).count() + 1; 2]);
        for (entry, line) in of_one.iter().enumerate().skip(1) {
            let place_of = line[1].parse::<usize>().unwrap();
            assert_eq!((&line[0], &of_two[place_of][0]), (&entry.to_string(), &line[1]));
            let rows = rows_of(&place, "two.csv", &of_two[place_of][1]);
            assert_eq!(combined[entry][1..], sums(&rows)[..]);
            let key = rows[0][0].to_lowercase();
            assert!(one.iter().any(|i| mail(*i) == key), "{key} is common");
        }
    }
}

#[test]
fn the_order_is_for_shares_alone_and_in_a_file_of_its_own() {
    let place = place(0..20, 15..40);
    for (operation, order, code, says) in [
        ("union", "order.csv", 3, "--order is only for shares, and the operation is union"),
        ("shares", "order.json", 3, "does not show its format"),
        ("shares", "one.csv", 3, "one.csv"),
        ("shares", "out.json", 3, "out.json"),
        ("shares", "there.csv", 3, "already exists"),
    ] {
        place.write("there.csv", "there\n");
        place.agreement("agreement.toml", &Terms { operation, receives: "all", ..TERMS });
        let output = if operation == "shares" { "out.json" } else { "out.csv" };
        let mut one = place.run_brief("agreement.toml", "one", "one.csv", Some(output));
        one.args(["--listen", "127.0.0.1:0", "--order"]).arg(place.path(order));
        support::Running::start(one).wait().assert_failed(code, says);
        assert_eq!(place.read("there.csv"), "there\n");
    }
}

#[test]
fn shares_that_do_not_match_are_refused_with_the_reason() {
    let place = place(0..20, 15..40);
    let terms = Terms { operation: "shares", receives: "all", ..TERMS };
    run_well(&place, &terms, [Some("a.json"), Some("b.json")]);
    run_well(&place, &terms, [Some("c.json"), Some("d.json")]);
    let text = place.read("b.json");
    let change = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        place.write(name, text.replacen(from, to, 1));
    };
    change("version.json", "\"version\": 1", "\"version\": 9");
    change("entries.json", "\"entries\": 5", "\"entries\": 4");
    change("base64.json", "\"keys\": \"", "\"keys\": \"*");
    change("combine.json", "\"combine\": \"xor\"", "\"combine\": \"sum mod 2^64\"");
    let keys = text.find("\"keys\": \"").unwrap() + "\"keys\": \"".len();
    let other = if &text[keys..=keys] == "A" { "B" } else { "A" };
    place.write("flipped.json", format!("{}{other}{}", &text[..keys], &text[keys + 1..]));
    place.write("cut.json", &text[..text.len() / 2]);
    for (other, says) in [
        ("a.json", "both files are from the same side"),
        ("d.json", "the two files are from different runs"),
        ("version.json", "has version 9 of the format"),
        ("entries.json", "\"keys\" is damaged or cut off"),
        ("base64.json", "\"keys\" is damaged or cut off"),
        ("flipped.json", "the checksum differs"),
        ("combine.json", "differ in \"combine\""),
        ("cut.json", "is not a file of shares"),
        ("one.csv", "is not a file of shares"),
        ("missing.json", "cannot be read"),
    ] {
        combine(&place, &["a.json", other]).assert_failed(3, says);
    }
    combine(&place, &["a.json", "b.json", "--output", "a.json"]).assert_code(3);
    combine(&place, &["a.json", "b.json", "--no-header"]).assert_code(2);
    let out = ["a.json", "b.json", "--output", "out.csv"];
    combine(&place, &out).assert_code(0);
    combine(&place, &out).assert_failed(3, "already exists");
    place.agreement("other.toml", &Terms { title: "another", ..terms });
    let other = ["a.json", "b.json", "--keys", "one.csv", "--agreement", "other.toml"];
    combine(&place, &other).assert_failed(3, "were made under a different agreement");
}

#[test]
fn shares_go_to_a_json_file_and_everything_that_needs_a_file_gets_one() {
    let place = place(0..20, 15..40);
    for (operation, output, says) in [
        ("shares", Some("a.csv"), "does not end in .json"),
        ("shares", None, "--output is missing"),
        ("private-id", None, "--output is missing"),
        ("union", None, "--output is missing"),
        ("private-id", Some("a.json"), "does not show its format"),
    ] {
        place.agreement("agreement.toml", &Terms { operation, receives: "all", ..TERMS });
        let mut one = place.run_brief("agreement.toml", "one", "one.csv", output);
        one.args(["--listen", "127.0.0.1:0"]);
        support::Running::start(one).wait().assert_failed(3, says);
    }
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
            &["of = \"publisher\"", "columns = [\"a\", \"b\"]", "signed = true"],
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
    assert!(complaint.contains("gives each side a result of its own"), "{complaint}");
}
