//! Runs that ended without a result.

use crate::words::{duration, list};
use crate::{
    Message, Speech, Who, agreement, defect, exchange, files, input, link, no_memory, no_threads,
    stores,
};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use vesica_agreement::Difference;
use vesica_agreement::figures::{bytes, grouped};
use vesica_core::{Misbehaviour, Operation, StopReason, TransportError};
use vesica_engine::{ConfigFault, Error, Incompatible, Phase, TransportFault};
use vesica_link::{Endpoint, PublicIdentity};

/// A run, a check or a benchmark party with a peer at `endpoint`.
pub fn error(error: &Error, endpoint: Option<&Endpoint>, say: Speech) -> Message {
    match error {
        Error::Input(fault) => input::fault(fault, say),
        Error::Config(fault) => config(fault, endpoint, say),
        Error::PeerIncompatible(how) => incompatible(how, endpoint, say),
        Error::PeerMisbehaved { peer, phase, kind } => misbehaved(peer, *phase, kind),
        Error::Transport { peer, phase, kind } => transport(peer, *phase, kind, endpoint, say),
        Error::Interrupted { phase } => Message {
            error: format!("interrupted while {}", doing(*phase)),
            hint: "no result was written; you can run it again at any time".to_owned(),
            who: Who::Nobody,
        },
        Error::Exchange { peer, place, folder, kind } => {
            exchange::error(peer, place, folder, **kind, say)
        }
        Error::Letter { party, kind } => {
            exchange::letter(party.as_deref().unwrap_or("the other side"), *kind, say)
        }
        Error::Bug(what) => defect(what, say),
        error => defect(&error.to_string(), say),
    }
}

/// Intermediate data that cannot be kept in `folder`; `option` names another folder.
pub(crate) fn scratch(folder: &Path, kind: ErrorKind, option: &str, say: Speech) -> Message {
    Message::here(
        format!("intermediate data cannot be kept in {}: {}", folder.display(), files::cause(kind)),
        match kind {
            ErrorKind::InvalidData => format!(
                "its contents are damaged: add {}, which ends the run for all parties and begins a \
                 new one",
                say.restart()
            ),
            ErrorKind::FileTooLarge => format!(
                "raise the limit on the sizes of files (`ulimit -f`), or give more {}",
                say.memory()
            ),
            kind => format!("{} with {option}", files::folder_hint(kind)),
        },
    )
}

/// The phase after "while".
pub(crate) fn doing(phase: Phase) -> &'static str {
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

/// A key file that belongs to no party.
fn not_a_party(
    identity: &PublicIdentity,
    parties: &[(String, PublicIdentity)],
    helper: Option<&str>,
) -> Message {
    if let Some(helper) = helper {
        return Message::here(
            format!("this is the key file of {helper}, the agreement's helper"),
            "give the key file of the party whose rows these are",
        );
    }
    let parties: Vec<String> = parties
        .iter()
        .map(|(name, identity)| format!("{name} has {}", identity.fingerprint()))
        .collect();
    Message::here(
        format!("the identity of this key file belongs to no party in the agreement: {identity}"),
        format!(
            "in the agreement {}: give the key file of one of them, or put this identity into the \
             agreement file of every party",
            parties.join(", ")
        ),
    )
}

