//! What can go wrong below the engine. The variant says who must act.

use crate::Refusal;
use std::io;
use std::time::Duration;

/// Result with [`Error`].
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
    /// The helper refused, or cannot go on.
    #[error("the helper refused: {0}")]
    Refused(#[from] Refusal),
    /// Intermediate data on this machine could not be written or read.
    #[error("intermediate data could not be kept ({0})")]
    Storage(io::ErrorKind),
    /// A defect of Vesica.
    #[error("internal error: {0}")]
    Bug(&'static str),
}

impl Error {
    /// What the peer is told when this error ends the session here.
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
            Error::Storage(_) | Error::Refused(_) => StopReason::Internal,
            Error::Transport(_) | Error::Bug(_) => StopReason::Internal,
        }
    }
}

/// Unusable parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The set given to a party has another size than its parameters say.
    #[error("the set has {actual} items where the parameters say {expected}")]
    SetLenMismatch {
        /// Size in the parameters.
        expected: u64,
        /// Size of the set given.
        actual: u64,
    },
    /// A set is larger than one run supports.
    #[error("a set of {len} items is larger than the limit of {max}")]
    SetTooLarge {
        /// Size asked for.
        len: u64,
        /// Largest size supported.
        max: u64,
    },
    /// More correlations are asked for than one extension gives.
    #[error("{len} correlations are more than the limit of {max} for one extension")]
    TooManyCorrelations {
        /// Number asked for.
        len: u64,
        /// Largest number supported.
        max: u64,
    },
    /// An item's length in bits is none that the protocol takes.
    #[error("items of {bits} bits are not what the protocol takes")]
    ItemBits {
        /// Length asked for.
        bits: u32,
    },
    /// An item is an integer of more bits than the parameters say.
    #[error("an item is longer than the {bits} bits of the parameters")]
    ItemTooLong {
        /// Length in the parameters.
        bits: u32,
    },
    /// An item is zero, which the protocol keeps for itself.
    #[error("an item is zero, which the protocol keeps for itself")]
    ReservedItem,
    /// An item occurs twice in a set.
    #[error("an item occurs twice in the set")]
    DuplicateItem,
    /// A length of values is none that can be summed.
    #[error("values of {bits} bits are not what can be summed")]
    ValueBits {
        /// Length asked for.
        bits: u32,
    },
    /// A number of values of each item is none that can be taken.
    #[error("{columns} values of each item are not what can be taken")]
    Columns {
        /// Number asked for.
        columns: u32,
    },
    /// A length of texts is none that can be taken.
    #[error("texts of {bytes} bytes are not what can be taken")]
    TextLen {
        /// Length asked for.
        bytes: u32,
    },
    /// There are other texts than the operation needs: none, or one of the same length for each item.
    #[error("the items have other texts than the operation needs")]
    Texts,
    /// The protocol takes one value of each item and no sign, or only values of the sender's items.
    #[error("the protocol cannot take these values")]
    UnsupportedValues,
    /// Both parties get a result of their own, so both must be allowed to learn.
    #[error("both parties get a result, so both must learn")]
    IsForBoth,
    /// A value is longer than the parameters say.
    #[error("a value is longer than the {bits} bits of the parameters")]
    ValueTooLong {
        /// Length in the parameters.
        bits: u32,
    },
    /// There are more items known to both parties than a set has, or others than the parameters say.
    #[error("the items known to both parties are not what the parameters say")]
    SharedItems,
    /// There are other values than the operation needs: none, or one for each item.
    #[error("the items have other values than the operation needs")]
    Values,
    /// The least number of common items is above the largest.
    #[error("at least {min} and at most {max} common items contradict each other")]
    Bounds {
        /// The least number.
        min: u64,
        /// The largest number.
        max: u64,
    },
    /// The protocol cannot keep the result secret outside bounds.
    #[error("the protocol cannot audit the number of common items")]
    UnsupportedBounds,
    /// More rows are to be chosen than there are, or there are too many.
    #[error("{outputs} rows cannot be chosen from {inputs}")]
    RowCounts {
        /// Rows there are.
        inputs: u64,
        /// Rows to choose.
        outputs: u64,
    },
    /// A row has another length than it should, or one that the protocol does not take.
    #[error("rows of {bits} bits are not what the protocol takes")]
    RowBits {
        /// Length asked for.
        bits: u32,
    },
    /// A choice of rows names one twice, or one that is not there.
    #[error("a choice of rows names one twice, or one that is not there")]
    NotAnInjection,
    /// The items found no place in a hash table. With hash functions drawn after the items were
    /// fixed its probability is below 2^-40.
    #[error("the items found no place in the hash table, which happens once in 2^40 runs")]
    HashingFailed,
    /// The catalogue has no protocol of that name.
    #[error("no such protocol in the catalogue")]
    UnknownProtocol,
    /// There is not enough memory for the result of sets of these sizes.
    #[error("there is not enough memory for sets of these sizes")]
    OutOfMemory,
    /// The operating system gives this process no more threads.
    #[error("the operating system gives no more threads")]
    NoThreads,
    /// The protocol does not offer the operation.
    #[error("the protocol does not offer the operation")]
    UnsupportedOperation,
}

