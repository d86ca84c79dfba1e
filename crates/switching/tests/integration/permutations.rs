//! Permutations: uniform sampling, and algebra.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::collections::HashMap;
use vesica_switching::{NotAPermutation, Permutation, Routing, apply_plain};

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// The χ² statistic of `draws` permutations of `len` lanes from `draw`, against the uniform
/// distribution.
fn chi_square(len: u32, draws: u32, mut draw: impl FnMut() -> Vec<u32>) -> f64 {
    let orders: u32 = (1..=len).product();
    let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
    for _ in 0..draws {
        *seen.entry(draw()).or_default() += 1;
    }
    let expected = f64::from(draws) / f64::from(orders);
    let missing = f64::from(orders - seen.len() as u32);
    let of_seen = seen.values().map(|count| (f64::from(*count) - expected).powi(2) / expected);
    of_seen.sum::<f64>() + missing * expected
}

/// Fails by chance once in 10^6 runs (χ² with 23 and 119 degrees of freedom).
#[test]
fn drawn_permutations_are_uniform() {
    for (len, bound) in [(4, 71.0), (5, 204.0)] {
        let mut rng = rng(7);
        let plain = chi_square(len, 60_000, || {
            Permutation::random(len as usize, &mut rng).sources().to_vec()
        });
        let routed = chi_square(len, 60_000, || {
            let routing = Routing::waksman(&Permutation::random(len as usize, &mut rng));
            let mut lanes: Vec<u32> = (0..len).collect();
            apply_plain(&routing, &mut lanes);
            lanes
        });
        assert!(plain < bound && routed < bound, "{len} lanes: {plain}, {routed}");
    }
}

/// The test above can fail: random switches do fail it.
#[test]
fn random_switches_fail_the_test_of_uniformity() {
    use rand::RngExt;
    let mut rng = rng(8);
    let network = vesica_switching::Network::waksman(4);
    let chi_square = chi_square(4, 60_000, || {
        let settings: Vec<bool> = (0..network.switch_count()).map(|_| rng.random()).collect();
        let mut lanes = vec![0, 1, 2, 3];
        apply_plain(&Routing::from_settings(network, &settings).unwrap(), &mut lanes);
        lanes
    });
    assert!(chi_square > 1000.0, "{chi_square}");
}

#[test]
fn the_inverse_undoes() {
    let mut rng = rng(1);
    for len in [0, 1, 2, 3, 10, 1000] {
        let permutation = Permutation::random(len, &mut rng);
        let identity = Permutation::identity(len);
        let identity = identity.sources();
        assert_eq!(permutation.then(&permutation.inverse()).sources(), identity);
        assert_eq!(permutation.inverse().then(&permutation).sources(), identity);
        let lanes: Vec<String> = (0..len).map(|i| i.to_string()).collect();
        assert_eq!(permutation.inverse().apply(&permutation.apply(&lanes)), lanes);
    }
}

#[test]
fn composition_applies_the_first_permutation_first() {
    let mut rng = rng(2);
    let (a, b) = (Permutation::random(50, &mut rng), Permutation::random(50, &mut rng));
    let lanes: Vec<u64> = (100..150).collect();
    assert_eq!(a.then(&b).apply(&lanes), b.apply(&a.apply(&lanes)));
    assert_ne!(a.then(&b).apply(&lanes), a.apply(&b.apply(&lanes)));
}

#[test]
fn repeated_and_out_of_range_places_are_refused() {
    for sources in [vec![0, 0], vec![1], vec![0, 2], vec![2, 1, 1], vec![u32::MAX]] {
        assert_eq!(Permutation::from_sources(sources).err(), Some(NotAPermutation));
    }
    assert_eq!(
        Permutation::from_sources(vec![2, 0, 1]).unwrap().apply(&['a', 'b', 'c']),
        ['c', 'a', 'b']
    );
}