fn config(fault: &ConfigFault, endpoint: Option<&Endpoint>, say: Speech) -> Message {
    match fault {
        ConfigFault::Agreement(error) => agreement::error(error),
        ConfigFault::Identity(error) => link::identity(error, say),
        ConfigFault::Link(error) => link::setting(error, endpoint, say),
        ConfigFault::NotAParty { identity, parties, helper } => {
            not_a_party(identity, parties, helper.as_deref())
        }
        ConfigFault::Expired { on } => Message::here(
            format!("the agreement expired: its last day was {on}"),
            "agree on a later day with all parties",
        ),
        ConfigFault::Insecure { protocol } => Message::here(
            format!("the agreement names the insecure protocol {protocol:?}"),
            format!(
                "use protocol = \"auto\" for real data; for made-up data add {}",
                say.insecure()
            ),
        ),
        ConfigFault::SetTooLarge { items, max } => Message::here(
            format!(
                "the set has {} items, self-check items included, and the protocol takes at most \
                 {}",
                grouped(*items),
                grouped(*max)
            ),
            "agree on another protocol, or on `protocol = \"auto\"`",
        ),
        ConfigFault::HashingFailed => Message::here(
            "the keys did not fit into the protocol's hash table, which happens by chance once in \
             2^40 runs, or with ot_phasing_paper and one small set up to once in 56",
            format!(
                "run again, with {} if the run keeps a state; if it happens again, agree on \
                 another protocol",
                say.restart()
            ),
        ),
        ConfigFault::OutOfMemory { items } => Message::here(
            format!("a set of {} items does not fit in this machine's memory", grouped(*items)),
            "a run needs about 40 bytes for each item; with hide_sizes every set has an item for \
             each key that max_rows rows can have, so agree on a smaller max_rows",
        ),
        ConfigFault::NoMemory => no_memory(say),
        ConfigFault::NoThreads => no_threads(say),
        ConfigFault::MemoryTooSmall { least, given } => Message::here(
            format!(
                "{} of memory is too little: one partition of the sets takes {}",
                bytes(*given),
                bytes(*least)
            ),
            format!("give at least that with {}", say.memory()),
        ),
        ConfigFault::Store { place, kind } => stores::cause(place, *kind),
        ConfigFault::ScratchTooSmall { folder, needed, free } => Message::here(
            format!(
                "the run takes about {} for intermediate data, and {} has {} free",
                bytes(*needed),
                folder.display(),
                bytes(*free)
            ),
            format!("choose another folder with {}, or give more {}", say.scratch(), say.memory()),
        ),
        ConfigFault::Scratch { folder, kind } => scratch(folder, *kind, say.scratch(), say),
        ConfigFault::StateNotOurs { folder } => Message::here(
            format!("{} contains other files", folder.display()),
            format!("give {} another folder; it is created if it does not exist", say.state()),
        ),
        ConfigFault::StateOfAnotherUser { folder } => Message::here(
            format!("{} belongs to another user of this machine", folder.display()),
            format!(
                "run {} as that user, if that user started the run; otherwise give {} another \
                 folder, which is created if it does not exist",
                say.program(),
                say.state()
            ),
        ),
        ConfigFault::StateTooOpen { folder, mode } => Message::here(
            format!(
                "other users can enter the state folder {} (mode {mode:03o})",
                folder.display()
            ),
            format!(
                "run `chmod 700 {}` if no other user has changed anything in it; otherwise \
                 remove it and add {}",
                folder.display(),
                say.restart()
            ),
        ),
        ConfigFault::StateReplaceable { folder } => Message::here(
            format!(
                "other users can write to the folder that contains {}, and replace it",
                folder.display()
            ),
            format!(
                "give {} a folder in a place where only you can write, or take that right from \
                 them with chmod go-w",
                say.state()
            ),
        ),
        ConfigFault::StateOfAnother { folder } => Message::here(
            format!(
                "{} belongs to an interrupted run of another agreement or another party",
                folder.display()
            ),
            format!(
                "give each agreement and party its own folder with {}, or finish that run",
                say.state()
            ),
        ),
        ConfigFault::StateInUse { folder } => Message::here(
            format!("another process uses {}: this party is already running", folder.display()),
            format!(
                "wait for that process or end it; for a different run give another folder with {}",
                say.state()
            ),
        )
        // Not a fault: a scheduler calls again.
        .by(Who::Later),
        ConfigFault::OutputMissing { party } => Message::here(
            format!("{party} receives the result, but {} is missing", say.output()),
            format!(
                "add {}, for example {}",
                say.output_file(),
                say.either("--output matched.csv", "`output=\"matched.csv\"`")
            ),
        ),
        ConfigFault::OutputNotLearned { party } => Message::here(
            format!("{party} does not receive the result, but {} is given", say.output()),
            say.either(
                "leave out --output; --report FILE keeps a report of the run",
                "leave out `output=`",
            ),
        ),
        ConfigFault::MarkNotLearned { party } => Message::here(
            format!("{party} does not receive the result, but {} is given", say.mark()),
            format!("leave out {}: only a party that receives rows can mark them", say.mark()),
        ),
        ConfigFault::NoMark { operation } => Message::here(
            format!(
                "{} is only for an intersection, a union and private ids, and the operation is {}",
                say.mark(),
                operation.name()
            ),
            format!("leave out {}", say.mark()),
        ),
        ConfigFault::NoOrder { operation: Operation::Shares } => Message::here(
            format!(
                "{} is only for shares, and this agreement gives what is computed on them",
                say.order(),
            ),
            format!("leave out {}", say.order()),
        ),
        ConfigFault::NoOrder { operation } => Message::here(
            format!(
                "{} is only for shares, and the operation is {}",
                say.order(),
                operation.name()
            ),
            format!("leave out {}", say.order()),
        ),
        ConfigFault::UnknownKey { given, known } => Message::here(
            format!("{} names {given:?}, which is not a key of the agreement", say.column()),
            format!("write {}; keys of the agreement: {}", say.key_column(), list(known)),
        ),
        fault => Message::here(
            fault.to_string(),
            format!("check the agreement and the {}", say.either("command line", "arguments")),
        ),
    }
}

