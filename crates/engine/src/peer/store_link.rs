//! A run through a store: the given one, or a mirror over connections that may be lost.

use super::{PeerLink, Way, lock};
use crate::dialer::{Fault, dial};
use crate::participants::Participants;
use crate::{ConfigFault, Error, Event, InputFault, Observer, Phase};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use vesica_core::{Misbehaviour, StopReason, TransportError};
use vesica_net::Connection;
use vesica_store_session::{Conversation, ExchangeError, Mirror, Options, State, Store, meet};

/// Where the store of a run comes from.
pub(crate) trait StoreSource: Send + Sync {
    /// The store; the same one at each call.
    ///
    /// # Errors
    /// What prevents opening it.
    fn open(&self, way: &Way<'_>, run: &StoredRun) -> Result<Arc<dyn Store>, Error>;

    /// The store, if it is open.
    fn opened(&self) -> Option<&Arc<dyn Store>>;

    /// What this source knows about an error of its store.
    fn explained(&self, _: &Way<'_>, _: ErrorKind, _: Phase) -> Option<Error> {
        None
    }
}

/// A store that the job names.
pub(crate) struct GivenStore(pub(crate) Arc<dyn Store>);

impl StoreSource for GivenStore {
    fn open(&self, _: &Way<'_>, _: &StoredRun) -> Result<Arc<dyn Store>, Error> {
        Ok(Arc::clone(&self.0))
    }

    fn opened(&self) -> Option<&Arc<dyn Store>> {
        Some(&self.0)
    }
}

/// A mirror of each side's objects, fed by connections.
#[derive(Default)]
pub(crate) struct MirroredStore {
    mirror: OnceLock<Arc<dyn Store>>,
    /// What ended the connecting.
    fault: Fault,
}

impl StoreSource for MirroredStore {
    fn open(&self, way: &Way<'_>, run: &StoredRun) -> Result<Arc<dyn Store>, Error> {
        if let Some(mirror) = self.mirror.get() {
            return Ok(Arc::clone(mirror));
        }
        let position = way.agreement.position(&way.participants.party);
        let participants = Participants::of(way.agreement, position);
        let Way { agreement, identity, link, .. } = way;
        let dial = dial(agreement, identity, link, participants, &run.observer, &self.fault);
        let hash = way.agreement.hash();
        let (folder, own) = (run.state.mirror(), position as u8);
        let mirror = Mirror::open(&folder, hash.as_bytes(), own, dial, &way.cancel)
            .map_err(|error| ConfigFault::scratch(run.state.folder(), error.kind()))?;
        Ok(Arc::clone(self.mirror.get_or_init(|| Arc::new(mirror))))
    }

    fn opened(&self) -> Option<&Arc<dyn Store>> {
        self.mirror.get()
    }

    fn explained(&self, way: &Way<'_>, kind: ErrorKind, phase: Phase) -> Option<Error> {
        let fault = lock(&self.fault).clone();
        // The peer sent messages that no party sends.
        let broken = || Error::PeerMisbehaved {
            peer: way.participants.peer.clone(),
            phase,
            kind: Misbehaviour::BrokenFraming,
        };
        fault.or_else(|| (kind == ErrorKind::InvalidData).then(broken))
    }
}

/// What a party keeps of a run through a store, and how it continues the run.
pub(crate) struct StoredRun {
    /// Whether an earlier process was to write the result to where this one writes it.
    pub(crate) had_written: bool,
    pub(crate) state: Arc<State>,
    pub(crate) restart: bool,
    pub(crate) memory_bytes: u64,
    pub(crate) observer: Arc<dyn Observer>,
}

/// The link of a run through a store.
pub(crate) struct StoreLink<S> {
    run: StoredRun,
    source: S,
    /// The run, once the parties have met.
    conversation: Mutex<Option<Conversation>>,
}

impl<S: StoreSource> StoreLink<S> {
    pub(crate) fn new(run: StoredRun, source: S) -> Self {
        Self { run, source, conversation: Mutex::default() }
    }

    fn folder(&self) -> &Path {
        self.run.state.folder()
    }

    fn storage(&self, error: &std::io::Error) -> Error {
        ConfigFault::scratch(self.folder(), error.kind())
    }

