//! A transport that changes one message on its way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::{Role, StopReason, TransportError};
use vesica_net::{MESSAGE_HEADER_LEN, StreamId, StreamPair, StreamWriter, Streams};

/// What happens to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The bit of this number, modulo its length, is flipped.
    FlipBit(usize),
    /// It becomes all ones.
    Fill,
    /// It becomes zero.
    Zero,
    /// It never arrives.
    Drop,
    /// It arrives twice.
    Repeat,
    /// It arrives one byte shorter, its header saying so.
    Truncate,
    /// It arrives one byte longer, its header saying so.
    Grow,
    /// Its header announces four gigabytes.
    Announce,
}

/// One change of one message of one party.
#[derive(Clone, Debug)]
pub struct Tampering {
    pub from: Role,
    pub message: u64,
    pub change: Change,
    seen: Arc<AtomicU64>,
}

impl Tampering {
    /// `change` to the `message`-th message that the party in role `from` sends.
    pub fn new(from: Role, message: u64, change: Change) -> Self {
        Self { from, message, change, seen: Arc::default() }
    }

    /// Whether the message came by and was changed.
    pub fn happened(&self) -> bool {
        self.seen.load(Ordering::SeqCst) > self.message
    }

    pub fn wrap(&self, inner: Arc<dyn Streams>) -> Arc<dyn Streams> {
        Arc::new(TamperedStreams { inner, tampering: self.clone() })
    }
}

struct TamperedStreams {
    inner: Arc<dyn Streams>,
    tampering: Tampering,
}

impl Streams for TamperedStreams {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        let tampering = self.tampering.clone();
        Ok((reader, Box::new(TamperedWriter { inner, tampering, pending: Mutex::default() })))
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
    let (header, payload) = message.split_at(MESSAGE_HEADER_LEN);
    let mut announce = |len: usize, payload: &[u8]| {
        out.extend_from_slice(&(len as u32).to_le_bytes());
        out.extend_from_slice(payload);
    };
    match change {
        Change::FlipBit(bit) => {
            let mut flipped = payload.to_vec();
            if !payload.is_empty() {
                let bit = bit % (8 * payload.len());
                flipped[bit / 8] ^= 1 << (bit % 8);
            }
            announce(payload.len(), &flipped);
        }
        Change::Fill => announce(payload.len(), &vec![0xff; payload.len()]),
        Change::Zero => announce(payload.len(), &vec![0; payload.len()]),
        Change::Drop => {}
        Change::Repeat => {
            out.extend_from_slice(&[header, payload].concat());
            out.extend_from_slice(&[header, payload].concat());
        }
        Change::Truncate => {
            let shorter = &payload[..payload.len().saturating_sub(1)];
            announce(shorter.len(), shorter);
        }
        Change::Grow => announce(payload.len() + 1, &[payload, &[0]].concat()),
        Change::Announce => announce(u32::MAX as usize, payload),
    }
}
