//! Looking in the store for objects of the other side, and storing this party's own.

use crate::error::{ActualKind, Event, ExchangeError, NotAnObject, Waiting};
use crate::name::lengths_of;
use crate::object::{self, GIVEN_UP};
use crate::store::{Lengths, Store};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_core::hash::derive;
use vesica_link::CancelToken;

const DIGEST_LABEL: &str = "vesica exchange 2026 object v1";

/// The first and the longest pause before the store is asked for an object again. The pause doubles
/// up to the longest.
const LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_secs(1)];

/// A party that has waited this long for an object reports it, and again after eight times the last
/// reported time.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a waiting party checks whether the other one has abandoned the run.
const STOPPED_EVERY: Duration = Duration::from_secs(1);

/// What a run through a store needs in addition to the parties.
#[derive(Clone)]
pub struct Options {
    /// The store.
    pub store: Arc<dyn Store>,
    /// How long to wait for each object of the other side. The time starts again with each object
    /// that this party writes, and while objects move over a connection. It also limits a side that
    /// is connected and computes.
    pub wait: Duration,
    /// Abandons an unfinished run and starts a new one.
    pub restart: bool,
    /// How many times a run may be restarted since the last run that finished, as agreed.
    pub max_repeats: u32,
    /// How much memory this party has. It keeps at most this many bytes of the peer unread, or as
    /// many as a run of its sizes [needs](vesica_net::Connection::expect).
    pub memory_bytes: u64,
    /// Ends all waits.
    pub cancel: CancelToken,
    /// Receives the events of the run.
    pub on_event: Arc<dyn Fn(Event) + Send + Sync>,
}

/// Looks for objects of the other side.
pub(crate) struct ObjectPoller {
    pub(crate) options: Options,
    /// The name of the run.
    pub(crate) run: String,
    pub(crate) peer: u8,
}

impl ObjectPoller {
    /// The object `name`, of one of these lengths, as soon as it is there. `is_over` ends the wait.
    /// The time limit does not run while this party `works`.
    pub(crate) fn get(
        &self,
        name: &str,
        lengths: Lengths,
        waiting: Waiting,
        is_over: &dyn Fn() -> bool,
        works: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ExchangeError> {
        let Options { store, wait, cancel, on_event, .. } = &self.options;
        let begin = Instant::now();
        // When either side was last at work, as far as this party knows.
        let mut start = begin;
        let (mut pause, mut tell, mut looked) = (LOOKS[0], PATIENCE, None::<Instant>);
        loop {
            if let Some(object) = store.get(name, lengths).map_err(ExchangeError::store)? {
                if tell > PATIENCE {
                    on_event(Event::Arrived);
                }
                return Ok(object);
            }
            if looked.is_none_or(|at| at.elapsed() >= STOPPED_EVERY) {
                looked = Some(Instant::now());
                let stopped = object::name(&self.run, self.peer, GIVEN_UP);
                let lengths = lengths_of(&stopped);
                if let Some(reason) = store.get(&stopped, lengths).map_err(ExchangeError::store)? {
                    let reason = StopReason::from_code(reason.first().copied().unwrap_or_default());
                    return Err(ExchangeError::Stopped { reason });
                }
            }
            if cancel.is_cancelled() || is_over() {
                return Err(ExchangeError::Cancelled);
            }
            let after = start.elapsed();
            if after >= *wait {
                return Err(ExchangeError::NotYet { waiting, after });
            }
            if begin.elapsed() >= tell {
                tell = begin.elapsed() * 8;
                on_event(Event::Waiting { waiting, after: begin.elapsed() });
            }
            // The time starts again if this party works: another of its threads may be about to
            // write what the other side waits for.
            if store.wait(name, pause.min(*wait - after), cancel) || works() {
                start = Instant::now();
            }
            pause = (2 * pause).min(LOOKS[1]);
        }
    }
}

/// The store's answer; `None` if the store does not support the request.
pub(crate) fn if_supported<T>(given: io::Result<T>) -> Result<Option<T>, ExchangeError> {
    match given {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        given => given.map(Some).map_err(ExchangeError::store),
    }
}

/// The digest of an object or of a message of the meeting.
pub(crate) fn digest(object: &[u8]) -> [u8; 32] {
    derive(DIGEST_LABEL, &[object])
}

/// Stores an object; the error is `None` if another object has the name.
pub(crate) fn put(
    store: &dyn Store,
    name: &str,
    object: &[u8],
) -> Result<(), Option<ExchangeError>> {
    let failed = |error| Some(ExchangeError::store(error));
    if store.put_if_absent(name, object).map_err(failed)? {
        return Ok(());
    }
    // The same object is there if an earlier process was killed before it learned that it had
    // stored it.
    let lengths = Lengths::exactly(object.len() as u64);
    match store.get(name, lengths) {
        Ok(Some(there)) if there == object => Ok(()),
        Ok(_) => Err(None),
        // The name belongs to another object, as the length differs.
        Err(error) => match NotAnObject::of(&error) {
            Some(NotAnObject { is: ActualKind::Length { .. }, .. }) => Err(None),
            _ => Err(failed(error)),
        },
    }
}

/// Publishes that this party has abandoned the run.
pub(crate) fn give_up(
    store: &dyn Store,
    run: &str,
    own: u8,
    reason: StopReason,
) -> Result<(), ExchangeError> {
    let name = object::name(run, own, GIVEN_UP);
    store.put_if_absent(&name, &[reason.code()]).map(drop).map_err(ExchangeError::store)
}
