//! Messages between parties through a helper they do not trust.
//!
//! The parties of a run know each other's identities and agree on the run's *context*, but have no
//! connection to each other: a helper carries their messages. It may read, swap, replay, drop,
//! alter and delay them, and show different bodies to different parties. It colludes with no party.
//!
//! ```text
//!   party i                                  helper                              party j
//!   Meeting: keys, share s_i
//!   hello_i = note, keys_i, commit(s_i), signature ─▶      ◀─ hello_j
//!   all hellos ◀─                                                        ─▶ all hellos
//!        checks the signatures;  T = hash of the context, all identities and all hellos
//!   shares_i = s_i sealed for each j ─▶                    ◀─ shares_j
//!   all shares ◀─                                                        ─▶ all shares
//!        checks the commitments;  secret = hash of T and s_1 … s_n
//!   body sealed under the secret ─▶                                      ─▶ opens it
//! ```
//!
//! * **The helper learns nothing about the secret**: a share is sealed under a key from X25519 (RFC
//!   7748) and ML-KEM-768 (FIPS 203), so that a later quantum computer cannot open bodies recorded
//!   today.
//! * **All parties have the same secret or none**: T is in every key, so letters do not open
//!   between parties that saw different hellos. The same holds for an old hello, or one of another
//!   context.
//! * **No party chooses the secret**: parties seal their shares only after all commitments are seen
//!   (Blum, CRYPTO 1981). A party can stop after it has seen the others' shares, but it cannot
//!   replace its own.
//!
//! Every fault ends in a [`LetterError`] that names the party whose message was wrong. It cannot be
//! determined whether that party or the helper is to blame. The helper can always refuse to carry
//! messages.

mod aead;
mod hello;
mod meeting;
mod met;
mod sealer;
#[cfg(test)]
mod tests;

pub use hello::{HELLO_LEN, NOTE_MAX_LEN};
pub use meeting::Meeting;
pub use met::{LETTER_LEN, Met};
pub use sealer::{SEAL_LEN, Sealer};

use crate::Identity;

/// A hello with any `keys`, signed.
pub(crate) fn sign_hello(
    identity: &Identity,
    context: &[u8; 32],
    note: &[u8],
    keys: &[u8],
) -> Vec<u8> {
    hello::Hello::sign(identity, context, note, keys)
}

/// Fewest and most parties of a meeting.
pub const PARTIES: std::ops::RangeInclusive<usize> = 2..=16;

/// A fault in a message of the parties, or in what the helper delivered of it. `party` is the index
/// in the order of the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LetterError {
    /// Not 2 to 16 different parties with ourselves among them, or not one body of each.
    #[error("there must be 2 to 16 different parties with one body of each")]
    WrongParties,
    /// A body has the wrong length, or holds an invalid key.
    #[error("what came from party {party} is malformed")]
    Malformed {
        /// Whose body it is.
        party: usize,
    },
    /// A hello was not signed by the party for this run.
    #[error("the hello of party {party} does not carry its signature for this run")]
    BadSignature {
        /// Whose hello it should be.
        party: usize,
    },
    /// The hello returned as ours is signed by us but not from this meeting.
    #[error("the hello shown as ours is not of this meeting")]
    NotOurHello,
    /// A body does not open: altered, from another run, or from a party that saw other hellos.
    #[error("what came from party {party} was not sealed for us in this run")]
    NotSealedForUs {
        /// Whose body it should be.
        party: usize,
    },
    /// A party's share does not match its commitment.
    #[error("the share of party {party} is not the one of its commitment")]
    NotTheCommitment {
        /// Whose share it is.
        party: usize,
    },
    /// The operating system provided no randomness for keys.
    #[error("the operating system gave no randomness for the keys of a run")]
    NoRandomness,
}
