//! Parties that enter other vectors than they announced.

use super::Bwa;
use crate::computed::spy::deviating;
use crate::computed::{Audit, Audited, GuardedYao, Unaudited};
use std::sync::Arc;
use vesica_core::{Error, Item, Learns, Misbehaviour, PsiParams, Query, Role, SessionId};
use vesica_ot::Bits;
use vesica_party::{Input, Output};

/// Not a power of two.
const LARGEST: u128 = 44;

/// Both know these; the others are each party's own, but for one.
const SHARED: [u128; 2] = [41, 43];
const X: [u128; 7] = [0, 3, 8, 20, 44, 41, 43];
const Y: [u128; 5] = [2, 8, 30, 41, 43];

fn params(query: Query) -> PsiParams {
    let len = |set: &[u128]| set.len() as u64;
    PsiParams::new(SessionId::from_bytes([1; 32]), len(&X), len(&Y), Learns::Receiver)
        .and_then(|params| params.with_largest_item(LARGEST))
        .and_then(|params| params.with_shared(SHARED.len() as u64))
        .unwrap()
        .with_query(query)
}

fn input(set: &[u128]) -> Input {
    let items = set.iter().copied().map(Item::from_integer).collect();
    Input::from(Arc::new(items)).with_shared(set.len() - SHARED.len()..set.len())
}

/// A run in which `role` enters the ones of `entered`, where that is another party's vector than it
/// should be.
fn run<A: Audit>(query: Query, role: Role, entered: &[u128]) -> ([Output; 2], Vec<Bits>) {
    deviating::<Bwa<A>, GuardedYao>(&params(query), [input(&X), input(&Y)], |who, bwa| {
        if who == role {
            let own = bwa.own.as_mut().unwrap();
            own.set = (0..=LARGEST).map(|place| entered.contains(&place)).collect();
        }
    })
}

/// The receiver ends with an error and nothing else is shown to it; the sender sees nothing.
#[track_caller]
fn assert_is_refused(query: Query, role: Role, entered: &[u128]) {
    let ([sent, received], shown) = run::<Audited>(query, role, entered);
    assert_eq!(sent, Output::Nothing, "{entered:?}");
    assert_eq!(received.checked(), Err(Error::PeerMisbehaved(Misbehaviour::SetRefused)));
    assert!(shown.iter().flat_map(Bits::iter).all(|bit| !bit), "{entered:?}: {shown:?}");
}

#[test]
fn vectors_of_the_announced_size_give_the_intersection() {
    let ([sent, received], _) = run::<Audited>(Query::Intersection, Role::Receiver, &Y);
    assert_eq!([sent, received], [Output::Nothing, Output::Positions(vec![1, 3, 4])]);
    let ([_, received], _) = run::<Audited>(Query::Cardinality, Role::Sender, &X);
    assert_eq!(received, Output::Cardinality(3));
}

#[test]
fn a_vector_with_too_many_or_too_few_ones_ends_with_an_error_and_no_result() {
    let all: Vec<u128> = (0..=LARGEST).collect();
    for query in [Query::Intersection, Query::Cardinality, Query::Threshold { min: 1 }] {
        assert_is_refused(query, Role::Receiver, &all);
        assert_is_refused(query, Role::Receiver, &[&Y[..], &[0]].concat());
        assert_is_refused(query, Role::Receiver, &Y[1..]);
        assert_is_refused(query, Role::Receiver, &[]);
        assert_is_refused(query, Role::Sender, &all);
        assert_is_refused(query, Role::Sender, &X[1..]);
    }
}

#[test]
fn a_guess_in_place_of_an_item_that_both_know_ends_with_an_error() {
    assert_is_refused(Query::Intersection, Role::Receiver, &[2, 8, 30, 41, 0]);
    assert_is_refused(Query::Intersection, Role::Sender, &[0, 3, 8, 20, 44, 42, 43]);
}

#[test]
fn without_the_audit_a_vector_of_ones_shows_the_other_set() {
    let all: Vec<u128> = (0..=LARGEST).collect();
    let (_, shown) = run::<Unaudited>(Query::Intersection, Role::Receiver, &all);
    let ones = (0..=LARGEST).filter(|place| shown[0].get(*place as usize));
    assert!(ones.eq((0..=LARGEST).filter(|place| X.contains(place))), "{shown:?}");
}
