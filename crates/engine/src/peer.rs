//! The way to the peer: the session, and the end of it.

use crate::dialer::{Fault, dial};
use crate::meeting::{self, Purpose};
use crate::participants::{Participants, context};
use crate::{ConfigFault, Error, Event, InputFault, Observer, Phase};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_core::{StopReason, TransportError};
use vesica_link::{CancelToken, Identity, LinkOptions, OnEvent, establish, establish_mendable};
use vesica_net::{Connection, Context, Meter};
use vesica_store_session::{Conversation, ExchangeError, Mirror, State, Store, meet};

/// How long a side that has failed looks for its peer, to say so. A peer that waits already tries again at least once a
/// second. A peer that is not there yet is not worth a longer wait.
pub(crate) const WORD_LIMIT: Duration = Duration::from_millis(1500);

/// How long a run without a state waits, at most, for a lost connection to come back: the process at the other end may
/// have died with all that it knew.
const MEND_LIMIT: Duration = Duration::from_secs(60);

/// How often a side that has failed checks whether its peer has come.
const WORD_TICK: Duration = Duration::from_millis(20);

/// One side's way to its peer, and who has asked to stop. The threads of a run share it.
pub(crate) struct Peer<'a> {
    agreement: &'a Agreement,
    identity: &'a Identity,
    link: &'a LinkOptions,
    observer: &'a dyn Observer,
    /// Hears of the connection for as long as the run lasts; if there is one, a lost connection is mended.
    mending: Option<&'a Arc<dyn Observer>>,
    pub(crate) participants: Participants,
    link_cancel: CancelToken,
    cancelled: Arc<AtomicBool>,
    reading_is_pointless: AtomicBool,
    session: Arc<Mutex<Option<Arc<dyn Connection>>>>,
    abort_reason: Mutex<Option<StopReason>>,
    exchange: Option<Exchange>,
}

/// A store in place of a connection.
pub(crate) struct Exchange {
    /// Whether an earlier process was to write the result to where this one writes it.
    pub(crate) had_written: bool,
    /// The given one, or, once it is open, the mirror over a connection.
    pub(crate) store: OnceLock<Arc<dyn Store>>,
    /// Whether it is a mirror.
    pub(crate) is_mirrored: bool,
    /// What ended the connecting.
    pub(crate) fault: Fault,
    pub(crate) state: Arc<State>,
    pub(crate) restart: bool,
    pub(crate) memory_bytes: u64,
    pub(crate) observer: Arc<dyn Observer>,
    /// The run, once the parties have met.
    pub(crate) conversation: Mutex<Option<Conversation>>,
}

impl<'a> Peer<'a> {
    pub(crate) fn new(
        agreement: &'a Agreement,
        (identity, link): (&'a Identity, &'a LinkOptions),
        participants: Participants,
        observer: &'a dyn Observer,
        cancel: &CancelToken,
        exchange: Option<Exchange>,
    ) -> Self {
        let peer = Self {
            agreement,
            identity,
            link,
            observer,
            mending: None,
            participants,
            link_cancel: CancelToken::new(),
            cancelled: Arc::default(),
            reading_is_pointless: AtomicBool::new(false),
            session: Arc::default(),
            abort_reason: Mutex::default(),
            exchange,
        };
        let (link_cancel, cancelled, session) =
            (peer.link_cancel.clone(), Arc::clone(&peer.cancelled), Arc::clone(&peer.session));
        cancel.on_cancel(move || {
            cancelled.store(true, Ordering::Relaxed);
            link_cancel.cancel();
            if let Some(session) = current(&session) {
                session.stop(StopReason::Cancelled);
            }
        });
        peer
    }

    /// The same way, whose connection is mended when it is lost.
    pub(crate) fn mended(self, observer: &'a Arc<dyn Observer>) -> Self {
        Self { mending: Some(observer), ..self }
    }

