//! Every protocol of the catalogue against a peer that deviates.
//!
//! The peer sends the messages of an honest one from an earlier run under the same seeds, changed
//! by the input: so the changes are where the protocol expects data, and the peer itself costs
//! nothing.

mod peer;

use super::{Target, no_seeds};
use crate::input::Input;
use peer::{Recorded, Recorder, Replay};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use vesica_core::{Error, Item, PsiParams, Query, Result, Role, SessionId, TextLen, Values};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_protocols::{self as protocols, Operation, Output, Party, Protocol, catalogue};

pub(super) const TWO_PARTY: Target =
    Target { name: "two_party", run: two_party, seeds: no_seeds, tokens: &[], max_len: 512 };

/// Items of the party and of its peer.
const SIZES: [(u64, u64); 4] = [(3, 5), (1, 1), (40, 20), (0, 4)];

/// Rows that take longer are left to the tests: other rows have the same parts with shorter keys.
const MOST_SECONDS: f64 = 0.3;

/// The inputs of a run, which determine the peer's honest messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Case {
    row: usize,
    operation: usize,
    role: Role,
    both_learn: bool,
    sizes: usize,
}

/// The bytes determine the case, then the changes.
fn two_party(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let row = input.below(catalogue().len());
    let protocol = &catalogue()[row];
    let case = Case {
        row,
        operation: input.below(protocol.operations.len()),
        role: if input.byte() & 1 == 0 { Role::Sender } else { Role::Receiver },
        both_learn: input.byte() & 1 == 1,
        sizes: input.below(SIZES.len()),
    };
    let Some(params) = params(protocol, &case) else { return };
    let Some(recorded) = recorded(protocol, &case, params) else { return };
    let streams: Arc<dyn Streams> = Arc::new(Replay::new(&recorded, &mut input));
    match alone(protocol, &case, params, case.role, streams) {
        Err(Error::Bug(what)) => panic!("{}: a peer causes a bug: {what}", protocol.id),
        Err(error) => drop(error.to_string()),
        Ok(output) => check(&case, &output),
    }
}

/// Checks that an output is possible for any messages of the peer.
fn check(case: &Case, output: &Output) {
    let (x, y) = SIZES[case.sizes];
    let own = if case.role == Role::Sender { x } else { y };
    if let Output::Positions(positions) = output {
        assert!(positions.windows(2).all(|pair| pair[0] < pair[1]), "each position once");
        assert!(
            positions.iter().all(|position| (*position as u64) < own),
            "positions of one's own"
        );
    }
}

fn params(protocol: &Protocol, case: &Case) -> Option<PsiParams> {
    let (x, y) = SIZES[case.sizes];
    let values = || {
        let values = Values::new(Role::Sender, 8).ok()?;
        if protocol.wide_values {
            Some(values.with_columns(2).ok()?.signed())
        } else {
            Some(values)
        }
    };
    let query = match protocol.operations[case.operation] {
        Operation::Intersection => Query::Intersection,
        Operation::Cardinality => Query::Cardinality,
        Operation::Threshold => Query::Threshold { min: 2 },
        Operation::Sum => Query::Sum(values()?),
        Operation::InnerProduct => {
            Query::InnerProduct { values: values()?, factors: Values::new(Role::Receiver, 9).ok()? }
        }
        Operation::Union => Query::Union(TextLen::new(8).ok()?),
        Operation::PrivateId => Query::PrivateId,
        Operation::Shares => Query::Shares(Some(values()?)),
        Operation::SharedValues => Query::SharedValues { values: values()?, default: 7 },
        _ => return None,
    };
    let learners = protocol.learners_of(query.operation());
    let learns = learners[usize::from(case.both_learn).min(learners.len() - 1)];
    let params = PsiParams::new(SessionId::from_bytes([7; 32]), x, y, learns).ok()?;
    let params = params.with_query(query).with_item_bits(item_bits(protocol)).ok()?;
    ((protocol.seconds)(&params) <= MOST_SECONDS).then_some(params)
}

fn item_bits(protocol: &Protocol) -> u32 {
    match *protocol.item_bits.end() {
        Item::BITS => Item::BITS,
        most => most.min(13),
    }
}

