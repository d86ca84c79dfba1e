//! Agreements: what is read, what is refused and where, and what names them.

use std::path::{Path, PathBuf};
use vesica_core::{Learns, Role};
use vesica_engine::agreement::{
    Agreement, AgreementError, AgreementFault, MAX_FILE_BYTES, MAX_ROWS, Receives, TextFault,
};
use vesica_engine::aided::AnyAgreement;
use vesica_link::{ParseIdentityError, PublicIdentity};
use vesica_protocols::{Operation, Security, catalogue};
use vesica_records::ProfileError;
use vesica_tables::{FileFault, TableFault};

fn identity(byte: u8) -> PublicIdentity {
    PublicIdentity::from_bytes([byte; 32])
}

fn parties() -> String {
    format!(
        "[party.shop]\nidentity = \"{}\"\nmax_rows = 5_000_000\n\n\
         [party.publisher]\nidentity = \"{}\"\nmax_rows = 2_000_000\n",
        identity(1),
        identity(2)
    )
}

const HEAD: &str = r#"version = 1
title = "Spring campaign"
operation = "intersection"
receives = "shop"
security = "semi-honest"
"#;
const KEY: &str = "\n[[key]]\nname = \"email\"\nprofile = \"email\"\n\n";

fn sample() -> String {
    format!("{HEAD}{KEY}{}", parties())
}

/// The sample with `from` replaced, which must be in it.
fn with(from: &str, to: &str) -> String {
    let sample = sample();
    assert!(sample.contains(from), "{from:?} is not in the sample");
    sample.replacen(from, to, 1)
}

/// The sample with a line added at its head.
fn and(line: &str) -> String {
    with("version = 1\n", &format!("version = 1\n{line}\n"))
}

