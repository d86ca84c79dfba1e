//! The places at which matches are revealed.

use super::Pwc;
use crate::computed::spy::{assert_are_uniform, runs, shown};
use crate::computed::{Engine, Gmw, Yao};
use vesica_core::{Item, Learns, PsiParams, SessionId};
use vesica_ot::Bits;

/// The early reveal shows both parties which row matches which column, of lists in an order that each drew itself: it
/// reveals nothing of the places of items in the other party's file.
#[test]
fn the_early_reveal_shows_places_of_lists_that_both_have_shuffled() {
    let n = 24;
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Both)
        .and_then(|params| params.with_item_bits(32))
        .unwrap();
    let set: Vec<Item> = (1..=u128::from(n)).map(Item::from_integer).collect();
    let shown = |seeds| -> Vec<Vec<bool>> {
        let shown = shown::<Pwc>(&params, [&set, &set], seeds);
        shown.iter().map(|bits| bits.iter().collect()).collect()
    };
    let first = shown([1, 100]);
    assert!(first.iter().flatten().filter(|is_match| **is_match).count() == n as usize);
    assert!(first == shown([1, 100]), "nothing else makes the places");
    for seeds in [[2, 100], [3, 100], [1, 101], [1, 102]] {
        assert!(first != shown(seeds), "{seeds:?}");
    }
}

/// Of three common items: the row of each, and the column of each.
#[track_caller]
fn assert_any_row_matches_any_column<E: Engine, const N: usize>() {
    const ITEMS: usize = 3;
    let n = ITEMS as u64;
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Both)
        .and_then(|params| params.with_item_bits(4))
        .unwrap();
    let set: Vec<Item> = (1..=u128::from(n)).map(Item::from_integer).collect();
    let seeds = [rand::random(), rand::random()];
    let places = runs::<Pwc, E, N>(&params, [&set, &set], seeds).into_iter().map(|run| {
        let [rows, columns] =
            [&run.sender, &run.receiver].map(|of| &of.own.as_ref().unwrap().order);
        let e: Vec<bool> = run.shown.iter().flat_map(Bits::iter).collect();
        assert_eq!(e.len(), ITEMS * ITEMS, "all are compared at once");
        let mut places = [[None; 2]; ITEMS];
        for (lane, _) in e.iter().enumerate().filter(|(_, is_match)| **is_match) {
            let pair = [lane / ITEMS, lane % ITEMS];
            assert_eq!(rows[pair[0]], columns[pair[1]], "equal items match");
            places[rows[pair[0]] as usize] = pair.map(Some);
        }
        assert!(places.iter().flatten().all(Option::is_some), "{places:?}");
        places
    });
    // Each party draws one of six orders, whatever the other draws.
    assert_are_uniform(places, 6 * 6);
}

#[test]
fn the_early_reveal_shows_any_places_equally_often() {
    assert_any_row_matches_any_column::<Yao, 1000>();
    assert_any_row_matches_any_column::<Gmw, 300>();
}
