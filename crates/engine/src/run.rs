//! The parts of a run and what its threads share.

use crate::agreement::Agreement;
use crate::answer::{self, Answer, Asked};
use crate::choice::{self, Choice};
use crate::error::{ConfigFault, InputFault};
use crate::meeting::{self, Counts, Purpose};
use crate::self_check::CheckedSet;
use crate::{Error, Event, Observer, Phase};
use rand::TryRng;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vesica_core::{PsiParams, Role, SessionId, StopReason};
use vesica_link::{CancelToken, Identity, LinkOptions, Session, establish};
use vesica_net::{Context, Meter, Pool, Progress};
use vesica_protocols::{Output, Party};
use vesica_records::{Beside, KeyColumn, KeyItems, KeyLimits, KeySet, Source, read_keys_with};

const EXPORT_SESSION: &str = "EXPORTER-vesica-session";
const EXPORT_CANARIES: &str = "EXPORTER-vesica-canaries";

/// Who is who, found from the agreement and the key file.
pub(crate) struct Seats {
    pub(crate) party: String,
    pub(crate) peer: String,
    pub(crate) role: Role,
}

impl Seats {
    pub(crate) fn find(agreement: &Agreement, identity: &Identity) -> Result<Self, Error> {
        let public = identity.public();
        let party = agreement
            .party_of(&public)
            .ok_or(ConfigFault::NotAParty { identity: public })?
            .to_owned();
        let today = jiff::Timestamp::now();
        if let (true, Some(on)) = (agreement.is_expired(today), agreement.expires) {
            return Err(ConfigFault::Expired { on }.into());
        }
        let peer = agreement.peer_of(&party).name.clone();
        let role = agreement.role_of(&party);
        Ok(Self { peer, role, party })
    }

    pub(crate) fn learns(&self, agreement: &Agreement) -> bool {
        self.role == Role::Receiver || agreement.learns() == vesica_core::Learns::Both
    }
}

/// What the matching gave.
pub(crate) struct Matched {
    pub(crate) answer: Option<Answer>,
    pub(crate) params: PsiParams,
    pub(crate) choice: Choice,
    pub(crate) announced_here: u64,
    pub(crate) announced_there: u64,
    pub(crate) direction_changes: u64,
}

/// What the threads of one run share: who asked to stop, and the session once it stands.
pub(crate) struct Run {
    link_cancel: CancelToken,
    cancelled: Arc<AtomicBool>,
    reading_is_pointless: AtomicBool,
    session: Arc<Mutex<Option<Session>>>,
    abort_reason: Mutex<Option<StopReason>>,
}

impl Run {
    pub(crate) fn new(cancel: &CancelToken) -> Self {
        let run = Self {
            link_cancel: CancelToken::new(),
            cancelled: Arc::default(),
            reading_is_pointless: AtomicBool::new(false),
            session: Arc::default(),
            abort_reason: Mutex::default(),
        };
        let (link_cancel, cancelled, session) =
            (run.link_cancel.clone(), Arc::clone(&run.cancelled), Arc::clone(&run.session));
        cancel.on_cancel(move || {
            cancelled.store(true, Ordering::Relaxed);
            link_cancel.cancel();
            if let Some(session) = current(&session) {
                session.stop(StopReason::Cancelled);
            }
        });
        run
    }

    /// Ends the wait for the peer, or the session with it.
    pub(crate) fn abort(&self, reason: StopReason) {
        lock(&self.abort_reason).get_or_insert(reason);
        self.link_cancel.cancel();
        if let Some(session) = current(&self.session) {
            session.stop(reason);
        }
    }

