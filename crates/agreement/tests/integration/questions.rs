//! Agreements that ask something else than which rows are common, and bounds on the answer.

mod candidates;
mod computed;
mod values;

use vesica_agreement::{
    Agreement, AgreementFault, MatchBounds, Question, SELF_CHECK_DEFAULT, ValueTerms,
};
use vesica_core::{EarlyReveal, SessionId};
use vesica_explain::explain;
use vesica_link::PublicIdentity;
use vesica_protocols::{BoundsKept, catalogue};
use vesica_records::Duplicates;

const KEY: &str = "\n[[key]]\nname = \"email\"\nprofile = \"email\"\n";

/// An agreement with these lines at its head and these tables after it.
fn agreement(head: &str, tables: &str) -> String {
    let identity = |byte| PublicIdentity::from_bytes([byte; 32]);
    format!(
        "version = 2\ntitle = \"test\"\nreceives = \"shop\"\nsecurity = \"semi-honest\"\n{head}\n\
         {tables}{KEY}\n[party.shop]\nidentity = \"{}\"\nmax_rows = 5_000\n\n\
         [party.publisher]\nidentity = \"{}\"\nmax_rows = 2_000\n",
        identity(1),
        identity(2)
    )
}

#[track_caller]
fn assert_refused(head: &str, tables: &str, message: &str) {
    let text = agreement(head, tables);
    let error = Agreement::parse(&text).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
    assert_eq!(error.to_string(), message);
}

const SUM: &str = "operation = \"sum\"";

fn sum(of: &str, column: &str, bits: &str) -> String {
    format!("[sum]\nof = {of}\ncolumn = {column}\nbits = {bits}\n")
}

#[test]
fn a_question_without_its_figures_is_incomplete() {
    assert_refused(
        "operation = \"threshold\"",
        "",
        "agreement: the field \"threshold\" is missing",
    );
    assert_refused(SUM, "", "agreement: the field \"sum\" is missing");
    for without in ["of", "column", "bits"] {
        let table = sum("\"shop\"", "\"amount\"", "32");
        let kept: Vec<&str> = table.lines().filter(|line| !line.starts_with(without)).collect();
        let message =
            format!("agreement, line 6, column 1: the field \"sum.{without}\" is missing");
        assert_refused(SUM, &(kept.join("\n") + "\n"), &message);
    }
}

#[test]
fn figures_of_another_question_are_refused() {
    assert_refused(
        "operation = \"cardinality\"\nthreshold = 7",
        "",
        "agreement, line 6, column 13: \"threshold\" belongs to threshold, not to cardinality",
    );
    assert_refused(
        "operation = \"intersection\"",
        &sum("\"shop\"", "\"amount\"", "32"),
        "agreement, line 6, column 1: \"sum\" belongs to sum, not to intersection",
    );
}

#[test]
fn a_sum_names_a_party_a_column_and_a_length() {
    assert_refused(
        SUM,
        &sum("\"shops\"", "\"amount\"", "32"),
        "agreement, line 7, column 6: \"sum.of\" is \"shops\"",
    );
    assert_refused(
        SUM,
        &sum("\"shop\"", "\" \"", "32"),
        "agreement, line 8, column 10: \"sum.column\" is empty",
    );
    for bits in ["0", "65"] {
        assert_refused(
            SUM,
            &sum("\"shop\"", "\"amount\"", bits),
            &format!("agreement, line 9, column 8: \"sum.bits\" is {bits}, outside 1 to 64"),
        );
    }
    let table = sum("\"shop\"", "\"amount\"", "32") + "colum = 3\n";
    assert_refused(SUM, &table, "agreement, line 10, column 1: unknown field \"sum.colum\"");
}

