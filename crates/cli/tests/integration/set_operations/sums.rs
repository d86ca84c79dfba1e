//! Sums of several columns, of groups, and of products.

use super::*;

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
            // The first key of this side has two rows, whose weights are added up.
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
