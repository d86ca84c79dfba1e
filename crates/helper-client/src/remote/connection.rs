//! Connections to a helper, and the pool of idle ones.

use super::options::{RemoteEvent, RemoteOptions, Seen};
use rand::TryRng;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_core::{
    Error, Misbehaviour, ParameterError, Refusal, Result, Role, StopReason, TransportError,
};
use vesica_helper_wire::{
    HEAD_LEN, Instance, NO_INSTANCE, Opening, Purpose, Reply, Request, WAITING_LEN, WELCOME_LEN,
    WaitingFor, Welcome, parties_of,
};
use vesica_link::{Endpoint, LinkError, LinkOptions, Session, establish_sending};
use vesica_net::{Channel, Context, Streams, framed};

/// Number of attempts to connect to the helper if the other end speaks another protocol.
const TRIES: u32 = 3;

/// The pause between the attempts.
const OTHER_PROTOCOL_PAUSE: Duration = Duration::from_millis(300);

#[derive(Default)]
struct State {
    /// Open connections that are not in use.
    idle: Vec<Connection>,
    /// All open sessions with the helper, to be ended on cancellation.
    open: HashMap<u64, Session>,
    next: u64,
    instance: Instance,
    link_error: Option<LinkError>,
    /// Bytes of closed connections.
    wire_bytes: (u64, u64),
    moved_bytes: (u64, u64),
    reported_agreement: Option<[u8; 32]>,
}

/// All connections of one party to the helper of one run.
pub(super) struct Connections {
    pub(super) options: RemoteOptions,
    /// Shared with the cancellation hook.
    state: Arc<Mutex<State>>,
}

