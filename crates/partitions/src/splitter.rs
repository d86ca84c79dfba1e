//! Which partition an item belongs to.

use crate::plan::MAX_BITS;
use vesica_core::hash::derive;
use vesica_core::{Block, Item, SessionId};
use vesica_simd::aes::Aes128;

const KEY_LABEL: &str = "vesica v1 partition key";
const SESSION_LABEL: &str = "vesica v1 partition session";

/// The prefix of a row without an item.
pub const NO_PREFIX: u16 = u16::MAX;

/// Items whose prefixes are computed together.
const BATCH: usize = 1 << 10;

/// A pseudorandom function from items to partitions: AES-128 under a secret of the session.
///
/// The secret is exported from the connection and contains both sides' randomness, so no party can
/// look beforehand for items that share a partition. If the secret followed from the agreement
/// alone, an attacker could search offline, without a time limit, for items of one partition, and
/// then overfill that partition of an honest party to whose list it can add rows, as a customer
/// can. A peer that deviates knows the secret once the
/// parties have met. It can then choose which of its own items go into which partition, but gains
/// nothing: in each partition, a protocol takes at most as many items as the padded length, plus
/// what its slack leaves.
pub struct Splitter {
    aes: Aes128,
}

impl Splitter {
    /// The function that assigns items to partitions, under `secret`, which only the two parties of
    /// a session hold.
    pub fn new(secret: &[u8; 32]) -> Self {
        let mut key = [0; Block::LEN];
        key.copy_from_slice(&derive(KEY_LABEL, &[secret])[..Block::LEN]);
        Self { aes: Aes128::new(Block::from_le_bytes(key)) }
    }

    /// Replaces what `prefixes` holds with the 12 leading bits of each item's image. If there are P
    /// partitions, the log2 P leading bits of these are the number of the item's partition.
    ///
    /// # Timing
    /// Depends only on the number of items.
    pub fn prefixes(&self, items: &[Item], prefixes: &mut Vec<u16>) {
        prefixes.clear();
        let mut blocks = [Block::ZERO; BATCH];
        for items in items.chunks(BATCH) {
            let blocks = &mut blocks[..items.len()];
            for (block, item) in blocks.iter_mut().zip(items) {
                *block = Block::from_le_bytes(*item.as_bytes());
            }
            self.aes.encrypt(blocks);
            prefixes.extend(blocks.iter().map(|block| {
                let [first, second, ..] = block.to_le_bytes();
                u16::from_be_bytes([first, second]) >> (u16::BITS - MAX_BITS)
            }));
        }
    }
}

/// The session of partition `index` out of `partitions`: its parties and protocol are those of
/// `session`.
pub fn session_of(session: &SessionId, partitions: u64, index: u64) -> SessionId {
    let parts = [partitions.to_le_bytes(), index.to_le_bytes()];
    SessionId::from_bytes(derive(SESSION_LABEL, &[session.as_bytes(), &parts[0], &parts[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_spread_evenly_and_depend_on_the_secret() {
        let items: Vec<Item> = (0..100_000).map(Item::from_integer).collect();
        let of = |secret| {
            let mut prefixes = vec![9];
            Splitter::new(&[secret; 32]).prefixes(&items, &mut prefixes);
            prefixes
        };
        let (one, other) = (of(1), of(2));
        assert_eq!((one.len(), &one), (items.len(), &of(1)));
        let equal = one.iter().zip(&other).filter(|(one, other)| one == other).count();
        assert!((4..80).contains(&equal), "{equal} of about 24");
        let mut loads = [0_u32; 16];
        one.iter().for_each(|prefix| loads[usize::from(prefix >> 8)] += 1);
        assert!(loads.iter().all(|load| (5_800..6_700).contains(load)), "{loads:?}");
    }

    #[test]
    fn every_partition_has_a_session_of_its_own() {
        let run = SessionId::from_bytes([3; 32]);
        let all = [(2, 0), (2, 1), (4, 0), (4, 1)].map(|(of, index)| session_of(&run, of, index));
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| one != other) && *one != run);
        }
    }
}
