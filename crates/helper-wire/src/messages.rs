//! The messages, and their bytes.

use vesica_core::Refusal;
use vesica_server_aided::kmrs14::{Kind, MAX_PARTIES, Slot};

const MAGIC: [u8; 6] = *b"vesica";

/// Version of the requests and replies between a party and a helper.
pub const VERSION: u16 = 3;

/// Bytes of an opening, a request and a reply.
pub const HEAD_LEN: usize = 16;

/// Bytes of an answer to an opening.
pub const WELCOME_LEN: usize = 2 + 2 + INSTANCE_LEN + 32;

/// Most bytes of a spec: one of 16 parties has 826.
pub const MAX_SPEC_LEN: usize = 1024;

/// Bytes after a reply that names the parties for which a get waits.
pub const WAITING_LEN: usize = 2 + 32;

/// Most parts of one request: as many as the finest list has segments.
const MAX_PARTS: u32 = 1 << 24;

/// Most bytes of the small kinds of fixed length.
const SMALL_LEN: usize = 64;

const INSTANCE_LEN: usize = 16;

/// Names one run from its start until the helper forgets it: a later run of the same parties under
/// the same agreement has another one. Drawn at random by the helper, public.
pub type Instance = [u8; INSTANCE_LEN];

/// The instance in an opening that knows none.
pub const NO_INSTANCE: Instance = [0; INSTANCE_LEN];

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Takes part in the run.
    TakePart,
    /// Only asks which parties are present.
    Look,
}

/// The first message of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What the connection is for.
    pub purpose: Purpose,
    /// Bytes of the description that follows.
    pub spec_len: usize,
}

impl Opening {
    /// Its bytes.
    pub fn encode(self) -> [u8; HEAD_LEN] {
        let purpose: u16 = match self.purpose {
            Purpose::TakePart => 1,
            Purpose::Look => 2,
        };
        let mut out = [0; HEAD_LEN];
        out[..6].copy_from_slice(&MAGIC);
        out[6..8].copy_from_slice(&VERSION.to_le_bytes());
        out[8..10].copy_from_slice(&purpose.to_le_bytes());
        out[12..].copy_from_slice(&(self.spec_len as u32).to_le_bytes());
        out
    }

    /// Reads [its bytes](Self::encode).
    ///
    /// # Errors
    /// How the other side is refused, or that the bytes are none.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Result<Self, Refusal> {
        let [m @ .., v0, v1, p0, p1, z0, z1, a, b, c, d] = *bytes;
        if m != MAGIC || u16::from_le_bytes([v0, v1]) != VERSION {
            return Err(Refusal::Version);
        }
        let spec_len = u32::from_le_bytes([a, b, c, d]) as usize;
        let purpose = match (u16::from_le_bytes([p0, p1]), [z0, z1]) {
            (1, [0, 0]) => Purpose::TakePart,
            (2, [0, 0]) => Purpose::Look,
            _ => return Err(Refusal::BadRun),
        };
        let fits = spec_len <= MAX_SPEC_LEN;
        fits.then_some(Self { purpose, spec_len }).ok_or(Refusal::BadRun)
    }
}

/// The outcome of an answer or a reply that is still to come.
const NOT_YET: [u8; 2] = [254, 0];

/// The answer to an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Bit i: party i has sent its hello.
    pub present: u16,
    /// The instance of the run.
    pub instance: Instance,
    /// The agreement of another run of the same parties in which another party waits; zeros if
    /// there is none.
    pub other_agreement: [u8; 32],
}

impl Welcome {
    /// A sign that the answer is still to come.
    pub fn not_yet() -> [u8; WELCOME_LEN] {
        let mut out = [0; WELCOME_LEN];
        out[..2].copy_from_slice(&NOT_YET);
        out
    }

    /// Its bytes.
    pub fn encode(outcome: Result<Self, Refusal>) -> [u8; WELCOME_LEN] {
        let mut out = [0; WELCOME_LEN];
        match outcome {
            Ok(welcome) => {
                out[2..4].copy_from_slice(&welcome.present.to_le_bytes());
                out[4..20].copy_from_slice(&welcome.instance);
                out[20..].copy_from_slice(&welcome.other_agreement);
            }
            Err(refusal) => out[..8].copy_from_slice(&refusal.code_and_figures()),
        }
        out
    }

    /// `None` for a sign that the answer is still to come.
    pub fn decode(bytes: &[u8; WELCOME_LEN]) -> Result<Option<Self>, Refusal> {
        let (outcome, rest) = bytes.split_at(2);
        if outcome == NOT_YET {
            return Ok(None);
        }
        if outcome != [0, 0] {
            return Err(Refusal::from_code([outcome[0], outcome[1]]).with_figures(rest));
        }
        let mut welcome = Self {
            present: u16::from_le_bytes([rest[0], rest[1]]),
            instance: NO_INSTANCE,
            other_agreement: [0; 32],
        };
        welcome.instance.copy_from_slice(&rest[2..18]);
        welcome.other_agreement.copy_from_slice(&rest[18..]);
        Ok(Some(welcome))
    }
}

