//! Ristretto255 batches: the RFC's vectors, dalek as the reference, and equality of all backends.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar as DalekScalar;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::Backend;
use vesica_simd::ristretto::{InvalidPoint, Scalar, decode_mul_with, hash_mul_with};

use crate::support::on_every_backend;
use crate::vectors::{
    BAD_ENCODINGS, EXCEPTIONAL_MAP_INPUTS, MAP_IMAGES, MAPPED_TO_IDENTITY, MULTIPLES_OF_GENERATOR,
};

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    assert_eq!(hex.len(), 2 * N);
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

fn wide(low: DalekScalar) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(low.as_bytes());
    bytes
}

/// The scalar in both representations.
fn scalar(bytes: &[u8; 64]) -> (Scalar, DalekScalar) {
    (Scalar::from_uniform_bytes(bytes).unwrap(), DalekScalar::from_bytes_mod_order_wide(bytes))
}

fn one() -> Scalar {
    scalar(&wide(DalekScalar::ONE)).0
}

/// 1, 2, small scalars, powers of two and their neighbours, ℓ-1, ℓ-2, (ℓ±1)/2, and random ones.
fn scalars() -> Vec<[u8; 64]> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut all: Vec<DalekScalar> = (1..40u64).map(DalekScalar::from).collect();
    let mut power = DalekScalar::ONE;
    for _ in 0..253 {
        power += power;
        all.extend([power, power - DalekScalar::ONE, -power]);
    }
    all.extend([-DalekScalar::ONE, -DalekScalar::from(2u64)]);
    let half = DalekScalar::from(2u64).invert();
    all.extend([half, half - DalekScalar::ONE, -half]);
    // Every signed hexadecimal digit at its extremes, and carries through the whole number.
    for nibble in 0..=0xff {
        let mut bytes = [nibble; 32];
        bytes[31] &= 0x0f;
        all.push(DalekScalar::from_bytes_mod_order(bytes));
    }
    let mut wide: Vec<[u8; 64]> =
        all.into_iter().filter(|k| *k != DalekScalar::ZERO).map(wide).collect();
    wide.extend((0..50).map(|_| rng.random::<[u8; 64]>()));
    wide
}

fn uniform_inputs(n: usize, seed: u64) -> Vec<[u8; 64]> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..n).map(|_| rng.random()).collect()
}

fn encodings(n: usize, seed: u64) -> Vec<[u8; 32]> {
    uniform_inputs(n, seed)
        .iter()
        .map(|u| RistrettoPoint::from_uniform_bytes(u).compress().to_bytes())
        .collect()
}

/// Compares; a failure names the first difference instead of printing thousands of elements.
fn assert_same(backend: Backend, actual: &[[u8; 32]], expected: &[[u8; 32]]) {
    assert_eq!(actual.len(), expected.len());
    if let Some(i) = (0..actual.len()).find(|&i| actual[i] != expected[i]) {
        panic!("{}, element {i}: {:x?}, not {:x?}", backend.name(), actual[i], expected[i]);
    }
}

fn hash_mul(backend: Backend, uniform: &[[u8; 64]], k: &Scalar) -> Vec<[u8; 32]> {
    let mut out = vec![[0xa5; 32]; uniform.len()];
    hash_mul_with(backend, uniform, k, &mut out);
    out
}

fn decode_mul(
    backend: Backend,
    points: &[[u8; 32]],
    k: &Scalar,
) -> Result<Vec<[u8; 32]>, InvalidPoint> {
    let mut out = vec![[0xa5; 32]; points.len()];
    let result = decode_mul_with(backend, points, k, &mut out);
    if result.is_err() {
        assert!(out.iter().all(|bytes| *bytes == [0; 32]), "an error leaves only zeros");
    }
    result.map(|()| out)
}

fn dalek_hash_mul(uniform: &[[u8; 64]], k: &DalekScalar) -> Vec<[u8; 32]> {
    uniform
        .iter()
        .map(|u| (RistrettoPoint::from_uniform_bytes(u) * k).compress().to_bytes())
        .collect()
}

fn dalek_decode_mul(points: &[[u8; 32]], k: &DalekScalar) -> Vec<[u8; 32]> {
    points
        .iter()
        .map(|p| (CompressedRistretto(*p).decompress().unwrap() * k).compress().to_bytes())
        .collect()
}

