//! Paillier: decryption inverts encryption, sums add up, and invalid keys and ciphertexts are
//! refused.

use fast_paillier::backend::Integer;
use fast_paillier::{DecryptionKey, EncryptionKey};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::sync::LazyLock;
use vesica_modular::paillier::{
    InvalidCiphertext, InvalidPublicKey, KeyPair, Plaintext, PublicKey, ciphertext_len,
};
use vesica_modular::rsa::{KeySize, Prime};

const SIZES: [KeySize; 2] = [KeySize::Bits2048, KeySize::Bits3072];

/// Two primes of 1024 bits, made for these tests.
const PRIMES: [&str; 2] = [
    "d7cd5a98b785cfca51f930d529254e921dbf7c09284aa4f57d5cd556c5da735b\
     f4c4a57dfdfde1e8ac34b1177d0c4b9dc10231e568991c541b4b5f4057f81680\
     224b8a6fc394a9e194943cbbc7c17d1e0a946beb4de8aa4bfe7c702972d86862\
     8ac9cc63d9597c4ee544b67fa6b4d7c657fb6bbe6e7a3c15c0634905d4a7192b",
    "fdecacafeb236f1c307c0a16a3de73665ba76d0b752f2aa5d09581e3dfd8341f\
     0c662eaf88a7f8e7c2b3dba2e4f04dc8049b7a3fbf16d6a1e71e93d38a24a40a\
     89681e15842f1c6e27dbcf8b16c79b28d54ce9dea0b5eabc52c9a33e9c4646c5\
     76952c9b14a0f09ff238d0d338e748df9690c0c27545e6ddc20361f7a93f1ba9",
];

static KEY: LazyLock<KeyPair> =
    LazyLock::new(|| KeyPair::generate(KeySize::Bits2048, &mut rng(100)));

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

fn encoded(ciphertext: &vesica_modular::paillier::Ciphertext) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciphertext.encode(&mut bytes);
    bytes
}

/// Big-endian bytes from words, lowest first.
fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().rev().flat_map(|word| word.to_be_bytes()).collect()
}

/// Words, lowest first, from big-endian bytes.
fn words_of(bytes: &[u8]) -> Vec<u64> {
    let words = bytes
        .rchunks(8)
        .map(|word| word.iter().fold(0, |words, byte| words << 8 | u64::from(*byte)));
    words.collect()
}

fn minus(n: &[u64], small: u64) -> Vec<u64> {
    let mut words = n.to_vec();
    words[0] = words[0].checked_sub(small).unwrap();
    words
}

#[test]
fn plaintexts_survive_encryption_by_owner_and_public_key() {
    for (size, seed) in SIZES.into_iter().zip(1..) {
        let mut rng = rng(seed);
        let key = KeyPair::generate(size, &mut rng);
        let n = words_of(&key.public().encode());
        assert_eq!(n.len(), size.len_bytes() / 8);
        let edges = [vec![], vec![0], vec![1], vec![u64::MAX; 3], minus(&n, 1), n.clone()];
        for words in edges {
            let m = Plaintext::from_words(&words);
            let mut wanted = words.clone();
            wanted.resize(n.len(), 0);
            if words == n {
                wanted.fill(0);
            }
            for c in [key.encrypt(&m, &mut rng), key.public().encrypt(&m, &mut rng)] {
                assert_eq!(encoded(&c).len(), ciphertext_len(size));
                assert_eq!(key.decrypt(&c).words(), wanted, "{size:?}");
            }
        }
    }
}

#[test]
fn an_independent_library_agrees() {
    let mut rng = rng(3);
    let [p, q] = PRIMES.map(|prime| Integer::from_str_radix(prime, 16).unwrap());
    let theirs = DecryptionKey::from_primes(p, q).unwrap();
    let ours = PublicKey::decode(&theirs.n().to_bytes_msf(), KeySize::Bits2048).unwrap();
    for words in [vec![0], vec![7], vec![u64::MAX; 15]] {
        let m = Integer::from_bytes_msf(&bytes_of(&words));
        let c = ours.encrypt(&Plaintext::from_words(&words), &mut rng);
        let decrypt = |bytes: &[u8]| theirs.decrypt(&Integer::from_bytes_msf(bytes)).unwrap();
        assert_eq!(decrypt(&encoded(&c)), m);
        assert_eq!(decrypt(&encoded(&ours.shift(&c, 64))), m.clone() << 64u32);
        assert_eq!(decrypt(&encoded(&ours.add(&c, &c))), m << 1u32);
    }

    // We also decrypt what they encrypt, and they add ciphertexts of our owner's key.
    let n = Integer::from_bytes_msf(&KEY.public().encode());
    let theirs = EncryptionKey::from_n(n);
    let m = Plaintext::from_words(&[9, 1]);
    let mine = Integer::from_bytes_msf(&encoded(&KEY.encrypt(&m, &mut rng)));
    let nonce = Integer::from_bytes_msf(&[5; 200]);
    let other = theirs.encrypt_with(&Integer::from_bytes_msf(&[12]), &nonce).unwrap();
    for (c, wanted) in [(&other, [12, 0]), (&theirs.oadd(&mine, &other).unwrap(), [21, 1])] {
        let mut bytes = vec![0; KEY.public().ciphertext_len()];
        let digits = c.to_bytes_msf();
        let start = bytes.len() - digits.len();
        bytes[start..].copy_from_slice(&digits);
        let c = &KEY.public().decode_all(&bytes).unwrap()[0];
        assert_eq!(KEY.decrypt(c).words()[..2], wanted);
    }
}

