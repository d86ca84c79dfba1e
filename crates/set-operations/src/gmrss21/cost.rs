//! What a run costs: payload bytes, flights, seconds.

use super::form::{Form, Identifiers, Variant};
use super::plan::CorePlan;
use super::{
    bounds, count, identifiers, inner_product, intersection, private_id, shared_values, shares,
    sums, transfers, union,
};
use vesica_core::params::ceil_log2;
use vesica_core::{Learns, PsiParams, Query};
use vesica_party::{Compared, Traffic};

fn core_plan(form: Form, params: &PsiParams) -> CorePlan {
    CorePlan::new(form, params)
}

/// Payload bytes: exact, or the most where they depend on the number of common items.
pub(super) fn bytes(variant: Variant, params: &PsiParams) -> Traffic {
    let form = variant.form;
    let core = if params.has_empty_set() {
        vesica_ot::Traffic::default()
    } else {
        core_plan(form, params).bytes()
    };
    let after = match (variant.identifiers, params.query()) {
        (Some(identifiers), _) => private_id::bytes(form, identifiers, params),
        (_, Query::Cardinality) => count::bytes(params),
        (_, Query::Sum(values)) => sums::bytes(form, params, values),
        (_, Query::InnerProduct { values, factors }) => {
            inner_product::bytes(form, params, values, factors)
        }
        (_, Query::Union(len)) => union::bytes(form, params, len),
        (_, Query::Shares(values)) => shares::bytes(form, params, values),
        (_, Query::SharedValues { values, .. }) => shared_values::bytes(form, params, values),
        _ => intersection::bytes(form, params),
    };
    let total = core + after;
    Traffic {
        sender_to_receiver: total.sender_to_receiver,
        receiver_to_sender: total.receiver_to_sender + bounds::bytes(params),
    }
}

/// ℓ
pub(super) fn compared(variant: Variant, params: &PsiParams) -> Compared {
    Compared::outputs(core_plan(variant.form, params).compared_bits)
}

/// Messages in a row that wait for each other; for shares of the intersection, at most.
pub(super) fn flights(variant: Variant, params: &PsiParams) -> u64 {
    let form = variant.form;
    let is_empty = params.has_empty_set();
    let core = core_flights(form, params);
    let bounds = bounds::bytes(params);
    let answer = u64::from(params.learns() == Learns::Both);
    // The core ends with a message of the sender, and transfers begin with one, if no bounds come
    // between.
    let joined = u64::from(!is_empty && bounds == 0);
    let count = match params.query().factors() {
        Some(factors) => inner_product::transfers(params, factors),
        None => params.sender_len(),
    };
    let transfers = transfers::flights(form, count).saturating_sub(joined);
    match (variant.identifiers, params.query()) {
        (Some(identifiers), _) => {
            identifiers::flights(identifiers, params) + core + transfers + answer
        }
        (_, Query::Union(_)) => core + bounds + transfers + answer,
        (_, Query::SharedValues { .. }) => core + bounds + transfers,
        _ if is_empty => 0,
        // The bounds and the answer are the receiver's, as is the count that shares begin with.
        (_, Query::Cardinality) => core + bounds.max(answer),
        (_, Query::Shares(values)) => core + shares::flights(form, params, values),
        _ => core + bounds + transfers + answer,
    }
}

/// The fewest flights of [`Query::Shares`].
pub(super) fn least_flights_of_shares(form: Form, params: &PsiParams) -> u64 {
    match params.query() {
        Query::Shares(values) if !params.has_empty_set() => {
            core_flights(form, params) + shares::least_flights(form, params, values)
        }
        _ => 0,
    }
}

fn core_flights(form: Form, params: &PsiParams) -> u64 {
    if params.has_empty_set() { 0 } else { core_plan(form, params).flights() }
}

/// Estimated seconds of computation, fitted to measurements.
pub(super) fn seconds(variant: Variant, params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    let levels = f64::from(ceil_log2(params.sender_len() as u64));
    let silent = 0.04 + 1e-6 * n_y + n_x * (0.6e-6 + 60e-9 * levels);
    let core = match variant.form {
        Form::Silent => silent,
        Form::LowCommunication => silent + 2.3e-6 * n_x,
        Form::Paper => 5.0 * silent,
    };
    let oprfs = 0.02 + 0.2e-6 * (n_x + n_y);
    let factor_bits = params.query().factors().map_or(0, |factors| factors.bits());
    match variant.identifiers {
        None => core + 0.3e-6 * n_x * f64::from(factor_bits),
        Some(Identifiers::Oprf(_)) => core + oprfs,
        Some(Identifiers::Sloppy(Form::Paper)) => 3.0 * core,
        Some(Identifiers::Sloppy(_)) => core + oprfs + 1.2e-6 * (n_x + n_y),
    }
}
