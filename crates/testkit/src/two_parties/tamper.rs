//! A transport that changes one message on its way, for tests of bad peers.

use super::tapped::tapped;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_core::Role;
use vesica_net::{MESSAGE_HEADER_LEN, Streams};

/// What happens to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its middle bit is flipped.
    Flip,
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

impl Change {
    /// Every kind of change of the contents, the length and the number of messages.
    pub const ALL: &[Change] = &[
        Change::Flip,
        Change::Fill,
        Change::Drop,
        Change::Repeat,
        Change::Truncate,
        Change::Grow,
        Change::Announce,
    ];

    /// Whether the message arrives with another length than it was sent with.
    pub fn is_of_length(self) -> bool {
        matches!(self, Change::Truncate | Change::Grow | Change::Announce)
    }
}

/// One change of one message of one party.
#[derive(Clone, Debug)]
pub struct Tampering {
    /// Whose messages are counted.
    pub from: Role,
    /// Which of them is changed, from 0.
    pub message: u64,
    /// How.
    pub change: Change,
    /// Messages that party sent so far; shared by clones.
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

    pub(super) fn wrap(&self, ends: &mut [Arc<dyn Streams>; 2]) {
        let end = &mut ends[usize::from(self.from != Role::Sender)];
        let tampering = self.clone();
        *end = tapped(end, move |_| {
            let tampering = tampering.clone();
            let mut pending = Vec::new();
            Box::new(move |bytes| tampering.pass(&mut pending, bytes))
        });
    }

    /// What leaves of `bytes` and of what is `pending`, the beginning of a message.
    fn pass(&self, pending: &mut Vec<u8>, bytes: &[u8]) -> Vec<u8> {
        pending.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(pending.len());
        let mut start = 0;
        while let Some(message) = first_message(&pending[start..]) {
            start += message.len();
            if self.seen.fetch_add(1, Ordering::SeqCst) == self.message {
                change(message, self.change, &mut out);
            } else {
                out.extend_from_slice(message);
            }
        }
        pending.drain(..start);
        out
    }
}

fn first_message(bytes: &[u8]) -> Option<&[u8]> {
    let (header, _) = bytes.split_first_chunk::<MESSAGE_HEADER_LEN>()?;
    bytes.get(..MESSAGE_HEADER_LEN + u32::from_le_bytes(*header) as usize)
}

fn change(message: &[u8], change: Change, out: &mut Vec<u8>) {
    let payload = &message[MESSAGE_HEADER_LEN..];
    let mut announce = |len: usize, payload: &[u8]| {
        out.extend_from_slice(&(len as u32).to_le_bytes());
        out.extend_from_slice(payload);
    };
    let flipped = |bit: usize| {
        let mut flipped = payload.to_vec();
        if !payload.is_empty() {
            flipped[bit / 8 % payload.len()] ^= 1 << (bit % 8);
        }
        flipped
    };
    match change {
        Change::Flip => announce(payload.len(), &flipped(payload.len() / 2 * 8 + 4)),
        Change::FlipBit(bit) => announce(payload.len(), &flipped(bit)),
        Change::Fill => announce(payload.len(), &vec![0xff; payload.len()]),
        Change::Zero => announce(payload.len(), &vec![0; payload.len()]),
        Change::Drop => {}
        Change::Repeat => {
            announce(payload.len(), payload);
            announce(payload.len(), payload);
        }
        Change::Truncate => {
            let shorter = &payload[..payload.len().saturating_sub(1)];
            announce(shorter.len(), shorter);
        }
        Change::Grow => announce(payload.len() + 1, &[payload, &[0]].concat()),
        Change::Announce => announce(u32::MAX as usize, payload),
    }
}
