use crate::Label;
use vesica_core::hash::derive;
use vesica_core::{Block, Item, Secret};
use vesica_simd::aes::Aes128;

const KEY_LABEL: &str = "vesica labels 2026 label key v1";

/// Blocks per encryption call.
const BATCH: usize = 512;

/// A key of the pseudorandom permutation F that makes labels: AES-128, 128 bits to 128 bits.
///
/// Each use of labels (which copy of an item, which kind of dummy) has a key of its own. This
/// replaces the paper's x ‖ α under a single key, without a longer block: F on pairs (use, x).
#[derive(Clone)]
pub struct LabelKey {
    aes: Option<Aes128>,
}

impl LabelKey {
    /// Derives the key for use `use_` and `index` from the parties' `secret`.
    pub fn derive(secret: &[u8; 32], use_: &'static str, index: u32) -> Self {
        let key = Secret::new(derive(KEY_LABEL, &[secret, use_.as_bytes(), &index.to_le_bytes()]));
        let mut half = Secret::new([0; 16]);
        half.expose_mut().copy_from_slice(&key.expose()[..16]);
        Self { aes: Some(Aes128::new(Block::from_le_bytes(*half.expose()))) }
    }

    /// No key: each value is its own label. Hides nothing; it serves to measure the cost of hiding.
    pub fn identity() -> Self {
        Self { aes: None }
    }

    /// Calls `take` with the full label of each item, in order.
    pub fn of_items(&self, items: &[Item], mut take: impl FnMut(usize, Label)) {
        self.of(items.len(), |at| items[at].integer(), &mut take);
    }

    /// Calls `take` with the full label of each value, in order.
    pub fn of_values(&self, values: &[u128], mut take: impl FnMut(usize, Label)) {
        self.of(values.len(), |at| values[at], &mut take);
    }

    fn of(&self, len: usize, value: impl Fn(usize) -> u128, take: &mut impl FnMut(usize, Label)) {
        let mut blocks = [Block::new(0); BATCH];
        for first in (0..len).step_by(BATCH) {
            let batch = &mut blocks[..(len - first).min(BATCH)];
            batch
                .iter_mut()
                .enumerate()
                .for_each(|(at, block)| *block = Block::new(value(first + at)));
            self.aes.iter().for_each(|aes| aes.encrypt(batch));
            batch.iter().enumerate().for_each(|(at, block)| take(first + at, block.get()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_permutation_that_depends_on_secret_use_and_index() {
        let values: Vec<u128> = (0..1500).collect();
        let labels = |key: &LabelKey| {
            let mut out = Vec::new();
            key.of_values(&values, |at, label| {
                assert_eq!(at, out.len());
                out.push(label);
            });
            out
        };
        let one = labels(&LabelKey::derive(&[1; 32], "a", 0));
        assert_eq!(one, labels(&LabelKey::derive(&[1; 32], "a", 0)));
        let others = [([2; 32], "a", 0), ([1; 32], "b", 0), ([1; 32], "a", 1)];
        for (secret, use_, index) in others {
            assert_ne!(one, labels(&LabelKey::derive(&secret, use_, index)));
        }
        let mut distinct = one.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), one.len());
    }
}
