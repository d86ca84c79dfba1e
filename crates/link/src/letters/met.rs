//! After all hellos: seals, opens and combines the shares.

use super::LetterError;
use super::aead::{Aead, TAG_LEN};
use super::hello::{Hello, Signer};
use crate::PublicIdentity;
use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey, X25519};
use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ML_KEM_768};
use std::fmt;
use std::sync::Arc;
use vesica_core::Secret;
use vesica_core::hash::derive;
use zeroize::Zeroizing;

const LETTER_LABEL: &str = "vesica link 2026 key of a letter";
const SECRET_LABEL: &str = "vesica link 2026 tossed secret";

const CIPHERTEXT_LEN: usize = 1088;
const SHARE_LEN: usize = 32;

/// Bytes of a share sealed for one party: 1,136. An ML-KEM-768 ciphertext, the share, a tag.
pub const LETTER_LEN: usize = CIPHERTEXT_LEN + SHARE_LEN + TAG_LEN;

/// A party that has seen all hellos of its run.
pub struct Met {
    own: usize,
    context: [u8; 32],
    transcript: [u8; 32],
    share: Arc<Secret<[u8; SHARE_LEN]>>,
    decapsulation: Arc<DecapsulationKey>,
    parties: Vec<PartyState>,
    shares: Vec<u8>,
}

/// This party's knowledge of a party, itself included.
struct PartyState {
    identity: PublicIdentity,
    note: Vec<u8>,
    commitment: Vec<u8>,
    /// The X25519 secret shared with that party; `None` for ourselves.
    agreed: Option<Secret<[u8; 32]>>,
}

impl Met {
    pub(super) fn new(
        own: usize,
        context: [u8; 32],
        transcript: [u8; 32],
        share: Arc<Secret<[u8; SHARE_LEN]>>,
        decapsulation: Arc<DecapsulationKey>,
    ) -> Self {
        let (parties, shares) = (Vec::new(), Vec::new());
        Self { own, context, transcript, share, decapsulation, parties, shares }
    }

    /// Adds the hello of the next party, and seals our share for it.
    pub(super) fn add_party(
        &mut self,
        party: usize,
        identity: PublicIdentity,
        hello: &Hello<'_>,
        key: &PrivateKey,
    ) -> Result<(), LetterError> {
        let (note, commitment) = (hello.note.to_vec(), hello.commitment.to_vec());
        let mut agreed = None;
        if party != self.own {
            let malformed = LetterError::Malformed { party };
            // Refuses the points that would make the secret the same for everybody.
            let theirs = UnparsedPublicKey::new(&X25519, hello.x25519);
            let secret = agreement::agree(key, theirs, malformed, |secret| {
                secret.try_into().map(Secret::new).map_err(|_| malformed)
            })?;
            let theirs = EncapsulationKey::new(&ML_KEM_768, hello.encapsulation);
            let (ciphertext, encapsulated) =
                theirs.map_err(|_| malformed)?.encapsulate().map_err(|_| malformed)?;
            let ciphertext = ciphertext.as_ref();
            let key = self.key(&secret, encapsulated.as_ref(), ciphertext, self.own, party);
            self.shares.extend_from_slice(ciphertext);
            self.shares.extend(key.seal(0, self.share.expose().to_vec()));
            agreed = Some(secret);
        }
        self.parties.push(PartyState { identity, note, commitment, agreed });
        Ok(())
    }

    /// The key of the one letter from `from` to `to`.
    fn key(
        &self,
        agreed: &Secret<[u8; 32]>,
        encapsulated: &[u8],
        ciphertext: &[u8],
        from: usize,
        to: usize,
    ) -> Aead {
        let (from, to) = ((from as u64).to_le_bytes(), (to as u64).to_le_bytes());
        Aead::new(&Secret::new(derive(
            LETTER_LABEL,
            &[agreed.expose(), encapsulated, ciphertext, &self.transcript, &from, &to],
        )))
    }

    /// The note on a party's hello.
    ///
    /// # Panics
    /// If `party` is out of range.
    pub fn note(&self, party: usize) -> &[u8] {
        &self.parties[party].note
    }

    /// Our share, sealed for each other party in order: [`LETTER_LEN`] bytes for each.
    ///
    /// Equal at every call on this value, but another [`Meeting::meet`](super::Meeting::meet) seals
    /// again, with other bytes. A party that may be killed stores these bytes before it sends them,
    /// so that it sends the same after a restart. All sealings open to the same share.
    pub fn shares(&self) -> Vec<u8> {
        self.shares.clone()
    }

    /// Opens what the others sealed for us and computes the run's secret.
    ///
    /// `bodies[i]` is [`shares`](Met::shares) of party `i`. Our own is ignored and may be empty.
    ///
    /// # Errors
    /// [`LetterError::WrongParties`], [`LetterError::Malformed`], [`LetterError::NotSealedForUs`],
    /// [`LetterError::NotTheCommitment`].
    pub fn toss(&self, bodies: &[Vec<u8>]) -> Result<Secret<[u8; 32]>, LetterError> {
        if bodies.len() != self.parties.len() {
            return Err(LetterError::WrongParties);
        }
        let mut shares = Zeroizing::new(Vec::with_capacity(bodies.len() * SHARE_LEN));
        for (party, (body, known)) in bodies.iter().zip(&self.parties).enumerate() {
            match &known.agreed {
                None => shares.extend_from_slice(self.share.expose()),
                Some(agreed) => shares.extend_from_slice(&self.open(party, body, known, agreed)?),
            }
        }
        Ok(Secret::new(derive(SECRET_LABEL, &[&self.transcript, &shares])))
    }

