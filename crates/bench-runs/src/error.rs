//! Why a measurement failed.

use std::ops::RangeInclusive;

/// Why a benchmark failed.
#[derive(Debug)]
pub enum BenchError {
    /// The catalogue has no such protocol.
    UnknownProtocol(String),
    /// The protocol takes items of other lengths.
    ItemBits {
        /// The protocol.
        id: &'static str,
        /// The lengths it takes.
        takes: RangeInclusive<u32>,
    },
    /// The protocol does not compute the operation, or sends no payloads.
    NotOffered {
        /// The protocol.
        id: &'static str,
        /// The operation, or "payloads".
        what: &'static str,
    },
    /// The protocol does not offer bounds.
    NoBounds(&'static str),
    /// The protocol does not reveal matches early.
    NoEarlyReveal(&'static str),
    /// The protocol takes only one column of values without a sign.
    PlainValues(&'static str),
    /// The smallest number of common items is above the largest.
    BoundsReversed,
    /// More common items than the smaller set has.
    TooManyCommon,
    /// There are fewer items of that length than the sets need.
    TooFewItems {
        /// Their length.
        bits: u32,
    },
    /// The protocol does not take this number of parties.
    Parties(&'static str),
    /// The protocol takes fewer rows.
    TooManyRows {
        /// The protocol.
        id: &'static str,
        /// The most that it takes.
        max: u64,
    },
    /// The processes could not be started, or their output could not be read.
    Process,
    /// A party ended with an error, which it has printed.
    Party(&'static str),
    /// A run gave a wrong result.
    WrongResult,
}

impl From<std::io::Error> for BenchError {
    fn from(_: std::io::Error) -> Self {
        BenchError::Process
    }
}
