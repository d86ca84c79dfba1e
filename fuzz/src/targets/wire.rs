//! The messages between a party and the helper.

use super::Target;
use vesica_core::{Refusal, StopReason};
use vesica_helper::fuzzing;
use vesica_protocols::kmrs14::{PartySpec, Spec, Variant};

pub(super) const WIRE: Target = Target {
    name: "helper_wire",
    run: wire,
    seeds: fuzzing::heads,
    tokens: &[b"vesica\x01\x00\x01\x00"],
    max_len: 64,
};

fn wire(bytes: &[u8]) {
    // Each decoder returns the encoding of what it has read: reading that again must not change it.
    for read in fuzzing::MESSAGES {
        if let Some(written) = read(bytes) {
            assert_eq!(read(&written), Some(written), "a message survives being written");
        }
    }
    // A request has one form.
    if let Some(written) = fuzzing::request(bytes) {
        assert_eq!(written, bytes[..written.len()], "every byte of a request is checked");
    }
    if let Some(code) = bytes.first_chunk() {
        let refusal = Refusal::from_code(*code);
        assert_eq!(Refusal::from_code(refusal.code()), refusal);
        let reason = StopReason::from_code(code[0]);
        assert_eq!(StopReason::from_code(reason.code()), reason);
    }
}

pub(super) const SPEC: Target =
    Target { name: "spec", run: spec, seeds: specs, tokens: &[], max_len: 1024 };

/// Specs of all variants.
pub(super) fn specs() -> Vec<Vec<u8>> {
    let party = |number: u8, variant: Variant| PartySpec {
        identity: [number; 32],
        max_rows: (100 + u64::from(number)).min(variant.max_rows()),
        min_rows: 1,
        receives: true,
    };
    let variants =
        [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];
    let of = |variant| Spec {
        variant,
        agreement: [9; 32],
        parties: (1..3).map(|number| party(number, variant)).collect(),
        copies: 2,
        dummies: 100,
    };
    variants.map(|variant| of(variant).to_bytes()).to_vec()
}

fn spec(bytes: &[u8]) {
    let Some(spec) = Spec::from_bytes(bytes) else { return };
    assert!(spec.is_sound());
    assert_eq!(spec.to_bytes(), bytes, "a spec has one form");
    let scales: Vec<u32> = (0..spec.parties.len()).map(|party| spec.largest_scale(party)).collect();
    let formats = spec.formats(&scales).expect("the largest lists can be written");
    for (party, format) in formats.iter().enumerate() {
        let len = spec.list_len(spec.parties[party].max_rows);
        assert!(spec.takes(party, *format, len), "the longest list is one");
        assert_eq!(spec.items(len), spec.parties[party].max_rows);
    }
}
