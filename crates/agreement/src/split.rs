//! Which runs are split into partitions, and what one partition is.

use vesica_core::{Operation, PsiParams};
use vesica_partitions::{Plan, session_of};
use vesica_protocols::{Partitions, Protocol, Traffic, UsableSetLen};

/// How `row` splits sets of the sizes in `params`. Both sides compute the same.
///
/// Intersections alone are split, without bounds, and of digests: the number of common items of each partition says
/// nothing that the common items do not.
pub fn plan(row: &Protocol, params: &PsiParams) -> Plan {
    let is_plain = params.query().operation() == Operation::Intersection
        && params.bounds().are_none()
        && params.item_bits() == vesica_core::Item::BITS;
    match is_plain && row.partitions == Partitions::Sets {
        true => Plan::new(params.sender_len() as u64, params.receiver_len() as u64),
        false => Plan::WHOLE,
    }
}

/// The parameters of partition `index` of a run with `params`, in which `shared_len` of the shared items are.
///
/// # Errors
/// Those of [`PsiParams`].
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
        .with_runs(plan.partitions())?
        .with_shared(shared_len)
}

/// Payload bytes of a run of `row` with `params`, all partitions together.
///
/// Shared items lie in partitions as the session has it; where a formula depends on them, they are taken as spread evenly.
pub fn traffic(row: &Protocol, params: &PsiParams) -> Traffic {
    let plan = plan(row, params);
    let of_one = (row.bytes)(&typical(plan, params));
    let times = plan.partitions();
    Traffic {
        sender_to_receiver: times * of_one.sender_to_receiver,
        receiver_to_sender: times * of_one.receiver_to_sender,
    }
}

/// How many items a receiver that deviates can have tested in all partitions together, if `row` bounds that.
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
