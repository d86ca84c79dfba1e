//! Parties that enter lists that do not rise, or hold an item twice.

use super::Scs;
use super::shuffle::Waksman;
use crate::computed::spy::deviating;
use crate::computed::{Audit, Audited, GuardedYao, Unaudited};
use std::sync::Arc;
use vesica_core::{Error, Item, Learns, Misbehaviour, PsiParams, Query, Role, SessionId};
use vesica_ot::Bits;
use vesica_party::{Input, Output};

const X: [u128; 6] = [2, 5, 9, 12, 14, 15];
const Y: [u128; 5] = [1, 5, 7, 12, 13];

fn items(numbers: &[u128]) -> Vec<Item> {
    numbers.iter().copied().map(Item::from_integer).collect()
}

/// A run with the set `x` in which `role` enters the list `entered`, lowest first where it should
/// be.
fn run<A: Audit>(
    query: Query,
    x: &[u128],
    role: Role,
    entered: &[u128],
) -> ([Output; 2], Vec<Bits>) {
    let (n_x, n_y) = (x.len() as u64, Y.len() as u64);
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, Learns::Receiver)
        .and_then(|params| params.with_item_bits(4))
        .unwrap()
        .with_query(query);
    let inputs = [x, &Y].map(|set| Input::from(Arc::new(items(set))));
    deviating::<Scs<Waksman<A>>, GuardedYao>(&params, inputs, |who, scs| {
        if who == role {
            let own = scs.own.as_mut().unwrap();
            own.sorted = items(entered);
            if who == Role::Sender {
                own.sorted.reverse();
            }
        }
    })
}

fn ones(shown: &[Bits]) -> usize {
    shown.iter().flat_map(Bits::iter).filter(|bit| *bit).count()
}

#[test]
fn lists_that_rise_give_the_intersection() {
    let ([sent, received], _) = run::<Audited>(Query::Intersection, &X, Role::Receiver, &Y);
    assert_eq!([sent, received], [Output::Nothing, Output::Positions(vec![1, 3])]);
    let ([_, received], _) = run::<Audited>(Query::Cardinality, &X, Role::Sender, &X);
    assert_eq!(received, Output::Cardinality(2));
}

#[test]
fn lists_out_of_order_or_with_an_item_twice_end_with_an_error_and_no_result() {
    for query in [Query::Intersection, Query::Cardinality, Query::Threshold { min: 1 }] {
        for (role, entered) in [
            (Role::Receiver, &[5, 1, 7, 12, 13][..]),
            (Role::Receiver, &[1, 5, 7, 13, 12]),
            (Role::Receiver, &[13, 12, 7, 5, 1]),
            (Role::Receiver, &[1, 5, 5, 12, 13]),
            (Role::Receiver, &[12, 12, 12, 12, 12]),
            (Role::Receiver, &[0, 5, 7, 12, 13]),
            (Role::Sender, &[2, 9, 5, 12, 14, 15]),
            (Role::Sender, &[2, 5, 9, 12, 15, 15]),
            (Role::Sender, &[0, 5, 9, 12, 14, 15]),
        ] {
            let ([sent, received], shown) = run::<Audited>(query, &X, role, entered);
            assert_eq!(sent, Output::Nothing, "{entered:?}");
            let refused = Err(Error::PeerMisbehaved(Misbehaviour::SetRefused));
            assert_eq!(received.checked(), refused, "{entered:?}");
            assert_eq!(ones(&shown), 0, "{entered:?}: {shown:?}");
        }
    }
}

#[test]
fn without_the_audit_the_places_of_matches_in_a_list_out_of_order_tell_of_the_other_set() {
    // Of what the receiver enters, only 12 is in both sets; its neighbours decide whether it is
    // found.
    let entered = [12, 1, 7, 3, 13];
    let found = |x: &[u128]| {
        let (_, shown) = run::<Unaudited>(Query::Cardinality, x, Role::Receiver, &entered);
        ones(&shown)
    };
    let others = [[2, 4, 5, 6, 8, 12], [8, 9, 10, 11, 12, 14], [12, 2, 9, 10, 14, 15]];
    let counts: Vec<usize> = others
        .iter()
        .map(|x| {
            let mut x = *x;
            x.sort_unstable();
            found(&x)
        })
        .collect();
    assert!(counts.iter().any(|count| *count != counts[0]), "{counts:?}");
}
