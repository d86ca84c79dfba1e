//! The signed hello: a party's keys and commitment for one run.

use crate::{Identity, PublicIdentity};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use vesica_core::hash::derive;

const SIGNED_LABEL: &str = "vesica link 2026 signed hello";
const SHARE_LABEL: &str = "vesica link 2026 commitment to a share";
const TRANSCRIPT_LABEL: &str = "vesica link 2026 transcript of hellos";

/// Precedes the signed digest. The identity's key also signs TLS handshakes; those begin with 64
/// spaces (RFC 8446 §4.4.3).
const SIGNED_PREFIX: &[u8; 32] = b"vesica letters v1, signed hello.";

/// Largest length of a note in bytes.
pub const NOTE_MAX_LEN: usize = 64;

pub(super) const X25519_LEN: usize = 32;
pub(super) const ENCAPSULATION_KEY_LEN: usize = 1184;
const COMMITMENT_LEN: usize = 32;
const KEYS_LEN: usize = X25519_LEN + ENCAPSULATION_KEY_LEN + COMMITMENT_LEN;
const SIGNATURE_LEN: usize = 64;

/// Bytes of a hello without its note: 1,312.
pub const HELLO_LEN: usize = KEYS_LEN + SIGNATURE_LEN;

/// The run of a hello, and the party that signs it.
#[derive(Clone, Copy)]
pub(super) struct Signer<'a> {
    pub(super) context: &'a [u8; 32],
    pub(super) identity: &'a PublicIdentity,
}

impl Signer<'_> {
    /// A hiding and binding commitment to the 32 random bytes `share`; valid for this party and
    /// this run only.
    pub(super) fn commitment(&self, share: &[u8; 32]) -> [u8; COMMITMENT_LEN] {
        derive(SHARE_LABEL, &[self.context, self.identity.as_bytes(), share])
    }

    fn signed(&self, note: &[u8], keys: &[u8]) -> Vec<u8> {
        let digest = derive(SIGNED_LABEL, &[self.context, self.identity.as_bytes(), note, keys]);
        [SIGNED_PREFIX.as_slice(), &digest].concat()
    }
}

/// A parsed hello:
///
/// | bytes | content |
/// |---|---|
/// | 0 to 64 | the note |
/// | 32 | X25519 public key |
/// | 1,184 | ML-KEM-768 encapsulation key |
/// | 32 | commitment to the share |
/// | 64 | Ed25519 signature over the context, the identity and all of the above |
pub(super) struct Hello<'a> {
    pub(super) note: &'a [u8],
    /// The two keys and the commitment, as received.
    pub(super) keys: &'a [u8],
    pub(super) x25519: &'a [u8],
    pub(super) encapsulation: &'a [u8],
    pub(super) commitment: &'a [u8],
    signature: &'a [u8],
}

impl<'a> Hello<'a> {
    /// The bytes of a hello that `identity` signs for `context`.
    pub(super) fn sign(
        identity: &Identity,
        context: &[u8; 32],
        note: &[u8],
        keys: &[u8],
    ) -> Vec<u8> {
        let signed = Signer { context, identity: &identity.public() }.signed(note, keys);
        [note, keys, identity.key_pair().sign(&signed).as_ref()].concat()
    }

    /// `None` when the length is not that of a hello with a note of `note_len` bytes.
    pub(super) fn parse(bytes: &'a [u8], note_len: usize) -> Option<Self> {
        if bytes.len().checked_sub(HELLO_LEN) != Some(note_len) {
            return None;
        }
        let (note, rest) = bytes.split_at(note_len);
        let (keys, signature) = rest.split_at(KEYS_LEN);
        let (x25519, rest) = keys.split_at(X25519_LEN);
        let (encapsulation, commitment) = rest.split_at(ENCAPSULATION_KEY_LEN);
        Some(Self { note, keys, x25519, encapsulation, commitment, signature })
    }

    /// Whether the signature verifies.
    pub(super) fn is_signed_by(&self, signer: Signer<'_>) -> bool {
        UnparsedPublicKey::new(&ED25519, signer.identity.as_bytes())
            .verify(&signer.signed(self.note, self.keys), self.signature)
            .is_ok()
    }
}

/// The middle part of a hello.
pub(super) fn join_keys(x25519: &[u8], encapsulation: &[u8], commitment: &[u8]) -> Vec<u8> {
    [x25519, encapsulation, commitment].concat()
}

/// The digest of all public messages: equal only for parties that saw the same.
pub(super) fn transcript(
    context: &[u8; 32],
    parties: &[PublicIdentity],
    hellos: &[Vec<u8>],
) -> [u8; 32] {
    let mut parts: Vec<&[u8]> = vec![context];
    parts.extend(parties.iter().map(|party| party.as_bytes().as_slice()));
    parts.extend(hellos.iter().map(Vec::as_slice));
    derive(TRANSCRIPT_LABEL, &parts)
}
