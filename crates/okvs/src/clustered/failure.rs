//! The failure rate of encoding, compared with the formulas that the parameters rest on.

use super::{peel, residue};
use crate::EncodeError;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Counts over many sets of keys.
#[derive(Debug)]
struct Seen {
    trials: f64,
    /// Sets with many rows left after peeling.
    unpeeled: f64,
    /// Entry d: sets with more than d dependencies.
    dependencies: [f64; 3],
}

fn observe(n: usize, sparse: usize, trials: u32) -> Seen {
    let stream = Aes128::new(Block::new((n * sparse) as u128));
    let mut buffers = peel::Buffers::default();
    let (mut keys, mut memory) = (vec![Block::ZERO; n], vec![Block::ZERO; sparse]);
    let mut seen = Seen { trials: trials.into(), unpeeled: 0.0, dependencies: [0.0; 3] };
    for trial in 0..trials {
        stream.ctr(u128::from(trial) << 64, &mut keys);
        peel::peel(&keys, sparse, &mut buffers);
        let left = buffers.unpeeled(n).len();
        seen.unpeeled += f64::from(left > 4 + n / 20);
        for (dense, count) in seen.dependencies.iter_mut().enumerate() {
            let dense = &mut [Block::ZERO; 3][..dense];
            match residue::solve(&keys, &keys, &mut memory, dense, &buffers) {
                Ok(()) => break,
                Err(error) => assert_eq!(error, EncodeError::Unsolvable),
            }
            *count += 1.0;
        }
    }
    seen
}

/// Keys, sparse slots, and log2 of the probabilities of more than 0, 1 and 2 dependencies: the tail
/// of a Poisson distribution whose mean parameters/okvs/clustered.py computes.
const DEPENDENCIES: &[(usize, usize, [f64; 3])] = &[
    (20, 30, [-3.43, -7.82, -12.78]),
    (20, 40, [-5.35, -11.70, -18.62]),
    (64, 100, [-5.96, -12.92, -20.45]),
    (64, 160, [-8.31, -17.63, -27.52]),
    (256, 330, [-7.37, -15.73, -24.68]),
];

// `--nocapture` shows the measurements.
#[allow(clippy::print_stdout)]
fn assert_dependencies(trials: u32) {
    for (n, sparse, expected) in DEPENDENCIES {
        let seen = observe(*n, *sparse, trials);
        println!("{n} keys, {sparse} slots: {seen:?}, expected log2 {expected:?}");
        for (seen, expected) in seen.dependencies.iter().zip(expected) {
            let expected = expected.exp2() * f64::from(trials);
            // Allows three bits of the parameters' reserve of four, and requires at least a quarter
            // of the expectation where that is large enough to observe.
            let most = 8.0 * expected + 3.0;
            assert!(*seen <= most, "{n} {sparse}: {seen} of {expected}");
            assert!(
                expected < 60.0 || *seen > expected / 4.0,
                "{n} {sparse}: {seen} of {expected}"
            );
        }
    }
}

#[test]
fn dependencies_are_as_frequent_as_computed() {
    assert_dependencies(20_000);
}

#[test]
#[ignore = "minutes"]
fn dependencies_are_as_frequent_as_computed_over_many_trials() {
    assert_dependencies(500_000);
}

/// Keys, sparse slots, and log2 of the paper's formula for the probability that rows cannot be
/// peeled.
const PEELING: &[(usize, usize, f64)] =
    &[(1024, 1331, -8.97), (2048, 2600, -6.97), (4096, 5140, -7.08), (16_384, 20_316, -9.53)];

#[test]
#[ignore = "minutes"]
#[allow(clippy::print_stdout)]
fn peeling_fails_as_rarely_as_the_formula_says() {
    for (n, sparse, expected) in PEELING {
        let seen = observe(*n, *sparse, (200_000_000 / n) as u32);
        let expected = expected.exp2() * seen.trials;
        println!("{n} keys, {sparse} slots: {seen:?}, expected {expected:.1}");
        assert!(seen.unpeeled <= 1.5 * expected, "{n} {sparse}: {seen:?}, {expected}");
        assert!(seen.unpeeled >= expected / 8.0, "{n} {sparse}: {seen:?}, {expected}");
    }
}

#[test]
fn peeling_ends_below_the_threshold() {
    // Peeling needs 1.222 slots per row, see Molloy, "Cores in random hypergraphs and Boolean
    // formulas".
    let n = 20_000;
    assert_eq!(observe(n, n * 119 / 100, 5).unpeeled, 5.0);
    assert_eq!(observe(n, n * 127 / 100, 5).unpeeled, 0.0);
}
