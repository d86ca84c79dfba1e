//! The failure rate of elimination, compared with the bound that the parameters rest on.

use super::parameters::Layout;
use super::{Buffers, eliminate, order};
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Keys, slots, and log2 of the bound on the failure probability that parameters/okvs/band.py
/// computes for them.
const FEW: &[(usize, usize, f64)] = &[(600, 608, -4.50)];
const MANY: &[(usize, usize, f64)] = &[
    (600, 611, -7.08),
    (1000, 1010, -4.31),
    (1000, 1014, -7.67),
    (2000, 2016, -4.04),
    (2000, 2021, -7.24),
    (4096, 4128, -4.21),
    (4096, 4139, -7.23),
    (16_384, 16_506, -4.04),
    (16_384, 16_548, -7.00),
];

/// Number of sets of `n` keys, of `trials`, without a solution in `slots` slots.
fn failures(n: usize, slots: usize, trials: u32) -> u32 {
    let layout = Layout { clusters: 1, slots };
    let stream = Aes128::new(Block::new((n * slots) as u128));
    let Buffers { mut order, mut system } = Buffers::default();
    let (mut keys, mut memory) = (vec![Block::ZERO; n], vec![Block::ZERO; slots]);
    let failed = |trial: &u32| {
        stream.ctr(u128::from(*trial) << 64, &mut keys);
        order::sort(&layout, &keys, &mut order);
        eliminate::eliminate(&layout, &keys, &keys, &mut memory, &order, &mut system).is_err()
    };
    (0..trials).filter(failed).count() as u32
}

// `--nocapture` shows the measurements.
#[allow(clippy::print_stdout)]
fn assert_bounds(cases: &[(usize, usize, f64)], trials: u32) {
    for (n, slots, log_bound) in cases {
        let bound = log_bound.exp2() * f64::from(trials);
        let failures = f64::from(failures(*n, *slots, trials));
        println!("{n} keys, {slots} slots: {failures} of {trials}, at most {bound:.1}");
        assert!(failures <= 1.1 * bound + 3.0, "{n} {slots}: {failures}, at most {bound}");
        assert!(failures >= bound / 100.0, "{n} {slots}: {failures} of {bound}");
    }
}

#[test]
fn elimination_fails_as_rarely_as_computed() {
    assert_bounds(FEW, 4000);
}

#[test]
#[ignore = "minutes"]
fn elimination_of_many_rows_fails_as_rarely_as_computed() {
    assert_bounds(MANY, 8000);
}

#[test]
fn dense_rows_are_dependent_as_often_as_random_matrices() {
    // A matrix of n random rows in n + d columns has dependent rows with probability below 2^-d and
    // above 2^-(d+1).
    for extra in [2, 5] {
        let failures = f64::from(failures(100, 100 + extra, 20_000)) / 20_000.0;
        let bound = 0.5_f64.powi(extra as i32);
        assert!((bound / 2.0..bound * 1.1).contains(&failures), "{extra}: {failures}");
    }
}
