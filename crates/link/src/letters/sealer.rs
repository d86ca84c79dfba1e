//! Sealed bodies between parties that share a secret.

use super::LetterError;
use super::aead::{Aead, TAG_LEN};
use std::fmt;
use vesica_core::Secret;
use vesica_core::hash::derive;

/// Bytes that sealing adds to a body.
pub const SEAL_LEN: usize = TAG_LEN;

/// Seals the messages of one party to the others under the secret of their run, or opens them.
///
/// AES-256-GCM-SIV (RFC 8452) under a key of the label and the sending party; the number of the
/// part is the nonce. The same body under the same number seals to the same bytes. Two bodies under
/// one number reveal only that they differ. A body that was moved to another number, label or party
/// does not open; the caller checks that none is missing.
pub struct Sealer {
    aead: Aead,
    from: u8,
}

impl Sealer {
    /// For the bodies of party `from` under `label`, a constant of the calling file. All holders of
    /// the run's `secret` can open and create them.
    pub fn new(secret: &[u8; 32], label: &'static str, from: u8) -> Self {
        let key = Secret::new(derive(label, &[secret, &[from]]));
        Self { aead: Aead::new(&key), from }
    }

    /// Seals `body` in place; the result is [`SEAL_LEN`] bytes longer.
    pub fn seal(&self, part: u32, body: Vec<u8>) -> Vec<u8> {
        self.aead.seal(part, body)
    }

    /// The body that was sealed as this part.
    ///
    /// # Errors
    /// [`LetterError::NotSealedForUs`] with the party that should have sent it.
    pub fn open(&self, part: u32, sealed: Vec<u8>) -> Result<Vec<u8>, LetterError> {
        let party = usize::from(self.from);
        self.aead.open(part, sealed).ok_or(LetterError::NotSealedForUs { party })
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("from", &self.from).finish_non_exhaustive()
    }
}
