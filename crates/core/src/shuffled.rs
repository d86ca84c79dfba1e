use crate::Item;
use rand::Rng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// A list of items in uniformly random order, with the position of each item before the shuffle.
///
/// Lists that leave a party must be in such an order, because the order of a list can reveal its
/// contents. The list itself is shared, not copied; the order takes 4 bytes per item.
pub struct Shuffled {
    items: Arc<Vec<Item>>,
    position: Vec<u32>,
}

impl Shuffled {
    /// Shuffles at most 2^32 `items` (Fisher–Yates).
    pub fn new(items: Arc<Vec<Item>>, rng: &mut impl Rng) -> Self {
        let mut position: Vec<u32> = (0..=u32::MAX).take(items.len()).collect();
        position.shuffle(rng);
        Self { items, position }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// The items in their new order, in blocks of at most `block_len`, each with the place it
    /// starts at.
    pub fn blocks(&self, block_len: usize) -> impl Iterator<Item = (usize, Vec<crate::Item>)> {
        self.position.chunks(block_len).enumerate().map(move |(block, positions)| {
            let items = positions.iter().map(|i| self.items[*i as usize]).collect();
            (block * block_len, items)
        })
    }

    /// The original positions, ascending, of the places for which `is_common` holds.
    ///
    /// Visits all places and all positions, so the time hardly depends on the number of common
    /// items: the peer may see when this party continues.
    pub fn own_positions(&self, is_common: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut common = vec![false; self.len()];
        for (place, position) in self.position.iter().enumerate() {
            common[*position as usize] = is_common(place);
        }
        common.iter().enumerate().filter(|(_, common)| **common).map(|(i, _)| i).collect()
    }
}

/// Packs one bit per boolean, the first into the lowest bit of the first byte.
pub fn pack_bits(bits: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (i, bit) in bits.enumerate() {
        bytes[i / 8] |= u8::from(bit) << (i % 8);
    }
    bytes
}

/// The `i`-th bit of the output of [`pack_bits`].
pub fn bit(bytes: &[u8], i: usize) -> bool {
    bytes[i / 8] >> (i % 8) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use std::collections::HashMap;

    fn item(i: u8) -> Item {
        Item::from_bytes([i; 16])
    }

    fn order(shuffled: &Shuffled, block_len: usize) -> Vec<Item> {
        shuffled.blocks(block_len).flat_map(|(_, items)| items).collect()
    }

    #[test]
    fn own_positions_are_those_before_the_shuffle() {
        let items: Vec<Item> = (0..100).map(item).collect();
        let shuffled = Shuffled::new(Arc::new(items.clone()), &mut ChaCha20Rng::from_seed([3; 32]));
        let order = order(&shuffled, 7);
        assert_ne!(order, items);
        assert_eq!(shuffled.blocks(7).map(|(first, _)| first).max(), Some(98));
        let wanted = [item(4), item(17), item(99)];
        let positions = shuffled.own_positions(|place| wanted.contains(&order[place]));
        assert_eq!(positions, [4, 17, 99]);
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let items = Arc::new((0..3).map(item).collect::<Vec<_>>());
        let mut seen: HashMap<Vec<Item>, u32> = HashMap::new();
        for _ in 0..6000 {
            let shuffled = Shuffled::new(Arc::clone(&items), &mut rng);
            *seen.entry(order(&shuffled, 3)).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        // 1000 expected for each, standard deviation 29: a deviation of seven of them is beyond
        // chance.
        assert!(seen.values().all(|count| count.abs_diff(1000) < 200), "{:?}", seen.values());
    }

    #[test]
    fn bits_survive_a_round_trip() {
        for len in [0usize, 1, 7, 8, 9, 64, 65] {
            let bits: Vec<bool> = (0..len).map(|i| i % 3 == 0).collect();
            let bytes = pack_bits(bits.iter().copied());
            assert_eq!(bytes.len(), len.div_ceil(8));
            assert!((0..len).all(|i| bit(&bytes, i) == bits[i]));
        }
    }
}
