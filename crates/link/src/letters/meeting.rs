//! The secret half of a meeting, and its file.

use super::hello::{
    ENCAPSULATION_KEY_LEN, HELLO_LEN, Hello, NOTE_MAX_LEN, Signer, X25519_LEN, join_keys,
    transcript,
};
use super::met::Met;
use super::{LetterError, PARTIES};
use crate::{Identity, PublicIdentity};
use aws_lc_rs::agreement::{PrivateKey, X25519};
use aws_lc_rs::kem::{DecapsulationKey, ML_KEM_768};
use std::fmt;
use std::sync::Arc;
use vesica_core::Secret;
use vesica_core::hash::derive;
use zeroize::Zeroizing;

const FILE_LABEL: &str = "vesica link 2026 meeting in a file";

const DECAPSULATION_KEY_LEN: usize = 2400;
/// Offset of the encapsulation key in the decapsulation key (FIPS 203, Algorithm 16: 384·k bytes
/// with k = 3 precede it).
const ENCAPSULATION_KEY_AT: usize = 1152;
const SHARE_LEN: usize = 32;
const CHECKSUM_LEN: usize = 32;

/// The secret half of one run's meeting: an X25519 key, an ML-KEM-768 key and a share of the
/// secret.
///
/// For one run only: anyone who holds it can read that run's letters, so delete it after the run. A
/// party that may be killed keeps it in a file; a meeting that was read back sends the same hello
/// again.
pub struct Meeting {
    seed: Secret<[u8; X25519_LEN]>,
    agreement: PrivateKey,
    agreement_public: Vec<u8>,
    decapsulation_bytes: Zeroizing<Vec<u8>>,
    decapsulation: Arc<DecapsulationKey>,
    share: Arc<Secret<[u8; SHARE_LEN]>>,
}

impl Meeting {
    /// Bytes of a meeting in a file: 2,496.
    pub const FILE_LEN: usize = X25519_LEN + DECAPSULATION_KEY_LEN + SHARE_LEN + CHECKSUM_LEN;

    /// A new meeting from the operating system's randomness.
    ///
    /// # Errors
    /// [`LetterError::NoRandomness`].
    pub fn new() -> Result<Self, LetterError> {
        let random = || {
            let mut bytes = Secret::new([0; 32]);
            aws_lc_rs::rand::fill(bytes.expose_mut()).ok()?;
            Some(bytes)
        };
        let fresh = || {
            let decapsulation = DecapsulationKey::generate(&ML_KEM_768).ok()?.key_bytes().ok()?;
            let decapsulation = Zeroizing::new(decapsulation.as_ref().to_vec());
            Self::from_parts(random()?, decapsulation, random()?)
        };
        fresh().ok_or(LetterError::NoRandomness)
    }

    fn from_parts(
        seed: Secret<[u8; X25519_LEN]>,
        decapsulation_bytes: Zeroizing<Vec<u8>>,
        share: Secret<[u8; SHARE_LEN]>,
    ) -> Option<Self> {
        let agreement = PrivateKey::from_private_key(&X25519, seed.expose()).ok()?;
        let agreement_public = agreement.compute_public_key().ok()?.as_ref().to_vec();
        let decapsulation = DecapsulationKey::new(&ML_KEM_768, &decapsulation_bytes).ok()?;
        let (decapsulation, share) = (Arc::new(decapsulation), Arc::new(share));
        Some(Self { seed, agreement, agreement_public, decapsulation_bytes, decapsulation, share })
    }

