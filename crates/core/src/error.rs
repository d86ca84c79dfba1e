//! Errors below the engine. The variant says who must act.

use crate::Refusal;
use std::io;
use std::time::Duration;

/// [`Result`](std::result::Result) with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a protocol run. No variant carries an item, a key or a free-form text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's parameters are unusable.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A check on what the peer sent failed. Never retried.
    #[error("the peer broke the protocol: {0}")]
    PeerMisbehaved(#[from] Misbehaviour),
    /// The connection failed or was ended.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The helper refused, or cannot continue.
    #[error("the helper refused: {0}")]
    Refused(#[from] Refusal),
    /// Intermediate data on this machine could not be written or read.
    #[error("intermediate data could not be stored ({0})")]
    Storage(io::ErrorKind),
    /// A defect of Vesica.
    #[error("internal error: {0}")]
    Bug(&'static str),
}

impl Error {
    /// The reason that the peer learns when this error ends the session.
    pub fn stop_reason(&self) -> StopReason {
        match self {
            Error::Parameter(ParameterError::HashingFailed | ParameterError::NoThreads) => {
                StopReason::Internal
            }
            Error::Parameter(_) => StopReason::Config,
            Error::PeerMisbehaved(_)
            | Error::Transport(TransportError::PeerBrokeFraming | TransportError::PeerFlood) => {
                StopReason::Misbehaviour
            }
            Error::Transport(TransportError::CancelledHere) => StopReason::Cancelled,
            Error::Transport(TransportError::Idle(_) | TransportError::Deadline(_)) => {
                StopReason::Timeout
            }
            // The folder for it, or the disk under it, is a setting.
            Error::Storage(_) => StopReason::Config,
            Error::Refused(_) | Error::Transport(_) | Error::Bug(_) => StopReason::Internal,
        }
    }
}

/// Unusable parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The size of a party's set differs from its parameters.
    #[error("the set has {actual} items, but the parameters say {expected}")]
    SetLenMismatch {
        /// Size in the parameters.
        expected: u64,
        /// Size of the given set.
        actual: u64,
    },
    /// A set is larger than one run supports.
    #[error("a set of {len} items is larger than the limit of {max}")]
    SetTooLarge {
        /// Requested size.
        len: u64,
        /// Maximum size.
        max: u64,
    },
    /// One extension cannot produce this many correlations.
    #[error("{len} correlations exceed the limit of {max} per extension")]
    TooManyCorrelations {
        /// Requested number.
        len: u64,
        /// Maximum number.
        max: u64,
    },
    /// The protocol does not take items of this length.
    #[error("the protocol does not take items of {bits} bits")]
    ItemBits {
        /// Requested length.
        bits: u32,
    },
    /// An integer item has more bits than the parameters say.
    #[error("an item is longer than the {bits} bits in the parameters")]
    ItemTooLong {
        /// Length in the parameters.
        bits: u32,
    },
    /// An item is zero, which the protocol reserves.
    #[error("an item is zero, which the protocol reserves")]
    ReservedItem,
    /// This number of runs cannot make one result.
    #[error("{count} runs cannot make one result")]
    Runs {
        /// Requested number.
        count: u64,
    },
    /// Results of the protocol cannot be put together from several runs, or not those of integer
    /// items.
    #[error("the protocol cannot run in partitions")]
    UnsupportedRuns,
    /// An item occurs twice in a set.
    #[error("an item occurs twice in the set")]
    DuplicateItem,
    /// Values of this length cannot be summed.
    #[error("values of {bits} bits cannot be summed")]
    ValueBits {
        /// Requested length.
        bits: u32,
    },
    /// An item cannot have this number of values.
    #[error("an item cannot have {columns} values")]
    Columns {
        /// Requested number.
        columns: u32,
    },
    /// Texts of this length are not supported.
    #[error("texts of {bytes} bytes are not supported")]
    TextLen {
        /// Requested length.
        bytes: u32,
    },
    /// The texts do not match the operation: it needs none, or one of the same length for each
    /// item.
    #[error("the texts of the items do not match the operation")]
    Texts,
    /// Payloads of this length are not supported.
    #[error("payloads of {bytes} bytes are not supported")]
    PayloadLen {
        /// Requested length.
        bytes: u32,
    },
    /// The payloads do not match the query: the sender needs one of the same length for each item
    /// if it has payloads, and the receiver none.
    #[error("the payloads of the items do not match the query")]
    Payloads,
    /// The protocol sends no payloads.
    #[error("the protocol cannot send payloads")]
    UnsupportedPayloads,
    /// The protocol takes one unsigned value per item, or only values of the sender's items.
    #[error("the protocol cannot take these values")]
    UnsupportedValues,
    /// The operation gives both parties a result of their own, so both must be allowed to learn.
    #[error("both parties get a result, so both must learn")]
    IsForBoth,
    /// The protocol protects only a run in which the receiver alone learns the result.
    #[error("the protocol gives the receiver alone the result")]
    IsForReceiver,
    /// A value has more bits than the parameters say.
    #[error("a value is longer than the {bits} bits in the parameters")]
    ValueTooLong {
        /// Length in the parameters.
        bits: u32,
    },
    /// The items known to both parties exceed a set, or differ from the parameters.
    #[error("the items known to both parties differ from the parameters")]
    SharedItems,
    /// The values do not match the operation: it needs none, or one for each item.
    #[error("the values of the items do not match the operation")]
    Values,
    /// The minimum number of common items is above the maximum.
    #[error("at least {min} and at most {max} common items contradict each other")]
    Bounds {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// The protocol cannot keep the result secret outside bounds.
    #[error("the protocol cannot enforce bounds on the number of common items")]
    UnsupportedBounds,
    /// The selection has more rows than there are, or there are too many rows.
    #[error("{outputs} rows cannot be chosen from {inputs}")]
    RowCounts {
        /// Number of rows.
        inputs: u64,
        /// Number of selected rows.
        outputs: u64,
    },
    /// The length of a row differs from the parameters, or the protocol does not take it.
    #[error("the protocol does not take rows of {bits} bits")]
    RowBits {
        /// Requested length.
        bits: u32,
    },
    /// A selection of rows repeats a row or names one that does not exist.
    #[error("a selection of rows repeats a row or names one that does not exist")]
    NotAnInjection,
    /// The items do not fit into a hash table. If the hash functions are drawn after the items are
    /// fixed, the probability is below 2^-40 over all runs that make one result, but for tables of
    /// a paper that promise less.
    #[error("the items do not fit into the hash table, which happens by chance")]
    HashingFailed,
    /// The catalogue has no protocol of this name.
    #[error("no such protocol in the catalogue")]
    UnknownProtocol,
    /// The memory does not suffice for the result of sets of these sizes.
    #[error("there is not enough memory for sets of these sizes")]
    OutOfMemory,
    /// The operating system cannot start more threads for this process.
    #[error("the operating system cannot start more threads")]
    NoThreads,
    /// The protocol does not offer the operation.
    #[error("the protocol does not offer the operation")]
    UnsupportedOperation,
}

/// Deviations of a peer that no honest peer makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// A message does not have the length that the parameters fix.
    #[error("a message has {actual} bytes instead of {expected}")]
    WrongMessageLen {
        /// The length that the parameters fix.
        expected: u64,
        /// The length that the peer announced.
        actual: u64,
    },
    /// A group element did not decode, or was the identity.
    #[error("element {index} is not a valid group element")]
    InvalidPoint {
        /// Position in the peer's list.
        index: u64,
    },
    /// The protocol cannot use the public key.
    #[error("the protocol cannot use the public key")]
    InvalidPublicKey,
    /// A message holds a value outside its range.
    #[error("a message holds a value outside its range")]
    InvalidValue,
    /// An item known to both parties is missing from the result, or one that must not match is in
    /// it.
    #[error("the result failed the self-check")]
    SelfCheckFailed,
    /// The circuit found that a set has other items, more of them, or others of those known to both
    /// than it should.
    #[error("a set failed the check inside the computation")]
    SetRefused,
    /// The peer did not prove that its set holds the items known to both parties.
    #[error("the peer did not prove that its set holds the items known to both")]
    SharedNotProved,
    /// The peer announced a set size outside the agreed range.
    #[error("the announced set size of {len} is outside the agreed {min} to {max}")]
    SizeOutsideAgreement {
        /// The announced size.
        len: u64,
        /// The smallest agreed size.
        min: u64,
        /// The largest agreed size.
        max: u64,
    },
    /// Correlations, or the trees they come from, failed their consistency check.
    #[error("the correlations failed their consistency check")]
    CorrelationCheckFailed,
    /// The opened OTs failed the check: too many ones, or a one where zeros were claimed.
    #[error("the opened transfers failed the check")]
    CutAndChooseFailed,
    /// A value opened at the end differs from the committed one.
    #[error("the peer opened another value than it had committed to")]
    CommitmentBroken,
    /// The answer lacks an item that every party sent.
    #[error("the answer lacks an item that every party sent")]
    CommonMissing,
    /// The answer contains an item that only one party sent.
    #[error("the answer contains an item that only one party sent")]
    OwnFound,
    /// The answer contains some copies of an item and lacks others.
    #[error("the answer contains some copies of an item and lacks others")]
    CopiesDiffer,
    /// The two parties count different results.
    #[error("the two parties count different results")]
    CountsDiffer,
    /// The received bytes violate the session's framing.
    #[error("the peer broke the session's framing")]
    BrokenFraming,
    /// The peer opened more streams, or sent more data ahead, than the protocol allows.
    #[error("the peer sent more than the protocol allows")]
    Flood,
}

/// Why a party ended a session early; sent to the peer as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// A person interrupted the run.
    Cancelled,
    /// The peer rejected its own data.
    Input,
    /// The peer rejected its own settings.
    Config,
    /// The two sides' settings differ.
    Incompatible,
    /// The peer detected a deviation by us.
    Misbehaviour,
    /// The peer reached a time limit.
    Timeout,
    /// The peer hit a defect of its own.
    Internal,
}

