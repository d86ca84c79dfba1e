//! Runs through a store that do not go on.

use crate::words::duration;
use crate::{Message, Speech, Who, stores};
use std::path::Path;
use vesica_agreement::figures::grouped;
use vesica_core::StopReason;
use vesica_link::letters::LetterError;
use vesica_store_session::{ActualKind, ExchangeError, NotAnObject, Repeats, Waiting};

/// A run with `peer` through the store `place`, which has its state in `folder`.
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
                let hint = format!("{again} when {peer} has run: it goes on where it stopped");
                match waiting {
                    Waiting::Hello => format!(
                        "{hint}; if {peer} waits too, it has another agreement (compare the \
                         hashes) or another place"
                    ),
                    _ => hint,
                }
            },
            who: Who::Later,
        },
        ExchangeError::Store(kind) => {
            let Message { error, hint, who } = stores::cause(place, kind);
            let hint = format!("{hint}; then {again}: the run goes on where it stopped");
            Message { error, hint, who }
        }
        ExchangeError::BegunDetached { number } => Message::here(
            format!(
                "run {number} in {place} was begun here before, with another state than {}",
                folder.display()
            ),
            format!(
                "run it where that state is, or with its {}; if it is lost, {new}",
                say.state()
            ),
        ),
        ExchangeError::WrongObject { number } => Message::here(
            format!(
                "message {number} of {peer} in {place} was altered, or is another one than before"
            ),
            format!(
                "ask {peer} whether it wrote there from two places, and who else can write there; \
                 nothing was revealed; to give the run up, {new}"
            ),
        )
        .by(Who::Peers),
        ExchangeError::ForeignObject { number } => Message::here(
            format!("message {number} of this side in {place} is not the one that it wrote"),
            format!(
                "does another process run with a copy of {}? who else can write there? to give \
                 the run up, {new}",
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
                 run goes on where it stopped"
            ),
        ),
        ExchangeError::SetBack { name } => Message::here(
            format!(
                "{peer} has {name} of this side, which is not in {}: the folder is older than \
                 what this side has sent",
                folder.display()
            ),
            format!(
                "was it restored from a backup or a snapshot, or does another process run with a \
                 copy of it? put the newest one back, or {new}"
            ),
        ),
        ExchangeError::Stopped { reason } => Message::here(
            match reason {
                StopReason::Cancelled => format!("{peer} has given this run up"),
                StopReason::Config => {
                    format!("{peer} has given this run up, since it cannot come to a result there")
                }
                _ => format!("{peer} has ended this run"),
            },
            new,
        )
        .by(Who::Peers),
        ExchangeError::TooManyRepeats(Repeats { count, max }) => Message::here(
            format!(
                "{} begun and given up under this agreement without a result, and it allows {}",
                match count {
                    1 => "a run was".to_owned(),
                    count => format!("{count} runs were"),
                },
                match max {
                    0 => "no repeat".to_owned(),
                    1 => "one repeat".to_owned(),
                    max => format!("{max} repeats"),
                },
            ),
            format!(
                "find out with {peer} why they were given up; to go on, agree anew: both sides \
                 need a new agreement file, with another title or a larger max_repeats, and a \
                 new folder for the state, not {}",
                folder.display()
            ),
        ),
        ExchangeError::Gone { number } => Message::here(
            format!("message {number} of this side is not in {place} any more"),
            format!(
                "was the folder mounted anew, or does something remove files there? put the file \
                 back, or {new}"
            ),
        ),
        kind => crate::defect(&kind.to_string(), say),
    }
}

/// A message of the meeting with `peer` that is wrong.
pub(crate) fn letter(peer: &str, kind: LetterError, say: Speech) -> Message {
    let new = format!("add {} for a new run", say.restart());
    match kind {
        LetterError::NoRandomness => Message::here(
            "the operating system gave no randomness for the keys of a run",
            "try again later, or on another machine",
        ),
        kind => Message::here(
            format!("the meeting with {peer} failed: {kind}"),
            format!(
                "somebody has altered what {peer} wrote, or {peer} has another key file or \
                 version; nothing was revealed; {new}, on both sides"
            ),
        )
        .by(Who::Peers),
    }
}
