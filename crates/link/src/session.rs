//! Any number of streams over one TLS connection, or over one after another.
//!
//! ```text
//!   StreamWriter ─▶ Outbox ─▶ writer thread ─▶ TLS ─▶ socket ─▶ TLS ─▶ reader thread ─▶ Inbox ─▶ StreamReader
//!                   (blocks,                                            (demux)          (blocks,
//!                    credit)                                                              window)
//! ```
//!
//! * **Flow control.** Each direction of each stream has a window: its writer may send as many
//!   bytes as the reader at the other end granted. So a slow reader delays only its own stream, and
//!   the windows bound memory. A writer whose reader never reads blocks; the parties must not wait
//!   for each other that way.
//! * **Order.** Both sides open streams in about the same order. A side that is far ahead waits
//!   until the peer has opened the earlier ones.
//! * **Signs of life.** The link's own threads send one four times per idle limit, also while the
//!   party computes. A peer that sends nothing, or accepts nothing, for the idle limit is
//!   considered gone.
//! * **Progress.** Signs of life say nothing about the peer's program. A side that
//!   [expects](Session::expect) something ends the session if for a time no stream has moved.
//! * **Another connection.** A session that can be mended outlives its connection: both sides
//!   number their frames and keep them until the other side has acknowledged them, and send the
//!   missing ones again over the next connection.
//! * **One end for all.** When the session ends, every blocked reader and writer wakes with the
//!   same error.
//!
//! Lock order: TLS, then inbox or outbox; never inbox and outbox together.

mod demux;
pub(crate) mod fuzzing;
mod inbox;
mod log;
mod mend;
mod outbox;
mod reader;
mod shared;
mod spare;
mod stream;
#[cfg(test)]
mod tests;
mod windows;
mod wire;
mod writer;

use crate::authenticated::Authenticated;
use crate::establish::Mender;
use crate::sync::{lock, wait};
use crate::{LinkError, PublicIdentity};
use outbox::Outbox;
use shared::{Core, DISCONNECT_LIMIT, Expectation, FAREWELL_LIMIT};
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};
use stream::{Reader, Writer};
use vesica_core::{Secret, StopReason, TransportError, hash};
use vesica_net::{Connection, StreamId, StreamPair, Streams};
use windows::{FIRST_WINDOW, WINDOW};
use wire::Wire;

/// Least time that [`Session::close`] waits for the peer to close too.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// The label of the secret that a session takes from TLS when it starts.
const EXPORT_ROOT: &str = "EXPORTER-vesica";

/// The label under which values are derived from that secret.
const EXPORT: &str = "vesica link 2026 export";

/// An established session with an authenticated peer; clones are handles of the same session.
///
/// Dropping the last handle without [`close`](Session::close) ends the session at once: open
/// streams fail, and the peer sees [`TransportError::Closed`], or, if the session can be mended,
/// [`TransportError::PeerStopped`].
#[derive(Clone)]
pub struct Session {
    handle: Arc<Handle>,
}

struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A peer that can mend would wait for us otherwise.
        let farewell = self.core.mender.as_ref().map(|_| StopReason::Internal);
        self.core.end(TransportError::Closed, farewell);
    }
}

