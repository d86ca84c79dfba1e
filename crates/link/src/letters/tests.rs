//! Parties that sign what honest parties never sign.

use super::hello::{Hello, join_keys};
use super::{LetterError, Meeting};
use crate::Identity;

const CONTEXT: [u8; 32] = [3; 32];

/// The result for the first party when the second changes its X25519 key, its encapsulation key and
/// its commitment with `cheat` before it signs them.
fn meet_a_cheat(cheat: impl Fn([&mut Vec<u8>; 3])) -> Result<(), LetterError> {
    let identities = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let meetings = [Meeting::new().unwrap(), Meeting::new().unwrap()];
    let [own, honest] = [0, 1].map(|i| meetings[i].hello(&identities[i], &CONTEXT, b""));
    let read = Hello::parse(&honest, 0).unwrap();
    let mut keys = [read.x25519, read.encapsulation, read.commitment].map(<[u8]>::to_vec);
    cheat(keys.each_mut());
    let keys = join_keys(&keys[0], &keys[1], &keys[2]);
    let cheating = Hello::sign(&identities[1], &CONTEXT, b"", &keys);
    let parties = identities.each_ref().map(Identity::public);
    meetings[0].meet(0, &parties, &CONTEXT, &[own, cheating], 0).map(drop)
}

#[test]
fn a_hello_with_a_changed_commitment_is_valid() {
    assert_eq!(meet_a_cheat(|_| ()), Ok(()));
    assert_eq!(meet_a_cheat(|[_, _, commitment]| commitment[0] ^= 1), Ok(()));
}

#[test]
fn points_that_make_every_secret_the_same_are_malformed() {
    // Of order 1, 2 and 4 (RFC 7748 §6.1), and p itself, which is 0.
    let (mut one, mut p) = ([0; 32], [0xff; 32]);
    one[0] = 1;
    (p[0], p[31]) = (0xed, 0x7f);
    for point in [[0; 32], one, p] {
        let result = meet_a_cheat(|[x25519, _, _]| x25519.copy_from_slice(&point));
        assert_eq!(result, Err(LetterError::Malformed { party: 1 }), "{point:?}");
    }
}

#[test]
fn an_encapsulation_key_with_unreduced_numbers_is_malformed() {
    // The modulus check of FIPS 203 §7.2.
    let result = meet_a_cheat(|[_, encapsulation, _]| encapsulation[..384].fill(0xff));
    assert_eq!(result, Err(LetterError::Malformed { party: 1 }));
}
