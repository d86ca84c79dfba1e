use crate::message_order::{self, Run};
use crate::meter::Span;
use crate::write_queue::WriteQueue;
use crate::{StreamPair, StreamReader};
use std::sync::Arc;
use vesica_core::{Error, Misbehaviour, Result, TransportError};

/// Bytes of the length that precedes each message on the wire. Not counted as payload.
pub const MESSAGE_HEADER_LEN: usize = 4;

/// Messages are joined to blocks of this size before they go to the channel's writer thread.
const GATHER_BYTES: usize = 128 << 10;

/// Bytes of one message of an exchange, in which both ends send at the same time.
const EXCHANGED_AT_ONCE: usize = 1 << 20;

/// Messages of an exchange that are sent before the first of the peer's is read.
const EXCHANGED_AHEAD: usize = 3;

/// A message as a channel writes it to its stream.
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}

/// Hard limits of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest message in either direction, in bytes; below 2^32.
    pub message_bytes: usize,
    /// Most bytes that the peer has not read yet; a send beyond that blocks.
    pub queue_bytes: usize,
}

impl Default for Limits {
    /// 64 MiB for a message, 8 GiB in the queue.
    fn default() -> Self {
        Self { message_bytes: 64 << 20, queue_bytes: 8 << 30 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sending,
    Receiving,
    Exchanging,
}

/// Messages of agreed lengths over one stream to one peer.
///
/// * Blocking. Sends are buffered and written by a separate thread, so two parties that both write
///   never deadlock; a receive flushes first.
/// * Every receive states the expected length. Another length is [`Misbehaviour::WrongMessageLen`],
///   detected before anything is allocated.
/// * Payload bytes, messages and flights are counted under the current label.
/// * After an error the channel stays closed.
pub struct Channel {
    reader: Box<dyn StreamReader>,
    queue: WriteQueue,
    gathered: Vec<u8>,
    limits: Limits,
    span: Arc<Span>,
    direction: Option<Direction>,
    flights: u64,
    flights_under_span: u64,
    order: Option<Vec<Run>>,
    poisoned: bool,
}

impl Channel {
    pub(crate) fn new(stream: StreamPair, limits: Limits, span: Arc<Span>) -> Result<Self> {
        let (reader, writer) = stream;
        Ok(Self {
            reader,
            queue: WriteQueue::start(writer, limits.queue_bytes)?,
            gathered: Vec::new(),
            limits,
            span,
            direction: None,
            flights: 0,
            flights_under_span: 0,
            order: None,
            poisoned: false,
        })
    }

    /// Starts to record the order of messages.
    pub(crate) fn note_order(&mut self) {
        self.order.get_or_insert_default();
    }

    /// The order recorded so far.
    pub(crate) fn order(&self) -> &[Run] {
        self.order.as_deref().unwrap_or_default()
    }

    fn note(&mut self, run: Run) {
        if let Some(order) = &mut self.order {
            message_order::note(order, run);
        }
    }

    pub(crate) fn set_span(&mut self, span: Arc<Span>) -> Arc<Span> {
        self.flights_under_span = 0;
        std::mem::replace(&mut self.span, span)
    }

    /// Sends one message.
    ///
    /// # Errors
    /// [`Error::Transport`]; [`Error::Bug`] if the message is longer than the channel's limit.
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        self.guarded(|channel| channel.send_inner(message))
    }

    /// Counts a message of `len` bytes whose [frame](framed) the stream carried before the channel
    /// existed.
    pub fn was_sent(&mut self, len: usize) {
        self.turn(Direction::Sending);
        self.note(Run::Sent(1));
        self.span.count_sent(len);
    }

    /// Receives one message of exactly `len` bytes.
    ///
    /// # Errors
    /// [`Error::Transport`]; [`Misbehaviour::WrongMessageLen`]; [`Error::Bug`] if `len` is above
    /// the channel's limit.
    pub fn recv(&mut self, len: usize) -> Result<Vec<u8>> {
        self.guarded(|channel| {
            channel.expect_message(len)?;
            let mut message = vec![0; len];
            channel.reader.read_exact(&mut message)?;
            Ok(message)
        })
    }

    /// Receives one message that fills `message` exactly.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn recv_into(&mut self, message: &mut [u8]) -> Result<()> {
        self.guarded(|channel| {
            channel.expect_message(message.len())?;
            Ok(channel.reader.read_exact(message)?)
        })
    }

