//! Counts, thresholds and sums, and bounds on the answer, by two real processes.

use crate::support;
use serde_json::Value;
use std::process::Command;
use support::{Ended, Place, Terms, vesica};

/// `email,amount` of people `range`; the amount is three times the number.
fn amounts(range: std::ops::Range<u64>) -> String {
    let rows = range.map(|i| format!("user{i}@example.com,{}\n", 3 * i));
    "email,amount\n".to_owned() + &rows.collect::<String>()
}

/// Small sets, because the cost of a circuit is computed by counting its gates.
const TERMS: Terms<'static> = Terms { max_rows: 500, ..support::TERMS };

const SUM: &str = "[sum]\nof = \"two\"\ncolumn = \"amount\"\nbits = 20\n";

fn place() -> Place {
    let place = Place::new();
    place.write("one.csv", amounts(0..120));
    // A second row of a common key, and a row without a value.
    place.write("two.csv", amounts(100..300) + "user119@example.com,1000\nUser100@example.com,\n");
    place
}

fn with_report(place: &Place, mut command: Command, report: &str) -> Command {
    command.arg("--report").arg(place.path(report));
    command
}

/// Runs both; only `one` gets an output file.
fn run(place: &Place, terms: &Terms<'_>, output: Option<&str>) -> [Ended; 2] {
    place.agreement("agreement.toml", terms);
    let one = place.run("agreement.toml", "one", "one.csv", output);
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let one = with_report(place, one, "one.json");
    let two = with_report(place, two, "two.json");
    place.run_both(one, two)
}

fn result(place: &Place, report: &str) -> Value {
    let report: Value = serde_json::from_str(&place.read(report)).unwrap();
    report["result"].clone()
}

/// All fields of a report that hold an answer.
fn answer(result: &Value) -> [&Value; 4] {
    ["matched_keys", "threshold_reached", "sum", "rows_written"].map(|field| &result[field])
}

#[test]
fn only_receivers_of_the_result_get_the_answer_to_each_question() {
    let null = || Value::Null;
    let sum: u64 = (100..120).map(|i| 3 * i).sum::<u64>() + 1000;
    let cases = [
        ("cardinality", "", "20 keys in common", [20.into(), null(), null(), null()]),
        (
            "threshold",
            "threshold = 20",
            "at least 20 keys in common: yes",
            [null(), true.into(), null(), null()],
        ),
        (
            "threshold",
            "threshold = 21",
            "at least 21 keys in common: no",
            [null(), false.into(), null(), null()],
        ),
        (
            "sum",
            SUM,
            "sum of amount over common keys: 7,570",
            [null(), null(), sum.to_string().into(), null()],
        ),
    ];
    assert_eq!(sum, 7570);
    for (operation, more, says, expected) in cases {
        for receives in ["one", "two", "all"] {
            let place = place();
            let ended = run(&place, &Terms { operation, receives, more, ..TERMS }, None);
            for (name, ended) in ["one", "two"].into_iter().zip(&ended) {
                ended.assert_code(0);
                let learns = receives == "all" || receives == name;
                assert_eq!(ended.stdout.contains(says), learns, "{operation}: {ended:#?}");
                let result = result(&place, &format!("{name}.json"));
                assert_eq!(result["learned"], learns);
                assert!(result["within_bounds"].is_null());
                let nothing = [null(), null(), null(), null()];
                let expected = if learns { &expected } else { &nothing };
                assert!(answer(&result).into_iter().eq(expected), "{result}");
            }
        }
    }
}

#[test]
fn an_answer_with_an_output_file_is_written_as_one_row() {
    for (operation, more, written) in [
        ("cardinality", "", "keys_in_common\n20\n"),
        ("threshold", "threshold = 3", "threshold,reached\n3,true\n"),
        ("sum", SUM, "column,sum\namount,7570\n"),
    ] {
        let place = place();
        let [one, _] = run(&place, &Terms { operation, more, ..TERMS }, Some("out.csv"));
        one.assert_code(0);
        assert!(one.stdout.contains("; written to "), "{one:#?}");
        assert_eq!(place.read("out.csv"), written);
    }
}

#[test]
fn within_bounds_the_rows_are_unchanged_and_outside_there_are_none() {
    for (protocol, receives) in [("auto", "one"), ("scs_wn", "all"), ("pwc", "one")] {
        for (more, inside) in [
            ("min_matches = 20\nmax_matches = 20", true),
            ("min_matches = 21", false),
            ("max_matches = 19", false),
        ] {
            let place = place();
            place.agreement("agreement.toml", &Terms { protocol, receives, more, ..TERMS });
            let one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
            let other = (receives == "all").then_some("other.csv");
            let two = place.run("agreement.toml", "two", "two.csv", other);
            let one = with_report(&place, one, "one.json");
            let two = with_report(&place, two, "two.json");
            let ended = place.run_both(one, two);
            for (ended, report) in ended.iter().zip(["one.json", "two.json"]) {
                ended.assert_code(if inside { 0 } else { 1 });
                let result = result(&place, report);
                assert_eq!(result["within_bounds"], inside, "{protocol}");
                if !inside {
                    let says = "outside the agreed bounds: nothing was computed";
                    assert!(ended.stdout.contains(says), "{ended:#?}");
                    assert!(answer(&result).into_iter().all(Value::is_null), "{result}");
                }
            }
            if inside {
                assert_eq!(place.read("out.csv"), amounts(100..120));
            } else {
                place.assert_no_leftovers(&["out.csv", "other.csv"]);
            }
        }
    }
}

