//! Grouping keys by cluster.

use std::num::NonZeroUsize;
use vesica_core::Block;
use vesica_net::Pool;
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, Partition};
use vesica_simd::aes::Aes128;

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

fn assert_is_a_partition(okvs: &impl Okvs, keys: &[Block], threads: usize) {
    let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
    let mut partition = Partition::new(okvs, keys, &pool);
    assert_eq!(partition.len(), keys.len());
    assert_eq!(partition.is_empty(), keys.is_empty());
    assert_eq!(partition.cluster_count(), okvs.cluster_count());
    let mut seen = vec![false; keys.len()];
    for cluster in 0..okvs.cluster_count() {
        let positions = partition.positions(cluster);
        assert_eq!(partition.keys(cluster).len(), positions.len());
        for (key, position) in partition.keys(cluster).iter().zip(positions) {
            assert_eq!(keys[*position as usize], *key);
            assert_eq!(okvs.cluster_of(*key), cluster);
            assert!(!std::mem::replace(&mut seen[*position as usize], true));
        }
    }
    assert!(seen.into_iter().all(|seen| seen));
    // Groups within the clusters are ascending, and keep the order of the list.
    let group = |position: &u32| {
        let key = keys[*position as usize];
        (((key.get() >> 64) * okvs.group_count() as u128) >> 64, *position)
    };
    for cluster in 0..okvs.cluster_count() {
        let (keys, positions) =
            (partition.keys(cluster).to_vec(), partition.positions(cluster).to_vec());
        assert!(positions.is_sorted_by_key(group));
        let taken = partition.take(cluster);
        assert_eq!((taken.keys(), taken.positions()), (&keys[..], &positions[..]));
        assert!(partition.keys(cluster).is_empty());
    }
    assert_eq!(partition.len(), keys.len());
}

#[test]
fn every_key_is_in_its_cluster_once() {
    for n in [0, 1, 2, 3, 1000, 70_000, 300_000] {
        for threads in [1, 2, 3] {
            assert_is_a_partition(&ClusteredOkvs::new(n), &random(1, n), threads);
        }
    }
    assert_is_a_partition(&BandOkvs::new(3_000_000), &random(1, 100_000), 2);
}

#[test]
fn a_store_for_a_different_number_of_keys_can_partition() {
    assert_is_a_partition(&ClusteredOkvs::new(10_000_000), &random(1, 5), 4);
    assert_is_a_partition(&ClusteredOkvs::new(1), &random(1, 5000), 2);
    assert_is_a_partition(&ClusteredOkvs::new(0), &random(1, 5000), 2);
}
