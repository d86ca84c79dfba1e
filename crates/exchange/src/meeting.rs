//! How the parties find each other in a store.

use crate::conversation::{Conversation, Run};
use crate::error::{Event, ExchangeError, Waiting};
use crate::object::{self, END, GIVEN_UP, HELLO, SHARES};
use crate::state::State;
use crate::store::Store;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_core::hash::derive;
use vesica_link::letters::{LETTER_LEN, LetterError};
use vesica_link::{CancelToken, Identity, PublicIdentity};

const CONTEXT_LABEL: &str = "vesica exchange 2026 run v1";
const SEED_LABEL: &str = "vesica exchange 2026 seed v1";
const DIGEST_LABEL: &str = "vesica exchange 2026 object v1";

/// Hexadecimal digits of the agreement's hash in the name of a run.
const HASH_CHARS: usize = 16;

/// The shortest and the longest time between two looks for an object. They double from the first to the last.
const LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_secs(1)];

/// After so long it is told that this party waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a waiting party looks whether the other one has given the run up.
const STOPPED_EVERY: Duration = Duration::from_secs(1);

/// What a run through a store needs, besides the parties.
#[derive(Clone)]
pub struct Options {
    /// The store.
    pub store: Arc<dyn Store>,
    /// How long to wait for each object of the other side. The time begins again with each object that this party writes.
    pub wait: Duration,
    /// Gives a run up that was begun, and begins a new one.
    pub restart: bool,
    /// Ends all waiting.
    pub cancel: CancelToken,
    /// What happens meanwhile.
    pub on_event: Arc<dyn Fn(Event) + Send + Sync>,
}

/// Looks for objects of the other side.
pub(crate) struct Looking {
    pub(crate) options: Options,
    /// The name of the run.
    pub(crate) run: String,
    pub(crate) peer: u8,
}

