//! Agreements with a helper: what is read, what is refused and where, what people are told of them.

mod explained;
mod refused;

use std::path::{Path, PathBuf};
use vesica_agreement::{Agreement, AgreementError, AgreementFault};
use vesica_explain::explain;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::{Check, Noun, Variant, aided};
use vesica_protocols::{Operation, Security};
use vesica_strict_toml::TableFault;

const HEAD: &str = "version = 2\ntitle = \"t\"\noperation = \"intersection\"\nreceives = \"all\"\n\
                    security = \"semi-honest\"\n";
const KEY: &str = "\n[[key]]\nname = \"email\"\nprofile = \"email\"\n";

fn identity(byte: u8) -> PublicIdentity {
    PublicIdentity::from_bytes([byte; 32])
}

fn helper() -> String {
    format!("\n[helper]\nidentity = \"{}\"\n", identity(99))
}

/// Parties `a`, `b`, … with these values of `max_rows`.
fn parties(rows: &[u64]) -> String {
    let party = |(i, rows): (u8, &u64)| {
        let (name, identity) = (char::from(b'a' + i), identity(i));
        format!("\n[party.{name}]\nidentity = \"{identity}\"\nmax_rows = {rows}\n")
    };
    (0..).zip(rows).map(party).collect()
}

fn of(rows: &[u64]) -> String {
    format!("{HEAD}{}{KEY}{}", helper(), parties(rows))
}

/// An agreement of two parties with `from` replaced, which must be in it.
#[track_caller]
fn with(from: &str, to: &str) -> String {
    replaced(&of(&[1000, 2000]), from, to)
}

#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in the agreement");
    text.replacen(from, to, 1)
}

/// The same with a line added to its head.
fn and(text: &str, line: &str) -> String {
    replaced(text, "version = 2\n", &format!("version = 2\n{line}\n"))
}

/// The same with lines added to its helper.
fn and_helper(text: &str, lines: &str) -> String {
    replaced(text, "[helper]\n", &format!("[helper]\n{lines}\n"))
}

fn protocol(text: &str, id: &str) -> String {
    and(text, &format!("protocol = \"{id}\""))
}

fn malicious(text: &str) -> String {
    replaced(text, "\"semi-honest\"", "\"malicious\"")
}

fn receives(text: &str, word: &str) -> String {
    replaced(text, "receives = \"all\"", &format!("receives = {word}"))
}

