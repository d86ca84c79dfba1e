//! Items that both parties add to their sets so that a result checks itself.
//!
//! The fastest engines of the field have silently lost rows. So each run carries *shared*
//! self-check items, known to both parties, which must be in the result. If the agreement permits
//! protocols against semi-honest parties, a set also has *own* self-check items and padding, random
//! and known to one party only, which must not be in the result. All are random 128-bit items like
//! any other, so an engine that loses or invents some of the items affects them too: if a share f
//! of all items is lost, at least one of s shared ones is lost with probability 1 − (1 − f)^s. The
//! peer knows the shared ones: this is a check of the machinery, not of the peer.
//!
//! A party that deviates could enter guesses instead of self-check items. So a protocol against
//! such parties makes sure that the peer's set holds the shared ones, and sets have no own ones.
//!
//! If items are integers of a small domain, their self-check items follow the domain: it is
//! enlarged by as many numbers.
//!
//! If the answer is a number, the shared self-check items are part of it. A count includes them,
//! and they are subtracted; a sum counts them in separate bits below the values, or in a separate
//! column, so that it shows lost and invented ones. In an inner product they work the same way,
//! since the factor they are multiplied with is 1. A single bit, such as whether there are enough
//! matches, cannot reveal a loss. In a union, self-check items and padding have marked texts; of an
//! identifier, the party that added its item knows that it is a self-check item. Shares hold none:
//! no party could tell them from keys.

use super::texts::{self, Mark};
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;
use vesica_agreement::{CheckedValues, IntegerItems};
use vesica_core::{Item, Misbehaviour, Role, hash};
use vesica_heap::may_fail;
use vesica_protocols::Input;
use vesica_records::KeyTexts;

const SHARED_LABEL: &str = "vesica v1 shared self-check item";

/// A party's set as it enters the protocol, with the checks of its result.
pub struct CheckedSet {
    items: Arc<Vec<Item>>,
    own_len: usize,
    shared_len: usize,
    own_check_items: usize,
    values: Option<OwnValues>,
    keys: Option<KeyTexts>,
    texts: Option<Arc<Vec<u8>>>,
}

/// The values of a set's items.
struct OwnValues {
    values: Arc<Vec<u64>>,
    /// The least and the largest sum of any keys, in each column.
    reach: Vec<(i128, i128)>,
}

impl CheckedSet {
    /// A set with as many own self-check items as shared ones.
    #[cfg(test)]
    pub fn new(
        items: Vec<Item>,
        check_items: usize,
        padded_len: usize,
        secret: &[u8; 32],
        rng: &mut impl Rng,
    ) -> Option<Self> {
        Self::with_check_items(items, [check_items; 2], padded_len, secret, rng)
    }

    /// `items`, then `check_items` shared and `own_check_items` own self-check items, then random
    /// padding until items and padding together are `padded_len`.
    ///
    /// `None` if there is not enough memory. Only the two parties of the session know `secret`.
    pub fn with_check_items(
        mut items: Vec<Item>,
        [check_items, own_check_items]: [usize; 2],
        padded_len: usize,
        secret: &[u8; 32],
        rng: &mut impl Rng,
    ) -> Option<Self> {
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        may_fail(|| items.try_reserve_exact(check_items + own_check_items + padding)).ok()?;
        items.extend(shared_items(secret, check_items));
        push_random(&mut items, own_check_items + padding, rng);
        Some(Self::of(items, own_len, [check_items, own_check_items]))
    }

    /// The items of one partition: `items`, then the `shared` self-check items that are in it, then
    /// random ones until there are `len` in all.
    ///
    /// `None` if there is not enough memory.
    pub fn of_partition(
        mut items: Vec<Item>,
        shared: &[Item],
        len: usize,
        rng: &mut impl Rng,
    ) -> Option<Self> {
        let own_len = items.len();
        may_fail(|| items.try_reserve_exact(len.saturating_sub(own_len))).ok()?;
        items.extend_from_slice(shared);
        let padding = len.saturating_sub(items.len());
        push_random(&mut items, padding, rng);
        Some(Self::of(items, own_len, [shared.len(), padding]))
    }

