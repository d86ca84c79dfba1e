//! Connections that record messages, and that replay them with changes.

use crate::input::Input;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::{StopReason, TransportError};
use vesica_net::{MESSAGE_HEADER_LEN, StreamId, StreamPair, StreamReader, StreamWriter, Streams};

/// The messages on each stream, without their headers.
pub(super) type Recorded = BTreeMap<StreamId, Vec<Vec<u8>>>;

/// A connection that records the messages of this end.
pub(super) struct Recorder {
    inner: Arc<dyn Streams>,
    bytes: Arc<Mutex<BTreeMap<StreamId, Vec<u8>>>>,
}

impl Recorder {
    pub(super) fn new(inner: Arc<dyn Streams>) -> Self {
        Self { inner, bytes: Arc::default() }
    }

    pub(super) fn recorded(&self) -> Recorded {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.iter().map(|(id, bytes)| (*id, messages(bytes))).collect()
    }
}

fn messages(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<MESSAGE_HEADER_LEN>() {
        let (message, rest) = rest.split_at(rest.len().min(u32::from_le_bytes(*header) as usize));
        messages.push(message.to_vec());
        bytes = rest;
    }
    messages
}

impl Streams for Recorder {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        Ok((reader, Box::new(Recording { id, inner, bytes: Arc::clone(&self.bytes) })))
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }
}

struct Recording {
    id: StreamId,
    inner: Box<dyn StreamWriter>,
    bytes: Arc<Mutex<BTreeMap<StreamId, Vec<u8>>>>,
}

impl StreamWriter for Recording {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let mut all = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(self.id).or_default().extend_from_slice(bytes);
        drop(all);
        self.inner.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }
}

/// A peer that replays recorded messages with changes, and ignores what it receives.
pub(super) struct Replay {
    streams: Mutex<BTreeMap<StreamId, Vec<u8>>>,
}

impl Replay {
    /// `recorded` with the changes that `input` selects: which message, and how.
    pub(super) fn new(recorded: &Recorded, input: &mut Input<'_>) -> Self {
        let mut recorded = recorded.clone();
        let mut headers = BTreeMap::new();
        let count: usize = recorded.values().map(Vec::len).sum();
        // Few changes: the first one that the party detects ends the run.
        for _ in 0..8 {
            if input.is_empty() || count == 0 {
                break;
            }
            let which = input.u16() as usize % count;
            let op = input.byte();
            let Some((id, index)) = place(&recorded, which) else { continue };
            let Some(messages) = recorded.get_mut(&id) else { continue };
            let Some(message) = messages.get_mut(index) else { continue };
            let len = message.len();
            match op % 8 {
                // Mostly a message of the right length with other contents.
                0..=3 if len > 0 => {
                    let at = input.u32() as usize % len;
                    let now = input.array::<8>();
                    let width = (1 + usize::from(op >> 4) % 8).min(len - at);
                    match op & 8 {
                        0 => message[at..at + width].copy_from_slice(&now[..width]),
                        _ => message[at] ^= now[0].max(1),
                    }
                }
                4 if len > 0 => message.fill(input.byte()),
                5 => input.damage(message),
                6 => {
                    let mut now = input.piece().to_vec();
                    now.resize(len, 0);
                    *message = now;
                }
                // Another length in the header than the message has.
                7 => drop(headers.insert((id, index), input.u32())),
                _ => {}
            }
        }
        let written = recorded.into_iter().map(|(id, messages)| {
            let mut bytes = Vec::new();
            for (index, message) in messages.iter().enumerate() {
                let len = headers.get(&(id, index)).copied().unwrap_or(message.len() as u32);
                bytes.extend_from_slice(&len.to_le_bytes());
                bytes.extend_from_slice(message);
            }
            (id, bytes)
        });
        Self { streams: Mutex::new(written.collect()) }
    }
}

/// The stream of message number `which`, and its index there.
fn place(recorded: &Recorded, mut which: usize) -> Option<(StreamId, usize)> {
    for (id, messages) in recorded {
        if which < messages.len() {
            return Some((*id, which));
        }
        which -= messages.len();
    }
    None
}

impl Streams for Replay {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = streams.remove(&id).unwrap_or_default();
        Ok((Box::new(Replaying { bytes, at: 0 }), Box::new(Ignoring)))
    }

    fn abort(&self, _: StopReason) {}
}

struct Replaying {
    bytes: Vec<u8>,
    at: usize,
}

impl StreamReader for Replaying {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        let bytes = self.bytes.get(self.at..self.at + buf.len()).ok_or(TransportError::Closed)?;
        buf.copy_from_slice(bytes);
        self.at += buf.len();
        Ok(())
    }
}

struct Ignoring;

impl StreamWriter for Ignoring {
    fn write_all(&mut self, _: &[u8]) -> Result<(), TransportError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }
}