    /// Ends the session with `reason`. If there is no session yet, this side waits a moment for the peer, and
    /// then sends it the reason.
    pub(crate) fn abort(&self, reason: StopReason) {
        lock(&self.abort_reason).get_or_insert(reason);
        let until = Instant::now() + WORD_LIMIT;
        while self.exchange.is_none()
            && current(&self.session).is_none()
            && self.go_on().is_continue()
            && Instant::now() < until
        {
            self.link_cancel.wait(WORD_TICK);
        }
        if let Some(store) = self.exchange.as_ref().and_then(|exchange| exchange.store.get()) {
            store.stop(reason);
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
    pub(crate) fn go_on_reading(&self) -> ControlFlow<()> {
        match current(&self.session).is_some_and(|session| session.ended().is_some()) {
            true => ControlFlow::Break(()),
            false => self.go_on(),
        }
    }

    pub(crate) fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        self.observer.event(&Event::Phase(Phase::Connecting));
        let session: Arc<dyn Connection> = match &self.exchange {
            Some(exchange) => Arc::new(self.meet_in(exchange)?),
            None => {
                let identity = self.agreement.peer_of(&self.participants.party).identity;
                let (own, link, cancel) = (self.identity, self.link, &self.link_cancel);
                let session = match self.mending.map(Arc::clone) {
                    Some(observer) => {
                        let on_event: OnEvent =
                            Arc::new(move |event| observer.event(&Event::Link(&event)));
                        let limit = link.wait.min(MEND_LIMIT);
                        establish_mendable(own, &[identity], link, limit, &on_event, cancel)
                    }
                    None => {
                        let on_event = |event| self.observer.event(&Event::Link(&event));
                        establish(own, &[identity], link, &on_event, cancel)
                    }
                };
                Arc::new(session.map_err(|error| Error::from_link(error, &self.participants.peer))?)
            }
        };
        *lock(&self.session) = Some(session.clone());
        // A stop before the line above found no session to end.
        let aborted = *lock(&self.abort_reason);
        if aborted.is_some() || self.link_cancel.is_cancelled() {
            session.stop(aborted.unwrap_or(StopReason::Cancelled));
            return Err(Error::Interrupted { phase: Phase::Connecting });
        }
        Ok(session)
    }

    /// The store of a run: the given one, or a mirror.
    fn store_of(&self, exchange: &Exchange) -> Result<Arc<dyn Store>, Error> {
        let Exchange { store, state, observer, fault, .. } = exchange;
        if let Some(store) = store.get() {
            return Ok(Arc::clone(store));
        }
        let participants =
            Participants::of(self.agreement, self.agreement.position(&self.participants.party));
        let dial = dial(self.agreement, (self.identity, self.link), participants, observer, fault);
        let hash = self.agreement.hash();
        let party = (hash.as_bytes(), self.agreement.position(&self.participants.party) as u8);
        let mirror = Mirror::open(&state.mirror(), party, dial, &self.link_cancel)
            .map_err(|error| ConfigFault::scratch(state.folder(), error.kind()))?;
        Ok(Arc::clone(store.get_or_init(|| Arc::new(mirror))))
    }

    /// Meets the peer in a store.
    fn meet_in(&self, exchange: &Exchange) -> Result<Conversation, Error> {
        let Exchange { state, restart, observer, conversation, .. } = exchange;
        let observer = Arc::clone(observer);
        let options = vesica_store_session::Options {
            store: self.store_of(exchange)?,
            wait: self.link.wait,
            restart: *restart,
            max_repeats: self.agreement.max_repeats,
            memory_bytes: exchange.memory_bytes,
            cancel: self.link_cancel.clone(),
            on_event: Arc::new(move |event| observer.event(&Event::Exchange(&event))),
        };
        let parties = [0, 1].map(|position| self.agreement.parties[position].identity);
        let own = self.agreement.position(&self.participants.party) as u8;
        let hash = self.agreement.hash();
        let met = meet(options, self.identity, (&parties, own), hash.as_bytes(), state);
        let met = met.map_err(|kind| self.exchange_error(exchange, kind, Phase::Meeting))?;
        *lock(conversation) = Some(met.clone());
        Ok(met)
    }

    /// What stopped a run through a store, in this job's words.
    fn exchange_error(&self, exchange: &Exchange, kind: ExchangeError, phase: Phase) -> Error {
        let folder = exchange.state.folder().to_path_buf();
        if let (ExchangeError::Store(_), Some(error)) = (kind, lock(&exchange.fault).clone()) {
            return error;
        }
        match kind {
            // What a mirror says of messages that no party sends.
            ExchangeError::Store(std::io::ErrorKind::InvalidData) if exchange.is_mirrored => {
                Error::PeerMisbehaved {
                    peer: self.participants.peer.clone(),
                    phase,
                    kind: vesica_core::Misbehaviour::BrokenFraming,
                }
            }
            ExchangeError::Cancelled => Error::Interrupted { phase },
            ExchangeError::Letter(kind) => {
                Error::Letter { party: Some(self.participants.peer.clone()), kind }
            }
            ExchangeError::Folder(_) | ExchangeError::OfAnother | ExchangeError::Damaged => {
                state_error(&folder, kind)
            }
            ExchangeError::OtherBytes => {
                Error::Bug("a run from the start gives other bytes than the one before it")
            }
            kind => {
                let place = exchange.store.get().map_or_else(String::new, |store| store.place());
                let peer = self.participants.peer.clone();
                Error::Exchange { peer, place, folder, kind: Box::new(kind) }
            }
        }
    }

    /// Stores the digest of this party's rows. A run through a store can only continue with the same rows.
    pub(crate) fn keep_rows(&self, digest: [u8; 32]) -> Result<(), Error> {
        let Some(Exchange { state, .. }) = &self.exchange else { return Ok(()) };
        match state.keep_rows(&digest) {
            Ok(true) => Ok(()),
            Ok(false) => Err(InputFault::OtherRows { state: state.folder().to_path_buf() }.into()),
            Err(error) => Err(ConfigFault::scratch(state.folder(), error.kind())),
        }
    }

    /// Whether an earlier process of this run may have written the result.
    pub(crate) fn had_written(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| exchange.had_written)
    }

