//! Errors, and what happens while a party waits.

use std::fmt;
use std::io;
use std::time::Duration;
use vesica_core::{Misbehaviour, StopReason, TransportError};
use vesica_link::letters::LetterError;
use vesica_state_folder::FolderError;

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

/// The name of an object, or of the folder of a run: `6a1f0c9d2b7e4f11-0001/0-hello`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ObjectName {
    bytes: [u8; NAME_MAX_LEN],
    len: u8,
}

/// Most bytes of a name: 16 digits and the number of a run, a party, and an id of 32 digits.
const NAME_MAX_LEN: usize = 64;

impl ObjectName {
    /// The name of at most 64 bytes. What follows those is left out: no object has a longer one.
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
    /// A link, a file or something else, in the place of the folder of a run.
    NotAFolder,
    /// Something of a length that such an object does not have.
    Length {
        /// Its length.
        bytes: u64,
    },
}

/// Something has the name of an object, and is none. It was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not an object")]
pub struct NotAnObject {
    /// The name.
    pub name: ObjectName,
    /// What has it.
    pub is: ActualKind,
}

impl NotAnObject {
    /// In the place of the object, or of the folder of a run, with this name.
    pub fn new(name: &str, is: ActualKind) -> Self {
        Self { name: ObjectName::new(name), is }
    }

    /// What such an error holds.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<NotAnObject> for io::Error {
    fn from(fault: NotAnObject) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, fault)
    }
}

/// The other side has an object of this party that this party's state does not know: the state was set back.
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
    BegunDetached {
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
    /// In the place of an object there is something else.
    #[error(transparent)]
    NotAnObject(#[from] NotAnObject),
    /// The other side has an object of this party that this party's state does not know: the state is older than what this
    /// party has sent.
    #[error("the other side has {name} of this party, and the state does not")]
    SetBack {
        /// The object.
        name: ObjectName,
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
