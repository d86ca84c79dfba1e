//! One connection of one party.

mod requests;

use super::core::Core;
use super::log_names::{hex, short, short_name};
use super::memory::Lease;
use super::metrics::{Counted, Traffic, reason};
use super::options::PartyLimits;
use super::run::{Over, Run};
use super::runs::{Entered, Entering};
use crate::locks;
use crate::store::{Mark, Record};
use rand::TryRng;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tracing::field::{DisplayValue, display};
use vesica_core::{Error, Excess, Limit, Refusal, Result, Role, StopReason, TransportError};
use vesica_helper_wire::{
    HEAD_LEN, Instance, NO_INSTANCE, Opening, Purpose, Reply, Request, Welcome,
};
use vesica_link::Session;
use vesica_net::{Channel, Context, Meter, Streams};
use vesica_server_aided::kmrs14::Spec;

/// Bytes of an agreement's hash in the log: as many as its parties see first.
const SHORT_AGREEMENT_BYTES: usize = 8;

/// Time limit for the last reply.
const LAST_REPLY_LIMIT: Duration = Duration::from_secs(2);

/// Serves a connection to its end.
pub(super) fn serve(
    core: &Arc<Core>,
    session: &Session,
    number: u64,
    member: usize,
    crowded: bool,
) {
    let limits = core.members.get(member).limits();
    let mut connection = match Connection::new(core, session, number, member, &limits) {
        Ok(connection) => connection,
        Err(error) => {
            tracing::error!(%error, "a connection cannot be served");
            return session.abort(StopReason::Internal);
        }
    };
    let result = if crowded {
        let excess = Excess::new(None, Limit::Connections, limits.max_connections.into());
        connection.refuse_opening(connection.over(connection.name(), excess.allowed + 1, excess))
    } else {
        connection.receive()
    };
    let traffic = connection.traffic;
    let result = result.and_then(|()| connection.context.finish());
    drop(connection);
    core.metrics.moved(&traffic);
    let party = &limits.name;
    match result {
        // A refused party closes; others may take their time.
        Ok(()) => drop(session.close_within(LAST_REPLY_LIMIT)),
        Err(Error::PeerMisbehaved(misbehaviour)) => {
            tracing::warn!(party, %misbehaviour, "a party broke the protocol");
            session.abort(StopReason::Misbehaviour);
        }
        Err(error) => tracing::debug!(party, %error, "a connection ended"),
    }
}

/// A slot being sent, and its memory.
struct Reading<'a> {
    body: Vec<u8>,
    memory: Option<Lease<'a>>,
}

impl From<Vec<u8>> for Reading<'_> {
    fn from(body: Vec<u8>) -> Self {
        Self { body, memory: None }
    }
}

struct Connection<'a> {
    core: &'a Arc<Core>,
    session: &'a Session,
    context: Context,
    number: u64,
    member: usize,
    /// The party's limits when it connected.
    limits: &'a PartyLimits,
    traffic: Traffic,
    /// The name, for logs, of the run that the party is in or knows.
    run: Option<String>,
    /// When the party last had a message or a sign.
    signed: Instant,
}

/// A party's place in a run; leaves the run when dropped.
struct Participant {
    run: Arc<Run>,
    party: u8,
    /// Up to when this connection knows the stored data.
    mark: Mark,
    /// Why nothing more is accepted on this connection.
    refused: Option<Refusal>,
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.run.leave();
    }
}

