//! Errors, and what happens while a party waits.

use std::io;
use std::time::Duration;
use vesica_core::{Misbehaviour, StopReason, TransportError};
use vesica_durable::FolderError;
use vesica_link::letters::LetterError;

/// What a party waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The other side has not begun this run.
    Hello,
    /// Its coins, sealed for us.
    Shares,
    /// Its object with this number.
    Object(u32),
}

/// How many runs before one were given up, since the last one that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// So many, or one more than the most.
    pub count: u32,
    /// The most that the agreement allows.
    pub max: u32,
}

/// What happens in a run through a store.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The run is known.
    Run {
        /// The number, from 1 on.
        number: u32,
        /// Whether an earlier process has begun it.
        has_begun: bool,
        /// How many runs before it were given up, since the last one that came to its end, as this party knows.
        repeats: Repeats,
    },
    /// The other side knows of more runs that were given up.
    Repeats {
        /// The number of the run.
        number: u32,
        /// How many there were.
        repeats: Repeats,
    },
    /// Nothing of the other side is there. Told after a second, and then ever more rarely.
    Waiting {
        /// What this party waits for.
        waiting: Waiting,
        /// Since when.
        after: Duration,
    },
    /// It has come.
    Arrived,
    /// The connection is lost. The run waits for the next one.
    Lost(TransportError),
}

/// Why a run through a store does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The other side's object was not there in time: the same run can go on later.
    #[error("nothing came within {after:?}")]
    NotYet {
        /// What is missing.
        waiting: Waiting,
        /// How long this process has waited.
        after: Duration,
    },
    /// The store failed.
    #[error("the store: {0}")]
    Store(io::ErrorKind),
    /// The folder of the run.
    #[error("the folder of the run cannot be used")]
    Folder(FolderError),
    /// It holds a run of another agreement or of another party.
    #[error("the folder holds another run")]
    OfAnother,
    /// This party has begun the run with another folder, which is not here: somebody may have lost it.
    #[error("run {number} was begun with another folder")]
    BegunElsewhere {
        /// The number of the run.
        number: u32,
    },
    /// More runs were given up than the agreement allows.
    #[error("{} runs were given up, and the agreement allows {}", .0.count, .0.max)]
    TooManyRepeats(Repeats),
    /// What the folder holds is damaged.
    #[error("the folder is damaged")]
    Damaged,
    /// A message of the meeting is not right.
    #[error(transparent)]
    Letter(#[from] LetterError),
    /// The other side's object does not open, or is another one than before.
    #[error("object {number} of the other side is not the one that belongs there")]
    WrongObject {
        /// Its number.
        number: u32,
    },
    /// The other side has sealed an object that no party sends, or it sends more than this party keeps unread.
    #[error("the other side does not follow the protocol: {0}")]
    PeerMisbehaved(Misbehaviour),
    /// There is an object of this party's in the store that it has not written.
    #[error("somebody else has written object {number} of this party")]
    ForeignObject {
        /// Its number.
        number: u32,
    },
    /// An object that this party has written is not in the store any more.
    #[error("object {number} of this party is not there any more")]
    Gone {
        /// Its number.
        number: u32,
    },
    /// The other side has given the run up, or ended it.
    #[error("the other side has stopped")]
    Stopped {
        /// Why.
        reason: StopReason,
    },
    /// This run of the program gives other bytes than the one before it.
    #[error("a run from the start gives other bytes")]
    OtherBytes,
    /// Somebody has asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<FolderError> for ExchangeError {
    fn from(error: FolderError) -> Self {
        ExchangeError::Folder(error)
    }
}

impl ExchangeError {
    /// An error of the store.
    pub(crate) fn store(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => ExchangeError::Cancelled,
            kind => ExchangeError::Store(kind),
        }
    }

    /// An error of a file in the folder of the run.
    pub(crate) fn kept(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => ExchangeError::Damaged,
            _ => ExchangeError::Folder(error.into()),
        }
    }
}
