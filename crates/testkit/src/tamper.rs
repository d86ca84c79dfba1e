//! A transport that changes one message in transit, for tests of bad peers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::{Role, StopReason, TransportError};
use vesica_net::{MESSAGE_HEADER_LEN, StreamId, StreamPair, StreamWriter, Streams};

/// The change of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its middle bit is flipped.
    Flip,
    /// All its bits become ones.
    Fill,
    /// It never arrives.
    Drop,
    /// It arrives twice.
    Repeat,
    /// It arrives one byte shorter, with a matching header.
    Truncate,
    /// It arrives one byte longer, with a matching header.
    Grow,
    /// Its header announces four gigabytes.
    Announce,
}

impl Change {
    /// All changes.
    pub const ALL: &[Change] = &[
        Change::Flip,
        Change::Fill,
        Change::Drop,
        Change::Repeat,
        Change::Truncate,
        Change::Grow,
        Change::Announce,
    ];
}

/// One change of one message of one party.
#[derive(Clone, Debug)]
pub struct Tampering {
    /// The party whose messages are counted.
    pub from: Role,
    /// Index of the changed message, from 0.
    pub message: u64,
    /// The change.
    pub change: Change,
    /// Messages that the party has sent so far; shared by clones.
    pub seen: Arc<AtomicU64>,
}

impl Tampering {
    /// Applies `change` to the `message`-th message that the party in role `from` sends.
    pub fn new(from: Role, message: u64, change: Change) -> Self {
        Self { from, message, change, seen: Arc::default() }
    }

    /// Whether the message was sent and changed.
    pub fn happened(&self) -> bool {
        self.seen.load(Ordering::SeqCst) > self.message
    }

    pub(crate) fn wrap(
        &self,
        sender: Arc<dyn Streams>,
        receiver: Arc<dyn Streams>,
    ) -> (Arc<dyn Streams>, Arc<dyn Streams>) {
        let wrap = |inner| Arc::new(TamperedStreams { inner, tampering: self.clone() });
        match self.from {
            Role::Sender => (wrap(sender), receiver),
            _ => (sender, wrap(receiver)),
        }
    }
}

struct TamperedStreams {
    inner: Arc<dyn Streams>,
    tampering: Tampering,
}

impl Streams for TamperedStreams {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        let writer =
            TamperedWriter { inner, tampering: self.tampering.clone(), pending: Mutex::default() };
        Ok((reader, Box::new(writer)))
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }
}

struct TamperedWriter {
    inner: Box<dyn StreamWriter>,
    tampering: Tampering,
    pending: Mutex<Vec<u8>>,
}

impl StreamWriter for TamperedWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(pending.len());
        let mut start = 0;
        while let Some(message) = first_message(&pending[start..]) {
            start += message.len();
            if self.tampering.seen.fetch_add(1, Ordering::SeqCst) == self.tampering.message {
                change(message, self.tampering.change, &mut out);
            } else {
                out.extend_from_slice(message);
            }
        }
        pending.drain(..start);
        self.inner.write_all(&out)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }
}

fn first_message(bytes: &[u8]) -> Option<&[u8]> {
    let (header, _) = bytes.split_first_chunk::<MESSAGE_HEADER_LEN>()?;
    bytes.get(..MESSAGE_HEADER_LEN + u32::from_le_bytes(*header) as usize)
}

fn change(message: &[u8], change: Change, out: &mut Vec<u8>) {
    let payload = &message[MESSAGE_HEADER_LEN..];
    match change {
        Change::Flip => {
            let mut flipped = message.to_vec();
            if !payload.is_empty() {
                flipped[MESSAGE_HEADER_LEN + payload.len() / 2] ^= 0x10;
            }
            out.extend(flipped);
        }
        Change::Fill => {
            out.extend_from_slice(&message[..MESSAGE_HEADER_LEN]);
            out.extend(payload.iter().map(|_| 0xff));
        }
        Change::Drop => {}
        Change::Repeat => {
            out.extend_from_slice(message);
            out.extend_from_slice(message);
        }
        Change::Truncate => {
            let shorter = &payload[..payload.len().saturating_sub(1)];
            out.extend_from_slice(&(shorter.len() as u32).to_le_bytes());
            out.extend_from_slice(shorter);
        }
        Change::Grow => {
            out.extend_from_slice(&(payload.len() as u32 + 1).to_le_bytes());
            out.extend_from_slice(payload);
            out.push(0);
        }
        Change::Announce => {
            out.extend_from_slice(&u32::MAX.to_le_bytes());
            out.extend_from_slice(payload);
        }
    }
}
