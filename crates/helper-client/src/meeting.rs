//! The parties meet through the helper, which carries their letters, the messages that they send
//! each other. Together they toss the coins that make their common secret.

use crate::state::State;
use vesica_core::{Misbehaviour, Result, Secret};
use vesica_link::letters::{HELLO_LEN, LETTER_LEN, LetterError, Met, SEAL_LEN, Sealer};
use vesica_link::{Identity, PublicIdentity};
use vesica_protocols::kmrs14::{Board, Kind, Seal, Slot, Spec, Wanted};

const RELAYED_LABEL: &str = "vesica engine 2026 relayed list v1";
const FOUND_LABEL: &str = "vesica engine 2026 relayed answer v1";

/// What all parties know once they have met.
pub struct Common {
    /// The scales that the parties announced: a party's list has at most 2^scale labels.
    pub scales: Vec<u32>,
    /// The secret from their coin toss.
    pub secret: Secret<[u8; 32]>,
}

/// Why a meeting through the helper failed.
pub enum MeetingError {
    /// The connection to the helper failed, or the helper's answers were wrong.
    Run(vesica_core::Error),
    /// A letter from another party, which the helper carried, was wrong.
    Letter(LetterError),
    /// This party's folder of the run could not be used.
    Storage(std::io::Error),
}

impl From<vesica_core::Error> for MeetingError {
    fn from(error: vesica_core::Error) -> Self {
        MeetingError::Run(error)
    }
}

impl From<LetterError> for MeetingError {
    fn from(error: LetterError) -> Self {
        MeetingError::Letter(error)
    }
}

impl From<std::io::Error> for MeetingError {
    fn from(error: std::io::Error) -> Self {
        MeetingError::Storage(error)
    }
}

/// Puts this party's hello, with its `scale`, on the helper's board, waits for the hellos of all
/// other parties, and tosses coins with them.
///
/// The hello has the scale before the signed bytes, for the helper, and within them, for the
/// parties: a helper that changed it could make labels too short.
pub fn meet(
    board: &mut dyn Board,
    spec: &Spec,
    party: u8,
    identity: &Identity,
    state: &State,
    meeting: &vesica_link::letters::Meeting,
    scale: u8,
) -> std::result::Result<Common, MeetingError> {
    let parties = 0..spec.parties.len() as u8;
    let context = spec.id();
    let mut hello = vec![scale];
    hello.extend_from_slice(&meeting.hello(identity, &context, &[scale]));
    board.put(Slot::new(Kind::Hello, party), &hello)?;

    let len = 1 + HELLO_LEN + 1;
    let (mut scales, mut hellos) = (Vec::new(), Vec::new());
    let others = of_others(board, spec, party, Kind::Hello, len)?;
    for (other, body) in parties.zip(others) {
        // The helper was not asked for this party's own hello.
        let mut body = if other == party { hello.clone() } else { body };
        if body.len() != len {
            return Err(LetterError::Malformed { party: usize::from(other) }.into());
        }
        scales.push(u32::from(body.remove(0)));
        hellos.push(body);
    }
    let identities: Vec<_> =
        spec.parties.iter().map(|party| PublicIdentity::from_bytes(party.identity)).collect();
    let met: Met = meeting.meet(usize::from(party), &identities, &context, &hellos, 1)?;
    for (other, scale) in scales.iter().enumerate() {
        if met.note(other).iter().map(|scale| u32::from(*scale)).ne([*scale]) {
            return Err(LetterError::Malformed { party: other }.into());
        }
    }

    let shares = state.shares(|| met.shares())?;
    board.put(Slot::new(Kind::Share, party), &shares)?;
    let most = LETTER_LEN * (spec.parties.len() - 1);
    // The toss does not read the entry of this party, which is empty.
    let bodies = of_others(board, spec, party, Kind::Share, most)?;
    Ok(Common { scales, secret: met.toss(&bodies)? })
}

/// Gets from the helper what the other parties put into their slots of this `kind`, at most
/// `max_len` bytes each, in the order of the parties; an empty entry for `party` itself.
fn of_others(
    board: &mut dyn Board,
    spec: &Spec,
    party: u8,
    kind: Kind,
    max_len: usize,
) -> Result<Vec<Vec<u8>>> {
    let others = (0..spec.parties.len() as u8).filter(|other| *other != party);
    let wanted: Vec<_> = others.map(|other| Wanted::new(Slot::new(kind, other), max_len)).collect();
    let mut bodies = Vec::with_capacity(spec.parties.len());
    board.get_each(&wanted, &mut |_, body| {
        bodies.push(body);
        Ok(())
    })?;
    bodies.insert(usize::from(party), Vec::new());
    Ok(bodies)
}

/// Seals the messages that the two parties of a size-hiding run send each other through the helper.
pub struct Envelopes {
    relayed: Sealer,
    found: Sealer,
}

impl Envelopes {
    /// Envelopes sealed under the parties' common secret.
    pub fn new(secret: &Secret<[u8; 32]>) -> Self {
        let sealer = |label, from| Sealer::new(secret.expose(), label, from);
        Self { relayed: sealer(RELAYED_LABEL, 1), found: sealer(FOUND_LABEL, 0) }
    }

    fn of(&self, kind: Kind) -> &Sealer {
        if kind == Kind::Found { &self.found } else { &self.relayed }
    }
}

impl Seal for Envelopes {
    fn seal(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>> {
        Ok(self.of(kind).seal(part, body))
    }

    fn open(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>> {
        self.of(kind).open(part, body).map_err(|_| Misbehaviour::InvalidValue.into())
    }
}

const _: () = assert!(SEAL_LEN == vesica_protocols::kmrs14::SEAL_LEN);
