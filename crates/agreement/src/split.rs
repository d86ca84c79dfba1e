//! Which runs are split into partitions, and what one partition is.

mod parts;

pub use parts::{Listing, Numbers, Parts, lens};

use crate::agreement::Agreement;
use vesica_core::{Item, Operation, PsiParams, Role};
use vesica_partitions::{Plan, session_of};
use vesica_protocols::{Partitions, Protocol, Security, Traffic, UsableSetLen};

/// What becomes of the results of all partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// They are the result: an intersection.
    Sets,
    /// They are shares, which are added, and of which the total alone is opened: a number.
    Addends,
    /// They are the result, and a party that learns how many items are common learns it for each
    /// partition: a union or private ids.
    Lists,
}

/// How `row` can match partitions of sets with such `params`, if it can. Both sides compute the
/// same.
///
/// An intersection may have no bounds: whether the number of common items is inside them is known
/// at the end only. For a union and private ids the parties must have agreed that the number is
/// learned for each partition.
pub fn joined(row: &Protocol, params: &PsiParams) -> Option<Joined> {
    if params.item_bits() != Item::BITS {
        return None;
    }
    match params.query().operation() {
        // Payloads come in one run.
        Operation::Intersection if params.query().payload_len().is_some() => None,
        Operation::Intersection => {
            let can = row.partitions == Partitions::Sets && params.bounds().are_none();
            can.then_some(Joined::Sets)
        }
        Operation::Cardinality | Operation::Threshold | Operation::Sum => {
            row.addends.map(|_| Joined::Addends)
        }
        Operation::Union | Operation::PrivateId => {
            let can = row.partitions == Partitions::Sets && params.partition_counts();
            can.then_some(Joined::Lists)
        }
        _ => None,
    }
}

/// How `row` splits sets of the sizes in `params`.
pub fn plan(row: &Protocol, params: &PsiParams) -> Plan {
    let lens = [params.sender_len(), params.receiver_len()].map(|len| len as u64);
    let plan = Plan::new(lens[0], lens[1], params.partition_len());
    match joined(row, params) {
        Some(_) if row.security >= Security::Malicious => {
            plan.guarded(lens, params.shared_len() as u64)
        }
        Some(_) => plan,
        None => Plan::WHOLE,
    }
}

/// Bytes of memory that a run takes for an item of the larger set, with what is read and padded:
/// measured with `rr22` and `rr22_malicious`, both receiving.
const BYTES_PER_ITEM: u64 = 96;

/// A run in a shorter partition takes about as much memory as one of this many items: measured with
/// up to 17 at once.
const LEAST_ITEMS: u64 = 1 << 15;

/// Bytes of memory for the program, its buffers and the connection.
const PROGRAM_BYTES: u64 = 32 << 20;

/// Items of the longer of two partitions.
pub fn longest(plan: Plan, params: &PsiParams) -> u64 {
    plan.bound(params.sender_len().max(params.receiver_len()) as u64)
}

/// Memory for the run of one partition, in bytes.
pub fn memory_in_flight(plan: Plan, params: &PsiParams) -> u64 {
    BYTES_PER_ITEM * longest(plan, params).max(LEAST_ITEMS)
}

/// The least memory with which an intersection in partitions keeps within it, in bytes. Where
/// partitions are short, what is read and grouped takes more than a run of the protocol: 12 MiB.
pub fn least_memory(plan: Plan, params: &PsiParams) -> u64 {
    PROGRAM_BYTES + memory_in_flight(plan, params).max(12 << 20)
}

/// The most partitions into which `keyed` items of `party` can be split, for any size that the peer
/// announces.
pub fn most_partitions(agreement: &Agreement, party: &str, keyed: u64) -> u64 {
    let own = if agreement.hide_sizes { agreement.terms_of(party).max_items() } else { keyed };
    let peer = agreement.peer_of(party).max_items();
    let with_check_items = |len: u64| len + agreement.self_check_items();
    Plan::new(with_check_items(own), with_check_items(peer), agreement.partition_rows).partitions()
}

/// Whether large sets of an intersection under `agreement` may be split.
pub fn splits_large_sets(agreement: &Agreement) -> bool {
    agreement.bounds.are_none()
        && agreement.columns.is_none()
        && agreement.integer_items().is_none()
        && agreement.candidates().iter().any(|row| row.partitions == Partitions::Sets)
}

