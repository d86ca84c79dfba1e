//! Rules: several keys of a row, any of which may match.

use super::*;
use vesica_records::{KeyRule, TransformError};

/// Keys by name, with the rules in the text.
fn with_rules(keys: &[&str], rules: &str) -> String {
    let key = |name: &&str| format!("[[key]]\nname = \"{name}\"\nprofile = \"trim\"\n");
    let keys: String = keys.iter().map(key).collect();
    with(KEY, &format!("\n{keys}{rules}"))
}

fn rule(name: &str, columns: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\ncolumns = [{columns}]\n")
}

#[test]
fn rules_and_their_columns_are_sets() {
    let two = |one: &str| rule("mail", "\"email\"") + &rule("person", one);
    let agreement = parse(&with_rules(&["email", "name", "born"], &two("\"name\", \"born\"")));
    let keys = |rule: &KeyRule| rule.columns.iter().map(|column| column.key).collect::<Vec<_>>();
    let rules: Vec<_> = agreement.rules.iter().map(|rule| (&*rule.name, keys(rule))).collect();
    // Keys are sorted by name.
    assert_eq!(rules, [("mail", vec![1]), ("person", vec![0, 2])]);
    assert_eq!(agreement.items_per_row(), 2);
    assert_eq!(agreement.parties[0].max_items(), 2 * agreement.parties[0].max_rows);
    let again = parse(&agreement.canonical());
    assert_eq!(again, agreement);
    let shown = with_rules(&["email", "name", "born"], &two("\"name\", \"born\""))
        .replace("version = 2\n", "version = 2\nshow_rules = true\n");
    assert!(parse(&shown).show_rules && !agreement.show_rules);
    assert_eq!(parse(&parse(&shown).canonical()), parse(&shown));
    assert!(parse(&shown).canonical().contains("\nshow_rules = true\n"));
    assert!(matches!(*refused(&and("show_rules = true")).fault, AgreementFault::NoRulesToShow));
    assert!(matches!(
        *refused(&shown.replace("\"mail\"", "\"by; mail\"")).fault,
        AgreementFault::SemicolonInRule { name } if name == "by; mail"
    ));
    let swapped = rule("person", "\"born\", \"name\"") + &rule("mail", "\"email\"");
    let other = parse(&with_rules(&["name", "born", "email"], &swapped));
    assert_eq!(other.hash(), agreement.hash());
}

#[test]
fn another_rule_is_another_agreement_and_is_named_as_the_difference() {
    let agreement = |columns: &str| {
        let rules = rule("mail", "\"email\"") + &rule("person", columns);
        parse(&with_rules(&["email", "name"], &rules))
    };
    let (one, two) = (agreement("\"name\""), agreement("\"name\", \"email\""));
    assert_ne!(one.hash(), two.hash());
    let fields: Vec<_> = one.differences(&two).into_iter().map(|at| at.field).collect();
    assert_eq!(fields, ["rule.person.columns.1", "rule.person.columns.2"]);
    // Without rules the form is what it was before there were any.
    assert!(!parse(&sample()).canonical().contains("rule"));
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let keys = &["email", "name"];
    let all = rule("one", "\"email\"") + &rule("two", "\"name\"");
    let fault = |rules: &str| *refused(&with_rules(keys, rules)).fault;
    assert!(matches!(
        fault(&(rule("one", "\"email\"") + &rule("one", "\"name\""))),
        AgreementFault::DuplicateRule { name } if name == "one"
    ));
    assert!(matches!(
        fault(&(all.clone() + &rule("three", "\"name\""))),
        AgreementFault::SameRule { name, other } if (&*name, &*other) == ("three", "two")
    ));
    assert!(matches!(
        fault(&rule("one", "\"email\"")),
        AgreementFault::UnusedKey { name } if name == "name"
    ));
    assert!(matches!(
        fault(&(all.clone() + &rule("three", "\"nmae\""))),
        AgreementFault::UnknownWord { nearest: Some(nearest), .. } if nearest == "name"
    ));
    assert!(matches!(
        fault(&rule("one", "\"email\", \"name\", \"email\"")),
        AgreementFault::DuplicateColumn { name } if name == "email"
    ));
    assert!(matches!(fault(&rule("one", "")), AgreementFault::KeyCount { found: 0, .. }));
    let one = with_rules(keys, &all);
    let of = |text: String| *refused(&text).fault;
    assert!(matches!(
        of(one.replace("operation = \"intersection\"", "operation = \"cardinality\"")),
        AgreementFault::OfAnotherOperation { field: "rule", .. }
    ));
    assert!(matches!(
        of(one.replace("5_000_000", &(MAX_ROWS / 2 + 1).to_string())),
        AgreementFault::TooManyItems { per_row: 2, .. }
    ));
    assert!(matches!(
        of(one.replace("version = 2\n", "version = 2\nmin_matches = 2\n")),
        AgreementFault::NotWithRules { field: "min_matches" }
    ));
    assert!(matches!(
        *refused(&with_rules(&["email", "a | b"], &all)).fault,
        AgreementFault::PipeInKey { name } if name == "a | b"
    ));
    let names: Vec<String> = (0..33).map(|i| format!("k{i}")).collect();
    let many: String = names.iter().map(|name| rule(name, "\"email\"")).collect();
    assert!(matches!(fault(&many), AgreementFault::RuleCount { found: 33, max: 32 }));
}

