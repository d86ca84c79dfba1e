//! Single connections to a helper, and those that nobody uses just now.

use super::{RemoteOptions, Seen, connecting};
use crate::wire::{
    HEAD_LEN, Instance, NO_INSTANCE, Opening, Purpose, Reply, Request, WAITING_LEN, WELCOME_LEN,
    WaitingFor, Welcome, parties_of,
};
use rand::TryRng;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_core::{
    Error, Misbehaviour, ParameterError, Refusal, Result, Role, StopReason, TransportError,
};
use vesica_link::{LinkError, LinkEvent, Session, establish};
use vesica_net::{Channel, Context, Streams};

/// How often a connection is tried at the other end of which somebody speaks something else.
const TRIES: u32 = 3;

/// The pause in between.
const STRANGE_PAUSE: Duration = Duration::from_millis(300);

/// What a party hears while it works with a helper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteEvent {
    /// While a connection is made.
    Link(LinkEvent),
    /// A connection stands; these parties of the run have said hello.
    Joined {
        /// By their numbers.
        present: Vec<u8>,
    },
    /// Nothing comes yet: these parties have something to do first, and the helper is there; or, when there are none,
    /// the helper computes.
    Waiting {
        /// By their numbers.
        parties: Vec<u8>,
    },
    /// Another of the parties waits at the same helper, under another agreement.
    OtherAgreement {
        /// Its hash.
        agreement: [u8; 32],
    },
    /// A connection was lost, or the helper cannot go on for now; it is tried again.
    Reconnecting {
        /// What happened.
        error: Error,
        /// When it is tried again.
        pause: Duration,
    },
    /// It goes on.
    Resumed,
    /// Bytes of slots sent and received on all connections so far.
    Moved {
        /// Sent.
        sent_bytes: u64,
        /// Received.
        received_bytes: u64,
    },
}

#[derive(Default)]
struct State {
    /// Connections that stand and that nobody uses.
    idle: Vec<Line>,
    /// All that stand, to be ended when everything is cancelled.
    standing: HashMap<u64, Session>,
    next: u64,
    instance: Instance,
    link_error: Option<LinkError>,
    /// Of connections that have ended.
    wire_bytes: (u64, u64),
    moved_bytes: (u64, u64),
    told_agreement: Option<[u8; 32]>,
}

/// All connections of one party to one run.
pub(super) struct Lines {
    pub(super) options: RemoteOptions,
    /// Shared with what happens when everything is cancelled.
    state: Arc<Mutex<State>>,
}

