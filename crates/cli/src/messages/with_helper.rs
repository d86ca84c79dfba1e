//! Runs with a helper that ended without a result.

use super::engine::{self, doing};
use super::{Message, and, files, link};
use crate::failure::{Aided, AidedFailure, code};
use crate::progress::duration;
use vesica_core::{Refusal, TransportError};
use vesica_engine::{Error, Incompatible, Phase, TransportFault};
use vesica_link::letters::LetterError;
use vesica_link::{Endpoint, LinkError};

/// What to do when nothing is lost.
const GO_ON: &str = "run the same command again: the run goes on where it was";

/// What to do when somebody does not keep to the protocol.
const DECEIT: &str = "nobody gets a result of it; find out who runs changed or damaged software \
                      before you try again";

pub(super) fn error(failure: &Aided) -> Message {
    let error = match &failure.what {
        AidedFailure::Run(error) => error,
        AidedFailure::Absent { parties, wait } => {
            return network(
                format!("{} did not come within {}", and(parties), duration(*wait)),
                format!("{GO_ON}; --wait sets how long the others are waited for"),
            );
        }
    };
    match error {
        Error::Refused { helper, refusal, party, phase } => {
            refused(failure, (helper, *phase), *refusal, party.as_deref())
        }
        Error::Letter { party, kind } => letter(&failure.helper, party.as_deref(), *kind),
        Error::Interrupted { phase } => Message {
            error: format!("interrupted while {}", doing(*phase)),
            hint: match failure.folder {
                Some(_) => {
                    "the same command goes on where it was; with --restart it begins a new run"
                        .to_owned()
                }
                None => "run again when you like".to_owned(),
            },
            code: code::INTERRUPTED,
        },
        Error::PeerIncompatible(Incompatible::Link(error)) => incompatible(failure, error),
        Error::Transport { peer, phase, kind } => transport(failure, peer, *phase, kind),
        error => engine::error(error, Some(&endpoint(failure))),
    }
}

fn endpoint(failure: &Aided) -> Endpoint {
    Endpoint::Connect(failure.address.clone())
}

fn network(error: String, hint: impl Into<String>) -> Message {
    Message { error, hint: hint.into(), code: code::NETWORK }
}

fn peer(error: String, hint: impl Into<String>) -> Message {
    Message { error, hint: hint.into(), code: code::PEER }
}

fn refused(
    failure: &Aided,
    (helper, phase): (&str, Phase),
    refusal: Refusal,
    party: Option<&str>,
) -> Message {
    let party = party.unwrap_or("a party");
    let go_on = if failure.folder.is_some() { GO_ON } else { "try again later" };
    match refusal {
        Refusal::Version => peer(
            format!("{helper} speaks another version of the protocol"),
            "all sides install the same version: `vesica --version`",
        ),
        Refusal::Stranger => stranger(helper),
        Refusal::NotAParty => Message::here(
            format!("{helper} knows this identity, but not as a party of this run"),
            "give the key file (--key) that belongs to the agreement",
        ),
        Refusal::BadRun => Message::here(
            format!("{helper} does not take this run"),
            "its settings must name every party of the agreement, with the same identity; and all \
             sides need the same version of Vesica",
        ),
        Refusal::OverLimit => Message::here(
            format!("the run asks for more than {helper} allows this party"),
            "it limits rows (the agreement's max_rows), runs and connections at once (--threads), and \
             bytes kept: agree on less, or have the limits in its settings raised",
        ),
        Refusal::AlreadyThere => Message::here(
            format!("{helper} already has other data of this party for this run"),
            match &failure.folder {
                Some(folder) => format!(
                    "this party runs twice, or has lost its folder {}: end the other one, or give \
                     --restart, which ends the run for all and begins a new one",
                    folder.display()
                ),
                None => "this party runs already".to_owned(),
            },
        ),
        Refusal::Malformed { .. } => {
            peer(format!("{helper} says that what {party} sent is malformed"), DECEIT)
        }
        Refusal::OpenedOther { .. } => {
            peer(format!("{party} opened another list than it had sent, says {helper}"), DECEIT)
        }
        Refusal::OpenedDifferently => {
            peer(format!("the parties opened different secrets, says {helper}"), DECEIT)
        }
        Refusal::AtOdds => peer(
            format!("with the lists that were opened a party's checks would fail, says {helper}"),
            DECEIT,
        ),
        Refusal::Broken => network(
            format!("{helper} met a defect of its own, which ended the run"),
            "whoever runs it finds it in its log, for you to report; then run the same command again, which \
             begins a new run",
        ),
        Refusal::TooFew { .. } => peer(
            format!("{party} brought fewer different keys than was agreed, says {helper}"),
            "that party brings more rows, or all agree on a smaller min_rows for it; then run the same \
             command again, which begins a new run",
        ),
        Refusal::TooLate => network(
            "the run cannot be ended any more: both parties have opened their lists".to_owned(),
            "give the same command without --restart, which gets the answer; then begin a new run",
        ),
        Refusal::Ended { .. } => network(
            format!("{party} ended the run, while {}", doing(phase)),
            "look at that party's messages; then run the same command again, which begins a new run",
        ),
        Refusal::Expired => network(
            format!("{helper} does not know this run any more"),
            format!(
                "another party ended it (--restart, or a check that failed), it took longer than {helper} \
                 keeps runs, or {helper} lost it; run the same command again, which begins a new one: so \
                 must all other parties"
            ),
        ),
        Refusal::Storage => network(
            format!("{helper} cannot keep the data: its disk is full or fails"),
            format!("once that is mended, {go_on}"),
        ),
        Refusal::NoRoom => network(
            format!("{helper} has no room for this run now"),
            format!(
                "other runs take it, or its disk is nearly full; once one of them is over, or there is more, {go_on}"
            ),
        ),
        Refusal::Revoked { .. } => network(
            format!("{helper} no longer serves {party}, so the run is over"),
            "ask whoever runs it; once its settings name that party again, run the same command again, which begins \
             a new run",
        ),
        Refusal::Backend => network(
            format!("the database that {helper} uses is not there"),
            format!("once it is back, {go_on}"),
        ),
        Refusal::ShuttingDown => {
            network(format!("{helper} is shutting down"), format!("once it is back, {go_on}"))
        }
        _ => network(
            format!("{helper} met a defect of its own, while {}", doing(phase)),
            "whoever runs it finds it in its log, for you to report; then run the same command again, and should \
             it stay so, with --restart",
        ),
    }
}

