use super::tapped::tapped;
use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::Role;
use vesica_net::{MESSAGE_HEADER_LEN, StreamId, Streams};

/// What was sent, stream by stream.
type Sent = Vec<(StreamId, Vec<u8>)>;

/// All that one party sent, stream by stream, for tests of what the other one sees; shared by
/// clones.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Whose messages are kept.
    pub from: Role,
    streams: Arc<Mutex<Sent>>,
}

impl Transcript {
    /// Keeps what the party in role `from` sends.
    pub fn new(from: Role) -> Self {
        Self { from, streams: Arc::default() }
    }

    /// The payloads of the messages so far, in the order of each stream.
    pub fn messages(&self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for (_, bytes) in self.streams() {
            let mut rest = &bytes[..];
            while let Some((header, after)) = rest.split_first_chunk::<MESSAGE_HEADER_LEN>() {
                let (payload, next) = after.split_at(u32::from_le_bytes(*header) as usize);
                messages.push(payload.to_vec());
                rest = next;
            }
        }
        messages
    }

    /// The bytes of the messages so far, headers included, ordered by stream. The stream of a fork
    /// is named by the forks that lead to it, so equal programs have equal names.
    pub fn streams(&self) -> Vec<(StreamId, Vec<u8>)> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner).clone();
        streams.sort_by_key(|(id, _)| *id);
        streams
    }

    pub(super) fn wrap(&self, ends: &mut [Arc<dyn Streams>; 2]) {
        let end = &mut ends[usize::from(self.from != Role::Sender)];
        let streams = Arc::clone(&self.streams);
        *end = tapped(end, move |id| {
            let streams = Arc::clone(&streams);
            let place = {
                let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
                streams.push((id, Vec::new()));
                streams.len() - 1
            };
            Box::new(move |bytes| {
                let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
                streams[place].1.extend_from_slice(bytes);
                bytes.to_vec()
            })
        });
    }
}
