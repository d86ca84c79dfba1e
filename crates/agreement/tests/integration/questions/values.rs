//! Values of sums, groups and inner products.

use super::*;

#[test]
fn sums_of_several_columns_and_with_a_sign_read_back() {
    let table = "[sum]\nof = \"publisher\"\ncolumns = [\"a\", \"b\"]\nbits = 64\nsigned = true\n\
                 duplicates = \"refuse\"\n";
    let agreement = parse(SUM, table);
    let Question::Sum(terms) = &agreement.question else { panic!("another question") };
    assert_eq!(
        (&terms.columns[..], terms.bits, terms.signed),
        (&["a".into(), "b".into()][..], 64, true)
    );
    assert_eq!(terms.duplicates, Duplicates::Refuse);
    assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
    for row in agreement.candidates() {
        assert!(row.wide_values, "{}", row.id);
    }
    let one = sum("\"shop\"", "\"a\"", "32");
    let list = one.replace("column = \"a\"", "columns = [\"a\"]");
    assert_eq!(parse(SUM, &one).hash(), parse(SUM, &list).hash(), "one column is one column");
    let plain = parse(SUM, &(one.clone() + "signed = false\nduplicates = \"sum\"\n"));
    assert_eq!(plain.hash(), parse(SUM, &one).hash(), "older agreements keep their hash");
}

#[test]
fn columns_of_values_are_named_once_and_not_too_many() {
    let table = |lines: &str| format!("[sum]\nof = \"publisher\"\nbits = 8\n{lines}\n");
    let many: Vec<String> = (0..16).map(|i| format!("\"c{i}\"")).collect();
    for (lines, message) in [
        (
            "column = \"a\"\ncolumns = [\"b\"]",
            "line 10, column 11: \"column\" and \"columns\" are both given",
        ),
        ("columns = []", "line 9, column 11: there must be 1 to 15 columns of values, not 0"),
        (
            &format!("columns = [{}]", many.join(", ")),
            "line 9, column 11: there must be 1 to 15 columns of values, not 16",
        ),
        ("columns = [\"a\", \"a\"]", "line 9, column 17: the column \"a\" is listed twice"),
        (
            "columns = [\"a\", 5]",
            "line 9, column 17: \"sum.columns[2]\" is a whole number, not a text in quotes",
        ),
        (
            "column = \"a\"\nduplicates = \"last\"",
            "line 10, column 14: \"sum.duplicates\" is \"last\"",
        ),
        ("column = \"a\"\ndefault = 5", "line 10, column 1: unknown field \"sum.default\""),
    ] {
        assert_refused(SUM, &table(lines), &format!("agreement, {message}"));
    }
}

#[test]
fn wide_values_must_belong_to_the_sender() {
    let table = |of| format!("[sum]\nof = \"{of}\"\ncolumns = [\"a\", \"b\"]\nbits = 8\n");
    let refused = "takes values of the only party that receives the result";
    assert_refused(SUM, &table("shop"), &format!("agreement: no protocol {refused} yet"));
    let named = format!("protocol = \"gmrss21_cardinality_sum\"\n{SUM}");
    let refused = "line 5, column 12: the protocol \"gmrss21_cardinality_sum\" does not take \
                   values of the only party that receives the result";
    assert_refused(&named, &table("shop"), &format!("agreement, {refused}"));
    let named = format!("protocol = \"scs_wn\"\n{SUM}");
    let refused = "line 5, column 12: the protocol \"scs_wn\" does not take values of several \
                   columns, with a sign, or of more than 40 bits";
    assert_refused(&named, &table("publisher"), &format!("agreement, {refused}"));
    for of in ["shop", "publisher"] {
        let agreement = for_both(SUM, &table(of)).unwrap();
        assert_eq!(agreement.role_of(of), vesica_core::Role::Sender, "who has the values");
    }
}

#[test]
fn sums_of_groups_read_back_and_are_named() {
    let table = |lines: &str| format!("[sum]\nof = \"publisher\"\nbits = 8\n{lines}\n");
    let by = "by = \"region\"\ngroups = [\"north\", \" south \"]";
    for (columns, names, width) in [
        ("", &["north", "south"][..], 2),
        ("column = \"a\"\n", &["a[north]", "a[south]"], 2),
        ("columns = [\"a\", \"b\"]\n", &["a[north]", "a[south]", "b[north]", "b[south]"], 4),
    ] {
        let agreement = parse(SUM, &table(&format!("{columns}{by}")));
        let values = agreement.question.values().unwrap();
        assert_eq!(values.names(), names);
        assert_eq!(values.width(), width);
        assert_eq!(Agreement::parse(&agreement.canonical()).unwrap(), agreement);
        assert!(agreement.candidates().iter().all(|row| row.wide_values));
    }
    // Another order of groups is another agreement.
    let [one, other] = ["[\"n\", \"s\"]", "[\"s\", \"n\"]"]
        .map(|groups| parse(SUM, &table(&format!("by = \"region\"\ngroups = {groups}"))));
    assert_ne!(one.hash(), other.hash());
    // A sum of one group of one column is a plain one.
    let one = parse(SUM, &table("column = \"a\"\nby = \"region\"\ngroups = [\"n\"]"));
    assert!(one.question.values().unwrap().are_plain());
}