impl Connections {
    pub(super) fn new(options: RemoteOptions) -> Arc<Self> {
        let state = State { instance: options.instance.unwrap_or(NO_INSTANCE), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let for_cancel = Arc::downgrade(&state);
        options.cancel.on_cancel(move || {
            let Some(state) = for_cancel.upgrade() else { return };
            let open: Vec<Session> = lock(&state).open.values().cloned().collect();
            open.iter().for_each(|session| session.abort(StopReason::Cancelled));
        });
        Arc::new(Self { options, state })
    }

    pub(super) fn instance(&self) -> Instance {
        self.state().instance
    }

    /// The number of this party in the run.
    pub(super) fn party(&self) -> Option<u8> {
        let own = self.options.identity.public();
        let parties = &self.options.spec.parties;
        let place = parties.iter().position(|party| party.identity == *own.as_bytes());
        place.and_then(|place| u8::try_from(place).ok())
    }

    pub(super) fn link_error(&self) -> Option<LinkError> {
        self.state().link_error.clone()
    }

    pub(super) fn wire_bytes(&self) -> (u64, u64) {
        let state = self.state();
        state.open.values().fold(state.wire_bytes, |(sent, received), session| {
            let (more_sent, more_received) = session.wire_bytes();
            (sent + more_sent, received + more_received)
        })
    }

    pub(super) fn report(&self, event: RemoteEvent) {
        (self.options.on_event)(event);
    }

    pub(super) fn moved(&self, sent: usize, received: usize) {
        let (sent_bytes, received_bytes) = {
            let mut state = self.state();
            state.moved_bytes.0 += sent as u64;
            state.moved_bytes.1 += received as u64;
            state.moved_bytes
        };
        self.report(RemoteEvent::Moved { sent_bytes, received_bytes });
    }

    pub(super) fn look(&self) -> Result<Seen> {
        let mut connection = self.connect(Purpose::Look, NO_INSTANCE)?;
        let welcome = connection.welcome(self)?;
        self.close(connection);
        let other = Some(welcome.other_agreement).filter(|other| *other != [0; 32]);
        Ok(Seen { present: parties_of(welcome.present), other_agreement: other })
    }

    /// A connection on which the helper has let this party into the run: an idle one, or a new one.
    pub(super) fn take(&self) -> Result<Connection> {
        while let Some(connection) = self.idle_connection() {
            if connection.session.ended().is_none() {
                return Ok(connection);
            }
            self.close(connection);
        }
        let known = self.instance();
        let mut connection = self.connect(Purpose::TakePart, known)?;
        match connection.welcome(self) {
            Ok(welcome) => self.joined(known, welcome).map(|()| connection),
            Err(error) => {
                self.close(connection);
                Err(error)
            }
        }
    }

    fn idle_connection(&self) -> Option<Connection> {
        self.state().idle.pop()
    }

    fn joined(&self, known: Instance, welcome: Welcome) -> Result<()> {
        {
            let mut state = self.state();
            if state.instance == NO_INSTANCE {
                state.instance = welcome.instance;
            } else if state.instance != welcome.instance {
                // Two connections of this party were its first, and between them the run expired at
                // the helper. In any other case the helper deviates.
                let is_forgotten = known == NO_INSTANCE;
                return Err(if is_forgotten {
                    Refusal::Expired.into()
                } else {
                    Misbehaviour::InvalidValue.into()
                });
            }
        }
        self.report(RemoteEvent::Joined { present: parties_of(welcome.present) });
        self.report_agreement(welcome.other_agreement);
        Ok(())
    }

    pub(super) fn report_agreement(&self, agreement: [u8; 32]) {
        let is_news = agreement != [0; 32]
            && self.state().reported_agreement.replace(agreement) != Some(agreement);
        if is_news {
            self.report(RemoteEvent::OtherAgreement { agreement });
        }
    }

    /// Keeps a connection to the helper for reuse, if there is room for it.
    pub(super) fn put_back(&self, connection: Connection) {
        let has_room = connection.session.ended().is_none() && {
            let state = self.state();
            state.idle.len() < self.options.lanes.max(1)
        };
        if has_room { self.state().idle.push(connection) } else { self.close(connection) }
    }

    /// Closes a connection.
    pub(super) fn close(&self, connection: Connection) {
        let Connection { context, session, number, .. } = connection;
        // End the session before the context is dropped, which would wait for queued writes to the
        // helper.
        self.state().open.remove(&number);
        session.abort(StopReason::Cancelled);
        drop(context);
        let (sent, received) = session.wire_bytes();
        let mut state = self.state();
        state.wire_bytes.0 += sent;
        state.wire_bytes.1 += received;
    }

    /// A new connection to the helper, on which the run's opening is sent and the helper's welcome
    /// is still to be received.
    fn connect(&self, purpose: Purpose, known: Instance) -> Result<Connection> {
        let options = &self.options;
        let spec = options.spec.to_bytes();
        let opening = Opening { purpose, spec_len: spec.len() }.encode();
        let run = [&known[..], &spec].concat();
        // Sent with the handshake: the helper's answer arrives one round trip earlier.
        let first = [framed(&opening), framed(&run)].concat();
        let link = connecting(&options.link, &options.address);
        let on_event = |event| self.report(RemoteEvent::Link(event));
        let mut tries = 1;
        let session = loop {
            match establish_sending(
                &first,
                &options.identity,
                &[options.helper],
                &link,
                &on_event,
                &options.cancel,
            ) {
                Ok(session) => break session,
                // No helper of this project speaks another protocol, but a byte may have been
                // damaged in transit.
                Err(error @ (LinkError::OtherVersion | LinkError::OtherProtocol))
                    if tries < TRIES =>
                {
                    tries += 1;
                    let (error, pause) = (self.unreachable(error), OTHER_PROTOCOL_PAUSE);
                    self.report(RemoteEvent::Reconnecting { error, pause });
                    options.cancel.wait(pause);
                }
                Err(error) => return Err(self.unreachable(error)),
            }
        };
        self.state().link_error = None;
        let mut seed = [0; 32];
        rand::rngs::SysRng
            .try_fill_bytes(&mut seed)
            .map_err(|_| Error::Bug("the system has no random numbers"))?;
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Helper, Arc::new(session.clone()))];
        let mut context = Context::new(peers, seed, options.pool.clone(), options.meter.clone())?;
        let channel = context.with(Role::Helper)?;
        [opening.len(), run.len()].into_iter().for_each(|len| channel.was_sent(len));
        let number = {
            let mut state = self.state();
            state.next += 1;
            let number = state.next;
            state.open.insert(number, session.clone());
            number
        };
        // The cancellation may have come before the session was registered.
        if options.cancel.is_cancelled() {
            session.abort(StopReason::Cancelled);
        }
        Ok(Connection { context, session, number, pending_replies: 0, has_resumed: false })
    }

    fn unreachable(&self, error: LinkError) -> Error {
        let cause = match &error {
            LinkError::Cancelled => TransportError::CancelledHere,
            LinkError::NoPeer { waited, .. } => TransportError::Deadline(*waited),
            LinkError::ConnectFailed(kind) => TransportError::Io(*kind),
            LinkError::Silent(time) => TransportError::Idle(*time),
            // The machine's lack of resources is not the helper's fault, and another attempt would
            // lack them too.
            LinkError::NoResources(kind) => {
                let lack = match *kind {
                    ErrorKind::OutOfMemory => ParameterError::OutOfMemory,
                    _ => ParameterError::NoThreads,
                };
                self.state().link_error = Some(error);
                return lack.into();
            }
            _ => TransportError::Tls,
        };
        self.state().link_error = Some(error);
        cause.into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.state().idle);
        idle.into_iter().for_each(|connection| self.close(connection));
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection to the helper.
pub(super) struct Connection {
    context: Context,
    session: Session,
    number: u64,
    /// Requests that the helper has not replied to yet.
    pending_replies: usize,
    /// Whether the helper reported that it waits for other parties, which shows that its outage has
    /// ended.
    has_resumed: bool,
}