    /// The whole meeting, for a file that only its owner may read.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Room for everything, so that growing leaves no copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(Self::FILE_LEN));
        bytes.extend_from_slice(self.seed.expose());
        bytes.extend_from_slice(&self.decapsulation_bytes);
        bytes.extend_from_slice(self.share.expose());
        let checksum = derive(FILE_LABEL, &[&bytes]);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    /// The meeting from the output of [`to_bytes`](Meeting::to_bytes); `None` if the bytes are
    /// damaged, cut off, or something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::FILE_LEN {
            return None;
        }
        let (body, checksum) = bytes.split_at(Self::FILE_LEN - CHECKSUM_LEN);
        if derive(FILE_LABEL, &[body]) != checksum {
            return None;
        }
        let (seed, rest) = body.split_at(X25519_LEN);
        let (decapsulation, share) = rest.split_at(DECAPSULATION_KEY_LEN);
        let decapsulation = Zeroizing::new(decapsulation.to_vec());
        let secret = |bytes: &[u8]| bytes.try_into().ok().map(Secret::new);
        Self::from_parts(secret(seed)?, decapsulation, secret(share)?)
    }

    /// The hello of `identity` in the run of `context`: public, signed, [`HELLO_LEN`] bytes plus
    /// the note. Equal at every call.
    ///
    /// `note` is public, has up to [`NOTE_MAX_LEN`] bytes, and has the same length at all parties
    /// of the run.
    ///
    /// # Panics
    /// If the note is longer.
    pub fn hello(&self, identity: &Identity, context: &[u8; 32], note: &[u8]) -> Vec<u8> {
        assert!(note.len() <= NOTE_MAX_LEN, "a note has up to {NOTE_MAX_LEN} bytes");
        let hello =
            Hello::sign(identity, context, note, &self.public_keys(context, &identity.public()));
        debug_assert_eq!(hello.len(), HELLO_LEN + note.len());
        hello
    }

    fn public_keys(&self, context: &[u8; 32], identity: &PublicIdentity) -> Vec<u8> {
        let encapsulation = &self.decapsulation_bytes[ENCAPSULATION_KEY_AT..];
        let commitment = Signer { context, identity }.commitment(self.share.expose());
        join_keys(&self.agreement_public, &encapsulation[..ENCAPSULATION_KEY_LEN], &commitment)
    }

    /// Checks all hellos of a run, and seals our share for the others.
    ///
    /// `hellos[i]` comes from `parties[i]`, with a note of `note_len` bytes; our own is
    /// `hellos[own]`. All parties list the parties in the same order. Sealing is randomised: see
    /// [`Met::shares`].
    ///
    /// # Errors
    /// [`LetterError::WrongParties`], [`LetterError::Malformed`], [`LetterError::BadSignature`],
    /// [`LetterError::NotOurHello`].
    pub fn meet(
        &self,
        own: usize,
        parties: &[PublicIdentity],
        context: &[u8; 32],
        hellos: &[Vec<u8>],
        note_len: usize,
    ) -> Result<Met, LetterError> {
        let different = parties.iter().enumerate().all(|(i, party)| !parties[..i].contains(party));
        let counted = PARTIES.contains(&parties.len()) && parties.len() == hellos.len();
        let (true, true, Some(identity)) = (different, counted, parties.get(own)) else {
            return Err(LetterError::WrongParties);
        };
        let mut read = Vec::with_capacity(hellos.len());
        for (party, (bytes, identity)) in hellos.iter().zip(parties).enumerate() {
            let hello = Hello::parse(bytes, note_len).ok_or(LetterError::Malformed { party })?;
            if !hello.is_signed_by(Signer { context, identity }) {
                return Err(LetterError::BadSignature { party });
            }
            read.push(hello);
        }
        if read[own].keys != self.public_keys(context, identity) {
            return Err(LetterError::NotOurHello);
        }
        let transcript = transcript(context, parties, hellos);
        let share = Arc::clone(&self.share);
        let decapsulation = Arc::clone(&self.decapsulation);
        let mut met = Met::new(own, *context, transcript, share, decapsulation);
        for (party, (hello, identity)) in read.iter().zip(parties).enumerate() {
            met.add_party(party, *identity, hello, &self.agreement)?;
        }
        Ok(met)
    }
}

impl fmt::Debug for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meeting(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decapsulation_key_contains_the_encapsulation_key() {
        let key = DecapsulationKey::generate(&ML_KEM_768).unwrap();
        let public = key.encapsulation_key().unwrap().key_bytes().unwrap();
        let secret = key.key_bytes().unwrap();
        let within = &secret.as_ref()[ENCAPSULATION_KEY_AT..][..ENCAPSULATION_KEY_LEN];
        assert_eq!((within, secret.as_ref().len()), (public.as_ref(), DECAPSULATION_KEY_LEN));
    }
}
