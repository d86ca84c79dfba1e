//! Which runs are split into partitions, and what one partition is.

use vesica_core::{Operation, PsiParams};
use vesica_partitions::{Plan, session_of};
use vesica_protocols::{Partitions, Protocol};

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
