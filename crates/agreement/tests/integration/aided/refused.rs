//! What is refused, and where.

use super::*;

#[test]
fn fields_of_agreements_between_two_are_refused_as_such() {
    let two = of(&[1000, 1000]);
    for (field, line) in [
        ("hide_sizes", "hide_sizes = true"),
        ("hide_sizes", "hide_sizes = 1"),
        ("max_repeats", "max_repeats = 3"),
        ("partition_counts", "partition_counts = true"),
        ("early_reveal", "early_reveal = false"),
        ("partition_rows", "partition_rows = 1_572_864"),
        ("threshold", "threshold = 5"),
        ("min_matches", "min_matches = 5"),
        ("max_matches", "max_matches = 5"),
        ("show_rules", "show_rules = true"),
    ] {
        assert_refused(&and(&two, line), AgreementFault::NotWithHelper { field }, line);
    }
    for field in ["sum", "union", "shares"] {
        let text = format!("{two}\n[{field}]\n");
        assert_refused(&text, AgreementFault::NotWithHelper { field }, &format!("[{field}]"));
    }
    parse(&and(&two, "hide_sizes = false"));
    for operation in Operation::ALL {
        let text = with("\"intersection\"", &format!("\"{operation}\""));
        match operation {
            Operation::Intersection => drop(parse(&text)),
            operation => {
                let fault = AgreementFault::OperationWithHelper { operation: *operation };
                assert_refused(&text, fault, "operation");
            }
        }
    }
    for (text, field) in
        [(and(&two, "exspires = 3"), "exspires"), (and_helper(&two, "copys = 3"), "helper.copys")]
    {
        let AgreementFault::Table(TableFault::UnknownField { field: found, nearest, .. }) =
            &*refused(&text).fault
        else {
            panic!("{}", refused(&text));
        };
        assert!(found == field && nearest.is_some());
    }
}

#[test]
fn a_helper_makes_the_difference_between_the_kinds_of_agreement() {
    let aided = of(&[1, 2]);
    let alone = replaced(&aided, &helper(), "");
    let (aided, alone) = (parse(&aided), parse(&alone));
    assert!(aided.with_helper().is_some() && aided.candidates().is_empty());
    assert!(alone.with_helper().is_none() && alone.helper.is_none());
    assert!(!alone.candidates().is_empty());
    let error = refused(&replaced(&of(&[1, 1, 1]), &helper(), ""));
    assert_eq!(*error.fault, AgreementFault::PartyCount { found: 3, most: 2 });
    let missing = Agreement::load("/no/such/file").unwrap_err();
    assert_eq!(missing.path.as_deref(), Some(Path::new("/no/such/file")));
}

#[test]
fn there_are_two_to_sixteen_parties() {
    for count in [0, 1, 17] {
        let text = of(&vec![1; count]);
        if count == 0 {
            assert!(matches!(
                *refused(&text).fault,
                AgreementFault::Table(TableFault::MissingField { .. })
            ));
        } else {
            assert_refused(&text, AgreementFault::PartyCount { found: count, most: 16 }, "[party.");
        }
    }
    let names: Vec<&str> = vec!["all", "Acme", "a.b"];
    for name in names {
        let text = replaced(&of(&[1, 1]), "[party.a]", &format!("[party.\"{name}\"]"));
        assert!(matches!(*refused(&text).fault, AgreementFault::PartyName { .. }), "{name}");
    }
    for row in aided().filter(|row| row.variant != Variant::SemiHonest) {
        let text = protocol(&of(&[1, 1, 1]), row.id);
        let fault = AgreementFault::TooManyParties { protocol: row.id, most: 2, found: 3 };
        assert_refused(&text, fault, "protocol");
    }
}

#[test]
fn all_identities_and_names_are_different() {
    let three = of(&[1, 2, 3]);
    let (b, c) = (identity(1).to_string(), identity(2).to_string());
    let same = |first: &str, second: &str| AgreementFault::SameIdentity {
        first: first.to_owned(),
        second: second.to_owned(),
    };
    assert_refused(&replaced(&three, &c, &b), same("b", "c"), "identity");
    let text = replaced(&three, &identity(99).to_string(), &b);
    assert_refused(&text, same("helper", "b"), "identity");
    let text = and_helper(&three, "name = \"b\"");
    assert_refused(&text, AgreementFault::SameName { name: "b".to_owned() }, "name");
    let helper_named = replaced(&three, "[party.a]", "[party.helper]");
    parse(&and_helper(&helper_named, "name = \"cloud\""));
    let bad = replaced(&three, &identity(99).to_string(), "vesica1...");
    let AgreementFault::BadIdentity { field, .. } = &*refused(&bad).fault else { panic!() };
    assert_eq!(field, "helper.identity");
    for name in ["", "two\\nlines", &"x".repeat(33)] {
        let text = and_helper(&three, &format!("name = \"{name}\""));
        assert!(matches!(*refused(&text).fault, AgreementFault::Text { .. }), "{name}");
    }
}