impl<'a> Connection<'a> {
    fn new(
        core: &'a Arc<Core>,
        session: &'a Session,
        number: u64,
        member: usize,
        limits: &'a PartyLimits,
    ) -> Result<Self> {
        // Nothing here uses randomness.
        let seed = [0; 32];
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Sender, Arc::new(session.clone()))];
        let context = Context::new(peers, seed, core.pool.clone(), Meter::new())?;
        let (traffic, run, signed) = (Traffic::default(), None, Instant::now());
        Ok(Self { core, session, context, number, member, limits, traffic, run, signed })
    }

    fn receive(&mut self) -> Result<()> {
        let mut head = [0; HEAD_LEN];
        self.channel()?.recv_into(&mut head)?;
        let opening = match Opening::decode(&head) {
            Ok(opening) => opening,
            Err(refusal) => return self.refuse_opening(refusal),
        };
        let body = self.channel()?.recv(NO_INSTANCE.len() + opening.spec_len)?;
        match self.admit(opening.purpose, &body) {
            Err(refusal) => self.refuse_opening(refusal),
            Ok((participant, welcome)) => {
                let reply = Welcome::encode(Ok(welcome));
                self.channel()?.send(&reply)?;
                match participant {
                    Some(mut participant) => self.serve_requests(&mut participant),
                    None => Ok(()),
                }
            }
        }
    }

    fn refuse_opening(&mut self, refusal: Refusal) -> Result<()> {
        self.note(refusal);
        self.channel()?.send(&Welcome::encode(Err(refusal)))
    }

    fn admit(
        &mut self,
        purpose: Purpose,
        body: &[u8],
    ) -> Result<(Option<Participant>, Welcome), Refusal> {
        let (known, spec) = body.split_first_chunk().ok_or(Refusal::BadRun)?;
        let spec = Spec::from_bytes(spec).ok_or(Refusal::BadRun)?;
        let id = spec.id();
        self.run = (*known != NO_INSTANCE).then(|| short_name(known));
        if self.core.is_stopping() {
            return Err(Refusal::ShuttingDown);
        }
        let own = self.session.peer();
        let place = spec.parties.iter().position(|party| party.identity == *own.as_bytes());
        let party = place.ok_or(Refusal::NotAParty)? as u8;
        let mut members = Vec::new();
        for (place, party) in (0..).zip(&spec.parties) {
            let identity = vesica_link::PublicIdentity::from_bytes(party.identity);
            // With a party that is never accepted, the run would never end.
            let Some(member) = self.core.members.served(&identity) else {
                let run = self.run_name();
                tracing::info!(run, %identity, "a run names a party that is not in the settings");
                return Err(Refusal::BadRun);
            };
            let limits = self.core.members.get(member).limits();
            if party.max_rows > limits.max_rows {
                let excess = Excess::new(Some(place), Limit::Rows, limits.max_rows);
                return Err(self.over(&limits.name, party.max_rows, excess));
            }
            members.push(member);
        }
        let mut instance: Instance = NO_INSTANCE;
        rand::rngs::SysRng.try_fill_bytes(&mut instance).map_err(|_| Refusal::Internal)?;
        let record = Record { spec, instance, created: SystemTime::now(), opener: party };
        let max_runs = self.limits.max_runs;
        let known = *known;
        let member = self.core.members.get(self.member);
        let may_begin = &|| member.may_change_runs();
        let members = &members;
        let entering = Entering { id, record, party, members, purpose, known, max_runs, may_begin };
        let Entered { run, mut welcome, gives_way } =
            self.core.runs.enter(entering, &self.core.store).map_err(|refusal| match refusal {
                Refusal::OverLimit(excess) => self.over(self.name(), excess.allowed + 1, excess),
                Refusal::TooOften => self.too_often(),
                refusal => refusal,
            })?;
        if let Some(empty) = gives_way {
            self.core.forget(&empty);
        }
        let Some(run) = run else { return Ok((None, welcome)) };
        self.run = Some(short(&run));
        let mark = run.store.mark();
        let mut participant = Participant { run, party, mark, refused: None };
        let is_new = participant.run.store.begin(&participant.run.record);
        if is_new.map_err(|error| self.failed(&participant.run, &error))? {
            self.log_opened(&participant.run);
        } else if let Err(refusal) = self.check(&participant.run) {
            if !refusal.passes() {
                let notified = 1 << party;
                self.core.end(&participant.run, Over::Refused(refusal), Counted::Failed, notified);
            }
            return Err(refusal);
        } else {
            // Damaged slots may be gone.
            welcome.present = participant.run.present();
        }
        // One of its parties may have been revoked meanwhile.
        if self.core.end_if_revoked(&participant.run)
            && let Some(over) = participant.run.over()
        {
            return Err(over.refusal());
        }
        participant.mark = participant.run.store.mark();
        self.settle(&participant)?;
        // If its files have just been checked.
        self.core.consider(&participant.run);
        Ok((Some(participant), welcome))
    }

    /// Checks the files of an earlier process; the party gets signs meanwhile.
    fn check(&mut self, run: &Run) -> Result<(), Refusal> {
        let core = self.core;
        // To a party that has gone, it means nothing.
        core.check(run, || drop(self.sign(&Welcome::not_yet())))
    }

    /// Sends `sign` if the party has had nothing for a while: it takes a helper that gives neither
    /// a reply nor a sign for one that hangs. Only the thread that gives the reply sends it.
    fn sign(&mut self, sign: &[u8]) -> Result<()> {
        if self.signed.elapsed() >= self.session.sign_every() {
            // Under a lock of its run: so few bytes never wait.
            let channel = self.context.peer()?;
            channel.send(sign)?;
            channel.flush()?;
            self.signed = Instant::now();
        }
        Ok(())
    }

    fn log_opened(&self, run: &Run) {
        self.core.metrics.run(Counted::Opened);
        let name = |member: &usize| self.core.members.get(*member).limits().name.clone();
        let names: Vec<String> = run.members.iter().map(name).collect();
        let spec = &run.record.spec;
        let max_rows: Vec<String> =
            spec.parties.iter().map(|party| party.max_rows.to_string()).collect();
        let (run, agreement) = (short(run), hex(&spec.agreement[..SHORT_AGREEMENT_BYTES]));
        let (protocol, parties) = (spec.variant.row().id, names.join(", "));
        let max_rows = max_rows.join(", ");
        tracing::info!(%run, agreement, protocol, parties, max_rows, "run opened");
    }

    fn serve_requests(&mut self, participant: &mut Participant) -> Result<()> {
        loop {
            self.core.connections.set_busy(self.number, false);
            let mut head = [0; HEAD_LEN];
            match self.channel()?.recv_into(&mut head) {
                // Closed in order or not: between two requests it makes no difference.
                Err(Error::Transport(TransportError::Closed)) => return Ok(()),
                other => other?,
            }
            self.core.connections.set_busy(self.number, true);
            let Ok(request) = Request::decode(&head) else {
                tracing::warn!(party = self.name(), "a party sent an invalid request");
                return self.refuse(participant, Refusal::Malformed { party: participant.party });
            };
            if let Request::Put { slot, len } = request {
                let Some(_memory) = self.memory(len) else { return Ok(()) };
                let body = self.channel()?.recv(len)?;
                self.traffic.received += len as u64;
                if participant.refused.is_none()
                    && let Err(refusal) = self.keep(participant, slot, &body)
                {
                    self.note(refusal);
                    participant.refused = Some(refusal);
                }
                continue;
            }
            self.core.consider(&participant.run);
            // `answer` stores durably what was put here before it replies.
            let answer = match participant.refused {
                Some(refusal) => Err(refusal),
                None => self.answer(participant, request)?,
            };
            match answer {
                Ok(Reading { body, memory }) => {
                    self.traffic.sent += body.len() as u64;
                    let channel = self.channel()?;
                    channel.send(&Reply::Body(body.len()).encode())?;
                    // After the head of an empty body, the other side does not wait for a message.
                    if !body.is_empty() {
                        channel.send(&body)?;
                    }
                    if memory.is_some() {
                        channel.finish()?;
                    }
                }
                Err(refusal) => {
                    self.refuse(participant, refusal)?;
                    if refusal == Refusal::ShuttingDown {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Stores durably everything filled so far, before any party learns of it or of its
    /// consequences.
    fn settle(&self, participant: &Participant) -> Result<(), Refusal> {
        participant
            .run
            .store
            .sync(participant.mark)
            .map_err(|error| self.failed(&participant.run, &error))
    }

    fn refuse(&mut self, participant: &mut Participant, refusal: Refusal) -> Result<()> {
        if participant.refused != Some(refusal) {
            self.note(refusal);
        }
        if participant.run.over().is_some() {
            self.core.runs.mark_notified(&participant.run, participant.party, &self.core.store);
        }
        self.channel()?.send(&Reply::Refused(refusal).encode())
    }

    fn note(&self, refusal: Refusal) {
        self.core.metrics.refused(refusal);
        let (party, run, reason) = (self.name(), self.run_name(), reason(refusal));
        tracing::info!(party, run, reason, "refused");
    }

    /// Logs which limit of the settings is too low, and for which party.
    fn over(&self, party: &str, asked: u64, excess: Excess) -> Refusal {
        let (run, limit) = (self.run_name(), excess.limit.map(Limit::setting));
        tracing::info!(party, run, limit, asked, allowed = excess.allowed, "above a limit");
        Refusal::OverLimit(excess)
    }

    /// Logs which limit of the settings the party has reached for now.
    fn too_often(&self) -> Refusal {
        let (party, run, allowed) = (self.name(), self.run_name(), self.limits.max_runs_a_minute);
        tracing::info!(party, run, limit = "max_runs_a_minute", allowed, "above a limit");
        Refusal::TooOften
    }

    /// Like [`short`], for the run that the party is in or knows.
    fn run_name(&self) -> Option<DisplayValue<&String>> {
        self.run.as_ref().map(display)
    }

    fn name(&self) -> &'a str {
        &self.limits.name
    }

    /// Memory for a slot of `len` bytes being received or sent; `None` if its party has gone, or
    /// the service stops.
    fn memory(&mut self, len: usize) -> Option<Lease<'a>> {
        let (core, session, member) = (self.core, self.session, self.member);
        let is_idle = || {
            let is_gone = self.sign(&Reply::NotYet.encode()).is_err();
            is_gone || core.is_stopping() || session.ended().is_some()
        };
        core.memory.take(member, len as u64, is_idle)
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        locks::waits();
        self.context.peer()
    }
}
