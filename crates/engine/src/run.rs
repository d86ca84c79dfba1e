//! The parts of a run and what its threads share.

use crate::answer::{Asked, OwnRows, Unchecked};
use crate::error::{ConfigFault, InputFault};
use crate::event::reading;
use crate::job::own_position;
use crate::meeting::{self, Closings, Counts, Purpose};
use crate::output::RunResult;
use crate::self_check::CheckedSet;
use crate::word::WORD_LIMIT;
use crate::{Error, Event, Observer, Phase, probe, rows};
use rand::TryRng;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_agreement::Roles;
use vesica_agreement::choice::{Candidates, Choice};
use vesica_core::{Item, Operation, PsiParams, Role, SessionId, StopReason, TransportError};
use vesica_link::{CancelToken, Identity, LinkOptions, Session, establish};
use vesica_net::{Context, Meter, Pool, Progress};
use vesica_protocols::{Output, Party};
use vesica_records::{Beside, KeyColumn, KeyItems, KeyLimits, KeySet, Source, read_keys_with};

const EXPORT_SESSION: &str = "EXPORTER-vesica-session";
const EXPORT_CHECK_ITEMS: &str = "EXPORTER-vesica-self-check";

/// How often a side that has failed checks whether its peer has come.
const WORD_TICK: Duration = Duration::from_millis(20);

/// The two parties, from the agreement and the key file.
pub(crate) struct Seats {
    pub(crate) party: String,
    pub(crate) peer: String,
    /// The role of this party unless sizes exchange the roles.
    pub(crate) seat: Role,
}

impl Seats {
    pub(crate) fn find(agreement: &Agreement, identity: &Identity) -> Result<Self, Error> {
        let party = agreement.parties[own_position(agreement, identity)?].name.clone();
        let peer = agreement.peer_of(&party).name.clone();
        let seat = agreement.role_of(&party);
        Ok(Self { peer, seat, party })
    }

    pub(crate) fn learns(&self, agreement: &Agreement) -> bool {
        agreement.is_receiver_of_result(&self.party)
    }
}

/// The outcome of the matching, after both sides have said that they have finished. Nothing of the result is checked
/// yet.
pub(crate) struct Done {
    unchecked: Unchecked,
    set: CheckedSet,
    closings: Closings,
    role: Role,
    choice: Choice,
    announced_here: u64,
    announced_there: u64,
    direction_changes: u64,
}

impl Done {
    /// Checks the result. Called only after the session: a failure is this side's alone, and the peer must not learn of
    /// it.
    pub(crate) fn check(
        self,
        agreement: &Agreement,
        seats: &Seats,
        own: OwnRows,
        observer: &dyn Observer,
    ) -> Result<CheckedRun, Error> {
        let Self { unchecked, set, closings, role, choice, .. } = self;
        let asked = Asked {
            agreement,
            learns: seats.learns(agreement),
            here: self.announced_here,
            there: self.announced_there,
            role,
            session: *choice.roles.params.session(),
        };
        let output = closings
            .compare()
            .map_err(vesica_core::Error::from)
            .and_then(|()| unchecked.answer(&set, &asked, own))
            .map_err(|error| Error::from_run(error, Phase::Checking, &seats.peer))?;
        observer.event(&Event::Checked);
        Ok(CheckedRun {
            output,
            role,
            params: choice.roles.params,
            choice,
            announced_here: self.announced_here,
            announced_there: self.announced_there,
            direction_changes: self.direction_changes,
        })
    }
}

/// What this party's file holds.
pub(crate) struct OwnKeys {
    pub(crate) keys: KeySet,
    /// The items of all rows, in the order of the rows, if the result is rows.
    pub(crate) rows: Vec<Item>,
}

/// The outcome of a run, its result checked.
pub(crate) struct CheckedRun {
    pub(crate) output: RunResult,
    /// This side's role.
    pub(crate) role: Role,
    pub(crate) params: PsiParams,
    pub(crate) choice: Choice,
    pub(crate) announced_here: u64,
    pub(crate) announced_there: u64,
    pub(crate) direction_changes: u64,
}

