//! The text of `vesica explain`.

use std::path::{Path, PathBuf};
use vesica_agreement::figures::grouped;
use vesica_agreement::{Agreement, Draft, choice, split};
use vesica_explain::{explain, explain_draft};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a terminal, without the one that the command adds.
const SCREEN_LINES: usize = 24 - 1;

/// The explanation of each sample is stored next to it as `NAME.explained.txt`, its first screen as
/// `NAME.summary.txt`.
#[test]
fn explanations_of_the_samples_are_the_golden_ones() {
    let mut seen = 0;
    for entry in std::fs::read_dir(repository().join("docs/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let explanation = explain(&Agreement::load(&path).unwrap());
        let (screen, text) = (explanation.screen(), explanation.to_string());
        let lines = screen.lines().count();
        for (text, extension) in [(text, "explained.txt"), (screen, "summary.txt")] {
            assert!(text.lines().all(|line| line.chars().count() <= 88), "{text}");
            let golden = path.with_extension(extension);
            if std::env::var_os("VESICA_BLESS").is_some() {
                std::fs::write(&golden, &text).unwrap();
            }
            let expected = std::fs::read_to_string(&golden).unwrap();
            assert_eq!(text, expected, "{}", golden.display());
        }
        assert!(lines <= SCREEN_LINES, "{} has {lines} lines", path.display());
        seen += 1;
    }
    assert!(seen >= 3, "{seen} samples");
}

#[test]
fn a_draft_without_identities_is_explained() {
    let text = std::fs::read_to_string(repository().join("docs/samples/helper.toml")).unwrap();
    let complete = Draft::parse(&text).unwrap();
    assert_eq!(complete.missing().count(), 0);
    assert_eq!(complete.hash(), Some(sample("helper.toml").hash()));
    assert_eq!(explain_draft(&complete), explain(complete.agreement()));

    let lines = text.lines().map(|line| {
        if line.trim_start().starts_with("identity") {
            format!("identity = \"{}\"", Draft::PLACEHOLDER)
        } else {
            line.to_owned()
        }
    });
    let lacking = lines.collect::<Vec<_>>().join("\n");
    assert!(Agreement::parse(&lacking).is_err());
    let draft = Draft::parse(&lacking).unwrap();
    let missing: Vec<&str> = draft.missing().collect();
    assert_eq!(missing, ["island", "north", "south", "cloud"]);
    assert_eq!(draft.hash(), None);
    let canonical = draft.canonical();
    assert_eq!(canonical.matches(Draft::PLACEHOLDER).count(), 4, "{canonical}");
    assert_eq!(Draft::parse(&canonical).unwrap().canonical(), canonical);
    let explanation = explain_draft(&draft);
    assert_eq!((explanation.hash.as_deref(), explanation.missing.len()), (None, 4));
    assert_eq!(explanation.sections, explain(complete.agreement()).sections);
    let told = "draft; missing identities: island, north, south, cloud";
    assert!(explanation.screen().contains(told) && explanation.to_string().contains(told));
}

fn sample(name: &str) -> Agreement {
    Agreement::load(repository().join("docs/samples").join(name)).unwrap()
}

#[test]
fn no_line_is_wider_than_a_page() {
    for name in ["one-side.toml", "both-sides.toml", "insecure.toml"] {
        let text = explain(&sample(name)).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 88), "{text}");
    }
}

#[test]
fn every_party_and_every_number_of_the_agreement_is_named() {
    let agreement = sample("one-side.toml");
    let text = explain(&agreement).to_string();
    for word in ["shop", "publisher", "5,000,000", "2,000,000", "2027-12-31", "email"] {
        assert!(text.contains(word), "{word}");
    }
    assert!(text.contains(&agreement.hash().to_string()));
    assert!(!text.contains("the sender") && !text.contains("the receiver"), "{text}");
}

#[test]
fn the_explanation_does_not_claim_that_hidden_sizes_are_learned() {
    let text = explain(&sample("both-sides.toml")).to_string();
    assert!(text.contains("hidden: always its max_rows"));
    assert!(!text.contains("The sizes of the sets"));
}

