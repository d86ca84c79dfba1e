//! The report gives the length of the compared values for the protocol that ran.

use crate::support::{Pair, small_files};

const KEY: &str = "[[key]]\nname = \"email\"\nprofile = \"email\"\n";

/// The name and the value of the parameter "… in this run" of `protocol`, with three keys and 32
/// self-check items a side.
fn in_this_run(protocol: &str, operation: &str) -> (String, String) {
    let pair = Pair::new();
    small_files(&pair);
    let malicious = protocol.ends_with("malicious");
    let security = if malicious { "malicious" } else { "semi-honest" };
    let both = operation == "private-id";
    let head = format!(
        "operation = \"{operation}\"\nreceives = \"{}\"\nsecurity = \"{security}\"\n\
         protocol = \"{protocol}\"",
        if both { "all" } else { "one" },
    );
    let agreement = pair.agreement_of(&head, KEY, ["max_rows = 100"; 2]);
    let [one, two] = pair.complete(&agreement);
    let of = |report: &vesica_engine::Report| {
        let parameters = report.protocol.parameters.iter();
        let found: Vec<_> =
            parameters.filter(|parameter| parameter.name.ends_with("in this run")).collect();
        assert_eq!(found.len(), 1, "{protocol}");
        (found[0].name.to_owned(), found[0].value.clone())
    };
    assert_eq!(of(&one), of(&two), "{protocol}");
    of(&one)
}

#[test]
fn lengths_are_those_of_the_row_that_ran() {
    // 35 items a side: ⌈log 35⌉ = 6, ⌈log 3·35⌉ = 7; 3-way tables of 46 bins.
    for (protocol, operation, name, bits) in [
        ("dh", "intersection", "tag length", 56),
        ("rr22", "intersection", "tag length", 52),
        ("rr22_malicious", "intersection", "output length", 128),
        ("kkrt16", "intersection", "tag length", 53),
        ("gbf", "intersection", "string length", 48),
        ("gbf_paper", "intersection", "string length", 128),
        ("pwc", "cardinality", "length of compared items", 52),
        ("scs_wn", "cardinality", "length of compared items", 52),
        ("gmrss21_cardinality", "cardinality", "output length", 47),
        ("cardinality_low_communication", "cardinality", "output length", 46),
        ("private_id_oprf", "private-id", "output length", 47),
    ] {
        let expected = (format!("{name} in this run"), format!("{bits} bits"));
        assert_eq!(in_this_run(protocol, operation), expected, "{protocol}");
    }
}
