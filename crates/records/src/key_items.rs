//! From encoded keys to items.

use crate::encoding::PART_HEADER_LEN;
use crate::key::KeyColumn;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_profiles::Profile;

/// How an encoded key becomes the item that is compared.
#[derive(Clone)]
pub struct KeyItems {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Digests(ItemHash),
    Integers { profile: Profile, first: u128 },
}

impl KeyItems {
    /// Items that are 128-bit digests of keys.
    pub fn digests(hash: ItemHash) -> Self {
        Self { kind: Kind::Digests(hash) }
    }

    /// Items that are the integers of a key of one column, each larger by `first`, the item of the
    /// key 0: [`Item::from_integer`]. `None` unless the column's profile gives integers,
    /// [`Profile::integer_bits`].
    pub fn integers(columns: &[KeyColumn], first: u128) -> Option<Self> {
        let [column] = columns else { return None };
        column.profile.integer_bits()?;
        Some(Self { kind: Kind::Integers { profile: column.profile, first } })
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
