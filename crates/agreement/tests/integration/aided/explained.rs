//! The explanations of agreements with a helper.

use super::*;

#[test]
fn every_name_and_number_is_listed() {
    let agreement = sample("helper.toml");
    let text = explained(&agreement);
    for word in
        ["north", "south", "island", "cloud", "100,000,000", "50,000", "1,000", "2027-12-31"]
    {
        assert!(text.contains(word), "{word}");
    }
    assert!(text.contains(&agreement.hash().to_string()));
}

#[test]
fn every_explanation_says_what_collusion_does() {
    for row in aided() {
        let text = protocol(&of(&[1, 1]), row.id);
        let text = explained(&parse(&text));
        assert!(text.contains("helper works together with NO party"), "{text}");
        assert!(text.contains("can test any guess of a key against the list of every other party"));
        // The catalogue's text on the helper.
        assert!(text.contains(&row.helper_learns.words(Noun::Keys)), "{text}");
    }
}

#[test]
fn the_overlap_of_groups_is_explained_if_there_are_groups() {
    let overlap = "how many keys each group of parties has in common";
    assert!(explained(&parse(&of(&[1, 2, 3]))).contains(overlap));
    assert!(!explained(&sample("helper-size-hiding.toml")).contains("in common each"));
    let hidden = explained(&sample("helper-size-hiding.toml"));
    assert!(hidden.contains("not how many keys are common"), "{hidden}");
    assert!(!hidden.contains(overlap));
}

#[test]
fn the_chance_of_unnoticed_cheating_is_listed() {
    let malicious = explained(&sample("helper-malicious.toml"));
    assert!(malicious.contains("goes unnoticed with probability at most 2^-40"), "{malicious}");
    assert!(malicious.contains("at most 2^-40.0"), "{malicious}");
    let covert = |copies: u32, dummies: u32| {
        let text = protocol(&of(&[9, 9]), "server_aided_malicious");
        explained(&parse(&and_helper(&text, &format!("copies = {copies}\ndummies = {dummies}"))))
    };
    // What goes unnoticed: 9 guesses of 11, one of 6 pairs of labels, 9 of 517,653 pairs.
    for (copies, dummies, told) in [
        (1, 2, "at least 18.181818 %."),
        (2, 2, "at least 83.333333 %."),
        (2, 1000, "at least 99.998261 %."),
    ] {
        assert!(covert(copies, dummies).contains(told), "{}", covert(copies, dummies));
    }
    assert!(explained(&parse(&of(&[9, 9]))).contains("only the self-check below might notice"));
}

#[test]
fn only_the_fair_protocol_is_called_fair() {
    for row in aided() {
        let text = explained(&parse(&protocol(&of(&[1, 1]), row.id)));
        let is_fair = row.variant == Variant::Fair;
        assert_eq!(
            text.contains("both parties get the result or neither does"),
            is_fair,
            "{}",
            row.id
        );
        assert_eq!(text.contains("Fairness."), !is_fair, "{}", row.id);
        assert_eq!(text.contains("Fairness, if helper runs modified"), is_fair, "{}", row.id);
    }
    let one = explained(&parse(&receives(&of(&[1, 1]), "\"b\"")));
    assert!(one.contains("b learns which of its own keys") && !one.contains("Fairness."), "{one}");
    assert!(one.contains("a learns the size of each other party's set"), "{one}");
}

#[test]
fn size_hiding_protocols_list_the_questions_that_a_malicious_helper_can_ask() {
    for row in aided() {
        let text = explained(&parse(&protocol(&of(&[1, 1]), row.id)));
        let hides = row.variant.hides_size();
        assert_eq!(text.contains("two questions in each run"), hides, "{}", row.id);
        assert!(text.contains("ML-KEM-768, Ed25519, AES-256-GCM-SIV and BLAKE3"), "{}", row.id);
    }
}
