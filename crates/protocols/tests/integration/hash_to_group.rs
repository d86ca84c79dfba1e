//! The hash to Ristretto255 against published vectors.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use vesica_core::hash_to_group::ExpandMessage;

fn from_hex(hex: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    }
    bytes
}

/// RFC 9497, Appendix A.1.1 (ristretto255-SHA512, mode OPRF): `BlindedElement` is
/// `Blind · HashToGroup(Input)`.
#[test]
fn agrees_with_the_vectors_of_rfc_9497() {
    let vectors: [(&[u8], &str, &str); 2] = [
        (
            &[0],
            "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706",
            "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
        ),
        (
            &[0x5a; 17],
            "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706",
            "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
        ),
    ];
    let hash = ExpandMessage::new(b"HashToGroup-OPRFV1-\x00-ristretto255-SHA512");
    for (input, blind, expected) in vectors {
        let blind = Scalar::from_canonical_bytes(from_hex(blind)).unwrap();
        let element = RistrettoPoint::from_uniform_bytes(&hash.expand(&[input])) * blind;
        assert_eq!(element.compress().to_bytes(), from_hex(expected));
    }
}
