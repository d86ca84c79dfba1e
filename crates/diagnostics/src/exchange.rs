//! Runs through a store that cannot continue.

use crate::words::duration;
use crate::{Message, Speech, Who, stores};
use std::path::Path;
use vesica_agreement::figures::grouped;
use vesica_core::StopReason;
use vesica_link::letters::LetterError;
use vesica_store_session::{ActualKind, ExchangeError, NotAnObject, Repeats, Waiting};

/// A run with `peer` through the store `place`, whose state is in `folder`.
pub(crate) fn error(
    peer: &str,
    place: &str,
    folder: &Path,
    kind: ExchangeError,
    say: Speech,
) -> Message {
    let again = say.again();
    let new = format!("add {} for a new run", say.restart());
    match kind {
        ExchangeError::NotYet { waiting, after } => Message {
            error: format!(
                "not finished: {} {peer} in {place}{}",
                match waiting {
                    Waiting::Hello => "this run waits for",
                    _ => "this run waits for the next message of",
                },
                match after.as_millis() {
                    0..5000 => String::new(),
                    _ => format!(" (waited {})", duration(after)),
                },
            ),
            hint: {
                let hint = format!("{again} after {peer} has run; the run resumes");
                match waiting {
                    Waiting::Hello => format!(
                        "{hint}; if {peer} is waiting too, its agreement (compare hashes) or its \
                         place differs"
                    ),
                    _ => hint,
                }
            },
            who: Who::Later,
        },
        ExchangeError::Store(kind) => {
            let Message { error, hint, who } = stores::cause(place, kind);
            let hint = format!("{hint}; then {again}: the run resumes");
            Message { error, hint, who }
        }
        ExchangeError::OtherFolder { number } => Message::here(
            format!(
                "this side has already started run {number} in {place}, with another state than {}",
                folder.display()
            ),
            format!(
                "run it where that state is, or give that folder with {}; if it is lost, {new}",
                say.state()
            ),
        ),
        ExchangeError::WrongObject { number } => Message::here(
            format!(
                "message {number} of {peer} in {place} was changed, or differs from an earlier one"
            ),
            format!(
                "ask {peer} whether two of its processes wrote there, and who else can write \
                 there; nothing was revealed; to abandon the run, {new}"
            ),
        )
        .by(Who::Peers),
        ExchangeError::ForeignObject { number } => Message::here(
            format!("message {number} of this side in {place} is not the one that it wrote"),
            format!(
                "does another process run with a copy of {}? who else can write to the store? to \
                 abandon the run, {new}",
                folder.display()
            ),
        ),
        ExchangeError::NotAnObject(NotAnObject { name, is }) => Message::here(
            match is {
                ActualKind::NotAFile => {
                    format!("{name} in {place} is not a file, but a link, a pipe or something else")
                }
                ActualKind::NotAFolder => format!("{name} in {place} is not a folder"),
                ActualKind::Length { bytes } => format!(
                    "{name} in {place} is not a message: its length of {} bytes is wrong",
                    grouped(bytes)
                ),
            },
            format!(
                "it was not read; find out with {peer} who wrote it, remove it, and {again}: the \
                 run resumes"
            ),
        ),
        ExchangeError::SetBack { name } => Message::here(
            format!(
                "{peer} has received {name} of this side, which is not in {}: that folder is \
                 older than what this side has sent",
                folder.display()
            ),
            format!(
                "was it restored from a backup or a snapshot, or does another process run with a \
                 copy of it? restore the newest one, or {new}"
            ),
        ),
        ExchangeError::Stopped { reason } => Message::here(
            match reason {
                StopReason::Cancelled => format!("{peer} abandoned this run"),
                StopReason::Config => {
                    format!("{peer} abandoned this run: it could not produce a result")
                }
                _ => format!("{peer} ended this run"),
            },
            new,
        )
        .by(Who::Peers),
        ExchangeError::TooManyRepeats(Repeats { count, max }) => Message::here(
            format!(
                "{} abandoned without a result; it allows {}",
                match count {
                    1 => "a run under this agreement was".to_owned(),
                    count => format!("{count} runs under this agreement were"),
                },
                match max {
                    0 => "no repeat".to_owned(),
                    1 => "one repeat".to_owned(),
                    max => format!("{max} repeats"),
                },
            ),
            format!(
                "find out with {peer} why they were abandoned; to continue, make a new agreement: \
                 both sides need a new agreement file, with another title or a larger \
                 max_repeats, and a new folder for the state, not {}",
                folder.display()
            ),
        ),
        ExchangeError::Gone { number } => Message::here(
            format!("message {number} of this side is no longer in {place}"),
            format!(
                "check whether the folder was remounted or something deletes files in it; restore \
                 the file, or {new}"
            ),
        ),
        kind => crate::defect(&kind.to_string(), say),
    }
}

/// An invalid message of the handshake with `peer`.
pub(crate) fn letter(peer: &str, kind: LetterError, say: Speech) -> Message {
    let new = format!("add {} for a new run", say.restart());
    match kind {
        LetterError::NoRandomness => Message::here(
            "the operating system gave no randomness for the keys of a run",
            "try again later, or on another machine",
        ),
        kind => Message::here(
            format!("the handshake with {peer} failed: {kind}"),
            format!(
                "what {peer} wrote was changed, or {peer} has another key file or version; \
                 nothing was revealed; {new}, on both sides"
            ),
        )
        .by(Who::Peers),
    }
}