    fn open(
        &self,
        party: usize,
        body: &[u8],
        known: &PartyState,
        agreed: &Secret<[u8; 32]>,
    ) -> Result<Zeroizing<Vec<u8>>, LetterError> {
        if body.len() != (self.parties.len() - 1) * LETTER_LEN {
            return Err(LetterError::Malformed { party });
        }
        // A party has no letter to itself.
        let at = if self.own < party { self.own } else { self.own - 1 };
        let (ciphertext, sealed) = body[at * LETTER_LEN..][..LETTER_LEN].split_at(CIPHERTEXT_LEN);
        let refused = LetterError::NotSealedForUs { party };
        let encapsulated =
            self.decapsulation.decapsulate(Ciphertext::from(ciphertext)).map_err(|_| refused)?;
        let key = self.key(agreed, encapsulated.as_ref(), ciphertext, party, self.own);
        let share = Zeroizing::new(key.open(0, sealed.to_vec()).ok_or(refused)?);
        let committed = Secret::new(share.as_slice().try_into().map_err(|_| refused)?);
        let signer = Signer { context: &self.context, identity: &known.identity };
        if signer.commitment(committed.expose()) != *known.commitment {
            return Err(LetterError::NotTheCommitment { party });
        }
        Ok(share)
    }
}

impl fmt::Debug for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Met")
            .field("own", &self.own)
            .field("parties", &self.parties.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;
    use crate::letters::Meeting;

    const CONTEXT: [u8; 32] = [5; 32];

    /// Two parties that have met, with their meetings and hellos.
    struct Pair {
        parties: [PublicIdentity; 2],
        meetings: [Meeting; 2],
        hellos: [Vec<u8>; 2],
        met: [Met; 2],
    }

    fn pair() -> Pair {
        let identities = [Identity::generate().unwrap(), Identity::generate().unwrap()];
        let meetings = [Meeting::new().unwrap(), Meeting::new().unwrap()];
        let parties = identities.each_ref().map(Identity::public);
        let hellos = [0, 1].map(|i| meetings[i].hello(&identities[i], &CONTEXT, b""));
        let met = [0, 1].map(|i| meetings[i].meet(i, &parties, &CONTEXT, &hellos, 0).unwrap());
        Pair { parties, meetings, hellos, met }
    }

    #[test]
    fn a_party_that_sees_the_other_shares_first_cannot_replace_its_own() {
        let Pair { parties, meetings, hellos, met: [honest, mut cheat] } = pair();
        let toss = |shares| honest.toss(&[Vec::new(), shares]).map(drop);
        assert_eq!(toss(cheat.shares()), Ok(()));
        // It has seen the other's share, and now tries to replace its own.
        cheat.toss(&[honest.shares(), Vec::new()]).unwrap();
        cheat.share = Arc::new(Secret::new([9; SHARE_LEN]));
        cheat.shares.clear();
        cheat.parties.clear();
        let hello = Hello::parse(&hellos[0], 0).unwrap();
        let key = PrivateKey::from_private_key(&X25519, &meetings[1].to_bytes()[..32]).unwrap();
        cheat.add_party(0, parties[0], &hello, &key).unwrap();
        assert_eq!(toss(cheat.shares()), Err(LetterError::NotTheCommitment { party: 1 }));
    }

    #[test]
    fn a_letter_needs_the_agreed_secret_the_encapsulated_one_and_its_direction() {
        let Pair { hellos, met: [honest, other], .. } = pair();
        let theirs = Hello::parse(&hellos[0], 0).unwrap().encapsulation;
        let theirs = EncapsulationKey::new(&ML_KEM_768, theirs).unwrap();
        let (ciphertext, encapsulated) = theirs.encapsulate().unwrap();
        let agreed = other.parties[0].agreed.as_ref().unwrap();
        let letter = |agreed: &Secret<[u8; 32]>, encapsulated: &[u8], from, to| {
            let key = other.key(agreed, encapsulated, ciphertext.as_ref(), from, to);
            let sealed = key.seal(0, other.share.expose().to_vec());
            let body = [ciphertext.as_ref(), &sealed].concat();
            honest.toss(&[Vec::new(), body]).map(drop)
        };
        let refused = Err(LetterError::NotSealedForUs { party: 1 });
        assert_eq!(letter(agreed, encapsulated.as_ref(), 1, 0), Ok(()));
        assert_eq!(letter(&Secret::new([0; 32]), encapsulated.as_ref(), 1, 0), refused);
        assert_eq!(letter(agreed, &[0; 32], 1, 0), refused);
        assert_eq!(letter(agreed, encapsulated.as_ref(), 0, 1), refused);
    }
}
