//! One connection of one party.

use super::core::{Core, short, short_id};
use super::desk::RunDesk;
use super::metrics::{Counted, reason};
use super::run::{Over, Run};
use super::runs::Entering;
use crate::store::{Kept, Record, charge};
use crate::wire::{HEAD_LEN, Instance, NO_INSTANCE, Opening, Purpose, Reply, Request, Welcome};
use rand::TryRng;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use vesica_core::{Error, Refusal, Result, Role, StopReason, TransportError};
use vesica_link::Session;
use vesica_net::{Channel, Context, Meter, Streams};
use vesica_protocols::kmrs14::helper::{check_put, is_out, may_be_ended};
use vesica_protocols::kmrs14::{Kind, Slot, Spec};

/// How often a waiting get looks whether its party is still there.
const POLL: Duration = Duration::from_millis(100);

/// How long a get waits before its party is told for whom.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often it looks for others who wait under another agreement.
const LOOK_AROUND_EVERY: Duration = Duration::from_secs(1);

/// How long the last reply may take to its party.
const FAREWELL: Duration = Duration::from_secs(2);

/// Payload bytes of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) received: u64,
    pub(super) sent: u64,
}

/// Serves a connection to its end.
pub(super) fn serve(
    core: &Arc<Core>,
    session: &Session,
    number: u64,
    member: usize,
    crowded: bool,
) {
    let mut visit = match Visit::new(core, session, number, member) {
        Ok(visit) => visit,
        Err(_) => return session.abort(StopReason::Internal),
    };
    let result = if crowded {
        let most = u64::from(core.members[member].limits.max_connections);
        let refusal = visit.over(visit.name(), "max_connections", most + 1, most);
        visit.turn_away(refusal)
    } else {
        visit.receive()
    };
    let traffic = visit.traffic;
    let result = result.and_then(|()| visit.context.finish());
    drop(visit);
    core.metrics.moved(&traffic);
    let party = &core.members[member].limits.name;
    match result {
        // Whoever was told no hangs up; others may take their time.
        Ok(()) => drop(session.close_within(FAREWELL)),
        Err(Error::PeerMisbehaved(misbehaviour)) => {
            tracing::warn!(party, %misbehaviour, "a party broke the protocol");
            session.abort(StopReason::Misbehaviour);
        }
        Err(error) => tracing::debug!(party, %error, "a connection ended"),
    }
}

struct Visit<'a> {
    core: &'a Arc<Core>,
    session: &'a Session,
    context: Context,
    number: u64,
    member: usize,
    traffic: Traffic,
    /// The name for logs of the run that was asked for.
    run: String,
}

/// A party in a run, and the run left when it is dropped.
struct Seat<'a> {
    core: &'a Core,
    run: Arc<Run>,
    party: u8,
    /// Why nothing more is taken on this connection.
    refused: Option<Refusal>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.core.runs.leave(&self.run);
    }
}

