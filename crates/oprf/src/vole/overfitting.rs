//! How many items a receiver that deviates can encode in one P.
//!
//! P has m slots, so it holds the values of any m items whose rows are independent. A receiver that
//! hashes many items can choose more than m that fit together, which RR22 calls overfitting. K.
//! Han, S. Kim, B. Lee and Y. Son, "Revisiting OKVS-based OPRF and PSI: cryptanalysis and better
//! construction", ASIACRYPT 2024, publish attacks on stores of this kind. We could not read the
//! paper's text; `parameters/overfitting` computes what two attacks of our own gain.
//!
//! **The bound.** A receiver that evaluates the row hash q = 2^80 times has q row keys k of 128
//! bits. The row and the value H_B of an item follow from its k. Equal keys therefore take the room
//! of one: among q keys there are about 2^31 pairs of equal ones, and a group of three with
//! probability 2^-18.6. Distinct keys have independent values for any rows. Consider all ways to
//! choose t groups of three, p pairs and s single keys. The expected number of them that one of the
//! 2^(128·m) possible P holds is at most
//!
//! ```text
//!   2^(-18.6·t)/t! · C(2^31, p) · C(2^80, s) · 2^(-128·(t + p + s − m))
//! ```
//!
//! and [`usable_items`] is the largest 3t + 2p + s for which that is at least 2^-40, or 2^-λ in
//! each of several runs that make one result. The bound does not say how to find such a P, and we
//! know no method for most of its range. The items of a pair share an output of the OPRF, so the
//! receiver only learns whether the sender has one of the two.

use std::f64::consts::{LN_2, TAU};
use vesica_core::Runs;

/// Evaluations of the row hash that the receiver is assumed to make, as a power of two.
pub const GRINDING_BITS: u32 = 80;

/// Bits of a row key and of a value.
const KAPPA: f64 = 128.0;

/// log of the number of equal pairs among 2^80 keys of 128 bits: q²/2 pairs.
const PAIRS_BITS: f64 = 2.0 * GRINDING_BITS as f64 - 1.0 - KAPPA;

/// log of the expected number of equal triples, q³/6 · 2^-256: −18.6. More than two have
/// probability below 2^-58.
const TRIPLES_BITS: f64 = 3.0 * GRINDING_BITS as f64 - 2.584_962_500_721_156 - 2.0 * KAPPA;
const MOST_TRIPLES: u32 = 2;

/// Most items that one P of `slots` slots can hold except with probability 2^-λ, for any choice of
/// items with 2^80 evaluations of the row hash in each of `runs`. Slots that a known item must
/// occupy do not count in `slots`.
pub fn usable_items(slots: u64, runs: Runs) -> u64 {
    let lambda = f64::from(runs.statistical_bits());
    let of = |triples| best(slots as f64, triples, lambda);
    (0..=MOST_TRIPLES).filter_map(of).max().unwrap_or(0)
}

/// The most items with `triples` groups of three, if there can be that many groups.
fn best(slots: f64, triples: u32, lambda: f64) -> Option<u64> {
    let t = f64::from(triples);
    let left = |p: f64, s: f64| left(slots, lambda, t, p, s);
    if left(0.0, 0.0) < 0.0 {
        return None;
    }
    // Every further item leaves fewer bits, so the maximum is found by bisection.
    let most = |at_most: f64, fits: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, at_most);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    };
    let singles = |p: f64| most(4.0 * slots + 8.0, &|s| left(p, s) >= 0.0);
    let most_pairs =
        most((2.0 * slots + 8.0).min(PAIRS_BITS.exp2() - 1.0), &|p| left(p, 0.0) >= 0.0);
    // 2p + s has one maximum, as `left` is concave.
    let (mut low, mut high) = (0.0, most_pairs);
    for _ in 0..HALVINGS {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if 2.0 * a + singles(a) < 2.0 * b + singles(b) { low = a } else { high = b }
    }
    // Whole numbers near it, as the maximum is flat.
    let around = (-16..=16).map(|step: i32| (low.round() + f64::from(step)).max(0.0));
    let whole = around.filter(|p| left(*p, 0.0) >= -ROUNDING);
    let items = whole.map(|p| {
        let s = singles(p).round();
        let s = if left(p, s) >= -ROUNDING { s } else { (s - 1.0).max(0.0) };
        3 * u64::from(triples) + 2 * p as u64 + s as u64
    });
    items.max()
}

