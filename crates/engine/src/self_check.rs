//! Items that both parties add to their sets so that a result checks itself.
//!
//! The fastest engines of the field have silently lost rows. Here each run carries *shared*
//! canaries, known to both parties, which must be in the result, and *own* canaries and padding,
//! random and known to one party alone, which must not. They are random 128-bit items like any
//! other, so an engine that loses or invents a share of the items meets them too: of s shared
//! canaries at least one is lost with probability 1 − (1 − f)^s when a share f of all is. The peer
//! knows the shared ones; this is a check of the machinery, not of the peer.
//!
//! Items of a small domain, integers, have such items beside them in a domain of two bits more.
//!
//! Where the answer is a number, the shared canaries are in it: a count has them in full and has
//! them taken off, a sum counts them in bits of its own, below the values, so that lost and invented
//! ones are seen there. One bit, as whether there are enough, cannot tell.

use crate::agreement::{CheckedValues, IntegerItems};
use rand::Rng;
use std::sync::Arc;
use vesica_core::{Item, Misbehaviour, Role, hash};
use vesica_protocols::Input;

const SHARED_LABEL: &str = "vesica v1 shared canary";

/// A party's set as it enters the protocol, and what must come out of it.
pub(crate) struct CheckedSet {
    items: Arc<Vec<Item>>,
    own_len: usize,
    shared_len: usize,
    values: Option<OwnValues>,
}

/// The values of a set's items.
struct OwnValues {
    values: Arc<Vec<u64>>,
    /// Of the keys alone.
    total: u128,
}

impl CheckedSet {
    /// `items`, then `canaries` shared and `canaries` own ones, then random padding until
    /// `padded_len` items and padding together are reached.
    ///
    /// `None` when the memory cannot be had. `secret` is known to both parties of the session and to nobody else.
    pub(crate) fn new(
        mut items: Vec<Item>,
        canaries: usize,
        padded_len: usize,
        secret: &[u8; 32],
        rng: &mut impl Rng,
    ) -> Option<Self> {
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        items.try_reserve_exact(2 * canaries + padding).ok()?;
        for i in 0..canaries as u64 {
            let digest = hash::derive(SHARED_LABEL, &[secret, &i.to_le_bytes()]);
            items.push(truncate(&digest));
        }
        for _ in 0..canaries + padding {
            let mut bytes = [0; Item::LEN];
            rng.fill_bytes(&mut bytes);
            items.push(Item::from_bytes(bytes));
        }
        Some(Self { items: Arc::new(items), own_len, shared_len: canaries, values: None })
    }

    /// The same for items that are integers: in place of random items there are numbers that no key
    /// and no other kind of item has. They are no secret, and need not be between parties that follow
    /// the protocol: each can only match its like.
    pub(crate) fn of_integers(
        mut items: Vec<Item>,
        canaries: usize,
        padded_len: usize,
        integers: IntegerItems,
        role: Role,
    ) -> Option<Self> {
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        items.try_reserve_exact(2 * canaries + padding).ok()?;
        items.extend((0..canaries as u64).map(|i| integers.shared(i)));
        items.extend((0..(canaries + padding) as u64).map(|i| integers.own(role, i)));
        Some(Self { items: Arc::new(items), own_len, shared_len: canaries, values: None })
    }

    /// The same with the `values` of its keys; canaries and padding get theirs of `checked`.
    ///
    /// `None` when the memory cannot be had.
    pub(crate) fn with_values(
        mut self,
        mut values: Vec<u64>,
        checked: CheckedValues,
    ) -> Option<Self> {
        let total = values.iter().map(|value| u128::from(*value)).sum();
        values.iter_mut().for_each(|value| *value = checked.of_key(*value));
        values.try_reserve_exact(self.items.len().saturating_sub(values.len())).ok()?;
        values.resize(self.own_len + self.shared_len, checked.of_shared());
        values.resize(self.items.len(), checked.of_own());
        self.values = Some(OwnValues { values: Arc::new(values), total });
        Some(self)
    }

    /// What enters the protocol.
    pub(crate) fn input(&self) -> Input {
        let items = Arc::clone(&self.items);
        match &self.values {
            Some(own) => Input::with_values(items, Arc::clone(&own.values)),
            None => items.into(),
        }
    }

    /// What the values of all own keys add up to, where there are values.
    pub(crate) fn total(&self) -> Option<u128> {
        self.values.as_ref().map(|own| own.total)
    }

    /// Checks the canaries among `positions` and counts the others, this party's own matches.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] when a shared canary is missing from `positions` or
    /// something that only this party knows is among them.
    pub(crate) fn check(&self, positions: &[usize]) -> Result<u64, Misbehaviour> {
        let shared = self.own_len..self.own_len + self.shared_len;
        let found = positions.iter().filter(|position| shared.contains(position)).count();
        let stray = positions.iter().any(|position| *position >= shared.end);
        let ascending = positions.is_sorted_by(|a, b| a < b);
        if found != self.shared_len || stray || !ascending {
            return Err(Misbehaviour::SelfCheckFailed);
        }
        Ok((positions.len() - found) as u64)
    }