#[test]
fn unions_and_private_ids_alone_may_reveal_the_counts_of_partitions() {
    let parse = |operation: &str, more: &str| {
        let text = agreement(&format!("operation = \"{operation}\"\n{more}"), "");
        Agreement::parse(&text.replace("receives = \"shop\"", "receives = \"all\""))
    };
    for operation in ["union", "private-id"] {
        let plain = parse(operation, "partition_counts = false").unwrap();
        assert_eq!(plain, parse(operation, "").unwrap());
        let split = parse(operation, "partition_counts = true").unwrap();
        assert_ne!(plain.hash(), split.hash());
        assert_eq!(Agreement::parse(&split.canonical()).unwrap(), split);
        let refused = parse(operation, "partition_counts = true\nhide_sizes = true").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "agreement, line 6, column 20: \"partition_counts\" reveals sizes that \"hide_sizes\" \
             hides"
        );
    }
    assert_refused(
        "operation = \"cardinality\"\npartition_counts = true",
        "",
        "agreement, line 6, column 20: cardinality has no \"partition_counts\"",
    );
}

#[test]
fn only_intersections_by_a_protocol_with_an_early_reveal_can_turn_it_off() {
    let parse = |head: &str| {
        let text = agreement(head, "").replace("receives = \"shop\"", "receives = \"all\"");
        Agreement::parse(&text)
    };
    let pwc = "operation = \"intersection\"\nprotocol = \"pwc\"\n";
    let of = |text: &str| {
        let agreement = parse(&format!("{pwc}{text}")).unwrap();
        let params = agreement.params(SessionId::from_bytes([1; 32]), 9, 9).unwrap();
        assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
        (agreement, params.early_reveal())
    };
    let (with, by_default) = (of("early_reveal = true"), of(""));
    assert_eq!(with, by_default);
    assert_eq!(with.1, EarlyReveal::Paced);
    let without = of("early_reveal = false");
    assert_eq!(without.1, EarlyReveal::Never);
    assert_ne!(with.0.hash(), without.0.hash());
    let depends = |agreement: &Agreement| {
        let text = explain(agreement).to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("bytes and flights of pwc")
    };
    assert!(depends(&with.0) && !depends(&without.0));
    for head in [
        "operation = \"intersection\"",
        "operation = \"intersection\"\nprotocol = \"pwc_gmw\"",
        "operation = \"cardinality\"\nprotocol = \"pwc\"",
    ] {
        for flag in [true, false] {
            let refused = parse(&format!("{head}\nearly_reveal = {flag}")).unwrap_err();
            assert_eq!(*refused.fault, AgreementFault::NoEarlyReveal, "{head}");
        }
    }
}