    /// Ends the reading: the peer will not come.
    pub(crate) fn stop_reading(&self) {
        self.reading_is_pointless.store(true, Ordering::Relaxed);
    }

    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        let stop = self.cancelled.load(Ordering::Relaxed)
            || self.reading_is_pointless.load(Ordering::Relaxed);
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn read(
        &self,
        source: &Source,
        (key, beside): (&[KeyColumn], Beside<'_>),
        hash: &KeyItems,
        limits: &KeyLimits,
        min_rows: u64,
        observer: &dyn Observer,
    ) -> Result<KeySet, Error> {
        observer.event(&Event::Phase(Phase::Reading));
        let mut progress = |progress: vesica_records::Progress| {
            observer.event(&Event::Reading {
                bytes_done: progress.bytes_done,
                bytes_total: progress.bytes_total,
                rows: progress.rows,
            });
            self.go_on()
        };
        let keys = read_keys_with(source, key, beside, hash, limits, &mut progress)?;
        let distinct = keys.counts.distinct;
        if distinct < min_rows {
            return Err(InputFault::TooFewKeys { distinct, min: min_rows }.into());
        }
        observer.event(&Event::KeysRead(&keys.counts));
        Ok(keys)
    }

    pub(crate) fn connect(
        &self,
        agreement: &Agreement,
        identity: &Identity,
        link: &LinkOptions,
        seats: &Seats,
        observer: &dyn Observer,
    ) -> Result<Session, Error> {
        observer.event(&Event::Phase(Phase::Connecting));
        let peer = agreement.peer_of(&seats.party);
        let on_event = |event| observer.event(&Event::Link(&event));
        let session = establish(identity, &[peer.identity], link, &on_event, &self.link_cancel)
            .map_err(|error| Error::from_link(error, &seats.peer))?;
        *lock(&self.session) = Some(session.clone());
        // A stop that came between the connection and the line above found no session to end.
        if self.link_cancel.is_cancelled() {
            session.stop(lock(&self.abort_reason).unwrap_or(StopReason::Cancelled));
            return Err(Error::Interrupted { phase: Phase::Connecting });
        }
        Ok(session)
    }

    pub(crate) fn agree(
        &self,
        ctx: &mut Context,
        agreement: &Agreement,
        seats: &Seats,
        purpose: Purpose,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        observer.event(&Event::Phase(Phase::Agreeing));
        ctx.child(Phase::Agreeing.name(), |ctx| {
            meeting::agree(ctx, agreement, purpose, &seats.peer)
        })?;
        observer.event(&Event::Agreed);
        Ok(())
    }

    /// Of the reader's and the link's results, the failure that caused the other.
    pub(crate) fn first_failure(
        &self,
        keys: Result<KeySet, Error>,
        met: Result<(Session, Context), Error>,
    ) -> Result<(KeySet, Session, Context), Error> {
        match (keys, met) {
            (Ok(keys), Ok((session, ctx))) => Ok((keys, session, ctx)),
            // A reader that was interrupted because the link failed has nothing to say.
            (Err(Error::Interrupted { .. }), Err(error)) => Err(error),
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(error),
        }
    }

    pub(crate) fn match_sets(
        &self,
        ctx: &mut Context,
        session: &Session,
        agreement: &Agreement,
        seats: &Seats,
        keys: KeySet,
        observer: &dyn Observer,
    ) -> Result<Matched, Error> {
        let at = |phase| {
            let peer = seats.peer.clone();
            move |error| Error::from_run(error, phase, &peer)
        };
        let terms = agreement.terms_of(&seats.party);
        let peer_terms = agreement.peer_of(&seats.party);
        let hidden = agreement.hide_sizes;

        observer.event(&Event::Phase(Phase::Sizes));
        let announced_here = if hidden { terms.max_rows } else { keys.items.len() as u64 };
        let announced_there = ctx
            .child(Phase::Sizes.name(), |ctx| {
                meeting::exchange_sizes(ctx, announced_here, peer_terms, hidden)
            })
            .map_err(at(Phase::Sizes))?;
        observer.event(&Event::Sizes { here: announced_here, there: announced_there });

        let hash = agreement.hash();
        let id = SessionId::from_bytes(session.export(EXPORT_SESSION, hash.as_bytes()));
        let (sender_len, receiver_len) = match seats.role {
            Role::Sender => (announced_here, announced_there),
            _ => (announced_there, announced_here),
        };
        let params = agreement.params(id, sender_len, receiver_len).map_err(at(Phase::Choosing))?;
        observer.event(&Event::Phase(Phase::Choosing));
        let choice = ctx
            .child(Phase::Choosing.name(), |ctx| {
                choice::choose(ctx, agreement, seats.role, &params)
            })
            .map_err(at(Phase::Choosing))?;
        observer.event(&Event::Chosen(&choice));

        observer.event(&Event::Phase(Phase::Matching));
        let secret = session.export(EXPORT_CANARIES, hash.as_bytes());
        let canaries = agreement.self_check as usize;
        let padded_len = announced_here as usize;
        let set = match agreement.integer_items() {
            Some(integers) => {
                CheckedSet::of_integers(keys.items, canaries, padded_len, integers, seats.role)
            }
            None => {
                let canaries = [canaries, agreement.own_canaries() as usize];
                CheckedSet::with_canaries(keys.items, canaries, padded_len, &secret, ctx.rng())
            }
        };
        let set = match (keys.values, agreement.checked_values()) {
            (Some(values), Some(checked)) => set.and_then(|set| set.with_values(values, checked)),
            _ => set,
        };
        let set = match keys.texts {
            Some(keys) => {
                let texts = agreement.text_len().map(|len| (len, seats.role));
                set.and_then(|set| set.with_keys(keys, texts))
            }
            None => set,
        };
        let set = set.ok_or(ConfigFault::OutOfMemory { items: announced_here })?;
        let (output, direction_changes) = choice
            .row
            .party(seats.role, params, set.input())
            .and_then(|party| run_alone(party, ctx, Phase::Matching.name()))
            .map_err(at(Phase::Matching))?;

        observer.event(&Event::Phase(Phase::Checking));
        let asked = Asked {
            agreement,
            learns: seats.learns(agreement),
            here: announced_here,
            there: announced_there,
            role: seats.role,
        };
        let checked = answer::check(output, &set, &asked).map_err(at(Phase::Checking))?;
        let (sent, received) = ctx.meter().bytes_under(Phase::Matching.name());
        let checked = ctx
            .child(Phase::Checking.name(), |ctx| {
                let checked = checked.settled(ctx, &set)?;
                let told = checked.told(&set, agreement.learns());
                meeting::compare_counts(ctx, &Counts { sent, received, told })?;
                Ok::<_, vesica_core::Error>(checked)
            })
            .map_err(at(Phase::Checking))?;
        observer.event(&Event::Checked);
        // Only now, so that the time until the closing message does not tell the peer how many.
        let answer = checked.answer(&set, &asked).map_err(at(Phase::Checking))?;
        Ok(Matched { answer, params, choice, announced_here, announced_there, direction_changes })
    }

    /// Ends the session after `error` and returns it.
    pub(crate) fn fail(&self, session: &Session, error: Error) -> Error {
        // Both sides find the same differences and close; a stop could overtake what the peer
        // still reads of them.
        if matches!(error, Error::PeerIncompatible(_)) {
            let _ = session.close();
        } else {
            session.stop(error.stop_reason());
        }
        error
    }

    /// Ends the session in good order when `result` is good, and with its error otherwise.
    pub(crate) fn end(
        &self,
        session: &Session,
        seats: &Seats,
        result: Result<(), Error>,
    ) -> Result<(), Error> {
        match result {
            Ok(()) => session
                .close()
                .map_err(|error| Error::from_run(error.into(), Phase::Checking, &seats.peer)),
            Err(error) => Err(self.fail(session, error)),
        }
    }
}

fn current(session: &Mutex<Option<Session>>) -> Option<Session> {
    lock(session).clone()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The context of the party in `role` over `session`.
pub(crate) fn context(
    session: &Session,
    role: Role,
    peer_name: &str,
    threads: NonZeroUsize,
    meter: &Meter,
) -> Result<Context, Error> {
    let peer = role.other().ok_or(Error::Bug("a party of two has no peer"))?;
    let mut seed = [0; 32];
    rand::rngs::SysRng
        .try_fill_bytes(&mut seed)
        .map_err(|_| Error::Bug("the system gives no random numbers"))?;
    Pool::new(threads)
        .and_then(|pool| {
            Context::new(vec![(peer, Arc::new(session.clone()))], seed, pool, meter.clone())
        })
        .map_err(|error| Error::from_run(error, Phase::Connecting, peer_name))
}

/// Tells an observer how far the protocol is.
pub(crate) struct Steps {
    pub(crate) observer: Arc<dyn Observer>,
}

impl Progress for Steps {
    fn step(&self, label: &str, done: u64, total: u64) {
        self.observer.event(&Event::Step { label, done, total });
    }
}
