//! The canonical form and the hash.

use super::*;

#[test]
fn comments_and_order_and_written_defaults_change_nothing() {
    let key_two = "\n[[key]]\nname = \"birthday\"\nprofile = \"date\"\n\n";
    let one = format!("{HEAD}{KEY}{key_two}{}", parties());
    let head: String = HEAD.lines().rev().map(|line| format!("  {line} # a comment\n")).collect();
    let two = format!(
        "# our agreement\r\n{head}hide_sizes = false\nself_check = 16\nmax_repeats = 3\n\
         partition_rows = 1_572_864\nexpires = \"never\"\nprotocol = \"auto\"\n{}min_rows = 1\n\
         {key_two}{KEY}",
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
        (with("\"shop\"", "\"all\""), "receives", Some("shop"), Some("all")),
        (
            with("\"semi-honest\"", "\"insecure\""),
            "security",
            Some("semi-honest"),
            Some("insecure"),
        ),
        (and("protocol = \"dh\""), "protocol", Some("auto"), Some("dh")),
        (and("expires = 2027-01-31"), "expires", Some("never"), Some("2027-01-31")),
        (and("self_check = 20"), "self_check", Some("16"), Some("20")),
        (and("partition_rows = 20_000"), "partition_rows", None, Some("20000")),
        (and("max_repeats = 5"), "max_repeats", None, Some("5")),
        (and("hide_sizes = true"), "hide_sizes", Some("false"), Some("true")),
        (
            // Of the same version, so that only the name differs.
            with("profile = \"email\"", "profile = \"email:google\""),
            "key.email.profile",
            Some("email"),
            Some("email:google"),
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
            ("key.phone.profile_version", None, Some("3")),
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
        let agreement = Agreement::load(format!("{base}.toml")).unwrap();
        let named = agreement.hash();
        assert_eq!(agreement.canonical(), canonical, "{base}");
        assert_eq!(Agreement::parse(&canonical).unwrap(), agreement);
        let hash = std::fs::read_to_string(format!("{base}.hash")).unwrap();
        assert_eq!(named.to_string(), hash.trim(), "{base}");
        assert_eq!(named.short(), hash[..16]);
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn every_sample_of_the_documentation_is_an_agreement() {
    let mut seen = 0;
    for entry in std::fs::read_dir(repository().join("docs/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let agreement = Agreement::load(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} samples");
}
