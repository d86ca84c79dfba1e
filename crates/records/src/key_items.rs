//! From a row's encoded keys to items.

use crate::encoding::PART_HEADER_LEN;
use crate::key::KeyColumn;
use crate::rule::KeyRule;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_profiles::Profile;

/// Represents a row without a usable key. A digest equals it with probability 2^-128.
pub const NO_ITEM: Item = Item::from_bytes([0; Item::LEN]);

/// Which items a row has, and how an encoded key becomes one.
#[derive(Clone)]
pub struct KeyItems {
    kind: Kind,
    /// Empty: one key of all columns.
    rules: Vec<KeyRule>,
}

#[derive(Clone)]
enum Kind {
    Digests(ItemHash),
    Integers { profile: Profile, first: u128 },
}

impl KeyItems {
    /// Items that are 128-bit digests of keys.
    pub fn digests(hash: ItemHash) -> Self {
        Self { kind: Kind::Digests(hash), rules: Vec::new() }
    }

    /// Items that are 128-bit digests of keys, up to [`KeyRule::most`] for each of `rules`. The key
    /// begins with the number of its rule, so that keys under different rules never match.
    pub fn under_rules(hash: ItemHash, rules: Vec<KeyRule>) -> Self {
        Self { kind: Kind::Digests(hash), rules }
    }

    /// Items that are the integers of a key of one column, each larger by `first`, the item of the
    /// key 0: [`Item::from_integer`]. `None` unless the column's profile gives integers,
    /// [`Profile::integer_bits`].
    pub fn integers(columns: &[KeyColumn], first: u128) -> Option<Self> {
        let [column] = columns else { return None };
        column.profile.integer_bits()?;
        let kind = Kind::Integers { profile: column.profile, first };
        Some(Self { kind, rules: Vec::new() })
    }

    /// The rules; none if there is one key of all columns.
    pub(crate) fn rules(&self) -> &[KeyRule] {
        &self.rules
    }

    /// How many items a row can have.
    pub fn items_per_row(&self) -> usize {
        self.rules.iter().map(|rule| rule.most).sum::<usize>().max(1)
    }

    /// The item of an encoded key.
    #[inline]
    pub fn item(&self, encoded: &[u8]) -> Item {
        match &self.kind {
            Kind::Digests(hash) => hash.item(encoded),
            Kind::Integers { profile, first } => {
                let value = encoded.get(PART_HEADER_LEN..).unwrap_or_default();
                Item::from_integer(first + u128::from(profile.integer(value)))
            }
        }
    }

    /// The items of a batch, as [`ItemHash::items`] takes them.
    #[inline]
    pub(crate) fn items(
        &self,
        keys: &[[u8; ItemHash::BATCH_KEY_LEN]; ItemHash::BATCH],
        lens: &[u8; ItemHash::BATCH],
    ) -> [Item; ItemHash::BATCH] {
        match &self.kind {
            Kind::Digests(hash) => hash.items(keys, lens),
            Kind::Integers { .. } => {
                std::array::from_fn(|i| self.item(&keys[i][..usize::from(lens[i])]))
            }
        }
    }
}