    /// What stopped the run, in this job's words.
    fn error(&self, way: &Way<'_>, kind: ExchangeError, phase: Phase) -> Error {
        if let ExchangeError::Store(error) = kind
            && let Some(error) = self.source.explained(way, error, phase)
        {
            return error;
        }
        match kind {
            ExchangeError::Cancelled => Error::Interrupted { phase },
            ExchangeError::Letter(kind) => {
                Error::Letter { party: Some(way.participants.peer.clone()), kind }
            }
            ExchangeError::Folder(_) | ExchangeError::OfAnother | ExchangeError::Damaged => {
                state_error(self.folder(), kind)
            }
            ExchangeError::OtherBytes => {
                Error::Bug("a run from the start gives other bytes than the one before it")
            }
            kind => {
                let place = self.source.opened().map_or_else(String::new, |store| store.place());
                let peer = way.participants.peer.clone();
                let folder = self.folder().to_path_buf();
                Error::Exchange { peer, place, folder, kind: Box::new(kind) }
            }
        }
    }
}

impl<S: StoreSource> PeerLink for StoreLink<S> {
    fn connect(&self, way: &Way<'_>) -> Result<Arc<dyn Connection>, Error> {
        let StoredRun { state, restart, observer, memory_bytes, .. } = &self.run;
        let observer = Arc::clone(observer);
        let options = Options {
            store: self.source.open(way, &self.run)?,
            wait: way.link.wait,
            restart: *restart,
            max_repeats: way.agreement.max_repeats,
            memory_bytes: *memory_bytes,
            cancel: way.cancel.clone(),
            on_event: Arc::new(move |event| observer.event(&Event::Exchange(&event))),
        };
        let parties = [0, 1].map(|position| way.agreement.parties[position].identity);
        let own = way.agreement.position(&way.participants.party) as u8;
        let hash = way.agreement.hash();
        let met = meet(options, way.identity, &parties, own, hash.as_bytes(), state)
            .map_err(|kind| self.error(way, kind, Phase::Meeting))?;
        *lock(&self.conversation) = Some(met.clone());
        Ok(Arc::new(met))
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stop(&self, reason: StopReason) {
        if let Some(store) = self.source.opened() {
            store.stop(reason);
        }
    }

    fn keep_rows(&self, digest: [u8; 32]) -> Result<(), Error> {
        match self.run.state.keep_rows(&digest) {
            Ok(true) => Ok(()),
            Ok(false) => Err(InputFault::OtherRows { state: self.folder().to_path_buf() }.into()),
            Err(error) => Err(self.storage(&error)),
        }
    }

    fn had_written(&self) -> bool {
        self.run.had_written
    }

    fn state(&self) -> Option<(&Path, bool)> {
        Some((self.folder(), self.run.state.has_started()))
    }

    fn repeats(&self) -> Option<u32> {
        lock(&self.conversation).as_ref().map(Conversation::repeats)
    }

    fn publish_end(&self, way: &Way<'_>) -> Result<(), Error> {
        let conversation = lock(&self.conversation);
        let Some(conversation) = conversation.as_ref() else { return Ok(()) };
        conversation.publish_end().map_err(|kind| self.error(way, kind, Phase::Checking))?;
        if let Err(error) = conversation.settle() {
            way.observer.event(&Event::NoGoodbye(error));
        }
        Ok(())
    }

    /// The peer waits for what was not published.
    fn goodbye_failed(&self, way: &Way<'_>, error: TransportError) -> Result<(), Error> {
        let error = Error::from_run(error.into(), Phase::Checking, &way.participants.peer);
        Err(self.explained(way, error))
    }

    fn keep_finished(&self, output: Option<&Path>) -> Result<(), Error> {
        self.run.state.keep_done(output).map_err(|error| self.storage(&error))
    }

    fn finish(&self) -> Result<(), Error> {
        self.run.state.finish().map_err(|error| self.storage(&error))?;
        self.run.state.forget().map_err(|error| self.storage(&error))
    }

    fn explained(&self, way: &Way<'_>, error: Error) -> Error {
        let Error::Transport { phase, .. } = error else { return error };
        let fault = lock(&self.conversation).as_ref().and_then(Conversation::fault);
        fault.map_or(error, |kind| self.error(way, kind, phase))
    }

    fn abandon(&self, reason: StopReason) -> bool {
        let conversation = lock(&self.conversation).clone();
        conversation.is_some_and(|one| one.give_up(reason).is_ok())
    }

    fn forget(&self) {
        let _ = self.run.state.forget();
    }
}

/// Why the folder of a run through a store cannot be used.
pub(crate) fn state_error(folder: &Path, error: ExchangeError) -> Error {
    let in_folder = || folder.to_owned();
    match error {
        ExchangeError::Folder(error) => ConfigFault::of_folder(folder, error),
        ExchangeError::OfAnother => ConfigFault::StateOfAnother { folder: in_folder() }.into(),
        _ => ConfigFault::scratch(folder, ErrorKind::InvalidData),
    }
}
