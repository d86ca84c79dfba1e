//! The first and last messages of a session: versions, the agreement, the sizes, the closing.
//!
//! | message | bytes | content |
//! |---|---|---|
//! | hello | 64 | `vesica`, version, purpose, candidates, agreement hash, software version |
//! | agreement | 4, then its length | the canonical text; only when the hashes differ |
//! | size | 8 | the set's size as announced |
//! | self-check items | 16 each | with private ids: the ids of a side's own self-check items |
//! | closing | 33 | payload bytes counted each way; the receiver's answer, or its hash, when both learn it |
//!
//! The length of the hello never changes, so that any two versions can recognise each other.

use crate::answer::Told;
use crate::error::Incompatible;
use crate::{Error, Phase};
use vesica_agreement::choice;
use vesica_agreement::{Agreement, MAX_FILE_BYTES, PartyTerms};
use vesica_core::{Misbehaviour, Role};
use vesica_net::Context;

/// Version of everything that crosses the wire. Sides of different versions refuse each other.
pub const WIRE_VERSION: u16 = 12;

const HELLO_LEN: usize = 64;
const MAGIC: &[u8; 6] = b"vesica";
const CLOSING_LEN: usize = 33;

/// The purpose of the session for a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run the match over one connection.
    Run,
    /// To run the match over several connections in sequence.
    KeptRun,
    /// To check whether the peer is reachable and has the same agreement.
    Check,
}

impl Purpose {
    const fn code(self) -> u8 {
        match self {
            Purpose::Run => 0,
            Purpose::Check => 1,
            Purpose::KeptRun => 2,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Purpose::Run, Purpose::Check, Purpose::KeptRun].into_iter().find(|one| one.code() == code)
    }
}

/// Compares versions, agreements and purposes with the peer.
pub(crate) fn agree(
    ctx: &mut Context,
    agreement: &Agreement,
    purpose: Purpose,
    peer: &str,
) -> Result<(), Error> {
    let at = |error| Error::from_run(error, Phase::Agreeing, peer);
    let hash = agreement.hash();

    let mut hello = [0; HELLO_LEN];
    hello[..6].copy_from_slice(MAGIC);
    hello[6..8].copy_from_slice(&WIRE_VERSION.to_le_bytes());
    hello[8] = purpose.code();
    hello[9..16].copy_from_slice(&choice::candidates_digest(agreement));
    hello[16..48].copy_from_slice(hash.as_bytes());
    let software = env!("CARGO_PKG_VERSION").as_bytes();
    hello[48..48 + software.len().min(16)].copy_from_slice(&software[..software.len().min(16)]);

    let channel = ctx.peer().map_err(at)?;
    channel.send(&hello).map_err(at)?;
    // Sent before anything here can fail, so that both sides can name what differs.
    channel.finish().map_err(at)?;
    let theirs = channel.recv(HELLO_LEN).map_err(at)?;
    if theirs[..6] != *MAGIC {
        return Err(at(Misbehaviour::InvalidValue.into()));
    }
    let there = u16::from_le_bytes([theirs[6], theirs[7]]);
    if there != WIRE_VERSION {
        return Err(Incompatible::Version { here: WIRE_VERSION, there }.into());
    }
    if theirs[16..48] != *hash.as_bytes() {
        let differences = exchange_agreements(ctx, agreement).map_err(at)?;
        return Err(Incompatible::Agreement(differences).into());
    }
    let of_theirs = Purpose::from_code(theirs[8]);
    if of_theirs.is_none() || (!agreement.is_auto() && theirs[9..16] != hello[9..16]) {
        return Err(at(Misbehaviour::InvalidValue.into()));
    }
    if theirs[9..16] != hello[9..16] {
        return Err(Incompatible::Candidates.into());
    }
    match (purpose, of_theirs) {
        (here, Some(there)) if here == there => Ok(()),
        (Purpose::Check, _) => Err(Incompatible::Purpose { only_checking_here: true }.into()),
        (_, Some(Purpose::Check)) => {
            Err(Incompatible::Purpose { only_checking_here: false }.into())
        }
        (here, _) => Err(Incompatible::State { only_here: here == Purpose::KeptRun }.into()),
    }
}

