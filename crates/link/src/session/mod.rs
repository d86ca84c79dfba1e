//! One TLS connection that carries any number of streams.
//!
//! ```text
//!   StreamWriter ─▶ Outbox ─▶ writer thread ─▶ TLS ─▶ socket ─▶ TLS ─▶ reader thread ─▶ Inbox ─▶ StreamReader
//!                   (blocks,                                            (demux)          (blocks,
//!                    credit)                                                              window)
//! ```
//!
//! * **Flow control.** Each direction of each stream has a window: its writer may send as many
//!   bytes as the reader at the other end granted. So a stream whose reader is slow holds up
//!   nobody else, and memory is bounded by the windows. A writer whose reader never reads blocks;
//!   it is up to the parties not to wait for each other that way.
//! * **Life signs.** The link's own threads show four times per idle limit that the process
//!   lives, also while the party computes. A peer from which nothing comes for the idle limit, or
//!   that takes nothing for so long, is gone.
//! * **One end for all.** Whatever ends the session wakes every blocked reader and writer with the
//!   same error.
//!
//! Locks are taken in the order TLS, then inbox or outbox, never both of the latter.

mod demux;
pub(crate) mod fuzzing;
#[cfg(test)]
mod hostile_tests;
mod inbox;
mod outbox;
mod reader;
mod spare;
mod stream;
mod writer;

use crate::establish::Introduced;
use crate::sync::{Deadline, lock, wait_timeout};
use crate::{LinkError, PublicIdentity};
use inbox::Inbox;
use outbox::Outbox;
use std::fmt;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;
use stream::{Reader, Writer};
use vesica_core::{Secret, StopReason, TransportError, hash};
use vesica_net::{StreamId, StreamPair, Streams};

/// Bytes a peer may send on a stream before this end has opened it.
const FIRST_WINDOW: usize = 256 << 10;

/// Bytes a peer may have under way on an open stream: enough for 400 Mbit/s at 80 ms round trip.
const WINDOW: usize = 4 << 20;

/// Streams the peer may use before this end has opened them. With [`FIRST_WINDOW`] it bounds what
/// an impatient peer can make us hold.
const MAX_UNOPENED: usize = 512;

/// How often a blocked thread of the link looks at the clocks.
const TICK: Duration = Duration::from_millis(50);

/// How long the farewell of an early end may take.
const FAREWELL_LIMIT: Duration = Duration::from_millis(1500);

/// How long [`Session::close`] waits at least for the peer to close, too.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// The label of the secret that a session takes from TLS when it starts.
const EXPORT_ROOT: &str = "EXPORTER-vesica";

/// The label under which values are derived from that secret.
const EXPORT: &str = "vesica link 2026 export";

/// How long the end of the TCP connection itself may take after both sides said goodbye.
const HANG_UP_LIMIT: Duration = Duration::from_secs(2);

/// A standing session with an authenticated peer; clones are handles of the same session.
///
/// Dropping the last handle without [`close`](Session::close) ends the session at once: open
/// streams fail, and the peer sees [`TransportError::Closed`].
#[derive(Clone)]
pub struct Session {
    handle: Arc<Handle>,
}

struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.end(TransportError::Closed, None);
    }
}

/// What handles, streams and the link's two threads share.
struct Core {
    socket: TcpStream,
    tls: Mutex<rustls::Connection>,
    /// What TLS exported when the session began: after a damaged record it exports nothing.
    root: Secret<[u8; 32]>,
    inbox: Mutex<Inbox>,
    outbox: Mutex<Outbox>,
    /// With `outbox`: the writer thread has something to do.
    work: Condvar,
    /// With `outbox`: a step of closing is done, or a thread has ended.
    progress: Condvar,
    ended: OnceLock<TransportError>,
    peer: PublicIdentity,
    address: SocketAddr,
    initiator: bool,
    idle: Duration,
    keepalive: Duration,
    total: Option<Duration>,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
}

