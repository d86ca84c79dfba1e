//! A transport that keeps what one party sends.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::{Result, Role, StopReason, TransportError};
use vesica_net::{
    Context, MESSAGE_HEADER_LEN, Meter, Pool, Shape, StreamId, StreamPair, StreamWriter, Streams,
    memory,
};

struct Recorded {
    inner: Arc<dyn Streams>,
    sent: Arc<Mutex<Vec<u8>>>,
}

struct RecordedWriter {
    inner: Box<dyn StreamWriter>,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Streams for Recorded {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        Ok((reader, Box::new(RecordedWriter { inner, sent: Arc::clone(&self.sent) })))
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }
}

impl StreamWriter for RecordedWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.sent.lock().unwrap().extend_from_slice(bytes);
        self.inner.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }
}

fn party(
    peer: Role,
    streams: Arc<dyn Streams>,
    party: impl FnOnce(&mut Context) -> Result<()>,
) -> Result<()> {
    let pool = Pool::new(NonZeroUsize::MIN)?;
    let seed = [if peer == Role::Sender { 5 } else { 6 }; 32];
    let mut ctx = Context::new(vec![(peer, streams)], seed, pool, Meter::new())?;
    party(&mut ctx)?;
    ctx.finish()
}

/// The messages that the sender sends, in order.
pub(crate) fn sent_by_sender(
    sender: impl FnOnce(&mut Context) -> Result<()> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<()>,
) -> Vec<Vec<u8>> {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let sent = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::new(Recorded { inner: sender_end, sent: Arc::clone(&sent) });
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| party(Role::Receiver, recorded, sender));
        party(Role::Sender, receiver_end, receiver).unwrap();
        sending.join().unwrap().unwrap();
    });
    let sent = sent.lock().unwrap();
    let (mut messages, mut rest) = (Vec::new(), &sent[..]);
    while let Some((header, after)) = rest.split_first_chunk::<MESSAGE_HEADER_LEN>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*header) as usize);
        messages.push(message.to_vec());
        rest = after;
    }
    messages
}
