//! The group operations of an oblivious transfer: dalek as the reference, on every backend.

use crate::support::on_every_backend;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar as DalekScalar;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::ristretto::{
    InvalidPoint, Scalar, base_mul, base_mul_sub_hash, decode_add_hash_mul, point_mul,
};

const LENGTHS: [usize; 12] = [0, 1, 7, 8, 9, 15, 16, 17, 63, 65, 256, 261];

struct Inputs {
    scalars: Vec<[u8; 64]>,
    uniform: Vec<[u8; 64]>,
    points: Vec<RistrettoPoint>,
}

/// Random inputs; the scalars start with 1, 2, −1, 1/2 and a power of two.
fn inputs(n: usize) -> Inputs {
    let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
    let mut scalars: Vec<[u8; 64]> = (0..n).map(|_| rng.random()).collect();
    let two = DalekScalar::from(2u8);
    let special =
        [DalekScalar::ONE, two, -DalekScalar::ONE, two.invert(), DalekScalar::from(1u64 << 63)];
    for (scalar, special) in scalars.iter_mut().zip(special) {
        *scalar = [0; 64];
        scalar[..32].copy_from_slice(special.as_bytes());
    }
    let uniform = (0..n).map(|_| rng.random()).collect();
    let points = (0..n).map(|_| RistrettoPoint::from_uniform_bytes(&rng.random())).collect();
    Inputs { scalars, uniform, points }
}

impl Inputs {
    fn ours(&self) -> Vec<Scalar> {
        self.scalars.iter().map(|k| Scalar::from_uniform_bytes(k).unwrap()).collect()
    }

    fn dalek(&self) -> impl Iterator<Item = DalekScalar> {
        self.scalars.iter().map(DalekScalar::from_bytes_mod_order_wide)
    }

    fn hashes(&self) -> impl Iterator<Item = RistrettoPoint> {
        self.uniform.iter().map(|uniform| {
            let map = RistrettoPoint::from_uniform_bytes(uniform);
            map + map
        })
    }
}

fn encode(points: impl Iterator<Item = RistrettoPoint>) -> Vec<[u8; 32]> {
    points.map(|point| point.compress().to_bytes()).collect()
}

#[test]
fn multiples_of_the_generator_match_dalek() {
    for n in LENGTHS {
        let inputs = inputs(n);
        let expected = encode(inputs.dalek().map(|k| RistrettoPoint::mul_base(&k)));
        let less = encode(
            inputs.dalek().zip(inputs.hashes()).map(|(k, h)| RistrettoPoint::mul_base(&k) - h),
        );
        on_every_backend(|backend| {
            let mut out = vec![[1; 32]; n];
            base_mul(&inputs.ours(), &mut out);
            assert_eq!(out, expected, "{}, {n}", backend.name());
            base_mul_sub_hash(&inputs.ours(), &inputs.uniform, &mut out);
            assert_eq!(out, less, "less the hash, {}, {n}", backend.name());
        });
    }
}

#[test]
fn multiples_of_a_point_match_dalek() {
    let point = RistrettoPoint::from_uniform_bytes(&[5; 64]);
    for n in LENGTHS {
        let inputs = inputs(n);
        let expected = encode(inputs.dalek().map(|k| point * k));
        on_every_backend(|backend| {
            let mut out = vec![[1; 32]; n];
            let result = point_mul(point.compress().as_bytes(), &inputs.ours(), &mut out);
            assert_eq!(result, Ok(()));
            assert_eq!(out, expected, "{}, {n}", backend.name());
        });
    }
}

#[test]
fn multiples_of_sums_with_hashes_match_dalek() {
    for n in LENGTHS {
        let inputs = inputs(n);
        let points = encode(inputs.points.iter().copied());
        for which in [0, 1, n / 2] {
            let Some(k) = inputs.dalek().nth(which) else { continue };
            let expected =
                encode(inputs.points.iter().zip(inputs.hashes()).map(|(p, h)| (p + h) * k));
            on_every_backend(|backend| {
                let mut out = vec![[1; 32]; n];
                let k = &inputs.ours()[which];
                assert_eq!(decode_add_hash_mul(&points, &inputs.uniform, k, &mut out), Ok(()));
                assert_eq!(out, expected, "{}, {n}", backend.name());
            });
        }
    }
}

#[test]
fn a_sum_that_is_the_identity_is_encoded_as_zero() {
    let inputs = inputs(9);
    let mut points = encode(inputs.points.iter().copied());
    points[4] = (-inputs.hashes().nth(4).unwrap()).compress().to_bytes();
    on_every_backend(|backend| {
        let mut out = vec![[1; 32]; 9];
        let k = &inputs.ours()[7];
        assert_eq!(decode_add_hash_mul(&points, &inputs.uniform, k, &mut out), Ok(()));
        let zeros: Vec<_> = (0..9).filter(|i| out[*i] == [0; 32]).collect();
        assert_eq!(zeros, [4], "{}", backend.name());
    });
}

#[test]
fn an_invalid_point_is_refused_and_named() {
    let inputs = inputs(40);
    let valid = encode(inputs.points.iter().copied());
    let mut not_canonical = [0xff; 32];
    (not_canonical[0], not_canonical[31]) = (0xed, 0x7f);
    let mut negative = [0; 32];
    negative[0] = 1;
    for bad in [[0; 32], [0xff; 32], not_canonical, negative] {
        assert!(bad == [0; 32] || CompressedRistretto(bad).decompress().is_none());
        on_every_backend(|backend| {
            let ks = inputs.ours();
            let mut out = vec![[1; 32]; 40];
            assert_eq!(point_mul(&bad, &ks, &mut out), Err(InvalidPoint { index: 0 }));
            for index in [0, 7, 8, 15, 16, 39] {
                let mut points = valid.clone();
                points[index] = bad;
                out.fill([1; 32]);
                let result = decode_add_hash_mul(&points, &inputs.uniform, &ks[0], &mut out);
                assert_eq!(result, Err(InvalidPoint { index }), "{}", backend.name());
                assert!(out.iter().all(|out| *out == [0; 32]));
            }
        });
    }
}
