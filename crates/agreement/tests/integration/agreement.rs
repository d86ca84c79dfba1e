//! Agreements: what is read, what is refused and where, and what names them.

mod canonical;
mod excluded;
mod refused;
mod rules;

use std::path::{Path, PathBuf};
use vesica_agreement::{
    Agreement, AgreementError, AgreementFault, MAX_FILE_BYTES, MAX_ROWS, TextFault,
};
use vesica_core::{Learns, Role};
use vesica_link::{ParseIdentityError, PublicIdentity};
use vesica_protocols::{Auto, Operation, Security, catalogue};
use vesica_records::ProfileError;
use vesica_strict_toml::{FileFault, TableFault};

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

const HEAD: &str = r#"version = 2
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
    with("version = 2\n", &format!("version = 2\n{line}\n"))
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
    assert_eq!(agreement.sole_receiver(), Some("shop"));
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
        ("all", "publisher", Learns::Both),
    ] {
        let agreement = parse(&with("\"shop\"", &format!("\"{receives}\"")));
        let sender = &agreement.peer_of(receiver).name;
        assert_eq!(agreement.role_of(receiver), Role::Receiver);
        assert_eq!(agreement.role_of(sender), Role::Sender);
        assert_eq!(agreement.learns(), learns);
        assert!(agreement.is_receiver_of_result(receiver));
        assert_eq!(agreement.is_receiver_of_result(sender), receives == "all");
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
    assert_eq!(bits("ipv4", "protocol = \"ot_phasing\""), Some(33));
    assert_eq!(bits("integer:64", "protocol = \"psz14\""), Some(65));
    assert_eq!(bits("integer:8", "protocol = \"ot_phasing\""), Some(9));
    // A million rows and more of padding do not fit in eight bits.
    let hidden = "hide_sizes = true\nprotocol = \"ot_phasing\"";
    assert!(bits("integer:8", hidden).is_some_and(|bits| bits > 20));
    assert_eq!(bits("ipv4", "protocol = \"auto\""), None);
    assert_eq!(bits("ipv4", "protocol = \"kkrt16\""), None);
    assert_eq!(bits("ipv4", hidden), Some(33));
    assert_eq!(bits("lower", "protocol = \"ot_phasing\""), None);
}

#[test]
fn auto_allows_every_suitable_protocol_and_a_name_only_one() {
    for security in [Security::SemiHonest, Security::Malicious] {
        let offering =
            catalogue().iter().filter(|row| row.operations.contains(&Operation::Intersection));
        let enough: Vec<_> = offering
            .filter(|row| row.security >= security && row.auto == Auto::Candidate)
            .map(|row| row.id)
            .collect();
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
    let named = insecure.replace("version = 2", "version = 2\nprotocol = \"naive_hash\"");
    assert_eq!(ids(&parse(&named)), ["naive_hash"]);
    assert_refused(
        &and("protocol = \"naive_hash\""),
        "agreement, line 2, column 12: the protocol \"naive_hash\" is insecure; the agreement \
         requires semi-honest",
    );
}

#[test]
fn a_protocol_weaker_than_the_security_asked_for_is_refused() {
    let named = with("\"semi-honest\"", "\"malicious\"\nprotocol = \"dh\"");
    assert_refused(
        &named,
        "agreement, line 6, column 12: the protocol \"dh\" is semi-honest; the agreement requires \
         malicious",
    );
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
            partition_rows in prop::option::of(1_000_u64..=1_572_864),
            keys in prop::collection::btree_map(
                "[^\\p{C}\\p{Zl}\\p{Zp}]{0,20}[a-z]", 0usize..7, 1..=16,
            ),
            names in prop::collection::btree_set("[a-z0-9_-]{1,32}", 2),
            rows in [1..=MAX_ROWS, 1..=MAX_ROWS],
        ) -> String {
            let names: Vec<String> = names.into_iter().collect();
            let receives = names.get(receives).map_or("all", |name| name);
            let quoted = |text: &str| toml::Value::from(text).to_string();
            let mut text = format!(
                "version = 2\ntitle = {}\noperation = \"intersection\"\nreceives = \"{receives}\"\n\
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
            line("partition_rows", partition_rows.map(|n| n.to_string()));
            for (name, profile) in keys.iter().rev() {
                let (name, profile) = (quoted(name), PROFILES[*profile]);
                text += &format!("[[key]]\nname = {name}\nprofile = {profile:?}\n");
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