impl Connection {
    /// Receives the helper's answer to the opening.
    fn welcome(&mut self, connections: &Connections) -> Result<Welcome> {
        self.expecting(connections, |connection| {
            loop {
                let mut welcome = [0; WELCOME_LEN];
                connection.channel()?.recv_into(&mut welcome)?;
                if let Some(welcome) = Welcome::decode(&welcome)? {
                    return Ok(welcome);
                }
            }
        })
    }

    /// Runs `step`, which waits for the helper. It fails if the helper sends nothing for the idle
    /// limit. The link's signs of life do not count: a helper that hangs still sends them.
    fn expecting<R>(
        &mut self,
        connections: &Connections,
        step: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        self.session.expect(Some(connections.options.link.idle));
        let result = step(self);
        self.session.expect(None);
        result
    }

    /// Whether the helper still has to reply on this connection.
    pub(super) fn has_pending_replies(&self) -> bool {
        self.pending_replies > 0
    }

    /// Whether the helper has reported on this connection that the run continues.
    pub(super) fn has_resumed(&self) -> bool {
        self.has_resumed
    }

    /// Sends the helper a request; a put is followed by its body, and has no reply.
    pub(super) fn send(&mut self, request: Request, body: &[u8]) -> Result<()> {
        let channel = self.channel()?;
        channel.send(&request.encode())?;
        if let Request::Put { .. } = request {
            return channel.send(body);
        }
        self.pending_replies += 1;
        Ok(())
    }

    /// Receives the helper's reply to the oldest pending request: a body of at most `max_len`
    /// bytes.
    pub(super) fn receive(&mut self, connections: &Connections, max_len: usize) -> Result<Vec<u8>> {
        self.expecting(connections, |connection| connection.reply(connections, max_len))
    }

    fn reply(&mut self, connections: &Connections, max_len: usize) -> Result<Vec<u8>> {
        loop {
            let channel = self.channel()?;
            let mut head = [0; HEAD_LEN];
            channel.recv_into(&mut head)?;
            match Reply::decode(&head).ok_or(Misbehaviour::InvalidValue)? {
                Reply::Body(len) if len > max_len => {
                    let (expected, actual) = (max_len as u64, len as u64);
                    return Err(Misbehaviour::WrongMessageLen { expected, actual }.into());
                }
                Reply::Body(len) => {
                    let body = if len == 0 { Vec::new() } else { channel.recv(len)? };
                    self.pending_replies -= 1;
                    return Ok(body);
                }
                Reply::Waiting => {
                    let mut waiting = [0; WAITING_LEN];
                    channel.recv_into(&mut waiting)?;
                    let waiting = WaitingFor::decode(&waiting);
                    self.has_resumed |= waiting.parties != 0;
                    connections
                        .report(RemoteEvent::Waiting { parties: parties_of(waiting.parties) });
                    connections.report_agreement(waiting.other_agreement);
                }
                Reply::NotYet => {}
                Reply::Refused(refusal) => {
                    self.pending_replies -= 1;
                    return Err(refusal.into());
                }
            }
        }
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        self.context.with(Role::Helper)
    }
}

/// The link's options for a connection to the helper at `address`.
fn connecting(link: &LinkOptions, address: &str) -> LinkOptions {
    LinkOptions { endpoint: Endpoint::Connect(address.to_owned()), ..link.clone() }
}