impl Lines {
    pub(super) fn new(options: RemoteOptions) -> Arc<Self> {
        let state = State { instance: options.instance.unwrap_or(NO_INSTANCE), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let for_cancel = Arc::downgrade(&state);
        options.cancel.on_cancel(move || {
            let Some(state) = for_cancel.upgrade() else { return };
            let standing: Vec<Session> = lock(&state).standing.values().cloned().collect();
            standing.iter().for_each(|session| session.abort(StopReason::Cancelled));
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
        state.standing.values().fold(state.wire_bytes, |(sent, received), session| {
            let (more_sent, more_received) = session.wire_bytes();
            (sent + more_sent, received + more_received)
        })
    }

    pub(super) fn tell(&self, event: RemoteEvent) {
        (self.options.on_event)(event);
    }

    pub(super) fn moved(&self, sent: usize, received: usize) {
        let (sent_bytes, received_bytes) = {
            let mut state = self.state();
            state.moved_bytes.0 += sent as u64;
            state.moved_bytes.1 += received as u64;
            state.moved_bytes
        };
        self.tell(RemoteEvent::Moved { sent_bytes, received_bytes });
    }

    pub(super) fn look(&self) -> Result<Seen> {
        let mut line = self.connect()?;
        let welcome = line.open(self, Purpose::Look, NO_INSTANCE)?;
        self.close(line);
        let other = Some(welcome.other_agreement).filter(|other| *other != [0; 32]);
        Ok(Seen { present: parties_of(welcome.present), other_agreement: other })
    }

    /// A line on which the run is open: one that nobody uses, or a new one.
    pub(super) fn take(&self) -> Result<Line> {
        while let Some(line) = self.idle_line() {
            if line.session.ended().is_none() {
                return Ok(line);
            }
            self.close(line);
        }
        let mut line = self.connect()?;
        let known = self.instance();
        match line.open(self, Purpose::TakePart, known) {
            Ok(welcome) => self.joined(known, welcome).map(|()| line),
            Err(error) => {
                self.close(line);
                Err(error)
            }
        }
    }

    fn idle_line(&self) -> Option<Line> {
        self.state().idle.pop()
    }

    fn joined(&self, known: Instance, welcome: Welcome) -> Result<()> {
        {
            let mut state = self.state();
            if state.instance == NO_INSTANCE {
                state.instance = welcome.instance;
            } else if state.instance != welcome.instance {
                // Two lanes came first, and between them the helper forgot the run.
                let is_forgotten = known == NO_INSTANCE;
                return Err(match is_forgotten {
                    true => Refusal::Expired.into(),
                    false => Misbehaviour::InvalidValue.into(),
                });
            }
        }
        self.tell(RemoteEvent::Joined { present: parties_of(welcome.present) });
        self.tell_agreement(welcome.other_agreement);
        Ok(())
    }

    pub(super) fn tell_agreement(&self, agreement: [u8; 32]) {
        let is_news = agreement != [0; 32]
            && self.state().told_agreement.replace(agreement) != Some(agreement);
        if is_news {
            self.tell(RemoteEvent::OtherAgreement { agreement });
        }
    }

    /// Keeps a line for the next who needs one.
    pub(super) fn put_back(&self, line: Line) {
        let has_room = line.session.ended().is_none() && {
            let state = self.state();
            state.idle.len() < self.options.lanes.max(1)
        };
        if has_room { self.state().idle.push(line) } else { self.close(line) }
    }

    /// Ends a line.
    pub(super) fn close(&self, line: Line) {
        let Line { context, session, number, .. } = line;
        // What it still writes must not keep us: the session ends first.
        self.state().standing.remove(&number);
        session.abort(StopReason::Cancelled);
        drop(context);
        let (sent, received) = session.wire_bytes();
        let mut state = self.state();
        state.wire_bytes.0 += sent;
        state.wire_bytes.1 += received;
    }

    fn connect(&self) -> Result<Line> {
        let options = &self.options;
        let link = connecting(&options.link, &options.address);
        let tell = |event| self.tell(RemoteEvent::Link(event));
        let mut tries = 1;
        let session = loop {
            match establish(&options.identity, &[options.helper], &link, &tell, &options.cancel) {
                Ok(session) => break session,
                // No helper of ours says so; but a byte of what one says may be damaged on the way.
                Err(error @ (LinkError::OtherVersion | LinkError::OtherProtocol))
                    if tries < TRIES =>
                {
                    tries += 1;
                    let (error, pause) = (self.unreachable(error), STRANGE_PAUSE);
                    self.tell(RemoteEvent::Reconnecting { error, pause });
                    options.cancel.wait(pause);
                }
                Err(error) => return Err(self.unreachable(error)),
            }
        };
        self.state().link_error = None;
        let mut seed = [0; 32];
        rand::rngs::SysRng
            .try_fill_bytes(&mut seed)
            .map_err(|_| Error::Bug("the system gives no random numbers"))?;
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Helper, Arc::new(session.clone()))];
        let context = Context::new(peers, seed, options.pool.clone(), options.meter.clone())?;
        let number = {
            let mut state = self.state();
            state.next += 1;
            let number = state.next;
            state.standing.insert(number, session.clone());
            number
        };
        // Cancelled before the session stood among the others.
        if options.cancel.is_cancelled() {
            session.abort(StopReason::Cancelled);
        }
        Ok(Line { context, session, number, behind: 0, goes_on: false })
    }

    fn unreachable(&self, error: LinkError) -> Error {
        let told = match &error {
            LinkError::Cancelled => TransportError::CancelledHere,
            LinkError::NoPeer { waited, .. } => TransportError::Deadline(*waited),
            LinkError::ConnectFailed(kind) => TransportError::Io(*kind),
            LinkError::Silent(time) => TransportError::Idle(*time),
            // What this machine lacks is not the helper's fault, and another try would lack it too.
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
        told.into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.state().idle);
        idle.into_iter().for_each(|line| self.close(line));
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection to the helper.
pub(super) struct Line {
    context: Context,
    session: Session,
    number: u64,
    /// Requests without a reply so far.
    behind: usize,
    /// Whether the helper said that other parties have something to do first: it is back from an outage.
    goes_on: bool,
}

impl Line {
    fn open(&mut self, lines: &Lines, purpose: Purpose, known: Instance) -> Result<Welcome> {
        let spec = lines.options.spec.to_bytes();
        let channel = self.channel()?;
        channel.send(&Opening { purpose, spec_len: spec.len() }.encode())?;
        channel.send(&[&known[..], &spec].concat())?;
        let mut welcome = [0; WELCOME_LEN];
        channel.recv_into(&mut welcome)?;
        Ok(Welcome::decode(&welcome)?)
    }

    /// Whether replies are due.
    pub(super) fn is_behind(&self) -> bool {
        self.behind > 0
    }

    /// Whether the helper has said on this line that it goes on.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Sends a request; a put is followed by its body, and has no reply.
    pub(super) fn ask(&mut self, request: Request, body: &[u8]) -> Result<()> {
        let channel = self.channel()?;
        channel.send(&request.encode())?;
        if let Request::Put { .. } = request {
            return channel.send(body);
        }
        self.behind += 1;
        Ok(())
    }

    /// The reply to the request that has waited longest: a body of at most `max_len` bytes.
    pub(super) fn hear(&mut self, lines: &Lines, max_len: usize) -> Result<Vec<u8>> {
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
                    self.behind -= 1;
                    return Ok(body);
                }
                Reply::Waiting => {
                    let mut waiting = [0; WAITING_LEN];
                    channel.recv_into(&mut waiting)?;
                    let waiting = WaitingFor::decode(&waiting);
                    self.goes_on |= waiting.parties != 0;
                    lines.tell(RemoteEvent::Waiting { parties: parties_of(waiting.parties) });
                    lines.tell_agreement(waiting.other_agreement);
                }
                Reply::Refused(refusal) => {
                    self.behind -= 1;
                    return Err(refusal.into());
                }
            }
        }
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        self.context.with(Role::Helper)
    }
}
