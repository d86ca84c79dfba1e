//! Agreements, between two parties and with a helper.

use super::Target;
use crate::inputs;
use std::sync::OnceLock;
use vesica_agreement::{Agreement, Draft};
use vesica_protocols::kmrs14::Spec;

pub(super) const AGREEMENT: Target = Target {
    name: "agreement",
    run: agreement,
    seeds: samples,
    tokens: &[
        b"operation = \"cardinality\"\n",
        b"operation = \"threshold\"\n",
        b"operation = \"sum\"\n",
        b"operation = \"union\"\n",
        b"operation = \"private-id\"\n",
        b"operation = \"shares\"\n",
        b"operation = \"shared-values\"\n",
        b"receives = \"all\"\n",
        b"security = \"malicious\"\n",
        b"protocol = \"auto\"\n",
        b"expires = 2027-01-01\n",
        b"expires = \"never\"\n",
        b"self_check = 8\n",
        b"hide_sizes = true\n",
        b"partition_rows = 1000\n",
        b"threshold = 3\n",
        b"min_matches = 1\n",
        b"max_matches = 9\n",
        b"[helper]\n",
        b"[[key]]\n",
        b"[value]\n",
        b"profile = \"integer:16\"\n",
        b"profile_version = 1\n",
        b"never = [\"NULL\", \"n/a\"]\n",
        b"max_rows = 9223372036854775807\n",
        b"min_rows = 0\n",
        b"{a.b.c = 1}",
        b"\\u202e",
    ],
    max_len: 4096,
};

/// The agreements of the documents and of the test vectors.
fn samples() -> Vec<Vec<u8>> {
    let all = ["docs/samples", "vectors/agreement"].map(|dir| inputs::of_repository(dir, "toml"));
    all.into_iter().flatten().collect()
}

/// The agreement that every other text is compared with.
fn reference() -> &'static Agreement {
    static REFERENCE: OnceLock<Agreement> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        Agreement::parse(include_str!("../../../docs/samples/both-sides.toml"))
            .expect("the sample is an agreement")
    })
}

fn agreement(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The message of a peer with another agreement.
    if let Ok(differences) = reference().differences_from(text) {
        for difference in differences {
            assert!(difference.here != difference.there || difference.field.ends_with('…'));
        }
    }
    // One in which identities may be missing: the same where none is.
    let draft = Draft::parse(text).map(|draft| (draft.canonical(), draft.hash()));
    let agreement = match Agreement::parse(text) {
        Ok(agreement) => agreement,
        Err(error) => return drop(error.to_string()),
    };
    let canonical = agreement.canonical();
    let again = Agreement::parse(&canonical).expect("a canonical form is an agreement");
    assert_eq!(again, agreement, "it says the same");
    assert_eq!(again.canonical(), canonical, "there is one canonical form");
    assert_eq!(again.hash(), agreement.hash());
    if !text.contains(Draft::PLACEHOLDER) {
        assert_eq!(draft.ok(), Some((canonical, Some(agreement.hash()))), "it is complete");
    }
    assert!(agreement.differences(&again).is_empty());
    match agreement.with_helper() {
        Some(aided) => {
            let spec = aided.spec();
            assert_eq!(Spec::from_bytes(&spec.to_bytes()), Some(spec), "a helper takes its run");
        }
        None => assert!(!agreement.candidates().is_empty(), "something can run"),
    }
}