#[test]
fn the_number_zero_is_a_key_like_any_other() {
    let numbers = |range: std::ops::Range<u32>| {
        "id\n".to_owned() + &range.map(|i| format!("{i}\n")).collect::<String>()
    };
    for protocol in ["bwa", "bwa_gmw", "scs_wn", "circuit_phasing", "auto"] {
        let place = Place::new();
        place.write("one.csv", numbers(0..40));
        place.write("two.csv", numbers(0..3) + "39\n50\n");
        let terms = Terms {
            protocol,
            operation: "cardinality",
            key: "id",
            profile: "integer:8",
            max_rows: 100,
            ..TERMS
        };
        let [one, two] = run(&place, &terms, None);
        one.assert_code(0);
        two.assert_code(0);
        assert_eq!(result(&place, "one.json")["matched_keys"], 4, "{protocol}");
    }
}

#[test]
fn a_bad_value_ends_the_run_with_its_line_on_the_side_that_has_it() {
    let place = Place::new();
    place.write("one.csv", amounts(0..20));
    place.write("two.csv", amounts(10..30) + "user7@example.com,12.50\n");
    let terms = Terms { operation: "sum", more: SUM, ..TERMS };
    place.agreement("agreement.toml", &terms);
    let one = place.run_brief("agreement.toml", "one", "one.csv", None);
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let [_, two] = place.run_both(one, two);
    two.assert_failed(3, "line 22: column \"amount\"");
    assert!(!two.stderr.contains("12.50"), "{two:#?}");
}

#[test]
fn the_summed_column_may_have_another_name_where_it_is_and_none_detached() {
    let place = Place::new();
    place.write("one.csv", "email\nuser1@example.com\n");
    place.write("two.csv", amounts(0..9).replace("amount", "total"));
    place.agreement("agreement.toml", &Terms { operation: "sum", more: SUM, ..TERMS });
    let one = place.run("agreement.toml", "one", "one.csv", None);
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--column", "amount=total"]);
    let [one, two] = place.run_both(one, two);
    two.assert_code(0);
    assert!(one.assert_code(0).stdout.contains("sum of amount over common keys: 3\n"));
    let mut one = place.run_brief("agreement.toml", "one", "one.csv", None);
    one.args(["--column", "amount=email", "--listen", "127.0.0.1:0"]);
    support::Running::start(one).wait().assert_failed(3, "which is not a key of the agreement");
}

