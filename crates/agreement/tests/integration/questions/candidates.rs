//! Which protocols are candidates together where an agreement leaves the choice open.

use super::agreement;
use std::collections::BTreeSet;
use vesica_agreement::choice::Candidates;
use vesica_agreement::{Agreement, Network, Roles};
use vesica_core::SessionId;

/// Questions with a choice: what is asked, and its tables.
const QUESTIONS: [(&str, &str); 9] = [
    ("operation = \"intersection\"", ""),
    ("operation = \"intersection\"\nmin_matches = 3", ""),
    ("operation = \"cardinality\"", ""),
    ("operation = \"cardinality\"\nmin_matches = 3", ""),
    ("operation = \"threshold\"\nthreshold = 7", ""),
    (
        "operation = \"sum\"\nmin_matches = 3",
        "[sum]\nof = \"publisher\"\ncolumn = \"v\"\nbits = 32\n",
    ),
    ("operation = \"union\"", "[union]\nkey_bytes = 60\n"),
    ("operation = \"private-id\"", ""),
    ("operation = \"shares\"", ""),
];

/// Logarithms of set sizes.
const SIZES: [(u32, u32); 6] = [(3, 3), (6, 6), (9, 9), (12, 12), (16, 16), (4, 12)];

/// Bytes a second and a round trip in nanoseconds.
const NETWORKS: [(u64, u64); 3] =
    [(1_250_000_000, 100_000), (125_000_000, 1_000_000), (1_000_000, 100_000_000)];

/// An agreement on such a question, if there is one.
fn open_agreement(head: &str, tables: &str, profile: &str, security: &str) -> Option<Agreement> {
    let for_both = ["union", "private-id", "shares"].iter().any(|name| head.contains(name));
    let mut text = agreement(head, tables)
        .replace("profile = \"email\"", &format!("profile = \"{profile}\""))
        .replace("\"semi-honest\"", &format!("\"{security}\""))
        .replace("max_rows = 5_000", "max_rows = 10_000_000")
        .replace("max_rows = 2_000", "max_rows = 10_000_000");
    if for_both {
        text = text.replace("receives = \"shop\"", "receives = \"all\"");
    }
    Agreement::parse(&text).ok()
}

/// The protocols that run at any of [`SIZES`] over any of [`NETWORKS`].
fn chosen(agreement: &Agreement) -> BTreeSet<&'static str> {
    let mut chosen = BTreeSet::new();
    for (log_x, log_y) in SIZES {
        let lens = [1 << log_x, 1 << log_y];
        let roles = Roles::allowed(agreement, SessionId::from_bytes([0; 32]), lens).unwrap();
        let candidates = Candidates::new(agreement, &roles);
        chosen.extend(NETWORKS.map(|(bytes_per_s, round_trip_ns)| {
            let network = Network {
                round_trip_ns,
                to_receiver_bytes_per_s: bytes_per_s,
                to_sender_bytes_per_s: bytes_per_s,
            };
            candidates.choose(Some(network)).row.id
        }));
    }
    chosen
}

/// A candidate that no sizes and no network choose only makes the explanation longer, and a run
/// slower to begin. One that is more secure than asked is there for parties whose sizes make it
/// nearly as fast.
#[test]
fn every_candidate_is_chosen_at_some_sizes_over_some_network() {
    let mut seen = 0;
    for (head, tables) in QUESTIONS {
        for profile in ["email", "integer:16"] {
            for security in ["semi-honest", "one-sided", "malicious"] {
                let Some(agreement) = open_agreement(head, tables, profile, security) else {
                    continue;
                };
                let as_asked = agreement
                    .candidates()
                    .iter()
                    .filter(|row| row.security == agreement.security)
                    .map(|row| row.id);
                let left: Vec<_> = {
                    let chosen = chosen(&agreement);
                    as_asked.filter(|id| !chosen.contains(id)).collect()
                };
                assert!(left.is_empty(), "{head}, {profile}, {security}: {left:?}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 18, "{seen} questions");
}

/// Of a question that circuits answer: it stays short enough to be read.
#[test]
fn a_threshold_has_two_candidates_and_three_with_a_small_domain() {
    let ids = |profile| {
        let head = "operation = \"threshold\"\nthreshold = 7";
        let agreement = open_agreement(head, "", profile, "semi-honest").unwrap();
        agreement.candidates().iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("email"), ["psty19", "scs_wn"]);
    assert_eq!(ids("integer:16"), ["psty19", "scs_wn", "bwa"]);
}
