//! Why a benchmark failed.

use std::ops::RangeInclusive;
use vesica_protocols::Operation;

/// Why a benchmark failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The catalogue has no such protocol.
    #[error("the catalogue has no protocol {0}")]
    UnknownProtocol(String),
    /// The protocol takes items of other lengths.
    #[error("{id} takes items of {} to {} bits", takes.start(), takes.end())]
    ItemBits {
        /// The protocol.
        id: &'static str,
        /// The lengths it takes.
        takes: RangeInclusive<u32>,
    },
    /// The protocol does not compute the operation.
    #[error("{id} does not offer {operation}")]
    NotOffered {
        /// The protocol.
        id: &'static str,
        /// The operation.
        operation: Operation,
    },
    /// The protocol does not offer bounds.
    #[error("{0} does not offer bounds")]
    NoBounds(&'static str),
    /// The protocol takes one column of values without a sign only.
    #[error("{0} takes one value per item, without a sign")]
    PlainValues(&'static str),
    /// The smallest number of common items is above the largest.
    #[error("--min-matches is above --max-matches")]
    BoundsReversed,
    /// More common items than the smaller set has.
    #[error("there are more common items than the smaller set has items")]
    TooManyCommon,
    /// There are fewer items of that length than the sets need.
    #[error("there are not enough items of {bits} bits for these sets")]
    TooFewItems {
        /// Their length.
        bits: u32,
    },
    /// The protocol does not take this number of parties.
    #[error("{0} does not take this number of parties")]
    Parties(&'static str),
    /// The protocol takes fewer rows.
    #[error("{id} takes at most {max} rows from each party")]
    TooManyRows {
        /// The protocol.
        id: &'static str,
        /// The most that it takes.
        max: u64,
    },
    /// The processes could not be started, or not be read from.
    #[error("the two parties could not be run")]
    Process,
    /// A party ended with an error, which it has printed.
    #[error("the {0} failed")]
    Party(&'static str),
    /// A run gave a wrong result.
    #[error("a run gave a wrong result")]
    WrongResult,
}

impl From<std::io::Error> for BenchError {
    fn from(_: std::io::Error) -> Self {
        BenchError::Process
    }
}