fn incompatible(how: &Incompatible, endpoint: Option<&Endpoint>, say: Speech) -> Message {
    let message = match how {
        Incompatible::Agreement(differences) => Message::here(
            format!("the two sides' agreements differ{}", shown(differences)),
            "nothing was run; agree on the values of these fields, and use the same file on both \
             sides",
        ),
        Incompatible::Version { here, there } => Message::here(
            format!("the other side uses session version {there}, this side {here}"),
            format!("install the same version on both sides; {} shows it", say.version()),
        ),
        Incompatible::Purpose { only_checking_here } => {
            let (there, here) = if *only_checking_here {
                (say.run(), say.check())
            } else {
                (say.check(), say.run())
            };
            Message::here(
                format!("the other side uses {there}, this side {here}"),
                format!(
                    "use {} on both sides, or {} with {} or {} on both sides",
                    say.run(),
                    say.check(),
                    say.listen(),
                    say.connect()
                ),
            )
        }
        Incompatible::State { only_here } => {
            let (with, without) = if *only_here {
                ("this side", "the other one")
            } else {
                ("the other side", "this one")
            };
            Message::here(
                format!(
                    "{with} keeps a state of the run with {}, and {without} does not",
                    say.state()
                ),
                format!("give {} on both sides, or on neither", say.state()),
            )
        }
        Incompatible::Candidates => Message::here(
            "the agreement does not name a protocol, and the two sides have different protocols \
             to choose from",
            format!(
                "install the same version on both sides ({} shows it), or name a protocol in the \
                 agreement",
                say.version()
            ),
        ),
        Incompatible::Link(error) => link::incompatible(error, endpoint, say),
        how => Message::here(how.to_string(), "compare versions and settings with the other side"),
    };
    Message { who: Who::Peers, ..message }
}

/// One line for each field, up to a maximum.
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
                "sent a message of {} bytes instead of {}",
                grouped(*actual),
                grouped(*expected)
            ),
            "both sides need the same version of Vesica; if they have it, the other side runs \
             modified software",
        ),
        Misbehaviour::SelfCheckFailed => (
            "caused a result that failed the self-check".to_owned(),
            "no result was written; start again only with a side that you trust to run unchanged \
             software, and please report it if it happens again",
        ),
        Misbehaviour::SetRefused => (
            "entered a set of another size than it announced, or without the self-check items"
                .to_owned(),
            "no result was written; do not let the other side see that the run ended like this, \
             since a side that runs modified software can make it depend on your keys",
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
            "ask the other side to keep to the agreement",
        ),
        Misbehaviour::CountsDiffer => (
            "counted a different result than this side".to_owned(),
            "no result was written; if it happens again with unchanged software on both sides, \
             please report it",
        ),
        Misbehaviour::CommonMissing => (
            "sent an answer that lacks keys which every party sent".to_owned(),
            "no result was written; the helper cheats or is broken: find out which before you try \
             again",
        ),
        Misbehaviour::OwnFound => (
            "sent an answer with keys that only one party sent".to_owned(),
            "no result was written; the helper cheats or is broken: find out which before you try \
             again",
        ),
        Misbehaviour::CopiesDiffer => (
            "sent an answer with some copies of a key but not all".to_owned(),
            "no result was written; the helper cheats or is broken: find out which before you try \
             again",
        ),
        Misbehaviour::InvalidPoint { .. } => (
            "sent an invalid group element".to_owned(),
            "the other side runs modified or damaged software: find out why before you try again",
        ),
        Misbehaviour::InvalidValue => (
            "sent an invalid value".to_owned(),
            "both sides need the same version of Vesica; if they have it, the other side runs \
             modified software",
        ),
        Misbehaviour::BrokenFraming => (
            "sent bytes that are not valid session messages".to_owned(),
            "the other side runs modified or damaged software: find out why before you try again",
        ),
        Misbehaviour::Flood => (
            "sent more data than the protocol allows".to_owned(),
            "the other side runs modified or damaged software: find out why before you try again",
        ),
        kind => (
            format!("broke the protocol: {kind}"),
            "the other side runs modified or damaged software: find out why before you try again",
        ),
    };
    Message {
        error: format!("{peer} {what} while {}", doing(phase)),
        hint: hint.to_owned(),
        who: Who::Peers,
    }
}