#[test]
fn ciphertexts_add_and_shift_their_plaintexts() {
    let (key, mut rng) = (&*KEY, rng(4));
    let [a, b] =
        [[5, 0], [u64::MAX, 3]].map(|words| key.encrypt(&Plaintext::from_words(&words), &mut rng));
    assert_eq!(key.decrypt(&key.public().add(&a, &b)).words()[..2], [4, 4]);
    let shifted = key.public().shift(&b, 68);
    assert_eq!(key.decrypt(&shifted).words()[..4], [0, !15, 63, 0]);
    let negated = key.encrypt_negated(&Plaintext::from_words(&[5]), &key.noise(&mut rng));
    let zero = key.public().add(&a, &negated);
    assert!(key.decrypt(&zero).words().iter().all(|word| *word == 0));
}

#[test]
fn no_two_ciphertexts_are_the_same() {
    let (key, mut rng) = (&*KEY, rng(5));
    let zero = Plaintext::from_words(&[]);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for _ in 0..4 {
        seen.push(encoded(&key.encrypt(&zero, &mut rng)));
        seen.push(encoded(&key.public().encrypt(&zero, &mut rng)));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 8);
}

#[test]
fn invalid_keys_are_refused() {
    let size = KeySize::Bits2048;
    let good = KEY.public().encode();
    assert_eq!(PublicKey::decode(&good, size).unwrap().encode(), good);
    let refused = |bytes: &[u8]| PublicKey::decode(bytes, size).err() == Some(InvalidPublicKey);
    assert!(refused(&[]) && refused(&good[1..]) && refused(&[&good[..], &[1]].concat()));
    let mut even = good.clone();
    *even.last_mut().unwrap() &= !1;
    let mut short = good.clone();
    short[0] &= 0x7f;
    // 3 divides 2^2048 − 1.
    let mut one = vec![0; size.len_bytes()];
    one[size.len_bytes() - 1] = 1;
    for bytes in [even, short, vec![255; size.len_bytes()], vec![0; size.len_bytes()], one] {
        assert!(refused(&bytes));
    }
    assert!(PublicKey::decode(&good, KeySize::Bits3072).is_err());
}

#[test]
fn keys_of_equal_primes_or_of_another_size_are_refused() {
    let mut rng = rng(6);
    let [p, q] = [(); 2].map(|()| Prime::random(KeySize::Bits2048, &mut rng));
    assert!(KeyPair::new(KeySize::Bits2048, &p, &p, &mut rng).is_none());
    assert!(KeyPair::new(KeySize::Bits3072, &p, &q, &mut rng).is_none());
    assert!(KeyPair::new(KeySize::Bits2048, &p, &q, &mut rng).is_some());
}

#[test]
fn invalid_ciphertexts_are_refused() {
    let (key, mut rng) = (&*KEY, rng(7));
    let len = key.public().ciphertext_len();
    let n = key.public().encode();
    let good = encoded(&key.encrypt(&Plaintext::from_words(&[1]), &mut rng));
    let mut n_squared = vec![0; len];
    let square = Integer::from_bytes_msf(&n).square().to_bytes_msf();
    n_squared[len - square.len()..].copy_from_slice(&square);
    let mut multiple_of_n = vec![0; len];
    multiple_of_n[len - n.len()..].copy_from_slice(&n);
    let refused = |bytes: &[u8]| key.public().decode_all(bytes).err() == Some(InvalidCiphertext);
    for bad in [vec![0; len], vec![255; len], n_squared, multiple_of_n] {
        assert!(refused(&bad));
        assert!(refused(&[good.clone(), bad, good.clone()].concat()), "among good ones");
    }
    assert!(refused(&good[1..]) && refused(&[&good[..], &[0]].concat()));
    assert!(key.public().decode_all(&[]).unwrap().is_empty());
    let three = key.public().decode_all(&good.repeat(3)).unwrap();
    assert!(three.iter().all(|c| encoded(c) == good));
}

/// A ciphertext changed in transit is another number modulo N² and decrypts to some value.
#[test]
fn changed_ciphertexts_break_nothing() {
    let (key, mut rng) = (&*KEY, rng(8));
    let good = encoded(&key.encrypt(&Plaintext::from_words(&[1]), &mut rng));
    for i in (0..good.len()).step_by(37) {
        let mut changed = good.clone();
        changed[i] ^= 1 << (i % 8);
        if let Ok(c) = key.public().decode_all(&changed) {
            assert_ne!(key.decrypt(&c[0]).words()[..2], [1, 0]);
        }
    }
}
