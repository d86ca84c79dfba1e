//! What is refused, and where.

use super::*;

#[test]
fn text_that_is_not_toml_is_refused_with_its_place() {
    let error = refused(&with("title = ", "title "));
    assert_eq!(error.at.map(|at| at.line), Some(2));
    assert!(matches!(*error.fault, AgreementFault::Table(TableFault::Syntax(_))));
    assert!(error.to_string().starts_with("agreement, line 2, column "), "{error}");
    assert!(matches!(*refused("\u{0}").fault, AgreementFault::Table(TableFault::Syntax(_))));
    assert!(matches!(
        *refused(&and("version = 2")).fault,
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
        ("version = 2\n", "agreement: the field \"version\" is missing"),
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
        (
            "version = 2",
            "version = \"2\"",
            "line 1, column 11: \"version\" is a text, not a whole number",
        ),
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
            "line 7, column 1: \"key\" is a table, not a list of tables, each \
             under its own [[key]]",
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
                "agreement, line 13, column 12: \"party.shop.max_rows\" is {shown}, outside 1 to \
                 {MAX_ROWS}"
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
    for bad in ["101", "-1"] {
        assert_refused(
            &and(&format!("max_repeats = {bad}")),
            &format!("agreement, line 2, column 15: \"max_repeats\" is {bad}, outside 0 to 100"),
        );
    }
    assert_eq!(parse(&and("")).max_repeats, 3);
    for good in [0, 1, 100] {
        let agreement = parse(&and(&format!("max_repeats = {good}")));
        assert_eq!((agreement.max_repeats, &parse(&agreement.canonical())), (good, &agreement));
    }
    for bad in ["0", "999", "1572865", "-1"] {
        assert_refused(
            &and(&format!("partition_rows = {bad}")),
            &format!(
                "agreement, line 2, column 18: \"partition_rows\" is {bad}, outside 1000 to 1572864"
            ),
        );
    }
    assert_eq!(parse(&and("")).partition_rows, 1_572_864);
    for good in [1_000, 20_000, 1_572_864] {
        let agreement = parse(&and(&format!("partition_rows = {good}")));
        assert_eq!((agreement.partition_rows, &parse(&agreement.canonical())), (good, &agreement));
    }
    assert_refused(
        &with("max_rows = 5_000_000", "max_rows = 10\nmin_rows = 11"),
        "agreement, line 14, column 12: the party \"shop\" has min_rows 11 above max_rows 10",
    );
}

#[test]
fn unknown_words_are_refused_with_the_known_ones() {
    let cases = [
        ("\"intersection\"", "\"intersect\"", "operation", Some("intersection"), 9),
        ("\"shop\"", "\"shops\"", "receives", Some("shop"), 3),
        ("\"semi-honest\"", "\"semihonest\"", "security", Some("semi-honest"), 4),
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
    let later = format!("{}\nbrand_new = true\n", "version = 3");
    assert_refused(
        &later,
        "agreement, line 1, column 11: format version 3 where this software knows 2",
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
    for name in ["Shop", "\"a b\"", "\"\"", "\"caf\\u00e9\"", "all", &"x".repeat(33)] {
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
    assert!(matches!(*refused(&third).fault, AgreementFault::PartyCount { found: 3, most: 2 }));
    let same = with(&identity(2).to_string(), &identity(1).to_string());
    assert!(matches!(*refused(&same).fault, AgreementFault::SameIdentity { .. }));
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
        "agreement, line 13, column 8: the key \"email\" is defined twice",
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
    assert_eq!(parse(&text(3)), parse(&sample()));
    assert_refused(
        &text(9),
        "agreement, line 10, column 19: version 9 of the profile email where this software has 3",
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
