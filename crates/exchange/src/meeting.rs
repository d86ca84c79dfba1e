//! How the parties find each other in a store.

use crate::conversation::{Conversation, Run};
use crate::error::{Event, ExchangeError, Waiting};
use crate::looking::{Looking, Options, digest, give_up, put, remove_own};
use crate::object::{self, END, GIVEN_UP, HELLO, SHARES};
use crate::state::State;
use crate::store::Store;
use std::sync::Arc;
use vesica_core::StopReason;
use vesica_core::hash::derive;
use vesica_link::letters::LetterError;
use vesica_link::{Identity, PublicIdentity};

const CONTEXT_LABEL: &str = "vesica exchange 2026 run v1";
const SEED_LABEL: &str = "vesica exchange 2026 seed v1";

/// Hexadecimal digits of the agreement's hash in the name of a run.
const HASH_CHARS: usize = 16;

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
    let seen = digest(&theirs);
    let mut hellos = vec![hello, theirs];
    if own == 1 {
        hellos.reverse();
    }
    let met = meeting.meet(own.into(), parties, &context, &hellos, 0)?;
    // Kept once it is known to be the peer's, and before anything is said that depends on it.
    if !state.see_hello(&seen)? {
        return Err(LetterError::BadSignature { party: peer.into() }.into());
    }

    let shares = state.shares(|| met.shares())?;
    put(&*looking.options.store, &object::name(&run, own, SHARES), &shares)
        .map_err(|error| error.unwrap_or(ExchangeError::BegunElsewhere { number }))?;
    let theirs = looking.get(&object::name(&run, peer, SHARES), Waiting::Shares, &never)?;
    let seen = digest(&theirs);
    let mut bodies = vec![Vec::new(), theirs];
    if own == 1 {
        bodies.reverse();
    }
    let secret = met.toss(&bodies)?;
    if !state.see_shares(&seen)? {
        return Err(LetterError::NotSealedForUs { party: peer.into() }.into());
    }
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
