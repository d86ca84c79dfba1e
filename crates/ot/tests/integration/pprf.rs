//! Punctured trees: what the receiver knows and does not know, and the length of the message.

use crate::support::run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_core::{Block, Malicious, Security, SemiHonest};
use vesica_ot::pprf::{self, Sizes};

const BINDING: [u8; 32] = [3; 32];

/// Ideal base transfers: all key pairs, and the keys chosen by ¬α.
fn keys(sizes: Sizes, alphas: &[u32], seed: u64) -> (Vec<[Block; 2]>, Vec<Block>) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let pairs: Vec<[Block; 2]> =
        (0..sizes.base_transfers()).map(|_| [0; 2].map(|_: u8| Block::new(rng.random()))).collect();
    let chosen = pairs.iter().enumerate().map(|(i, pair)| {
        let (tree, level) = (i / sizes.depth, i % sizes.depth);
        let bit = alphas[tree] >> (sizes.depth - 1 - level) & 1;
        pair[1 - bit as usize]
    });
    let chosen = chosen.collect();
    (pairs, chosen)
}

fn law<S: Security>() {
    for depth in 1..=9 {
        for trees in [1, 2, 17] {
            let sizes = Sizes { trees, depth };
            let mut rng = ChaCha20Rng::seed_from_u64(depth as u64);
            let mut alphas: Vec<u32> =
                (0..trees).map(|_| rng.random_range(0..sizes.leaves() as u32)).collect();
            (alphas[0], alphas[trees - 1]) = (0, sizes.leaves() as u32 - 1);
            let (pairs, chosen) = keys(sizes, &alphas, 1);
            let run = run(
                |ctx| pprf::receive::<S>(ctx, sizes, &BINDING, &chosen, &alphas),
                |ctx| pprf::send::<S>(ctx, sizes, &BINDING, &pairs),
            );
            assert_eq!(run.traffic.receiver_to_sender, sizes.bytes::<S>(), "{sizes:?}");
            assert_eq!(run.traffic.sender_to_receiver, 0);
            let (punctured, all) = run.unwrap();
            assert_eq!(punctured.transcript, all.transcript, "{sizes:?}");
            let (punctured, all) = (punctured.leaves, all.leaves);
            let trees = punctured.chunks(sizes.leaves()).zip(all.chunks(sizes.leaves()));
            for ((punctured, all), alpha) in trees.zip(&alphas) {
                assert_eq!(punctured[0], Block::ZERO, "{sizes:?}");
                for (y, leaf) in punctured.iter().enumerate().skip(1) {
                    assert_eq!(*leaf, all[y ^ *alpha as usize], "{sizes:?}, α = {alpha}");
                }
            }
            let mut distinct = all.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), all.len(), "{sizes:?}: leaves repeat");
        }
    }
}

#[test]
fn the_receiver_of_semi_honest_trees_knows_all_leaves_but_one() {
    law::<SemiHonest>();
}

#[test]
fn the_receiver_of_malicious_trees_knows_all_leaves_but_one() {
    law::<Malicious>();
}