impl Session {
    pub(crate) fn start(
        authenticated: Authenticated,
        idle: Duration,
        total: Option<Duration>,
        mender: Option<Arc<Mender>>,
    ) -> Result<Self, LinkError> {
        let no_resources = |error: std::io::Error| LinkError::NoResources(error.kind());
        // Both limits are clamped: a peer's limit of a millisecond must not make us send a flood of
        // signs of life.
        let keepalive = (idle.min(authenticated.peer_idle) / 4)
            .clamp(Duration::from_millis(50), Duration::from_secs(30));
        let mut root = Secret::new([0; 32]);
        let tls = &authenticated.tls;
        tls.export_keying_material(root.expose_mut(), EXPORT_ROOT.as_bytes(), None)
            .map_err(|_| LinkError::Disconnected)?;
        let root = Arc::new(root);
        let Authenticated { peer, address, initiator, .. } = authenticated;
        let (sent_bytes, received_bytes) = (authenticated.sent_bytes, authenticated.received_bytes);
        let mut outbox = Outbox::new(mender.is_some());
        outbox.count_early_bytes(StreamId::ROOT, authenticated.early_bytes);
        let core = Arc::new(Core {
            wire: Mutex::new(Arc::new(Wire::new(authenticated).map_err(no_resources)?)),
            mender: mender.clone(),
            root: Arc::clone(&root),
            inbox: Mutex::default(),
            outbox: Mutex::new(outbox),
            work: Condvar::new(),
            progress: Condvar::new(),
            ended: OnceLock::new(),
            peer,
            address,
            initiator,
            idle,
            keepalive,
            total,
            sent_bytes: AtomicU64::new(sent_bytes),
            received_bytes: AtomicU64::new(received_bytes),
            moved: AtomicU64::new(0),
            expectation: Mutex::default(),
        });
        let session = Self { handle: Arc::new(Handle { core: Arc::clone(&core) }) };
        if let Some(mender) = mender {
            mender.start(root).map_err(no_resources)?;
        }
        let for_reader = Arc::clone(&core);
        spawn("vesica-receive", move || reader::run(&for_reader)).map_err(no_resources)?;
        spawn("vesica-send", move || writer::run(&core)).map_err(no_resources)?;
        Ok(session)
    }

    /// The peer's identity, proved by its signature.
    pub fn peer(&self) -> PublicIdentity {
        self.core().peer
    }

    /// The peer's address.
    pub fn peer_address(&self) -> SocketAddr {
        self.core().address
    }

    /// Whether this side connected; it differs at the two sides.
    pub fn initiator(&self) -> bool {
        self.core().initiator
    }

    /// 32 bytes that only the two ends of this session can derive, at any time while the handle
    /// exists.
    ///
    /// They come from a secret that TLS exported when the session began (RFC 8446 §7.5). They
    /// differ for each session, `label` and `context`, so what they bind is bound to this
    /// connection. The exporter covers the handshake up to the listening side's part; to bind both
    /// identities, name them in `context`, as an agreement's hash does.
    pub fn export(&self, label: &str, context: &[u8]) -> [u8; 32] {
        hash::derive(EXPORT, &[self.core().root.expose(), label.as_bytes(), context])
    }

    /// Bytes sent and received so far on the TCP connection, including handshake and framing.
    pub fn wire_bytes(&self) -> (u64, u64) {
        let core = self.core();
        (core.sent_bytes.load(Ordering::Relaxed), core.received_bytes.load(Ordering::Relaxed))
    }

    /// Why the session ended; `None` while it is open.
    pub fn ended(&self) -> Option<TransportError> {
        self.core().ended.get().copied()
    }

    /// From now on, ends the session with [`TransportError::Idle`] when for `limit` no data of a
    /// stream has been sent, has arrived, or has been read at the other end; `None` for no such
    /// limit. The link's signs of life do not count: a peer whose program hangs still sends them.
    pub fn expect(&self, limit: Option<Duration>) {
        let core = self.core();
        let moved = core.moved.load(Ordering::Relaxed);
        *lock(&core.expectation) = limit.map(|limit| Expectation::new(limit, moved));
    }

    /// How often each side sends a sign of life: often enough for the idle limits of both.
    pub fn sign_every(&self) -> Duration {
        self.core().keepalive
    }

    /// Ends the session early and sends the peer the reason. The peer's operations fail with
    /// [`TransportError::PeerStopped`], ours with [`TransportError::CancelledHere`]. Returns when
    /// the peer has closed, after 1.5 s at the latest. No effect on a session that has ended.
    pub fn stop(&self, reason: StopReason) {
        self.abort(reason);
        self.core().wait_until(FAREWELL_LIMIT, |outbox| outbox.reader_done);
    }

