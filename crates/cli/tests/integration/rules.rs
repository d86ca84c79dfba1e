//! Several keys, any of which may match, from the draft of the agreement to the result.

use crate::support::{Place, Running, vesica};

const ONE: &str = "email,phone,name\n\
                   ann@a.example,1,Ann\n\
                   ,2,Bob\n\
                   cy@c.example,3,Cy\n\
                   dan@d.example,,Dan\n\
                   eve@e.example,5,Eve\n\
                   ,,\n";
const TWO: &str = "name,phone,email\n\
                   Anna,9,ANN@a.example\n\
                   Bob,2,bob@b.example\n\
                   Cy,8,\n\
                   Dan,7,\n\
                   Eva,6,eva@e.example\n";

fn place() -> Place {
    let place = Place::new();
    place.write("one.csv", ONE);
    place.write("two.csv", TWO);
    let [one, two] = &place.identities;
    let mut command = vesica();
    command.args(["agree", "new"]).arg(place.path("agreement.toml"));
    command.args(["--party", &format!("one={one}"), "--party", &format!("two={two}")]);
    command.args(["--key", "email=email", "--key", "phone=trim", "--key", "name=lower"]);
    command.args(["--rule", "email", "--rule", "phone,name", "--receives", "all"]);
    let made = command.output().unwrap();
    assert!(made.status.success(), "{made:?}");
    place
}

#[test]
fn two_processes_find_the_rows_that_match_under_any_rule() {
    let place = place();
    let of = |party: &str| {
        let input = format!("{party}.csv");
        let out = format!("{party}.out.csv");
        let mut command = place.run("agreement.toml", party, &input, Some(&out));
        command.arg("--report").arg(place.path(&format!("{party}.json")));
        command
    };
    for ended in place.run_both(of("one"), of("two")) {
        ended.assert_code(0);
    }
    let rows = |name: &str| place.read(name).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows("one.out.csv"), ["ann@a.example,1,Ann", ",2,Bob"]);
    assert_eq!(rows("two.out.csv"), ["Anna,9,ANN@a.example", "Bob,2,bob@b.example"]);
    let report: serde_json::Value = serde_json::from_str(&place.read("one.json")).unwrap();
    let of_rules = report["input"]["rules"].as_array().unwrap().iter();
    let of_rules: Vec<_> =
        of_rules.map(|rule| (rule["name"].as_str().unwrap(), rule["rows"].as_u64())).collect();
    assert_eq!(of_rules, [("email", Some(4)), ("phone and name", Some(4))]);
}

#[test]
fn the_result_says_under_which_rules_a_row_matches_if_that_is_agreed() {
    let place = place();
    place.write("one.csv", ONE.to_owned() + "cy@c.example,8,Cy\nbob@b.example,2,Bob\n");
    let agreement = place.read("agreement.toml");
    assert!(agreement.contains("\nshow_rules = false "), "{agreement}");
    place.write("agreement.toml", agreement.replace("show_rules = false", "show_rules = true"));
    let one = place.run("agreement.toml", "one", "one.csv", Some("one.out.csv"));
    let mut two = place.run("agreement.toml", "two", "two.csv", Some("two.out.csv"));
    two.args(["--mark", "in_common"]);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    let of_one = "email,phone,name,matched_rules\n\
                  ann@a.example,1,Ann,email\n\
                  ,2,Bob,phone and name\n\
                  cy@c.example,8,Cy,phone and name\n\
                  bob@b.example,2,Bob,email; phone and name\n";
    assert_eq!(place.read("one.out.csv"), of_one);
    let of_two = "name,phone,email,matched_rules,in_common\n\
                  Anna,9,ANN@a.example,email,1\n\
                  Bob,2,bob@b.example,email; phone and name,1\n\
                  Cy,8,,phone and name,1\n\
                  Dan,7,,,0\n\
                  Eva,6,eva@e.example,,0\n";
    assert_eq!(place.read("two.out.csv"), of_two);
    // A column of that name is refused before the run.
    place.write("three.csv", "email,phone,name,matched_rules\nann@a.example,1,Ann,x\n");
    let mut one = place.run_brief("agreement.toml", "one", "three.csv", Some("three.out.csv"));
    one.args(["--listen", "127.0.0.1:0"]);
    let says = "the input already has a column \"matched_rules\"";
    Running::start(one).wait().assert_failed(3, says);
    assert!(!place.path("three.out.csv").exists());
    let mut check = vesica();
    check.arg("check").arg(place.path("agreement.toml")).arg("--key").arg(place.path("one.key"));
    let checked = check.arg("--input").arg(place.path("three.csv")).output().unwrap();
    let text = String::from_utf8(checked.stderr).unwrap();
    assert!(!checked.status.success() && text.contains(says), "{text}");
    let explained =
        vesica().arg("explain").arg("--full").arg(place.path("agreement.toml")).output();
    let text = String::from_utf8(explained.unwrap().stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("The result says under which rules each own row matches"), "{text}");
}

#[test]
fn a_check_counts_the_rows_and_the_keys_of_each_rule() {
    let place = place();
    place.write("one.csv", ONE.to_owned() + "ann@a.example,1,Ann\n");
    let mut command = vesica();
    command.arg("check").arg(place.path("agreement.toml")).arg("--key").arg(place.path("one.key"));
    command.arg("--input").arg(place.path("one.csv"));
    let checked = command.output().unwrap();
    let text = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success(), "{text}");
    for line in [
        "            7  rows",
        "            1  without a key",
        "            6  with a key",
        "rows with a key under each rule",
        "            5  email: 4 different keys, 1 of more than one row",
        "            5  phone and name: 4 different keys, 1 of more than one row",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is not in\n{text}");
    }
    command.arg("--json");
    let json: serde_json::Value =
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let rule = &json["rules"][0];
    let figures = ["rows", "distinct", "repeated"].map(|field| rule[field].as_u64().unwrap());
    assert_eq!((rule["name"].as_str(), figures), (Some("email"), [5, 4, 1]));
    assert_eq!((json["distinct"].as_u64(), json["duplicates"].as_u64()), (Some(8), Some(2)));
}

#[test]
fn a_draft_with_a_rule_of_unknown_columns_is_refused() {
    let mut command = vesica();
    command.args(["agree", "new", "--party", "one", "--party", "two", "--rule", "email,phone"]);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("phone"), "{text}");
}

#[test]
fn the_explanation_names_the_rules() {
    let place = place();
    let explained = |options: &[&str]| {
        let agreement = place.path("agreement.toml");
        let output = vesica().arg("explain").args(options).arg(agreement).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = explained(&[]) + &explained(&["--full"]);
    for words in [
        "Two rows match when they do under any of 2 rules.",
        "Rule 1: email (rule \"email\").",
        "Rule 2: name and phone (rule \"phone and name\").",
        "who learns the result can find out which of its keys under each rule match",
        "Keys that either side guesses: up to 2,000,000 in each run",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}
