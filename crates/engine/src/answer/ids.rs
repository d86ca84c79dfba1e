//! Identifiers of the union: checks on them, and removal of self-check items that only their owner
//! knows.

use super::asked::{Asked, require};
use crate::output::{self, KeyRows};
use vesica_core::{Error, Item, Misbehaviour, Result};
use vesica_net::Context;
use vesica_own_rows::self_check::CheckedSet;
use vesica_protocols::Ids;

type Id = [u8; Item::LEN];

/// Most identifiers in a message: the identifiers of the padding of many partitions exceed one
/// message.
const IDS_PER_MESSAGE: usize = 1 << 20;

/// Checks that every own item has its own identifier in the union, and the size of the union.
fn check(ids: &Ids, set: &CheckedSet, asked: &Asked<'_>) -> Result<()> {
    let [here, there] = asked.entered;
    let all = ids.all.len() as u64;
    require(ids.own.len() == set.len() && here == set.len() as u64)?;
    require((here.max(there)..=here.saturating_add(there)).contains(&all))?;
    require(ids.all.is_sorted_by(|one, other| one < other))?;
    let mut own = ids.own.clone();
    own.sort_unstable();
    require(own.is_sorted_by(|one, other| one < other) && are_in(&own, &ids.all))
}

/// Whether the sorted `some` are among the sorted `all`.
fn are_in(some: &[Id], all: &[Id]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|id| rest.any(|other| other == id))
}

/// Exchanges with the peer the identifiers of both parties' own self-check items; the peer has
/// `theirs` of them.
pub(super) fn exchange_check_items(
    ctx: &mut Context,
    ids: &Ids,
    set: &CheckedSet,
    theirs: u64,
) -> Result<Vec<Id>> {
    let [_, own] = set.check_items();
    let ours = ids.own.get(own).ok_or(Error::Bug("an item has no identifier"))?;
    let channel = ctx.peer()?;
    ours.chunks(IDS_PER_MESSAGE).try_for_each(|some| channel.send(some.as_flattened()))?;
    let (mut ids, mut left) = (Vec::new(), theirs as usize);
    while left > 0 {
        let some = channel.recv(left.min(IDS_PER_MESSAGE) * Item::LEN)?;
        ids.extend_from_slice(some.as_chunks::<{ Item::LEN }>().0);
        left -= left.min(IDS_PER_MESSAGE);
    }
    Ok(ids)
}

/// `ids` without self-check items. `theirs` are the ids of the peer's own ones.
pub(super) fn checked(
    ids: &Ids,
    theirs: &[Id],
    set: &CheckedSet,
    asked: &Asked<'_>,
) -> Result<Ids> {
    check(ids, set, asked)?;
    let [shared, own] = set.check_items();
    Ok(without(ids, &[&ids.own[shared], &ids.own[own]].concat(), theirs)?)
}

/// `ids` without `ours` and `theirs`; refuses `theirs` if one is the identifier of an own item.
fn without(ids: &Ids, ours: &[Id], theirs: &[Id]) -> Result<Ids, Misbehaviour> {
    let mut own = ids.own.clone();
    own.sort_unstable();
    if theirs.iter().any(|id| own.binary_search(id).is_ok()) {
        return Err(Misbehaviour::SelfCheckFailed);
    }
    let mut check_items = [ours, theirs].concat();
    check_items.sort_unstable();
    if !check_items.is_sorted_by(|one, other| one < other) || !are_in(&check_items, &ids.all) {
        return Err(Misbehaviour::SelfCheckFailed);
    }
    let is_key = |id: &&Id| check_items.binary_search(id).is_err();
    Ok(Ids { own: ids.own.clone(), all: ids.all.iter().filter(is_key).copied().collect() })
}

/// `ids` with the keys of this party that have them.
pub(super) fn named(ids: Ids, set: &CheckedSet, own: KeyRows) -> output::Ids {
    let mut positions = vec![None; ids.all.len()];
    for (position, id) in (0..).zip(&ids.own[..set.own_len()]) {
        if let Ok(at) = ids.all.binary_search(id) {
            positions[at] = Some(position);
        }
    }
    let texts = set.keys().cloned().unwrap_or_default();
    output::Ids::new(own, ids.all, positions, texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> Id {
        [n; Item::LEN]
    }

    fn ids(own: &[u8], all: &[u8]) -> Ids {
        let of = |list: &[u8]| list.iter().map(|n| id(*n)).collect();
        Ids { own: of(own), all: of(all) }
    }

    #[test]
    fn check_items_of_both_sides_leave_the_list() {
        let ids = ids(&[5, 3, 9, 1], &[1, 2, 3, 4, 5, 9]);
        let left = without(&ids, &[id(9), id(1)], &[id(2)]).unwrap();
        assert_eq!(left.all, [3, 4, 5].map(id));
    }

    #[test]
    fn check_items_that_cannot_be_the_peers_are_refused() {
        let ids = ids(&[5, 3, 9, 1], &[1, 2, 3, 4, 5, 9]);
        for theirs in [&[3][..], &[7], &[2, 2], &[9]] {
            let theirs: Vec<Id> = theirs.iter().map(|n| id(*n)).collect();
            let refused = without(&ids, &[id(9), id(1)], &theirs);
            assert_eq!(refused, Err(Misbehaviour::SelfCheckFailed));
        }
    }

    #[test]
    fn every_own_identifier_must_be_among_all() {
        let list = |numbers: &[u8]| numbers.iter().map(|n| id(*n)).collect::<Vec<_>>();
        assert!(are_in(&list(&[2, 4]), &list(&[1, 2, 3, 4])));
        assert!(!are_in(&list(&[2, 5]), &list(&[1, 2, 3, 4])));
        assert!(!are_in(&list(&[2, 2]), &list(&[1, 2, 3, 4])));
    }
}