#[test]
fn transforms_stand_after_the_name_of_their_key() {
    let keys = &["name", "born"];
    let of = |columns: &str, more: &str| with_rules(keys, &(rule("one", columns) + more));
    let text = of("\"name|soundex\", \"born\", \"name  |  first(3)\"", "");
    let agreement = parse(&text);
    let written = "columns = [\"born\", \"name | first(3)@1\", \"name | soundex@1\"]\n";
    assert!(agreement.canonical().contains(written), "{}", agreement.canonical());
    assert_eq!(parse(&agreement.canonical()), agreement);
    assert_eq!(agreement.items_per_row(), 1);

    let several = "\"name | delete-one\", \"born\"";
    let fault = |text: &str| *refused(text).fault;
    assert!(matches!(
        fault(&of(several, "")),
        AgreementFault::NoMost { rule, max: 64 } if rule == "one"
    ));
    assert_eq!(parse(&of(several, "most = 12\n")).items_per_row(), 12);
    let one = parse(&of(several, "most = 1\n"));
    assert_eq!(parse(&one.canonical()), one);
    // A row never has more than its transforms can give.
    let pairs = "\"name | double-metaphone\", \"born\"";
    let agreement = parse(&of(pairs, "most = 60\n"));
    assert_eq!((agreement.items_per_row(), agreement.rules[0].most), (2, 2));
    assert_eq!(parse(&agreement.canonical()), agreement);

    assert!(matches!(
        fault(&of("\"name | soundx\", \"born\"", "")),
        AgreementFault::BadTransform { cause: TransformError::Unknown { .. }, .. }
    ));
    assert!(matches!(
        fault(&of("\"name | soundex@2\", \"born\"", "")),
        AgreementFault::TransformVersion { here: 1, .. }
    ));
    for (columns, transform, before) in [
        ("\"email | year\"", "year", "email"),
        ("\"email | soundex | month\"", "month", "email | soundex"),
    ] {
        let text = with_rules(&["email"], &rule("one", columns)).replace("\"trim\"", "\"email\"");
        assert!(matches!(
            fault(&text),
            AgreementFault::UnsuitedTransform { transform: named, before: of, profile, .. }
                if named == transform && of == before && profile == "email"
        ));
    }
    let many = format!("\"name{}\", \"born\"", " | fold".repeat(9));
    assert!(matches!(fault(&of(&many, "")), AgreementFault::TransformCount { found: 9, .. }));
    assert!(matches!(
        fault(&of("\"nmae | soundex\", \"born\"", "")),
        AgreementFault::UnknownWord { nearest: Some(nearest), .. } if nearest == "name"
    ));
}
