//! The serialised form of a check, for other programs.

use crate::support::{SUM, TERMS, Terms};
use serde_json::json;
use vesica_preflight::Options;

#[test]
fn every_field_is_there_and_no_value() {
    let table = "email,amount\nanneliese@a.example,1\nAnneliese@a.example,\nsecret,7\n\
                 'hidden',8\n,9\n\
                 veiled@b.example,-77\n,,\n";
    let checked = Terms { min_rows: 3, ..SUM }.check(table, &Options::default());
    let found = serde_json::to_value(&checked).unwrap();
    let reason = "holds no e-mail address";
    let expected = json!({
        "party": "one",
        "rows": 6,
        "empty": 1,
        "refused": 2,
        "duplicates": 1,
        "distinct": 2,
        "without_value": 1,
        "refused_by": [{
            "column": "email",
            "reason": reason,
            "count": 2,
            "first": [{ "line": 4 }, { "line": 5 }],
        }],
        "single_quoted": [{ "column": "email", "count": 1, "first": [{ "line": 5 }] }],
        "floats": [],
        "frequent": [],
        "misfits": [{
            "column": "email",
            "profile": "email",
            "refused": 2,
            "values": 5,
            "better": null,
        }],
        "key": [{
            "name": "email",
            "column": "email",
            "profile": "email",
            "rows": 6,
            "shapes": [
                { "pattern": "a+@a.a+", "count": 2 },
                { "pattern": "", "count": 1 },
                { "pattern": "'a+'", "count": 1 },
                { "pattern": "Aa+@a.a+", "count": 1 },
                { "pattern": "a+", "count": 1 },
            ],
            "other": 0,
            "normalised": 3,
            "empty": 1,
            "refused": [{ "reason": reason, "count": 2 }],
        }],
        "value_columns": ["amount"],
        "sent_columns": [],
        "faults": [
            {
                "kind": "bad_value",
                "column": "amount",
                "detail": "holds a number below zero",
                "count": 1,
                "first": [{ "line": 7 }],
            },
            {
                "kind": "ragged",
                "column": null,
                "detail": "2 fields were expected",
                "count": 1,
                "first": [{ "line": 8 }],
            },
        ],
        "is_cut": false,
        "limits": {
            "min_rows": 3,
            "max_rows": 100,
            "has_too_few_keys": true,
            "has_too_many_rows": false,
        },
        "needs": null,
        "expired": null,
        "refusal": { "kind": "faults", "text": "rows have faults" },
    });
    assert_eq!(found, expected);
    let text = format!("{found} {checked:?}");
    for value in ["nneliese", "secret", "hidden", "veiled", "-77", ".example"] {
        assert!(!text.contains(value), "{value} is in {text}");
    }
}

#[test]
fn a_placeholder_is_a_figure_without_its_value() {
    let table = format!("email\n{}", "placeholder@a.example\n".repeat(30) + "b@b.example\n");
    let found = serde_json::to_value(TERMS.check(&table, &Options::default())).unwrap();
    let shape = json!({ "column": "email", "pattern": "a+@a.a+" });
    let expected =
        json!([{ "count": 30, "is_exact": true, "first": [{ "line": 2 }], "shapes": [shape] }]);
    assert_eq!(found["frequent"], expected);
    assert!(!found.to_string().contains("placeholder"));
}

#[test]
fn what_was_not_counted_is_null() {
    let checked =
        Terms { max_rows: 1, ..TERMS }.check("email\na@b.de\nc@d.de\n", &Options::default());
    let found = serde_json::to_value(&checked).unwrap();
    for field in ["rows", "empty", "refused", "duplicates", "distinct", "without_value"] {
        assert!(found[field].is_null(), "{field} of {found}");
    }
    assert_eq!(found["refusal"]["kind"], "too_many_rows");
    assert_eq!(found["limits"]["has_too_many_rows"], true);
    assert!(found["limits"]["has_too_few_keys"].is_null());
    let fine = serde_json::to_value(TERMS.check("email\na@b.de\n", &Options::default())).unwrap();
    assert!(fine["refusal"].is_null() && fine["faults"].as_array().unwrap().is_empty());
}
