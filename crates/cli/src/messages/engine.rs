//! Runs that ended without a result.

use super::{
    Message, REPORT_DEFECT, agreement, defect, files, input, link, list, no_memory, no_threads,
};
use crate::failure::code;
use crate::progress::duration;
use std::fmt::Write;
use vesica_core::{Misbehaviour, StopReason, TransportError};
use vesica_engine::agreement::Difference;
use vesica_engine::explain::grouped;
use vesica_engine::{ConfigFault, Error, Incompatible, Phase, TransportFault};
use vesica_link::Endpoint;

/// A run, a check or a benchmark party with a peer at `endpoint`.
pub(super) fn error(error: &Error, endpoint: Option<&Endpoint>) -> Message {
    match error {
        Error::Input(fault) => input::fault(fault),
        Error::Config(fault) => config(fault, endpoint),
        Error::PeerIncompatible(how) => incompatible(how, endpoint),
        Error::PeerMisbehaved { peer, phase, kind } => misbehaved(peer, *phase, kind),
        Error::Transport { peer, phase, kind } => transport(peer, *phase, kind, endpoint),
        Error::Interrupted { phase } => Message {
            error: format!("interrupted while {}", doing(*phase)),
            hint: "no result was written; run again when you like".to_owned(),
            code: code::INTERRUPTED,
        },
        Error::Bug(what) => {
            Message { error: defect(what), hint: REPORT_DEFECT.to_owned(), code: code::BUG }
        }
        error => Message {
            error: defect(&error.to_string()),
            hint: REPORT_DEFECT.to_owned(),
            code: code::BUG,
        },
    }
}

/// The phase after "while".
pub(super) fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Preparing => "preparing",
        Phase::Reading => "reading the input",
        Phase::Connecting => "connecting",
        Phase::Agreeing => "comparing the agreements",
        Phase::Meeting => "meeting the other parties",
        Phase::Sizes => "waiting for the other side's data",
        Phase::Choosing => "choosing the protocol",
        Phase::Matching => "matching",
        Phase::Checking => "checking the result",
        Phase::Writing => "writing the result",
        phase => phase.name(),
    }
}

fn config(fault: &ConfigFault, endpoint: Option<&Endpoint>) -> Message {
    match fault {
        ConfigFault::Agreement(error) => agreement::error(error),
        ConfigFault::Identity(error) => link::identity(error),
        ConfigFault::Link(error) => link::setting(error, endpoint),
        ConfigFault::NotAParty { identity } => Message::here(
            format!("the key file's identity is not a party of the agreement: {identity}"),
            "give the key file that belongs to the agreement, or put this identity into it, on \
             both sides",
        ),
        ConfigFault::Expired { on } => Message::here(
            format!("the agreement expired: its last day was {on}"),
            "agree on a later day, all parties",
        ),
        ConfigFault::Insecure { protocol } => Message::here(
            format!("the agreement names the insecure protocol {protocol:?}"),
            "use protocol = \"auto\" for real data; on made-up data --insecure allows it",
        ),
        ConfigFault::SetTooLarge { items, max } => Message::here(
            format!(
                "a set of {} items, self-check items included, is larger than the {} that the protocol takes",
                grouped(*items),
                grouped(*max)
            ),
            "agree on another protocol, or on `protocol = \"auto\"`",
        ),
        ConfigFault::HashingFailed => Message::here(
            "the keys found no place in the protocol's hash table, which happens once in 2^40 runs",
            "run again; should it happen again, agree on another protocol and report it",
        ),
        ConfigFault::OutOfMemory { items } => Message::here(
            format!("a set of {} items does not fit in this machine's memory", grouped(*items)),
            "a run takes some 40 bytes an item; with hide_sizes every set has max_rows items, so agree \
             on a smaller max_rows",
        ),
        ConfigFault::NoMemory => no_memory(),
        ConfigFault::NoThreads => no_threads(),
        ConfigFault::Scratch { folder, kind } => Message::here(
            format!(
                "intermediate data cannot be kept in {}: {}",
                folder.display(),
                files::cause(*kind)
            ),
            match kind {
                std::io::ErrorKind::InvalidData => {
                    "what is in it is damaged: give --restart, which ends the run for all and begins a \
                     new one"
                }
                kind => files::write_hint(*kind),
            },
        ),
        ConfigFault::StateNotOurs { folder } => Message::here(
            format!("{} has something else in it", folder.display()),
            "give --state a folder of its own; it is made when it is not there",
        ),
        ConfigFault::StateOfAnother { folder } => Message::here(
            format!(
                "in {} an interrupted run of another agreement goes on, or of another party",
                folder.display()
            ),
            "give each agreement and party a folder of its own with --state, or finish that run",
        ),
        ConfigFault::StateInUse { folder } => Message::here(
            format!("another process uses {}: this party runs already", folder.display()),
            "wait for it or end it; another run needs a folder of its own with --state",
        ),
        ConfigFault::OutputMissing { party } => Message::here(
            format!("{party} receives the result, and no --output is given"),
            "add --output FILE, as --output matched.csv",
        ),
        ConfigFault::OutputNotLearned { party } => Message::here(
            format!("{party} does not receive the result, and --output is given"),
            "leave out --output; a --report says what happened",
        ),
        ConfigFault::UnknownKey { given, known } => Message::here(
            format!("--column names {given:?}, which is no key of the agreement"),
            format!("write --column KEY=COLUMN; the agreement's keys are {}", list(known)),
        ),
        fault => Message::here(fault.to_string(), "check the agreement and the command line"),
    }
}

