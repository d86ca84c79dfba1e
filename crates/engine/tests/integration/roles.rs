//! Where both parties receive the result and neither has values, the sizes of their sets decide
//! which party has the protocol's role of receiver, not the names of the parties.

use crate::support::Pair;
use std::fs;
use vesica_engine::Report;

const SMALL: u64 = 5;
const LARGE: u64 = 10_000;

const KEY: &str = "[[key]]\nname = \"id\"\nprofile = \"exact\"\n";

/// The reports of the party with few keys and of the one with many, under these `names`.
fn run(operation: &str, names: [&str; 2]) -> [Report; 2] {
    let pair = Pair::new();
    for (file, keys) in [("one.csv", 0..SMALL), ("two.csv", SMALL - 2..SMALL - 2 + LARGE)] {
        let rows: String = keys.map(|key| format!("k{key}\n")).collect();
        fs::write(pair.path(file), format!("id\n{rows}")).unwrap();
    }
    let head =
        format!("operation = \"{operation}\"\nreceives = \"all\"\nsecurity = \"semi-honest\"");
    let limits = "max_rows = 20_000\nmin_rows = 1";
    pair.complete(&pair.agreement_named(names, &head, KEY, [limits; 2]))
}

fn role(report: &Report) -> &str {
    report.own().unwrap().role.as_deref().unwrap()
}

fn payload(report: &Report) -> u64 {
    report.network.payload_sent + report.network.payload_received
}

#[test]
fn names_decide_nothing_where_sizes_differ() {
    for operation in ["shares", "private-id", "union", "cardinality", "intersection"] {
        let one_way = run(operation, ["first", "second"]);
        let other_way = run(operation, ["second", "first"]);
        for (one, other) in one_way.iter().zip(&other_way) {
            assert_eq!(role(one), role(other), "{operation}");
            assert_eq!(one.protocol.id, other.protocol.id, "{operation}");
            assert_eq!(payload(one), payload(other), "{operation}");
        }
        let [small, large] = one_way;
        assert_ne!(role(&small), role(&large), "{operation}");
        match operation {
            "shares" => {
                assert_eq!(small.result.shared_entries, Some(2));
                assert_eq!(large.result.shared_entries, Some(2));
                // With the roles exchanged it is 3.2 MB.
                assert!(payload(&small) < 300_000, "{}", payload(&small));
            }
            "cardinality" | "intersection" => {
                assert_eq!(small.result.matched_keys, Some(2), "{operation}");
                assert_eq!(large.result.matched_keys, Some(2), "{operation}");
            }
            _ => {
                let union = SMALL + LARGE - 2;
                assert_eq!(small.result.union_keys, Some(union), "{operation}");
                assert_eq!(large.result.union_keys, Some(union), "{operation}");
            }
        }
    }
}
