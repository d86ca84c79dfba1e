//! Expressions that are computed on shares.

use super::*;
use vesica_core::{Learns, Query, Role, Values};
use vesica_expressions::{Engine, ExpressionError, Reveal};

const SHARES: &str = "operation = \"shares\"";

/// A table of two columns of the shop with more lines.
fn table(more: &str) -> String {
    format!("[shares]\nof = \"shop\"\ncolumns = [\"a\", \"net price\"]\nbits = 16\n{more}")
}

fn computed(compute: &str) -> String {
    table(&format!("compute = '{compute}'\n"))
}

fn receives(receives: &str, tables: &str) -> Agreement {
    let text = agreement(SHARES, tables).replace("\"shop\"\nsec", &format!("{receives}\nsec"));
    Agreement::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn an_expression_goes_to_the_parties_that_receive() {
    let tables = computed("sum(a * \"net price\") > 1000, count()");
    for (receiver, to, learn) in [
        ("\"shop\"", Reveal::Sender, [true, false]),
        ("\"publisher\"", Reveal::Receiver, [false, true]),
        ("\"all\"", Reveal::Both, [true, true]),
    ] {
        let agreement = receives(receiver, &tables);
        let learns = ["shop", "publisher"].map(|name| agreement.is_receiver_of_result(name));
        assert_eq!((agreement.reveals_to(), learns), (to, learn));
        // Both parties get shares, and the one with the values is the sender.
        assert_eq!((agreement.learns(), agreement.role_of("shop")), (Learns::Both, Role::Sender));
        assert_eq!((agreement.self_check, agreement.roles_are_open()), (0, false));
        let params = agreement.params(SessionId::from_bytes([0; 32]), 5, 5).unwrap();
        let values = Values::new(Role::Sender, 16).unwrap().with_columns(2).unwrap();
        assert_eq!(params.query(), Query::Shares(Some(values)));
        let ids: Vec<_> = agreement.candidates().iter().map(|row| row.id).collect();
        assert_eq!(ids, ["gmrss21_secret_shared_intersection"]);
    }
}

#[test]
fn the_expression_and_its_circuit_are_in_the_canonical_form() {
    let text = "count(\"net price\" = 7)";
    let garbled = receives("\"all\"", &computed(text));
    let with =
        |circuit| receives("\"all\"", &(computed(text) + &format!("circuit = \"{circuit}\"\n")));
    let (same, other) = (with("garbled"), with("gmw"));
    let lines = "compute = \"count(\\\"net price\\\" = 7)\"\ncircuit = \"garbled\"\n";
    assert!(garbled.canonical().contains(lines), "{}", garbled.canonical());
    for agreement in [&garbled, &same, &other] {
        assert_eq!(&Agreement::parse(&agreement.canonical()).unwrap(), agreement);
    }
    assert_eq!(garbled.hash(), same.hash());
    let computation = |agreement: &Agreement| {
        let (_, computation) = agreement.question.computed().unwrap();
        (computation.engine, computation.circuit())
    };
    assert_eq!(computation(&same), (Engine::Garbled, "garbled"));
    assert_eq!(computation(&other), (Engine::Shared, "gmw"));
    let fields = |one: &Agreement, other: &Agreement| {
        let all = one.differences(other);
        all.into_iter().map(|one| (one.field, one.here, one.there)).collect::<Vec<_>>()
    };
    let said = |text: &str| Some(text.to_owned());
    let field = |name: &str| format!("shares.{name}");
    assert_eq!(fields(&same, &other), [(field("circuit"), said("garbled"), said("gmw"))]);
    let without = receives("\"all\"", &table(""));
    assert!(!without.canonical().contains("circuit"), "{}", without.canonical());
    assert_eq!(
        fields(&without, &other),
        [(field("circuit"), None, said("gmw")), (field("compute"), None, said(text))]
    );
}

#[test]
fn an_expression_that_cannot_be_computed_is_refused_at_its_place() {
    let at = |column: usize| format!("agreement, line 10, column {column}: ");
    let cause = |column: usize, cause: ExpressionError| {
        format!("{}\"shares.compute\": {cause}", at(column))
    };
    let unknown = |at, name: &str| ExpressionError::UnknownColumn { at, name: name.into() };
    let expected = "a number, a column, sum() or count()";
    for (compute, message) in [
        ("sum(", cause(16, ExpressionError::Expected { at: 5, expected })),
        ("sum(a) + sum(ü)", cause(25, unknown(14, "ü"))),
        ("count(email = 1)", cause(18, unknown(7, "email"))),
        ("sum(a > 1)", cause(16, ExpressionError::NotANumber { at: 5 })),
        ("a", cause(12, ExpressionError::OutsideSum { at: 1, name: "a".into() })),
        ("sum(a*a*a*a) * sum(a*a*a*a)", cause(12, ExpressionError::TooWide { at: 1 })),
        (" ", format!("{}\"shares.compute\" is empty", at(11))),
    ] {
        assert_refused(SHARES, &computed(compute), &message);
    }
    // With an escape the characters are at other places, so the field is named.
    let escaped = table("compute = \"sum(\\\"b\\\")\"\n");
    assert_refused(SHARES, &escaped, &cause(11, unknown(5, "b")));
    let two_lines = table("compute = \"\"\"sum(a)\n\"\"\"\n");
    assert_refused(
        SHARES,
        &two_lines,
        &format!("{}\"shares.compute\" has a control character", at(11)),
    );
}

#[test]
fn an_expression_needs_values_and_a_circuit_an_expression() {
    let missing =
        |field: &str| format!("agreement, line 6, column 1: the field \"{field}\" is missing");
    assert_refused(SHARES, "[shares]\ncompute = \"count()\"\n", &missing("shares.of"));
    let of = "[shares]\nof = \"shop\"\ncompute = \"count()\"\n";
    assert_refused(SHARES, of, &missing("shares.column"));
    let circuit = table("circuit = \"gmw\"\n");
    let for_both = "agreement, line 3, column 12: shares gives each party a result: \"receives\" \
                    must be \"all\"";
    assert_refused(SHARES, &circuit, for_both);
    let text = agreement(SHARES, &circuit).replace("\"shop\"\nsec", "\"all\"\nsec");
    assert_eq!(Agreement::parse(&text).unwrap_err().to_string(), missing("shares.compute"));
    let unknown = computed("count()") + "circuit = \"yao\"\n";
    let message = "agreement, line 11, column 11: \"shares.circuit\" is \"yao\"";
    assert_refused(SHARES, &unknown, message);
    for field in ["compute", "circuit"] {
        let tables = table(&format!("{field} = \"count()\"\n"));
        let text = agreement("operation = \"shared-values\"", &tables);
        let text = text.replace("\"shop\"\nsec", "\"all\"\nsec");
        let message = format!(
            "agreement, line 10, column 11: \"{field}\" belongs to shares, not to shared-values"
        );
        assert_eq!(Agreement::parse(&text).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_bytes_for_many_entries_are_at_least_those_of_their_circuit() {
    let agreement = receives("\"all\"", &computed("sum(a) > 3, sum(a where a = 4)"));
    let (values, computation) = agreement.question.computed().unwrap();
    let of = |entries| computation.bytes(values, entries, Reveal::Both).unwrap().total();
    let exact = |entries| {
        let plan = computation.plan(values, entries).unwrap();
        let bytes = plan.bytes(Engine::Garbled, Reveal::Both).unwrap();
        bytes.sender_to_receiver + bytes.receiver_to_sender
    };
    for entries in [0, 1, 100, 1 << 14] {
        assert_eq!(of(entries), exact(entries));
    }
    let entries = (1 << 14) + 1;
    assert!(of(entries) > exact(entries) && of(entries) < 5 * exact(entries));
}