/// The set of a party: half of the shorter one is common.
fn set(protocol: &Protocol, case: &Case, role: Role) -> Vec<Item> {
    let (x, y) = SIZES[case.sizes];
    let common = x.min(y) / 2;
    let own = match role {
        Role::Sender => 1..x + 1,
        _ => 1 + x - common..1 + x - common + y,
    };
    let modulus = 1_u128.checked_shl(item_bits(protocol)).map_or(u128::MAX, |all| all - 1);
    let spread = |i: u64| u128::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let small = |i: u64| (u128::from(i) * 77) & modulus;
    let item = |i| if modulus == u128::MAX { spread(i) } else { small(i) };
    own.map(|i| Item::from_integer(item(i))).collect()
}

fn party(
    protocol: &Protocol,
    case: &Case,
    params: PsiParams,
    role: Role,
) -> Result<Box<dyn Party>> {
    let set = Arc::new(set(protocol, case, role));
    let query = params.query();
    let input = match (query.values_of(role), query.text_len()) {
        (Some(values), _) => {
            let all = (0..set.len() * values.columns()).map(|i| i as u64 % 100);
            protocols::Input::with_values(Arc::clone(&set), Arc::new(all.collect()))
        }
        (None, Some(len)) => {
            let texts = set.iter().flat_map(|item| item.as_bytes()[..len.bytes()].to_vec());
            protocols::Input::with_texts(Arc::clone(&set), Arc::new(texts.collect()))
        }
        (None, None) => Arc::clone(&set).into(),
    };
    protocol.party(role, params, input)
}

/// One party of the case on `streams`, which are closed at its end.
fn alone(
    protocol: &Protocol,
    case: &Case,
    params: PsiParams,
    role: Role,
    streams: Arc<dyn Streams>,
) -> Result<Output> {
    let (peer, seed) = match role {
        Role::Sender => (Role::Receiver, [1; 32]),
        _ => (Role::Sender, [2; 32]),
    };
    let party = party(protocol, case, params, role)?;
    let peers = vec![(peer, Arc::clone(&streams))];
    let output = Context::new(peers, seed, pool(), Meter::new()).and_then(|mut ctx| {
        let output = party.run(&mut ctx)?;
        ctx.finish()?;
        Ok(output)
    });
    if let Err(error) = &output {
        streams.abort(error.stop_reason());
    }
    output
}

/// The threads of every party: one shared pool of one thread.
pub(super) fn pool() -> Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool::new(NonZeroUsize::MIN).expect("a thread can be started")).clone()
}

/// The messages of an honest peer in this case; `None` if the protocol does not support it.
fn recorded(protocol: &'static Protocol, case: &Case, params: PsiParams) -> Option<Arc<Recorded>> {
    static KNOWN: OnceLock<Mutex<HashMap<Case, Option<Arc<Recorded>>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    if let Some(recorded) = known.lock().unwrap_or_else(PoisonError::into_inner).get(case) {
        return recorded.clone();
    }
    let recorded = record(protocol, case, params);
    known.lock().unwrap_or_else(PoisonError::into_inner).insert(*case, recorded.clone());
    recorded
}

fn record(protocol: &Protocol, case: &Case, params: PsiParams) -> Option<Arc<Recorded>> {
    let roles = [Role::Sender, Role::Receiver];
    if roles.iter().any(|role| party(protocol, case, params, *role).is_err()) {
        return None;
    }
    let (own, other) = memory::pair();
    let other = Arc::new(Recorder::new(other));
    let peer = if case.role == Role::Sender { Role::Receiver } else { Role::Sender };
    let outputs = thread::scope(|scope| {
        let recorded: Arc<dyn Streams> = other.clone();
        let peer = scope.spawn(move || alone(protocol, case, params, peer, recorded));
        let own = alone(protocol, case, params, case.role, own);
        let peer = peer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        [own, peer]
    });
    for output in outputs {
        output.unwrap_or_else(|error| panic!("{}: two honest parties: {error}", protocol.id));
    }
    Some(Arc::new(other.recorded()))
}
