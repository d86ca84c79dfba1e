//! Matching over a session with the peer.

use super::{Checked, Match, Run};
use crate::answer::{Asked, OwnRows, Unchecked};
use crate::error::ConfigFault;
use crate::meeting::{self, Closings, Counts, Purpose};
use crate::output::KeyRows;
use crate::peer::{Peer, Seats};
use crate::reading::Reader;
use crate::report::Parts;
use crate::rows;
use crate::self_check::CheckedSet;
use crate::{Error, Event, Phase, Report, probe};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::Instant;
use vesica_agreement::choice::{Candidates, Choice};
use vesica_agreement::{Agreement, Roles};
use vesica_core::{Item, Operation, Role, SessionId};
use vesica_link::Session;
use vesica_net::Context;
use vesica_protocols::{Output, Party};
use vesica_records::{KeyCounts, KeySet};

const EXPORT_SESSION: &str = "EXPORTER-vesica-session";
const EXPORT_CHECK_ITEMS: &str = "EXPORTER-vesica-self-check";

/// See the [module](self).
pub(crate) struct OverSession<'a> {
    run: &'a Run<'a>,
    agreement: &'a Agreement,
    peer: Peer<'a>,
}

/// What this party's file holds.
pub(crate) struct OwnSet {
    keys: KeySet,
    rows: OwnRows,
    counts: KeyCounts,
}

/// The announced sizes.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) here: u64,
    pub(crate) there: u64,
}

/// What a finished run knows of its session.
pub(crate) struct OfSession {
    /// This side's role.
    pub(crate) role: Role,
    pub(crate) choice: Choice,
    pub(crate) sizes: Sizes,
    pub(crate) direction_changes: u64,
    /// Sent and received.
    pub(crate) wire_bytes: (u64, u64),
}

/// The outcome of the matching, after both sides have said that they have finished. Nothing of the result is checked
/// yet.
pub(crate) struct Done {
    unchecked: Unchecked,
    set: CheckedSet,
    rows: OwnRows,
    counts: KeyCounts,
    closings: Closings,
    of: OfSession,
}