fn incompatible(how: &Incompatible, endpoint: Option<&Endpoint>) -> Message {
    let message = match how {
        Incompatible::Agreement(differences) => Message::here(
            format!("the two sides' agreements differ{}", shown(differences)),
            "nothing was run; settle the fields, and both sides keep the same file",
        ),
        Incompatible::Version { here, there } => Message::here(
            format!("the other side speaks session version {there}, this side {here}"),
            "both sides install the same version: `vesica --version`",
        ),
        Incompatible::Purpose { only_checking_here: true } => Message::here(
            "the other side runs the match; this side only checks",
            "both run `vesica run`, or both `vesica check` with --listen or --connect",
        ),
        Incompatible::Purpose { only_checking_here: false } => Message::here(
            "the other side only checks; this side runs the match",
            "both run `vesica run`, or both `vesica check` with --listen or --connect",
        ),
        Incompatible::Candidates => Message::here(
            "the agreement leaves the protocol open, and the two sides' software does not know the \
             same ones",
            "both sides install the same version: `vesica --version`; or name a protocol in the \
             agreement",
        ),
        Incompatible::Link(error) => link::incompatible(error, endpoint),
        how => Message::here(how.to_string(), "compare versions and settings with the other side"),
    };
    Message { code: code::PEER, ..message }
}

/// One line for each field, the first ones of many.
fn shown(differences: &[Difference]) -> String {
    const MAX_SHOWN: usize = 40;
    let mut text = String::new();
    for Difference { field, here, there } in differences.iter().take(MAX_SHOWN) {
        let value = |value: &Option<String>| match value {
            Some(value) => format!("{value:?}"),
            None => "nothing".to_owned(),
        };
        let _ = write!(text, "\n  {field}: {} here, {} there", value(here), value(there));
    }
    if let Some(more) = differences.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let _ = write!(text, "\n  and {more} more");
    }
    text
}

fn misbehaved(peer: &str, phase: Phase, kind: &Misbehaviour) -> Message {
    let (what, hint) = match kind {
        Misbehaviour::WrongMessageLen { expected, actual } => (
            format!(
                "sent a message of {} bytes where {} were due",
                grouped(*actual),
                grouped(*expected)
            ),
            "both sides need the same version of Vesica; if they have it, the other side runs \
             changed software",
        ),
        Misbehaviour::SelfCheckFailed => (
            "gave a result that failed its self-check".to_owned(),
            "no result was written; if it happens again with unchanged software on both sides, \
             please report it",
        ),
        Misbehaviour::SharedNotProved => (
            "did not prove that its set holds the self-check items".to_owned(),
            "no result was written; if it happens again with unchanged software on both sides, \
             please report it",
        ),
        Misbehaviour::SizeOutsideAgreement { len, min, max } => (
            format!(
                "announced a set of {}, outside the agreed {} to {}",
                grouped(*len),
                grouped(*min),
                grouped(*max)
            ),
            "the other side must keep to the agreement",
        ),
        Misbehaviour::CountsDiffer => (
            "counts another result than this side".to_owned(),
            "no result was written; if it happens again with unchanged software on both sides, \
             please report it",
        ),
        Misbehaviour::CommonMissing => (
            "gave an answer without keys that every party has sent".to_owned(),
            "no result was written; it deceives or is broken: do not simply try again",
        ),
        Misbehaviour::OwnFound => (
            "gave an answer with keys that one party alone has sent".to_owned(),
            "no result was written; it deceives or is broken: do not simply try again",
        ),
        Misbehaviour::CopiesDiffer => (
            "gave an answer with some copies of a key and without others".to_owned(),
            "no result was written; it deceives or is broken: do not simply try again",
        ),
        Misbehaviour::InvalidPoint { .. } => (
            "sent an invalid group element".to_owned(),
            "do not simply try again: the other side runs changed or damaged software",
        ),
        Misbehaviour::InvalidValue => (
            "sent a value that cannot be".to_owned(),
            "both sides need the same version of Vesica; if they have it, the other side runs \
             changed software",
        ),
        Misbehaviour::BrokenFraming => (
            "broke the framing of the session".to_owned(),
            "do not simply try again: the other side runs changed or damaged software",
        ),
        Misbehaviour::Flood => (
            "sent more than the protocol allows".to_owned(),
            "do not simply try again: the other side runs changed or damaged software",
        ),
        kind => (
            format!("broke the protocol: {kind}"),
            "do not simply try again: the other side runs changed or damaged software",
        ),
    };
    Message {
        error: format!("{peer} {what}, while {}", doing(phase)),
        hint: hint.to_owned(),
        code: code::PEER,
    }
}