impl Session {
    pub(crate) fn start(
        introduced: Introduced,
        idle: Duration,
        total: Option<Duration>,
    ) -> Result<Self, LinkError> {
        let no_resources = |error: std::io::Error| LinkError::NoResources(error.kind());
        // Both clamped: a peer's limit of a millisecond must not make us a flood of life signs.
        let keepalive = (idle.min(introduced.peer_idle) / 4)
            .clamp(Duration::from_millis(50), Duration::from_secs(30));
        introduced.socket.set_nonblocking(false).map_err(no_resources)?;
        introduced.socket.set_read_timeout(Some(TICK)).map_err(no_resources)?;
        introduced.socket.set_write_timeout(Some(TICK)).map_err(no_resources)?;
        let mut tls = introduced.tls;
        // The writer thread bounds what it hands over at once.
        tls.set_buffer_limit(None);
        let mut root = Secret::new([0; 32]);
        tls.export_keying_material(root.expose_mut(), EXPORT_ROOT.as_bytes(), None)
            .map_err(|_| LinkError::HungUp)?;
        let core = Arc::new(Core {
            socket: introduced.socket,
            tls: Mutex::new(tls),
            root,
            inbox: Mutex::default(),
            outbox: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
            ended: OnceLock::new(),
            peer: introduced.peer,
            address: introduced.address,
            initiator: introduced.initiator,
            idle,
            keepalive,
            total,
            sent_bytes: AtomicU64::new(introduced.sent_bytes),
            received_bytes: AtomicU64::new(introduced.received_bytes),
        });
        let session = Self { handle: Arc::new(Handle { core: Arc::clone(&core) }) };
        let for_reader = Arc::clone(&core);
        spawn("vesica-receive", move || reader::run(&for_reader)).map_err(no_resources)?;
        spawn("vesica-send", move || writer::run(&core)).map_err(no_resources)?;
        Ok(session)
    }

    /// Who is at the other end, proved by its signature.
    pub fn peer(&self) -> PublicIdentity {
        self.core().peer
    }

    /// The other end's address.
    pub fn peer_address(&self) -> SocketAddr {
        self.core().address
    }

    /// Whether this side made the connection; the two sides differ in it.
    pub fn initiator(&self) -> bool {
        self.core().initiator
    }

    /// 32 bytes that both ends of this session derive, and nobody else can, at any time while the handle exists.
    ///
    /// They come from a secret that TLS exported when the session began (RFC 8446 §7.5). Different for each
    /// session, `label` and `context`: what is bound to it is bound to this connection. The exporter covers the handshake up to the listening side's part; for what must
    /// be bound to both identities, name them in `context`, as an agreement's hash does.
    pub fn export(&self, label: &str, context: &[u8]) -> [u8; 32] {
        hash::derive(EXPORT, &[self.core().root.expose(), label.as_bytes(), context])
    }

    /// Bytes sent and received so far on the TCP connection, handshake and framing included.
    pub fn wire_bytes(&self) -> (u64, u64) {
        let core = self.core();
        (core.sent_bytes.load(Ordering::Relaxed), core.received_bytes.load(Ordering::Relaxed))
    }

    /// What ended the session; `None` while it stands.
    pub fn ended(&self) -> Option<TransportError> {
        self.core().ended.get().copied()
    }

    /// Ends the session early and tells the peer why, which fails there with
    /// [`TransportError::PeerStopped`]; here with [`TransportError::CancelledHere`]. Returns when
    /// the peer has gone, at the latest after 1.5 s. Without effect on a session that has ended.
    pub fn stop(&self, reason: StopReason) {
        self.abort(reason);
        self.core().wait_until(FAREWELL_LIMIT, |outbox| outbox.reader_done);
    }

    /// Ends the session in good order: sends all that was flushed, tells the peer, and waits until it has closed,
    /// too: for at most the idle limit, or 10 s where that is less. Nothing that either side wrote and flushed is lost; what
    /// has arrived can be read afterwards.
    ///
    /// # Errors
    /// [`TransportError::Idle`] when the peer does not close in time; whatever else ended the
    /// session before.
    pub fn close(&self) -> Result<(), TransportError> {
        self.close_within(self.core().idle.max(CLOSE_LIMIT))
    }