impl<'a> OverSession<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Self {
        let job = run.job;
        let agreement = &job.agreement;
        let seats = Seats::of(agreement, run.position);
        let way = (&job.identity, &job.link);
        let peer = Peer::new(agreement, way, seats, &**run.observer, run.cancel);
        Self { run, agreement, peer }
    }

    fn at(&self, phase: Phase) -> impl Fn(vesica_core::Error) -> Error {
        move |error| self.peer.error(error, phase)
    }

    fn exchange_sizes(&self, ctx: &mut Context, distinct: u64) -> Result<Sizes, Error> {
        self.run.event(&Event::Phase(Phase::Sizes));
        let hidden = self.agreement.hide_sizes;
        let terms = self.agreement.peer_of(&self.peer.seats.party);
        let here = if hidden { self.run.terms().max_rows } else { distinct };
        let exchange = |ctx: &mut Context| meeting::exchange_sizes(ctx, here, terms, hidden);
        let there = ctx.child(Phase::Sizes.name(), exchange).map_err(self.at(Phase::Sizes))?;
        self.run.event(&Event::Sizes { here, there });
        Ok(Sizes { here, there })
    }

    /// The protocol and the roles for sets of these sizes.
    fn choose(&self, ctx: &mut Context, id: SessionId, sizes: Sizes) -> Result<Choice, Error> {
        let seat = self.peer.seats.seat;
        let by_seat = match seat {
            Role::Sender => [sizes.here, sizes.there],
            _ => [sizes.there, sizes.here],
        };
        let at = self.at(Phase::Choosing);
        let allowed = Roles::allowed(self.agreement, id, by_seat).map_err(&at)?;
        self.run.event(&Event::Phase(Phase::Choosing));
        let choice = ctx.child(Phase::Choosing.name(), |ctx| {
            let candidates = Candidates::new(self.agreement, &allowed);
            let measure = |least| probe::measure(ctx, seat, least);
            let measured = candidates.worth_measuring().map(measure).transpose()?;
            Ok(candidates.choose(measured))
        });
        let choice = choice.map_err(at)?;
        self.run.event(&Event::Chosen(&choice));
        Ok(choice)
    }

    /// `keys` with self-check items and padding; `len` of them are announced.
    fn checked_set(
        &self,
        ctx: &mut Context,
        keys: KeySet,
        len: u64,
        role: Role,
        secret: &[u8; 32],
    ) -> Result<CheckedSet, Error> {
        let agreement = self.agreement;
        let check_items = agreement.self_check as usize;
        let padded_len = len as usize;
        let KeySet { items, values, texts, .. } = keys;
        let set = match agreement.integer_items() {
            Some(integers) => {
                CheckedSet::of_integers(items, check_items, padded_len, integers, role)
            }
            None => {
                let check_items = [check_items, agreement.own_check_items() as usize];
                CheckedSet::with_check_items(items, check_items, padded_len, secret, ctx.rng())
            }
        };
        let set = match (values, agreement.checked_values()) {
            (Some(values), Some(checked)) => set.and_then(|set| set.with_values(values, checked)),
            _ => set,
        };
        let set = match texts {
            Some(keys) => {
                let texts = agreement.text_len().map(|len| (len, role));
                set.and_then(|set| set.with_keys(keys, texts))
            }
            None => set,
        };
        Ok(set.ok_or(ConfigFault::OutOfMemory { items: len })?)
    }

    fn match_sets(
        &self,
        own: OwnSet,
        (session, ctx): (&Session, &mut Context),
    ) -> Result<Done, Error> {
        let OwnSet { keys, rows, counts } = own;
        let sizes = self.exchange_sizes(ctx, keys.items.len() as u64)?;
        let hash = self.agreement.hash();
        let id = SessionId::from_bytes(session.export(EXPORT_SESSION, hash.as_bytes()));
        let choice = self.choose(ctx, id, sizes)?;
        let role = choice.roles.role(self.peer.seats.seat);

        self.run.event(&Event::Phase(Phase::Matching));
        let secret = session.export(EXPORT_CHECK_ITEMS, hash.as_bytes());
        let set = self.checked_set(ctx, keys, sizes.here, role, &secret)?;
        let (output, direction_changes) = choice
            .row
            .party(role, choice.roles.params, set.input())
            .and_then(|party| run_alone(party, ctx, Phase::Matching.name()))
            .map_err(self.at(Phase::Matching))?;

        self.run.event(&Event::Phase(Phase::Checking));
        let (sent, received) = ctx.meter().bytes_under(Phase::Matching.name());
        let closing = ctx.child(Phase::Checking.name(), |ctx| {
            let unchecked = Unchecked::new(output).settled(ctx, &set)?;
            let told = unchecked.told(&set, self.agreement);
            let closings = meeting::exchange_closings(ctx, role, &Counts { sent, received, told })?;
            Ok((unchecked, closings))
        });
        let (unchecked, closings) = closing.map_err(self.at(Phase::Checking))?;
        let wire_bytes = (0, 0);
        let of = OfSession { role, choice, sizes, direction_changes, wire_bytes };
        Ok(Done { unchecked, set, rows, counts, closings, of })
    }
}

