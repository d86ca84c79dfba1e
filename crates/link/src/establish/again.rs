//! Another connection for a session that has lost its own.

use super::attempt::{Attempt, CANCEL_TICK, Caller, Intent, WAITING_EVENT_EVERY};
use super::connect;
use super::event::LinkEvent;
use super::options::{Endpoint, LinkOptions};
use super::pending::{Arrival, PendingConnections};
use crate::authenticated::Authenticated;
use crate::sync::{Deadline, lock, wait_timeout};
use crate::tls::Tls;
use crate::{CancelToken, LinkError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use vesica_core::Secret;

/// Receives the events of a session that can be mended, on any thread.
pub type OnEvent = Arc<dyn Fn(LinkEvent) + Send + Sync>;

/// Pause before a side connects again: a line that breaks each connection at once must not keep
/// both sides busy.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Brings a session to another connection, for as long as the session lasts.
pub(crate) struct Mender {
    tls: Tls,
    /// With the time that a session waits for another connection.
    options: LinkOptions,
    on_event: OnEvent,
    /// The open port, until the thread that watches it has it.
    port: Mutex<Option<PendingConnections>>,
    root: Mutex<Option<Arc<Secret<[u8; 32]>>>>,
    cancel: CancelToken,
    arrival: Mutex<Option<Result<Box<Authenticated>, LinkError>>>,
    /// Whether there is one, for threads that look often.
    has_arrival: AtomicBool,
    arrived: Condvar,
    /// While the session has no connection: until when it waits for one.
    waiting: Mutex<Option<Deadline>>,
}

impl Mender {
    pub(super) fn new(
        tls: Tls,
        options: LinkOptions,
        on_event: OnEvent,
        port: Option<PendingConnections>,
    ) -> Arc<Self> {
        Arc::new(Self {
            tls,
            options,
            on_event,
            port: Mutex::new(port),
            root: Mutex::default(),
            cancel: CancelToken::new(),
            arrival: Mutex::default(),
            has_arrival: AtomicBool::new(false),
            arrived: Condvar::new(),
            waiting: Mutex::default(),
        })
    }

    /// The session begins. A listening side keeps its port open from now on.
    pub(crate) fn start(
        self: &Arc<Self>,
        root: Arc<Secret<[u8; 32]>>,
    ) -> Result<(), std::io::Error> {
        *lock(&self.root) = Some(Arc::clone(&root));
        let Some(mut port) = lock(&self.port).take() else { return Ok(()) };
        port.expect_again(Intent::Again(root));
        let mender = Arc::clone(self);
        let watch = move || mender.watch(port);
        std::thread::Builder::new().name("vesica-listen".into()).spawn(watch).map(drop)
    }

    /// How long a session waits for another connection.
    pub(crate) fn limit(&self) -> Duration {
        self.options.wait
    }

    pub(crate) fn tell(&self, event: LinkEvent) {
        (self.on_event)(event);
    }

    /// The session has ended.
    pub(crate) fn end(&self) {
        self.cancel.cancel();
        // A peer at its other end must not wait there.
        lock(&self.arrival).take();
    }

    /// Whether the peer is there on another connection, or was started again.
    pub(crate) fn has_arrival(&self) -> bool {
        self.has_arrival.load(Ordering::Acquire)
    }

    /// The session has lost its connection and waits for another one until then. A peer that was
    /// started again is found out from now on.
    pub(crate) fn wait_until(&self, until: Deadline) {
        *lock(&self.waiting) = Some(until);
    }

    /// Looks for another connection.
    pub(crate) fn look(self: &Arc<Self>) -> Result<(), std::io::Error> {
        let Endpoint::Connect(address) = self.options.endpoint.clone() else { return Ok(()) };
        let mender = Arc::clone(self);
        let connect = move || mender.connect(&address);
        std::thread::Builder::new().name("vesica-connect".into()).spawn(connect).map(drop)
    }

    /// The next connection, or why there will be none. Waits at most `time`.
    pub(crate) fn next(&self, time: Duration) -> Option<Result<Box<Authenticated>, LinkError>> {
        let deadline = Deadline::after(time);
        let mut arrival = lock(&self.arrival);
        while arrival.is_none() && !deadline.is_over() {
            arrival = wait_timeout(&self.arrived, arrival, deadline.remaining());
        }
        self.has_arrival.store(false, Ordering::Release);
        let next = arrival.take();
        if next.is_some() {
            *lock(&self.waiting) = None;
        }
        next
    }

    fn put(&self, next: Result<Box<Authenticated>, LinkError>) {
        let mut arrival = lock(&self.arrival);
        if self.cancel.is_cancelled() {
            return;
        }
        // The newest one: the peer has abandoned those before it.
        *arrival = Some(next);
        self.has_arrival.store(true, Ordering::Release);
        self.arrived.notify_all();
    }

    fn connect(&self, address: &str) {
        if self.cancel.wait(FIRST_PAUSE) {
            return;
        }
        let Some(root) = lock(&self.root).clone() else { return };
        let caller = Caller { on_event: &*self.on_event, cancel: &self.cancel };
        let (tls, options) = (self.tls.clone(), &self.options);
        let attempt = Attempt { tls, options, intent: Intent::Again(root), first: &[], caller };
        self.put(connect::connect(&attempt, address).map(Box::new));
    }

    /// Watches the open port until the session ends.
    fn watch(&self, mut port: PendingConnections) {
        let caller = Caller { on_event: &*self.on_event, cancel: &self.cancel };
        let mut told_at = Instant::now();
        while !self.cancel.is_cancelled() {
            match port.turn(&self.tls, CANCEL_TICK, caller) {
                Some(Arrival::Peer(authenticated)) => self.put(Ok(authenticated)),
                Some(Arrival::OwnKey(from)) => port.reject(from, LinkError::OwnIdentity, caller),
                // While the connection holds, the process at its other end is the peer.
                Some(Arrival::NewRun) if lock(&self.waiting).is_some() => {
                    self.put(Err(LinkError::NewRun));
                }
                Some(Arrival::NewRun) | None => {}
            }
            let waiting = *lock(&self.waiting);
            if let Some(until) = waiting
                && told_at.elapsed() >= WAITING_EVENT_EVERY
            {
                told_at = Instant::now();
                self.tell(LinkEvent::Waiting { remaining: until.remaining(), last: None });
            }
        }
    }
}