impl StopReason {
    /// The byte that represents it on the wire.
    pub const fn code(self) -> u8 {
        match self {
            StopReason::Cancelled => 1,
            StopReason::Input => 2,
            StopReason::Config => 3,
            StopReason::Incompatible => 4,
            StopReason::Misbehaviour => 5,
            StopReason::Timeout => 6,
            StopReason::Internal => 7,
        }
    }

    /// The reason for a byte from the wire; unknown bytes become [`StopReason::Internal`].
    pub const fn from_code(code: u8) -> Self {
        match code {
            1 => StopReason::Cancelled,
            2 => StopReason::Input,
            3 => StopReason::Config,
            4 => StopReason::Incompatible,
            5 => StopReason::Misbehaviour,
            6 => StopReason::Timeout,
            _ => StopReason::Internal,
        }
    }
}

/// The connection failed or was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The peer's side of the connection closed without a stop reason.
    #[error("the connection was closed before the end")]
    Closed,
    /// The peer ended the session and sent a reason.
    #[error("the peer ended the session ({0:?})")]
    PeerStopped(StopReason),
    /// This side ended the session on request.
    #[error("the session was cancelled here")]
    CancelledHere,
    /// The peer sent nothing within the idle limit.
    #[error("the peer sent nothing for {0:?}")]
    Idle(Duration),
    /// The session reached its total time limit.
    #[error("the session reached its time limit of {0:?}")]
    Deadline(Duration),
    /// The operating system reported an error on the connection.
    #[error("the connection failed ({0})")]
    Io(io::ErrorKind),
    /// The TLS layer rejected the received data.
    #[error("the secure channel failed")]
    Tls,
    /// The peer sent invalid frames: it misbehaves, or runs a different version.
    #[error("the peer broke the framing of the session")]
    PeerBrokeFraming,
    /// The peer sent more than it was allowed, or opened more streams than a session has.
    #[error("the peer sent more than the session allows")]
    PeerFlood,
    /// The connection was lost, and the peer's program was started again: it cannot continue the
    /// session.
    #[error("the peer was started again")]
    PeerRestarted,
    /// This side opened a stream twice.
    #[error("the stream was opened twice")]
    AlreadyOpen,
    /// The stream failed earlier; after an error a channel stays closed.
    #[error("the channel is closed after an earlier error")]
    Poisoned,
}

impl From<io::Error> for TransportError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => TransportError::Closed,
            kind => TransportError::Io(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_reasons_survive_a_round_trip() {
        let all = [
            StopReason::Cancelled,
            StopReason::Input,
            StopReason::Config,
            StopReason::Incompatible,
            StopReason::Misbehaviour,
            StopReason::Timeout,
            StopReason::Internal,
        ];
        for reason in all {
            assert_eq!(StopReason::from_code(reason.code()), reason);
        }
        assert_eq!(StopReason::from_code(0), StopReason::Internal);
        assert_eq!(StopReason::from_code(255), StopReason::Internal);
    }

    #[test]
    fn broken_connections_read_as_closed() {
        for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset] {
            assert_eq!(TransportError::from(io::Error::from(kind)), TransportError::Closed);
        }
    }
}