    fn of(items: Vec<Item>, own_len: usize, [shared_len, own_check_items]: [usize; 2]) -> Self {
        let items = Arc::new(items);
        Self { items, own_len, shared_len, own_check_items, values: None, keys: None, texts: None }
    }

    /// The input of one partition's run: the items at these `positions`, with their values and
    /// texts. Those at `shared` among them are shared self-check items.
    ///
    /// `None` if there is not enough memory.
    pub fn part(&self, positions: &[usize], shared: Range<usize>) -> Option<Input> {
        let items = Arc::new(chosen(&self.items, 1, positions)?);
        let each = |all: usize| all / self.items.len().max(1);
        let input = match (&self.values, &self.texts) {
            (Some(OwnValues { values, .. }), _) => {
                let values = chosen(values, each(values.len()), positions)?;
                Input::with_values(items, Arc::new(values))
            }
            (None, Some(texts)) => {
                let texts = chosen(texts, each(texts.len()), positions)?;
                Input::with_texts(items, Arc::new(texts))
            }
            (None, None) => items.into(),
        };
        Some(input.with_shared(shared))
    }

    /// A set of integers. Numbers that no key and no other kind of item has replace the random
    /// items. They are not secret, and need not be: between parties that follow the protocol, each
    /// can only match an equal item, and where a party may deviate there is no padding among them.
    pub fn of_integers(
        mut items: Vec<Item>,
        [check_items, own_check_items]: [usize; 2],
        padded_len: usize,
        integers: IntegerItems,
        role: Role,
    ) -> Option<Self> {
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        may_fail(|| items.try_reserve_exact(check_items + own_check_items + padding)).ok()?;
        items.extend((0..check_items as u64).map(|i| integers.shared(i)));
        let own = (own_check_items + padding) as u64;
        items.extend((0..own).map(|i| integers.own(role, i)));
        Some(Self::of(items, own_len, [check_items, own_check_items]))
    }

    /// Adds the `values` of the keys; self-check items and padding get those of `checked`.
    ///
    /// `None` if there is not enough memory.
    pub fn with_values(mut self, values: Vec<u64>, checked: CheckedValues) -> Option<Self> {
        let reach = checked.reach(&values);
        let others = self.items.len() - self.own_len;
        let mut values = checked.of_keys(values, others)?;
        checked.extend(&mut values, self.shared_len, others - self.shared_len);
        self.values = Some(OwnValues { values: Arc::new(values), reach });
        Some(self)
    }

    /// Adds the texts of the `keys`. If all items have `texts` of some length in bytes, self-check
    /// items and padding get marked texts of the party in the given role.
    ///
    /// `None` if there is not enough memory.
    pub fn with_keys(mut self, keys: KeyTexts, texts: Option<(usize, Role)>) -> Option<Self> {
        if let Some((len, role)) = texts {
            let mut texts = Vec::new();
            let room = len.checked_mul(self.items.len())?;
            may_fail(|| texts.try_reserve_exact(room)).ok()?;
            keys.iter().for_each(|key| texts::push_key(&mut texts, key, len));
            let padding = self.items.len() - self.own_len - self.shared_len - self.own_check_items;
            for (mark, count) in [
                (Mark::Shared, self.shared_len),
                (Mark::Own(role), self.own_check_items),
                (Mark::Padding(role), padding),
            ] {
                (0..count).for_each(|_| texts::push_mark(&mut texts, mark, len));
            }
            self.texts = Some(Arc::new(texts));
        }
        self.keys = Some(keys);
        Some(self)
    }

    /// The input of the protocol.
    pub fn input(&self) -> Input {
        let items = Arc::clone(&self.items);
        let input = match (&self.values, &self.texts) {
            (Some(own), _) => Input::with_values(items, Arc::clone(&own.values)),
            (None, Some(texts)) => Input::with_texts(items, Arc::clone(texts)),
            (None, None) => items.into(),
        };
        let [shared, _] = self.check_items();
        input.with_shared(shared)
    }

