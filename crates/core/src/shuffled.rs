use crate::Item;
use rand::Rng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// A list of items in uniformly random order that remembers where each stood.
///
/// Whatever leaves a party must leave in such an order: the order of a list can say what is in it.
/// The list itself is shared, not copied; the order takes 4 bytes an item.
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

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// The items in their new order, in blocks of at most `block_len` with the place each starts at.
    pub fn blocks(&self, block_len: usize) -> impl Iterator<Item = (usize, Vec<crate::Item>)> {
        self.position.chunks(block_len).enumerate().map(move |(block, positions)| {
            let items = positions.iter().map(|i| self.items[*i as usize]).collect();
            (block * block_len, items)
        })
    }

    /// The positions before the shuffle, ascending, of the new places for which `is_common` holds.
    ///
    /// Goes through all places and all positions, so that the time hardly depends on how many are
    /// common: the peer may see when this party goes on.
    pub fn own_positions(&self, is_common: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut common = vec![false; self.len()];
        for (place, position) in self.position.iter().enumerate() {
            common[*position as usize] = is_common(place);
        }
        common.iter().enumerate().filter(|(_, common)| **common).map(|(i, _)| i).collect()
    }
}

/// One bit for each `true` or `false`, the first in the lowest bit of the first byte.
pub fn pack_bits(bits: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (i, bit) in bits.enumerate() {
        bytes[i / 8] |= u8::from(bit) << (i % 8);
    }
    bytes
}

/// The `i`-th bit of what [`pack_bits`] made.
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
    fn positions_lead_back_to_the_items() {
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
        // 1000 expected each, standard deviation 29: seven of them is beyond chance.
        assert!(seen.values().all(|count| count.abs_diff(1000) < 200), "{:?}", seen.values());
    }

    #[test]
    fn bits_survive_packing() {
        for len in [0usize, 1, 7, 8, 9, 64, 65] {
            let bits: Vec<bool> = (0..len).map(|i| i % 3 == 0).collect();
            let bytes = pack_bits(bits.iter().copied());
            assert_eq!(bytes.len(), len.div_ceil(8));
            assert!((0..len).all(|i| bit(&bytes, i) == bits[i]));
        }
    }
}
