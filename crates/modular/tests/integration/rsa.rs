//! RSA: roots invert raising, and invalid public keys are refused.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use vesica_modular::Modulus;
use vesica_modular::rsa::{
    InvalidPublicKey, KeySize, PUBLIC_EXPONENT, Prime, PrivateKey, PublicKey,
};

const SIZES: [KeySize; 2] = [KeySize::Bits2048, KeySize::Bits3072];

fn key(size: KeySize, seed: u8) -> PrivateKey {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let (p, q) = (Prime::random(size, &mut rng), Prime::random(size, &mut rng));
    PrivateKey::new(&p, &q).unwrap()
}

#[test]
fn raising_a_root_returns_the_number() {
    for (size, seed) in SIZES.into_iter().zip(1..) {
        let key = key(size, seed);
        let n = key.public().modulus();
        assert_eq!(n.len_bytes(), size.len_bytes());
        for i in 0..5u8 {
            let y = n.hash("test", &[&[i]]);
            let x = key.root(&y).unwrap();
            assert!(!x.equals(&y));
            assert!(key.public().raise(&x).equals(&y), "{size:?}, {i}");
        }
        assert!(key.root(&n.one()).unwrap().equals(&n.one()));
    }
}

/// Numbers that are 0 modulo one of the primes also have roots, and break nothing.
#[test]
fn multiples_of_a_factor_have_roots() {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let size = KeySize::Bits2048;
    let [p, q, r] = [(); 3].map(|()| Prime::random(size, &mut rng));
    let (key, other) = (PrivateKey::new(&p, &q).unwrap(), PrivateKey::new(&p, &r).unwrap());
    // The product of p and r, reduced modulo p·q.
    let y = key.public().modulus().reduce(&other.public().modulus().to_be_bytes());
    assert!(y.invert().is_none());
    assert!(key.public().raise(&key.root(&y).unwrap()).equals(&y));
}

#[test]
fn roots_are_homomorphic_so_that_blinding_works() {
    let key = key(KeySize::Bits2048, 3);
    let n = key.public().modulus();
    let (h, r) = (n.hash("test", &[b"h"]), n.hash("test", &[b"r"]));
    let blinded = h.mul(&key.public().raise(&r));
    let unblinded = key.root(&blinded).unwrap().mul(&r.invert().unwrap());
    assert!(unblinded.equals(&key.root(&h).unwrap()));
}

#[test]
fn a_public_key_survives_a_round_trip() {
    for (size, seed) in SIZES.into_iter().zip(4..) {
        let key = key(size, seed);
        let bytes = key.public().encode();
        assert_eq!(bytes.len(), size.public_key_len());
        let read = PublicKey::decode(&bytes, size).unwrap();
        assert_eq!(read.encode(), bytes);
    }
}

#[test]
fn invalid_keys_are_refused() {
    let size = KeySize::Bits2048;
    let good = key(size, 6).public().encode();
    let refused = |bytes: &[u8]| PublicKey::decode(bytes, size).err() == Some(InvalidPublicKey);
    assert!(!refused(&good));
    let with_n = |n: &[u8]| {
        let mut bytes = vec![0; size.len_bytes() - n.len()];
        bytes.extend_from_slice(n);
        bytes.extend_from_slice(&PUBLIC_EXPONENT.to_be_bytes());
        bytes
    };

    let mut even = good.clone();
    even[size.len_bytes() - 1] &= 0xfe;
    assert!(refused(&even), "an even modulus");
    for tiny in [&[][..], &[1], &[15], &[0x7f; 8], &[0x7f; 128], &[0x7f; 255]] {
        assert!(refused(&with_n(tiny)), "a modulus of {} bytes", tiny.len());
    }
    let mut one_bit_less = good.clone();
    one_bit_less[0] &= 0x7f;
    assert!(refused(&one_bit_less), "2047 bits");
    assert!(refused(&with_n(&[0xff; 256])), "2^2048 − 1 is a multiple of 3");
    for prime in [3u32, 5, 251, 4093] {
        let other = Modulus::from_be_bytes(&good[..256]).unwrap();
        let remainder = |n: &[u8]| n.iter().fold(0, |r, byte| (r * 256 + u32::from(*byte)) % prime);
        let mut n = other.to_be_bytes();
        while remainder(&n) != 0 {
            let last = u16::from_be_bytes([n[254], n[255]]).wrapping_add(2);
            n[254..].copy_from_slice(&last.to_be_bytes());
        }
        assert!(refused(&with_n(&n)), "a multiple of {prime}");
    }
    for e in [0u32, 1, 2, 3, 65536, 65539, u32::MAX] {
        let mut bytes = good.clone();
        bytes[size.len_bytes()..].copy_from_slice(&e.to_be_bytes());
        assert!(refused(&bytes), "the exponent {e}");
    }
    for len in [0, 4, 255, 256, 259, 261] {
        let mut bytes = good.clone();
        bytes.resize(len, 1);
        assert!(refused(&bytes), "{len} bytes");
    }
    assert!(PublicKey::decode(&good, KeySize::Bits3072).is_err(), "another size");
}

#[test]
fn equal_primes_make_no_key() {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let p = Prime::random(KeySize::Bits2048, &mut rng);
    assert!(PrivateKey::new(&p, &p).is_none());
}
