//! The key encoding against its vectors, and its injectivity.

use proptest::prelude::*;
use serde_json::Value;
use vesica_records::encoding::{PART_HEADER_LEN, push_cell};
use vesica_records::{Normalised, Profile};

const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/encoding.json"));

/// The encoded key; `None` if a column is empty.
fn encode(columns: &[(Profile, &str)]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for (profile, value) in columns {
        if push_cell(*profile, value.as_bytes(), &mut out).unwrap() == Normalised::Empty {
            return None;
        }
    }
    Some(out)
}

/// Parses the parts: tag and value.
fn decode(mut encoded: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut parts = Vec::new();
    while !encoded.is_empty() {
        let (header, rest) = encoded.split_at(PART_HEADER_LEN);
        let len = u32::from_le_bytes(header[1..].try_into().unwrap()) as usize;
        let (value, rest) = rest.split_at(len);
        parts.push((header[0], value.to_vec()));
        encoded = rest;
    }
    parts
}

#[test]
fn golden_vectors_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    for vector in vectors["keys"].as_array().unwrap() {
        let columns: Vec<(Profile, &str)> = vector["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| {
                (column[0].as_str().unwrap().parse().unwrap(), column[1].as_str().unwrap())
            })
            .collect();
        let hex = encode(&columns)
            .map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        assert_eq!(hex.as_deref(), vector["encoded"].as_str(), "{vector}");
    }
}

#[test]
fn commas_in_values_do_not_move_between_columns() {
    let exact = Profile::EXACT;
    assert_ne!(encode(&[(exact, "a,b"), (exact, "c")]), encode(&[(exact, "a"), (exact, "b,c")]));
}

#[test]
fn a_refused_or_empty_value_leaves_the_buffer_unchanged() {
    let mut out = b"x".to_vec();
    assert!(push_cell(Profile::EMAIL, b"nobody", &mut out).is_err());
    assert_eq!(push_cell(Profile::TRIM, b"  ", &mut out), Ok(Normalised::Empty));
    assert_eq!(out, b"x");
}

proptest! {
    #[test]
    fn keys_read_back(values in prop::collection::vec("(?s).{1,40}", 1..5)) {
        let columns: Vec<(Profile, &str)> =
            values.iter().map(|value| (Profile::EXACT, value.as_str())).collect();
        let parts = decode(&encode(&columns).unwrap());
        let expected: Vec<_> = values.iter().map(|value| (1, value.clone().into_bytes())).collect();
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn different_keys_have_different_encodings(
        one in prop::collection::vec("[a\0\u{1},]{1,4}", 1..4),
        two in prop::collection::vec("[a\0\u{1},]{1,4}", 1..4),
    ) {
        let columns = |values: &'_ [String]| -> Vec<u8> {
            let columns: Vec<_> = values.iter().map(|v| (Profile::EXACT, v.as_str())).collect();
            encode(&columns).unwrap()
        };
        prop_assert_eq!(one == two, columns(&one) == columns(&two));
    }
}