/// A request of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Puts the `len` bytes that follow.
    Put {
        /// Where they belong.
        slot: Slot,
        /// How many.
        len: usize,
    },
    /// Asks whether all puts are stored.
    Sync,
    /// Waits for a slot.
    Get {
        /// Which.
        slot: Slot,
    },
    /// Asks which of the party's own first parts of a kind are filled.
    Filled {
        /// The kind.
        kind: Kind,
        /// How many first parts.
        parts: u32,
    },
    /// The party has everything it needs.
    Done,
    /// Ends the run for all.
    End,
}

/// A request that no party of ours sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRequest;

impl Request {
    /// Its bytes.
    pub fn encode(self) -> [u8; HEAD_LEN] {
        let (op, kind, party, part, len) = match self {
            Request::Put { slot, len } => (1, slot.kind as u8, slot.party, slot.part, len as u64),
            Request::Sync => (2, 0, 0, 0, 0),
            Request::Get { slot } => (3, slot.kind as u8, slot.party, slot.part, 0),
            Request::Filled { kind, parts } => (4, kind as u8, 0, parts, 0),
            Request::Done => (5, 0, 0, 0, 0),
            Request::End => (6, 0, 0, 0, 0),
        };
        let mut out = [0; HEAD_LEN];
        out[..3].copy_from_slice(&[op, kind, party]);
        out[4..8].copy_from_slice(&part.to_le_bytes());
        out[8..].copy_from_slice(&len.to_le_bytes());
        out
    }

    /// Reads [its bytes](Self::encode).
    ///
    /// # Errors
    /// How the other side is refused, or that the bytes are none.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Result<Self, BadRequest> {
        let [op, kind, party, zero, p0, p1, p2, p3, len @ ..] = *bytes;
        let (part, len) = (u32::from_le_bytes([p0, p1, p2, p3]), u64::from_le_bytes(len));
        let is_bare = (kind, party, part, len) == (0, 0, 0, 0);
        let known = Kind::from_code(kind).ok_or(BadRequest);
        let slot = known.map(|kind| Slot::part(kind, party, part));
        let request = match op {
            _ if zero != 0 => return Err(BadRequest),
            1 => {
                let slot = slot?;
                let len = usize::try_from(len).map_err(|_| BadRequest)?;
                (len <= max_len(slot.kind)).then_some(Request::Put { slot, len })
            }
            2 if is_bare => Some(Request::Sync),
            3 if len == 0 => Some(Request::Get { slot: slot? }),
            4 if (party, len) == (0, 0) && part <= MAX_PARTS => {
                Some(Request::Filled { kind: known?, parts: part })
            }
            5 if is_bare => Some(Request::Done),
            6 if is_bare => Some(Request::End),
            _ => None,
        };
        request.ok_or(BadRequest)
    }
}

/// Most bytes of a slot of `kind`, so that neither end allocates more.
pub fn max_len(kind: Kind) -> usize {
    match kind {
        Kind::Hello => Slot::HELLO_MAX_LEN,
        Kind::Share => Slot::SHARE_MAX_LEN,
        Kind::Size | Kind::OuterSecret | Kind::TossShare | Kind::Release => SMALL_LEN,
        _ => Slot::MAX_LEN,
    }
}

/// The head of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Success; this many bytes follow.
    Body(usize),
    /// The get still waits; [`WAITING_LEN`] bytes name the parties.
    Waiting,
    /// The reply is still to come.
    NotYet,
    /// Refused.
    Refused(Refusal),
}

impl Reply {
    /// Its bytes.
    pub fn encode(self) -> [u8; HEAD_LEN] {
        let mut out = [0; HEAD_LEN];
        let (outcome, len) = match self {
            Reply::Body(len) => ([0, 0], len),
            Reply::Waiting => ([255, 0], WAITING_LEN),
            Reply::NotYet => (NOT_YET, 0),
            Reply::Refused(refusal) => {
                out[..8].copy_from_slice(&refusal.code_and_figures());
                (refusal.code(), 0)
            }
        };
        out[..2].copy_from_slice(&outcome);
        out[8..].copy_from_slice(&(len as u64).to_le_bytes());
        out
    }

    /// `None` for bytes that no helper sends.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let [a, b, _, _, _, _, _, _, len @ ..] = *bytes;
        let len = usize::try_from(u64::from_le_bytes(len)).ok()?;
        match ([a, b], len) {
            ([0, 0], len) => (len <= Slot::MAX_LEN).then_some(Reply::Body(len)),
            ([255, 0], WAITING_LEN) => Some(Reply::Waiting),
            (NOT_YET, 0) => Some(Reply::NotYet),
            (code, 0) => Some(Reply::Refused(Refusal::from_code(code).with_figures(&bytes[2..]))),
            _ => None,
        }
    }
}

/// The parties for which a get waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingFor {
    /// Bit i: party i must act first. No bits if the helper computes.
    pub parties: u16,
    /// As in [`Welcome`].
    pub other_agreement: [u8; 32],
}