fn stranger(helper: &str) -> Message {
    Message::here(
        format!("{helper} does not serve this identity"),
        "give the key file that belongs to the agreement; if it does, the helper's settings lack this \
         party: [party.NAME] with the identity that `vesica keygen` printed",
    )
}

fn letter(helper: &str, party: Option<&str>, kind: LetterError) -> Message {
    if kind == LetterError::NoRandomness {
        return Message::here(
            "the operating system gave no randomness for the keys of a run",
            "try again later, or on another machine",
        );
    }
    let party = party.unwrap_or("a party");
    let what = match kind {
        LetterError::Malformed { .. } => format!("what {party} says to the others is malformed"),
        LetterError::BadSignature { .. } => {
            format!("what {party} says to the others does not bear its signature for this run")
        }
        LetterError::NotOurHello => {
            "what others are shown as this party's words was said for another run".to_owned()
        }
        LetterError::NotSealedForUs { .. } => {
            format!("what {party} says to this party was not sealed for it in this run")
        }
        LetterError::NotTheCommitment { .. } => {
            format!("{party} tossed other coins than it had committed itself to")
        }
        _ => "what the parties say to each other is not in order".to_owned(),
    };
    peer(
        format!("{what}; {party} or {helper} changed it"),
        "no key has left this machine; find out who runs changed or damaged software before you try \
         again",
    )
}

fn incompatible(failure: &Aided, error: &LinkError) -> Message {
    let Aided { helper, address, .. } = failure;
    match error {
        LinkError::WrongIdentity { presented } => peer(
            format!("what answers at {address} is not {helper}: its identity is {presented}"),
            format!(
                "make sure of the address; if it is {helper}, it uses another key file than the \
                 agreement names"
            ),
        ),
        LinkError::RefusedByPeer => stranger(helper),
        LinkError::OwnIdentity => peer(
            format!("what answers at {address} uses our own identity"),
            format!("give the address of {helper}, and each side its own key file (--key)"),
        ),
        error => link::incompatible(error, Some(&endpoint(failure))),
    }
}

fn transport(failure: &Aided, helper: &str, phase: Phase, kind: &TransportFault) -> Message {
    let address = &failure.address;
    let go_on = if failure.folder.is_some() { GO_ON } else { "try again later" };
    let (what, hint) = match kind {
        TransportFault::Link(LinkError::NoPeer { waited, last }) => {
            let why =
                last.as_deref().map_or(String::new(), |last| format!(": {}", link::reason(last)));
            return network(
                format!(
                    "{helper} could not be reached at {address} within {}{why}",
                    duration(*waited)
                ),
                format!(
                    "is it running? are host and port right? then {go_on}; --wait waits longer"
                ),
            );
        }
        TransportFault::Link(error) => {
            return network(
                format!("no connection to {helper} at {address}: {}", link::reason(error)),
                format!("check the address, and that the helper is running; then {go_on}"),
            );
        }
        TransportFault::Stream(TransportError::Deadline(limit)) => (
            format!("{helper} could not be reached for {}", duration(*limit)),
            format!("--wait and --total set the limits; {go_on}"),
        ),
        TransportFault::Stream(TransportError::Idle(limit)) => (
            format!("nothing came from {helper} for {}", duration(*limit)),
            format!("it or the network stands still; {go_on}"),
        ),
        TransportFault::Stream(TransportError::Io(kind)) => (
            format!("the connection to {helper} failed: {}", files::cause(*kind)),
            go_on.to_owned(),
        ),
        TransportFault::Stream(_) => {
            (format!("the connection to {helper} was lost"), go_on.to_owned())
        }
        kind => (format!("no connection to {helper}: {kind}"), go_on.to_owned()),
    };
    network(format!("{what}, while {}", doing(phase)), hint)
}