    /// The least and the largest sum of the values of any own keys, in each column, if there are
    /// values.
    pub fn reach(&self) -> Option<&[(i128, i128)]> {
        self.values.as_ref().map(|own| &own.reach[..])
    }

    /// The texts of its keys, if they were requested.
    pub fn keys(&self) -> Option<&KeyTexts> {
        self.keys.as_ref()
    }

    /// All items: keys, self-check items and padding.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// How many items it has, including self-check items and padding.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many keys it has.
    pub fn own_len(&self) -> usize {
        self.own_len
    }

    /// The positions of the shared self-check items, and of this party's own.
    pub fn check_items(&self) -> [Range<usize>; 2] {
        let shared = self.own_len + self.shared_len;
        [self.own_len..shared, shared..shared + self.own_check_items]
    }

    /// Checks the self-check items among `positions` and counts the others, this party's own
    /// matches.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] if a shared self-check item is missing from `positions`,
    /// or an item that only this party knows is among them.
    pub fn check(&self, positions: &[usize]) -> Result<u64, Misbehaviour> {
        let shared = self.own_len..self.own_len + self.shared_len;
        let found = positions.iter().filter(|position| shared.contains(position)).count();
        let stray = positions.iter().any(|position| *position >= shared.end);
        let ascending = positions.is_sorted_by(|a, b| a < b);
        if found != self.shared_len || stray || !ascending {
            return Err(Misbehaviour::SelfCheckFailed);
        }
        Ok((positions.len() - found) as u64)
    }

    /// How many of `positions` are keys of this party.
    pub fn count_own(&self, positions: &[usize]) -> u64 {
        positions.iter().filter(|position| **position < self.own_len).count() as u64
    }

    /// This party's matched items, without self-check items and padding.
    pub fn own_items(&self, positions: &[usize]) -> Vec<Item> {
        let own = positions.iter().filter(|position| **position < self.own_len);
        own.map(|position| self.items[*position]).collect()
    }
}

/// The shared self-check items, from the `secret` of the session.
pub fn shared_items(secret: &[u8; 32], count: usize) -> Vec<Item> {
    let item = |i: u64| {
        let mut bytes = [0; Item::LEN];
        let digest = hash::derive(SHARED_LABEL, &[secret, &i.to_le_bytes()]);
        bytes.copy_from_slice(&digest[..Item::LEN]);
        Item::from_bytes(bytes)
    };
    (0..count as u64).map(item).collect()
}

/// The rows of `table` at these `positions`, each of `width` entries; `None` if there is not enough
/// memory.
fn chosen<T: Copy>(table: &[T], width: usize, positions: &[usize]) -> Option<Vec<T>> {
    let mut rows = Vec::new();
    may_fail(|| rows.try_reserve_exact(positions.len() * width)).ok()?;
    for position in positions {
        rows.extend_from_slice(&table[position * width..][..width]);
    }
    Some(rows)
}

