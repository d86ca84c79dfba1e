//! Laws of all encodings.

use proptest::collection::vec;
use proptest::prelude::*;
use vesica_core::{Block, Runs};
use vesica_okvs::{BandOkvs, ClusteredOkvs, EncodeError, Okvs, Scratch};
use vesica_simd::Backend;
use vesica_simd::aes::Aes128;
use vesica_simd::gf128;

const SIZES: &[usize] = &[
    0, 1, 2, 3, 4, 5, 15, 16, 17, 18, 31, 63, 64, 65, 100, 232, 233, 234, 255, 256, 300, 468, 469,
    470, 471, 512, 513, 1000, 1024, 4096, 5000, 10_000, 49_151, 49_152, 49_153, 65_536, 65_537,
    98_304,
];

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

/// Applies a law to both encodings, of a run alone and of one of several.
fn both(law: impl Fn(&dyn Fn(usize) -> Box<dyn Okvs>)) {
    law(&|n| Box::new(ClusteredOkvs::new(n)));
    law(&|n| Box::new(BandOkvs::new(n)));
    law(&|n| Box::new(ClusteredOkvs::of_runs(n, Runs::MAX)));
    law(&|n| Box::new(BandOkvs::of_runs(n, Runs::MAX)));
}

/// The positions of the keys of each cluster.
fn grouped(okvs: &dyn Okvs, keys: &[Block]) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); okvs.cluster_count()];
    for (i, key) in keys.iter().enumerate() {
        groups[okvs.cluster_of(*key)].push(i);
    }
    groups
}

fn pick(blocks: &[Block], positions: &[usize]) -> Vec<Block> {
    positions.iter().map(|i| blocks[*i]).collect()
}

fn encode(
    okvs: &dyn Okvs,
    keys: &[Block],
    values: &[Block],
    fill: u128,
) -> Result<Vec<Block>, EncodeError> {
    let fill = Aes128::new(Block::new(fill));
    let mut slots = vec![Block::ZERO; okvs.len()];
    let mut scratch = Scratch::new();
    for (cluster, positions) in grouped(okvs, keys).into_iter().enumerate() {
        let len = okvs.cluster_len();
        let slots = &mut slots[cluster * len..][..len];
        let (keys, values) = (pick(keys, &positions), pick(values, &positions));
        okvs.encode(cluster, &keys, &values, slots, &mut scratch, &fill)?;
    }
    Ok(slots)
}

fn decode(okvs: &dyn Okvs, keys: &[Block], slots: &[Block]) -> Vec<Block> {
    let mut out = vec![Block::ZERO; keys.len()];
    let mut scratch = Scratch::new();
    for (cluster, positions) in grouped(okvs, keys).into_iter().enumerate() {
        let len = okvs.cluster_len();
        let keys = pick(keys, &positions);
        let mut decoded = vec![Block::ONE; keys.len()];
        okvs.decode(&keys, &slots[cluster * len..][..len], &mut decoded, &mut scratch);
        positions.iter().zip(decoded).for_each(|(i, value)| out[*i] = value);
    }
    out
}

#[test]
fn every_key_decodes_to_its_value_and_no_other_key_does() {
    both(|new| {
        for n in SIZES {
            let okvs = new(*n);
            let (keys, values) = (random(1, *n), random(2, *n));
            let slots = encode(&*okvs, &keys, &values, 3).unwrap_or_else(|e| panic!("{n}: {e}"));
            assert!(decode(&*okvs, &keys, &slots) == values, "{n}");
            let others = random(4, 500);
            let decoded = decode(&*okvs, &others, &slots);
            assert!(decoded.iter().all(|value| !values.contains(value)), "{n}");
        }
    });
}

#[test]
fn the_band_encoding_has_a_second_cluster_above_three_quarters_of_a_million_keys() {
    for (n, clusters) in [(786_432, 1), (786_433, 2)] {
        let okvs = BandOkvs::new(n);
        assert_eq!(okvs.cluster_count(), clusters);
        let (keys, values) = (random(1, n), random(2, n));
        let slots = encode(&okvs, &keys, &values, 3).unwrap();
        assert!(decode(&okvs, &keys, &slots) == values, "{n}");
    }
}

