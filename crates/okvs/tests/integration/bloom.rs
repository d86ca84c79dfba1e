//! Bloom filters and garbled Bloom filters.

use std::collections::BTreeSet;
use vesica_core::Block;
use vesica_okvs::bloom::{
    Bloom, BloomHash, BloomShape, GarbledBloom, Indices, NoFreeSlot, Share, sum,
};
use vesica_simd::aes::Aes128;

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

/// The indices of items in a filter of one block.
fn sets(shape: &BloomShape, rows: &[Block]) -> Vec<Vec<u32>> {
    let hash = BloomHash::new(shape, Block::new(7));
    let mut indices = Indices::new(&hash);
    rows.iter().map(|row| indices.compute(&[*row]).0.to_vec()).collect()
}

#[test]
fn slots_form_equal_blocks_of_limited_length() {
    for slots in [1, 2, 1000, 1 << 17, (1 << 17) + 1, 91_000_000, u64::from(u32::MAX) * 110] {
        let shape = BloomShape::new(60, slots, 1 << 17);
        assert!(shape.len() as u64 >= slots && shape.block_len() <= 1 << 17, "{slots}");
        assert_eq!(shape.len(), shape.block_len() * shape.blocks());
        assert_eq!(shape.blocks(), 1 << shape.block_bits());
        // At most one slot per block is left over.
        assert!((shape.len() as u64) < slots + shape.blocks() as u64, "{slots}");
    }
}

#[test]
fn indices_are_in_range_distinct_and_repeatable() {
    for (hashes, len) in [(1, 1), (40, 59), (60, 1000), (128, 131_072), (255, 300)] {
        let shape = BloomShape::new(hashes, len, 1 << 32);
        let rows = random(3, 50);
        let all = sets(&shape, &rows);
        assert_eq!(all, sets(&shape, &rows));
        for indices in &all {
            let distinct: BTreeSet<u32> = indices.iter().copied().collect();
            assert_eq!(distinct.len(), indices.len(), "{hashes} in {len}");
            assert!(distinct.iter().all(|i| u64::from(*i) < len), "{hashes} in {len}");
            assert!(!indices.is_empty() && indices.len() <= hashes, "{hashes} in {len}");
        }
    }
}

#[test]
fn indices_coincide_as_often_as_by_chance() {
    // 40 throws into 59 slots hit 59·(1 − (58/59)^40) = 29.2 of them on average.
    let all = sets(&BloomShape::new(40, 59, 1 << 32), &random(5, 20_000));
    let mean = all.iter().map(Vec::len).sum::<usize>() as f64 / all.len() as f64;
    assert!((mean - 29.22).abs() < 0.1, "{mean}");
}

#[test]
fn indices_are_uniform() {
    let len = 100;
    let mut counts = vec![0u32; len];
    for indices in sets(&BloomShape::new(8, len as u64, 1 << 32), &random(6, 100_000)) {
        indices.iter().for_each(|i| counts[*i as usize] += 1);
    }
    // About 7,730 each with a standard deviation below 88: a deviation of seven of them is beyond
    // chance.
    assert!(counts.iter().all(|count| count.abs_diff(7730) < 620), "{counts:?}");
}

#[test]
fn every_row_of_an_item_affects_its_indices() {
    let hash = BloomHash::new(&BloomShape::new(90, 1 << 28, 1 << 32), Block::new(1));
    let mut indices = Indices::new(&hash);
    let mut of = |rows: &[Block]| indices.compute(rows).0.to_vec();
    let [a, b] = [Block::new(11), Block::new(12)];
    let expected = of(&[a, b]);
    for other in [vec![a, a], vec![b, a], vec![b, b], vec![a], vec![b]] {
        assert_ne!(of(&other), expected);
    }
}

