//! A transport that records what a party sends, for tests of the other party's view.

use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::{Role, StopReason, TransportError};
use vesica_net::{MESSAGE_HEADER_LEN, StreamId, StreamPair, StreamWriter, Streams};

/// The sent bytes by stream.
type Sent = Vec<(StreamId, Vec<u8>)>;

/// Everything that one party sent, by stream; shared by clones.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The party whose messages are recorded.
    pub from: Role,
    streams: Arc<Mutex<Sent>>,
}

impl Transcript {
    /// Records what the party in role `from` sends.
    pub fn new(from: Role) -> Self {
        Self { from, streams: Arc::default() }
    }

    /// The payloads of the messages so far, in the order of each stream.
    pub fn messages(&self) -> Vec<Vec<u8>> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner).clone();
        streams.sort_by_key(|(id, _)| *id);
        let mut messages = Vec::new();
        for (_, bytes) in streams {
            let mut rest = &bytes[..];
            while let Some((header, after)) = rest.split_first_chunk::<MESSAGE_HEADER_LEN>() {
                let (payload, next) = after.split_at(u32::from_le_bytes(*header) as usize);
                messages.push(payload.to_vec());
                rest = next;
            }
        }
        messages
    }

    pub(crate) fn wrap(
        &self,
        sender: Arc<dyn Streams>,
        receiver: Arc<dyn Streams>,
    ) -> (Arc<dyn Streams>, Arc<dyn Streams>) {
        let wrap = |inner| Arc::new(Kept { inner, transcript: self.clone() });
        match self.from {
            Role::Sender => (wrap(sender), receiver),
            _ => (sender, wrap(receiver)),
        }
    }
}

struct Kept {
    inner: Arc<dyn Streams>,
    transcript: Transcript,
}

impl Streams for Kept {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        let streams = Arc::clone(&self.transcript.streams);
        let place = {
            let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
            streams.push((id, Vec::new()));
            streams.len() - 1
        };
        Ok((reader, Box::new(KeptWriter { inner, streams, place })))
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }
}

struct KeptWriter {
    inner: Box<dyn StreamWriter>,
    streams: Arc<Mutex<Sent>>,
    place: usize,
}

impl StreamWriter for KeptWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams[self.place].1.extend_from_slice(bytes);
        drop(streams);
        self.inner.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }
}
