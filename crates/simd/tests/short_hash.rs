//! Short keyed hashes: the `blake3` crate as the reference, for every kernel alike.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::short_hash::{
    BLOCK_LEN, DIGEST_LEN, INPUTS, Kernel, keyed_hash_16, keyed_hash_16_with,
};
use vesica_simd::{Backend, force};

/// The whole block is random, beyond the input too.
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
fn every_kernel_agrees_with_blake3_at_every_length_in_every_lane() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for kernel in Kernel::available() {
        for first in 0..=64u8 {
            let key = rng.random();
            let blocks = random_blocks(&mut rng);
            let lens = std::array::from_fn(|lane| (first + lane as u8) % 65);
            let found = keyed_hash_16_with(kernel, &key, &blocks, &lens);
            assert_eq!(found, expected(&key, &blocks, &lens), "{kernel:?} from {first}");
        }
    }
}

#[test]
fn every_kernel_agrees_with_blake3_on_random_batches() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for kernel in Kernel::available() {
        for _ in 0..2000 {
            let key = rng.random();
            let blocks = random_blocks(&mut rng);
            let lens = std::array::from_fn(|_| rng.random_range(0..=64));
            let found = keyed_hash_16_with(kernel, &key, &blocks, &lens);
            assert_eq!(found, expected(&key, &blocks, &lens), "{kernel:?}");
        }
    }
}

#[test]
fn every_kernel_agrees_with_blake3_on_bytes_of_ones_and_zeros() {
    for kernel in Kernel::available() {
        for byte in [0, 0xff] {
            for len in 0..=64 {
                let (key, blocks, lens) = ([byte; 32], [[byte; BLOCK_LEN]; INPUTS], [len; INPUTS]);
                let found = keyed_hash_16_with(kernel, &key, &blocks, &lens);
                assert_eq!(found, expected(&key, &blocks, &lens), "{kernel:?}, {len} of {byte}");
            }
        }
    }
}

#[test]
fn forcing_the_portable_backend_changes_the_kernel_and_no_result() {
    let key = b"whats the Elvish word for friend";
    let blocks = [std::array::from_fn(|i| i as u8); INPUTS];
    let lens = std::array::from_fn(|lane| 4 * lane as u8);
    let before = keyed_hash_16(key, &blocks, &lens);
    force(Backend::Portable).unwrap();
    if Backend::detect() != Backend::Portable {
        assert_eq!(Kernel::active(), Kernel::Portable);
    }
    assert_eq!(keyed_hash_16(key, &blocks, &lens), before);
    assert_eq!(before, expected(key, &blocks, &lens));
}

#[test]
#[should_panic(expected = "at most a block")]
fn a_length_beyond_the_block_is_refused() {
    let mut lens = [64; INPUTS];
    lens[15] = 65;
    keyed_hash_16(&[0; 32], &[[0; BLOCK_LEN]; INPUTS], &lens);
}
