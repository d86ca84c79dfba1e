//! Transforms against their golden vectors, and laws that hold for every value.

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use vesica_transforms::{Refusal, Texts, Transform, TransformError};

const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/transforms.json"));

/// The texts of a value. They come after others, which stay.
fn texts(transform: Transform, value: &str) -> Result<Vec<String>, Refusal> {
    let mut out = Texts::new();
    out.push("before");
    let done = transform.apply(value, &mut out);
    let mut all = out.iter().map(String::from);
    assert_eq!(all.next().as_deref(), Some("before"));
    let texts: Vec<String> = all.collect();
    assert_eq!(done.is_ok(), !texts.is_empty(), "{transform} of {value:?}");
    assert_eq!(out.len(), 1 + texts.len());
    done.map(|()| texts)
}

fn tables() -> Vec<Value> {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    vectors["transforms"].as_array().unwrap().clone()
}

#[test]
fn golden_vectors_hold() {
    let mut wrong = Vec::new();
    for table in tables() {
        let transform: Transform = table["transform"].as_str().unwrap().parse().unwrap();
        assert_eq!(table["version"], transform.version(), "{transform}");
        for vector in table["vectors"].as_array().unwrap() {
            let value = vector["value"].as_str().unwrap();
            let got = texts(transform, value);
            let right = match (&got, &vector["texts"], &vector["refused"]) {
                (Ok(texts), Value::Array(expected), _) => texts == expected,
                (Err(reason), _, Value::String(expected)) => format!("{reason:?}") == *expected,
                _ => false,
            };
            if !right {
                wrong.push(format!("{transform} of {value:?}: {got:?}, expected {vector}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_transform_has_at_least_fifteen_vectors() {
    for row in Transform::catalogue() {
        let stem = row.name.split('<').next().unwrap();
        let is_its = |table: &&Value| {
            let name = table["transform"].as_str().unwrap();
            if row.name.contains('<') { name.starts_with(stem) } else { name == stem }
        };
        let tables = tables();
        let count: usize =
            tables.iter().filter(is_its).map(|t| t["vectors"].as_array().unwrap().len()).sum();
        assert!(count >= 15, "{}: {count}", row.name);
        assert!(!row.description.is_empty());
    }
}

#[test]
fn names_parse_to_their_transforms() {
    let parametrised = ["first(1)", "first(3)", "first(64)", "last(1)", "last(4)", "last(64)"];
    let plain = Transform::catalogue().iter().map(|row| row.name).filter(|n| !n.contains('<'));
    for name in plain.chain(parametrised) {
        let transform: Transform = name.parse().unwrap();
        assert_eq!(transform.to_string(), name);
        assert_eq!(transform.name(), name);
        assert_eq!(transform.version(), 1);
        assert!(!transform.description().is_empty());
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    for (name, nearest) in [
        ("soundx", Some("soundex")),
        ("Soundex", Some("soundex")),
        ("metaphone", Some("double-metaphone")),
        ("", None),
        ("qqqq", None),
        ("first(3", Some("first")),
    ] {
        let unknown = TransformError::Unknown { name: name.into(), nearest };
        assert_eq!(name.parse::<Transform>(), Err(unknown), "{name}");
    }
    for name in ["first", "last"] {
        assert_eq!(name.parse::<Transform>(), Err(TransformError::MissingParameter { name }));
    }
    for (name, parameter) in [
        ("first", ""),
        ("first", "0"),
        ("first", "65"),
        ("first", "03"),
        ("first", "+3"),
        ("first", "-1"),
        ("first", "x"),
        ("last", "256"),
        ("soundex", "4"),
        ("year", ""),
    ] {
        let parameter = parameter.to_owned();
        assert_eq!(
            format!("{name}({parameter})").parse::<Transform>(),
            Err(TransformError::UnknownParameter { name, parameter })
        );
    }
}

/// The rows of the page have the name of a transform, a value or several, and the texts.
#[test]
fn the_table_on_the_page_of_profiles_has_all_transforms_and_is_correct() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/profiles.md"));
    let section = page.split("\n## Transforms\n").nth(1).unwrap();
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut seen = BTreeSet::new();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').collect();
        let transform: Transform = quoted(cells[1])[0].parse().unwrap();
        seen.insert(transform.to_string().split('(').next().unwrap().to_owned());
        for value in quoted(cells[2]) {
            let texts = texts(transform, &value).unwrap();
            let shown: Vec<String> = texts.iter().map(|text| text.replace('\0', "_")).collect();
            assert_eq!(shown, quoted(cells[3])[..texts.len()], "{transform} of {value}");
        }
    }
    let names = Transform::catalogue().iter();
    let names: BTreeSet<String> =
        names.map(|row| row.name.split('(').next().unwrap().to_owned()).collect();
    assert_eq!(seen, names);
}

/// All transforms, with some of their parameters.
pub(crate) fn transforms() -> Vec<Transform> {
    let names = Transform::catalogue().iter().map(|row| row.name.replace("<N>", "3"));
    names.map(|name| name.parse().unwrap()).collect()
}

pub(crate) fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z]{0,12}",
        "[A-Z -]{0,140}",
        "[a-zß-ÿ'’ -]{0,16}",
        "(mac|kn|k|ph|pf|sch|x|gn|wr|van |san |sch)?[aeiou]?[bcdghjklmnpqrstvwxz]{0,3}[a-z]{0,8}",
        "[0-9]{4}-[0-3][0-9]-[0-3][0-9]",
        "[ab]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn texts_are_distinct_and_within_their_bounds(value in value()) {
        let len = value.chars().count();
        for transform in transforms() {
            let Ok(texts) = texts(transform, &value) else { continue };
            let distinct: BTreeSet<&String> = texts.iter().collect();
            prop_assert_eq!(distinct.len(), texts.len(), "{} of {:?}", transform, &value);
            let is_bounded = texts.len() <= transform.max_outputs(len);
            prop_assert!(is_bounded, "{} of {:?}", transform, &value);
            for text in &texts {
                let is_short = text.chars().count() <= transform.max_output_len(len);
                prop_assert!(is_short && !text.is_empty(), "{} of {:?}", transform, &value);
            }
        }
    }

    /// Codes of sounds do not depend on case, nor on signs between letters.
    #[test]
    fn a_code_is_that_of_the_letters(value in "[a-z]{1,16}", at in any::<prop::sample::Index>()) {
        for name in ["soundex", "nysiis", "cologne", "double-metaphone"] {
            let transform: Transform = name.parse().unwrap();
            let code = texts(transform, &value);
            prop_assert_eq!(&texts(transform, &value.to_uppercase()), &code);
            for sign in ["'", "1", ".", "\u{2019}"] {
                let mut signed = value.clone();
                signed.insert_str(at.index(value.len()), sign);
                prop_assert_eq!(&texts(transform, &signed), &code, "{}", &signed);
            }
        }
    }

    #[test]
    fn two_dates_are_equal_unordered_exactly_if_they_are_equal_or_swapped(
        a in (1..=31_u8, 1..=12_u8),
        b in (1..=31_u8, 1..=12_u8),
    ) {
        let date = |(day, month): (u8, u8)| format!("1985-{month:02}-{day:02}");
        let unordered = |d: (u8, u8)| texts("day-month-unordered".parse().unwrap(), &date(d));
        let are_alike = a == b || a == (b.1, b.0);
        prop_assert_eq!(unordered(a) == unordered(b), are_alike);
        if (1..=12).contains(&b.0) {
            prop_assert_eq!(unordered(b), unordered((b.1, b.0)));
        }
    }
}