    /// [`close`](Self::close) with another limit.
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
        let both = core.wait_until(limit, |outbox| {
            (outbox.goodbye_sent && outbox.goodbye_received) || core.ended.get().is_some()
        });
        if !both {
            core.end(TransportError::Idle(limit), Some(StopReason::Timeout));
            return Err(TransportError::Idle(limit));
        }
        {
            let mut outbox = lock(&core.outbox);
            // The peer may hang up as soon as it has both goodbyes; that is no failure here.
            if !(outbox.goodbye_sent && outbox.goodbye_received) {
                return Err(core.ended_error());
            }
            outbox.hang_up = true;
            core.wake_writer(&mut outbox);
        }
        // Both: the peer may have our last words before the thread that sent them has counted them.
        core.wait_until(HANG_UP_LIMIT, |outbox| outbox.reader_done && outbox.writer_done);
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
        if let Some(error) = core.ended.get() {
            return Err(*error);
        }
        let arrived = lock(&core.inbox).open(id)?;
        let room = {
            let mut outbox = lock(&core.outbox);
            let room = outbox.open(id)?;
            // What the window of an open stream has more than that of an unopened one.
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

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("peer", &self.peer())
            .field("address", &self.core().address)
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

impl Core {
    /// Ends the session with `error` for everybody, unless it has ended already. With a
    /// `farewell` the writer thread tells the peer before the connection goes.
    fn end(&self, error: TransportError, farewell: Option<StopReason>) {
        // Whoever waits looked at `ended` under its lock, so that nobody misses the change.
        {
            let mut outbox = lock(&self.outbox);
            if self.ended.set(error).is_err() {
                return;
            }
            outbox.farewell = farewell;
            outbox.wake_all();
            self.work.notify_all();
            self.progress.notify_all();
        }
        lock(&self.inbox).wake_all();
        tracing::debug!(%error, "the session ended");
        if farewell.is_none() {
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }

    /// The error everybody gets once the session has ended.
    fn ended_error(&self) -> TransportError {
        self.ended.get().copied().unwrap_or(TransportError::Closed)
    }

    fn wake_writer(&self, outbox: &mut Outbox) {
        if std::mem::take(&mut outbox.writer_asleep) {
            self.work.notify_one();
        }
    }

    /// Waits until `reached`, at most `limit`; says whether it was.
    fn wait_until(&self, limit: Duration, reached: impl Fn(&Outbox) -> bool) -> bool {
        let deadline = Deadline::after(limit);
        let mut outbox = lock(&self.outbox);
        while !reached(&outbox) && !deadline.is_over() {
            // `Condvar` cannot express an endless wait as a timeout.
            let time = deadline.remaining().min(Duration::from_secs(3600));
            outbox = wait_timeout(&self.progress, outbox, time);
        }
        reached(&outbox)
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

/// Time without a sign of life, measured so that the time in which this process itself was
/// suspended does not count against the peer.
struct Silence {
    limit: Duration,
    silent: Duration,
    looked_at: std::time::Instant,
    longest_step: Duration,
}

impl Silence {
    /// `tick` is how often [`is_over`](Self::is_over) is asked when all is well.
    fn new(limit: Duration, tick: Duration) -> Self {
        let looked_at = std::time::Instant::now();
        Self { limit, silent: Duration::ZERO, looked_at, longest_step: tick * 4 }
    }

    fn broken(&mut self) {
        self.silent = Duration::ZERO;
        self.looked_at = std::time::Instant::now();
    }

    fn is_over(&mut self) -> bool {
        let now = std::time::Instant::now();
        self.silent += (now - self.looked_at).min(self.longest_step);
        self.looked_at = now;
        self.silent >= self.limit
    }
}