fn transport(
    peer: &str,
    phase: Phase,
    kind: &TransportFault,
    endpoint: Option<&Endpoint>,
    say: Speech,
) -> Message {
    let error = match kind {
        TransportFault::Link(error) => return link::transport(error, peer, endpoint, say),
        TransportFault::Stream(error) => error,
        kind => {
            return Message {
                error: format!("no connection to {peer} while {}: {kind}", doing(phase)),
                hint: "start both sides again".to_owned(),
                who: Who::Network,
            };
        }
    };
    let again = || "no result was written; start both sides again".to_owned();
    let (what, hint) = match error {
        TransportError::Closed => (
            format!("{peer} closed the connection"),
            "the other side ended, or the network failed: look at the other side's messages, then \
             start both sides again"
                .to_owned(),
        ),
        TransportError::PeerStopped(reason) => stopped(peer, *reason, say),
        TransportError::CancelledHere => ("the session was ended here".to_owned(), again()),
        TransportError::Idle(limit) => (
            format!("received nothing from {peer} for {}", duration(*limit)),
            format!(
                "the other side or the network is stalled; {} sets a longer limit; start both \
                 sides again",
                say.idle()
            ),
        ),
        TransportError::Deadline(limit) => (
            format!("the session with {peer} reached its limit of {}", duration(*limit)),
            format!("{} sets a longer limit; start both sides again", say.total()),
        ),
        TransportError::Io(kind) => (format!("the connection to {peer} failed ({kind})"), again()),
        TransportError::Tls => (
            format!("the secure channel to {peer} failed"),
            "something between the two sides changes the data; start both sides again".to_owned(),
        ),
        TransportError::PeerBrokeFraming | TransportError::PeerFlood => (
            format!("{peer} sent bytes that are not valid session messages"),
            "both sides need the same version of Vesica".to_owned(),
        ),
        TransportError::PeerRestarted => (
            format!("the connection to {peer} was lost, and {peer} has started a new run"),
            "this process and the new one of the other side are in different runs: start both \
             sides again"
                .to_owned(),
        ),
        TransportError::AlreadyOpen | TransportError::Poisoned => {
            return defect(&format!("{error} while {}", doing(phase)), say);
        }
        error => (format!("the connection to {peer} failed: {error}"), again()),
    };
    Message { error: format!("{what} while {}", doing(phase)), hint, who: Who::Network }
}

/// The line of progress if a run that keeps a state has lost its connection.
pub fn lost(peer: &str, error: TransportError, say: Speech) -> String {
    match error {
        TransportError::PeerStopped(reason) => {
            let (what, _) = stopped(peer, reason, say);
            format!("{what}; the run waits until {peer} resumes it")
        }
        _ => format!("the connection to {peer} is lost; the run resumes with the next one"),
    }
}

/// The line of progress if a run without a state has lost its connection.
pub fn mending(peer: &str, error: TransportError, wait: Duration, say: Speech) -> String {
    let why = match error {
        TransportError::Idle(limit) => format!("nothing received for {}", duration(limit)),
        TransportError::Io(kind) => files::cause(kind),
        _ => "it was closed".to_owned(),
    };
    let end = say.either("; Ctrl-C ends the run", "");
    let wait = duration(wait);
    format!("the connection to {peer} is lost ({why}); waiting up to {wait} for a new one{end}")
}

fn stopped(peer: &str, reason: StopReason, say: Speech) -> (String, String) {
    let (why, hint) = match reason {
        StopReason::Cancelled => {
            ("was interrupted by its user", "start both sides again at any time".to_owned())
        }
        StopReason::Input => (
            "stopped because of its own data",
            "nothing is wrong on this side; when the other side has corrected its file, start both \
             sides again"
                .to_owned(),
        ),
        StopReason::Config => (
            "stopped because of its own settings",
            "nothing is wrong on this side; when the other side has followed its own error \
             message, start both sides again"
                .to_owned(),
        ),
        StopReason::Incompatible => (
            "stopped because the two sides' settings differ",
            format!("compare `vesica agree show` and {} on both sides", say.version()),
        ),
        StopReason::Misbehaviour => (
            "stopped because it saw this side break the protocol",
            "look at the other side's message; if both run unchanged software, please report it"
                .to_owned(),
        ),
        StopReason::Timeout => (
            "ran into one of its time limits",
            format!(
                "this side or the network was too slow: raise {} or {} on the other side, or find \
                 what caused the delay",
                say.idle(),
                say.total()
            ),
        ),
        _ => (
            "had an internal error",
            "look at the other side's message, then start both sides again".to_owned(),
        ),
    };
    (format!("{peer} {why}"), hint)
}