#[test]
fn groups_are_named_once_with_their_column_and_not_too_many() {
    let table = |lines: &str| format!("[sum]\nof = \"publisher\"\nbits = 8\n{lines}\n");
    let many: Vec<String> = (0..32).map(|i| format!("\"g{i}\"")).collect();
    let many = format!("groups = [{}]\nby = \"r\"\ncolumns = [\"a\", \"b\"]", many.join(", "));
    for (lines, message) in [
        ("by = \"region\"", "line 9, column 6: \"by\" and \"groups\" go together"),
        ("groups = [\"a\"]", "line 9, column 10: \"by\" and \"groups\" go together"),
        (
            "groups = []\nby = \"r\"",
            "line 9, column 10: there must be 1 to 63 sums, one for each column in each group, \
             not 0",
        ),
        (
            &*many,
            "line 9, column 10: there must be 1 to 63 sums, one for each column in each group, \
             not 64",
        ),
        (
            "groups = [\"a\", \" a\"]\nby = \"r\"",
            "line 9, column 16: the group \"a\" is listed twice",
        ),
        (
            "groups = [\"a\"]\nby = \"r\"\ncolumn = \"r\"",
            "line 9, column 10: the column \"r\" is listed twice",
        ),
    ] {
        assert_refused(SUM, &table(lines), &format!("agreement, {message}"));
    }
    // Rows that are counted have no sign, and no two sums have the same name.
    for (lines, expected) in [
        ("by = \"r\"\ngroups = [\"a\"]\nsigned = true", "rows that are counted have no sign"),
        (
            "columns = [\"a\", \"a[b]\"]\nby = \"r\"\ngroups = [\"c\", \"b][c\"]",
            "the column \"a[b][c]\" is listed twice",
        ),
    ] {
        let error = Agreement::parse(&agreement(SUM, &table(lines))).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let shares = table("by = \"r\"\ngroups = [\"a\"]").replace("sum", "shares");
    let refused = for_both("operation = \"shares\"", &shares).unwrap_err();
    assert!(refused.contains("shares.by"), "{refused}");
}

#[test]
fn an_inner_product_has_values_of_both_parties() {
    let table = |lines: &str| format!("[product]\nof = \"publisher\"\nbits = 40\n{lines}\n");
    let head = "operation = \"inner-product\"";
    let one = parse(head, &table("column = \"spent\"\ntimes = \"weight\"\ntimes_bits = 8"));
    assert_eq!(Agreement::parse(&one.canonical()).unwrap(), one);
    assert_eq!(one.question.sum_names(), ["spent*weight"]);
    let ids: Vec<&str> = one.candidates().iter().map(|row| row.id).collect();
    assert_eq!(ids, ["gmrss21_inner_product"]);
    let [values, factors] = ["publisher", "shop"].map(|party| one.values_of(party).unwrap());
    assert_eq!((&values.columns[..], values.bits), (&["spent".to_owned()][..], 40));
    assert_eq!(
        (&factors.columns[..], factors.bits, factors.signed),
        (&["weight".to_owned()][..], 8, false)
    );
    let more = "columns = [\"a\", \"b\"]\nsigned = true\ntimes = \"w\"\ntimes_bits = 32";
    assert_eq!(parse(head, &table(more)).question.sum_names(), ["a*w", "b*w"]);
    for (lines, message) in [
        ("column = \"a\"\ntimes_bits = 8", "the field \"product.times\" is missing"),
        ("column = \"a\"\ntimes = \"w\"", "the field \"product.times_bits\" is missing"),
        ("column = \"a\"\ntimes = \"w\"\ntimes_bits = 33", "\"product.times_bits\" is 33"),
        ("column = \"a\"\ntimes = \"\"\ntimes_bits = 3", "\"product.times\""),
        (
            "column = \"a\"\ntimes = \"w\"\ntimes_bits = 3\nby = \"r\"",
            "unknown field \"product.by\"",
        ),
    ] {
        let text = agreement(head, &table(lines));
        let error = Agreement::parse(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // The side of the first values cannot be the only one that receives.
    let of_receiver =
        table("column = \"a\"\ntimes = \"w\"\ntimes_bits = 3").replace("\"publisher\"", "\"shop\"");
    let error = Agreement::parse(&agreement(head, &of_receiver)).unwrap_err();
    assert!(matches!(*error.fault, AgreementFault::ValuesNotOffered { of_receiver: true, .. }));
    for_both(head, &of_receiver).unwrap();
    let sum = Agreement::parse(&agreement(SUM, &table("column = \"a\""))).unwrap_err();
    assert!(sum.to_string().contains("belongs to inner-product"), "{sum}");
}
