//! Columns of one party that come along, from the draft of the agreement to the result.

use crate::support::{Place, Running, vesica};
use std::process::Command;

const ONE: &str =
    "email,age\nann@a.example,41\nbob@b.example,52\ncy@c.example,63\nann@a.example,41\n";
const TWO: &str = "ward,email,admitted,beds\n\
                   Nord 4,ANN@a.example,2026-11-02,-3\n\
                   \"a, b\",bob@b.example,,\n\
                   S\u{fc}d,dan@d.example,1999-01-31,9\n";

/// A place with an agreement on three columns of `two`, and more options of `agree new`.
fn place(more: &[&str]) -> Place {
    let place = Place::new();
    place.write("one.csv", ONE);
    place.write("two.csv", TWO);
    let [one, two] = &place.identities;
    let mut command = vesica();
    command.args(["agree", "new"]).arg(place.path("agreement.toml"));
    command.args(["--party", &format!("one={one}"), "--party", &format!("two={two}")]);
    command.args(["--key", "email=email", "--column", "ward=text 24"]);
    command.args(["--column", "admitted=date", "--column", "beds=integer"]).args(more);
    let made = command.output().unwrap();
    assert!(made.status.success(), "{made:?}");
    place
}

fn check(place: &Place, party: &str, input: &str) -> Command {
    let mut check = vesica();
    check.arg("check").arg(place.path("agreement.toml"));
    check.arg("--key").arg(place.path(&format!("{party}.key")));
    check.arg("--input").arg(place.path(input));
    check
}

const RESULT: &str = "email,age,two_ward,two_admitted,two_beds\n\
                      ann@a.example,41,Nord 4,2026-11-02,-3\n\
                      bob@b.example,52,\"a, b\",,\n\
                      ann@a.example,41,Nord 4,2026-11-02,-3\n";

#[test]
fn two_processes_send_columns_with_common_keys() {
    let place = place(&["--receives", "one"]);
    let one = place.run("agreement.toml", "one", "one.csv", Some("one.out.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("one.out.csv"), RESULT);

    let mut one = place.run("agreement.toml", "one", "one.csv", Some("marked.csv"));
    one.args(["--mark", "hit"]);
    let two = place.run("agreement.toml", "two", "two.csv", None);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    let marked = place.read("marked.csv");
    assert!(
        marked.ends_with("cy@c.example,63,,,,0\nann@a.example,41,Nord 4,2026-11-02,-3,1\n"),
        "{marked}"
    );
}

#[test]
fn the_party_whose_columns_they_are_gets_its_own_rows_alone() {
    let place = place(&["--receives", "all"]);
    let one = place.run("agreement.toml", "one", "one.csv", Some("one.out.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", Some("two.out.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("one.out.csv"), RESULT);
    assert_eq!(place.read("two.out.csv"), TWO.rsplit_once("S\u{fc}d").unwrap().0);
}

#[test]
fn columns_come_along_through_a_folder() {
    let place = place(&["--receives", "one"]);
    let of = |party: &str, output: Option<&str>| {
        let mut command = place.run_brief("agreement.toml", party, &format!("{party}.csv"), output);
        command.arg("--exchange").arg(place.path("shared"));
        command.arg("--state").arg(place.path(&format!("{party}.state")));
        Running::start(command)
    };
    std::fs::create_dir(place.path("shared")).unwrap();
    let (one, two) = (of("one", Some("one.out.csv")), of("two", None));
    one.wait().assert_code(0);
    two.wait().assert_code(0);
    assert_eq!(place.read("one.out.csv"), RESULT);
}

#[test]
fn cells_that_do_not_fit_are_named_before_a_run() {
    let place = place(&["--receives", "one"]);
    let good = check(&place, "two", "two.csv").output().unwrap();
    let text = String::from_utf8(good.stdout).unwrap();
    let says = "      columns  \"ward\", \"admitted\" and \"beds\"";
    assert!(good.status.success() && text.contains(says), "{text}");
    let long = "1234567890123456789012345,x@x.example,,";
    for (row, says) in [
        (long, "column \"ward\" holds a text of more than 24 bytes"),
        ("N,x@x.example,02.11.2026,", "column \"admitted\" holds something other than a date"),
        ("N,x@x.example,,1.5", "column \"beds\""),
        ("N,bob@b.example,,", "the key is already in line 3"),
    ] {
        place.write("bad.csv", format!("{TWO}{row}\n"));
        let checked = check(&place, "two", "bad.csv").output().unwrap();
        let text = String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap();
        assert!(!checked.status.success() && text.contains(says), "{says}: {text}");
        assert!(text.contains("line 5"), "{text}");
        let mut two = place.run_brief("agreement.toml", "two", "bad.csv", None);
        two.args(["--listen", "127.0.0.1:0"]);
        Running::start(two).wait().assert_failed(3, says);
    }
    // A column of the name that the result adds.
    place.write("taken.csv", "email,two_ward\nann@a.example,x\n");
    let checked = check(&place, "one", "taken.csv").output().unwrap();
    let text = String::from_utf8(checked.stderr).unwrap();
    let says = "the input already has a column \"two_ward\"";
    assert!(!checked.status.success() && text.contains(says), "{text}");
}

#[test]
fn the_explanation_names_the_columns() {
    let place = place(&["--receives", "one"]);
    let explained = |options: &[&str]| {
        let agreement = place.path("agreement.toml");
        let output = vesica().arg("explain").args(options).arg(agreement).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = explained(&[]) + &explained(&["--full"]);
    for words in ["ward", "admitted", "beds"] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

#[test]
fn columns_of_an_unknown_type_or_with_rules_are_refused() {
    for (more, says) in [
        (&["--column", "ward=varchar"][..], "types"),
        (&["--column", "ward=text 9999"], "types"),
        (&["--column", "ward", "--operation", "cardinality"], "cardinality"),
        (&["--column", "ward=date", "--rule", "email"], "rule"),
    ] {
        let mut command = vesica();
        command.args(["agree", "new", "--party", "one", "--party", "two"]).args(more);
        let refused = command.output().unwrap();
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && text.contains(says), "{more:?}: {text}");
    }
}
