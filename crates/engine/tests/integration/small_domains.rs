//! Keys of a small domain with hidden counts: they stay integers, and padding is never a key, nor
//! common.

use crate::support::Pair;
use std::fs;
use vesica_core::Role;

const KEY: &str = "[[key]]\nname = \"id\"\nprofile = \"integer:8\"\n";

#[test]
fn hidden_sizes_keep_a_small_domain() {
    for (protocol, operation, receives) in [
        ("bwa", "cardinality", "one"),
        ("bwa_gmw", "intersection", "all"),
        ("pwc", "intersection", "one"),
        ("scs_wn", "cardinality", "all"),
        ("circuit_phasing", "intersection", "one"),
        ("ot_phasing", "intersection", "one"),
    ] {
        let pair = Pair::new();
        // One side has all keys from the first to the last of the domain, the other some of them.
        for (file, keys) in [("one.csv", (0..256).step_by(5)), ("two.csv", (0..256).step_by(3))] {
            let rows: String = keys.map(|key| format!("{key}\n")).collect();
            fs::write(pair.path(file), format!("id\n{rows}")).unwrap();
        }
        let head = format!(
            "operation = \"{operation}\"\nreceives = \"{receives}\"\nhide_sizes = true\n\
             security = \"semi-honest\"\nprotocol = \"{protocol}\""
        );
        let limits = ["max_rows = 100", "max_rows = 120"];
        let agreement = pair.agreement_of(&head, KEY, limits);
        // 2·(120 + 16) + 16 numbers in addition to the keys.
        let bits = agreement.integer_items().map(|integers| integers.item_bits());
        assert_eq!(bits, Some(10), "{protocol}");
        let [one, two] = pair.complete(&agreement);
        assert_eq!((one.parties[0].keys, one.parties[1].keys), (100, 120));
        let common = (0..256).filter(|key| key % 15 == 0).count() as u64;
        assert_eq!(one.result.matched_keys, Some(common), "{protocol}");
        let both = receives == "all";
        assert_eq!(two.result.matched_keys, both.then_some(common), "{protocol}");
    }
}

#[test]
fn the_explanation_with_hidden_sizes_says_how_keys_are_compared() {
    let pair = Pair::new();
    let head = "operation = \"cardinality\"\nreceives = \"one\"\nhide_sizes = true\n\
                security = \"semi-honest\"\nprotocol = \"bwa\"";
    let agreement = pair.agreement_of(head, KEY, ["max_rows = 100"; 2]);
    assert_eq!(agreement.role_of("one"), Role::Receiver);
    let text = vesica_explain::explain(&agreement).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("with numbers that cannot be keys"), "{text}");
    assert!(text.contains("The sizes, from a side that runs modified software"), "{text}");
}

/// Keys of all numbers below `end` that `steps` divide, one file each.
fn files(pair: &Pair, end: usize, steps: [usize; 2]) {
    for (file, step) in ["one.csv", "two.csv"].into_iter().zip(steps) {
        let rows: String = (0..end).step_by(step).map(|key| format!("{key}\n")).collect();
        fs::write(pair.path(file), format!("id\n{rows}")).unwrap();
    }
}

#[test]
fn self_check_items_cost_bit_vectors_as_many_places_as_there_are_of_them() {
    let bytes = |self_check: u32| {
        let pair = Pair::new();
        files(&pair, 4096, [5, 3]);
        let head = format!(
            "operation = \"intersection\"\nreceives = \"one\"\nself_check = {self_check}\n\
             security = \"semi-honest\"\nprotocol = \"bwa\""
        );
        let key = KEY.replace("integer:8", "integer:12");
        let agreement = pair.agreement_of(&head, &key, ["max_rows = 5000"; 2]);
        let [one, _] = pair.complete(&agreement);
        assert_eq!(one.result.matched_keys, Some(4096_u64.div_ceil(15)));
        one.network.formula_sent + one.network.formula_received
    };
    // 8 of both sides and 8 of each; a place costs a gate, two bits of an input and of a result,
    // and a transfer.
    let (few, many) = (bytes(8), bytes(40));
    // About 21 bytes a place; one more bit for each item would double them.
    assert!(few < 4096 * 24, "{few} bytes");
    assert!(many - few <= 3 * 32 * 40, "{} bytes more", many - few);
}

#[test]
fn one_sided_runs_find_the_answer_and_have_no_self_check_items_of_one_side() {
    for (protocol, operation, profile) in [
        ("bwa_one_sided", "intersection", "integer:8"),
        ("bwa_one_sided", "cardinality", "integer:8"),
        ("scs_wn_one_sided", "cardinality", "integer:8"),
        ("scs_wn_one_sided", "intersection", "exact"),
        ("auto", "cardinality", "integer:8"),
    ] {
        let pair = Pair::new();
        files(&pair, 256, [5, 3]);
        let head = format!(
            "operation = \"{operation}\"\nreceives = \"one\"\nsecurity = \"one-sided\"\n\
             protocol = \"{protocol}\""
        );
        let key = KEY.replace("integer:8", profile);
        let agreement = pair.agreement_of(&head, &key, ["max_rows = 100"; 2]);
        assert_eq!((agreement.self_check, agreement.own_check_items()), (16, 0));
        let [one, two] = pair.complete(&agreement);
        assert_eq!(one.protocol.security, "one-sided", "{protocol}");
        assert_eq!(one.result.matched_keys, Some(18), "{protocol}");
        assert_eq!(two.result.matched_keys, None, "{protocol}");
    }
}