#[test]
fn a_helper_without_a_name_is_not_taken_for_the_party_helper() {
    let text = replaced(&of(&[1, 2]), "[party.a]", "[party.helper]");
    let fault = AgreementFault::SameName { name: "helper".to_owned() };
    assert_refused(&text, fault, "[helper]");
}

#[test]
fn security_that_the_protocol_does_not_offer_is_refused() {
    let weak = |parties| AgreementFault::TooWeakAgainstHelper {
        protocol: "server_aided",
        offers: Security::SemiHonest,
        asked: Security::Malicious,
        parties,
    };
    assert_refused(&malicious(&of(&[1, 1, 1])), weak(3), "security");
    assert_refused(&malicious(&protocol(&of(&[1, 1]), "server_aided")), weak(2), "protocol");
    for (text, field) in [
        (with("\"semi-honest\"", "\"insecure\""), "security"),
        (protocol(&of(&[1, 1]), "autos"), "protocol"),
        (protocol(&of(&[1, 1]), "rr22"), "protocol"),
        (receives(&of(&[1, 1, 1]), "\"both\""), "receives"),
        (receives(&of(&[1, 1]), "\"c\""), "receives"),
        (receives(&of(&[1, 1]), "[\"a\", \"all\"]"), "receives[2]"),
    ] {
        let AgreementFault::UnknownWord { field: found, known, .. } = &*refused(&text).fault else {
            panic!("{}", refused(&text));
        };
        assert!(found == field && !known.is_empty(), "{}", refused(&text));
    }
}

#[test]
fn receivers_that_the_protocol_does_not_take_are_refused() {
    for row in aided() {
        let text = receives(&protocol(&of(&[1, 1]), row.id), "\"a\"");
        if row.all_receive {
            assert_refused(&text, AgreementFault::IsForAll { protocol: row.id }, "receives");
        } else {
            assert_eq!(parse(&text).receivers, [0]);
        }
        for word in ["\"all\"", "[\"b\", \"a\"]"] {
            parse(&receives(&protocol(&of(&[1, 1]), row.id), word));
        }
    }
    let two = of(&[1, 1]);
    assert_refused(&receives(&two, "[]"), AgreementFault::NoReceiver, "receives");
    let twice = AgreementFault::ReceiverTwice { name: "a".to_owned() };
    assert_refused(&receives(&two, "[\"a\", \"b\", \"a\"]"), twice, "receives");
    for word in ["3", "[3]", "true"] {
        let error = refused(&receives(&two, word));
        assert!(
            matches!(*error.fault, AgreementFault::Table(TableFault::WrongType { .. })),
            "{error}"
        );
    }
}

#[test]
fn numbers_are_in_their_range() {
    let two = of(&[1, 1]);
    for (text, field) in [
        (and_helper(&two, "copies = 0\ndummies = 2"), "helper.copies"),
        (and_helper(&two, "copies = 65\ndummies = 2"), "helper.copies"),
        (and_helper(&two, "copies = 1\ndummies = 1"), "helper.dummies"),
        (and_helper(&two, "copies = 1\ndummies = 16_777_217"), "helper.dummies"),
        (of(&[1, (1 << 30) + 1]), "party.b.max_rows"),
        (of(&[1, 0]), "party.b.max_rows"),
        (and(&two, "self_check = 7"), "self_check"),
        (and(&two, "self_check = 1025"), "self_check"),
    ] {
        let AgreementFault::Table(TableFault::OutOfRange { field: found, .. }) =
            &*refused(&text).fault
        else {
            panic!("{}", refused(&text));
        };
        assert_eq!(found, field);
    }
    for (line, missing) in [("copies = 2", "helper.dummies"), ("dummies = 2", "helper.copies")] {
        let error = refused(&and_helper(&two, line));
        let AgreementFault::Table(TableFault::MissingField { field, meaning }) = &*error.fault
        else {
            panic!("{error}")
        };
        assert!(field == missing && !meaning.is_empty());
    }
}

#[test]
fn a_test_of_equality_has_one_row_each() {
    let text = protocol(&of(&[1, 5]), "pet");
    let fault =
        AgreementFault::OneRow { field: "party.b.max_rows".to_owned(), found: 5, protocol: "pet" };
    assert_refused(&text, fault, "max_rows = 5");
}

#[test]
fn the_dummies_are_the_self_check() {
    let text = and(&malicious(&of(&[9, 9])), "self_check = 16");
    let fault = AgreementFault::DummiesAreSelfCheck { protocol: "server_aided_malicious" };
    assert_refused(&text, fault, "self_check");
    let text = and(&and_helper(&of(&[9, 9]), "copies = 1\ndummies = 20"), "self_check = 20");
    let fault = AgreementFault::DummiesAreSelfCheck { protocol: "server_aided" };
    assert_refused(&text, fault, "self_check");
}

#[test]
fn more_labels_than_a_list_holds_are_refused() {
    let text = and_helper(&of(&[1 << 30, 1]), "copies = 64\ndummies = 2");
    let check = Check { copies: 64, dummies: 2 };
    assert_refused(&text, AgreementFault::ListsTooLong { check, labels: (1 << 36) + 4 }, "copies");
    parse(&and_helper(&of(&[1 << 27, 1]), "copies = 63\ndummies = 2"));
}