#[test]
fn it_says_how_often_a_run_may_be_repeated() {
    let canonical = sample("one-side.toml").canonical();
    for (line, says) in [
        ("", "At most 3 retries in a row are allowed after abandoned runs"),
        ("max_repeats = 1\n", "At most 1 retry in a row is allowed after an abandoned run"),
        ("max_repeats = 0\n", "An abandoned run is the last one under this agreement"),
    ] {
        let text = canonical.replacen("self_check", &format!("{line}self_check"), 1);
        let text = explain(&Agreement::parse(&text).unwrap()).to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn partitions_as_small_as_agreed_are_explained_and_counted_with() {
    let of = |name: &str, line: &str| {
        let canonical = sample(name).canonical();
        let with = format!("hide_sizes = false\n{line}");
        let text = canonical.replacen("hide_sizes = false", &with, 1);
        assert_ne!(text, canonical);
        Agreement::parse(&text).unwrap()
    };
    let words = |agreement: &Agreement| {
        explain(agreement).to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = "each has at most 100,000 keys on average before padding, but there are no more \
                than 4,096 (`partition_rows = 100000`)";
    let small = words(&of("one-side.toml", "partition_rows = 100_000"));
    assert!(small.contains(told), "{small}");
    assert!(small.contains("matched in 64 partitions of "), "{small}");
    let default = words(&of("one-side.toml", "partition_rows = 1_572_864"));
    assert_eq!(default, words(&sample("one-side.toml")));
    assert!(!default.contains("partition_rows"), "{default}");
    let counted = "partition_rows = 20_000\npartition_counts = true";
    let counted = words(&of("union.toml", counted));
    let reveals = "if a set has more than 20,000 keys, both are split at random into partitions";
    assert!(counted.contains(reveals), "{counted}");

    let dh = vesica_protocols::find("dh").unwrap();
    let agreement = of("one-side.toml", "partition_rows = 1_000");
    let session = vesica_core::SessionId::from_bytes([0; 32]);
    let params = agreement.params(session, 20_000, 15_000).unwrap();
    let plan = split::plan(dh, &params);
    assert_eq!((params.partition_len(), plan.partitions()), (1_000, 32));
    let part = split::partition(plan, &params, 31, 16).unwrap();
    assert_eq!(part.runs().count(), 32);
    let bounds = [20_016, 15_016].map(|len| plan.bound(len) as usize);
    assert_eq!([part.sender_len(), part.receiver_len()], bounds);
    let traffic = split::traffic(dh, &params);
    let tags = part.tag_len_bytes() as u64;
    let [n_x, n_y] = [20_016, 15_016].map(|len| plan.bound(len));
    assert_eq!(traffic.receiver_to_sender, 32 * 32 * n_y);
    assert_eq!(traffic.sender_to_receiver, 32 * (32 * n_x + tags * n_y));
    assert_eq!(split::most_partitions(&agreement, "shop", 20_000), 2048);
    assert_eq!(split::longest(plan, &params), n_x);
    // A short partition takes no less memory than this.
    assert_eq!(split::memory_in_flight(plan, &params), 96 << 15);
    assert_eq!(split::least_memory(plan, &params), 44 << 20);
}

#[test]
fn the_guesses_of_a_malicious_party_are_listed_for_small_sets_too() {
    let words = |agreement: &Agreement| {
        let text = explain(agreement).to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = words(&sample("one-side.toml"));
    let sizes = "may enter 5,000,000 keys, against up to 2,000,000 of the other side.";
    assert!(text.contains(sizes), "{text}");
    let smaller = "These two numbers if it announces fewer keys, against the same other set: 1 \
                   and 3 for 1, 143 and 356 for 100, 1,494 and 3,632 for 1,000, 5,024 and 12,014 \
                   for 4,096.";
    assert!(text.contains(smaller), "{text}");
    assert!(text.contains("Each side adds 16 items known to both, which must match; a result"));
    // Padded sets have one size.
    assert!(!words(&sample("both-sides.toml")).contains("announces fewer"));
}

/// The explanation of a union that `receives` receive, as one line.
fn of_union(receives: &str, hidden: bool) -> String {
    let path = repository().join("docs/samples/union.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let hides = format!("hide_sizes = {hidden}\noperation = \"union\"\n");
    let text = text.replace("operation = \"union\"\n", &hides);
    let receiver = format!("receives = \"{receives}\"");
    let text = text.replace("receives = \"all\"", &receiver);
    let words = explain(&Agreement::parse(&text).unwrap()).to_string();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_receiver_of_a_union_learns_the_size_even_if_it_is_hidden() {
    let one = of_union("publisher", true);
    assert!(one.contains("the size of shop's set."), "{one}");
    assert!(one.contains("the size of publisher's set (hidden: always its max_rows)."), "{one}");
    let both = of_union("all", true);
    assert!(!both.contains("(hidden"), "{both}");
}

#[test]
fn the_explanation_claims_no_result_for_a_side_without_one() {
    let (one, both) = (of_union("publisher", false), of_union("all", false));
    assert!(one.contains("shop learns the size of publisher's set."), "{one}");
    assert!(both.contains("the items that only publisher has"), "{both}");
}

#[test]
fn the_bytes_depend_on_a_union_only_if_both_receive_it() {
    let (one, both) = (of_union("publisher", false), of_union("all", false));
    for told in ["Traffic and duration.", ": at most"] {
        assert!(both.contains(told) && !one.contains(told), "{told}");
    }
}

#[test]
fn an_insecure_protocol_is_called_insecure() {
    assert!(explain(&sample("insecure.toml")).to_string().contains("INSECURE"));
}

#[test]
fn the_traffic_is_the_formula_at_the_largest_sizes() {
    // DH in four partitions: 32·n_x from the sender and 11-byte tags of n_y back, 32·n_y from the
    // receiver.
    let row = vesica_protocols::find("dh").unwrap();
    let traffic = choice::at_most(&sample("one-side.toml"), row).traffic;
    let (n_x, n_y) = (505_492, 1_258_675);
    assert_eq!(traffic.sender_to_receiver, 4 * (32 * n_x + 11 * n_y));
    assert_eq!(traffic.receiver_to_sender, 4 * 32 * n_y);
}

#[test]
fn large_sets_are_explained_in_partitions_where_the_protocol_can() {
    let text = explain(&sample("one-side.toml")).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("matched in 4 partitions of 505,492 and 1,258,675 keys"), "{text}");
    let of_union = explain(&sample("union.toml")).to_string();
    assert!(of_union.contains("all keys are in memory at once"), "{of_union}");
}

/// With `VESICA_BLESS` set, it writes the numbers into the page.
#[test]
fn the_guesses_in_partitions_are_those_of_the_code() {
    let page = repository().join("docs/security/guesses.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let row = vesica_protocols::find("rr22_malicious").unwrap();
    let number = |cell: &str| -> u64 {
        let cell = cell.replace(',', "");
        match cell.split_once('^') {
            Some((base, power)) => base.parse::<u64>().unwrap().pow(power.parse().unwrap()),
            None => cell.parse().unwrap(),
        }
    };
    let (mut seen, mut wrong) = (0, Vec::new());
    let (head, table) = text.split_once("| keys announced |").expect("the table");
    let mut written = format!("{head}| keys announced |");
    for (index, line) in table.split_inclusive('\n').enumerate() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let ([rows, sender_rows, ..], 2..=6) = (&cells[..], index) else {
            written += line;
            continue;
        };
        let shared = 16;
        let [n_y, n_x] = [rows, sender_rows].map(|cell| number(cell) + shared);
        let session = vesica_core::SessionId::from_bytes([0; 32]);
        let params = vesica_core::PsiParams::new(session, n_x, n_y, vesica_core::Learns::Both)
            .and_then(|params| params.with_shared(shared))
            .unwrap();
        let usable = split::usable_set_len(row, &params).unwrap();
        let [partitions, free, most] =
            [split::plan(row, &params).partitions(), usable.free, usable.most].map(grouped);
        let expected = format!("| {rows} | {sender_rows} | {partitions} | {free} | {most} |\n");
        if expected != line {
            wrong.push(expected.clone());
        }
        written += &expected;
        seen += 1;
    }
    if std::env::var_os("VESICA_BLESS").is_some() {
        std::fs::write(&page, written).unwrap();
        return;
    }
    assert!(wrong.is_empty() && seen == 5, "{wrong:?}");
}
