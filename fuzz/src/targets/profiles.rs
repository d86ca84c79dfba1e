//! Normaliser profiles.

use super::{Target, no_seeds};
use crate::input::Input;
use vesica_records::encoding::{PART_HEADER_LEN, push_cell};
use vesica_records::{Normalised, Profile};

pub(super) const PROFILE: Target = Target {
    name: "profile",
    run: profile,
    seeds: no_seeds,
    tokens: &[
        b"@gmail.com",
        b"@googlemail.com",
        b"+44",
        b"+1 (0)",
        b"xn--",
        b"2024-02-29",
        b"T00:00:00Z",
        b" Jan ",
        b"0x",
        b"\xcc\x81",
        b"\xe2\x80\x8b",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
        b"\xc3\x9f",
        b"\xc4\xb0",
        b"\xef\xbc\x90",
        b"ext. 5",
        b"urn:uuid:",
        b"123e4567-e89b-12d3-a456-426614174000",
        b" 12:00:00 AM",
        b"+00:00",
        b"van der ",
        b"d' ",
        b"\xc2\xb4",
        b"DE136695976",
        b"ES54362315K",
        b"IBAN: ",
        b"GB82WEST12345698765432",
        b"9434765919",
        b"https://www.",
    ],
    max_len: 256,
};

const NAMES: [&str; 33] = [
    "exact",
    "trim",
    "lower",
    "email",
    "email:google",
    "phone:GB",
    "phone:US",
    "phone:DE",
    "phone:IT",
    "date",
    "date:dmy",
    "date:mdy",
    "digits",
    "hex",
    "hex:md5",
    "hex:sha256",
    "integer:1",
    "integer:16",
    "integer:64",
    "ipv4",
    "uuid",
    "person-name",
    "person-name:de",
    "postcode:GB",
    "postcode:NL",
    "postcode:US",
    "ssn-us",
    "nhs",
    "vat-eu",
    "iban",
    "lei",
    "url-host",
    "postcode:IE",
];

/// The first byte selects the profile, the rest is the cell. For a byte beyond the profiles, the
/// rest is a name.
fn profile(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let which = usize::from(input.byte());
    let text = String::from_utf8_lossy(input.rest());
    let Some(name) = NAMES.get(which % (NAMES.len() + 1)) else {
        if let Ok(profile) = text.parse::<Profile>() {
            assert_eq!(profile.name().parse(), Ok(profile), "a name reads back");
        }
        return;
    };
    let profile: Profile = name.parse().expect("the profile is known");
    let mut normal = b"before".to_vec();
    let outcome = profile.normalise(&text, &mut normal);
    assert!(normal.starts_with(b"before"), "earlier contents are unchanged");
    let normal = &normal[b"before".len()..];
    let mut part = Vec::new();
    assert_eq!(
        push_cell(profile, text.as_bytes(), &mut part),
        outcome,
        "the encoding accepts the same cells"
    );
    if outcome != Ok(Normalised::Value) {
        assert!(normal.is_empty() && part.is_empty(), "no value, and nothing written");
        return;
    }
    assert!(!normal.is_empty(), "a value is not empty");
    assert_eq!(&part[PART_HEADER_LEN..], normal);
    assert_eq!(part[1..PART_HEADER_LEN], (normal.len() as u32).to_le_bytes());
    let normal = std::str::from_utf8(normal).expect("a normal form is text");
    let mut again = Vec::new();
    let outcome = profile.normalise(normal, &mut again);
    assert_eq!(outcome, Ok(Normalised::Value), "{name} takes its own normal form {normal:?}");
    assert_eq!(again, normal.as_bytes(), "{name}: the normal form of a normal form is itself");
}
