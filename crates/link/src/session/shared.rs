//! What handles, streams and the link's two threads share.

use super::inbox::Inbox;
use super::outbox::Outbox;
use super::wire::{TICK, Wire};
use crate::PublicIdentity;
use crate::establish::Mender;
use crate::sync::{Deadline, lock, wait_timeout};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};
use vesica_core::{Secret, StopReason, TransportError};

/// How long the stop message of an early end may take.
pub(super) const FAREWELL_LIMIT: Duration = Duration::from_millis(1500);

/// How long closing the TCP connection may take after both goodbyes.
pub(super) const DISCONNECT_LIMIT: Duration = Duration::from_secs(2);

/// State shared by handles, streams and the link's two threads.
pub(super) struct Core {
    /// The connection, or the last one.
    pub(super) wire: Mutex<Arc<Wire>>,
    /// Brings another connection, if the session can be mended.
    pub(super) mender: Option<Arc<Mender>>,
    /// The secret that TLS exported when the session began: TLS exports nothing after a damaged
    /// record.
    pub(super) root: Arc<Secret<[u8; 32]>>,
    pub(super) inbox: Mutex<Inbox>,
    pub(super) outbox: Mutex<Outbox>,
    /// With `outbox`: the writer thread has work.
    pub(super) work: Condvar,
    /// With `outbox`: a step of closing is done, or a thread has ended.
    pub(super) progress: Condvar,
    pub(super) ended: OnceLock<TransportError>,
    pub(super) peer: PublicIdentity,
    pub(super) address: SocketAddr,
    pub(super) initiator: bool,
    pub(super) idle: Duration,
    pub(super) keepalive: Duration,
    pub(super) total: Option<Duration>,
    pub(super) sent_bytes: AtomicU64,
    pub(super) received_bytes: AtomicU64,
    /// Counts up whenever data of a stream is sent, arrives, or is read at the other end.
    pub(super) moved: AtomicU64,
    pub(super) expectation: Mutex<Option<Expectation>>,
}

impl Core {
    /// Ends the session with `error` unless it has ended already. With a `farewell`, the writer
    /// thread sends it to the peer before the connection closes.
    pub(super) fn end(&self, error: TransportError, farewell: Option<StopReason>) {
        // A waiting thread checks `ended` under its lock, so none misses the change.
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
        if let Some(mender) = &self.mender {
            mender.end();
        }
        if farewell.is_none() {
            self.wire().shut();
        }
    }

    /// The connection, or the last one.
    pub(super) fn wire(&self) -> Arc<Wire> {
        Arc::clone(&lock(&self.wire))
    }

    /// The error that all operations return after the end of the session.
    pub(super) fn ended_error(&self) -> TransportError {
        self.ended.get().copied().unwrap_or(TransportError::Closed)
    }

    pub(super) fn has_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// The limit of an [expectation](super::Session::expect) that the peer has not met.
    pub(super) fn disappointed(&self) -> Option<Duration> {
        lock(&self.expectation).as_mut()?.is_over(self.moved.load(Ordering::Relaxed))
    }

    pub(super) fn wake_writer(&self, outbox: &mut Outbox) {
        if std::mem::take(&mut outbox.writer_asleep) {
            self.work.notify_one();
        }
    }

    /// Waits until `reached`, at most `limit`; returns whether it was.
    pub(super) fn wait_until(&self, limit: Duration, reached: impl Fn(&Outbox) -> bool) -> bool {
        let deadline = Deadline::after(limit);
        let mut outbox = lock(&self.outbox);
        while !reached(&outbox) && !deadline.is_over() {
            // `Condvar` has no endless timeout.
            let time = deadline.remaining().min(Duration::from_secs(3600));
            outbox = wait_timeout(&self.progress, outbox, time);
        }
        reached(&outbox)
    }
}

/// That something moves.
pub(super) struct Expectation {
    silence: Silence,
    moved: u64,
}

impl Expectation {
    pub(super) fn new(limit: Duration, moved: u64) -> Self {
        Self { silence: Silence::new(limit, TICK), moved }
    }

    /// The limit, if it has passed since something moved.
    fn is_over(&mut self, moved: u64) -> Option<Duration> {
        if std::mem::replace(&mut self.moved, moved) != moved {
            self.silence.broken();
        }
        self.silence.is_over().then_some(self.silence.limit)
    }
}

/// Time without a sign of life. Time in which this process was suspended does not count against the
/// peer.
pub(super) struct Silence {
    pub(super) limit: Duration,
    silent: Duration,
    looked_at: Instant,
    longest_step: Duration,
}

impl Silence {
    /// `tick` is the usual interval between calls of [`is_over`](Self::is_over).
    pub(super) fn new(limit: Duration, tick: Duration) -> Self {
        let looked_at = Instant::now();
        Self { limit, silent: Duration::ZERO, looked_at, longest_step: tick * 4 }
    }

    pub(super) fn broken(&mut self) {
        self.silent = Duration::ZERO;
        self.looked_at = Instant::now();
    }

    pub(super) fn is_over(&mut self) -> bool {
        let now = Instant::now();
        self.silent += (now - self.looked_at).min(self.longest_step);
        self.looked_at = now;
        self.silent >= self.limit
    }
}