impl Looking {
    /// The object `name`, as soon as it is there. `is_over` ends the waiting.
    pub(crate) fn get(
        &self,
        name: &str,
        waiting: Waiting,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ExchangeError> {
        let Options { store, wait, cancel, on_event, .. } = &self.options;
        let start = Instant::now();
        let (mut pause, mut told, mut looked) = (LOOKS[0], false, None::<Instant>);
        loop {
            if let Some(object) = store.get(name).map_err(ExchangeError::store)? {
                if told {
                    on_event(Event::Arrived);
                }
                return Ok(object);
            }
            if looked.is_none_or(|at| at.elapsed() >= STOPPED_EVERY) {
                looked = Some(Instant::now());
                let stopped = object::name(&self.run, self.peer, GIVEN_UP);
                if let Some(reason) = store.get(&stopped).map_err(ExchangeError::store)? {
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
            if !told && after >= PATIENCE {
                told = true;
                on_event(Event::Waiting(waiting));
            }
            cancel.wait(pause.min(*wait - after));
            pause = (2 * pause).min(LOOKS[1]);
        }
    }
}

/// The digest of an object or of a message of the meeting.
pub(crate) fn digest(object: &[u8]) -> [u8; 32] {
    derive(DIGEST_LABEL, &[object])
}

/// Begins the run of the agreement with this hash between two `parties`, in the agreement's order, of which `own` is this
/// one, or goes on with the run in `state`. Both parties then share a secret.
///
/// # Errors
/// Any [`ExchangeError`].
pub fn meet(
    options: Options,
    identity: &Identity,
    (parties, own): (&[PublicIdentity; 2], u8),
    agreement: &[u8; 32],
    state: &Arc<State>,
) -> Result<Conversation, ExchangeError> {
    let peer = 1 - own;
    let prefix = prefix_of(agreement);
    let begun = state.number()?;
    let number = match begun {
        Some(number) => number,
        None => next_number(&options, &prefix, own)?,
    };
    (options.on_event)(Event::Run { number, has_begun: begun.is_some() });
    let run = format!("{prefix}-{number:04}");
    let (meeting, own_secret) = state.secrets(number)?;
    let context = derive(CONTEXT_LABEL, &[agreement, &number.to_le_bytes()]);
    let looking = Looking { options, run: run.clone(), peer };
    let never = || false;

    let hello = meeting.hello(identity, &context, &[]);
    put(&*looking.options.store, &object::name(&run, own, HELLO), &hello)
        .map_err(|error| error.unwrap_or(ExchangeError::BegunElsewhere { number }))?;
    let theirs = looking.get(&object::name(&run, peer, HELLO), Waiting::Hello, &never)?;
    if !state.see_hello(&digest(&theirs))? {
        return Err(LetterError::BadSignature { party: peer.into() }.into());
    }
    let mut hellos = vec![hello, theirs];
    if own == 1 {
        hellos.reverse();
    }
    let met = meeting.meet(own.into(), parties, &context, &hellos, 0)?;

    let shares = state.shares(|| met.shares())?;
    put(&*looking.options.store, &object::name(&run, own, SHARES), &shares)
        .map_err(|error| error.unwrap_or(ExchangeError::BegunElsewhere { number }))?;
    let theirs = looking.get(&object::name(&run, peer, SHARES), Waiting::Shares, &never)?;
    if theirs.len() != LETTER_LEN || !state.see_shares(&digest(&theirs))? {
        return Err(LetterError::Malformed { party: peer.into() }.into());
    }
    let mut bodies = vec![Vec::new(), theirs];
    if own == 1 {
        bodies.reverse();
    }
    let secret = met.toss(&bodies)?;
    let seed = derive(SEED_LABEL, &[own_secret.expose(), secret.expose()]);
    let run = Run { looking, own, secret, seed: vesica_core::Secret::new(seed) };
    Conversation::start(run, Arc::clone(state))
}

/// What the names of all runs of an agreement begin with.
fn prefix_of(agreement: &[u8; 32]) -> String {
    agreement[..HASH_CHARS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says of a run that was [finished](State::finished) that this party has its result: a process that was killed may not
/// have said so.
///
/// # Errors
/// [`ExchangeError::Store`].
pub fn say_end(
    store: &dyn Store,
    agreement: &[u8; 32],
    own: u8,
    number: u32,
) -> Result<(), ExchangeError> {
    let run = format!("{}-{number:04}", prefix_of(agreement));
    store.put_if_absent(&object::name(&run, own, END), &[]).map(drop).map_err(ExchangeError::store)
}

/// Stores an object; the error is `None` if another one is there.
pub(crate) fn put(
    store: &dyn Store,
    name: &str,
    object: &[u8],
) -> Result<(), Option<ExchangeError>> {
    let failed = |error| Some(ExchangeError::store(error));
    if store.put_if_absent(name, object).map_err(failed)? {
        return Ok(());
    }
    // It is there if an earlier process was killed before it knew.
    match store.get(name).map_err(failed)? {
        Some(there) if there == object => Ok(()),
        _ => Err(None),
    }
}

/// The number of the next run: after all that are over. Removes this party's objects of runs that are over at both sides.
fn next_number(options: &Options, prefix: &str, own: u8) -> Result<u32, ExchangeError> {
    let store = &*options.store;
    let mut numbers: Vec<u32> = Vec::new();
    for folder in store.folders().map_err(ExchangeError::store)? {
        let number = folder.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    let mut next = 1;
    for number in numbers {
        let run = format!("{prefix}-{number:04}");
        let names = store.list(&run).map_err(ExchangeError::store)?;
        let has = |party: u8, what: &str| names.contains(&format!("{party}-{what}"));
        let is_over = has(own, END) || has(own, GIVEN_UP) || has(1 - own, GIVEN_UP);
        if has(own, END) && has(1 - own, END) {
            remove_own(store, &run, own)?;
        }
        if is_over {
            next = next.max(number + 1);
        } else if has(own, HELLO) {
            if !options.restart {
                return Err(ExchangeError::BegunElsewhere { number });
            }
            give_up(store, &run, own, StopReason::Cancelled)?;
            next = next.max(number + 1);
        }
    }
    Ok(next)
}

/// Says that this party does not go on with the run.
pub(crate) fn give_up(
    store: &dyn Store,
    run: &str,
    own: u8,
    reason: StopReason,
) -> Result<(), ExchangeError> {
    let name = object::name(run, own, GIVEN_UP);
    store.put_if_absent(&name, &[reason.code()]).map(drop).map_err(ExchangeError::store)
}

/// Removes the objects of this party but for the one that says that the run is over.
pub(crate) fn remove_own(store: &dyn Store, run: &str, own: u8) -> Result<(), ExchangeError> {
    let (end, mine) = (format!("{own}-{END}"), format!("{own}-"));
    for name in store.list(run).map_err(ExchangeError::store)? {
        if name.starts_with(&mine) && name != end {
            store.remove(&format!("{run}/{name}")).map_err(ExchangeError::store)?;
        }
    }
    Ok(())
}
