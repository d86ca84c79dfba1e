//! Labelled hashing: all digests and derived keys of Vesica come from this module.
//!
//! The label is a constant of the calling file and enters through BLAKE3's key-derivation mode, so
//! that two uses never collide. Variable-length inputs are length-prefixed, so the encoding is
//! injective.

use crate::Item;
use vesica_simd::short_hash::{self, keyed_hash_16};

/// Derives 32 bytes from `parts` under `label`.
///
/// `BLAKE3-derive-key(label, len(p_1) ‖ p_1 ‖ len(p_2) ‖ p_2 ‖ …)` with 64-bit little-endian
/// lengths.
pub fn derive(label: &'static str, parts: &[&[u8]]) -> [u8; 32] {
    *absorb(label, parts).finalize().as_bytes()
}

/// Fills `out` from `parts` under `label`: [`derive()`] with any output length.
pub fn derive_into(label: &'static str, parts: &[&[u8]], out: &mut [u8]) {
    absorb(label, parts).finalize_xof().fill(out);
}

fn absorb(label: &'static str, parts: &[&[u8]]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key(label);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher
}

/// A digest of bytes that arrive in pieces; it does not depend on how they are split.
///
/// `BLAKE3-derive-key(label, len(p_1) ‖ p_1 ‖ … ‖ bytes ‖ len(bytes))`: injective for a fixed
/// number of parts, which the label determines.
#[derive(Clone)]
pub struct Transcript {
    hasher: blake3::Hasher,
    len: u64,
}

impl Transcript {
    /// An empty transcript under `label`, for `parts`.
    pub fn new(label: &'static str, parts: &[&[u8]]) -> Self {
        Self { hasher: absorb(label, parts), len: 0 }
    }

    /// Appends `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.len += bytes.len() as u64;
    }

    /// The digest of all bytes so far.
    pub fn finish(mut self) -> [u8; 32] {
        self.hasher.update(&self.len.to_le_bytes());
        *self.hasher.finalize().as_bytes()
    }
}

/// A keyed hash to items: `BLAKE3-keyed(key, bytes)` truncated to 128 bits.
///
/// Cost: one compression (about 70 ns) for inputs up to 64 bytes; much less per key in a batch, see
/// [`ItemHash::items`].
#[derive(Clone)]
pub struct ItemHash {
    key: [u8; 32],
}

impl ItemHash {
    /// Number of keys per batch.
    pub const BATCH: usize = short_hash::INPUTS;

    /// Longest key in a batch, in bytes.
    pub const BATCH_KEY_LEN: usize = short_hash::BLOCK_LEN;

    /// The hash under the key that [`derive()`] derives from `label` and `parts`.
    pub fn new(label: &'static str, parts: &[&[u8]]) -> Self {
        Self { key: derive(label, parts) }
    }

    /// The item of a key that is already encoded injectively.
    #[inline]
    pub fn item(&self, encoded: &[u8]) -> Item {
        let digest = blake3::keyed_hash(&self.key, encoded);
        let mut bytes = [0; Item::LEN];
        bytes.copy_from_slice(&digest.as_bytes()[..Item::LEN]);
        Item::from_bytes(bytes)
    }

    /// The [`item`](ItemHash::item) of each `keys[i][..lens[i]]`; several times faster than one by
    /// one if the processor has wide vectors.
    ///
    /// The bytes after a key in its array are ignored.
    ///
    /// # Panics
    /// If a length is above [`ItemHash::BATCH_KEY_LEN`].
    #[inline]
    pub fn items(
        &self,
        keys: &[[u8; Self::BATCH_KEY_LEN]; Self::BATCH],
        lens: &[u8; Self::BATCH],
    ) -> [Item; Self::BATCH] {
        let digests = keyed_hash_16(&self.key, keys, lens);
        // A loop, since `map` of an array remains calls.
        let mut items = [Item::default(); Self::BATCH];
        for (item, digest) in items.iter_mut().zip(&digests) {
            *item = Item::from_bytes(*digest);
        }
        items
    }
}

/// `bytes` in hexadecimal: two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_length_prefixed() {
        assert_ne!(derive("t", &[b"ab", b"c"]), derive("t", &[b"a", b"bc"]));
    }

    #[test]
    fn different_labels_give_different_digests() {
        assert_ne!(derive("one", &[b"x"]), derive("two", &[b"x"]));
    }

    #[test]
    fn derive_is_the_prefix_of_derive_into() {
        let mut long = [0; 80];
        derive_into("t", &[b"x"], &mut long);
        assert_eq!(long[..32], derive("t", &[b"x"]));
    }

    #[test]
    fn a_transcript_depends_on_label_parts_and_bytes_but_not_on_the_split() {
        let digest = |label, part: &[u8], pieces: &[&[u8]]| {
            let mut transcript = Transcript::new(label, &[part]);
            pieces.iter().for_each(|piece| transcript.update(piece));
            transcript.finish()
        };
        let expected = digest("t", b"part", &[b"abc"]);
        assert_eq!(digest("t", b"part", &[b"a", b"", b"bc"]), expected);
        for other in [
            digest("u", b"part", &[b"abc"]),
            digest("t", b"par", &[b"tabc"]),
            digest("t", b"part", &[b"ab"]),
            digest("t", b"part", &[b"abc", &[0]]),
        ] {
            assert_ne!(other, expected);
        }
    }

    #[test]
    fn item_hash_depends_on_key_and_input() {
        let one = ItemHash::new("t", &[b"1"]);
        let two = ItemHash::new("t", &[b"2"]);
        assert_eq!(one.item(b"x"), one.clone().item(b"x"));
        assert_ne!(one.item(b"x"), two.item(b"x"));
        assert_ne!(one.item(b"x"), one.item(b"y"));
    }

    #[test]
    fn a_batch_returns_the_items_of_its_keys() {
        let hash = ItemHash::new("t", &[b"1"]);
        for first in 0..=ItemHash::BATCH_KEY_LEN {
            let keys = std::array::from_fn(|i| [(first + i) as u8; ItemHash::BATCH_KEY_LEN]);
            let len = |i| (first + i) % (ItemHash::BATCH_KEY_LEN + 1);
            let items = hash.items(&keys, &std::array::from_fn(|i| len(i) as u8));
            for (i, item) in items.iter().enumerate() {
                assert_eq!(*item, hash.item(&keys[i][..len(i)]), "key {i} from {first}");
            }
        }
    }
}
