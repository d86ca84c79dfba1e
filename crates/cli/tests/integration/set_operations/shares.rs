//! Shares, and the order of their entries.

use super::*;

pub(super) fn combine(place: &Place, words: &[&str]) -> Ended {
    let mut command = vesica();
    command.arg("combine").args(words).current_dir(place.path(""));
    support::Running::start(command).wait()
}

fn row_of_bars(row: &str) -> String {
    row.replace(',', "|") + "\n"
}

fn sorted_rows(text: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> =
        text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect();
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
        let passed = [&first.stdout, &first.stderr].map(|printed| printed.contains("passed"));
        assert_eq!(passed, [false; 2], "{first:#?}");
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
fn shared_values_are_those_of_common_keys_and_the_default_detached() {
    for (place, [one, two]) in sets() {
        let more = format!("[shares]\n{WIDE}default = -7\n").replace("bits = 64", "bits = 9");
        let terms = Terms { operation: "shared-values", receives: "all", more: &more, ..EMPTY };
        run_well(&place, &terms, [Some("a.json"), Some("b.json")]);
        let ended = combine(&place, &["a.json", "b.json", "--output", "c.csv"]);
        ended.assert_code(0);
        let mut expected: Vec<Vec<String>> = two
            .iter()
            .map(|i| {
                if one.contains(i) {
                    vec![(3 * i).to_string(), (-(*i as i64)).to_string()]
                } else {
                    vec!["-7".to_owned(); 2]
                }
            })
            .collect();
        expected.sort();
        assert_eq!(sorted_rows(&place.read("c.csv")), expected);
    }
}

/// Runs both, each with a file for the order. Returns the rows of the combined shares and both
/// tables of the order.
pub(super) fn run_with_orders(place: &Place, terms: &Terms<'_>) -> [Vec<Vec<String>>; 3] {
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

/// The cells of the rows of `file` with these numbers, counted from 1.
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
fn the_order_puts_the_rows_of_its_owner_next_to_shared_values() {
    for (place, [one, two]) in sets() {
        // A key with two rows, whose values are added up.
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
fn both_orders_together_put_rows_next_to_shares() {
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