fn push_random(items: &mut Vec<Item>, count: usize, rng: &mut impl Rng) {
    items.extend((0..count).map(|_| {
        let mut bytes = [0; Item::LEN];
        rng.fill_bytes(&mut bytes);
        Item::from_bytes(bytes)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use vesica_agreement::ValueTerms;

    fn set(padded_len: usize) -> CheckedSet {
        let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
        CheckedSet::new(items, 3, padded_len, &[7; 32], &mut StdRng::seed_from_u64(1)).unwrap()
    }

    #[test]
    fn check_items_and_padding_are_added() {
        assert_eq!(set(0).input().into_items().len(), 5 + 6);
        assert_eq!(set(20).input().into_items().len(), 20 + 6);
    }

    #[test]
    fn both_parties_have_the_same_shared_check_items_and_no_others() {
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
    fn a_set_without_own_check_items_has_padding_behind_the_shared_ones() {
        let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
        let rng = &mut StdRng::seed_from_u64(1);
        let set = CheckedSet::with_check_items(items, [3, 0], 9, &[7; 32], rng).unwrap();
        assert_eq!((set.len(), set.check_items()), (5 + 3 + 4, [5..8, 8..8]));
        assert_eq!(set.input().shared(), 5..8);
        assert_eq!(set.check(&[1, 5, 6, 7]), Ok(1));
        assert_eq!(set.check(&[1, 5, 6, 7, 8]), Err(Misbehaviour::SelfCheckFailed));
    }

    #[test]
    fn integers_of_different_kinds_never_meet() {
        let integers = IntegerItems::new(8, 4, 34);
        let key = |number| Item::from_integer(integers.first_key() + number);
        let keys: Vec<Item> = [0, 5, 255].map(key).to_vec();
        let of = |role| CheckedSet::of_integers(keys.clone(), [4; 2], 30, integers, role).unwrap();
        let (sender, receiver) =
            (of(Role::Sender).input().into_items(), of(Role::Receiver).input().into_items());
        assert_eq!(sender.len(), 30 + 8);
        let common = sender.iter().filter(|item| receiver.contains(item)).count();
        assert_eq!(common, 3 + 4);
        for items in [sender, receiver] {
            assert!(items.iter().all(|item| item.integer() <= integers.largest()));
            assert!(items.iter().all(|item| item.integer() != 0), "zero is kept for protocols");
            let mut distinct = items.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), items.len());
        }
    }

    #[test]
    fn every_item_has_values_and_only_keys_are_in_their_reach() {
        let checked = |columns, bits| {
            let (of, duplicates) = ("a".to_owned(), vesica_records::Duplicates::Sum);
            let columns = (0..columns).map(|i: u32| i.to_string()).collect();
            CheckedValues::new(
                3,
                &ValueTerms { of, columns, groups: None, bits, signed: false, duplicates },
            )
        };
        let own = vec![1, 2, 3, 4, 5];
        let set = set(20).with_values(own.clone(), checked(1, 8)).unwrap();
        let values = set.input().values().unwrap().to_vec();
        assert_eq!(values[..5], own.iter().map(|v| v << 4).collect::<Vec<u64>>());
        assert_eq!((values.len(), &values[5..8]), (set.items.len(), &[1; 3][..]));
        assert!(values[8..].iter().all(|value| *value == 4));
        assert_eq!(set.reach(), Some(&[(0, 15)][..]));
        let set = self::set(20).with_values((0..10).collect(), checked(2, 8)).unwrap();
        let values = set.input().values().unwrap().to_vec();
        assert_eq!(values[..6], [0, 1, 0, 2, 3, 0]);
        assert_eq!((values.len(), &values[15..18]), (3 * set.items.len(), &[0, 0, 1][..]));
        assert_eq!(set.reach(), Some(&[(0, 20), (0, 25)][..]));
        assert_eq!(self::set(20).reach(), None);
    }

    #[test]
    fn every_item_has_a_text_and_those_of_no_keys_are_marked() {
        let mut keys = KeyTexts::default();
        ["a", "bb", "ccc", "d", "e"].iter().for_each(|key| keys.push(key.as_bytes()));
        let set = set(9).with_keys(keys, Some((6, Role::Sender))).unwrap();
        let texts = set.input().texts().unwrap().to_vec();
        assert_eq!(texts.len(), 6 * set.len());
        assert_eq!(texts[6..12], *b"\x02\x00bb\x00\x00");
        let marks: Vec<u8> = texts[30..].chunks(6).map(|text| text[2]).collect();
        assert_eq!(marks, [0, 0, 0, 1, 1, 1, 3, 3, 3, 3]);
    }

    #[test]
    fn a_right_result_passes_without_its_check_items() {
        assert_eq!(set(20).check(&[1, 3, 5, 6, 7]), Ok(2));
        let items = set(20).own_items(&[1, 3, 5, 6, 7]);
        assert_eq!(items, [Item::from_bytes([1; 16]), Item::from_bytes([3; 16])]);
        assert_eq!(set(0).check(&[5, 6, 7]), Ok(0));
        assert_eq!(set(0).own_items(&[5, 6, 7]), []);
    }

    #[test]
    fn a_lost_check_item_is_found_out() {
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