/// Items that the party in `role` enters in all partitions together, self-check items and padding
/// included.
pub fn entered_len(plan: Plan, params: &PsiParams, role: Role) -> u64 {
    let len = match role {
        Role::Sender => params.sender_len(),
        _ => params.receiver_len(),
    };
    plan.partitions() * plan.bound(len as u64)
}

/// The parameters of partition `index` of a run with `params`, in which `shared_len` of the shared
/// items are.
///
/// # Errors
/// Errors of [`PsiParams`].
pub fn partition(
    plan: Plan,
    params: &PsiParams,
    index: u64,
    shared_len: u64,
) -> vesica_core::Result<PsiParams> {
    if !plan.is_split() {
        return Ok(*params);
    }
    let session = session_of(params.session(), plan.partitions(), index);
    let bound = |len: usize| plan.bound(len as u64);
    let (sender_len, receiver_len) = (bound(params.sender_len()), bound(params.receiver_len()));
    PsiParams::new(session, sender_len, receiver_len, params.learns())?
        .with_query(params.query())
        .with_bounds(params.bounds())
        .with_partition_counts(params.partition_counts())
        .with_runs(plan.partitions())?
        .with_shared(shared_len)
}

/// Payload bytes of a run of `row` with `params`, all partitions and the opening of their total
/// together.
///
/// Shared items lie in partitions as the session has it; where a formula depends on them, they are
/// taken as spread evenly.
pub fn traffic(row: &Protocol, params: &PsiParams) -> Traffic {
    let plan = plan(row, params);
    if !plan.is_split() {
        return (row.bytes)(params);
    }
    let of_one = typical(plan, params);
    let addends = row.addends.filter(|_| joined(row, params) == Some(Joined::Addends));
    let (one, opening) = match addends {
        Some(runs) => ((runs.part_bytes)(&of_one), (runs.opening_bytes)(params)),
        None => ((row.bytes)(&of_one), Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }),
    };
    let all = |one: u64, opening: u64| plan.partitions() * one + opening;
    Traffic {
        sender_to_receiver: all(one.sender_to_receiver, opening.sender_to_receiver),
        receiver_to_sender: all(one.receiver_to_sender, opening.receiver_to_sender),
    }
}

/// How many partitions a party may be ahead of its peer: it begins partition i when all up to i −
/// 32 are done.
pub const PARTITIONS_AHEAD: u64 = 32;

/// The most bytes that an honest peer of the party in `role` sends before this party reads them. It
/// may be ahead by whole partitions, and a run that is not split may be in one part while the peer
/// is at the end of another one.
pub fn most_ahead(row: &Protocol, params: &PsiParams, role: Role) -> u64 {
    let traffic = traffic(row, params);
    let all = match role {
        Role::Sender => traffic.receiver_to_sender,
        _ => traffic.sender_to_receiver,
    };
    let partitions = plan(row, params).partitions();
    all.div_ceil(partitions) * partitions.min(PARTITIONS_AHEAD)
}

/// Messages in a row of one partition and of the opening: partitions in flight together wait
/// together.
pub(crate) fn flights(row: &Protocol, params: &PsiParams) -> u64 {
    let plan = plan(row, params);
    let of_one = typical(plan, params);
    match row.addends {
        Some(runs) if plan.is_split() && joined(row, params) == Some(Joined::Addends) => {
            (runs.part_flights)(&of_one) + (runs.opening_flights)(params)
        }
        _ => (row.flights)(&of_one),
    }
}

/// How many items a receiver that deviates can have tested in all partitions together, if `row`
/// bounds that.
pub fn usable_set_len(row: &Protocol, params: &PsiParams) -> Option<UsableSetLen> {
    let plan = plan(row, params);
    let of_one = row.usable_set_len?(&typical(plan, params));
    let times = plan.partitions();
    Some(UsableSetLen { free: times * of_one.free, most: times * of_one.most })
}

/// The parameters of a partition with its share of the shared items.
pub(crate) fn typical(plan: Plan, params: &PsiParams) -> PsiParams {
    let shared_len = (params.shared_len() as u64).div_ceil(plan.partitions());
    partition(plan, params, 0, shared_len).expect("a partition is not larger than its set")
}
