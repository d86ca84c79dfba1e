//! Levels of trees match their definition on every backend.

use crate::support::on_every_backend;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::aes::Aes128;
use vesica_simd::{Block, ggm};

fn blocks(rng: &mut ChaCha20Rng, len: usize) -> Vec<Block> {
    (0..len).map(|_| Block::new(rng.random())).collect()
}

fn total(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, block| sum ^ *block)
}

/// Runs `f` on every backend of this processor, and checks that the results are equal.
fn same_everywhere<R: PartialEq>(mut f: impl FnMut() -> R) -> R {
    let mut results = Vec::new();
    on_every_backend(|_| results.push(f()));
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "backends differ");
    results.into_iter().next().unwrap()
}

#[test]
fn children_are_the_hash_and_its_sum_with_the_parent() {
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let (node, leaf) = (Aes128::new(Block::new(1)), Aes128::new(Block::new(2)));
    for m in (0..80).chain([256, 1000]) {
        let nodes = blocks(rng, 2 * m);
        let mut left = nodes[..m].to_vec();
        node.ccr(&mut left);
        let right = left.iter().zip(&nodes).map(|(h, x)| *h ^ *x);
        let level: Vec<Block> = left.iter().copied().chain(right).collect();
        let tree = rng.random::<u64>();
        let mut hashed = level.clone();
        leaf.tccr(&mut hashed, u128::from(tree) << 64);

        let got = same_everywhere(|| {
            let mut nodes = nodes.clone();
            let sum = ggm::children(&node, &mut nodes);
            (sum, nodes)
        });
        assert!(got == (total(&left), level), "{m} nodes");
        let got = same_everywhere(|| {
            let mut nodes = nodes.clone();
            let sums = ggm::hashed_children(&node, &leaf, tree, &mut nodes);
            (sums, nodes)
        });
        assert!(got == ((total(&left), total(&hashed)), hashed), "{m} nodes");
    }
}

#[test]
#[should_panic(expected = "an even number")]
fn an_odd_number_of_nodes_is_refused() {
    ggm::children(&Aes128::new(Block::ZERO), &mut [Block::ZERO; 3]);
}

#[test]
fn sum_is_the_sum() {
    let rng = &mut ChaCha20Rng::seed_from_u64(2);
    for len in (0..70).chain([1000]) {
        let values = blocks(rng, len);
        assert_eq!(same_everywhere(|| ggm::sum(&values)), total(&values));
    }
}

#[test]
fn a_single_block_is_read_and_changed() {
    let rng = &mut ChaCha20Rng::seed_from_u64(3);
    for len in 0..40 {
        for index in 0..=len {
            let values = blocks(rng, len);
            let value = Block::new(rng.random());
            let got = same_everywhere(|| {
                let mut out = values.clone();
                ggm::add_at(&mut out, index, value);
                out
            });
            let mut expected = values.clone();
            if let Some(block) = expected.get_mut(index) {
                *block ^= value;
            }
            assert!(got == expected, "index {index} of {len}");
            let read = same_everywhere(|| ggm::at(&values, index));
            assert!(read == values.get(index).copied().unwrap_or_default());
        }
    }
}
