//! Bytes of streams that programs other than the party's own process store outside the connection.

use crate::{Flight, SentDigests, StreamId};
use std::fmt;
use vesica_core::TransportError;

/// A message of one part of a run, stored outside the connection. Only those who know its key can
/// open it.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Its id: random.
    pub id: [u8; 16],
    /// The key that seals it, together with secrets of the run: random too.
    pub key: [u8; 32],
    /// The digest of what is stored.
    pub digest: [u8; 32],
    /// How many bytes are stored.
    pub len: u64,
    /// Which streams it has bytes of, and how many.
    pub streams: Vec<(StreamId, u64)>,
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = u128::from_be_bytes(self.id);
        write!(f, "Parcel({id:032x}, {:?})", self.streams)
    }
}

/// What a part of a run receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes that came with the connection.
    Bytes(Flight),
    /// Bytes of this stream that are stored outside the connection. The parcel may have bytes of
    /// other streams too; they are received with those streams.
    Parcel(Parcel, StreamId),
}

/// A connection whose parts can run in other processes, in turns ([`Replay`](crate::Replay)), which
/// store there what they send. It outlives a process.
pub trait Detached: Send + Sync {
    /// What a program in another process needs to store and to read parcels: secrets of the run.
    fn desk(&self) -> Vec<u8>;

    /// What `part` has sent in parcels so far, including in earlier processes, and the streams it
    /// had opened by the last of them.
    fn said(&self, part: u64) -> (SentDigests, Vec<StreamId>);

    /// Sends the `parcels`, which are stored already, as the next messages of `part`: all of them
    /// or none. With them, the part has sent all that `said` describes, and has `opened` these
    /// streams.
    ///
    /// # Errors
    /// Any [`TransportError`].
    fn say(
        &self,
        part: u64,
        parcels: &[Parcel],
        said: &SentDigests,
        opened: &[StreamId],
    ) -> Result<(), TransportError>;

    /// Fetches again some of what earlier processes received; returns `false` once all of it is
    /// here. No part may run before that: what it has sent follows from all that it has received.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if it does not arrive in time.
    fn recall(&self) -> Result<bool, TransportError>;

    /// Takes what has arrived for `streams` and has not been taken yet. The bytes of each stream
    /// are in order, and depend only on what the peer sends on that stream. Their digest is on the
    /// disk.
    fn hear(&self, streams: &[StreamId]) -> Vec<Received>;

    /// Publishes what the parts have sent, and waits until more arrives; if `wait` is false, it
    /// only looks. Returns whether more has arrived.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if nothing arrives in time.
    fn listen(&self, wait: bool) -> Result<bool, TransportError>;
}