    /// The folder of a run through a store, and whether the run has begun before.
    pub(crate) fn state(&self) -> Option<(&Path, bool)> {
        let state = &self.exchange.as_ref()?.state;
        Some((state.folder(), state.has_begun()))
    }

    /// Whether the parties meet in a store.
    pub(crate) fn is_through_a_store(&self) -> bool {
        self.exchange.is_some()
    }

    /// Says, if there is a store, that this party has said and heard all.
    fn say_end(&self) -> Result<(), Error> {
        let Some(exchange) = &self.exchange else { return Ok(()) };
        let conversation = lock(&exchange.conversation);
        let Some(conversation) = conversation.as_ref() else { return Ok(()) };
        let said = conversation.say_end();
        said.map_err(|kind| self.exchange_error(exchange, kind, Phase::Checking))?;
        if let Err(error) = conversation.settle() {
            self.observer.event(&Event::NoGoodbye(error));
        }
        Ok(())
    }

    /// How many runs before this one were given up, if there is a store.
    pub(crate) fn repeats(&self) -> Option<u32> {
        lock(&self.exchange.as_ref()?.conversation).as_ref().map(Conversation::repeats)
    }

    /// Deletes the state of a run through a store, once the caller has the result or the result was refused.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let Some(exchange) = &self.exchange else { return Ok(()) };
        let kept =
            |error: std::io::Error| ConfigFault::scratch(exchange.state.folder(), error.kind());
        exchange.state.finish().map_err(kept)?;
        exchange.state.forget().map_err(kept)
    }

    /// Keeps that this party has said its last word, and where the result goes.
    pub(crate) fn keep_said(&self, output: Option<&Path>) -> Result<(), Error> {
        let Some(Exchange { state, .. }) = &self.exchange else { return Ok(()) };
        state.keep_said(output).map_err(|error| ConfigFault::scratch(state.folder(), error.kind()))
    }

    /// The context of a run over `session`, after both sides have found that they agree.
    pub(crate) fn agree(
        &self,
        session: &Arc<dyn Connection>,
        threads: NonZeroUsize,
        meter: &Meter,
        purpose: Purpose,
    ) -> Result<Context, Error> {
        let Participants { seat, peer, .. } = &self.participants;
        let agreed = context(session, *seat, peer, threads, meter).and_then(|mut ctx| {
            self.observer.event(&Event::Phase(Phase::Agreeing));
            ctx.child(Phase::Agreeing.name(), |ctx| {
                meeting::agree(ctx, self.agreement, purpose, peer)
            })?;
            self.observer.event(&Event::Agreed);
            Ok(ctx)
        });
        agreed.map_err(|error| self.fail(&**session, error))
    }

    /// What an interruption of the reading means: that the peer has left, if it has.
    pub(crate) fn left(&self, error: Error) -> Error {
        let ended = current(&self.session).and_then(|session| session.ended());
        match (error, ended) {
            (Error::Interrupted { .. }, Some(ended)) => {
                self.error(vesica_core::Error::Transport(ended), Phase::Reading)
            }
            (error, _) => error,
        }
    }

    /// `error` of the session or the protocol, which happened in `phase`.
    pub(crate) fn error(&self, error: vesica_core::Error, phase: Phase) -> Error {
        let error = Error::from_run(error, phase, &self.participants.peer);
        self.explained(error)
    }

    /// What the store says about an error of a stream.
    fn explained(&self, error: Error) -> Error {
        let (Some(exchange), Error::Transport { phase, .. }) = (&self.exchange, &error) else {
            return error;
        };
        let fault = lock(&exchange.conversation).as_ref().and_then(Conversation::fault);
        fault.map_or(error.clone(), |kind| self.exchange_error(exchange, kind, *phase))
    }

    /// Ends the session after `error` and returns it.
    pub(crate) fn fail(&self, session: &dyn Connection, error: Error) -> Error {
        let error = self.explained(error);
        // Both sides find the same differences and close. A stop message could overtake what the peer
        // still reads.
        if matches!(error, Error::PeerIncompatible(_)) {
            let _ = session.close();
        } else {
            let is_over = matches!(error, Error::Config(ConfigFault::HashingFailed));
            let exchange = self.exchange.as_ref().filter(|_| is_over);
            // The run would have the same functions if it started again.
            let conversation = exchange.and_then(|of| lock(&of.conversation).clone());
            let reason = error.stop_reason();
            let is_told = conversation.is_some_and(|one| one.give_up(reason).is_ok());
            session.stop(reason);
            // Nothing is written any more. Where the other side was not told, or the state stays, the next process comes
            // here again.
            if let Some(exchange) = exchange.filter(|_| is_told) {
                let _ = exchange.state.forget();
            }
        }
        error
    }

    /// Ends the session of a run after both sides have said that they have finished. A lost goodbye changes nothing
    /// about the result: otherwise a break in the last bytes would leave one side with a result and the other
    /// without.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if this side was asked to stop meanwhile.
    pub(crate) fn close(&self, session: &dyn Connection) -> Result<(), Error> {
        match session.close() {
            Ok(()) => self.say_end()?,
            Err(TransportError::CancelledHere) => {
                return Err(Error::Interrupted { phase: Phase::Checking });
            }
            // What was not published, the peer waits for.
            Err(error) if self.is_through_a_store() => {
                return Err(self.error(error.into(), Phase::Checking));
            }
            Err(error) => self.observer.event(&Event::NoGoodbye(error)),
        }
        Ok(())
    }
}

fn current(session: &Mutex<Option<Arc<dyn Connection>>>) -> Option<Arc<dyn Connection>> {
    lock(session).clone()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why the folder of a run through a store cannot be used.
pub(crate) fn state_error(folder: &Path, error: ExchangeError) -> Error {
    let in_folder = || folder.to_owned();
    match error {
        ExchangeError::Folder(error) => ConfigFault::of_folder(folder, error),
        ExchangeError::OfAnother => ConfigFault::StateOfAnother { folder: in_folder() }.into(),
        _ => ConfigFault::scratch(folder, std::io::ErrorKind::InvalidData),
    }
}
