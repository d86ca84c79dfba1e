//! Errors, and events while a party waits.

use std::fmt;
use std::io;
use std::time::Duration;
use vesica_core::{Misbehaviour, StopReason, TransportError};
use vesica_link::letters::LetterError;
use vesica_state_folder::FolderError;

/// What a party waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The other side's hello, with which it starts the run.
    Hello,
    /// The other side's coins, sealed for this party.
    Shares,
    /// The other side's object with this number.
    Object(u32),
}

/// How many runs before one were abandoned since the last run that finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The number of runs, at most `max` + 1.
    pub count: u32,
    /// The most that the agreement allows.
    pub max: u32,
}

/// An event in a run through a store.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// This party knows which run it starts or resumes.
    Run {
        /// The number of the run, from 1.
        number: u32,
        /// Whether an earlier process started it.
        has_started: bool,
        /// How many runs before it were abandoned since the last run that finished, as far as this
        /// party knows.
        repeats: Repeats,
    },
    /// The other side knows of more abandoned runs than this party.
    Repeats {
        /// The number of the run.
        number: u32,
        /// How many were abandoned.
        repeats: Repeats,
    },
    /// No object has come from the other side. Reported after a second, then less and less often.
    Waiting {
        /// What this party waits for.
        waiting: Waiting,
        /// How long it has waited.
        after: Duration,
    },
    /// The object that this party waited for has come.
    Arrived,
    /// The connection is lost. The run waits for the next connection.
    Lost(TransportError),
}

/// The name of an object, or of the folder of a run: `6a1f0c9d2b7e4f11-0001/0-hello`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ObjectName {
    bytes: [u8; NAME_MAX_LEN],
    len: u8,
}

/// Maximum bytes of a name: 16 digits and the number of a run, a party, and an id of 32 digits.
const NAME_MAX_LEN: usize = 64;

impl ObjectName {
    /// The first 64 bytes of `name`. The rest is dropped: no object has a longer name.
    pub(crate) fn new(name: &str) -> Self {
        let mut bytes = [0; NAME_MAX_LEN];
        let len = name.floor_char_boundary(NAME_MAX_LEN);
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self { bytes, len: len as u8 }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len.into()]).unwrap_or_default()
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// What is in the place of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActualKind {
    /// A link, a folder, a pipe, a socket or a device.
    NotAFile,
    /// A link, a file or something else in the place of a run's folder.
    NotAFolder,
    /// Something whose length no such object has.
    Length {
        /// Its length.
        bytes: u64,
    },
}

/// Something has the name of an object but is not one. It was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not an object")]
pub struct NotAnObject {
    /// The name.
    pub name: ObjectName,
    /// What has the name.
    pub is: ActualKind,
}

impl NotAnObject {
    /// An error for what is in the place of the object, or of the run's folder, with this name.
    pub fn new(name: &str, is: ActualKind) -> Self {
        Self { name: ObjectName::new(name), is }
    }

    /// The `NotAnObject` that `error` holds, if any.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<NotAnObject> for io::Error {
    fn from(fault: NotAnObject) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, fault)
    }
}

/// The other side has an object of this party that this party's state does not have: the state was
/// restored from an older copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other side has {name}, which is not in the state")]
pub(crate) struct SetBack {
    pub(crate) name: ObjectName,
}

impl From<SetBack> for io::Error {
    fn from(fault: SetBack) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, fault)
    }
}

/// Why a run through a store stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The other side's object did not come in time. The same run can resume later.
    #[error("no object of the other side came within {after:?}")]
    NotYet {
        /// What is missing.
        waiting: Waiting,
        /// How long this process has waited.
        after: Duration,
    },
    /// The store failed.
    #[error("the store: {0}")]
    Store(io::ErrorKind),
    /// The folder of the run cannot be used.
    #[error("the folder of the run cannot be used")]
    Folder(FolderError),
    /// The folder holds a run of another agreement or of another party.
    #[error("the folder holds another run")]
    OfAnother,
    /// This party started the run with another folder, which is not here and may be lost.
    #[error("run {number} was started with another folder")]
    OtherFolder {
        /// The number of the run.
        number: u32,
    },
    /// More runs were abandoned than the agreement allows.
    #[error("{} runs were abandoned, and the agreement allows {}", .0.count, .0.max)]
    TooManyRepeats(Repeats),
    /// The contents of the folder are damaged.
    #[error("the folder is damaged")]
    Damaged,
    /// A message of the meeting is wrong.
    #[error(transparent)]
    Letter(#[from] LetterError),
    /// The other side's object does not open, or is not the one that this party has read before.
    #[error("object {number} of the other side is not the one that belongs there")]
    WrongObject {
        /// Its number.
        number: u32,
    },
    /// The other side sealed an object that no party sends, or sends more than this party keeps
    /// unread.
    #[error("the other side does not follow the protocol: {0}")]
    PeerMisbehaved(Misbehaviour),
    /// The store has an object of this party that this party did not write.
    #[error("the store has object {number} of this party, which this party did not write")]
    ForeignObject {
        /// Its number.
        number: u32,
    },
    /// Something else is in the place of an object.
    #[error(transparent)]
    NotAnObject(#[from] NotAnObject),
    /// The other side has an object of this party that this party's state does not have: the state
    /// is older than what this party has sent.
    #[error("the other side has {name} of this party, and the state does not")]
    SetBack {
        /// The object.
        name: ObjectName,
    },
    /// An object that this party wrote is no longer in the store.
    #[error("object {number} of this party is no longer in the store")]
    Gone {
        /// Its number.
        number: u32,
    },
    /// The other side abandoned the run or ended it.
    #[error("the other side has stopped")]
    Stopped {
        /// Its reason.
        reason: StopReason,
    },
    /// The program, run again from the start, produced other bytes than before.
    #[error("the program, run again from the start, sends other bytes")]
    OtherBytes,
    /// A caller asked to stop.
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
        if let Some(fault) = NotAnObject::of(&error) {
            return fault.into();
        }
        if let Some(SetBack { name }) = error.get_ref().and_then(|held| held.downcast_ref()) {
            return ExchangeError::SetBack { name: *name };
        }
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
