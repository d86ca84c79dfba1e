//! The connection to the peer, from meeting to close.

mod live;
mod store_link;

pub(crate) use live::{LiveLink, MendedLink};
pub(crate) use store_link::{GivenStore, MirroredStore, StoreLink, StoredRun, state_error};

use crate::meeting::{self, Purpose};
use crate::participants::{Participants, context};
use crate::{ConfigFault, Error, Event, Observer, Phase};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_core::{StopReason, TransportError};
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_net::{Connection, Context, Meter};

/// How long a side that has failed looks for its peer, to send it the reason. A peer that waits
/// already tries again at least once a second. A peer that is not there yet is not worth a longer
/// wait.
pub(crate) const WORD_LIMIT: Duration = Duration::from_millis(1500);

/// How often a side that has failed checks whether its peer has come.
const WORD_TICK: Duration = Duration::from_millis(20);

/// What every link needs to connect.
pub(crate) struct Way<'a> {
    agreement: &'a Agreement,
    identity: &'a Identity,
    link: &'a LinkOptions,
    observer: &'a dyn Observer,
    participants: Participants,
    cancel: CancelToken,
}

/// How the parties of a run are connected, and what they keep of it. By default a run keeps
/// nothing.
pub(crate) trait PeerLink: Send + Sync {
    /// Blocks until the peer is there.
    ///
    /// # Errors
    /// Errors of the link and of the store, in words of this job.
    fn connect(&self, way: &Way<'_>) -> Result<Arc<dyn Connection>, Error>;

    /// Whether a later process can repeat the run. Then it must send the same bytes, and each
    /// flight takes long.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// Tells the peer that this side stops. A run that keeps nothing tells it by its session.
    fn stop(&self, _: StopReason) {}

    /// Stores the digest of this party's rows. A repeated run has the same.
    ///
    /// # Errors
    /// [`InputFault::OtherRows`](crate::InputFault::OtherRows), and errors of the folder.
    fn keep_rows(&self, _: [u8; 32]) -> Result<(), Error> {
        Ok(())
    }

    /// Whether an earlier process of this run may have written the result.
    fn had_written(&self) -> bool {
        false
    }

    /// The folder of the run, and whether an earlier process started the run.
    fn state(&self) -> Option<(&Path, bool)> {
        None
    }

    /// How many runs before this one were abandoned.
    fn repeats(&self) -> Option<u32> {
        None
    }

    /// Publishes that this party is done.
    ///
    /// # Errors
    /// Errors of the store.
    fn publish_end(&self, _: &Way<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Handles the loss of the last bytes of a session. By default it changes nothing about the
    /// result: a break in them would leave one side with a result and the other without.
    ///
    /// # Errors
    /// The error, if the peer still waits for these bytes.
    fn goodbye_failed(&self, way: &Way<'_>, error: TransportError) -> Result<(), Error> {
        way.observer.event(&Event::NoGoodbye(error));
        Ok(())
    }

    /// Records that the protocol is finished, and the path of the result.
    ///
    /// # Errors
    /// Errors of the folder.
    fn keep_finished(&self, _: Option<&Path>) -> Result<(), Error> {
        Ok(())
    }

    /// Deletes what is kept, once the caller has the result or the result was refused.
    ///
    /// # Errors
    /// Errors of the folder.
    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The error, with what this link knows about its cause.
    fn explained(&self, _: &Way<'_>, error: Error) -> Error {
        error
    }

    /// Publishes that the run cannot succeed; whether the peer will read that.
    fn abandon(&self, _: StopReason) -> bool {
        false
    }

    /// Deletes the state of an abandoned run.
    fn forget(&self) {}
}

/// One side's connection to its peer, and who has asked to stop. The threads of a run share it.
pub(crate) struct Peer<'a> {
    way: Way<'a>,
    link: Box<dyn PeerLink + 'a>,
    cancelled: Arc<AtomicBool>,
    reading_is_pointless: AtomicBool,
    session: Arc<Mutex<Option<Arc<dyn Connection>>>>,
    abort_reason: Mutex<Option<StopReason>>,
}

impl<'a> Peer<'a> {
    pub(crate) fn new(
        agreement: &'a Agreement,
        identity: &'a Identity,
        link: &'a LinkOptions,
        participants: Participants,
        observer: &'a dyn Observer,
        cancel: &CancelToken,
        connected: Box<dyn PeerLink + 'a>,
    ) -> Self {
        let link_cancel = CancelToken::new();
        let way =
            Way { agreement, identity, link, observer, participants, cancel: link_cancel.clone() };
        let peer = Self {
            way,
            link: connected,
            cancelled: Arc::default(),
            reading_is_pointless: AtomicBool::new(false),
            session: Arc::default(),
            abort_reason: Mutex::default(),
        };
        let (cancelled, session) = (Arc::clone(&peer.cancelled), Arc::clone(&peer.session));
        cancel.on_cancel(move || {
            cancelled.store(true, Ordering::Relaxed);
            link_cancel.cancel();
            if let Some(session) = current(&session) {
                session.stop(StopReason::Cancelled);
            }
        });
        peer
    }