fn transport(
    peer: &str,
    phase: Phase,
    kind: &TransportFault,
    endpoint: Option<&Endpoint>,
) -> Message {
    let error = match kind {
        TransportFault::Link(error) => return link::transport(error, peer, endpoint),
        TransportFault::Stream(error) => error,
        kind => {
            return Message {
                error: format!("no connection to {peer} while {}: {kind}", doing(phase)),
                hint: "start both sides again".to_owned(),
                code: code::NETWORK,
            };
        }
    };
    let again = "no result was written; start both sides again";
    let (what, hint) = match error {
        TransportError::Closed => (
            format!("{peer} closed the connection"),
            "the other side ended or the network broke: look at its messages, then start both \
             sides again",
        ),
        TransportError::PeerStopped(reason) => stopped(peer, *reason),
        TransportError::CancelledHere => ("the session was ended here".to_owned(), again),
        TransportError::Idle(limit) => (
            format!("nothing came from {peer} for {}", duration(*limit)),
            "the other side or the network stands still; --idle sets the limit, then start both \
             sides again",
        ),
        TransportError::Deadline(limit) => (
            format!("the session with {peer} reached its limit of {}", duration(*limit)),
            "--total sets a longer limit; start both sides again",
        ),
        TransportError::Io(kind) => (format!("the connection to {peer} failed ({kind})"), again),
        TransportError::Tls => (
            format!("the secure channel to {peer} failed"),
            "something between the two sides changes the bytes; start both sides again",
        ),
        TransportError::PeerBrokeFraming | TransportError::PeerFlood => (
            format!("{peer} broke the framing of the session"),
            "both sides need the same version of Vesica",
        ),
        TransportError::AlreadyOpen | TransportError::Poisoned => {
            let error = defect(&format!("{error}, while {}", doing(phase)));
            return Message { error, hint: REPORT_DEFECT.to_owned(), code: code::BUG };
        }
        error => (format!("the connection to {peer} failed: {error}"), again),
    };
    Message {
        error: format!("{what}, while {}", doing(phase)),
        hint: hint.to_owned(),
        code: code::NETWORK,
    }
}

fn stopped(peer: &str, reason: StopReason) -> (String, &'static str) {
    let (why, hint) = match reason {
        StopReason::Cancelled => ("was interrupted there", "start both sides again when it suits"),
        StopReason::Input => (
            "stopped because of its own data",
            "nothing is wrong here; the other side corrects its file, then start both again",
        ),
        StopReason::Config => (
            "stopped because of its own settings",
            "nothing is wrong here; the other side looks at its messages, then start both again",
        ),
        StopReason::Incompatible => (
            "stopped because the two sides' settings differ",
            "both sides compare `vesica agree show` and `vesica --version`",
        ),
        StopReason::Misbehaviour => (
            "stopped because it saw this side break the protocol",
            "look at the other side's message; if both run unchanged software, please report it",
        ),
        StopReason::Timeout => (
            "ran into one of its time limits",
            "this side or the network was too slow: raise --idle or --total there, or look for \
             what held it up",
        ),
        _ => (
            "met an error of its own",
            "look at the other side's message, then start both sides again",
        ),
    };
    (format!("{peer} {why}"), hint)
}