impl Match for OverSession<'_> {
    type Set = OwnSet;
    type Met = (Session, Context);
    type Answer = Done;
    type Of = OfSession;

    fn read(&self, reader: &Reader<'_>) -> Result<OwnSet, Error> {
        let go_on = || self.peer.go_on_reading();
        let mut items = Vec::new();
        let mut keys = if self.agreement.operation() == Operation::Intersection {
            let mut sink = |batch: &[Item]| {
                items.extend_from_slice(batch);
                Ok(())
            };
            let never = |never: Infallible| match never {};
            let streamed = reader.items(&mut sink, never, go_on)?;
            let distinct =
                rows::distinct(&items).ok_or(ConfigFault::OutOfMemory { items: streamed.keyed })?;
            let mut counts = streamed.counts;
            counts.distinct = distinct.len() as u64;
            counts.duplicates = streamed.keyed - counts.distinct;
            KeySet { items: distinct, values: None, texts: None, rows: None, counts }
        } else {
            reader.keys(go_on)?
        };
        let counts = keys.counts.clone();
        reader.check_number(counts.distinct)?;
        self.run.event(&Event::KeysRead(&counts));
        let keys_rows = keys.rows.take().map(|numbers| KeyRows {
            columns: reader.columns(),
            numbers,
            rows: counts.rows,
        });
        Ok(OwnSet { keys, rows: OwnRows { items, keys: keys_rows }, counts })
    }

    fn reading_failed(&self, error: &Error) {
        self.peer.abort(error.stop_reason());
    }

    fn meet(&self) -> Result<(Session, Context), Error> {
        let Run { job, clock, meter, .. } = self.run;
        let start = Instant::now();
        let met = self.peer.connect().and_then(|session| {
            clock.add(Phase::Connecting, start.elapsed());
            let mut ctx = self.peer.agree(&session, job.threads, meter, Purpose::Run)?;
            ctx.set_progress(self.run.steps());
            Ok((session, ctx))
        });
        met.inspect_err(|_| self.peer.stop_reading())
    }

    fn both(
        &self,
        set: Result<OwnSet, Error>,
        met: Result<(Session, Context), Error>,
    ) -> Result<(OwnSet, (Session, Context)), Error> {
        match (set, met) {
            // A reader that was interrupted because the link failed is not the cause.
            (Err(Error::Interrupted { .. }), Err(error)) => Err(error),
            (Err(error), _) => Err(self.peer.left(error)),
            (set, met) => Ok((set?, met?)),
        }
    }

    fn run(&self, set: OwnSet, (session, mut ctx): (Session, Context)) -> Result<Done, Error> {
        let matched = self.match_sets(set, (&session, &mut ctx));
        let mut done = matched.map_err(|error| self.peer.fail(&session, error))?;
        drop(ctx);
        self.peer.close(&session)?;
        done.of.wire_bytes = session.wire_bytes();
        Ok(done)
    }

    fn check(&self, answer: Done) -> Result<Checked<OfSession>, Error> {
        let Done { unchecked, set, rows, counts, closings, of } = answer;
        let asked = Asked {
            agreement: self.agreement,
            learns: self.agreement.is_receiver_of_result(&self.peer.seats.party),
            here: of.sizes.here,
            there: of.sizes.there,
            role: of.role,
            session: *of.choice.roles.params.session(),
        };
        let compared = closings.compare().map_err(vesica_core::Error::from);
        let output = compared
            .and_then(|()| unchecked.answer(&set, &asked, rows))
            .map_err(self.at(Phase::Checking))?;
        self.run.event(&Event::Checked);
        Ok(Checked { output, counts, of })
    }

    fn go_on(&self) -> ControlFlow<()> {
        self.peer.go_on()
    }

    fn report(&self, parts: Parts<'_>, checked: &Checked<OfSession>) -> Report {
        parts.of_session(checked)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Runs `party` under `label` on streams of its own, and returns its output and its changes of direction.
pub(crate) fn run_alone(
    party: Box<dyn Party>,
    ctx: &mut Context,
    label: &str,
) -> vesica_core::Result<(Output, u64)> {
    let mut forks = ctx.fork(1)?;
    let own = forks.first_mut().ok_or(vesica_core::Error::Bug("a fork made no context"))?;
    let output = own.child(label, |ctx| {
        let output = party.run(ctx)?;
        ctx.finish()?;
        Ok::<_, vesica_core::Error>(output)
    })?;
    Ok((output, own.direction_changes()))
}