/// What a peer did that no honest peer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// A message has another length than the parameters fix.
    #[error("a message of {actual} bytes came where one of {expected} was due")]
    WrongMessageLen {
        /// Length the parameters fix.
        expected: u64,
        /// Length the peer announced.
        actual: u64,
    },
    /// A group element did not decode, or was the identity.
    #[error("element {index} is not a valid group element")]
    InvalidPoint {
        /// Position in the peer's list.
        index: u64,
    },
    /// A public key is none the protocol may use.
    #[error("the public key is not one the protocol may use")]
    InvalidPublicKey,
    /// A message holds a value outside its range.
    #[error("a message holds a value outside its range")]
    InvalidValue,
    /// An item known to both parties is missing from the result, or one known to neither is in it.
    #[error("the result failed the self-check")]
    SelfCheckFailed,
    /// The peer did not prove that its set holds the items known to both parties.
    #[error("the peer did not prove that its set holds the items known to both")]
    SharedNotProved,
    /// The peer announced a set size outside the agreed range.
    #[error("the announced set size of {len} is outside the agreed {min} to {max}")]
    SizeOutsideAgreement {
        /// Size announced.
        len: u64,
        /// Smallest size agreed.
        min: u64,
        /// Largest size agreed.
        max: u64,
    },
    /// Correlations, or the trees they come from, failed their consistency check.
    #[error("the correlations failed their consistency check")]
    CorrelationCheckFailed,
    /// Transfers that were opened are not as agreed: too many ones, or no zeros where zeros were
    /// claimed.
    #[error("the transfers that were opened are not as agreed")]
    CutAndChooseFailed,
    /// A value opened at the end is not the one committed to before.
    #[error("the peer opened another value than it had committed to")]
    CommitmentBroken,
    /// The answer lacks an item that every party has sent.
    #[error("the answer lacks an item that every party has sent")]
    CommonMissing,
    /// The answer has an item that one party alone has sent.
    #[error("the answer has an item that one party alone has sent")]
    OwnFound,
    /// The answer has some copies of an item and lacks others.
    #[error("the answer has some copies of an item and lacks others")]
    CopiesDiffer,
    /// The two parties count different results.
    #[error("the two parties count different results")]
    CountsDiffer,
    /// What came is not cut into frames as the session's format says.
    #[error("the peer broke the session's framing")]
    BrokenFraming,
    /// The peer opened more streams, or sent more data ahead, than the protocol allows.
    #[error("the peer sent more than the protocol allows")]
    Flood,
}

/// Why a party ended a session early; told to the peer as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The person at the other side interrupted it.
    Cancelled,
    /// The other side's data was refused by its own checks.
    Input,
    /// The other side's settings were refused.
    Config,
    /// The two sides' settings differ.
    Incompatible,
    /// The other side saw us break the protocol.
    Misbehaviour,
    /// The other side ran out of time.
    Timeout,
    /// The other side met a defect of its own.
    Internal,
}

impl StopReason {
    /// The byte on the wire.
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

    /// The reason for a byte from the wire; unknown bytes read as [`StopReason::Internal`].
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
    /// The peer's side of the connection ended without a word.
    #[error("the connection was closed before the end")]
    Closed,
    /// The peer ended the session and said why.
    #[error("the peer ended the session ({0:?})")]
    PeerStopped(StopReason),
    /// This side ended the session on request.
    #[error("the session was cancelled here")]
    CancelledHere,
    /// Nothing came from the peer for the idle limit.
    #[error("nothing came from the peer for {0:?}")]
    Idle(Duration),
    /// The session reached its total time limit.
    #[error("the session reached its time limit of {0:?}")]
    Deadline(Duration),
    /// The operating system reported an error on the connection.
    #[error("the connection failed ({0})")]
    Io(io::ErrorKind),
    /// The TLS layer refused what came.
    #[error("the secure channel failed")]
    Tls,
    /// The peer sent frames that no honest peer sends: it misbehaves, or is another version.
    #[error("the peer broke the framing of the session")]
    PeerBrokeFraming,
    /// The peer sent more than it was allowed, or opened more streams than a session has.
    #[error("the peer sent more than the session allows")]
    PeerFlood,
    /// This side opened a stream twice.
    #[error("the stream was opened before")]
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
    fn stop_reasons_survive_the_wire() {
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
