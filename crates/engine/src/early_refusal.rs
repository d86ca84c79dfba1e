//! Tells the peer that this side cannot take part, before a session is established.
//!
//! The peer learns whose fault it is, as [`StopReason`] says, and nothing of the input: the message
//! depends on this side's files and settings alone, and on nothing that the peer has sent.

use crate::participants::Participants;
use crate::peer::WORD_LIMIT;
use vesica_agreement::Agreement;
use vesica_core::StopReason;
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, establish};

/// Connects only to report that the run failed before it began. Takes at most a few seconds.
///
/// Without this the peer would wait until its time limit. The function does nothing with a helper
/// or a store, if the key belongs to no party, if the port cannot be known, or if the peer cannot
/// be reached.
pub fn leave_word(
    agreement: &Agreement,
    identity: &Identity,
    link: &LinkOptions,
    reason: StopReason,
    cancel: &CancelToken,
) {
    // A run with a helper or a store lets the other parties wait for one that comes later.
    if agreement.helper.is_some() || matches!(link.endpoint, Endpoint::Store(_)) {
        return;
    }
    let Ok(participants) = Participants::find(agreement, identity) else { return };
    let unknown_port = match &link.endpoint {
        Endpoint::Listen(address) => address.ends_with(":0"),
        Endpoint::Connect(_) | Endpoint::Store(_) => false,
    };
    if unknown_port {
        return;
    }
    let peer = agreement.peer_of(&participants.party).identity;
    let link = LinkOptions { wait: link.wait.min(WORD_LIMIT), ..link.clone() };
    if let Ok(session) = establish(identity, &[peer], &link, &|_| (), cancel) {
        session.stop(reason);
    }
}