#[track_caller]
fn parse(text: &str) -> Agreement {
    Agreement::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
fn refused(text: &str) -> AgreementError {
    Agreement::parse(text).err().unwrap_or_else(|| panic!("accepted:\n{text}"))
}

/// Checks that `text` is refused for `fault` at a place whose line begins with `line`.
#[track_caller]
fn assert_refused(text: &str, fault: AgreementFault, line: &str) {
    let error = refused(text);
    assert_eq!(*error.fault, fault, "{error}");
    let at = error.at.expect("there is a place");
    let found = text.lines().nth(at.line as usize - 1).unwrap();
    assert!(found.starts_with(line), "{error} points at {found:?}");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sample(name: &str) -> Agreement {
    Agreement::load(repository().join("docs/samples").join(name)).unwrap()
}

/// The explanation as one line.
fn explained(agreement: &Agreement) -> String {
    explain(agreement).to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

// ---- what an agreement says

#[test]
fn fields_and_defaults_are_read() {
    let agreement = parse(&of(&[1000, 5, 70]));
    assert_eq!((&*agreement.title, agreement.expires), ("t", None));
    assert_eq!(agreement.security, Security::SemiHonest);
    assert_eq!(agreement.with_helper().unwrap().variant(), Variant::SemiHonest);
    assert_eq!(
        (&*agreement.helper.as_ref().unwrap().name, agreement.helper.as_ref().unwrap().identity),
        ("helper", identity(99))
    );
    assert_eq!(agreement.helper.as_ref().unwrap().check, Check { copies: 1, dummies: 16 });
    assert_eq!(agreement.keys[0].profile.to_string(), "email");
    let rows: Vec<_> =
        agreement.parties.iter().map(|party| (party.max_rows, party.min_rows)).collect();
    assert_eq!(rows, [(1000, 1), (5, 1), (70, 1)]);
    assert_eq!(agreement.party_of(&identity(1)), Some("b"));
    assert_eq!(agreement.party_of(&identity(99)), None);
    assert_eq!(agreement.position("c"), 2);
    assert!(agreement.all_receive());
    let named = parse(&and_helper(&of(&[3, 3]), "name = \"the cloud\""));
    assert_eq!(named.helper.as_ref().unwrap().name, "the cloud");
    let until = parse(&and(&of(&[3, 3]), "expires = 2027-01-31"));
    assert!(!until.is_expired("2027-01-31T23:59:59Z".parse().unwrap()));
    assert!(until.is_expired("2027-02-01T00:00:00Z".parse().unwrap()));
}

#[test]
fn parties_are_in_the_order_of_their_names() {
    let text = replaced(&of(&[1, 2, 3]), "[party.a]", "[party.z]");
    let agreement = parse(&receives(&text, "[\"z\", \"b\"]"));
    let names: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
    assert_eq!(names, ["b", "c", "z"]);
    assert_eq!(agreement.party_of(&identity(0)), Some("z"));
    assert_eq!(agreement.receivers, [0, 2]);
}

#[test]
fn who_receives_is_all_or_one_or_a_list() {
    let three = of(&[1, 2, 3]);
    for (word, receivers) in [
        ("\"all\"", vec![0, 1, 2]),
        ("\"b\"", vec![1]),
        ("[\"b\"]", vec![1]),
        ("[\"c\", \"a\"]", vec![0, 2]),
        ("[\"c\", \"a\", \"b\"]", vec![0, 1, 2]),
    ] {
        let agreement = parse(&receives(&three, word));
        assert_eq!(agreement.receivers, receivers, "{word}");
        let each: Vec<bool> =
            (0..3).map(|party| agreement.with_helper().unwrap().receives(party)).collect();
        assert!(receivers.iter().all(|party| each[*party]));
        assert_eq!(each.iter().filter(|receives| **receives).count(), receivers.len());
    }
    assert!(parse(&receives(&of(&[1, 2]), "\"all\"")).all_receive());
}

#[test]
fn security_chooses_the_protocol_and_the_rows_choose_the_check() {
    let million = of(&[1000, 1 << 20]);
    let agreement = parse(&malicious(&million));
    assert_eq!(agreement.with_helper().unwrap().variant(), Variant::Malicious);
    assert_eq!(agreement.helper.as_ref().unwrap().check, Check { copies: 4, dummies: 8863 });
    assert!(agreement.with_helper().unwrap().finds_cheats());
    assert!(!parse(&million).with_helper().unwrap().finds_cheats());
    for row in aided() {
        let text = protocol(&of(&[1, 1]), row.id);
        let text = if row.helper_security == Security::Malicious { malicious(&text) } else { text };
        assert_eq!(parse(&text).with_helper().unwrap().variant(), row.variant);
        // A stronger protocol than asked for will do.
        assert_eq!(
            parse(&protocol(&of(&[1, 1]), row.id)).with_helper().unwrap().variant(),
            row.variant
        );
    }
}

#[test]
fn a_given_check_replaces_the_chosen_one() {
    let check = |text: &str, copies, dummies| {
        and_helper(text, &format!("copies = {copies}\ndummies = {dummies}"))
    };
    let two = protocol(&of(&[1000, 1000]), "server_aided_malicious");
    for (copies, dummies, finds) in [
        (1, 2, false),
        (2, 2, false),
        (5, 1024, false),
        (9, 32, false),
        (4, 10_322, true),
        (64, 2, false),
        (64, 16, true),
        (64, 1 << 24, true),
        (3, 1 << 20, true),
    ] {
        let covert = parse(&check(&two, copies, dummies));
        assert_eq!(covert.helper.as_ref().unwrap().check, Check { copies, dummies });
        assert_eq!(covert.with_helper().unwrap().finds_cheats(), finds, "{copies} {dummies}");
        let asked = check(&malicious(&two), copies, dummies);
        if finds {
            assert_eq!(parse(&asked).helper.as_ref().unwrap().check, Check { copies, dummies });
        } else {
            let fault = AgreementFault::CheckTooWeak { check: Check { copies, dummies } };
            assert_refused(&asked, fault, "copies");
        }
    }
    let three = check(&of(&[1, 2, 3]), 2, 50);
    assert_eq!(parse(&three).helper.as_ref().unwrap().check, Check { copies: 2, dummies: 50 });
    assert_eq!(
        parse(&and(&of(&[1, 2, 3]), "self_check = 9")).helper.as_ref().unwrap().check.dummies,
        9
    );
}

#[test]
fn what_finds_cheats_among_many_rows_may_not_among_few() {
    // 32^-8 is 2^-40: the published bound says that this is enough for any number of rows.
    for rows in [1, 41, 1000] {
        let text = protocol(&of(&[1, rows]), "server_aided_malicious");
        let agreement = parse(&and_helper(&text, "copies = 9\ndummies = 32"));
        assert!(!agreement.with_helper().unwrap().finds_cheats(), "{rows}");
        assert!((28.0..28.5).contains(&agreement.with_helper().unwrap().cheating_bits()), "{rows}");
    }
    for rows in [1, 2, 10, 41, 1000, 10_000_000] {
        let chosen = parse(&malicious(&of(&[1, rows])));
        assert!(
            chosen.with_helper().unwrap().finds_cheats()
                && chosen.with_helper().unwrap().cheating_bits() < 45.0,
            "{rows}"
        );
    }
}

#[test]
fn the_spec_for_the_helper_has_the_min_rows_of_each_party() {
    let text = replaced(&of(&[1000, 2000]), "max_rows = 2000", "max_rows = 2000\nmin_rows = 70");
    let told: Vec<u64> = parse(&text)
        .with_helper()
        .unwrap()
        .spec()
        .parties
        .iter()
        .map(|party| party.min_rows)
        .collect();
    assert_eq!(told, [1, 70]);
}

#[test]
fn every_agreement_is_one_that_a_helper_takes() {
    let largest = [1 << 30; 16];
    for (text, parties) in [
        (of(&[1, 1]), 2),
        (of(&largest), 16),
        (malicious(&of(&largest[..2])), 2),
        (malicious(&protocol(&of(&largest[..2]), "server_aided_fair")), 2),
        (malicious(&protocol(&of(&largest[..2]), "server_aided_size_hiding")), 2),
        (receives(&of(&largest[..5]), "\"c\""), 5),
    ] {
        let agreement = parse(&text);
        let spec = agreement.with_helper().unwrap().spec();
        assert!(spec.is_sound(), "{spec:?}");
        assert_eq!(spec.parties.len(), parties);
        assert_eq!(spec.agreement, *agreement.hash().as_bytes());
        for (position, party) in spec.parties.iter().enumerate() {
            assert_eq!(
                agreement.party_of(&PublicIdentity::from_bytes(party.identity)),
                Some(&*agreement.parties[position].name)
            );
            assert_eq!(party.receives, agreement.with_helper().unwrap().receives(position));
        }
    }
}

// ---- canonical form

#[test]
fn comments_and_order_and_written_defaults_change_nothing() {
    let head: String = HEAD.lines().rev().map(|line| format!("  {line} # a comment\n")).collect();
    let text = format!(
        "{head}expires = \"never\"\nprotocol = \"server_aided\"\nself_check = 16\n{KEY}{}",
        helper()
    );
    let written = format!("{text}name = \"helper\"\n{}min_rows = 1\n", parties(&[1000, 2000]));
    let (one, two) = (parse(&of(&[1000, 2000])), parse(&receives(&written, "[\"b\", \"a\"]")));
    assert_eq!(one.canonical(), two.canonical());
    assert_eq!((one.hash(), &one), (two.hash(), &two));
    let chosen = malicious(&of(&[1 << 20, 1]));
    let given = and_helper(&chosen, "copies = 4\ndummies = 8863");
    assert_eq!(parse(&chosen), parse(&given));
}

#[test]
fn every_term_changes_the_hash_and_is_named_as_the_difference() {
    let base = of(&[1000, 2000, 3000]);
    let other = identity(50).to_string();
    for (text, field, here, there) in [
        (replaced(&base, "\"t\"", "\"u\""), "title", Some("t"), Some("u")),
        (receives(&base, "\"b\""), "receives", Some("all"), Some("b")),
        (and(&base, "expires = 2027-01-31"), "expires", Some("never"), Some("2027-01-31")),
        (and(&base, "self_check = 20"), "helper.dummies", Some("16"), Some("20")),
        (and_helper(&base, "copies = 2\ndummies = 16"), "helper.copies", Some("1"), Some("2")),
        (and_helper(&base, "name = \"cloud\""), "helper.name", Some("helper"), Some("cloud")),
        (
            replaced(&base, &identity(99).to_string(), &other),
            "helper.identity",
            Some(&*identity(99).to_string()),
            Some(&*other),
        ),
        (replaced(&base, "= 3000", "= 4000"), "party.c.max_rows", Some("3000"), Some("4000")),
    ] {
        let (one, two) = (parse(&base), parse(&text));
        assert_ne!(one.hash(), two.hash(), "{field}");
        let differences = one.differences_from(&two.canonical()).unwrap();
        let [difference] = &differences[..] else { panic!("{differences:?}") };
        let values = (difference.here.as_deref(), difference.there.as_deref());
        assert_eq!((&*difference.field, values), (field, (here, there)));
    }
    let list = parse(&receives(&base, "[\"a\", \"c\"]"));
    let differences = parse(&base).differences_from(&list.canonical()).unwrap();
    let fields: Vec<&str> = differences.iter().map(|difference| &*difference.field).collect();
    assert_eq!(fields, ["receives", "receives.1", "receives.2"]);
    // Also from one between two parties alone.
    let alone = replaced(&of(&[1000, 2000]), &helper(), "");
    let alone = Agreement::parse(&alone).unwrap();
    let differences = parse(&base).differences_from(&alone.canonical()).unwrap();
    assert!(differences.iter().any(|difference| difference.field == "helper.identity"));
    assert!(alone.differences_from(&parse(&base).canonical()).is_ok());
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_canonical_form_reads_back_as_the_same_agreement(
            rows in prop::collection::vec(1u64..1 << 30, 2..17),
            receivers in any::<u16>(),
            check in prop::option::of((1u32..9, 2u32..1 << 24)),
            id in 0usize..5,
        ) {
            let row = aided().nth(id).unwrap();
            let rows: Vec<u64> = match row.variant {
                Variant::SemiHonest => rows,
                variant => rows[..2].iter().map(|rows| *rows.min(&variant.max_rows())).collect(),
            };
            let mut text = protocol(&of(&rows), row.id);
            if let Some((copies, dummies)) = check {
                text = and_helper(&text, &format!("copies = {copies}\ndummies = {dummies}"));
            }
            let names: Vec<String> = (0..rows.len())
                .filter(|party| receivers >> party & 1 == 1)
                .map(|party| format!("{:?}", char::from(b'a' + party as u8).to_string()))
                .collect();
            if !row.all_receive && !names.is_empty() {
                text = receives(&text, &format!("[{}]", names.join(", ")));
            }
            match Agreement::parse(&text) {
                Ok(agreement) => {
                    prop_assert_eq!(&parse(&agreement.canonical()), &agreement);
                    prop_assert!(agreement.with_helper().unwrap().spec().is_sound());
                    let explained = explain(&agreement).to_string();
                    prop_assert!(explained.lines().all(|line| line.chars().count() <= 88));
                }
                Err(error) => {
                    let too_long = matches!(*error.fault, AgreementFault::ListsTooLong { .. });
                    prop_assert!(too_long, "{}", error);
                }
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", at in 0usize..400) {
            let _ = Agreement::parse(&text);
            let mut sample = of(&[1, 2, 3]);
            let at = sample.floor_char_boundary(at);
            sample.insert_str(at, &text);
            let _ = Agreement::parse(&sample);
        }
    }
}
