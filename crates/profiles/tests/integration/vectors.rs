//! Profiles against their golden vectors, and laws that hold for every value.

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use vesica_profiles::{Normalised, Profile, ProfileError, Refusal};

const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/profiles.json"));

fn normal(profile: Profile, value: &str) -> Result<Option<String>, Refusal> {
    let mut out = b"before".to_vec();
    let done = profile.normalise(value, &mut out)?;
    let text = String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_string();
    match done {
        Normalised::Value => Ok(Some(text)),
        Normalised::Empty => {
            assert_eq!(text, "");
            Ok(None)
        }
    }
}

#[test]
fn golden_vectors_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let mut wrong = Vec::new();
    for table in vectors["profiles"].as_array().unwrap() {
        let name = table["profile"].as_str().unwrap();
        let profile: Profile = name.parse().unwrap();
        assert_eq!(table["version"], profile.version(), "{name}");
        for vector in table["vectors"].as_array().unwrap() {
            let value = vector["value"].as_str().unwrap();
            let got = normal(profile, value);
            let right = match (&got, &vector["normalised"], &vector["refused"]) {
                (Ok(Some(text)), Value::String(expected), _) => text == expected,
                (Ok(None), ..) => vector["empty"] == true,
                (Err(reason), _, Value::String(expected)) => format!("{reason:?}") == *expected,
                _ => false,
            };
            if !right {
                wrong.push(format!("{name} of {value:?}: {got:?}, expected {vector}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_profile_of_the_catalogue_has_vectors() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let seen: BTreeSet<&str> = vectors["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["profile"].as_str().unwrap())
        .collect();
    for row in Profile::catalogue() {
        let stem = row.name.split('<').next().unwrap();
        let has = if row.name.contains('<') {
            seen.iter().any(|name| name.starts_with(stem) && name.len() > stem.len())
        } else {
            seen.contains(stem)
        };
        assert!(has, "{} has no vectors", row.name);
        assert!(!row.description.is_empty());
    }
}

#[test]
fn names_parse_to_their_profiles() {
    for name in [
        "exact",
        "trim",
        "lower",
        "email",
        "email:google",
        "phone:GB",
        "phone:US",
        "date",
        "date:dmy",
        "date:mdy",
        "digits",
        "hex",
        "hex:md5",
        "hex:sha1",
        "hex:sha256",
        "hex:sha512",
        "integer:1",
        "integer:64",
        "ipv4",
        "uuid",
        "person-name",
        "person-name:de",
        "postcode:GB",
        "postcode:US",
        "ssn-us",
        "nhs",
        "vat-eu",
        "iban",
        "lei",
        "url-host",
    ] {
        let profile: Profile = name.parse().unwrap();
        assert_eq!(profile.to_string(), name);
        assert_eq!(profile.name(), name);
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let unknown = |name: &str, nearest| {
        assert_eq!(
            name.parse::<Profile>(),
            Err(ProfileError::Unknown { name: name.into(), nearest }),
            "{name}"
        );
    };
    unknown("emial", Some("email"));
    unknown("Email", Some("email"));
    unknown("hash", None);
    unknown("", None);
    assert_eq!(
        "integer".parse::<Profile>(),
        Err(ProfileError::MissingParameter { name: "integer" })
    );
    for name in ["phone", "postcode"] {
        assert_eq!(name.parse::<Profile>(), Err(ProfileError::MissingParameter { name }));
    }
    for (name, parameter) in [
        ("phone", "XX"),
        ("phone", "gb"),
        ("phone", ""),
        ("hex", "crc"),
        ("date", "ymd"),
        ("trim", "x"),
        ("integer", "65"),
        ("integer", "032"),
        ("ipv4", "32"),
        ("person-name", "fr"),
        ("postcode", "XX"),
        ("postcode", "gb"),
        ("iban", "DE"),
    ] {
        let known =
            ["phone", "hex", "date", "trim", "integer", "ipv4", "person-name", "postcode", "iban"]
                .into_iter()
                .find(|known| *known == name)
                .unwrap();
        assert_eq!(
            format!("{name}:{parameter}").parse::<Profile>(),
            Err(ProfileError::UnknownParameter { name: known, parameter: parameter.into() })
        );
    }
}

fn profiles() -> Vec<Profile> {
    [
        "exact",
        "trim",
        "lower",
        "email",
        "email:google",
        "phone:GB",
        "phone:DE",
        "date",
        "date:dmy",
        "digits",
        "hex",
        "hex:md5",
        "integer:16",
        "ipv4",
        "uuid",
        "person-name",
        "person-name:de",
        "postcode:GB",
        "postcode:CA",
        "postcode:DE",
        "postcode:IE",
        "postcode:NL",
        "postcode:PT",
        "postcode:US",
        "ssn-us",
        "nhs",
        "vat-eu",
        "iban",
        "lei",
        "url-host",
    ]
    .iter()
    .map(|name| name.parse().unwrap())
    .collect()
}

/// The outcomes of `phone` depend on the metadata of the library: another release raises its
/// version, and then this.
#[test]
fn the_version_of_phone_stands_for_one_release_of_its_library() {
    let lock = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"));
    let (_, after) = lock.split_once("name = \"rlibphonenumber\"\nversion = \"").unwrap();
    let release = after.split('"').next().unwrap();
    let phone: Profile = "phone:GB".parse().unwrap();
    assert_eq!((release, phone.version()), ("2.2.15", 3));
}

/// Values similar to the interesting ones: e-mail, phone, date and number characters, some Unicode.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9.+@ _-]{0,20}@[a-zA-Z0-9.-]{0,20}",
        "[0-9 ()+./-]{0,16}",
        "[0-9]{1,4}[-/. ][0-9a-zA-Z]{1,4}[-/. ][0-9]{1,4}",
        "[a.\u{301}\u{308}e\u{200b}o+]{1,6}@gmail.com",
        "[ \t\u{a0}]{0,2}[a-zßçéİΣ\u{301}\u{308}A-Z]{0,8}[ \u{3000}]{0,2}",
        "(0x)?[0-9a-fA-F]{0,40}",
        " ?[0-9]{1,6}",
        "[='\" ]{0,3}[=+@0a\u{338}\u{200d}]{0,3}[0-9a'\"\u{ad}\u{301} ]{0,4}[\" ]{0,2}",
        concat!(
            "[ax\u{627}\u{647}\u{94d}.\u{200c}\u{200d}\u{fc}]{0,4}@",
            "[ab\u{627}\u{647}\u{915}\u{94d}.\u{200c}\u{200d}\u{fc} ]{1,8}",
        ),
        "(00|0)?49[0-9 /()-]{4,14}",
        "[{]?[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}[}]?",
        "[0-9a-zA-Z+/_-]{20,22}(==)?",
        "20[0-9]{2}-0[1-9]-1[0-9][T ][012][024]:00(:00)?( ?[AP]M)?(Z| UTC|[+-]0[01]:?00)?",
        "[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3} ?",
        concat!(
            "((dr|mr|van|de|d|l|o|al|la|der)[.' -]{1,2}){0,3}",
            "[a-zA-Zß-ÿÄ-Üłßªα-ωΑ-Ωа-яᄀ-하-ᅵ\u{300}-\u{303}'’´.·・ -]{0,8}",
        ),
        "(DE|D|FIN|NL|US)?[- ]?[0-9]{3,5}[- ]?[0-9A-Z]{0,4}",
        "[A-Za-z]{1,2}[0-9][0-9A-Z]?[ -]?[0-9][A-Za-z]{1,2}[0-9]?",
        "[0-9]{3}[- ]?[0-9]{2,3}[- ]?[0-9]{4}",
        "(DE|GB|FR|IT|ES|NL|ATU|BE|PL|GR|IE)[0-9]{7,12}[A-Z]?",
        "(IBAN:? ?)?(DE|NO|BE)[0-9]{2}[ 0-9]{11,20}",
        "[A-Z0-9]{18}[0-9]{2}",
        concat!(
            "((https?|ftp|x)://)?(a@)?(www[.。]){0,3}",
            "[a1\u{fc}\u{627}\u{647}\u{94d}\u{915}\u{200c}\u{200d}_-]{0,3}[.。]?[ab12]{0,3}",
            "[.]?(:[0-9]{0,3})?[/?#]?[a@:/]{0,3}",
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn normal_forms_are_their_own_normal_form(value in value()) {
        for profile in profiles() {
            if let Ok(Some(once)) = normal(profile, &value) {
                let twice = normal(profile, &once);
                prop_assert_eq!(twice, Ok(Some(once)), "{} of {:?}", profile, value);
            }
        }
    }

    /// The paths for ASCII and for Unicode must agree: a no-break space forces the general one.
    #[test]
    fn ascii_and_unicode_paths_agree(
        value in "[ -~\t]{0,24}|[a-zA-Z0-9.+-]{1,8}@[a-zA-Z0-9.-]{1,16}",
    ) {
        for profile in profiles().into_iter().skip(1) {
            prop_assert_eq!(
                normal(profile, &value),
                normal(profile, &format!("\u{a0}{value}")),
                "{} of {:?}", profile, value
            );
        }
    }

    /// But between the letters of a domain, where joiners can be a part of the name.
    #[test]
    fn characters_that_nobody_sees_do_not_matter(
        value in value(),
        unseen in concat!(
            "[\u{ad}\u{34f}\u{61c}\u{180e}\u{200b}\u{200c}\u{200d}\u{2060}\u{2068}\u{fe0f}",
            "\u{feff}\u{3164}\u{e0041}]{1,3}",
        ),
        at in any::<prop::sample::Index>(),
    ) {
        let starts = value.char_indices().map(|(at, _)| at);
        let places: Vec<usize> = starts.chain([value.len()]).collect();
        let (before, after) = value.split_at(*at.get(&places));
        for profile in profiles().into_iter().skip(1) {
            let has_domain = profile.name().starts_with("email") || profile.name() == "url-host";
            if has_domain && !value.is_ascii() {
                continue;
            }
            prop_assert_eq!(
                normal(profile, &value),
                normal(profile, &format!("{before}{unseen}{after}")),
                "{} of {:?} with {:?} at {}", profile, value, unseen, before.len()
            );
        }
    }

    #[test]
    fn a_value_that_holds_only_unseen_characters_is_empty(
        value in concat!(
            "[ \u{ad}\u{115f}\u{17b4}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}",
            "\u{ffa0}\u{e0000}-\u{e0fff}]{0,6}",
        ),
    ) {
        for profile in profiles().into_iter().skip(1) {
            prop_assert_eq!(normal(profile, &value), Ok(None), "{} of {:?}", profile, value);
        }
    }

    #[test]
    fn normal_forms_are_in_form_c(value in value()) {
        use icu_normalizer::ComposingNormalizerBorrowed;
        for profile in profiles().into_iter().skip(1) {
            if let Ok(Some(text)) = normal(profile, &value) {
                let is_form_c = ComposingNormalizerBorrowed::new_nfc().is_normalized(&text);
                prop_assert!(is_form_c, "{} of {:?}", profile, value);
            }
        }
    }

    /// What a spreadsheet shows for a cell is its value.
    #[test]
    fn a_value_kept_from_a_spreadsheet_is_the_same_value(value in "[0-9][ -!#-&(-~]{0,12}") {
        for profile in profiles().into_iter().skip(1) {
            for kept in [format!("=\"{value}\""), format!("'{value}")] {
                let (whole, seen) = (normal(profile, &value), normal(profile, &kept));
                prop_assert_eq!(whole, seen, "{} of {:?}", profile, kept);
            }
        }
    }

    #[test]
    fn blanks_around_a_value_do_not_matter(
        value in value(),
        blanks in
            "[ \t\u{a0}\u{feff}\u{2003}\u{200e}\u{202a}\u{202c}\u{2066}\u{2069}]{1,3}",
    ) {
        for profile in profiles().into_iter().skip(1) {
            prop_assert_eq!(
                normal(profile, &value),
                normal(profile, &format!("{blanks}{value}{blanks}")),
                "{} of {:?}", profile, value
            );
        }
    }
}
