//! The places at which matches are revealed.

use super::Pwc;
use crate::computed::spy::shown;
use vesica_core::{Item, Learns, PsiParams, SessionId};

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