/// The state that the threads of one run share: who asked to stop, and the established session.
pub(crate) struct SharedState {
    link_cancel: CancelToken,
    cancelled: Arc<AtomicBool>,
    reading_is_pointless: AtomicBool,
    session: Arc<Mutex<Option<Session>>>,
    abort_reason: Mutex<Option<StopReason>>,
}

impl SharedState {
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

    /// Ends the session with `reason`. If there is no session yet, this side waits a moment for the peer, and
    /// then sends it the reason.
    pub(crate) fn abort(&self, reason: StopReason) {
        lock(&self.abort_reason).get_or_insert(reason);
        let until = Instant::now() + WORD_LIMIT;
        while current(&self.session).is_none()
            && self.go_on().is_continue()
            && Instant::now() < until
        {
            self.link_cancel.wait(WORD_TICK);
        }
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

    /// Also not if the peer has left. Only while reading: a result is written whatever the peer does.
    fn go_on_reading(&self) -> ControlFlow<()> {
        match current(&self.session).is_some_and(|session| session.ended().is_some()) {
            true => ControlFlow::Break(()),
            false => self.go_on(),
        }
    }

    pub(crate) fn read(
        &self,
        source: &Source,
        (key, beside): (&[KeyColumn], Beside<'_>),
        hash: &KeyItems,
        limits: &KeyLimits,
        (min_rows, operation): (u64, Operation),
        observer: &dyn Observer,
    ) -> Result<OwnKeys, Error> {
        observer.event(&Event::Phase(Phase::Reading));
        let mut row_items = Vec::new();
        let keys = if operation == Operation::Intersection {
            let mut sink = |items: &[Item]| {
                row_items.extend_from_slice(items);
                Ok(())
            };
            let never = |never: Infallible| match never {};
            let go_on = || self.go_on_reading();
            let wanted = (limits, min_rows);
            let streamed =
                rows::read(source, (key, hash), wanted, &mut sink, never, observer, go_on)?;
            let items = rows::distinct(&row_items)
                .ok_or(ConfigFault::OutOfMemory { items: streamed.keyed })?;
            let mut counts = streamed.counts;
            counts.distinct = items.len() as u64;
            counts.duplicates = streamed.keyed - counts.distinct;
            KeySet { items, values: None, texts: None, rows: None, counts }
        } else {
            let mut progress = |progress| {
                observer.event(&reading(progress));
                self.go_on_reading()
            };
            read_keys_with(source, key, beside, hash, limits, &mut progress)?
        };
        let distinct = keys.counts.distinct;
        if distinct < min_rows {
            return Err(InputFault::TooFewKeys { distinct, min: min_rows }.into());
        }
        observer.event(&Event::KeysRead(&keys.counts));
        Ok(OwnKeys { keys, rows: row_items })
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
        // A stop before the line above found no session to end.
        let aborted = *lock(&self.abort_reason);
        if aborted.is_some() || self.link_cancel.is_cancelled() {
            session.stop(aborted.unwrap_or(StopReason::Cancelled));
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
        keys: Result<OwnKeys, Error>,
        met: Result<(Session, Context), Error>,
        peer: &str,
    ) -> Result<(OwnKeys, Session, Context), Error> {
        match (keys, met) {
            (Ok(keys), Ok((session, ctx))) => Ok((keys, session, ctx)),
            // A reader that was interrupted because the link failed is not the cause.
            (Err(Error::Interrupted { .. }), Err(error)) => Err(error),
            // The peer left while this side read.
            (Err(error @ Error::Interrupted { .. }), Ok((session, _))) => {
                Err(session.ended().map_or(error, |ended| {
                    Error::from_run(vesica_core::Error::Transport(ended), Phase::Reading, peer)
                }))
            }
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
    ) -> Result<Done, Error> {
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
        let by_seat = match seats.seat {
            Role::Sender => [announced_here, announced_there],
            _ => [announced_there, announced_here],
        };
        let allowed = Roles::allowed(agreement, id, by_seat).map_err(at(Phase::Choosing))?;
        observer.event(&Event::Phase(Phase::Choosing));
        let choice = ctx
            .child(Phase::Choosing.name(), |ctx| {
                let candidates = Candidates::new(agreement, &allowed);
                let measure = |least| probe::measure(ctx, seats.seat, least);
                let measured = candidates.worth_measuring().map(measure).transpose()?;
                Ok(candidates.choose(measured))
            })
            .map_err(at(Phase::Choosing))?;
        let role = choice.roles.role(seats.seat);
        observer.event(&Event::Chosen(&choice));

        observer.event(&Event::Phase(Phase::Matching));
        let secret = session.export(EXPORT_CHECK_ITEMS, hash.as_bytes());
        let check_items = agreement.self_check as usize;
        let padded_len = announced_here as usize;
        let set = match agreement.integer_items() {
            Some(integers) => {
                CheckedSet::of_integers(keys.items, check_items, padded_len, integers, role)
            }
            None => {
                let check_items = [check_items, agreement.own_check_items() as usize];
                CheckedSet::with_check_items(
                    keys.items,
                    check_items,
                    padded_len,
                    &secret,
                    ctx.rng(),
                )
            }
        };
        let set = match (keys.values, agreement.checked_values()) {
            (Some(values), Some(checked)) => set.and_then(|set| set.with_values(values, checked)),
            _ => set,
        };
        let set = match keys.texts {
            Some(keys) => {
                let texts = agreement.text_len().map(|len| (len, role));
                set.and_then(|set| set.with_keys(keys, texts))
            }
            None => set,
        };
        let set = set.ok_or(ConfigFault::OutOfMemory { items: announced_here })?;
        let (output, direction_changes) = choice
            .row
            .party(role, choice.roles.params, set.input())
            .and_then(|party| run_alone(party, ctx, Phase::Matching.name()))
            .map_err(at(Phase::Matching))?;

        observer.event(&Event::Phase(Phase::Checking));
        let (sent, received) = ctx.meter().bytes_under(Phase::Matching.name());
        let (unchecked, closings) = ctx
            .child(Phase::Checking.name(), |ctx| {
                let unchecked = Unchecked::new(output).settled(ctx, &set)?;
                let counts = Counts { sent, received, told: unchecked.told(&set, agreement) };
                Ok((unchecked, meeting::exchange_closings(ctx, role, &counts)?))
            })
            .map_err(at(Phase::Checking))?;
        Ok(Done {
            unchecked,
            set,
            closings,
            role,
            choice,
            announced_here,
            announced_there,
            direction_changes,
        })
    }

    /// Ends the session after `error` and returns it.
    pub(crate) fn fail(&self, session: &Session, error: Error) -> Error {
        // Both sides find the same differences and close. A stop message could overtake what the peer
        // still reads.
        if matches!(error, Error::PeerIncompatible(_)) {
            let _ = session.close();
        } else {
            session.stop(error.stop_reason());
        }
        error
    }

    /// Ends the session of a run after both sides have said that they have finished. A lost goodbye changes nothing
    /// about the result: otherwise a break in the last bytes would leave one side with a result and the other
    /// without.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if this side was asked to stop meanwhile.
    pub(crate) fn close(&self, session: &Session, observer: &dyn Observer) -> Result<(), Error> {
        match session.close() {
            Ok(()) => {}
            Err(TransportError::CancelledHere) => {
                return Err(Error::Interrupted { phase: Phase::Checking });
            }
            Err(error) => observer.event(&Event::NoGoodbye(error)),
        }
        Ok(())
    }

    /// Ends the session in good order if `result` is good, and with its error otherwise.
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

/// Reports the progress of the protocol to an observer.
pub(crate) struct Steps {
    pub(crate) observer: Arc<dyn Observer>,
}

impl Progress for Steps {
    fn step(&self, label: &str, done: u64, total: u64) {
        self.observer.event(&Event::Step { label, done, total });
    }
}