#[test]
fn a_filter_contains_its_items_and_few_others() {
    let shape = BloomShape::new(10, 14_427, 1 << 32);
    let (inside, outside) = (random(1, 1000), random(2, 100_000));
    let mut filter = Bloom::new(shape.len());
    sets(&shape, &inside).iter().for_each(|indices| filter.insert(indices));
    assert!(sets(&shape, &inside).iter().all(|indices| filter.contains(indices)));
    // Half the slots are ones, so a random other item is contained with probability 2^-10.
    let ones = filter.count_ones() as f64 / shape.len() as f64;
    assert!((ones - 0.5).abs() < 0.02, "{ones}");
    let positives = sets(&shape, &outside).iter().filter(|i| filter.contains(i)).count();
    assert!((50..160).contains(&positives), "{positives}");
}

fn values_come_back<S: Share + std::fmt::Debug>(bytes: usize) {
    let shape = BloomShape::new(45, 45 * 3 * 500 / 2 + 1024, 1 << 32);
    let (rows, values) = (random(1, 500), random(2, 500));
    let prg = Aes128::new(Block::new(9));
    let mut filter = GarbledBloom::<S>::new(shape.len(), &prg, 0);
    let fresh = GarbledBloom::<S>::new(shape.len(), &prg, 0);
    let all = sets(&shape, &rows);
    for (indices, value) in all.iter().zip(&values) {
        filter.insert(indices, S::low(*value)).unwrap();
    }
    for (indices, value) in all.iter().zip(&values) {
        assert_eq!(sum(filter.shares(), indices), S::low(*value));
        assert_ne!(sum(fresh.shares(), indices), S::low(*value));
    }
    // One slot per item is chosen; all others keep their random contents.
    let changed = filter.shares().iter().zip(fresh.shares()).filter(|(a, b)| a != b).count();
    assert_eq!(changed, rows.len());
    let mut wire = vec![0; bytes];
    filter.shares()[3].write(&mut wire);
    let mut again = vec![0; bytes];
    S::read(&wire).write(&mut again);
    assert_eq!(wire, again);
}

#[test]
fn every_item_has_its_value() {
    values_come_back::<u64>(7);
    values_come_back::<u128>(16);
}

/// Sharing over the list of the k hash values, as printed in the paper: a repeated index is a
/// repeated share, which the sum loses.
#[test]
fn summing_repeated_indices_gives_a_wrong_value() {
    let (listed, once) = ([4u32, 9, 4, 17], [4u32, 9, 17]);
    let prg = Aes128::new(Block::new(9));
    let value = 0xfeed_f00d_u64;
    let mut filter = GarbledBloom::<u64>::new(32, &prg, 0);
    filter.insert(&once, value).unwrap();
    assert_eq!(sum(filter.shares(), &once), value);
    assert_ne!(sum(filter.shares(), &listed), value, "slot 4 cancels out");

    // Conversely, insertion by the list loses the value if the chosen slot repeats, since changing
    // that slot changes nothing.
    let shares = |free: usize, change: u64| {
        let mut shares = [1u64; 32];
        shares[free] ^= change;
        sum(&shares, &listed)
    };
    assert_eq!(shares(4, 0), shares(4, value), "no choice of slot 4 reaches the value");
    assert_ne!(shares(9, 0), shares(9, value));
}

#[test]
fn an_item_without_a_free_slot_is_an_error() {
    let prg = Aes128::new(Block::new(9));
    let mut filter = GarbledBloom::<u64>::new(8, &prg, 0);
    filter.insert(&[0, 1, 2], 5).unwrap();
    filter.insert(&[2, 3], 6).unwrap();
    assert_eq!(filter.insert(&[1, 3], 7), Err(NoFreeSlot));
    // The earlier items are unharmed.
    assert_eq!((sum(filter.shares(), &[0, 1, 2]), sum(filter.shares(), &[2, 3])), (5, 6));
}

#[test]
fn random_strings_depend_on_stream_and_place() {
    let prg = Aes128::new(Block::new(9));
    let filter = |first| GarbledBloom::<u64>::new(2000, &prg, first).shares().to_vec();
    assert_eq!(filter(0), filter(0));
    assert_eq!(filter(0)[2..], filter(1)[..1998], "two strings per block of the stream");
    let distinct: BTreeSet<u64> = filter(0).into_iter().collect();
    assert_eq!(distinct.len(), 2000);
}
