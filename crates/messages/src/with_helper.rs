//! Runs with a helper that ended without a result.

use crate::engine::{self, doing};
use crate::words::{and, duration};
use crate::{Message, Who, files, link};
use std::path::PathBuf;
use std::time::Duration;
use vesica_core::{Refusal, TransportError};
use vesica_engine::agreement::Agreement;
use vesica_engine::{Error, Incompatible, Phase, TransportFault};
use vesica_link::letters::LetterError;
use vesica_link::{Endpoint, LinkError, LinkOptions};

/// What to do when nothing is lost.
const GO_ON: &str = "run the same command again: the run continues where it stopped";

/// What to do when a side does not follow the protocol.
const DECEIT: &str = "nobody gets a result from this run; find out who runs modified or damaged \
                      software before you try again";

/// Why a run with a helper failed, and what its message needs.
#[derive(Debug)]
pub struct Aided {
    /// Why it failed.
    pub what: AidedFailure,
    /// The helper's name.
    pub helper: String,
    /// The helper's address.
    pub address: String,
    /// The folder of the run; `None` for a check.
    pub folder: Option<PathBuf>,
}

/// Why a run with a helper failed.
#[derive(Debug)]
pub enum AidedFailure {
    /// The engine's error.
    Run(Error),
    /// Other parties did not connect in time.
    Absent {
        /// Their names.
        parties: Vec<String>,
        /// How long this party waited for them.
        wait: Duration,
    },
}

impl Aided {
    /// The failure of a run of `agreement` with a helper at the address of `link`; `folder` is the folder of the run,
    /// or `None` for a check.
    pub fn new(
        what: AidedFailure,
        agreement: &Agreement,
        link: &LinkOptions,
        folder: Option<PathBuf>,
    ) -> Self {
        let helper = agreement.helper.as_ref().map_or(String::new(), |helper| helper.name.clone());
        let (Endpoint::Connect(address) | Endpoint::Listen(address)) = link.endpoint.clone();
        Self { what, helper, address, folder }
    }
}

