//! Laws of polynomials in bins.

use std::num::NonZeroUsize;
use vesica_core::Block;
use vesica_net::Pool;
use vesica_okvs::{EncodeError, Okvs, Partition, PolynomialOkvs, Scratch};
use vesica_simd::aes::Aes128;

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

fn grouped(okvs: &PolynomialOkvs, keys: &[Block]) -> Partition {
    Partition::new(okvs, keys, &Pool::new(NonZeroUsize::MIN).unwrap())
}

fn encode(
    okvs: &PolynomialOkvs,
    keys: &[Block],
    values: &[Block],
    fill: u128,
) -> Result<Vec<Block>, EncodeError> {
    let partition = grouped(okvs, keys);
    let mut slots = vec![Block::ZERO; okvs.len()];
    let mut scratch = Scratch::new();
    let fill = Aes128::new(Block::new(fill));
    for (cluster, slots) in slots.chunks_mut(okvs.cluster_len().max(1)).enumerate() {
        let positions = partition.positions(cluster);
        let values: Vec<Block> = positions.iter().map(|i| values[*i as usize]).collect();
        okvs.encode(cluster, partition.keys(cluster), &values, slots, &mut scratch, &fill)?;
    }
    Ok(slots)
}

fn decode(okvs: &PolynomialOkvs, keys: &[Block], slots: &[Block]) -> Vec<Block> {
    let partition = grouped(okvs, keys);
    let mut out = vec![Block::ZERO; keys.len()];
    for (cluster, slots) in slots.chunks(okvs.cluster_len().max(1)).enumerate() {
        let keys = partition.keys(cluster);
        let mut values = vec![Block::ONE; keys.len()];
        okvs.decode(keys, slots, &mut values, &mut Scratch::new());
        for (position, value) in partition.positions(cluster).iter().zip(values) {
            out[*position as usize] = value;
        }
    }
    out
}

const SIZES: [usize; 14] = [0, 1, 2, 3, 4, 6, 7, 30, 31, 100, 1000, 3000, 12_288, 50_000];

#[test]
fn every_key_decodes_to_its_value_and_no_other_key_does() {
    for n in SIZES {
        let okvs = PolynomialOkvs::new(n);
        let (keys, values) = (random(1, n), random(2, n));
        let slots = encode(&okvs, &keys, &values, 3).unwrap();
        assert!(decode(&okvs, &keys, &slots) == values, "{n}");
        let others = decode(&okvs, &random(4, 500), &slots);
        assert!(others.iter().all(|value| !values.contains(value)), "{n}");
    }
}

#[test]
fn fewer_keys_than_the_store_is_for_can_be_encoded() {
    for (n, given) in [(1, 0), (40, 3), (5000, 0), (5000, 1), (30_000, 20_000)] {
        let okvs = PolynomialOkvs::new(n);
        let (keys, values) = (random(1, given), random(2, given));
        let slots = encode(&okvs, &keys, &values, 3).unwrap();
        assert!(decode(&okvs, &keys, &slots) == values);
    }
}

#[test]
fn sizes_match_the_binomial_bound() {
    // (keys, bins, coefficients per bin)
    for (n, bins, load) in [
        (0, 1, 0),
        (1, 1, 2),
        (3, 1, 3),
        (3 << 8, 32, 68),
        (3 << 12, 342, 92),
        (3 << 16, 4096, 114),
        (3 << 20, 52_429, 136),
    ] {
        let okvs = PolynomialOkvs::new(n);
        assert_eq!((okvs.cluster_count(), okvs.cluster_len()), (bins, load), "{n}");
        assert_eq!(okvs.len(), bins * load);
    }
}

#[test]
fn a_repeated_key_and_an_overfull_bin_are_refused() {
    for n in [2, 3, 100, 5000] {
        let mut keys = random(1, n);
        keys[n - 1] = keys[n / 3];
        let okvs = PolynomialOkvs::new(n);
        assert_eq!(encode(&okvs, &keys, &random(2, n), 3), Err(EncodeError::DuplicateKey), "{n}");
        let equal = vec![Block::ONE; n];
        assert_eq!(encode(&okvs, &keys, &equal, 3), Err(EncodeError::DuplicateKey), "{n}");
    }
    let okvs = PolynomialOkvs::new(3000);
    let keys = vec![Block::ONE; okvs.cluster_len() + 1];
    assert_eq!(encode(&okvs, &keys, &keys, 3), Err(EncodeError::Overfull));
}

/// Each bit of the coefficients, of sums of neighbours, and of the first and last coefficient of a
/// bin is one about half of the time, within six standard deviations. Tested for consecutive keys,
/// for keys that fill one bin, and for no keys.
#[test]
fn coefficients_of_random_values_are_unbiased_whatever_the_keys() {
    let n = 12_288;
    let okvs = PolynomialOkvs::new(n);
    let load = okvs.cluster_len();
    let in_a_row: Vec<Block> = (0..load as u128).map(Block::new).collect();
    let last: Vec<Block> = (0..load as u128).map(|i| Block::new(u128::MAX - i)).collect();
    for keys in [random(1, n), Vec::new(), in_a_row, last] {
        let slots = encode(&okvs, &keys, &random(5, keys.len()), 6).unwrap();
        let half = slots.len() as f64 / 2.0;
        let bound = 6.0 * (slots.len() as f64).sqrt() / 2.0;
        for bit in 0..128 {
            let ones = slots.iter().filter(|slot| slot.bit(bit)).count() as f64;
            assert!((ones - half).abs() <= bound, "bit {bit}");
            let pairs = slots.iter().zip(slots.iter().skip(1));
            let ones = pairs.filter(|(a, b)| (**a ^ **b).bit(bit)).count() as f64;
            assert!((ones - half).abs() <= bound, "bit {bit} of sums");
        }
    }
}

#[test]
fn dummies_come_from_the_stream_and_differ_from_bin_to_bin() {
    let okvs = PolynomialOkvs::new(3000);
    let one = encode(&okvs, &[], &[], 1).unwrap();
    assert!(one == encode(&okvs, &[], &[], 1).unwrap());
    let two = encode(&okvs, &[], &[], 2).unwrap();
    let mut all: Vec<u128> = one.iter().chain(&two).map(|slot| slot.get()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 2 * okvs.len());
}

#[test]
fn a_single_polynomial_has_one_slot_per_key_and_no_freedom() {
    for n in [0, 1, 2, 3, 17, 100, 511, 512, 600] {
        let okvs = PolynomialOkvs::single(n);
        assert_eq!((okvs.cluster_count(), okvs.len()), (1, n));
        let (keys, values) = (random(1, n), random(2, n));
        let slots = encode(&okvs, &keys, &values, 3).unwrap();
        assert!(decode(&okvs, &keys, &slots) == values, "{n}");
        assert!(encode(&okvs, &keys, &values, 4).unwrap() == slots, "{n}: the fill shows");
        if n > 0 {
            let more = (random(1, n + 1), random(2, n + 1));
            assert_eq!(encode(&okvs, &more.0, &more.1, 3), Err(EncodeError::Overfull));
        }
        if n > 1 {
            let mut twice = keys;
            twice[n - 1] = twice[0];
            assert_eq!(encode(&okvs, &twice, &values, 3), Err(EncodeError::DuplicateKey));
        }
    }
}
