//! Sealing with AES-256-GCM-SIV (RFC 8452).
//!
//! Not GCM: a party that was killed seals its bodies again. If the bytes differed, GCM would reveal
//! both bodies and its authentication key; SIV reveals only whether they are equal.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use vesica_core::Secret;

/// Bytes that sealing adds: the tag.
pub(super) const TAG_LEN: usize = 16;

pub(super) struct Aead(LessSafeKey);

impl Aead {
    pub(super) fn new(key: &Secret<[u8; 32]>) -> Self {
        let key = UnboundKey::new(&AES_256_GCM_SIV, key.expose());
        Self(LessSafeKey::new(key.expect("the key has 32 bytes")))
    }

    /// Encrypts `body` in place and appends the tag.
    pub(super) fn seal(&self, number: u32, mut body: Vec<u8>) -> Vec<u8> {
        // Detached, so that a vector that must grow for the tag leaves no plaintext behind.
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(number), Aad::empty(), &mut body)
            .expect("a body in memory is below the cipher's 64 GiB");
        body.extend_from_slice(tag.as_ref());
        body
    }

    /// Opens what was sealed under `number`; `None` if it was not, or was changed.
    pub(super) fn open(&self, number: u32, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let len = self.0.open_in_place(nonce(number), Aad::empty(), &mut sealed).ok()?.len();
        sealed.truncate(len);
        Some(sealed)
    }
}

fn nonce(number: u32) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..4].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}
