//! The sparse part of the rows.

use vesica_core::Block;

/// Three different positions, 16 bits each, least significant first; the upper 16 bits are zero.
pub(super) type Row = u64;

/// The row of `key` among `sparse` slots, from 3 to 2^16; uniform but for a bias below
/// 2^-15 of each probability. The upper 32 bits of the key chose its cluster, all but alone.
#[inline(always)]
pub(super) fn row(key: Block, sparse: u32) -> Row {
    let low = key.get() as u64;
    let middle = (key.get() >> 64) as u64 & 0xffff_ffff;
    let scaled = |word: u64, range: u32| (word * u64::from(range)) >> 32;
    let a = scaled(low & 0xffff_ffff, sparse);
    // Each further position is drawn from those that are left.
    let b = scaled(low >> 32, sparse - 1);
    let b = b + u64::from(b >= a);
    let c = scaled(middle, sparse - 2);
    let c = c + u64::from(c >= a.min(b));
    let c = c + u64::from(c >= a.max(b));
    a | b << 16 | c << 32
}

/// The three positions of a row.
#[inline(always)]
pub(super) fn positions(row: Row) -> [usize; 3] {
    [row as usize & 0xffff, (row >> 16) as usize & 0xffff, (row >> 32) as usize & 0xffff]
}

/// Sets `out[i]` to the sum of the three slots of `keys[i]`; to zero where there are no slots.
pub(super) fn decode(keys: &[Block], sparse: &[Block], out: &mut [Block]) {
    if sparse.is_empty() {
        out.fill(Block::ZERO);
        return;
    }
    for (key, out) in keys.iter().zip(out) {
        let [a, b, c] = positions(row(*key, sparse.len() as u32));
        *out = sparse[a] ^ sparse[b] ^ sparse[c];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_simd::aes::Aes128;

    fn random(seed: u128, len: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; len];
        Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
        blocks
    }

    #[test]
    fn the_positions_of_a_row_are_different_and_in_range() {
        for sparse in [3, 4, 5, 50, 1000, 1 << 16] {
            for key in random(1, 2000) {
                let [a, b, c] = positions(row(key, sparse));
                assert!(a != b && b != c && a != c);
                assert!(a.max(b).max(c) < sparse as usize);
            }
        }
    }

    #[test]
    fn every_set_of_three_positions_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let keys = random(2, 100_000);
        for key in &keys {
            let mut positions = positions(row(*key, 6));
            positions.sort_unstable();
            *seen.entry(positions).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 20);
        // The mean is 5000, the standard deviation 69.
        assert!(seen.values().all(|count| (4600..5400).contains(count)), "{seen:?}");
    }
}
