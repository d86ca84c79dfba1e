//! `vesica check` reads the whole file even if rows are wrong, and shows no value.

use crate::support::{Ended, Place, Running, TERMS, Terms, people, vesica};

fn check(place: &Place, input: &str, more: &[&str]) -> Ended {
    let mut command = vesica();
    command.arg("check").arg(place.path("agreement.toml")).arg("--input").arg(place.path(input));
    command.arg("--key").arg(place.path("one.key")).arg("--quiet").args(more);
    Running::start(command).wait()
}

/// An agreement with values of party `one`.
fn sums(duplicates: &str) -> Place {
    let place = Place::new();
    let more = format!(
        "[sum]\nof = \"one\"\ncolumn = \"amount\"\nbits = 8\nduplicates = \"{duplicates}\"\n"
    );
    let terms = Terms { operation: "sum", receives: "two", more: &more, ..TERMS };
    place.agreement("agreement.toml", &terms);
    place
}

/// The same with a helper, for an intersection.
fn aided() -> Place {
    let place = Place::new();
    let key = vesica_link::PublicIdentity::from_bytes([3; 32]);
    let more = format!("[helper]\nidentity = \"{key}\"\n");
    place.agreement(
        "agreement.toml",
        &Terms { more: &more, max_rows: 1000, protocol: "server_aided", ..TERMS },
    );
    place
}

#[track_caller]
fn assert_lists(ended: &Ended, lines: &[&str]) {
    for line in lines {
        let is_there = ended.stdout.lines().any(|told| told.trim() == *line);
        assert!(is_there, "{line:?} is not told: {ended:#?}");
    }
}

#[test]
fn every_kind_of_fault_is_counted_and_listed_with_its_lines() {
    let place = sums("sum");
    let mut text = "email,amount\n".to_owned();
    for i in 0..10 {
        text += &format!("secret{i}@b.example,-7{i}\n");
    }
    text += "hidden@b.example,12.75\nhidden@b.example,1,2\n \"veiled@b.example\",3\n";
    text += "good@b.example,4\n\"veiled@b.example\"hidden,5\n";
    place.write("bad.csv", text);
    let ended = check(&place, "bad.csv", &[]);
    ended.assert_failed(3, "the rows of the input have 14 faults of 5 kinds");
    let negative = "10  column \"amount\" holds a number below zero: line 2, line 3, line 4, line \
                    5, line 6 and more";
    let parted =
        "1  column \"amount\" holds a number with a point, a comma or another separator: line 12";
    assert_lists(
        &ended,
        &[
            negative,
            parted,
            "1  more or fewer than 2 fields: line 13",
            "1  column \"email\" has a blank before an opening quote: line 14",
            "1  text after a closing quote: line 16",
            "12  different keys",
        ],
    );
    for value in ["secret", "hidden", "veiled", "12.75", "-7"] {
        let told = [&ended.stdout, &ended.stderr];
        assert!(told.iter().all(|text| !text.contains(value)), "{value} is shown: {ended:#?}");
    }
}

#[test]
fn one_fault_is_reported_as_in_a_run_and_several_of_a_kind_with_a_hint() {
    let place = sums("refuse");
    place.write("one.csv", "email,amount\na@b.example,1\nb@b.example,x\nc@b.example,2\n");
    let ended = check(&place, "one.csv", &[]);
    ended.assert_failed(3, "line 3: column \"amount\" holds something other than a whole number");
    assert_lists(&ended, &["3  different keys"]);
    place.write("two.csv", "email,amount\na@b.example,1\nA@b.example,1\na@B.example,1\n");
    let ended = check(&place, "two.csv", &[]);
    let says = "2 rows of the input have the same fault: a key that an earlier row has too, which \
                the agreement refuses";
    ended.assert_failed(3, says);
    assert!(ended.stderr.contains("agree on duplicates"), "{ended:#?}");
    assert_lists(
        &ended,
        &["2  a key that an earlier row has too, which the agreement refuses: line 3, line 4"],
    );
}

