//! AES-128: the standards' vectors, the definitions of the hashes, and equality of all backends.

use crate::support::{lengths, on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::aes::{Aes128, encrypt_rekeyed};

/// A block from its bytes in the order of the standards.
fn hex(digits: &str) -> Block {
    Block::new(u128::from_str_radix(digits, 16).unwrap().swap_bytes())
}

/// Key, plaintext, ciphertext.
fn vectors() -> Vec<[Block; 3]> {
    let sp800_38a = "2b7e151628aed2a6abf7158809cf4f3c";
    [
        // FIPS 197, appendix B and C.1.
        [sp800_38a, "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
        [
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ],
        // NIST SP 800-38A, F.1.1.
        [sp800_38a, "6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"],
        [sp800_38a, "ae2d8a571e03ac9c9eb76fac45af8e51", "f5d3d58503b9699de785895a96fdbaaf"],
        [sp800_38a, "30c81c46a35ce411e5fbc1191a0a52ef", "43b1cd7f598ece23881b00e3ed030688"],
        [sp800_38a, "f69f2445df4f9b17ad2b417be66c3710", "7b0c785e27e8ad3f8223207104725dd4"],
    ]
    .into_iter()
    .map(|row| row.map(hex))
    .collect()
}

/// π block by block; the standards' vectors test it.
fn pi(aes: &Aes128, blocks: &[Block]) -> Vec<Block> {
    blocks.iter().map(|block| aes.encrypt_block(*block)).collect()
}

fn sigma(x: Block) -> Block {
    let (left, right) = (x.get() >> 64, x.get() & u128::from(u64::MAX));
    Block::new((left ^ right) << 64 | left)
}

#[test]
fn vectors_of_the_standards_hold_at_every_place_of_a_batch() {
    on_every_backend(|backend| {
        for [key, plain, cipher] in vectors() {
            let aes = Aes128::new(key);
            assert_eq!(aes.encrypt_block(plain), cipher, "{}", backend.name());
            for n in lengths() {
                let mut blocks = vec![plain; n];
                aes.encrypt(&mut blocks);
                assert!(blocks.iter().all(|block| *block == cipher), "{}, {n}", backend.name());
            }
        }
    });
}

#[test]
fn counter_stream_matches_sp800_38a() {
    // F.5.1 counts from the last byte; these are its input blocks, one stream each.
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
    let inputs = ["f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "f0f1f2f3f4f5f6f7f8f9fafbfcfdff00"];
    let outputs = ["ec8cdf7398607cb0f2d21675ea9ea1e4", "362b7c3c6773516318a077d7fc5073ae"];
    on_every_backend(|_| {
        for (input, output) in inputs.into_iter().zip(outputs) {
            let mut out = [Block::ZERO; 1];
            Aes128::new(key).ctr(hex(input).get(), &mut out);
            assert_eq!(out[0].to_le_bytes(), hex(output).to_le_bytes());
        }
    });
}

#[test]
fn batches_equal_single_blocks() {
    let aes = Aes128::new(random_blocks(1, 1)[0]);
    for n in lengths() {
        let blocks = random_blocks(2 + n as u64, n);
        let expected = pi(&aes, &blocks);
        on_every_backend(|backend| {
            let mut actual = blocks.clone();
            aes.encrypt(&mut actual);
            assert!(actual == expected, "{}, {n} blocks", backend.name());
        });
    }
}

#[test]
fn hashes_follow_their_definitions() {
    let aes = Aes128::new(random_blocks(1, 1)[0]);
    let first_tweak = random_blocks(2, 1)[0].get();
    for n in lengths().filter(|n| *n <= 500) {
        let blocks = random_blocks(3 + n as u64, n);
        let images = pi(&aes, &blocks);
        let mmo: Vec<_> = blocks.iter().zip(&images).map(|(x, y)| *x ^ *y).collect();
        let turned: Vec<_> = blocks.iter().map(|x| sigma(*x)).collect();
        let ccr: Vec<_> = turned.iter().zip(pi(&aes, &turned)).map(|(x, y)| *x ^ y).collect();
        let tweaks = (0..n as u128).map(|i| Block::new(first_tweak.wrapping_add(i)));
        let tweaked: Vec<_> = images.iter().zip(tweaks).map(|(x, t)| *x ^ t).collect();
        let tccr: Vec<_> = images.iter().zip(pi(&aes, &tweaked)).map(|(x, y)| *x ^ y).collect();
        on_every_backend(|backend| {
            let hash = |hash: &dyn Fn(&mut [Block])| {
                let mut blocks = blocks.clone();
                hash(&mut blocks);
                blocks
            };
            assert!(hash(&|x| aes.mmo(x)) == mmo, "mmo, {}, {n}", backend.name());
            assert!(hash(&|x| aes.ccr(x)) == ccr, "ccr, {}, {n}", backend.name());
            let actual = hash(&|x| aes.tccr(x, first_tweak));
            assert!(actual == tccr, "tccr, {}, {n}", backend.name());
        });
    }
}

#[test]
fn counters_carry_into_their_high_half_and_wrap() {
    let aes = Aes128::new(random_blocks(1, 1)[0]);
    let images = random_blocks(2, 100);
    let edges = [u128::from(u64::MAX), u128::MAX, 7 << 64 | u128::from(u64::MAX), 0];
    for first in edges.into_iter().flat_map(|edge| [0, 1, 31, 63].map(|i| edge.wrapping_sub(i))) {
        let counters: Vec<_> = (0..100).map(|i| Block::new(first.wrapping_add(i))).collect();
        let stream = pi(&aes, &counters);
        let images_of_images = pi(&aes, &images);
        let tweaked: Vec<_> =
            images_of_images.iter().zip(&counters).map(|(x, t)| *x ^ *t).collect();
        let hashed: Vec<_> =
            images_of_images.iter().zip(pi(&aes, &tweaked)).map(|(x, y)| *x ^ y).collect();
        on_every_backend(|backend| {
            let mut out = vec![Block::ONE; 100];
            aes.ctr(first, &mut out);
            assert!(out == stream, "ctr, {}, from {first:x}", backend.name());
            let mut out = images.clone();
            aes.tccr(&mut out, first);
            assert!(out == hashed, "tccr, {}, from {first:x}", backend.name());
        });
    }
}

#[test]
fn each_rekeyed_block_is_encrypted_under_its_key() {
    let sizes = (0..=70).flat_map(|keys| [(keys, 1), (keys, 2), (keys, 3)]);
    for (keys, per_key) in sizes.chain([(5, 0), (1, 64), (2, 200), (130, 5), (1000, 1), (70, 70)]) {
        let keys = random_blocks(1, keys);
        let blocks = random_blocks(2, keys.len() * per_key);
        let mut expected = blocks.clone();
        for (j, key) in keys.iter().enumerate() {
            Aes128::new(*key).encrypt(&mut expected[j * per_key..][..per_key]);
        }
        on_every_backend(|backend| {
            let mut actual = blocks.clone();
            encrypt_rekeyed(&keys, per_key, &mut actual);
            assert!(actual == expected, "{}, {} × {per_key}", backend.name(), keys.len());
        });
    }
}

#[test]
fn vectors_of_the_standards_hold_with_rekeying() {
    let (keys, rest): (Vec<_>, Vec<_>) = vectors().into_iter().map(|[k, p, c]| (k, (p, c))).unzip();
    let (plain, cipher): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
    on_every_backend(|_| {
        let mut blocks = plain.clone();
        encrypt_rekeyed(&keys, 1, &mut blocks);
        assert_eq!(Block::as_bytes(&blocks), Block::as_bytes(&cipher));
    });
}

#[test]
fn all_backends_expand_the_same_keys() {
    let keys = random_blocks(1, 50);
    let plain = random_blocks(2, 1)[0];
    let images = || keys.iter().map(|key| Aes128::new(*key).encrypt_block(plain));
    let mut expected = keys.iter().map(|_| plain).collect::<Vec<_>>();
    encrypt_rekeyed(&keys, 1, &mut expected);
    on_every_backend(|backend| {
        assert!(images().eq(expected.iter().copied()), "{}", backend.name())
    });
}

#[test]
#[should_panic = "per_key blocks for each key"]
fn missing_blocks_are_refused() {
    encrypt_rekeyed(&[Block::ONE; 3], 2, &mut [Block::ZERO; 5]);
}

#[test]
fn debug_form_hides_the_key() {
    assert_eq!(format!("{:?}", Aes128::new(Block::ONE)), "Aes128(..)");
}
