//! Values that an agreement excludes from the keys.

use super::*;

fn with_never(never: &str) -> String {
    with("profile = \"email\"", &format!("profile = \"email\"\nnever = {never}"))
}

#[test]
fn excluded_values_are_a_set_without_blanks_and_part_of_the_hash() {
    let one = parse(&with_never("[\"NULL\", \" n/a \", \"\\\"?\\\"\"]"));
    let two = parse(&with_never("[\"\\\"?\\\"\", 'n/a', \"NULL\"]"));
    assert_eq!(one.keys[0].never, ["\"?\"", "NULL", "n/a"]);
    assert_eq!((one.canonical(), one.hash()), (two.canonical(), two.hash()));
    assert!(one.canonical().contains("never = [\"\\\"?\\\"\", \"NULL\", \"n/a\"]\n"));
    assert_eq!(parse(&one.canonical()), one);
    let without = parse(&sample());
    assert!(!without.canonical().contains("never = "), "old hashes stay");
    assert_ne!(one.hash(), without.hash());
    let more = parse(&with_never("[\"0000\", \"NULL\", \"n/a\"]"));
    let differences = one.differences(&more);
    let shown: Vec<_> =
        differences.iter().map(|d| (&*d.field, d.here.as_deref(), d.there.as_deref())).collect();
    let expected = [
        ("key.email.never[\"0000\"]", None, Some("0000")),
        ("key.email.never[\"\\\"?\\\"\"]", Some("\"?\""), None),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn an_excluded_value_is_never_taken_for_a_field_of_another_key() {
    let keys = |never: &str| {
        let key = |name: &str, more: &str| {
            format!("[[key]]\nname = \"{name}\"\nprofile = \"trim\"\n{more}\n")
        };
        let (one, two) = (key("a", never), key("a.never", ""));
        parse(&with(KEY, &format!("\n{one}{two}\n")))
    };
    let (one, two) = (keys("never = [\"name\"]"), keys("never = [\"profile\"]"));
    assert_eq!(one.differences(&two).len(), 2);
    assert_eq!(one.differences(&keys("")).len(), 1);
}

#[test]
fn the_largest_lists_can_be_compared() {
    let list = |from: usize| {
        let values: Vec<String> = (from..from + 100).map(|i| format!("\"{i}\"")).collect();
        format!("[{}]", values.join(", "))
    };
    let keys = |from: usize| {
        let key = |i: usize| {
            format!("[[key]]\nname = \"k{i}\"\nprofile = \"trim\"\nnever = {}\n", list(from))
        };
        parse(&with(KEY, &format!("\n{}\n", (0..16).map(key).collect::<String>())))
    };
    assert_eq!(keys(1000).differences(&keys(1001)).len(), 32);
    let longest = "x".repeat(256);
    let one = parse(&with_never(&format!("[\"{longest}\"]")));
    assert_eq!(one.differences(&parse(&sample())).len(), 1);
}

#[test]
fn lists_that_mean_nothing_are_refused() {
    let field = "key[1].never".to_owned();
    let of = |list: &str| *refused(&with_never(list)).fault;
    assert_eq!(
        of("[]"),
        AgreementFault::ExcludedCount { field: field.clone(), found: 0, max: 100 }
    );
    let many: Vec<String> = (0..101).map(|i| format!("\"{i}\"")).collect();
    assert_eq!(
        of(&format!("[{}]", many.join(","))),
        AgreementFault::ExcludedCount { field, found: 101, max: 100 }
    );
    let (second, value) = ("key[1].never[2]".to_owned(), "NULL".to_owned());
    assert_eq!(
        of("[\"NULL\", \"NULL \"]"),
        AgreementFault::ExcludedTwice { field: second.clone(), value }
    );
    for (entry, fault) in [
        ("\"  \"".to_owned(), TextFault::Empty),
        (format!("\"{}\"", "ü".repeat(129)), TextFault::TooManyBytes { max_bytes: 256 }),
        ("\"a\\nb\"".to_owned(), TextFault::ControlCharacter),
    ] {
        let field = second.clone();
        assert_eq!(of(&format!("[\"N/A\", {entry}]")), AgreementFault::Text { field, fault });
    }
    assert!(matches!(of("\"NULL\""), AgreementFault::Table(TableFault::WrongType { .. })));
}

#[test]
fn a_canonical_form_that_no_peer_would_take_is_refused() {
    // Quotes take two bytes in the canonical form.
    let key = |i: usize| {
        let values: Vec<String> =
            (0..20).map(|n| format!("'{}'", "\"".repeat(200) + &n.to_string())).collect();
        format!("[[key]]\nname = \"k{i}\"\nprofile = \"trim\"\nnever = [{}]\n", values.join(", "))
    };
    let text = with(KEY, &format!("\n{}\n", (0..12).map(key).collect::<String>()));
    assert!((text.len() as u64) < MAX_FILE_BYTES);
    let fault = FileFault::TooLong { max_bytes: MAX_FILE_BYTES };
    assert_eq!(*refused(&text).fault, AgreementFault::File(fault));
}

#[test]
fn excluded_values_are_explained() {
    let text = vesica_explain::explain(&parse(&with_never("[\"NULL\", \"N/A\"]")));
    let words = "Rows whose \"email\" is one of these values count as refused, so that \
                 placeholders do not match each other: \"N/A\", \"NULL\".";
    assert!(text.sections[0].points.iter().any(|point| point == words), "{text}");
}