    /// Sends `message` while the peer sends equally many bytes, which fill `reply`: one flight in
    /// both directions.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`recv`](Self::recv).
    pub fn exchange(&mut self, message: &[u8], reply: &mut [u8]) -> Result<()> {
        self.guarded(|channel| {
            channel.direction = None;
            channel.turn(Direction::Exchanging);
            let mut parts = message.chunks(EXCHANGED_AT_ONCE);
            let mut replies = reply.chunks_mut(EXCHANGED_AT_ONCE);
            channel.note(Run::Exchanged);
            // Send some messages before the first of the peer's is read, so that the link is never
            // idle. The peer sends as many ahead, and they are all in memory here.
            for part in parts.by_ref().take(EXCHANGED_AHEAD) {
                channel.push_message(part)?;
            }
            loop {
                channel.flush_inner()?;
                let reply = replies.next();
                if let Some(reply) = reply {
                    channel.read_header(reply.len())?;
                    channel.reader.read_exact(reply)?;
                } else if parts.len() == 0 {
                    return Ok(());
                }
                if let Some(part) = parts.next() {
                    channel.push_message(part)?;
                }
            }
        })
    }

    /// Passes everything sent so far to the writer thread. A receive does this itself.
    ///
    /// # Errors
    /// [`Error::Transport`].
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(Self::flush_inner)
    }

    /// Flushes, and waits until everything is written to the transport.
    ///
    /// # Errors
    /// [`Error::Transport`].
    pub fn finish(&mut self) -> Result<()> {
        self.guarded(|channel| {
            channel.flush_inner()?;
            channel.queue.drain()
        })
    }

    /// Changes between sending and receiving so far, including the first message.
    pub(crate) fn direction_changes(&self) -> u64 {
        self.flights
    }

    fn guarded<R>(&mut self, step: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.poisoned {
            return Err(TransportError::Poisoned.into());
        }
        let result = step(self);
        self.poisoned = result.is_err();
        result
    }

    fn turn(&mut self, direction: Direction) {
        if self.direction != Some(direction) {
            self.direction = Some(direction);
            self.flights += 1;
            self.flights_under_span += 1;
            self.span.count_flights(self.flights_under_span);
        }
    }

    fn send_inner(&mut self, message: &[u8]) -> Result<()> {
        if message.len() > self.limits.message_bytes {
            return Err(Error::Bug("a message is larger than the channel's limit"));
        }
        self.turn(Direction::Sending);
        self.note(Run::Sent(1));
        self.push_message(message)
    }

    fn push_message(&mut self, message: &[u8]) -> Result<()> {
        if self.gathered.capacity() == 0 {
            self.gathered.reserve(GATHER_BYTES.max(MESSAGE_HEADER_LEN + message.len()));
        }
        self.gathered.extend_from_slice(&(message.len() as u32).to_le_bytes());
        self.gathered.extend_from_slice(message);
        self.span.count_sent(message.len());
        if self.gathered.len() >= GATHER_BYTES { self.flush_inner() } else { Ok(()) }
    }

    fn flush_inner(&mut self) -> Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.queue.push(std::mem::take(&mut self.gathered))
    }

    fn expect_message(&mut self, len: usize) -> Result<()> {
        if len > self.limits.message_bytes {
            return Err(Error::Bug("a message is larger than the channel's limit"));
        }
        self.flush_inner()?;
        self.turn(Direction::Receiving);
        self.note(Run::Received(1));
        self.read_header(len)
    }

    fn read_header(&mut self, len: usize) -> Result<()> {
        let mut header = [0; MESSAGE_HEADER_LEN];
        self.reader.read_exact(&mut header)?;
        let actual = u32::from_le_bytes(header) as usize;
        if actual != len {
            return Err(Misbehaviour::WrongMessageLen {
                expected: len as u64,
                actual: actual as u64,
            }
            .into());
        }
        self.span.count_received(len);
        Ok(())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // The party's last message may still be in the buffer.
        if !self.poisoned {
            let _ = self.flush_inner();
        }
    }
}