fn parse(text: &str) -> Agreement {
    Agreement::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> AgreementError {
    Agreement::parse(text).err().unwrap_or_else(|| panic!("accepted:\n{text}"))
}

#[track_caller]
fn assert_refused(text: &str, message: &str) {
    assert_eq!(refused(text).to_string(), message);
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

// ---- what an agreement says

#[test]
fn fields_and_defaults_are_read() {
    let agreement = parse(&sample());
    assert_eq!(agreement.title, "Spring campaign");
    assert_eq!(agreement.receives, Receives::One("shop".to_owned()));
    assert_eq!(agreement.security, Security::SemiHonest);
    assert_eq!((agreement.expires, agreement.self_check, agreement.hide_sizes), (None, 16, false));
    assert_eq!(agreement.keys.len(), 1);
    assert_eq!(agreement.keys[0].profile.to_string(), "email");
    let names: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
    assert_eq!(names, ["publisher", "shop"]);
    assert_eq!(agreement.terms_of("shop").max_rows, 5_000_000);
    assert_eq!(agreement.terms_of("shop").min_rows, 1);
    assert_eq!(agreement.peer_of("shop").name, "publisher");
    assert_eq!(agreement.party_of(&identity(1)), Some("shop"));
    assert_eq!(agreement.party_of(&identity(2)), Some("publisher"));
    assert_eq!(agreement.party_of(&identity(3)), None);
}

#[test]
fn the_one_who_receives_is_the_receiver() {
    for (receives, receiver, learns) in [
        ("shop", "shop", Learns::Receiver),
        ("publisher", "publisher", Learns::Receiver),
        ("both", "publisher", Learns::Both),
    ] {
        let agreement = parse(&with("\"shop\"", &format!("\"{receives}\"")));
        let sender = &agreement.peer_of(receiver).name;
        assert_eq!(agreement.role_of(receiver), Role::Receiver);
        assert_eq!(agreement.role_of(sender), Role::Sender);
        assert_eq!(agreement.learns(), learns);
        assert!(agreement.is_receiver_of_result(receiver));
        assert_eq!(agreement.is_receiver_of_result(sender), receives == "both");
    }
}

#[test]
fn the_last_day_counts_to_its_end_in_utc() {
    let agreement = parse(&and("expires = 2027-01-31"));
    let at = |time: &str| agreement.is_expired(time.parse().unwrap());
    assert!(!at("2026-01-01T00:00:00Z"));
    assert!(!at("2027-01-31T23:59:59Z"));
    assert!(at("2027-02-01T00:00:00Z"));
    assert!(at("2027-01-31T23:59:59-01:00"));
    assert!(
        !parse(&and("expires = \"never\"")).is_expired("9999-12-30T00:00:00Z".parse().unwrap())
    );
}

fn ids(agreement: &Agreement) -> Vec<&'static str> {
    agreement.candidates().iter().map(|row| row.id).collect()
}

#[test]
fn integers_are_compared_where_the_key_and_the_protocol_allow_it() {
    let bits = |profile: &str, more: &str| {
        let text = and(more).replace("profile = \"email\"", &format!("profile = \"{profile}\""));
        assert!(text.contains(profile));
        parse(&text).integer_items().map(|integers| integers.item_bits())
    };
    assert_eq!(bits("ipv4", "protocol = \"ot_phasing\""), Some(34));
    assert_eq!(bits("integer:64", "protocol = \"psz14\""), Some(66));
    // A million rows and more of padding and self-check do not fit in eight bits.
    assert!(bits("integer:8", "protocol = \"ot_phasing\"").is_some_and(|bits| bits > 20));
    assert_eq!(bits("ipv4", "protocol = \"auto\""), None);
    assert_eq!(bits("ipv4", "protocol = \"kkrt16\""), None);
    assert_eq!(bits("ipv4", "hide_sizes = true\nprotocol = \"ot_phasing\""), None);
    assert_eq!(bits("lower", "protocol = \"ot_phasing\""), None);
}

#[test]
fn auto_allows_every_protocol_that_will_do_and_a_name_only_one() {
    for security in [Security::SemiHonest, Security::Malicious] {
        let offering =
            catalogue().iter().filter(|row| row.operations.contains(&Operation::Intersection));
        let enough = offering.filter(|row| row.security >= security && !row.named_only);
        let enough: Vec<_> = enough.map(|row| row.id).collect();
        if enough.is_empty() {
            continue;
        }
        let asked = format!("\"{security}\"");
        for text in [sample(), and("protocol = \"auto\"")] {
            let agreement = parse(&text.replace("\"semi-honest\"", &asked));
            assert_eq!(ids(&agreement), enough);
            assert!(agreement.is_auto());
            assert_eq!(agreement.protocol_word(), "auto");
            assert!(agreement.canonical().contains("\nprotocol = \"auto\"\n"));
        }
    }
    let named = parse(&and("protocol = \"dh\""));
    assert_eq!((ids(&named), named.is_auto()), (vec!["dh"], false));
    assert_ne!(named, parse(&sample()), "who names a protocol agreed on something else");
    assert_ne!(named.hash(), parse(&sample()).hash());
}

#[test]
fn an_insecure_protocol_must_be_named_and_asked_for() {
    let insecure = with("\"semi-honest\"", "\"insecure\"");
    assert!(parse(&insecure).candidates().iter().all(|row| row.security > Security::Insecure));
    let named = insecure.replace("version = 1", "version = 1\nprotocol = \"naive_hash\"");
    assert_eq!(ids(&parse(&named)), ["naive_hash"]);
    assert_refused(
        &and("protocol = \"naive_hash\""),
        "agreement, line 2, column 12: the protocol \"naive_hash\" is insecure; the agreement \
         asks for semi-honest",
    );
}

#[test]
fn a_protocol_weaker_than_the_security_asked_for_is_refused() {
    let named = with("\"semi-honest\"", "\"malicious\"\nprotocol = \"dh\"");
    assert_refused(
        &named,
        "agreement, line 6, column 12: the protocol \"dh\" is semi-honest; the agreement asks for \
         malicious",
    );
}

// ---- what is refused

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    let error = refused(&with("title = ", "title "));
    assert_eq!(error.at.map(|at| at.line), Some(2));
    assert!(matches!(*error.fault, AgreementFault::Table(TableFault::Syntax(_))));
    assert!(error.to_string().starts_with("agreement, line 2, column "), "{error}");
    assert!(matches!(*refused("\u{0}").fault, AgreementFault::Table(TableFault::Syntax(_))));
    assert!(matches!(
        *refused(&and("version = 1")).fault,
        AgreementFault::Table(TableFault::Syntax(_))
    ));
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_known_one() {
    let unknown = |text: &str| {
        let error = refused(text);
        let AgreementFault::Table(TableFault::UnknownField { field, nearest, .. }) = *error.fault
        else {
            panic!("{error}")
        };
        (field, nearest, error.at.map(|at| (at.line, at.column)))
    };
    let field = |name: &str| name.to_owned();
    assert_eq!(
        unknown(&with("operation", "opration")),
        (field("opration"), Some("operation"), Some((3, 1)))
    );
    assert_eq!(
        unknown(&with("max_rows", "  maxrows")),
        (field("party.shop.maxrows"), Some("max_rows"), Some((13, 3)))
    );
    assert_eq!(
        unknown(&with("profile", "profil")),
        (field("key[1].profil"), Some("profile"), Some((9, 1)))
    );
    assert_eq!(unknown(&and("zzz = 1")), (field("zzz"), None, Some((2, 1))));
}

#[test]
fn the_first_unknown_field_of_the_text_is_named() {
    let error = refused(&and("zebra = 1\nalpha = 1"));
    assert_eq!(error.to_string(), "agreement, line 2, column 1: unknown field \"zebra\"");
}

#[test]
fn every_required_field_is_missed() {
    let cases = [
        ("version = 1\n", "agreement: the field \"version\" is missing"),
        ("title = \"Spring campaign\"\n", "agreement: the field \"title\" is missing"),
        ("operation = \"intersection\"\n", "agreement: the field \"operation\" is missing"),
        ("receives = \"shop\"\n", "agreement: the field \"receives\" is missing"),
        ("security = \"semi-honest\"\n", "agreement: the field \"security\" is missing"),
        (KEY, "agreement: the field \"key\" is missing"),
        (
            "profile = \"email\"\n",
            "agreement, line 7, column 1: the field \"key[1].profile\" is missing",
        ),
        (
            "max_rows = 5_000_000\n",
            "agreement, line 11, column 8: the field \"party.shop.max_rows\" is missing",
        ),
    ];
    for (without, message) in cases {
        assert_refused(&with(without, ""), message);
    }
    assert_refused(&format!("{HEAD}{KEY}"), "agreement: the field \"party\" is missing");
    let AgreementFault::Table(TableFault::MissingField { meaning, .. }) =
        *refused(&with(KEY, "")).fault
    else {
        panic!("another fault")
    };
    assert_eq!(meaning, "the columns whose values are compared");
}

#[test]
fn every_missing_field_has_a_meaning() {
    for line in sample().lines().filter(|line| line.contains(" = ")) {
        let error = refused(&with(&format!("{line}\n"), ""));
        let AgreementFault::Table(TableFault::MissingField { meaning, .. }) = *error.fault else {
            panic!("{error}")
        };
        assert!(!meaning.is_empty(), "{line}");
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let cases = [
        (
            "\"Spring campaign\"",
            "7",
            "line 2, column 9: \"title\" is a whole number, not a text in quotes",
        ),
        ("1\n", "\"1\"\n", "line 1, column 11: \"version\" is a text, not a whole number"),
        (
            "5_000_000",
            "5.5",
            "line 13, column 12: \"party.shop.max_rows\" is a decimal number, not a whole number",
        ),
        (
            "5_000_000",
            "true",
            "line 13, column 12: \"party.shop.max_rows\" is true or false, not a whole number",
        ),
        (
            "[[key]]",
            "[key]",
            "line 7, column 1: \"key\" is a table, not a list of tables, each under its own [[key]]",
        ),
        (
            "[party.shop]",
            "[party]",
            "line 12, column 1: \"party.identity\" is a text, not a table [party.NAME]",
        ),
    ];
    for (from, to, message) in cases {
        assert_refused(&with(from, to), &format!("agreement, {message}"));
    }
    assert_refused(
        &and("hide_sizes = \"yes\""),
        "agreement, line 2, column 14: \"hide_sizes\" is a text, not true or false",
    );
    let listed = with(KEY, "\nkey = [\"email\"]\n");
    assert_refused(&listed, "agreement, line 7, column 8: \"key[1]\" is a text, not a table");
}

#[test]
fn numbers_outside_their_range_are_refused() {
    for (bad, shown) in [
        ("0", "0"),
        ("-5", "-5"),
        ("4_294_967_296", "4294967296"),
        ("99999999999999999999", "9223372036854775807"),
    ] {
        assert_refused(
            &with("5_000_000", bad),
            &format!(
                "agreement, line 13, column 12: \"party.shop.max_rows\" is {shown}, outside 1 to {MAX_ROWS}"
            ),
        );
    }
    parse(&with("5_000_000", &MAX_ROWS.to_string()));
    assert_eq!(parse(&with("5_000_000", "0x10")).terms_of("shop").max_rows, 16);
    for bad in ["7", "1025"] {
        assert_refused(
            &and(&format!("self_check = {bad}")),
            &format!("agreement, line 2, column 14: \"self_check\" is {bad}, outside 8 to 1024"),
        );
    }
    assert_refused(
        &with("max_rows = 5_000_000", "max_rows = 10\nmin_rows = 11"),
        "agreement, line 14, column 12: the party \"shop\" has min_rows 11 above max_rows 10",
    );
}

#[test]
fn unknown_words_are_refused_with_the_known_ones() {
    let cases = [
        ("\"intersection\"", "\"intersect\"", "operation", Some("intersection"), 8),
        ("\"shop\"", "\"shops\"", "receives", Some("shop"), 3),
        ("\"semi-honest\"", "\"semihonest\"", "security", Some("semi-honest"), 3),
    ];
    for (from, to, expected_field, expected_nearest, count) in cases {
        let error = refused(&with(from, to));
        let AgreementFault::UnknownWord { field, nearest, known, .. } = *error.fault else {
            panic!("{error}")
        };
        assert_eq!((&*field, nearest.as_deref()), (expected_field, expected_nearest));
        assert_eq!(known.len(), count);
    }
    let error = refused(&and("protocol = \"rr22x\""));
    assert!(matches!(*error.fault, AgreementFault::UnknownWord { .. }), "{error}");
}

#[test]
fn a_later_format_is_called_one_whatever_its_fields() {
    let later = format!("{}\nbrand_new = true\n", "version = 2");
    assert_refused(
        &later,
        "agreement, line 1, column 11: format version 2 where this software knows 1",
    );
}

#[test]
fn texts_that_could_deceive_a_reader_are_refused() {
    let text_fault = |title: &str| {
        let error = refused(&with("\"Spring campaign\"", title));
        let AgreementFault::Text { fault, .. } = *error.fault else { panic!("{error}") };
        fault
    };
    assert_eq!(text_fault("\" \""), TextFault::Empty);
    assert_eq!(
        text_fault(&format!("\"{}\"", "x".repeat(201))),
        TextFault::TooLong { max_chars: 200 }
    );
    for escape in ["\\u001b[2J", "a\\nb", "\\u202e", "a\\u0085b"] {
        assert_eq!(text_fault(&format!("\"{escape}\"")), TextFault::ControlCharacter, "{escape}");
    }
    parse(&with("\"Spring campaign\"", "\"Frühling \\\"27\\\" \\\\ 春\""));
}

#[test]
fn party_names_are_short_and_plain() {
    for name in ["Shop", "\"a b\"", "\"\"", "\"caf\\u00e9\"", "both", &"x".repeat(33)] {
        let error = refused(&with("party.shop", &format!("party.{name}")));
        assert!(matches!(*error.fault, AgreementFault::PartyName { .. }), "{error}");
    }
    let longest = "x".repeat(32);
    parse(
        &with("party.shop", &format!("party.{longest}"))
            .replace("\"shop\"", &format!("\"{longest}\"")),
    );
}

#[test]
fn there_are_two_parties_with_identities_of_their_own() {
    let one = format!("{HEAD}{KEY}{}", parties().split("\n[party.pub").next().unwrap());
    assert_refused(&one, "agreement, line 11, column 2: there must be two parties, not 1");
    let third =
        format!("{}[party.third]\nidentity = \"{}\"\nmax_rows = 1\n", sample(), identity(3));
    assert!(matches!(*refused(&third).fault, AgreementFault::PartyCount { found: 3 }));
    let same = with(&identity(2).to_string(), &identity(1).to_string());
    assert!(matches!(*refused(&same).fault, AgreementFault::SameIdentity));
}

#[test]
fn a_bad_identity_is_refused_without_being_repeated() {
    let good = identity(1).to_string();
    let cases = [
        ("nobody".to_owned(), ParseIdentityError::NotAnIdentity),
        (good[..40].to_owned(), ParseIdentityError::BadChecksum),
        ("vesica-secret1qqqqqqqqqq".to_owned(), ParseIdentityError::IsSecret),
    ];
    for (bad, expected) in cases {
        let error = refused(&with(&good, &bad));
        assert!(!error.to_string().contains(&bad), "{error}");
        let AgreementFault::BadIdentity { cause, field } = *error.fault else { panic!() };
        assert_eq!((cause, &*field), (expected, "party.shop.identity"));
    }
}

#[test]
fn keys_have_names_of_their_own_and_known_profiles() {
    assert_refused(
        &with(KEY, &format!("{KEY}{KEY}")),
        "agreement, line 13, column 8: the key \"email\" is there twice",
    );
    assert_refused(
        &with(KEY, "\nkey = []\n"),
        "agreement, line 7, column 7: there must be 1 to 16 keys, not 0",
    );
    let many: String = (0..17).map(|i| KEY.replacen("email", &format!("k{i}"), 1)).collect();
    assert!(matches!(
        *refused(&with(KEY, &many)).fault,
        AgreementFault::KeyCount { found: 17, .. }
    ));
    let error = refused(&with("profile = \"email\"", "profile = \"emial\""));
    let AgreementFault::BadProfile { cause, .. } = *error.fault else { panic!("{error}") };
    assert!(matches!(cause, ProfileError::Unknown { nearest: Some("email"), .. }));
    let error = refused(&with("profile = \"email\"", "profile = \"phone\""));
    let AgreementFault::BadProfile { cause, .. } = *error.fault else { panic!("{error}") };
    assert_eq!(cause, ProfileError::MissingParameter { name: "phone" });
}

#[test]
fn another_version_of_a_profile_is_refused() {
    let text = |version: u32| {
        with("profile = \"email\"", &format!("profile = \"email\"\nprofile_version = {version}"))
    };
    assert_eq!(parse(&text(1)), parse(&sample()));
    assert_refused(
        &text(9),
        "agreement, line 10, column 19: version 9 of the profile email where this software has 1",
    );
}

#[test]
fn expiry_is_a_day_or_never() {
    for bad in
        ["\"2027-01-31\"", "2027-01-31T10:00:00Z", "10:00:00", "20270131", "0000-01-01T00:00:00"]
    {
        let error = refused(&and(&format!("expires = {bad}")));
        assert_eq!(*error.fault, AgreementFault::BadDate, "{bad}");
        assert_eq!(error.at.map(|at| (at.line, at.column)), Some((2, 11)));
    }
    assert!(matches!(
        *refused(&and("expires = 2027-02-30")).fault,
        AgreementFault::Table(TableFault::Syntax(_))
    ));
}

#[test]
fn files_that_are_no_agreement_are_refused_by_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("long.toml"), vec![b'#'; MAX_FILE_BYTES as usize + 1]).unwrap();
    std::fs::write(path("latin.toml"), b"title = \"\xe9\"").unwrap();
    std::fs::write(path("empty.toml"), b"").unwrap();
    let cases = [
        ("none.toml", FileFault::Missing),
        (".", FileFault::NotAFile),
        ("long.toml", FileFault::TooLong { max_bytes: MAX_FILE_BYTES }),
        ("latin.toml", FileFault::NotUtf8),
    ];
    for (name, expected) in cases {
        let error = Agreement::load(path(name)).unwrap_err();
        assert_eq!(error.path, Some(path(name)));
        assert_eq!(*error.fault, AgreementFault::File(expected));
    }
    let error = Agreement::load(path("empty.toml")).unwrap_err();
    assert!(matches!(*error.fault, AgreementFault::Table(TableFault::MissingField { .. })));
}