    /// How many of `positions` are of this party's own keys.
    pub(crate) fn count_own(&self, positions: &[usize]) -> u64 {
        positions.iter().filter(|position| **position < self.own_len).count() as u64
    }

    /// The matched items of this party's own, canaries and padding left out.
    pub(crate) fn own_items(&self, positions: &[usize]) -> Vec<Item> {
        let own = positions.iter().filter(|position| **position < self.own_len);
        own.map(|position| self.items[*position]).collect()
    }
}

fn truncate(digest: &[u8; 32]) -> Item {
    let mut bytes = [0; Item::LEN];
    bytes.copy_from_slice(&digest[..Item::LEN]);
    Item::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    fn set(padded_len: usize) -> CheckedSet {
        let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
        CheckedSet::new(items, 3, padded_len, &[7; 32], &mut StdRng::seed_from_u64(1)).unwrap()
    }

    #[test]
    fn canaries_and_padding_are_added() {
        assert_eq!(set(0).input().into_items().len(), 5 + 6);
        assert_eq!(set(20).input().into_items().len(), 20 + 6);
    }

    #[test]
    fn both_parties_have_the_same_shared_canaries_and_no_others() {
        let (one, two) = (set(0), {
            let items = vec![Item::from_bytes([99; 16])];
            CheckedSet::new(items, 3, 0, &[7; 32], &mut StdRng::seed_from_u64(2)).unwrap()
        });
        assert_eq!(one.input().into_items()[5..8], two.input().into_items()[1..4]);
        assert!(
            one.input().into_items()[8..]
                .iter()
                .all(|item| !two.input().into_items().contains(item))
        );
    }

    #[test]
    fn integers_of_different_kinds_never_meet() {
        let integers = IntegerItems::new(8, 34);
        let key = |number| Item::from_integer(integers.key_mark() | number);
        let keys: Vec<Item> = [0, 5, 255].map(key).to_vec();
        let of = |role| CheckedSet::of_integers(keys.clone(), 4, 30, integers, role).unwrap();
        let (sender, receiver) =
            (of(Role::Sender).input().into_items(), of(Role::Receiver).input().into_items());
        assert_eq!(sender.len(), 30 + 8);
        let common = sender.iter().filter(|item| receiver.contains(item)).count();
        assert_eq!(common, 3 + 4);
        for items in [sender, receiver] {
            assert!(items.iter().all(|item| item.integer() >> integers.item_bits() == 0));
            assert!(items.iter().all(|item| item.integer() != 0), "zero is kept for protocols");
            let mut distinct = items.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), items.len());
        }
    }

    #[test]
    fn every_item_has_a_value_and_only_keys_count_in_the_total() {
        let checked = CheckedValues::new(3);
        let set = set(20).with_values(vec![1, 2, 3, 4, 5], checked).unwrap();
        let input = set.input();
        let values = input.values().unwrap();
        assert_eq!(values.len(), input.items().len());
        assert_eq!(values[..5], [1, 2, 3, 4, 5].map(|value| checked.of_key(value)));
        assert_eq!(values[5..8], [1; 3]);
        assert!(values[8..].iter().all(|value| *value == 4));
        assert_eq!(set.total(), Some(15));
        assert_eq!(self::set(20).total(), None);
    }

    #[test]
    fn a_right_result_passes_without_its_canaries() {
        assert_eq!(set(20).check(&[1, 3, 5, 6, 7]), Ok(2));
        let items = set(20).own_items(&[1, 3, 5, 6, 7]);
        assert_eq!(items, [Item::from_bytes([1; 16]), Item::from_bytes([3; 16])]);
        assert_eq!(set(0).check(&[5, 6, 7]), Ok(0));
        assert_eq!(set(0).own_items(&[5, 6, 7]), []);
    }

    #[test]
    fn a_lost_canary_is_found_out() {
        assert_eq!(set(0).check(&[1, 3, 5, 7]), Err(Misbehaviour::SelfCheckFailed));
        assert_eq!(set(0).check(&[]), Err(Misbehaviour::SelfCheckFailed));
    }

    #[test]
    fn a_false_match_is_found_out() {
        assert_eq!(set(0).check(&[1, 5, 6, 7, 8]), Err(Misbehaviour::SelfCheckFailed));
        assert_eq!(set(20).check(&[5, 6, 7, 25]), Err(Misbehaviour::SelfCheckFailed));
        assert_eq!(set(0).check(&[1, 1, 5, 6, 7]), Err(Misbehaviour::SelfCheckFailed));
    }
}