/// A run with a helper that ended without a result.
pub fn error(failure: &Aided) -> Message {
    let error = match &failure.what {
        AidedFailure::Run(error) => error,
        AidedFailure::Absent { parties, wait } => {
            return network(
                format!("{} did not connect within {}", and(parties), duration(*wait)),
                format!("{GO_ON}; --wait sets how long to wait for the others"),
            );
        }
    };
    match error {
        Error::Refused { helper, refusal, party, phase } => {
            refused(failure, helper, *phase, *refusal, party.as_deref())
        }
        Error::Letter { party, kind } => letter(&failure.helper, party.as_deref(), *kind),
        Error::Interrupted { phase } => Message {
            error: format!("interrupted while {}", doing(*phase)),
            hint: match failure.folder {
                Some(_) => {
                    "the same command continues where the run stopped; with --restart it begins a \
                     new run"
                        .to_owned()
                }
                None => "you can run it again at any time".to_owned(),
            },
            who: Who::Nobody,
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
    Message { error, hint: hint.into(), who: Who::Network }
}

fn peer(error: String, hint: impl Into<String>) -> Message {
    Message { error, hint: hint.into(), who: Who::Peers }
}

fn refused(
    failure: &Aided,
    helper: &str,
    phase: Phase,
    refusal: Refusal,
    party: Option<&str>,
) -> Message {
    let party = party.unwrap_or("a party");
    let go_on = if failure.folder.is_some() { GO_ON } else { "try again later" };
    match refusal {
        Refusal::Version => peer(
            format!("{helper} uses another version of the protocol"),
            "install the same version on all sides; `vesica --version` shows it",
        ),
        Refusal::UnknownIdentity => unknown_identity(helper),
        Refusal::NotAParty => Message::here(
            format!("{helper} serves this identity, but it is not a party of this run"),
            "give the key file (--key) that belongs to the agreement",
        ),
        Refusal::BadRun => Message::here(
            format!("{helper} does not accept this run"),
            "the helper's settings must list every party of the agreement with the same identity, \
             and all sides need the same version of Vesica",
        ),
        Refusal::OverLimit => Message::here(
            format!("the run needs more than {helper} allows this party"),
            "the helper limits rows (max_rows of the agreement), runs and connections at once \
             (--threads), and stored bytes: agree on less, or ask its operator to raise the limits \
             in its settings",
        ),
        Refusal::AlreadyThere => Message::here(
            format!("{helper} already has other data of this party for this run"),
            match &failure.folder {
                Some(folder) => format!(
                    "this party runs twice, or has lost its folder {}: end the other process, or \
                     add --restart, which ends the run for all parties and begins a new one",
                    folder.display()
                ),
                None => "this party is already running".to_owned(),
            },
        ),
        Refusal::Malformed { .. } => {
            peer(format!("{helper} reports that {party} sent malformed data"), DECEIT)
        }
        Refusal::OpenedOther { .. } => peer(
            format!("{helper} reports that {party} opened a different list than it had sent"),
            DECEIT,
        ),
        Refusal::OpenedDifferently => {
            peer(format!("{helper} reports that the parties opened different secrets"), DECEIT)
        }
        Refusal::AtOdds => peer(
            format!(
                "{helper} reports that a party's checks would fail with the lists that were opened"
            ),
            DECEIT,
        ),
        Refusal::Broken => network(
            format!("{helper} had an internal error, which ended the run"),
            "ask its operator for the error in its log and report it; then run the same command \
             again, which begins a new run",
        ),
        Refusal::TooFew { .. } => peer(
            format!("{helper} reports that {party} has fewer different keys than agreed"),
            "that party must provide more rows, or all agree on a smaller min_rows for it; then \
             run the same command again, which begins a new run",
        ),
        Refusal::TooLate => network(
            "the run can no longer be ended: both parties have opened their lists".to_owned(),
            "run the same command without --restart, which gets the answer; then begin a new run",
        ),
        Refusal::Ended { .. } => network(
            format!("{party} ended the run while {}", doing(phase)),
            "see the messages of that party; then run the same command again, which begins a new \
             run",
        ),
        Refusal::Expired => network(
            format!("{helper} no longer has this run"),
            format!(
                "another party ended it (by --restart or after a failed check), it took longer \
                 than {helper} keeps runs, or {helper} lost it; run the same command again, which \
                 begins a new run; all other parties must do the same"
            ),
        ),
        Refusal::Storage => network(
            format!("{helper} cannot store the data: its disk is full or faulty"),
            format!("once that is fixed, {go_on}"),
        ),
        Refusal::NoRoom => network(
            format!("{helper} has no room for this run now"),
            format!(
                "other runs use it up, or its disk is nearly full; once a run has ended or there \
                 is more space, {go_on}"
            ),
        ),
        Refusal::TooOften => network(
            format!("this party begins and ends runs at {helper} too often"),
            format!(
                "wait a minute, then {go_on}; the limit is max_runs_a_minute in the helper's \
                 settings"
            ),
        ),
        Refusal::Revoked { .. } => network(
            format!("{helper} no longer serves {party}, so the run is over"),
            "ask the helper's operator; once its settings list that party again, run the same \
             command again, which begins a new run",
        ),
        Refusal::Backend => network(
            format!("the database of {helper} cannot be reached"),
            format!("once it is back, {go_on}"),
        ),
        Refusal::ShuttingDown => {
            network(format!("{helper} is shutting down"), format!("once it is back, {go_on}"))
        }
        _ => network(
            format!("{helper} had an internal error while {}", doing(phase)),
            "ask its operator for the error in its log and report it; then run the same command \
             again, and if it fails again, add --restart",
        ),
    }
}

fn unknown_identity(helper: &str) -> Message {
    Message::here(
        format!("{helper} does not serve this identity"),
        "give the key file that belongs to the agreement; if it is the right one, the helper's \
         settings lack this party: they need [party.NAME] with the identity that `vesica keygen` \
         printed",
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
        LetterError::Malformed { .. } => {
            format!("the message of {party} to the others is malformed")
        }
        LetterError::BadSignature { .. } => {
            format!(
                "the message of {party} to the others does not carry its signature for this run"
            )
        }
        LetterError::NotOurHello => {
            "the others received a message of this party that belongs to another run".to_owned()
        }
        LetterError::NotSealedForUs { .. } => {
            format!("the message of {party} to this party was not encrypted for it in this run")
        }
        LetterError::NotTheCommitment { .. } => {
            format!("{party} opened other random values than it had committed to")
        }
        _ => "a message between the parties is not valid".to_owned(),
    };
    peer(
        format!("{what}; {party} or {helper} changed it"),
        "no key has left this machine; find out who runs modified or damaged software before you \
         try again",
    )
}

fn incompatible(failure: &Aided, error: &LinkError) -> Message {
    let Aided { helper, address, .. } = failure;
    match error {
        LinkError::WrongIdentity { presented } => peer(
            format!("the server at {address} is not {helper}: its identity is {presented}"),
            format!(
                "check the address; if it is right, {helper} uses another key file than the one in \
                 the agreement"
            ),
        ),
        LinkError::RefusedByPeer => unknown_identity(helper),
        LinkError::OwnIdentity => peer(
            format!("the server at {address} uses this party's own identity"),
            format!(
                "give the address of {helper}, and use a different key file (--key) on each side"
            ),
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
                    "is it running? are host and port right? then {go_on}; --wait sets how long to \
                     wait"
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
            format!("received nothing from {helper} for {}", duration(*limit)),
            format!("the helper or the network is stalled; {go_on}"),
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
    network(format!("{what} while {}", doing(phase)), hint)
}