#[test]
fn refused_values_are_faults_only_with_strict() {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    place.write("a.csv", "email\na@b.example\nhidden\nb@b.example\nhidden\n");
    check(&place, "a.csv", &[]).assert_code(0);
    let ended = check(&place, "a.csv", &["--strict"]);
    ended.assert_failed(
        3,
        "2 rows of the input have the same fault: column \"email\" holds no e-mail address",
    );
    assert_lists(&ended, &["2  column \"email\" holds no e-mail address: line 3, line 5"]);
    assert!(!ended.stdout.contains("hidden") && !ended.stderr.contains("hidden"), "{ended:#?}");
}

#[test]
fn an_unclosed_quote_is_reported_with_the_faults_before_it() {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    place.write("a.csv", "id,email\n1,a@b.example\n2\n3,\"b@b.example\n4,c@b.example\n");
    let ended = check(&place, "a.csv", &[]);
    ended.assert_failed(3, "2 faults of 2 kinds");
    assert_lists(
        &ended,
        &[
            "1  more or fewer than 2 fields: line 3",
            "1  a quote that is never closed: line 4",
            "the file cannot be read beyond the last of these",
        ],
    );
}

#[test]
fn with_a_helper_it_goes_through_the_whole_file_too() {
    let place = aided();
    place.write("a.csv", "id,email\n1,a@b.example\n2\n3, \"b@b.example\"\n4\n5,c@b.example\n");
    let ended = check(&place, "a.csv", &[]);
    ended.assert_failed(3, "3 faults of 2 kinds");
    assert_lists(
        &ended,
        &[
            "2  more or fewer than 2 fields: line 3, line 5",
            "1  column \"email\" has a blank before an opening quote: line 4",
        ],
    );
}

#[test]
fn a_few_values_in_single_quotes_are_a_warning() {
    for place in [aided(), {
        let place = Place::new();
        place.agreement("agreement.toml", &TERMS);
        place
    }] {
        let rows = "a@b.example\nb@b.example\n'c'\nd@b.example\n";
        place.write("few.csv", format!("email\n{rows}"));
        let ended = check(&place, "few.csv", &[]);
        ended.assert_code(0);
        let warning = "column \"email\" has values in single quotes, and the quotes are compared \
                       too, in 1 row: line 4";
        assert_lists(&ended, &["warning", warning]);
        place.write("all.csv", "email\n'a@b.example'\n'b@b.example'\n");
        let ended = check(&place, "all.csv", &[]);
        let says = "2 rows of the input have the same fault: column \"email\" holds values in \
                    single quotes";
        ended.assert_failed(3, says);
    }
}

#[test]
fn what_a_large_set_takes_of_the_machine_is_told_before() {
    let place = Place::new();
    let rows = 2_000_000;
    place.agreement("agreement.toml", &Terms { max_rows: rows, ..TERMS });
    let text: String = (0..rows).map(|i| format!("{i}@a.org\n")).collect();
    place.write("large.csv", format!("email\n{text}"));
    let ended = check(&place, "large.csv", &["--memory", "130MiB"]);
    ended.assert_code(0);
    assert_lists(&ended, &["136.3 MB  of memory at most (--memory); 130.3 MB is enough"]);
    let disk = "68.0 MB  of disk at most in . (--scratch), where ";
    assert!(ended.stdout.contains(disk), "{ended:#?}");
    let ended = check(&place, "large.csv", &["--memory", "1GiB"]);
    assert_lists(&ended, &["no  disk"]);
    let ended = check(&place, "large.csv", &["--memory", "64MiB"]);
    ended.assert_failed(3, "memory");
}

/// One file that does not fit into the least memory, and one that does.
fn large() -> Place {
    let place = Place::new();
    let terms = Terms { max_rows: 2_000_000, more: "partition_rows = 20000\n", ..TERMS };
    place.agreement("agreement.toml", &terms);
    place.write("large.csv", people(0..300_000));
    place.write("small.csv", people(0..20));
    place
}

