//! Runs with a helper that ended without a result.

use crate::engine::{self, doing};
use crate::words::{and, duration};
use crate::{Message, Speech, Who, files, link};
use std::path::PathBuf;
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_agreement::figures::grouped;
use vesica_core::{Excess, Limit, Refusal, TransportError};
use vesica_engine::{ConfigFault, Error, Incompatible, Phase, TransportFault};
use vesica_link::letters::LetterError;
use vesica_link::{Endpoint, LinkError, LinkOptions};

/// What to do if the run can continue.
fn continue_it(say: Speech) -> String {
    format!("{}: the run continues where it stopped", say.again())
}

/// What to do when a side does not follow the protocol.
const DECEIT: &str = "no party gets a result from this run; find out who runs modified or damaged \
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
    /// The failure of a run of `agreement` with a helper at the address of `link`; `folder` is the
    /// folder of the run, or `None` for a check.
    pub fn new(
        what: AidedFailure,
        agreement: &Agreement,
        link: &LinkOptions,
        folder: Option<PathBuf>,
    ) -> Self {
        let helper = agreement.helper.as_ref().map_or(String::new(), |helper| helper.name.clone());
        let (Endpoint::Connect(address) | Endpoint::Listen(address) | Endpoint::Store(address)) =
            link.endpoint.clone();
        Self { what, helper, address, folder }
    }
}

/// A run with a helper that ended without a result.
pub fn error(failure: &Aided, say: Speech) -> Message {
    let error = match &failure.what {
        AidedFailure::Run(error) => error,
        AidedFailure::Absent { parties, wait } => {
            return network(
                format!("{} did not connect within {}", and(parties), duration(*wait)),
                format!(
                    "{}; {} sets how long to wait for the others",
                    continue_it(say),
                    say.wait()
                ),
            );
        }
    };
    match error {
        Error::Refused { helper, refusal, party, phase } => {
            refused(failure, helper, *phase, *refusal, party.as_deref(), say)
        }
        Error::Letter { party, kind } => letter(&failure.helper, party.as_deref(), *kind),
        Error::Interrupted { phase } => Message {
            error: format!("interrupted while {}", doing(*phase)),
            hint: match failure.folder {
                Some(_) => format!(
                    "the same {} continues where the run stopped; with {} it begins a new run",
                    say.either("command", "call"),
                    say.restart()
                ),
                None => "you can run it again at any time".to_owned(),
            },
            who: Who::Nobody,
        },
        Error::Config(ConfigFault::Scratch { folder, kind })
            if failure.folder.as_ref() == Some(folder) =>
        {
            engine::scratch(folder, *kind, say.state(), say)
        }
        Error::PeerIncompatible(Incompatible::Link(error)) => incompatible(failure, error, say),
        Error::Transport { peer, phase, kind } => transport(failure, peer, *phase, kind, say),
        error => engine::error(error, Some(&endpoint(failure)), say),
    }
}

