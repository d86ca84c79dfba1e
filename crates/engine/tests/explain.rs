//! What people are told about an agreement, word by word.

use std::path::{Path, PathBuf};
use vesica_engine::agreement::Agreement;
use vesica_engine::explain::{explain, traffic_at_most};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The explanation of each sample stands beside it as `NAME.explained.txt`.
#[test]
fn explanations_of_the_samples_are_the_golden_ones() {
    let mut seen = 0;
    for entry in std::fs::read_dir(repository().join("docs/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = explain(&Agreement::load(&path).unwrap()).to_string();
        let golden = path.with_extension("explained.txt");
        if std::env::var_os("VESICA_BLESS").is_some() {
            std::fs::write(&golden, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap();
        assert_eq!(text, expected, "{}", golden.display());
        seen += 1;
    }
    assert!(seen >= 3, "{seen} samples");
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
fn hidden_sizes_are_not_said_to_be_learned() {
    let text = explain(&sample("both-sides.toml")).to_string();
    assert!(text.contains("hidden: always its max_rows"));
    assert!(!text.contains("The sizes of the sets"));
}

#[test]
fn an_insecure_protocol_is_called_insecure() {
    assert!(explain(&sample("insecure.toml")).to_string().contains("INSECURE"));
}

#[test]
fn the_traffic_is_the_formula_at_the_largest_sizes() {
    // DH: 32·n_x from the sender and 12-byte tags of n_y back, 32·n_y from the receiver.
    let traffic = traffic_at_most(&sample("one-side.toml"), vesica_protocols::find("dh").unwrap());
    let (n_x, n_y) = (2_000_032, 5_000_032);
    assert_eq!(traffic.sender_to_receiver, 32 * n_x + 11 * n_y);
    assert_eq!(traffic.receiver_to_sender, 32 * n_y);
}
