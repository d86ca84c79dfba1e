//! Bytes of streams that programs other than the party's own process store outside the connection.

use crate::{Flight, SentDigests, StreamId};
use std::fmt;
use vesica_core::TransportError;

/// A message of one part of a run that a program stores outside the connection. Only a program that
/// knows its key can open it.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Its id: random.
    pub id: [u8; 16],
    /// The key that seals it, together with secrets of the run: random too.
    pub key: [u8; 32],
    /// The digest of the stored bytes.
    pub digest: [u8; 32],
    /// How many bytes are stored.
    pub len: u64,
    /// The streams of which it has bytes, each with their number.
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
    /// Bytes that arrived over the connection.
    Bytes(Flight),
    /// Bytes of this stream that are stored outside the connection. The parcel may have bytes of
    /// other streams too; they are received with those streams.
    Parcel(Parcel, StreamId),
}

/// A connection of a run whose parts can run in other processes, in turns
/// ([`Replay`](crate::Replay)). Those processes store the messages that the parts send. The
/// connection outlives a process.
pub trait Detached: Send + Sync {
    /// The keys with which a program in another process stores and reads parcels: secrets of the
    /// run.
    fn desk(&self) -> Vec<u8>;

    /// What `part` has sent in parcels so far, including in earlier processes, and the streams that
    /// it had opened when it sent the last parcel.
    fn sent(&self, part: u64) -> (SentDigests, Vec<StreamId>);

    /// Sends the `parcels`, which are stored already, as the next messages of `part`: all of them
    /// or none. With them, the part has sent all that `sent` describes, and has `opened` these
    /// streams.
    ///
    /// # Errors
    /// Any [`TransportError`].
    fn send(
        &self,
        part: u64,
        parcels: &[Parcel],
        sent: &SentDigests,
        opened: &[StreamId],
    ) -> Result<(), TransportError>;

    /// Fetches again some of the messages that earlier processes received; returns `false` once all
    /// of them are here. No part may run before that: what a part has sent follows from all that it
    /// has received.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if they do not arrive in time.
    fn recall(&self) -> Result<bool, TransportError>;

    /// Takes the bytes and parcels that have arrived for `streams` and have not been taken yet. The
    /// bytes of each stream are in order, and depend only on what the peer sends on that stream.
    /// The digests of the messages that had these bytes are on the disk.
    fn receive(&self, streams: &[StreamId]) -> Vec<Received>;

    /// Publishes what the parts have sent, and waits until the peer's next message arrives; if
    /// `wait` is false, it only checks for one. Returns whether one has arrived.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if nothing arrives in time.
    fn listen(&self, wait: bool) -> Result<bool, TransportError>;
}