/// `command` of party `one` in a folder where no user, not even root, can create a file.
fn in_a_read_only_folder(place: &Place, command: &str, input: &str, more: &[&str]) -> Ended {
    let mut vesica = vesica();
    vesica.current_dir("/proc").arg(command).arg(place.path("agreement.toml"));
    vesica.arg("--input").arg(place.path(input)).arg("--key").arg(place.path("one.key"));
    vesica.args(["--memory", "16MB"]).args(more);
    Running::start(vesica).wait()
}

#[test]
fn a_current_folder_that_takes_no_files_is_refused_where_the_rows_may_need_some() {
    let place = large();
    let says = "intermediate data cannot be kept in .: ";
    let hint = "hint: choose another folder with --scratch";
    let scratch = place.path("scratch");
    let scratch = ["--scratch", scratch.to_str().unwrap()];
    let checked = in_a_read_only_folder(&place, "check", "large.csv", &[]);
    checked.assert_failed(3, says);
    assert!(checked.stderr.contains(hint), "{checked:#?}");
    in_a_read_only_folder(&place, "check", "small.csv", &[]).assert_code(0);
    in_a_read_only_folder(&place, "check", "small.csv", &["--scratch", "/proc/none"])
        .assert_failed(3, "intermediate data cannot be kept in /proc/none");
    let checked = in_a_read_only_folder(&place, "check", "large.csv", &scratch);
    assert!(!checked.stderr.contains(says), "{checked:#?}");
    assert!(!place.path("scratch").exists(), "a check leaves nothing behind");

    let out = place.path("out.csv");
    let alone = ["--connect", "127.0.0.1:1", "--wait", "1s", "--output", out.to_str().unwrap()];
    let run = in_a_read_only_folder(&place, "run", "large.csv", &alone);
    run.assert_failed(3, says);
    assert!(run.stderr.contains(hint) && !run.stderr.contains("connect"), "{run:#?}");
    in_a_read_only_folder(&place, "run", "small.csv", &alone).assert_failed(5, "");
}

#[test]
fn a_check_as_json_is_one_object_with_the_same_exit_codes() {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    let rows = "nobody@b.example\n".repeat(25);
    place.write("fine.csv", format!("email\nsecret\nann@b.example\n{rows}"));
    let ended = check(&place, "fine.csv", &["--json"]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&found["rows"], &found["distinct"]), (&27.into(), &2.into()));
    assert_eq!(found["frequent"][0]["count"], 25);
    assert_eq!(found["misfits"][0]["refused"], 1);
    assert_eq!(found["warnings"].as_array().unwrap().len(), 2);
    assert!(found["why"].is_null() && found["reached"].is_null(), "{found:#}");
    assert!(!ended.stdout.contains("nobody") && !ended.stdout.contains("secret"));

    place.write("bad.csv", "email,n\nann@b.example,1\nbob@b.example\n");
    let ended = check(&place, "bad.csv", &["--json"]);
    ended.assert_failed(3, "bad.csv, line 3");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["refusal"]["kind"], "faults");
    assert_eq!(found["faults"][0]["first"][0]["line"], 3);
    assert!(found["why"].as_str().unwrap().contains("line 3"), "{found:#}");
}

#[test]
fn an_excluded_value_is_refused_with_its_reason() {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    let text = std::fs::read_to_string(place.path("agreement.toml")).unwrap();
    let excluded = "profile = \"email\"\nnever = [\"none@b.example\", \"N/A\"]";
    place.write("agreement.toml", text.replacen("profile = \"email\"", excluded, 1));
    place.write("a.csv", "email\nann@b.example\n None@b.example\nN/A\n");
    let ended = check(&place, "a.csv", &[]);
    assert_lists(
        &ended,
        &["2  column \"email\" holds a value that the agreement excludes: line 3, line 4"],
    );
}