fn exchange_agreements(
    ctx: &mut Context,
    agreement: &Agreement,
) -> vesica_core::Result<Vec<vesica_agreement::Difference>> {
    let ours = agreement.canonical();
    let channel = ctx.peer()?;
    channel.send(&(ours.len() as u32).to_le_bytes())?;
    channel.send(ours.as_bytes())?;
    let mut len = [0; 4];
    channel.recv_into(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len as u64 > MAX_FILE_BYTES {
        return Err(Misbehaviour::InvalidValue.into());
    }
    let theirs = channel.recv(len)?;
    channel.finish()?;
    let theirs = String::from_utf8(theirs).map_err(|_| Misbehaviour::InvalidValue)?;
    agreement.differences_from(&theirs).map_err(|_| Misbehaviour::InvalidValue.into())
}

/// Sends this side's set size and returns the peer's, checked against its terms. Neither is
/// committed to: a peer that reads before it sends can choose its size by ours (`SECURITY.md`).
pub(crate) fn exchange_sizes(
    ctx: &mut Context,
    own_len: u64,
    terms: &PartyTerms,
    hide_sizes: bool,
) -> vesica_core::Result<u64> {
    let channel = ctx.peer()?;
    channel.send(&own_len.to_le_bytes())?;
    let mut len = [0; 8];
    channel.recv_into(&mut len)?;
    let len = u64::from_le_bytes(len);
    let max = terms.max_items();
    let min = if hide_sizes { max } else { terms.min_rows };
    if !(min..=max).contains(&len) {
        return Err(Misbehaviour::SizeOutsideAgreement { len, min, max }.into());
    }
    Ok(len)
}

/// What a side counted, and reports at the end.
pub(crate) struct Counts {
    /// Payload bytes of the protocol that this side sent.
    pub(crate) sent: u64,
    /// Payload bytes of the protocol that this side received.
    pub(crate) received: u64,
    /// What both sides know of the answer, without self-check items.
    pub(crate) told: Told,
}

impl Counts {
    fn closing(&self, told: Told) -> [u8; CLOSING_LEN] {
        let (kind, number) = match told {
            Told::Nothing => (0, 0),
            Told::Number(number) => (1, number),
            Told::OutsideBounds => (2, 0),
        };
        let mut closing = [0; CLOSING_LEN];
        closing[0] = kind;
        closing[1..9].copy_from_slice(&self.sent.to_le_bytes());
        closing[9..17].copy_from_slice(&self.received.to_le_bytes());
        closing[17..].copy_from_slice(&number.to_le_bytes());
        closing
    }

    /// The closing of the party in `role`. The receiver, which learns first, reports its answer.
    /// The sender has its answer from the receiver, and does not report its own finding.
    fn told_by(&self, role: Role) -> Told {
        match (role, self.told) {
            (Role::Sender, Told::Number(_)) => Told::Nothing,
            (_, told) => told,
        }
    }
}

/// The two sides' closings, not yet compared.
pub(crate) struct Closings {
    expected: [u8; CLOSING_LEN],
    theirs: [u8; CLOSING_LEN],
}

impl Closings {
    /// Compares what the peer counted and found with this side's figures.
    ///
    /// # Errors
    /// [`Misbehaviour::CountsDiffer`].
    pub(crate) fn compare(&self) -> Result<(), Misbehaviour> {
        if self.theirs == self.expected { Ok(()) } else { Err(Misbehaviour::CountsDiffer) }
    }
}

/// Exchanges the closings, by which each side tells the other that it has finished. `role` is this
/// side's.
///
/// Compares nothing: the peer must not see the outcome of the comparison.
pub(crate) fn exchange_closings(
    ctx: &mut Context,
    role: Role,
    counts: &Counts,
) -> vesica_core::Result<Closings> {
    let peer = role.other().ok_or(vesica_core::Error::Bug("a party of two has no peer"))?;
    let mirrored = Counts { sent: counts.received, received: counts.sent, ..*counts };
    let expected = mirrored.closing(counts.told_by(peer));
    let channel = ctx.peer()?;
    channel.send(&counts.closing(counts.told_by(role)))?;
    let mut theirs = [0; CLOSING_LEN];
    channel.recv_into(&mut theirs)?;
    channel.finish()?;
    Ok(Closings { expected, theirs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_bytes_and_the_document_are_of_this_wire_version() {
        let recorded = include_str!("../../../vectors/wire.json");
        let version = format!("\"wire_version\": {WIRE_VERSION},");
        assert!(
            recorded.contains(&version),
            "vectors/wire.json is not of wire version {WIRE_VERSION}: where a protocol sends other \
             bytes, raise the version here, in docs/wire/session.md and in CHANGELOG.md"
        );
        let document = include_str!("../../../docs/wire/session.md");
        assert!(document.contains(&format!("inside the hello (`{WIRE_VERSION}`).")));
        let changelog = include_str!("../../../CHANGELOG.md");
        assert!(changelog.contains(&format!("Wire version {WIRE_VERSION},")));
    }
}
