//! How the parties find each other in a store.

use crate::conversation::{Conversation, Run};
use crate::error::{Event, ExchangeError, Repeats, Waiting};
use crate::name::{MAX_RUNS, NOTE_LEN, RunName, lengths_of, parse_object, prefix_of};
use crate::object::{self, END, GIVEN_UP, HELLO, SHARES};
use crate::poller::{ObjectPoller, Options, digest, give_up, if_supported, put};
use crate::state::State;
use crate::store::{Listed, Store};
use std::sync::Arc;
use vesica_core::StopReason;
use vesica_core::hash::derive;
use vesica_link::letters::LetterError;
use vesica_link::{Identity, PublicIdentity};

/// The largest gap that may be between the numbers of two runs, as the folders and marks of runs in
/// between may have been removed. Anyone who can write to the store can make up a run with the
/// largest number there is; if it counted, no run could follow it.
const GAP_MAX: u32 = 1000;

const CONTEXT_LABEL: &str = "vesica exchange 2026 run v1";
const COUNT_LABEL: &str = "vesica exchange 2026 whose runs are counted v1";
const SEED_LABEL: &str = "vesica exchange 2026 seed v1";

/// Starts the run of the agreement with this hash, or resumes the run in `state`. The two `parties`
/// are in the agreement's order, and this party is number `own`. Both parties then share a secret.
///
/// # Errors
/// Any [`ExchangeError`].
pub fn meet(
    options: Options,
    identity: &Identity,
    parties: &[PublicIdentity; 2],
    own: u8,
    agreement: &[u8; 32],
    state: &Arc<State>,
) -> Result<Conversation, ExchangeError> {
    let peer = 1 - own;
    let prefix = prefix_of(agreement);
    let counted = derive(COUNT_LABEL, &[agreement, &[own]]);
    let started = state.number()?;
    let (number, count) = match started {
        Some(number) => (number, state.repeats()?),
        None => {
            let (number, shown) = next_number(&options, &prefix, own)?;
            (number, state.starts(&counted)?.max(shown))
        }
    };
    let max = options.max_repeats;
    // One more than allowed is enough to know that there were too many.
    let most = max.saturating_add(1);
    let count = count.min(most);
    let repeats = Repeats { count, max };
    (options.on_event)(Event::Run { number, has_started: started.is_some(), repeats });
    let run = format!("{prefix}-{number:04}");
    let (meeting, own_secret) = state.secrets(number, count)?;
    let context = derive(CONTEXT_LABEL, &[agreement, &number.to_le_bytes()]);
    let poller = ObjectPoller { options, run: run.clone(), peer };
    let never = || false;

    let hello = meeting.hello(identity, &context, &count.to_le_bytes());
    // Count this run now: no other party can know of it before its hello is in the store.
    state.keep_starts(&counted, most.min(count.saturating_add(1)))?;
    put(&*poller.options.store, &object::name(&run, own, HELLO), &hello)
        .map_err(|error| error.unwrap_or(ExchangeError::OtherFolder { number }))?;
    let their_hello = object::name(&run, peer, HELLO);
    let refuse = |repeats| {
        // In a store that ends with this process, the other side must first learn the count. If the
        // other side does not, this party refuses all the same.
        let _ = poller.options.store.settle(&their_hello, poller.options.wait);
        Err(ExchangeError::TooManyRepeats(repeats))
    };
    if count > max {
        return refuse(repeats);
    }
    let lengths = lengths_of(&their_hello);
    let theirs = poller.get(&their_hello, lengths, Waiting::Hello, &never, &never)?;
    // The peer has started this run, so it no longer needs what this party published in earlier
    // runs.
    if !state.has_seen_hello() {
        remove_earlier(&*poller.options.store, &prefix, number, own)?;
    }
    let seen = digest(&theirs);
    let mut hellos = vec![hello, theirs];
    if own == 1 {
        hellos.reverse();
    }
    let met = meeting.meet(own.into(), parties, &context, &hellos, NOTE_LEN)?;
    // Keep the hello's digest once the hello is known to be the peer's, and before anything that
    // depends on it is published.
    if !state.see_hello(&seen)? {
        return Err(LetterError::BadSignature { party: peer.into() }.into());
    }
    let theirs = met.note(peer.into()).try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
    let repeats = Repeats { count: count.max(theirs).min(most), max };
    state.keep_starts(&counted, most.min(repeats.count.saturating_add(1)))?;
    if repeats.count > max {
        return refuse(repeats);
    }
    if repeats.count > count {
        (poller.options.on_event)(Event::Repeats { number, repeats });
    }

    let shares = state.shares(|| met.shares())?;
    put(&*poller.options.store, &object::name(&run, own, SHARES), &shares)
        .map_err(|error| error.unwrap_or(ExchangeError::OtherFolder { number }))?;
    let their_shares = object::name(&run, peer, SHARES);
    let lengths = lengths_of(&their_shares);
    let theirs = poller.get(&their_shares, lengths, Waiting::Shares, &never, &never)?;
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
    let run =
        Run { poller, own, repeats: repeats.count, secret, seed: vesica_core::Secret::new(seed) };
    Conversation::start(run, Arc::clone(state))
}