// ---- the canonical form and the hash

#[test]
fn comments_and_order_and_written_defaults_change_nothing() {
    let key_two = "\n[[key]]\nname = \"birthday\"\nprofile = \"date\"\n\n";
    let one = format!("{HEAD}{KEY}{key_two}{}", parties());
    let head: String = HEAD.lines().rev().map(|line| format!("  {line} # a comment\n")).collect();
    let two = format!(
        "# our agreement\r\n{head}hide_sizes = false\nself_check = 16\nexpires = \"never\"\n\
         protocol = \"auto\"\n{}min_rows = 1\n{key_two}{KEY}",
        parties()
    );
    let (one, two) = (parse(&one), parse(&two));
    assert_eq!(one.canonical(), two.canonical());
    assert_eq!(one.hash(), two.hash());
    assert_eq!(one.differences(&two), []);
    assert_eq!(one, two);
}

#[test]
fn every_term_changes_the_hash_and_is_named_as_the_difference() {
    let base = parse(&sample());
    let changes = [
        (with("Spring", "Autumn"), "title", Some("Spring campaign"), Some("Autumn campaign")),
        (with("\"shop\"", "\"both\""), "receives", Some("shop"), Some("both")),
        (
            with("\"semi-honest\"", "\"insecure\""),
            "security",
            Some("semi-honest"),
            Some("insecure"),
        ),
        (and("protocol = \"dh\""), "protocol", Some("auto"), Some("dh")),
        (and("expires = 2027-01-31"), "expires", Some("never"), Some("2027-01-31")),
        (and("self_check = 20"), "self_check", Some("16"), Some("20")),
        (and("hide_sizes = true"), "hide_sizes", Some("false"), Some("true")),
        (
            with("profile = \"email\"", "profile = \"lower\""),
            "key.email.profile",
            Some("email"),
            Some("lower"),
        ),
        (with("5_000_000", "6_000_000"), "party.shop.max_rows", Some("5000000"), Some("6000000")),
        (
            and("").replace("[party.pub", "min_rows = 2\n[party.pub"),
            "party.shop.min_rows",
            Some("1"),
            Some("2"),
        ),
    ];
    for (text, field, here, there) in changes {
        let other = parse(&text);
        assert_ne!(base.hash(), other.hash(), "{field}");
        let differences = base.differences(&other);
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert_eq!(differences[0].field, field);
        assert_eq!(
            (differences[0].here.as_deref(), differences[0].there.as_deref()),
            (here, there)
        );
        assert_eq!(other.differences(&base)[0].here.as_deref(), there);
    }
}