fn bench(words: &[&str]) -> (bool, String, String) {
    let output = vesica().arg("bench").args(words).args(["--runs", "1"]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_benchmark_checks_every_answer_and_its_bytes() {
    let asked: [&[&str]; 5] = [
        &["--operation", "cardinality", "--common", "0"],
        &["--operation", "threshold", "--threshold", "31", "--common", "30"],
        &["--operation", "sum", "--value-bits", "13"],
        &["--operation", "cardinality", "--min-matches", "26"],
        &["--max-matches", "50", "--common", "50"],
    ];
    for engine in ["yao", "gmw"] {
        for (protocol, bits) in [("scs_wn", "32"), ("bwa", "8"), ("circuit_phasing", "32")] {
            for asked in asked {
                let shape = [protocol, "--engine", engine, "--item-bits", bits, "--size", "90,50"];
                let (ok, json, complaint) = bench(&[&shape, asked, &["--json"]].concat());
                assert!(ok, "{shape:?} {asked:?}: {complaint}");
                let json: Value = serde_json::from_str(&json).unwrap();
                let id = json["protocol"].as_str().unwrap();
                assert!(id == protocol || id == format!("{protocol}_{engine}"), "{id}");
                assert_eq!(json["result_ok"], true);
                let [sent, formula] = [&json["median"]["bytes_total"], &json["formula_bytes"]];
                if asked.contains(&"--min-matches") {
                    // The result itself is not sent.
                    assert!(sent.as_u64() <= formula.as_u64(), "{id}: {sent} {formula}");
                } else {
                    assert_eq!(sent, formula, "{id} {asked:?}");
                }
            }
        }
    }
    for protocol in ["rr22", "rr22_malicious"] {
        let (ok, json, complaint) =
            bench(&[protocol, "--size", "3000,700", "--payload-bytes", "70", "--json"]);
        assert!(ok, "{complaint}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["median"]["bytes_total"], json["formula_bytes"], "{protocol}");
    }
    let (_, json, _) = bench(&["pwc", "--item-bits", "32", "--size", "40", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["result_ok"], &json["common"]), (&true.into(), &20.into()));
    assert_eq!(json["bytes_depend_on_result"], true);
}

#[test]
fn a_benchmark_of_something_not_offered_is_refused() {
    for (words, says) in [
        (&["dh", "--operation", "sum"][..], "does not offer sum"),
        (&["dh", "--min-matches", "3"], "does not offer bounds"),
        (&["dh", "--payload-bytes", "8"], "does not offer payloads"),
        (&["dh", "--engine", "gmw"], "there is no protocol"),
        (&["bwa"], "takes items of 1 to 24 bits"),
        (&["dh", "--size", "10", "--common", "11"], "more common items"),
        (&["bwa", "--min-matches", "3", "--max-matches", "2"], "is above"),
    ] {
        let (ok, _, complaint) = bench(words);
        assert!(!ok && complaint.contains(says), "{words:?}: {complaint}");
        assert!(complaint.contains("hint: "), "{complaint}");
    }
}

fn agree_new(words: &[&str]) -> (bool, String, String) {
    let output = vesica().args(["agree", "new"]).args(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_new_agreement_has_the_question_of_its_options() {
    for (words, lines) in [
        (&["--operation", "cardinality"][..], &["operation = \"cardinality\""][..]),
        (&["--operation", "threshold"], &["threshold = 1000"]),
        (&["--operation", "threshold", "--threshold", "7"], &["threshold = 7"]),
        (&["--operation", "sum"], &["[sum]", "of = \"shop\"", "column = \"amount\"", "bits = 32"]),
        (
            &[
                "--operation",
                "sum",
                "--sum-of",
                "publisher",
                "--sum-column",
                "a b",
                "--sum-bits",
                "9",
            ],
            &["of = \"publisher\"", "column = \"a b\"", "bits = 9"],
        ),
        (
            &["--min-matches", "5", "--max-matches", "6"],
            &["security = \"semi-honest\"", "min_matches = 5", "max_matches = 6"],
        ),
    ] {
        let (ok, text, complaint) = agree_new(words);
        assert!(ok, "{words:?}: {complaint}");
        for line in lines {
            assert!(text.lines().any(|one| one.starts_with(line)), "{line} is not in\n{text}");
        }
    }
    for (words, says) in [
        (&["--threshold", "7"][..], "belongs to operation = \"threshold\""),
        (&["--sum-bits", "7"], "belongs to operation = \"sum\""),
        (&["--min-matches", "9", "--max-matches", "8"], "is above max_matches"),
        (&["--operation", "union", "--min-matches", "9"], "unions and private ids have no bounds"),
        (&["--max-rows", "10", "--min-matches", "11"], "one party has at most 10 rows"),
        (&["--operation", "sum", "--sum-of", "other"], "cannot be \"other\""),
    ] {
        let (ok, _, complaint) = agree_new(words);
        assert!(!ok && complaint.contains(says), "{words:?}: {complaint}");
    }
}

/// The explanation of a new agreement must not advise against its defaults.
#[test]
fn the_defaults_of_a_new_agreement_are_not_called_weak() {
    let of_operation = |operation: &str| {
        let (ok, mut text, complaint) = agree_new(&["--operation", operation]);
        assert!(ok, "{operation}: {complaint}");
        for byte in [1, 2] {
            let identity = vesica_link::PublicIdentity::from_bytes([byte; 32]).to_string();
            text = text.replacen("vesica1...", &identity, 1);
        }
        let agreement = vesica_agreement::Agreement::parse(&text).unwrap();
        let words = vesica_explain::explain(&agreement).to_string();
        (text, words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for operation in [
        "intersection",
        "cardinality",
        "threshold",
        "sum",
        "inner-product",
        "union",
        "private-id",
        "shares",
        "shared-values",
    ] {
        let (text, words) = of_operation(operation);
        assert!(!words.contains("weak"), "{operation}: {words}");
        let with_values = ["sum", "inner-product"].contains(&operation);
        assert_eq!(text.contains("\nmin_matches = 100 "), with_values, "{text}");
        assert!(!with_values || !words.contains("With `min_matches` such a run"), "{words}");
    }
    let (text, _) = of_operation("sum");
    assert!(text.contains("receives = \"publisher\"") && text.contains("of = \"shop\""), "{text}");
    let (_, text, _) = agree_new(&["--operation", "sum", "--max-rows", "10"]);
    assert!(text.contains("\nmin_matches = 10 "), "{text}");
    let (_, text, _) = agree_new(&["--operation", "sum", "--sum-of", "publisher"]);
    assert!(text.contains("receives = \"shop\""), "{text}");
}