impl<'a> Visit<'a> {
    fn new(core: &'a Arc<Core>, session: &'a Session, number: u64, member: usize) -> Result<Self> {
        // Nothing here draws from it.
        let seed = [0; 32];
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Sender, Arc::new(session.clone()))];
        let context = Context::new(peers, seed, core.pool.clone(), Meter::new())?;
        let (traffic, run) = (Traffic::default(), String::new());
        Ok(Self { core, session, context, number, member, traffic, run })
    }

    fn receive(&mut self) -> Result<()> {
        let mut head = [0; HEAD_LEN];
        self.channel()?.recv_into(&mut head)?;
        let opening = match Opening::decode(&head) {
            Ok(opening) => opening,
            Err(refusal) => return self.turn_away(refusal),
        };
        let told = self.channel()?.recv(NO_INSTANCE.len() + opening.spec_len)?;
        match self.admit(opening.purpose, &told) {
            Err(refusal) => self.turn_away(refusal),
            Ok((seat, welcome)) => {
                let reply = Welcome::encode(Ok(welcome));
                self.channel()?.send(&reply)?;
                match seat {
                    Some(mut seat) => self.converse(&mut seat),
                    None => Ok(()),
                }
            }
        }
    }

    fn turn_away(&mut self, refusal: Refusal) -> Result<()> {
        self.note(refusal);
        self.channel()?.send(&Welcome::encode(Err(refusal)))
    }

    fn admit(
        &mut self,
        purpose: Purpose,
        told: &[u8],
    ) -> Result<(Option<Seat<'a>>, Welcome), Refusal> {
        let (known, spec) = told.split_first_chunk().ok_or(Refusal::BadRun)?;
        let spec = Spec::from_bytes(spec).ok_or(Refusal::BadRun)?;
        let id = spec.id();
        self.run = short_id(&id);
        if self.core.is_stopping() {
            return Err(Refusal::ShuttingDown);
        }
        let own = self.session.peer();
        let place = spec.parties.iter().position(|party| party.identity == *own.as_bytes());
        let party = place.ok_or(Refusal::NotAParty)? as u8;
        let mut members = Vec::new();
        for party in &spec.parties {
            let identity = vesica_link::PublicIdentity::from_bytes(party.identity);
            // With somebody whom nobody lets in the run would never end.
            let Some(member) = self.core.by_identity.get(&identity) else {
                tracing::info!(run = self.run, %identity, "a run names whom the settings do not");
                return Err(Refusal::BadRun);
            };
            let limits = &self.core.members[*member].limits;
            if party.max_rows > limits.max_rows {
                return Err(self.over(&limits.name, "max_rows", party.max_rows, limits.max_rows));
            }
            members.push(*member);
        }
        let mut instance: Instance = NO_INSTANCE;
        rand::rngs::SysRng.try_fill_bytes(&mut instance).map_err(|_| Refusal::Internal)?;
        let record = Record { spec, instance, created: SystemTime::now(), opener: party };
        let max_runs = self.core.members[self.member].limits.max_runs;
        let known = *known;
        let entering = Entering { id, record, party, members: &members, purpose, known, max_runs };
        let (entered, mut welcome) =
            self.core.runs.enter(entering, &self.core.store).map_err(|refusal| match refusal {
                Refusal::OverLimit => {
                    self.over(self.name(), "max_runs", u64::from(max_runs) + 1, max_runs.into())
                }
                refusal => refusal,
            })?;
        let Some((run, is_new)) = entered else { return Ok((None, welcome)) };
        let seat = Seat { core: self.core, run, party, refused: None };
        if is_new {
            self.tell_of(&seat.run);
        } else if let Err(refusal) = self.core.check(&seat.run) {
            if !refusal.passes() {
                let told = 1 << party;
                self.core.end(&seat.run, Over::Refused(refusal), Counted::Failed, told);
            }
            return Err(refusal);
        } else {
            // Damaged slots may have gone.
            welcome.present = seat.run.present();
        }
        Ok((Some(seat), welcome))
    }

    fn tell_of(&self, run: &Run) {
        self.core.metrics.run(Counted::Opened);
        let names: Vec<&str> = run
            .members
            .iter()
            .map(|member| self.core.members[*member].limits.name.as_str())
            .collect();
        let spec = &run.record.spec;
        let max_rows: Vec<String> =
            spec.parties.iter().map(|party| party.max_rows.to_string()).collect();
        let (protocol, parties) = (spec.variant.row().id, names.join(", "));
        let max_rows = max_rows.join(", ");
        tracing::info!(run = %short(run), protocol, parties, max_rows, "run opened");
    }

    fn converse(&mut self, seat: &mut Seat<'_>) -> Result<()> {
        loop {
            self.core.visit_is_busy(self.number, false);
            let mut head = [0; HEAD_LEN];
            match self.channel()?.recv_into(&mut head) {
                // Gone in good order, or not: between two requests it is the same.
                Err(Error::Transport(TransportError::Closed)) => return Ok(()),
                other => other?,
            }
            self.core.visit_is_busy(self.number, true);
            let Ok(request) = Request::decode(&head) else {
                tracing::warn!(party = self.name(), "a party asked what no party asks");
                return self.refuse(seat, Refusal::Malformed { party: seat.party });
            };
            if let Request::Put { slot, len } = request {
                let body = self.channel()?.recv(len)?;
                self.traffic.received += len as u64;
                if seat.refused.is_none()
                    && let Err(refusal) = self.keep(seat, slot, &body)
                {
                    self.note(refusal);
                    seat.refused = Some(refusal);
                }
                continue;
            }
            self.core.consider(&seat.run);
            let answer = match seat.refused {
                Some(refusal) => Err(refusal),
                None => self.answer(seat, request)?,
            };
            match answer {
                Ok(body) => {
                    self.traffic.sent += body.len() as u64;
                    let channel = self.channel()?;
                    channel.send(&Reply::Body(body.len()).encode())?;
                    // What waits on the other side for nothing must not wait for this.
                    if !body.is_empty() {
                        channel.send(&body)?;
                    }
                }
                Err(refusal) => {
                    self.refuse(seat, refusal)?;
                    if refusal == Refusal::ShuttingDown {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The body of the reply to anything but a put.
    fn answer(&mut self, seat: &Seat<'_>, request: Request) -> Result<Result<Vec<u8>, Refusal>> {
        let (run, party) = (&seat.run, seat.party);
        let malformed = Refusal::Malformed { party };
        match (run.over(), request) {
            (Some(Over::Finished), Request::Done | Request::Sync) => return Ok(Ok(Vec::new())),
            (Some(over), _) => return Ok(Err(over.refusal())),
            (None, _) if self.core.is_stopping() => return Ok(Err(Refusal::ShuttingDown)),
            _ => {}
        }
        Ok(match request {
            Request::Put { .. } | Request::Sync => Ok(Vec::new()),
            Request::Get { slot } if slot.may_be_got_by(party, &run.record.spec) => {
                self.get(seat, slot)?
            }
            Request::Get { .. } => Err(malformed),
            Request::Filled { kind, parts } if kind.is_written_by_party() => {
                Ok(run.store.filled(kind, party, parts))
            }
            Request::Filled { .. } => Err(malformed),
            Request::Done => self.done(seat),
            Request::End if !may_be_ended(&run.record.spec, &RunDesk { core: self.core, run }) => {
                Err(Refusal::TooLate)
            }
            Request::End => {
                let refusal = Refusal::Ended { party };
                self.core.end(run, Over::Refused(refusal), Counted::Ended, 1 << party);
                Ok(Vec::new())
            }
        })
    }

    fn keep(&self, seat: &Seat<'_>, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        let (run, party) = (&seat.run, seat.party);
        if let Some(over) = run.over() {
            return Err(over.refusal());
        }
        if self.core.is_stopping() {
            return Err(Refusal::ShuttingDown);
        }
        if !slot.may_be_put_by(party, &run.record.spec) {
            return Err(Refusal::Malformed { party });
        }
        match run.store.compare(slot, body) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Refusal::AlreadyThere),
            None => {}
        }
        let desk = RunDesk { core: self.core, run };
        check_put(&run.record.spec, &desk, slot, body)?;
        let member = &self.core.members[self.member];
        let bytes = charge(body.len() as u64);
        if !member.reserve(bytes) {
            let (name, most) = (&member.limits.name, member.limits.max_stored_bytes);
            return Err(self.over(name, "max_stored_mb", most / 1_000_000 + 1, most / 1_000_000));
        }
        let kept = run.store.put(slot, body, &run.record);
        if !matches!(kept, Ok(Kept::New)) {
            member.release(bytes);
        }
        match kept {
            Ok(Kept::New) => {}
            Ok(Kept::Same) => return Ok(()),
            Ok(Kept::Other) => return Err(Refusal::AlreadyThere),
            Err(error) => return Err(self.failed(run, &error)),
        }
        if slot.kind == Kind::Labels {
            let count = body.first_chunk().map_or(0, |count| u32::from_le_bytes(*count));
            self.core.metrics.labels_received(count.into());
        }
        run.set_dirty();
        run.wake();
        // A list is looked at when its party says that it is complete, or asks.
        if !matches!(slot.kind, Kind::Labels | Kind::Opened | Kind::Relayed) {
            self.core.consider(run);
        }
        Ok(())
    }

    fn get(&mut self, seat: &Seat<'_>, slot: Slot) -> Result<Result<Vec<u8>, Refusal>> {
        let (run, core) = (&seat.run, self.core);
        let started = Instant::now();
        let (mut told, mut looked_at) = (None, None::<Instant>);
        let mut other_agreement = [0; 32];
        let desk = RunDesk { core, run };
        while !run.wait(POLL, || is_out(&run.record.spec, &desk, slot)) {
            if let Some(over) = run.over() {
                return Ok(Err(over.refusal()));
            }
            if let Some(hindrance) = run.hindrance() {
                return Ok(Err(hindrance));
            }
            if core.is_stopping() {
                return Ok(Err(Refusal::ShuttingDown));
            }
            if let Some(ended) = self.session.ended() {
                return Err(ended.into());
            }
            if started.elapsed() < PATIENCE {
                continue;
            }
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_AROUND_EVERY) {
                looked_at = Some(Instant::now());
                other_agreement = core.runs.other_agreement(run, seat.party);
            }
            let waiting = run.missing_for(slot, other_agreement);
            if told != Some(waiting) {
                told = Some(waiting);
                let channel = self.channel()?;
                channel.send(&Reply::Waiting.encode())?;
                channel.send(&waiting.encode())?;
                channel.flush()?;
            }
        }
        Ok(run.store.read(slot).map_err(|error| self.failed(run, &error)))
    }

    fn done(&self, seat: &Seat<'_>) -> Result<Vec<u8>, Refusal> {
        let run = &seat.run;
        let done = run
            .store
            .mark_done(seat.party, &run.record)
            .map_err(|error| self.failed(run, &error))?;
        if done.count_ones() == u32::from(run.parties()) {
            self.core.end(run, Over::Finished, Counted::Finished, 0);
        }
        Ok(Vec::new())
    }

    /// What a failure of the file system means: one of a run that has just gone is none.
    fn failed(&self, run: &Run, error: &io::Error) -> Refusal {
        match run.over() {
            Some(over) => over.refusal(),
            None => self.core.storage(error),
        }
    }

    fn refuse(&mut self, seat: &mut Seat<'_>, refusal: Refusal) -> Result<()> {
        if seat.refused != Some(refusal) {
            self.note(refusal);
        }
        if seat.run.over().is_some() {
            self.core.runs.told(&seat.run, seat.party);
        }
        self.channel()?.send(&Reply::Refused(refusal).encode())
    }

    fn note(&self, refusal: Refusal) {
        self.core.metrics.refused(refusal);
        tracing::info!(party = self.name(), run = self.run, reason = reason(refusal), "refused");
    }

    /// Says for whom which limit of the settings is too low.
    fn over(&self, party: &str, limit: &str, asked: u64, allowed: u64) -> Refusal {
        tracing::info!(party, run = self.run, limit, asked, allowed, "above a limit");
        Refusal::OverLimit
    }

    fn name(&self) -> &'a str {
        &self.core.members[self.member].limits.name
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        self.context.peer()
    }
}