#[test]
fn a_key_that_only_one_side_has_is_a_difference_with_a_gap() {
    let more =
        parse(&with(KEY, &format!("{KEY}[[key]]\nname = \"phone\"\nprofile = \"phone:GB\"\n\n")));
    let differences = parse(&sample()).differences(&more);
    let shown: Vec<_> =
        differences.iter().map(|d| (&*d.field, d.here.as_deref(), d.there.as_deref())).collect();
    assert_eq!(
        shown,
        [
            ("key.phone.name", None, Some("phone")),
            ("key.phone.profile", None, Some("phone:GB")),
            ("key.phone.profile_version", None, Some("1")),
        ]
    );
}

#[test]
fn a_peers_text_of_another_version_is_compared_and_made_harmless() {
    let ours = parse(&sample());
    let theirs = ours
        .canonical()
        .replace("Spring campaign", "\\u001b[2Jfoo")
        .replace("protocol = \"auto\"", "protocol = \"not_yet_known\"\nnew_field = 7");
    let differences = ours.differences_from(&theirs).unwrap();
    let shown: Vec<_> =
        differences.iter().map(|d| (&*d.field, d.there.as_deref().unwrap())).collect();
    assert_eq!(
        shown,
        [("new_field", "7"), ("protocol", "not_yet_known"), ("title", "\u{fffd}[2Jfoo")]
    );
    let long = ours.canonical().replace("Spring campaign", &"x".repeat(5000));
    assert!(ours.differences_from(&long).unwrap()[0].there.as_ref().unwrap().len() < 300);
    for bad in ["title", "= 1", &"#".repeat(MAX_FILE_BYTES as usize + 1), &"[".repeat(60_000)] {
        assert!(ours.differences_from(bad).is_err());
    }
}