    pub(crate) fn participants(&self) -> &Participants {
        &self.way.participants
    }

    pub(crate) fn link(&self) -> &dyn PeerLink {
        &*self.link
    }

    /// Ends the session with `reason`. If there is no session yet, this side waits a moment for the
    /// peer, and then sends it the reason.
    pub(crate) fn abort(&self, reason: StopReason) {
        lock(&self.abort_reason).get_or_insert(reason);
        let until = Instant::now() + WORD_LIMIT;
        while !self.link.is_repeatable()
            && current(&self.session).is_none()
            && self.go_on().is_continue()
            && Instant::now() < until
        {
            self.way.cancel.wait(WORD_TICK);
        }
        self.link.stop(reason);
        self.way.cancel.cancel();
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

    /// Whether to continue reading: not once the peer has left. A result is written even then.
    pub(crate) fn go_on_reading(&self) -> ControlFlow<()> {
        if current(&self.session).is_some_and(|session| session.ended().is_some()) {
            ControlFlow::Break(())
        } else {
            self.go_on()
        }
    }

    pub(crate) fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        self.way.observer.event(&Event::Phase(Phase::Connecting));
        let session = self.link.connect(&self.way)?;
        *lock(&self.session) = Some(session.clone());
        // A stop before the line above found no session to end.
        let aborted = *lock(&self.abort_reason);
        if aborted.is_some() || self.way.cancel.is_cancelled() {
            session.stop(aborted.unwrap_or(StopReason::Cancelled));
            return Err(Error::Interrupted { phase: Phase::Connecting });
        }
        Ok(session)
    }

    /// The context of a run over `session`, after both sides have found that they agree.
    pub(crate) fn agree(
        &self,
        session: &Arc<dyn Connection>,
        threads: NonZeroUsize,
        meter: &Meter,
        purpose: Purpose,
    ) -> Result<Context, Error> {
        let Participants { seat, peer, .. } = &self.way.participants;
        let agreed = context(session, *seat, peer, threads, meter).and_then(|mut ctx| {
            self.way.observer.event(&Event::Phase(Phase::Agreeing));
            ctx.child(Phase::Agreeing.name(), |ctx| {
                meeting::agree(ctx, self.way.agreement, purpose, peer)
            })?;
            self.way.observer.event(&Event::Agreed);
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
        let error = Error::from_run(error, phase, &self.way.participants.peer);
        self.link.explained(&self.way, error)
    }

    /// Ends the session after `error` and returns it.
    pub(crate) fn fail(&self, session: &dyn Connection, error: Error) -> Error {
        let error = self.link.explained(&self.way, error);
        // Both sides find the same differences and close. A stop message could overtake what the
        // peer still reads.
        if matches!(error, Error::PeerIncompatible(_)) {
            let _ = session.close();
            return error;
        }
        let reason = error.stop_reason();
        // The run would have the same hash functions if it started again.
        let cannot_succeed = matches!(error, Error::Config(ConfigFault::HashingFailed));
        let is_abandoned = cannot_succeed && self.link.abandon(reason);
        session.stop(reason);
        // Forget the run only after the session has stopped, which writes to the state. If the peer
        // was not told, keep it: the next process resumes the run and fails here again.
        if is_abandoned {
            self.link.forget();
        }
        error
    }

    /// Ends the session of a run after both sides have sent that they are done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if this side was asked to stop meanwhile; errors of the link.
    pub(crate) fn close(&self, session: &dyn Connection) -> Result<(), Error> {
        match session.close() {
            Ok(()) => self.link.publish_end(&self.way),
            Err(TransportError::CancelledHere) => {
                Err(Error::Interrupted { phase: Phase::Checking })
            }
            Err(error) => self.link.goodbye_failed(&self.way, error),
        }
    }
}

fn current(session: &Mutex<Option<Arc<dyn Connection>>>) -> Option<Arc<dyn Connection>> {
    lock(session).clone()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