#[test]
fn fewer_keys_than_the_store_is_for_can_be_encoded() {
    both(|new| {
        for (n, given) in [(1, 0), (16, 3), (500, 0), (500, 1), (100_000, 70_000)] {
            let okvs = new(n);
            let (keys, values) = (random(1, given), random(2, given));
            let slots = encode(&*okvs, &keys, &values, 3).unwrap();
            assert!(decode(&*okvs, &keys, &slots) == values);
        }
    });
}

#[test]
fn more_keys_than_slots_are_refused() {
    both(|new| {
        for n in [0, 1, 16, 100, 1000] {
            let okvs = new(n);
            let keys = random(1, okvs.len() + 1);
            assert_eq!(encode(&*okvs, &keys, &keys, 2), Err(EncodeError::Overfull));
        }
    });
}

#[test]
fn far_too_many_keys_for_the_slots_are_refused() {
    both(|new| {
        for n in [100, 1000, 20_000] {
            let okvs = new(n);
            // Of the square matrices of dense rows, three in ten have full rank; not this one.
            let keys = random(4, okvs.len());
            let result = encode(&*okvs, &keys, &keys, 2).map(|_| ());
            assert_eq!(result, Err(EncodeError::Unsolvable), "{n}");
        }
    });
}

#[test]
fn a_repeated_key_is_refused_whatever_its_values() {
    both(|new| {
        for n in [2, 3, 16, 17, 100, 470, 1000, 50_000, 70_000] {
            let okvs = new(n);
            let mut keys = random(1, n);
            keys[n - 1] = keys[n / 3];
            let mut values = random(2, n);
            for _ in 0..2 {
                let result = encode(&*okvs, &keys, &values, 3).map(|_| ());
                assert_eq!(result, Err(EncodeError::DuplicateKey), "{n}");
                values[n - 1] = values[n / 3];
            }
        }
    });
}

#[test]
fn decoding_a_sum_gives_the_sum() {
    both(|new| {
        for n in [1, 16, 17, 500, 5000, 70_000] {
            let okvs = new(n);
            let (p, q) = (random(1, okvs.len()), random(2, okvs.len()));
            let sum: Vec<_> = p.iter().zip(&q).map(|(p, q)| *p ^ *q).collect();
            let keys = random(3, 300);
            let (p, q) = (decode(&*okvs, &keys, &p), decode(&*okvs, &keys, &q));
            let expected: Vec<_> = p.iter().zip(&q).map(|(p, q)| *p ^ *q).collect();
            assert!(decode(&*okvs, &keys, &sum) == expected, "{n}");
        }
    });
}

#[test]
fn the_clustered_encoding_is_linear_over_the_field() {
    for n in [1, 16, 17, 500, 5000, 70_000] {
        let okvs = ClusteredOkvs::new(n);
        let mut slots = random(1, okvs.len());
        let keys = random(2, 300);
        let scalar = random(3, 1)[0];
        let mut expected = decode(&okvs, &keys, &slots);
        gf128::scale(&mut expected, scalar);
        gf128::scale(&mut slots, scalar);
        assert!(decode(&okvs, &keys, &slots) == expected, "{n}");
    }
}

#[test]
fn the_band_encoding_stays_in_a_subspace() {
    let low = Block::new((1 << 80) - 1);
    for n in [1, 100, 5000] {
        let okvs = BandOkvs::new(n);
        let keys = random(1, n);
        let values: Vec<_> = random(2, n).into_iter().map(|value| value & low).collect();
        let mut slots = encode(&okvs, &keys, &values, 3).unwrap();
        // Truncating slots is linear, so it truncates the decoded values.
        slots.iter_mut().for_each(|slot| *slot = *slot & low);
        assert!(decode(&okvs, &keys, &slots) == values);
    }
}

#[test]
fn the_order_of_the_keys_does_not_matter() {
    both(|new| {
        let n = 3000;
        let okvs = new(n);
        let (mut keys, mut values) = (random(1, n), random(2, n));
        let forward = decode(&*okvs, &keys, &encode(&*okvs, &keys, &values, 3).unwrap());
        keys.reverse();
        values.reverse();
        let mut backward = decode(&*okvs, &keys, &encode(&*okvs, &keys, &values, 3).unwrap());
        backward.reverse();
        assert!(forward == backward);
    });
}