impl WaitingFor {
    /// Its bytes.
    pub fn encode(&self) -> [u8; WAITING_LEN] {
        let mut out = [0; WAITING_LEN];
        out[..2].copy_from_slice(&self.parties.to_le_bytes());
        out[2..].copy_from_slice(&self.other_agreement);
        out
    }

    /// Reads [its bytes](Self::encode).
    pub fn decode(bytes: &[u8; WAITING_LEN]) -> Self {
        let mut other_agreement = [0; 32];
        other_agreement.copy_from_slice(&bytes[2..]);
        Self { parties: u16::from_le_bytes([bytes[0], bytes[1]]), other_agreement }
    }
}

/// The parties in a set of bits.
pub fn parties_of(bits: u16) -> Vec<u8> {
    (0..MAX_PARTIES as u8).filter(|party| bits >> party & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Excess, Limit};

    #[test]
    fn messages_survive_encoding() {
        for purpose in [Purpose::TakePart, Purpose::Look] {
            let opening = Opening { purpose, spec_len: 826 };
            assert_eq!(Opening::decode(&opening.encode()), Ok(opening));
        }
        let welcome = Welcome { present: 0x8003, instance: [7; 16], other_agreement: [9; 32] };
        assert_eq!(Welcome::decode(&Welcome::encode(Ok(welcome))), Ok(Some(welcome)));
        assert_eq!(Welcome::decode(&Welcome::not_yet()), Ok(None));
        let refused = Welcome::encode(Err(Refusal::Malformed { party: 4 }));
        assert_eq!(Welcome::decode(&refused), Err(Refusal::Malformed { party: 4 }));
        for limit in [Limit::Rows, Limit::Runs, Limit::StoredByParty, Limit::Connections] {
            for (party, allowed) in [(Some(3), 0), (None, Excess::MAX_ALLOWED)] {
                let refusal = Refusal::OverLimit(Excess { party, limit: Some(limit), allowed });
                assert_eq!(Welcome::decode(&Welcome::encode(Err(refusal))), Err(refusal));
                let reply = Reply::Refused(refusal);
                assert_eq!(Reply::decode(&reply.encode()), Some(reply));
            }
        }
        // A value that an older helper sends, and a limit that does not exist.
        let unknown = Refusal::OverLimit(Excess { party: Some(0), limit: None, allowed: 0 });
        let mut bytes = [0; WELCOME_LEN];
        bytes[0] = 6;
        assert_eq!(Welcome::decode(&bytes), Err(unknown));
        bytes[2] = 77;
        assert_eq!(Welcome::decode(&bytes), Err(unknown));
        let slot = Slot::part(Kind::Labels, 15, u32::MAX);
        for request in [
            Request::Put { slot, len: Slot::MAX_LEN },
            Request::Sync,
            Request::Get { slot },
            Request::Filled { kind: Kind::Opened, parts: 1 << 24 },
            Request::Done,
            Request::End,
        ] {
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
        let replies = [Reply::Body(0), Reply::Body(9), Reply::Waiting, Reply::NotYet];
        for reply in replies.into_iter().chain([Reply::Refused(Refusal::Storage)]) {
            assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        }
        let waiting = WaitingFor { parties: 5, other_agreement: [3; 32] };
        assert_eq!(WaitingFor::decode(&waiting.encode()), waiting);
        assert_eq!(parties_of(0x8005), [0, 2, 15]);
    }

    #[test]
    fn other_openings_are_refused() {
        let good = Opening { purpose: Purpose::TakePart, spec_len: 100 }.encode();
        for (at, byte, refusal) in [
            (0, b'V', Refusal::Version),
            (6, 1, Refusal::Version),
            (8, 3, Refusal::BadRun),
            (10, 1, Refusal::BadRun),
            (13, 5, Refusal::BadRun),
        ] {
            let mut bad = good;
            bad[at] = byte;
            assert_eq!(Opening::decode(&bad), Err(refusal), "byte {at}");
        }
    }

    #[test]
    fn a_length_above_the_kinds_limit_is_not_a_request() {
        for kind in Kind::ALL {
            let slot = Slot::new(*kind, 0);
            let len = max_len(*kind);
            assert!(Request::decode(&Request::Put { slot, len }.encode()).is_ok());
            let more = Request::Put { slot, len: len + 1 }.encode();
            assert_eq!(Request::decode(&more), Err(BadRequest));
        }
        assert_eq!(Reply::decode(&Reply::Body(Slot::MAX_LEN + 1).encode()), None);
    }

    #[test]
    fn every_single_byte_is_checked() {
        let requests = [Request::Sync, Request::Done, Request::End];
        for good in requests.map(Request::encode) {
            for at in 1..HEAD_LEN {
                let mut bad = good;
                bad[at] = 1;
                assert_eq!(Request::decode(&bad), Err(BadRequest), "byte {at}");
            }
        }
        let get = Request::Get { slot: Slot::new(Kind::Size, 1) }.encode();
        for at in [0, 1, 3, 8, 15] {
            let mut bad = get;
            bad[at] = 200;
            assert_eq!(Request::decode(&bad), Err(BadRequest), "byte {at}");
        }
    }
}
