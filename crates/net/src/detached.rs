//! Bytes of streams that are stored apart from a connection, by programs that are not the party's own process.

use crate::{Flight, SentDigests, StreamId};
use std::fmt;
use vesica_core::TransportError;

/// A message of a part of a run that is stored apart. Nobody can open it who does not know its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Its name: random.
    pub id: [u8; 16],
    /// What it is sealed under, beside secrets of the run: random too.
    pub key: [u8; 32],
    /// The digest of what is stored.
    pub digest: [u8; 32],
    /// How many bytes are stored.
    pub len: u64,
    /// How many bytes of which streams it has.
    pub streams: Vec<(StreamId, u64)>,
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = u128::from_be_bytes(self.id);
        write!(f, "Parcel({id:032x}, {:?})", self.streams)
    }
}

/// What a part of a run hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes that came with the connection.
    Bytes(Flight),
    /// Bytes of this stream that are stored apart. The parcel may have bytes of others too, which are heard with those.
    Parcel(Parcel, StreamId),
}

/// A connection whose parts can run elsewhere, in turns ([`Replay`](crate::Replay)), and store there what they say. It
/// outlives a process.
pub trait Detached: Send + Sync {
    /// What somebody elsewhere needs to store and to read parcels: secrets of the run.
    fn desk(&self) -> Vec<u8>;

    /// What `part` has said in parcels so far, in earlier processes too, and the streams that it had opened then.
    fn said(&self, part: u64) -> (SentDigests, Vec<StreamId>);

    /// Says the `parcels`, which are stored already, as what `part` says next, all of them or none. With them, the part has
    /// `said` all that, and has `opened` these streams.
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

    /// Fetches again some of what earlier processes have received; `false` once all of it is here. No part may run before:
    /// what it has sent follows from all that it has received.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if it does not come in time.
    fn recall(&self) -> Result<bool, TransportError>;

    /// Takes what has arrived for `streams` and that nobody took; the bytes of each stream are in order, and follow from what
    /// the peer says on this stream alone. Their digest is on the disk.
    fn hear(&self, streams: &[StreamId]) -> Vec<Received>;

    /// Publishes what was said, and waits until more arrives; with `wait` false it only looks. Returns whether more has
    /// arrived.
    ///
    /// # Errors
    /// Any [`TransportError`]; [`TransportError::Idle`] if nothing comes in time.
    fn listen(&self, wait: bool) -> Result<bool, TransportError>;
}