/// The number of the next run, after all runs that have ended, and how many of those were abandoned
/// since the last one that this party finished. Numbers far above the one before do not count:
/// parties increase the number by one.
fn next_number(options: &Options, prefix: &str, own: u8) -> Result<(u32, u32), ExchangeError> {
    let store = &*options.store;
    let (mut next, mut given_up) = (1, 0_u32);
    let mut numbers = numbers(store, prefix)?;
    numbers.sort_unstable();
    for number in numbers {
        if number > next + GAP_MAX {
            break;
        }
        let run = format!("{prefix}-{number:04}");
        let has = |party: u8, what: &str| -> Result<bool, ExchangeError> {
            let name = object::name(&run, party, what);
            let there = store.get(&name, lengths_of(&name));
            Ok(there.map_err(ExchangeError::store)?.is_some())
        };
        if has(own, END)? {
            given_up = 0;
        } else if has(own, GIVEN_UP)? || has(1 - own, GIVEN_UP)? {
            given_up += 1;
        } else if has(own, HELLO)? {
            if !options.restart {
                return Err(ExchangeError::OtherFolder { number });
            }
            give_up(store, &run, own, StopReason::Cancelled)?;
            given_up += 1;
        } else {
            continue;
        }
        next = next.max(number + 1);
    }
    Ok((next, given_up))
}

/// The numbers of all runs of an agreement in the store, in any order.
fn numbers(store: &dyn Store, prefix: &str) -> Result<Vec<u32>, ExchangeError> {
    let Some(folders) = if_supported(store.folders())? else {
        return numbers_without_a_list(store, prefix);
    };
    let runs = folders.iter().filter_map(|folder| RunName::parse(folder));
    Ok(runs.filter(|run| run.prefix() == prefix).map(|run| run.number()).collect())
}

/// The numbers of runs in a store that cannot list: from the first up to a number that no party has
/// used.
fn numbers_without_a_list(store: &dyn Store, prefix: &str) -> Result<Vec<u32>, ExchangeError> {
    let mut numbers = Vec::new();
    for number in 1..MAX_RUNS {
        let run = format!("{prefix}-{number:04}");
        let mut is_used = false;
        for (party, what) in [0, 1].into_iter().flat_map(|p| [HELLO, END, GIVEN_UP].map(|w| (p, w)))
        {
            let name = object::name(&run, party, what);
            let there = store.get(&name, lengths_of(&name)).map_err(ExchangeError::store)?;
            is_used = is_used || there.is_some();
        }
        if !is_used {
            break;
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// Removes what this party published in runs before this one, except the marks that it finished or
/// abandoned them. A store that cannot list or remove keeps everything.
fn remove_earlier(
    store: &dyn Store,
    prefix: &str,
    number: u32,
    own: u8,
) -> Result<(), ExchangeError> {
    for earlier in numbers(store, prefix)?.into_iter().filter(|earlier| *earlier < number) {
        let run = format!("{prefix}-{earlier:04}");
        let objects = if_supported(store.list(&run))?.unwrap_or_default();
        for Listed { name, .. } in objects {
            // Other files may have a name that starts like one of ours.
            if parse_object(&name).is_some_and(|(party, kind)| party == own && !kind.is_mark()) {
                if_supported(store.remove(&format!("{run}/{name}")))?;
            }
        }
    }
    Ok(())
}