/// Enough to find a number of 34 bits and some binary digits after the point, also by ternary
/// search.
const HALVINGS: u32 = 64;

/// Error of the logarithms below, in bits.
const ROUNDING: f64 = 1e-3;

/// Number of bits above 2^-λ.
fn left(slots: f64, lambda: f64, t: f64, p: f64, s: f64) -> f64 {
    let ways = TRIPLES_BITS * t - ln_factorial(t) / LN_2
        + log_binomial(PAIRS_BITS, p)
        + log_binomial(f64::from(GRINDING_BITS), s);
    ways - KAPPA * (t + p + s - slots) + lambda
}

/// log C(2^`log_n`, k) for k < 2^`log_n`, and between whole k.
fn log_binomial(log_n: f64, k: f64) -> f64 {
    let n = log_n.exp2();
    // Stirling's formula for n!/(n − k)!, without a difference of large numbers.
    let falling = k * log_n * LN_2 - (n - k + 0.5) * (-k / n).ln_1p() - k;
    (falling - ln_factorial(k)) / LN_2
}

/// ln k!, and ln Γ(k + 1) between whole k.
fn ln_factorial(k: f64) -> f64 {
    const FROM: u32 = 24;
    // At k + 24 the formula is accurate to 10^-10.
    let below = (1..=FROM).map(|i| k + f64::from(i)).product::<f64>().ln();
    let k = k + f64::from(FROM);
    k * k.ln() - k + 0.5 * (TAU * k).ln() + 1.0 / (12.0 * k) - 1.0 / (360.0 * k.powi(3)) - below
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_okvs::{ClusteredOkvs, Okvs};

    /// log C(2^`log_n`, k), factor by factor.
    fn log_ways(log_n: f64, k: u64) -> f64 {
        (0..k).map(|i| ((log_n.exp2() - i as f64) / (i + 1) as f64).log2()).sum()
    }

    #[test]
    fn logarithms_of_binomials_match_their_factors() {
        for log_n in [14.0, 31.0, 80.0] {
            for k in (0..40).chain([55, 63]) {
                let (found, exact) = (log_binomial(log_n, k as f64), log_ways(log_n, k));
                assert!((found - exact).abs() < 0.02, "C(2^{log_n}, {k}): {found} and {exact}");
            }
        }
        assert!((log_binomial(31.0, 1e6) - log_ways(31.0, 1_000_000)).abs() < 0.02);
    }

    #[test]
    fn no_other_choice_of_triples_pairs_and_singles_is_larger() {
        let pairs: Vec<f64> = (0..200).map(|p| log_ways(31.0, p)).collect();
        let singles: Vec<f64> = (0..200).map(|s| log_ways(80.0, s)).collect();
        for (slots, runs, limit) in
            (0..=24).chain([60]).flat_map(|slots| [(slots, 1, -40.0), (slots, 1024, -50.0)])
        {
            let mut most = 0;
            // Three triples alone have probability 2^-58.
            for t in 0..=2u64 {
                let triples = -18.585 * t as f64 - (1..=t).map(|i| (i as f64).log2()).sum::<f64>();
                for (p, pairs) in (0..2 * slots + 2).zip(&pairs) {
                    for (s, singles) in (0..3 * slots + 2).zip(&singles) {
                        let over = (t + p + s) as f64 - slots as f64;
                        if triples + pairs + singles - 128.0 * over >= limit {
                            most = most.max(3 * t + 2 * p + s);
                        }
                    }
                }
            }
            assert_eq!(usable_items(slots, Runs::new(runs).unwrap()), most, "{slots} slots");
        }
    }

    #[test]
    fn large_sets_have_the_documented_figures() {
        for (log, share) in [(20, "2.83"), (24, "2.74"), (28, "2.66")] {
            let n = 1u64 << log;
            let slots = ClusteredOkvs::new(n as usize).len() as u64;
            let found = usable_items(slots, Runs::ONE) as f64 / n as f64;
            assert_eq!(format!("{found:.2}"), share, "2^{log} items");
        }
    }

    #[test]
    fn every_extra_slot_holds_more_items() {
        let of = |slots: u64| usable_items(slots, Runs::MAX);
        for slots in (0..3000).step_by(251) {
            assert!(of(slots) >= slots && of(slots + 1) >= of(slots), "{slots} slots");
        }
        assert!(of(6_000_000_000) >= 6_000_000_000, "no size overflows");
    }
}
