//! Short keyed hashes: the `blake3` crate as the reference, on every backend.

use crate::support::on_every_backend;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::short_hash::{BLOCK_LEN, DIGEST_LEN, INPUTS, keyed_hash_16};

/// Random blocks, including the bytes after the input.
fn random_blocks(rng: &mut ChaCha20Rng) -> [[u8; BLOCK_LEN]; INPUTS] {
    let mut blocks = [[0; BLOCK_LEN]; INPUTS];
    blocks.iter_mut().for_each(|block| rng.fill_bytes(block));
    blocks
}

fn expected(
    key: &[u8; 32],
    blocks: &[[u8; BLOCK_LEN]; INPUTS],
    lens: &[u8; INPUTS],
) -> [[u8; DIGEST_LEN]; INPUTS] {
    std::array::from_fn(|i| {
        let digest = blake3::keyed_hash(key, &blocks[i][..usize::from(lens[i])]);
        *digest.as_bytes().first_chunk().unwrap()
    })
}

#[test]
fn every_backend_agrees_with_blake3_at_every_length_in_every_lane() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    on_every_backend(|backend| {
        for first in 0..=64u8 {
            let key = rng.random();
            let blocks = random_blocks(&mut rng);
            let lens = std::array::from_fn(|lane| (first + lane as u8) % 65);
            let found = keyed_hash_16(&key, &blocks, &lens);
            assert_eq!(found, expected(&key, &blocks, &lens), "{backend:?} from {first}");
        }
    });
}

#[test]
fn every_backend_agrees_with_blake3_on_random_batches() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    on_every_backend(|backend| {
        for _ in 0..2000 {
            let key = rng.random();
            let blocks = random_blocks(&mut rng);
            let lens = std::array::from_fn(|_| rng.random_range(0..=64));
            let found = keyed_hash_16(&key, &blocks, &lens);
            assert_eq!(found, expected(&key, &blocks, &lens), "{backend:?}");
        }
    });
}

#[test]
fn every_backend_agrees_with_blake3_on_bytes_of_ones_and_zeros() {
    on_every_backend(|backend| {
        for byte in [0, 0xff] {
            for len in 0..=64 {
                let (key, blocks, lens) = ([byte; 32], [[byte; BLOCK_LEN]; INPUTS], [len; INPUTS]);
                let found = keyed_hash_16(&key, &blocks, &lens);
                assert_eq!(found, expected(&key, &blocks, &lens), "{backend:?}, {len} of {byte}");
            }
        }
    });
}

#[test]
#[should_panic(expected = "at most one block")]
fn a_length_beyond_the_block_is_refused() {
    let mut lens = [64; INPUTS];
    lens[15] = 65;
    keyed_hash_16(&[0; 32], &[[0; BLOCK_LEN]; INPUTS], &lens);
}