    /// Ends the session in order: sends all flushed data and a goodbye, and waits until the peer
    /// has closed too, for at most the idle limit, or 10 s if that is less. No data that either
    /// side flushed is lost; arrived data can still be read.
    ///
    /// # Errors
    /// [`TransportError::Idle`] if the peer does not close in time; the error that ended the
    /// session before.
    pub fn close(&self) -> Result<(), TransportError> {
        self.close_within(self.core().idle.max(CLOSE_LIMIT))
    }

    /// [`close`](Self::close) with another time limit.
    ///
    /// # Errors
    /// As [`close`](Self::close).
    pub fn close_within(&self, limit: Duration) -> Result<(), TransportError> {
        let core = self.core();
        {
            let mut outbox = lock(&core.outbox);
            outbox.closing = true;
            outbox.hurry();
            core.wake_writer(&mut outbox);
        }
        let over = |outbox: &Outbox| {
            (outbox.goodbye_sent && outbox.goodbye_received) || core.ended.get().is_some()
        };
        // Time without a connection has its own limit. A new connection resets neither limit: a
        // peer could make as many as it likes.
        let without = core.mender.as_ref().map_or(Duration::ZERO, |mender| mender.limit());
        let mut left = [limit, without.saturating_add(Duration::from_secs(1))];
        let both = loop {
            let holds = lock(&core.outbox).holds();
            let left = &mut left[usize::from(holds)];
            let since = Instant::now();
            if !core.wait_until(*left, |outbox| over(outbox) || outbox.holds() != holds) {
                break false;
            }
            *left = left.saturating_sub(since.elapsed());
            if over(&lock(&core.outbox)) {
                break true;
            }
        };
        if !both {
            core.end(TransportError::Idle(limit), Some(StopReason::Timeout));
            return Err(TransportError::Idle(limit));
        }
        {
            let mut outbox = lock(&core.outbox);
            // The peer may disconnect when it has both goodbyes; that is not a failure.
            if !(outbox.goodbye_sent && outbox.goodbye_received) {
                return Err(core.ended_error());
            }
            outbox.disconnect = true;
            core.wake_writer(&mut outbox);
        }
        // Both: the peer may have our last bytes before the sending thread has counted them.
        core.wait_until(DISCONNECT_LIMIT, |outbox| outbox.reader_done && outbox.writer_done);
        core.end(TransportError::Closed, None);
        Ok(())
    }

    fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }
}

impl Streams for Session {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let core = self.core();
        {
            let mut outbox = lock(&core.outbox);
            loop {
                if let Some(error) = core.ended.get() {
                    return Err(*error);
                }
                if outbox.may_open(id) {
                    break;
                }
                if outbox.goodbye_received {
                    return Err(TransportError::Closed);
                }
                outbox = wait(&core.progress, outbox);
            }
        }
        let arrived = lock(&core.inbox).open(id)?;
        let room = {
            let mut outbox = lock(&core.outbox);
            let room = outbox.open(id)?;
            // The difference between the windows of an open and an unopened stream.
            outbox.grant(id, WINDOW - FIRST_WINDOW);
            core.wake_writer(&mut outbox);
            room
        };
        let reader = Reader::new(Arc::clone(core), id, arrived);
        let writer = Writer::new(Arc::clone(core), id, room);
        Ok((Box::new(reader), Box::new(writer)))
    }

    fn abort(&self, reason: StopReason) {
        self.core().end(TransportError::CancelledHere, Some(reason));
    }
}

impl Connection for Session {
    fn export(&self, label: &str, context: &[u8]) -> [u8; 32] {
        Session::export(self, label, context)
    }

    fn seed(&self) -> Option<[u8; 32]> {
        None
    }

    fn ended(&self) -> Option<TransportError> {
        Session::ended(self)
    }

    fn stop(&self, reason: StopReason) {
        Session::stop(self, reason);
    }

    fn close(&self) -> Result<(), TransportError> {
        Session::close(self)
    }

    fn wire_bytes(&self) -> (u64, u64) {
        Session::wire_bytes(self)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("peer", &self.peer())
            .field("address", &self.core().address)
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(run).map(drop)
}