#[test]
fn unions_and_private_ids_have_no_bounds() {
    for operation in ["union", "private-id"] {
        for field in ["min_matches", "max_matches"] {
            let text = agreement(&format!("operation = \"{operation}\"\n{field} = 5"), "");
            let error = Agreement::parse(&text.replace("\"shop\"", "\"all\"")).unwrap_err();
            let expected = format!(
                "agreement, line 6, column 15: {operation} has no bounds, but {field:?} is given"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn bounds_and_thresholds_that_contradict_each_other_are_refused() {
    let intersection = |more: &str| format!("operation = \"intersection\"\n{more}");
    let threshold = |more: &str| format!("operation = \"threshold\"\nthreshold = 100\n{more}");
    assert_refused(
        &intersection("min_matches = 10\nmax_matches = 9"),
        "",
        "agreement, line 6, column 15: min_matches 10 is above max_matches 9",
    );
    assert_refused(
        &intersection("min_matches = 2_001"),
        "",
        "agreement, line 6, column 15: \"min_matches\" is 2001, above the smaller max_rows 2000",
    );
    assert_refused(
        &intersection("min_matches = 0"),
        "",
        "agreement, line 6, column 15: \"min_matches\" is 0, outside 1 to 4294963200",
    );
    assert_refused(
        "operation = \"threshold\"\nthreshold = 2001",
        "",
        "agreement, line 6, column 13: \"threshold\" is 2001, above the smaller max_rows 2000",
    );
    assert_refused(
        &threshold("min_matches = 100"),
        "",
        "agreement, line 6, column 13: with min_matches 100 the threshold 100 has one answer only",
    );
    assert_refused(
        &threshold("max_matches = 99"),
        "",
        "agreement, line 6, column 13: with max_matches 99 the threshold 100 has one answer only",
    );
}

#[test]
fn a_protocol_that_does_not_offer_it_is_refused_with_those_that_do() {
    for (head, bounds) in [
        ("protocol = \"dh\"\noperation = \"cardinality\"", false),
        ("protocol = \"dh\"\noperation = \"intersection\"\nmin_matches = 5", true),
        ("protocol = \"dh\"\noperation = \"cardinality\"\nmin_matches = 5", false),
    ] {
        let error = Agreement::parse(&agreement(head, "")).unwrap_err();
        let AgreementFault::NotOffered { operation, bounds: told, offering, .. } = *error.fault
        else {
            panic!("{error}");
        };
        assert_eq!(told, bounds, "{head}");
        let bounded = head.contains("min_matches");
        let expected = catalogue().iter().filter(|row| {
            row.operations.contains(&operation) && (row.bounds.are_kept() || !bounded)
        });
        assert!(expected.map(|row| row.id).eq(offering), "{head}");
    }
}

#[test]
fn unavailable_security_is_refused_with_the_strongest_available() {
    let text = agreement("operation = \"cardinality\"", "").replace("semi-honest", "malicious");
    let error = Agreement::parse(&text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agreement: no protocol offers cardinality with malicious security yet"
    );
    let text = agreement("operation = \"intersection\"\nmax_matches = 7", "");
    let error = Agreement::parse(&text.replace("semi-honest", "malicious")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agreement: no protocol offers intersection within bounds with malicious security yet"
    );
}

#[test]
fn an_agreement_without_a_question_asks_for_rows_without_bounds() {
    let agreement = Agreement::parse(&agreement("operation = \"intersection\"", "")).unwrap();
    assert_eq!(agreement.question, Question::Intersection);
    assert_eq!(agreement.bounds, MatchBounds::default());
    for field in ["threshold", "_matches", "[sum]"] {
        assert!(!agreement.canonical().contains(field), "older agreements keep their hash");
    }
}

fn parse(head: &str, tables: &str) -> Agreement {
    Agreement::parse(&agreement(head, tables)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn questions_are_read_and_their_canonical_forms_read_back() {
    let shop = sum("\"shop\"", "\"amount\"", "32");
    let terms = ValueTerms {
        of: "shop".to_owned(),
        columns: vec!["amount".to_owned()],
        groups: None,
        bits: 32,
        signed: false,
        duplicates: Duplicates::Sum,
    };
    for (head, tables, question) in [
        ("operation = \"cardinality\"", "", Question::Cardinality),
        ("operation = \"threshold\"\nthreshold = 2000", "", Question::Threshold { min: 2000 }),
        (SUM, &*shop, Question::Sum(terms)),
    ] {
        for (lines, min, max) in [
            ("", None, None),
            ("\nmin_matches = 7", Some(7), None),
            ("\nmax_matches = 9_000", None, Some(9000)),
            ("\nmax_matches = 2000\nmin_matches = 1", Some(1), Some(2000)),
        ] {
            let agreement = parse(&format!("{head}{lines}"), tables);
            assert_eq!(agreement.question, question);
            assert_eq!(agreement.bounds, MatchBounds { min, max });
            let again = Agreement::parse(&agreement.canonical()).unwrap();
            assert_eq!(again, agreement);
            assert_eq!(again.hash(), agreement.hash());
            assert_eq!(agreement.self_check, SELF_CHECK_DEFAULT);
        }
    }
}

#[test]
fn every_part_of_a_question_is_a_difference() {
    let differs = |one: Agreement, other: Agreement, field: &str| {
        assert_ne!(one.hash(), other.hash(), "{field}");
        let differences = one.differences(&other);
        let fields: Vec<&str> = differences.iter().map(|one| &*one.field).collect();
        assert_eq!(fields, [field]);
    };
    let count = |more: &str| parse(&format!("operation = \"cardinality\"{more}"), "");
    differs(count(""), count("\nmin_matches = 5"), "min_matches");
    differs(count("\nmax_matches = 6"), count("\nmax_matches = 5"), "max_matches");
    let threshold = |min: u64| parse(&format!("operation = \"threshold\"\nthreshold = {min}"), "");
    differs(threshold(5), threshold(6), "threshold");
    let of = |of, column, bits| parse(SUM, &sum(of, column, bits));
    let base = || of("\"shop\"", "\"amount\"", "32");
    differs(base(), of("\"publisher\"", "\"amount\"", "32"), "sum.of");
    differs(base(), of("\"shop\"", "\"total\"", "32"), "sum.column");
    differs(base(), of("\"shop\"", "\"amount\"", "31"), "sum.bits");
}

#[test]
fn auto_allows_only_protocols_with_bounds_whose_bytes_reveal_nothing() {
    for head in ["operation = \"cardinality\"", "operation = \"intersection\"\nmin_matches = 3"] {
        let agreement = parse(head, "");
        assert!(!agreement.candidates().is_empty());
        for row in agreement.candidates() {
            assert!(
                row.operations.contains(&agreement.operation()) && row.bounds.are_kept(),
                "{}",
                row.id
            );
            assert!(row.item_bits.contains(&128) && !row.bytes_depend_on_result, "{}", row.id);
        }
        assert!(agreement.integer_items().is_none());
    }
}

fn integers(head: &str, profile: &str) -> Result<Agreement, AgreementFault> {
    let text =
        agreement(head, "").replace("profile = \"email\"", &format!("profile = \"{profile}\""));
    Agreement::parse(&text).map_err(|error| *error.fault)
}

#[test]
fn small_keys_are_compared_as_integers_by_whatever_computes_the_answer() {
    let count = "operation = \"threshold\"\nthreshold = 5";
    let agreement = integers(count, "integer:16").unwrap();
    assert_eq!(agreement.integer_items().unwrap().item_bits(), 17);
    assert!(agreement.candidates().iter().any(|row| row.id == "bwa"));
    // No number is zero's, and each self-check item has one: 16 of both sides, and 16 of each.
    let params = agreement.params(SessionId::from_bytes([1; 32]), 9, 9).unwrap();
    assert_eq!(params.largest_item(), (1 << 16) + 3 * 16);
    // Too long for bit vectors, and still integers.
    let agreement = integers(count, "ipv4").unwrap();
    assert_eq!(agreement.integer_items().unwrap().item_bits(), 33);
    assert!(agreement.candidates().iter().all(|row| row.id != "bwa"));
    // Which rows: others compare digests only, and they stay.
    let agreement = integers("operation = \"intersection\"", "integer:16").unwrap();
    assert!(agreement.integer_items().is_none());
}

#[test]
fn a_protocol_for_short_items_is_refused_where_they_are_long() {
    let named = |more: &str| format!("protocol = \"bwa\"\noperation = \"cardinality\"\n{more}");
    assert!(integers(&named(""), "integer:23").is_ok());
    assert!(integers(&named("hide_sizes = true"), "integer:16").is_ok());
    for (more, profile, expected) in
        [("", "integer:24", 25), ("", "email", 128), ("hide_sizes = true", "integer:24", 25)]
    {
        let Err(AgreementFault::ItemsTooLong { protocol: "bwa", most: 24, bits }) =
            integers(&named(more), profile)
        else {
            panic!("{more} {profile}");
        };
        assert_eq!(bits, expected);
    }
}

const BOTH: &str = "receives = \"all\"";

/// The same with both parties receiving.
fn for_both(head: &str, tables: &str) -> Result<Agreement, String> {
    let text = agreement(head, tables).replace("receives = \"shop\"", BOTH);
    Agreement::parse(&text).map_err(|error| error.to_string())
}

#[test]
fn auto_prefers_protocols_that_hide_the_number_of_common_keys() {
    let plain = sum("\"publisher\"", "\"a\"", "32");
    for row in parse(SUM, &plain).candidates() {
        assert!(!row.wide_values, "{} tells the count", row.id);
    }
    let bounded = parse("operation = \"cardinality\"\nmin_matches = 5", "");
    for row in bounded.candidates() {
        assert_eq!(row.bounds, BoundsKept::ByComputation, "{}", row.id);
    }
    let wide = plain.replace("bits = 32", "bits = 41");
    let bounded = parse(&format!("{SUM}\nmin_matches = 5"), &wide);
    assert!(bounded.candidates().iter().all(|row| row.bounds == BoundsKept::ByReceiver));
    let named = parse(
        "protocol = \"gmrss21_cardinality\"\noperation = \"cardinality\"\nmin_matches = 5",
        "",
    );
    assert_eq!(named.candidates().len(), 1);
}

#[test]
fn a_union_has_texts_of_an_agreed_length() {
    let union = "operation = \"union\"";
    let of = |tables: &str| match &parse(union, tables).question {
        Question::Union { key_bytes } => *key_bytes,
        question => panic!("{question:?}"),
    };
    assert_eq!((of(""), of("[union]\n"), of("[union]\nkey_bytes = 4094\n")), (64, 64, 4094));
    let agreement = parse(union, "[union]\nkey_bytes = 12\n");
    assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
    let refused = "agreement, line 7, column 13: \"union.key_bytes\" is 4095, outside 1 to 4094";
    assert_refused(union, "[union]\nkey_bytes = 4095\n", refused);
    let refused = "agreement, line 6, column 1: \"union\" belongs to union, not to cardinality";
    assert_refused("operation = \"cardinality\"", "[union]\nkey_bytes = 9\n", refused);
}

#[test]
fn what_gives_each_a_result_is_received_by_both() {
    for operation in ["private-id", "shares", "shared-values"] {
        let head = format!("operation = \"{operation}\"");
        let message = format!(
            "agreement, line 3, column 12: {operation} gives each party a result: \"receives\" \
             must be \"all\""
        );
        assert_refused(&head, "", &message);
    }
    assert!(for_both("operation = \"private-id\"", "").is_ok());
}

#[test]
fn shares_have_values_or_none_and_no_self_check() {
    let shares = "operation = \"shares\"";
    let values = "[shares]\nof = \"shop\"\ncolumn = \"a\"\nbits = 9\nsigned = true\n";
    for (tables, any) in [("", false), ("[shares]\nof = \"shop\"\n", false), (values, true)] {
        let agreement = for_both(shares, tables).unwrap();
        assert_eq!(agreement.self_check, 0);
        assert_eq!(agreement.question.values().is_some(), any);
        assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
        let again = for_both(&format!("{shares}\nself_check = 0"), tables).unwrap();
        assert_eq!(again.hash(), agreement.hash());
    }
    let with = |head: &str, tables: &str| for_both(head, tables).unwrap_err();
    assert_eq!(
        with(&format!("{shares}\nself_check = 16"), ""),
        "agreement, line 6, column 14: \"self_check\" is 16, but shares has no self-check items"
    );
    assert_eq!(
        with(shares, "[shares]\nbits = 4\n"),
        "agreement, line 6, column 1: the field \"shares.of\" is missing"
    );
    assert_eq!(
        with(shares, "[shares]\ndefault = 4\n"),
        "agreement, line 7, column 11: \"default\" belongs to shared-values, not to shares"
    );
    let shared_values = "operation = \"shared-values\"";
    assert_eq!(with(shared_values, ""), "agreement: the field \"shares\" is missing");
    let of = |more: &str| for_both(shared_values, &format!("{values}{more}"));
    let agreement = of("default = -256\n").unwrap();
    assert!(matches!(agreement.question, Question::SharedValues { default: -256, .. }));
    assert_eq!(
        of("default = 256\n").unwrap_err(),
        "agreement, line 11, column 11: \"shares.default\" is 256, but values have 9 bits and a \
         sign"
    );
}

#[test]
fn a_party_may_have_no_keys_if_the_agreement_allows_it() {
    let text = agreement("operation = \"cardinality\"", "");
    let text = text.replace("max_rows = 5_000", "max_rows = 5_000\nmin_rows = 0");
    assert_eq!(Agreement::parse(&text).unwrap().terms_of("shop").min_rows, 0);
}

#[test]
fn one_sided_protocols_give_one_side_the_result_and_keep_no_bounds() {
    let one_sided = |head: &str, receives: &str| {
        let text = agreement(head, "").replace("semi-honest", "one-sided");
        Agreement::parse(&text.replace("receives = \"shop\"", receives))
    };
    let to_one = "receives = \"shop\"";
    let count = "operation = \"cardinality\"";
    let ids = |found: &Agreement| found.candidates().iter().map(|row| row.id).collect::<Vec<_>>();
    let found = one_sided(count, to_one).unwrap();
    assert_eq!(ids(&found), ["scs_wn_one_sided"]);
    assert_eq!((found.self_check, found.own_check_items()), (SELF_CHECK_DEFAULT, 0));
    assert_eq!(Agreement::parse(&found.canonical()).unwrap(), found);
    let text = explain(&found).to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("can make it wrong"), "{text}");
    // What is stronger will do, and what is weaker does not choose what costs more.
    assert_eq!(
        ids(&one_sided("operation = \"intersection\"", to_one).unwrap()),
        ["rr22_malicious"]
    );
    let weaker = parse("operation = \"threshold\"\nthreshold = 5", "");
    assert!(ids(&weaker).iter().all(|id| !id.ends_with("one_sided")));
    for (protocol, head) in [(None, count.to_owned()), {
        let named = Some("scs_wn_one_sided");
        (named, format!("protocol = \"scs_wn_one_sided\"\n{count}"))
    }] {
        let refused = one_sided(&head, BOTH).unwrap_err();
        assert_eq!(*refused.fault, AgreementFault::IsForReceiver { protocol });
        assert!(one_sided(&format!("{head}\nmin_matches = 5"), to_one).is_err());
    }
    assert!(one_sided(SUM, to_one).is_err());
}

/// If any party knew the numbers of padding, one that deviates could enter the other party's.
#[test]
fn hidden_sizes_have_digests_where_a_party_may_deviate() {
    let of = |head: &str, security: &str| {
        let text = agreement(&format!("hide_sizes = true\n{head}"), "");
        let text = text.replace("profile = \"email\"", "profile = \"integer:8\"");
        Agreement::parse(&text.replace("semi-honest", security))
    };
    let threshold = "operation = \"threshold\"\nthreshold = 5";
    let found = of(threshold, "one-sided").unwrap();
    assert!(found.integer_items().is_none());
    assert_eq!(
        found.candidates().iter().map(|row| row.id).collect::<Vec<_>>(),
        ["scs_wn_one_sided"]
    );
    let named = |protocol: &str| format!("protocol = \"{protocol}\"\n{threshold}");
    assert!(of(&named("scs_wn_one_sided"), "one-sided").unwrap().integer_items().is_none());
    let refused = of(&named("bwa_one_sided"), "one-sided").unwrap_err();
    assert!(matches!(*refused.fault, AgreementFault::ItemsTooLong { bits: 128, .. }), "{refused}");
    assert!(of(&named("bwa"), "semi-honest").unwrap().integer_items().is_some());
}