/// What to do once the cause of the failure is gone.
fn go_on(failure: &Aided, say: Speech) -> String {
    match failure.folder {
        Some(_) => continue_it(say),
        None => "try again later".to_owned(),
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

/// A limit of the helper's settings; `party` is the one that it is for, if it is not the reader.
fn over_limit(helper: &str, excess: Excess, party: Option<&str>, say: Speech) -> Message {
    let allowed = grouped(excess.allowed);
    let of_whom = party.unwrap_or("this party");
    let raise = match excess.limit {
        Some(limit) => format!("ask the operator of {helper} to raise {}", limit.setting()),
        None => format!("ask the operator of {helper} to raise its limits"),
    };
    let (error, hint) = match excess.limit {
        Some(Limit::Rows) => (
            format!(
                "{helper} allows at most {allowed} rows of {of_whom}, fewer than the agreement"
            ),
            format!("all parties agree on a smaller max_rows of {of_whom}, or {raise} for it"),
        ),
        Some(Limit::Runs) => (
            format!("{helper} allows {of_whom} at most {allowed} unfinished runs at once"),
            format!("finish or end another run, or {raise} for {of_whom}"),
        ),
        Some(Limit::Connections) => (
            format!("{helper} allows {of_whom} at most {allowed} connections at once"),
            format!(
                "end other runs of this party, use fewer connections ({}), or {raise}",
                say.threads()
            ),
        ),
        Some(Limit::StoredByParty) => (
            format!(
                "the run would store more than the {allowed} MiB that {helper} allows {of_whom}"
            ),
            format!("all parties agree on fewer rows, or {raise} for {of_whom}"),
        ),
        Some(Limit::StoredByAll) => (
            format!(
                "the run would store more than the {allowed} MiB that {helper} has for all runs"
            ),
            format!("all parties agree on fewer rows, or {raise}"),
        ),
        None => (
            format!("the run needs more than {helper} allows"),
            format!("all parties agree on fewer rows, or {raise}"),
        ),
    };
    Message::here(error, hint)
}

fn refused(
    failure: &Aided,
    helper: &str,
    phase: Phase,
    refusal: Refusal,
    party: Option<&str>,
    say: Speech,
) -> Message {
    if let Refusal::OverLimit(excess) = refusal {
        return over_limit(helper, excess, party, say);
    }
    let party = party.unwrap_or("a party");
    let (go_on, again) = (go_on(failure, say), say.again());
    match refusal {
        Refusal::Version => peer(
            format!("{helper} uses another version of the protocol"),
            format!("install the same version on all sides; {} shows it", say.version()),
        ),
        Refusal::UnknownIdentity => unknown_identity(helper),
        Refusal::NotAParty => Message::here(
            format!("{helper} serves this identity, but it is not a party of this run"),
            format!("give the key file ({}) that belongs to the agreement", say.key()),
        ),
        Refusal::BadRun => Message::here(
            format!("{helper} does not accept this run"),
            "the helper's settings must list every party of the agreement with the same identity, \
             and all sides need the same version of Vesica",
        ),
        Refusal::AlreadyThere => Message::here(
            format!("{helper} already has other data of this party for this run"),
            match &failure.folder {
                Some(folder) => format!(
                    "this party runs twice, or has lost its folder {}: end the other process, or \
                     add {}, which ends the run for all parties and begins a new one",
                    folder.display(),
                    say.restart()
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
                "{helper} reports that a party's checks would fail for the lists that were opened"
            ),
            DECEIT,
        ),
        Refusal::Broken => network(
            format!("{helper} had an internal error, which ended the run"),
            format!(
                "ask its operator for the error in its log and report it; then {again}, which \
                 begins a new run"
            ),
        ),
        Refusal::TooFew { .. } => peer(
            format!("{helper} reports that {party} has fewer different keys than agreed"),
            format!(
                "that party must provide more rows, or all agree on a smaller min_rows for it; \
                 then {again}, which begins a new run"
            ),
        ),
        Refusal::TooLate => network(
            "the run can no longer be ended: both parties have opened their lists".to_owned(),
            format!(
                "{} without {}, which gets the answer; then begin a new run",
                say.either("run the same command", "make the same call"),
                say.restart()
            ),
        ),
        Refusal::Ended { .. } => network(
            format!("{party} ended the run while {}", doing(phase)),
            format!("see the messages of that party; then {again}, which begins a new run"),
        ),
        Refusal::Expired => network(
            format!("{helper} no longer has this run"),
            format!(
                "another party ended it (by {} or after a failed check), it took longer than \
                 {helper} keeps runs, or {helper} lost it; {again}, which begins a new run; all \
                 other parties must do the same",
                say.restart()
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
            format!("{helper} no longer serves {party}, so the run has ended"),
            format!(
                "ask the helper's operator; once its settings list that party again, {again}, \
                 which begins a new run"
            ),
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
            format!(
                "ask its operator for the error in its log and report it; then {again}, and if it \
                 fails again, add {}",
                say.restart()
            ),
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
            format!("{party} opened random values that differ from its commitment")
        }
        _ => "a message between the parties is not valid".to_owned(),
    };
    peer(
        format!("{what}; {party} or {helper} changed it"),
        "no key has left this machine; find out who runs modified or damaged software before you \
         try again",
    )
}

fn incompatible(failure: &Aided, error: &LinkError, say: Speech) -> Message {
    let Aided { helper, address, .. } = failure;
    match error {
        LinkError::WrongIdentity { presented } => peer(
            format!("the server at {address} is not {helper}: its identity is {presented}"),
            format!(
                "verify first: it may be an impostor. Check the address, and ask the operator of \
                 {helper} over a channel that you trust which key file it uses"
            ),
        ),
        LinkError::RefusedByPeer => unknown_identity(helper),
        LinkError::OwnIdentity => peer(
            format!("the server at {address} uses this party's own identity"),
            format!(
                "give the address of {helper}, and use a different key file ({}) on each side",
                say.key()
            ),
        ),
        error => link::incompatible(error, Some(&endpoint(failure)), say),
    }
}

fn transport(
    failure: &Aided,
    helper: &str,
    phase: Phase,
    kind: &TransportFault,
    say: Speech,
) -> Message {
    let address = &failure.address;
    let go_on = go_on(failure, say);
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
                    "is it running? are host and port right? then {go_on}; {} sets how long to \
                     wait",
                    say.wait()
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
            format!("{} and {} set the limits; {go_on}", say.wait(), say.total()),
        ),
        TransportFault::Stream(TransportError::Idle(limit)) => (
            format!("received nothing from {helper} for {}", duration(*limit)),
            format!("the helper or the network is stalled; {go_on}"),
        ),
        TransportFault::Stream(TransportError::Io(kind)) => {
            (format!("the connection to {helper} failed: {}", files::cause(*kind)), go_on)
        }
        TransportFault::Stream(_) => (format!("the connection to {helper} was lost"), go_on),
        kind => (format!("no connection to {helper}: {kind}"), go_on),
    };
    network(format!("{what} while {}", doing(phase)), hint)
}
