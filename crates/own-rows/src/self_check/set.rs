//! Self-check items, which both parties add to their sets so that a result checks itself.
//!
//! The fastest engines of the field have silently lost rows. So each run carries *shared*
//! self-check items, known to both parties, which must be in the result. If the agreement permits
//! protocols against semi-honest parties, a set also has *own* self-check items and padding, random
//! and known to one party only, which must not be in the result. All are random 128-bit items like
//! any other, so an engine that loses or invents some of the items affects them too: if a share f
//! of all items is lost, at least one of s shared ones is lost with probability 1 − (1 − f)^s. The
//! peer knows the shared self-check items: they check the machinery, not the peer.
//!
//! A party that deviates could enter guesses instead of self-check items. So a protocol against
//! such parties makes sure that the peer's set holds the shared self-check items, and sets have no
//! own self-check items.
//!
//! If items are integers of a small domain, the domain is enlarged by one number for each item that
//! is not a key.
//!
//! If the answer is a number, the shared self-check items are part of it. A count includes them,
//! and the party subtracts them. A sum counts them in separate bits below the values, or in a
//! separate column, so that the party notices if some were lost or invented. An inner product
//! counts them in the same way, since it multiplies them by 1. A single bit, such as whether there
//! are enough matches, cannot reveal a loss. In a union, self-check items and padding have texts
//! with a mark. If the result is identifiers, the party that added an item knows whether its
//! identifier is of a self-check item. Secret shares hold no self-check items: no party could tell
//! their shares from those of keys.

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

/// What is added to the keys of a set.
#[derive(Clone, Copy, Debug)]
pub struct Additions {
    /// Number of self-check items that both parties know.
    pub shared: usize,
    /// Number of self-check items that this party alone knows.
    pub own: usize,
    /// The number of keys and padding items together, if there are fewer keys; 0 for no padding.
    pub padded_len: usize,
}

/// How the texts of a party's set are made.
#[derive(Clone, Copy, Debug)]
pub struct TextForm {
    /// Length of every text in bytes.
    pub len: usize,
    /// The party's role, which marks self-check items and padding as its own.
    pub role: Role,
}

/// A party's set as it enters the protocol, with the checks of its result.
pub struct CheckedSet {
    items: Arc<Vec<Item>>,
    own_len: usize,
    shared_len: usize,
    own_check_items: usize,
    values: Option<OwnValues>,
    keys: Option<KeyTexts>,
    texts: Option<Arc<Vec<u8>>>,
    payloads: Option<Arc<Vec<u8>>>,
}

/// The values of a set's items.
struct OwnValues {
    values: Arc<Vec<u64>>,
    /// The least and the largest sum of any keys, in each column.
    reach: Vec<(i128, i128)>,
}

impl CheckedSet {
    /// `items`, then the shared and the own self-check items, then random padding.
    ///
    /// `None` if there is not enough memory. Only the two parties of the session know `secret`.
    pub fn with_check_items(
        mut items: Vec<Item>,
        additions: Additions,
        secret: &[u8; 32],
        rng: &mut impl Rng,
    ) -> Option<Self> {
        let Additions { shared, own, padded_len } = additions;
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        may_fail(|| items.try_reserve_exact(shared + own + padding)).ok()?;
        items.extend(shared_items(secret, shared));
        push_random(&mut items, own + padding, rng);
        Some(Self::of(items, own_len, shared, own))
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
        Some(Self::of(items, own_len, shared.len(), padding))
    }

    fn of(items: Vec<Item>, own_len: usize, shared_len: usize, own_check_items: usize) -> Self {
        let items = Arc::new(items);
        Self {
            items,
            own_len,
            shared_len,
            own_check_items,
            values: None,
            keys: None,
            texts: None,
            payloads: None,
        }
    }

    /// The input of one partition's run: the items at these `positions`, with their values and
    /// texts. The range `shared` of `positions` has the shared self-check items.
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

    /// A set of integers. In place of random items it has numbers that no key and no other kind of
    /// item has. These numbers need not be secret: between parties that follow the protocol, each
    /// can only match an equal item, and if a party may deviate, the set has no padding.
    pub fn of_integers(
        mut items: Vec<Item>,
        additions: Additions,
        integers: IntegerItems,
        role: Role,
    ) -> Option<Self> {
        let Additions { shared, own, padded_len } = additions;
        let own_len = items.len();
        let padding = padded_len.saturating_sub(own_len);
        may_fail(|| items.try_reserve_exact(shared + own + padding)).ok()?;
        items.extend((0..shared as u64).map(|i| integers.shared(i)));
        items.extend((0..(own + padding) as u64).map(|i| integers.own(role, i)));
        Some(Self::of(items, own_len, shared, own))
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

    /// Adds the texts of the `keys`. If all items have `texts`, self-check items and padding get
    /// texts with a mark.
    ///
    /// `None` if there is not enough memory.
    pub fn with_keys(mut self, keys: KeyTexts, texts: Option<TextForm>) -> Option<Self> {
        if let Some(TextForm { len, role }) = texts {
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

    /// Adds the `payloads` of the keys, each of `len` bytes; those of self-check items and padding
    /// are zeros.
    ///
    /// `None` if there is not enough memory.
    pub fn with_payloads(mut self, mut payloads: Vec<u8>, len: usize) -> Option<Self> {
        let room = len.checked_mul(self.items.len())?;
        may_fail(|| payloads.try_reserve_exact(room.saturating_sub(payloads.len()))).ok()?;
        payloads.resize(room, 0);
        self.payloads = Some(Arc::new(payloads));
        Some(self)
    }

    /// The input of the protocol.
    pub fn input(&self) -> Input {
        let items = Arc::clone(&self.items);
        let input = match (&self.values, &self.texts, &self.payloads) {
            (Some(own), ..) => Input::with_values(items, Arc::clone(&own.values)),
            (None, Some(texts), _) => Input::with_texts(items, Arc::clone(texts)),
            (None, None, Some(payloads)) => Input::with_payloads(items, Arc::clone(payloads)),
            (None, None, None) => items.into(),
        };
        let [shared, _] = self.check_items();
        input.with_shared(shared)
    }

    /// The least and the largest sum of the values of any own keys, in each column, if there are
    /// values.
    pub fn reach(&self) -> Option<&[(i128, i128)]> {
        self.values.as_ref().map(|own| &own.reach[..])
    }

    /// The texts of this party's keys; `None` if they were not added.
    pub fn keys(&self) -> Option<&KeyTexts> {
        self.keys.as_ref()
    }

    /// All items: keys, self-check items and padding.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The keys alone.
    pub fn into_keys(self) -> Vec<Item> {
        let mut items = Arc::unwrap_or_clone(self.items);
        items.truncate(self.own_len);
        items
    }

    /// How many items it has, including self-check items and padding.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the set has no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many of the items are of this party's keys; the others are self-check items and padding.
    pub fn own_len(&self) -> usize {
        self.own_len
    }

    /// The positions of the shared self-check items, and of this party's own.
    pub fn check_items(&self) -> [Range<usize>; 2] {
        let shared = self.own_len + self.shared_len;
        [self.own_len..shared, shared..shared + self.own_check_items]
    }

    /// Checks the self-check items among `positions`, which the protocol found common, and counts
    /// the common keys.
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
mod tests;