#[test]
fn canonical_form_and_hash_equal_the_vectors() {
    let directory = repository().join("vectors/agreement");
    let mut seen = 0;
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".canonical.toml") {
            continue;
        }
        let base = path.to_string_lossy().replace(".canonical.toml", "");
        let canonical = std::fs::read_to_string(&path).unwrap();
        let agreement = AnyAgreement::load(format!("{base}.toml")).unwrap();
        let (form, named) = match &agreement {
            AnyAgreement::TwoParty(agreement) => (agreement.canonical(), agreement.hash()),
            AnyAgreement::Aided(agreement) => (agreement.canonical(), agreement.hash()),
        };
        assert_eq!(form, canonical, "{base}");
        assert_eq!(AnyAgreement::parse(&canonical).unwrap(), agreement);
        let hash = std::fs::read_to_string(format!("{base}.hash")).unwrap();
        assert_eq!(named.to_string(), hash.trim(), "{base}");
        assert_eq!(named.short(), hash[..16]);
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn every_sample_of_the_documentation_is_an_agreement() {
    let mut seen = 0;
    for entry in std::fs::read_dir(repository().join("docs/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let agreement = AnyAgreement::load(&path).unwrap_or_else(|error| panic!("{error}"));
            let canonical = match &agreement {
                AnyAgreement::TwoParty(agreement) => agreement.canonical(),
                AnyAgreement::Aided(agreement) => agreement.canonical(),
            };
            assert_eq!(AnyAgreement::parse(&canonical).unwrap(), agreement);
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} samples");
}

mod any {
    use super::*;
    use proptest::prelude::*;

    const PROFILES: [&str; 7] =
        ["exact", "trim", "email:google", "phone:GB", "date:dmy", "digits", "hex:sha256"];

    prop_compose! {
        fn texts()(
            title in "[^\\p{C}\\p{Zl}\\p{Zp}]{0,40}[a-z]",
            receives in 0usize..3,
            protocol in prop::option::of(prop::sample::select(vec!["auto", "dh"])),
            expires in prop::option::of((1i16..=9999, 1i8..=12, 1i8..=28)),
            self_check in prop::option::of(8u32..=1024),
            hide_sizes in prop::option::of(any::<bool>()),
            keys in prop::collection::btree_map("[^\\p{C}\\p{Zl}\\p{Zp}]{0,20}[a-z]", 0usize..7, 1..=16),
            names in prop::collection::btree_set("[a-z0-9_-]{1,32}", 2),
            rows in [1..=MAX_ROWS, 1..=MAX_ROWS],
        ) -> String {
            let names: Vec<String> = names.into_iter().collect();
            let receives = names.get(receives).map_or("both", |name| name);
            let quoted = |text: &str| toml::Value::from(text).to_string();
            let mut text = format!(
                "version = 1\ntitle = {}\noperation = \"intersection\"\nreceives = \"{receives}\"\n\
                 security = \"semi-honest\"\n",
                quoted(&title),
            );
            let mut line = |name: &str, value: Option<String>| if let Some(value) = value {
                text += &format!("{name} = {value}\n");
            };
            line("protocol", protocol.map(|id| format!("{id:?}")));
            line("expires", expires.map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}")));
            line("self_check", self_check.map(|n| n.to_string()));
            line("hide_sizes", hide_sizes.map(|b| b.to_string()));
            for (name, profile) in keys.iter().rev() {
                text += &format!("[[key]]\nname = {}\nprofile = {:?}\n", quoted(name), PROFILES[*profile]);
            }
            for (i, name) in names.iter().enumerate().rev() {
                text += &format!(
                    "[party.{name}]\nidentity = \"{}\"\nmax_rows = {}\nmin_rows = {}\n",
                    identity(i as u8), rows[i], rows[i] / 2 + 1,
                );
            }
            text
        }
    }

    proptest! {
        #[test]
        fn the_canonical_form_reads_back_as_the_same_agreement(text in texts()) {
            prop_assume!(!text.contains("[party.both]"));
            let agreement = parse(&text);
            let canonical = agreement.canonical();
            let back = parse(&canonical);
            prop_assert_eq!(&back, &agreement);
            prop_assert_eq!(back.canonical(), canonical);
            prop_assert_eq!(back.hash(), agreement.hash());
        }

        #[test]
        fn two_agreements_differ_exactly_when_their_hashes_do(one in texts(), two in texts()) {
            prop_assume!(!one.contains("[party.both]") && !two.contains("[party.both]"));
            let (one, two) = (parse(&one), parse(&two));
            prop_assert_eq!(one.hash() == two.hash(), one.differences(&two).is_empty());
            prop_assert_eq!(one == two, one.hash() == two.hash());
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", at in 0usize..400) {
            let _ = Agreement::parse(&text);
            let mut cut = sample();
            let at = at.min(cut.len());
            cut.insert_str(at, &text);
            let _ = Agreement::parse(&cut);
            let _ = parse(&sample()).differences_from(&cut);
        }
    }
}
