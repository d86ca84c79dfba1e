//! Bodies between parties that have a secret.

use super::LetterError;
use super::aead::{Aead, TAG_LEN};
use std::fmt;
use vesica_core::Secret;
use vesica_core::hash::derive;

/// Bytes that sealing adds to a body.
pub const SEAL_LEN: usize = TAG_LEN;

/// Seals what one party says to the others under the secret of their run, or opens it.
///
/// AES-256-GCM-SIV (RFC 8452) under a key of the label and the party that speaks; the number of the
/// part is the nonce. The same body under the same number seals to the same bytes. Two bodies under
/// one number tell whoever carries them that they differ, and no more. A body that moved to another
/// number, label or party does not open; that none is missing is for the caller to check.
pub struct Sealer {
    aead: Aead,
    from: u8,
}

impl Sealer {
    /// For the bodies of party `from` under `label`, which is a constant of the calling file. All who
    /// have the run's `secret` can open them, and make them.
    pub fn new(secret: &[u8; 32], label: &'static str, from: u8) -> Self {
        let key = Secret::new(derive(label, &[secret, &[from]]));
        Self { aead: Aead::new(&key), from }
    }

    /// `body`, sealed in place, [`SEAL_LEN`] bytes longer.
    pub fn seal(&self, part: u32, body: Vec<u8>) -> Vec<u8> {
        self.aead.seal(part, body)
    }

    /// The body that was sealed as this part.
    ///
    /// # Errors
    /// [`LetterError::NotSealedForUs`] with the party that it should be from.
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