/// Counts the ones at every bit position over all slots of many encodings.
fn assert_unbiased(what: &str, samples: &[Block]) {
    for bit in 0..128 {
        let ones = samples.iter().filter(|block| block.bit(bit)).count() as f64;
        let mean = samples.len() as f64 / 2.0;
        let deviation = (samples.len() as f64 / 4.0).sqrt();
        assert!((ones - mean).abs() < 5.5 * deviation, "{what}: bit {bit}, {ones} of {mean}");
    }
}

#[test]
fn slots_of_random_values_are_unbiased_and_neighbours_uncorrelated() {
    both(|new| {
        for n in [10, 100, 1000, 20_000] {
            let okvs = new(n);
            let runs = 40_000_usize.div_ceil(n) as u128;
            let keys = random(1, n);
            let mut all = Vec::new();
            let mut sums = Vec::new();
            for run in 0..runs {
                let slots = encode(&*okvs, &keys, &random(1000 + run, n), 100_000 + run).unwrap();
                sums.extend(slots.windows(2).map(|pair| pair[0] ^ pair[1]));
                sums.extend(slots.windows(3).map(|pair| pair[0] ^ pair[2]));
                all.extend(slots);
            }
            assert_unbiased("slots", &all);
            assert_unbiased("sums of neighbours", &sums);
        }
    });
}

#[test]
fn every_slot_varies_even_if_all_values_are_zero() {
    // With more slots than keys the rest is free. Over many encodings every slot of a store with
    // free slots takes random values, for any values of the keys.
    both(|new| {
        let n = 300;
        let okvs = new(n);
        let (keys, values) = (random(1, n), vec![Block::ZERO; n]);
        let runs: Vec<_> =
            (0..64).map(|run| encode(&*okvs, &keys, &values, 10 + run).unwrap()).collect();
        let nonzero = (0..okvs.len())
            .filter(|slot| runs.iter().filter(|slots| slots[*slot] != Block::ZERO).count() > 32);
        assert!(nonzero.count() > okvs.len() / 4);
    });
}

#[test]
fn encodings_depend_on_the_seed_and_clusters_use_separate_streams() {
    both(|new| {
        let n = 3_000_000;
        let okvs = new(n);
        let (a, b) = (encode(&*okvs, &[], &[], 1).unwrap(), encode(&*okvs, &[], &[], 1).unwrap());
        assert!(a == b);
        assert!(okvs.cluster_count() > 1);
        let len = okvs.cluster_len();
        assert_ne!(a[0], a[len]);
    });
}

#[test]
fn all_backends_encode_and_decode_identically() {
    both(|new| {
        for n in [1, 17, 700, 5000, 60_000] {
            let okvs = new(n);
            let (keys, values) = (random(1, n), random(2, n));
            let results = Backend::available().into_iter().map(|backend| {
                // Other tests run in parallel; they must not depend on the backend either.
                vesica_simd::force(backend).unwrap();
                let slots = encode(&*okvs, &keys, &values, 3).unwrap();
                let decoded = decode(&*okvs, &random(4, 3000), &slots);
                (slots, decoded)
            });
            let results: Vec<_> = results.collect();
            vesica_simd::force(Backend::detect()).unwrap();
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{n}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_number_of_keys_survives_a_round_trip(n in 0_usize..3000, seed in any::<u64>()) {
        let (keys, values) = (random(seed.into(), n), random(u128::from(seed) + (1 << 64), n));
        for okvs in [&ClusteredOkvs::new(n) as &dyn Okvs, &BandOkvs::new(n)] {
            let slots = encode(okvs, &keys, &values, 7).unwrap();
            prop_assert!(decode(okvs, &keys, &slots) == values);
        }
    }

    #[test]
    fn structured_keys_never_panic(
        keys in vec((0_u128..40, 0_u32..128).prop_map(|(k, s)| Block::new(k << s)), 0..200),
    ) {
        for okvs in [&ClusteredOkvs::new(keys.len()) as &dyn Okvs, &BandOkvs::new(keys.len())] {
            if let Ok(slots) = encode(okvs, &keys, &keys, 7) {
                prop_assert!(decode(okvs, &keys, &slots) == keys);
            }
        }
    }
}