#[test]
fn multiples_of_the_generator_match_the_rfc() {
    let generator = bytes(MULTIPLES_OF_GENERATOR[1]);
    for backend in Backend::available() {
        for (i, expected) in MULTIPLES_OF_GENERATOR.iter().enumerate().skip(1) {
            let (k, _) = scalar(&wide(DalekScalar::from(i as u64)));
            assert_eq!(decode_mul(backend, &[generator], &k).unwrap(), [bytes(expected)]);
        }
    }
}

#[test]
fn bad_encodings_of_the_rfc_are_refused_in_every_lane() {
    let good = encodings(35, 2);
    for backend in Backend::available() {
        for (n, bad) in BAD_ENCODINGS.iter().enumerate() {
            let lane = (n * 7) % good.len();
            let mut points = good.clone();
            points[lane] = bytes(bad);
            assert_eq!(
                decode_mul(backend, &points, &one()),
                Err(InvalidPoint { index: lane }),
                "{bad} on {}",
                backend.name()
            );
        }
    }
}

#[test]
fn identity_is_refused() {
    for backend in Backend::available() {
        assert_eq!(decode_mul(backend, &[[0; 32]], &one()), Err(InvalidPoint { index: 0 }));
    }
}

#[test]
fn the_first_of_several_invalid_elements_is_named() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let good = encodings(700, 4);
    for _ in 0..60 {
        let mut points = good.clone();
        points.truncate(rng.random_range(1..=700));
        let bad: Vec<usize> =
            (0..rng.random_range(1..5)).map(|_| rng.random_range(0..points.len())).collect();
        for index in &bad {
            points[*index] = bytes(BAD_ENCODINGS[rng.random_range(0..BAD_ENCODINGS.len())]);
        }
        let index = *bad.iter().min().unwrap();
        for backend in Backend::available() {
            assert_eq!(decode_mul(backend, &points, &one()), Err(InvalidPoint { index }));
        }
    }
}

#[test]
fn arbitrary_bytes_are_accepted_exactly_when_dalek_accepts_them() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for _ in 0..4000 {
        let mut point: [u8; 32] = rng.random();
        // Without this, most would be refused as negative or non-canonical.
        point[0] &= 0xfe;
        point[31] &= 0x7f;
        let expected = CompressedRistretto(point).decompress().is_some();
        for backend in Backend::available() {
            assert_eq!(decode_mul(backend, &[point], &one()).is_ok(), expected);
        }
    }
}

#[test]
fn uniform_inputs_of_the_rfc_map_to_its_encodings() {
    for backend in Backend::available() {
        for (halves, expected) in MAP_IMAGES {
            let uniform = bytes(&halves.concat());
            assert_eq!(hash_mul(backend, &[uniform], &one()), [bytes(expected)]);
        }
    }
}

#[test]
fn every_scalar_agrees_with_dalek() {
    let uniform = uniform_inputs(9, 6);
    let points = encodings(9, 7);
    for backend in Backend::available() {
        for bytes in scalars() {
            let (k, reference) = scalar(&bytes);
            assert_same(
                backend,
                &hash_mul(backend, &uniform, &k),
                &dalek_hash_mul(&uniform, &reference),
            );
            assert_same(
                backend,
                &decode_mul(backend, &points, &k).unwrap(),
                &dalek_decode_mul(&points, &reference),
            );
        }
    }
}

#[test]
fn thousands_of_random_elements_agree_with_dalek() {
    let (k, reference) = scalar(&uniform_inputs(1, 8)[0]);
    let uniform = uniform_inputs(5003, 9);
    let expected = dalek_hash_mul(&uniform, &reference);
    let (k2, reference2) = scalar(&uniform_inputs(1, 10)[0]);
    let expected2 = dalek_decode_mul(&expected, &reference2);
    for backend in Backend::available() {
        assert_same(backend, &hash_mul(backend, &uniform, &k), &expected);
        assert_same(backend, &decode_mul(backend, &expected, &k2).unwrap(), &expected2);
    }
}

#[test]
fn every_length_around_the_batch_edges_has_the_same_elements() {
    let (k, reference) = scalar(&uniform_inputs(1, 11)[0]);
    let uniform = uniform_inputs(530, 12);
    let points = encodings(530, 13);
    let hashed = dalek_hash_mul(&uniform, &reference);
    let decoded = dalek_decode_mul(&points, &reference);
    for backend in Backend::available() {
        for n in (0..40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 530]) {
            assert_same(backend, &hash_mul(backend, &uniform[..n], &k), &hashed[..n]);
            assert_same(backend, &decode_mul(backend, &points[..n], &k).unwrap(), &decoded[..n]);
        }
    }
}

/// 2^255 - 19 plus `offset`, little-endian; `offset` from -19 to 18 stays below 2^255.
fn modulus_plus(offset: i8) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    bytes[0] = 0xed_u8.wrapping_add_signed(offset);
    bytes[31] = 0x7f;
    bytes
}

/// Field elements where the one-way map is exceptional or its arithmetic is at a bound.
fn special_field_elements() -> Vec<[u8; 32]> {
    let mut all = vec![[0; 32], [0xff; 32]];
    all.extend((-19..=18).map(modulus_plus));
    for small in 1..20u8 {
        let mut bytes = [0; 32];
        bytes[0] = small;
        all.push(bytes);
    }
    for bit in 0..256 {
        let mut bytes = [0; 32];
        bytes[bit / 8] = 1 << (bit % 8);
        all.push(bytes);
        all.push(bytes.map(|b| !b));
        all.push(bytes.map(|b| b.wrapping_sub(1)));
    }
    all.extend(EXCEPTIONAL_MAP_INPUTS.iter().map(|hex| bytes(hex)));
    all
}

#[test]
fn exceptional_inputs_of_the_map_agree_with_dalek() {
    let special = special_field_elements();
    let mut rng = ChaCha20Rng::seed_from_u64(14);
    let mut uniform = Vec::new();
    for first in &special {
        let mut other = [0; 32];
        rng.fill_bytes(&mut other);
        let random_special = special[rng.random_range(0..special.len())];
        for second in [[0; 32], [0xff; 32], *first, other, random_special] {
            for (a, b) in [(first, &second), (&second, first)] {
                let mut bytes = [0; 64];
                bytes[..32].copy_from_slice(a);
                bytes[32..].copy_from_slice(b);
                uniform.push(bytes);
            }
        }
    }
    for bytes in [wide(DalekScalar::ONE), uniform_inputs(1, 15)[0]] {
        let (k, reference) = scalar(&bytes);
        let expected = dalek_hash_mul(&uniform, &reference);
        for backend in Backend::available() {
            assert_same(backend, &hash_mul(backend, &uniform, &k), &expected);
        }
    }
}

#[test]
fn identity_in_one_lane_does_not_disturb_the_others() {
    let (k, reference) = scalar(&uniform_inputs(1, 16)[0]);
    let identity: [u8; 64] = bytes(&MAPPED_TO_IDENTITY.concat());
    for lane in 0..17 {
        let mut uniform = uniform_inputs(300, 17);
        uniform[lane] = identity;
        let expected = dalek_hash_mul(&uniform, &reference);
        assert_eq!(expected[lane], [0; 32]);
        for backend in Backend::available() {
            assert_same(backend, &hash_mul(backend, &uniform, &k), &expected);
        }
    }
}

#[test]
fn keys_commute() {
    let (a, b) = (scalar(&uniform_inputs(1, 18)[0]).0, scalar(&uniform_inputs(1, 19)[0]).0);
    let uniform = uniform_inputs(100, 20);
    for backend in Backend::available() {
        let ab = decode_mul(backend, &hash_mul(backend, &uniform, &a), &b).unwrap();
        let ba = decode_mul(backend, &hash_mul(backend, &uniform, &b), &a).unwrap();
        assert_same(backend, &ab, &ba);
    }
}

#[test]
fn zero_scalar_is_refused() {
    assert!(Scalar::from_uniform_bytes(&[0; 64]).is_none());
    // ℓ itself is also zero.
    let mut order = wide(-DalekScalar::ONE);
    order[0] += 1;
    assert!(Scalar::from_uniform_bytes(&order).is_none());
}

#[test]
fn scalar_shows_nothing_of_itself() {
    assert_eq!(format!("{:?}", one()), "Scalar(..)");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vector_backend_is_offered_wherever_the_processor_has_its_instructions() {
    // Otherwise the tests above could pass without this backend.
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi2");
    let avx512 = is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("gfni");
    assert_eq!(Backend::available().contains(&Backend::Avx2), avx2);
    assert_eq!(Backend::available().contains(&Backend::Avx512), avx512);
    assert_eq!(Backend::detect() == Backend::Avx512, avx512);
}

#[test]
fn forced_backend_is_the_active_one() {
    on_every_backend(|backend| {
        assert_eq!(Backend::active(), backend);
        assert_eq!(Backend::from_name(backend.name()), Some(backend));
    });
}
