//! The maximum load of a bin in simple hashing.

use vesica_core::Runs;

/// The smallest L such that some bin gets more than L of `balls` uniform and independent balls in
/// `bins` bins with probability at most 2^-λ, with the λ of one of `runs`; 0 without balls or bins.
///
/// The union bound over the bins, β·Pr[Binomial(m, 1/β) > L]. The first term and a geometric series
/// bound the tail. Uses only sums, products and quotients, which IEEE 754 rounds identically
/// everywhere, so both parties compute the same.
pub fn max_load(balls: usize, bins: usize, runs: Runs) -> usize {
    if bins <= 1 {
        return if bins == 0 { 0 } else { balls };
    }
    let (m, beta) = (balls as f64, bins as f64);
    let log_limit = -i64::from(runs.statistical_bits());
    // β·Pr[Binomial = k], starting at k = 0.
    let mut term = Wide::power(1.0 - 1.0 / beta, balls).times(beta);
    for load in 0..balls {
        let next = |k: usize| (m - k as f64) / ((k + 1) as f64 * (beta - 1.0));
        term = term.times(next(load));
        let ratio = next(load + 1);
        if ratio < 1.0 && term.times(1.0 / (1.0 - ratio)).is_at_most_two_to_the(log_limit) {
            return load;
        }
    }
    balls
}

/// A positive number `value`·2^`exponent`, or 0, of any magnitude.
#[derive(Clone, Copy)]
struct Wide {
    value: f64,
    exponent: i64,
}

impl Wide {
    fn power(base: f64, exponent: usize) -> Self {
        let mut square = Self { value: base, exponent: 0 };
        let mut power = Self { value: 1.0, exponent: 0 };
        let mut rest = exponent;
        while rest > 0 {
            if rest & 1 == 1 {
                power = Self { exponent: power.exponent + square.exponent, ..power };
                power = power.times(square.value);
            }
            square = Self { exponent: 2 * square.exponent, ..square }.times(square.value);
            rest >>= 1;
        }
        power
    }

    /// The product; `factor` must be neither tiny nor huge.
    fn times(self, factor: f64) -> Self {
        let Self { mut value, mut exponent } = self;
        value *= factor;
        while value != 0.0 && value < SMALL {
            value *= 1.0 / SMALL;
            exponent -= SCALE;
        }
        while value > 1.0 / SMALL {
            value *= SMALL;
            exponent += SCALE;
        }
        Self { value, exponent }
    }

    fn is_at_most_two_to_the(self, log: i64) -> bool {
        // A value lies between 2^-64 and 2^64, so the exponents decide if they differ by more.
        match self.exponent - log {
            128.. => self.value == 0.0,
            ..=-128 => true,
            rest => self.value <= power_of_two(-rest),
        }
    }
}

const SCALE: i64 = 64;

/// 2^-64.
const SMALL: f64 = 1.0 / (1_u128 << SCALE) as f64;

/// 2^`log` for a normal number.
fn power_of_two(log: i64) -> f64 {
    f64::from_bits(((log + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// β·Pr[Binomial(m, 1/β) > L], summed term by term.
    fn tail(balls: usize, bins: usize, load: usize) -> f64 {
        let (m, p) = (balls as f64, 1.0 / bins as f64);
        let mut term = (m * (-p).ln_1p()).exp();
        let mut above = 0.0;
        for k in 0..(load + 200).min(balls) {
            term *= (m - k as f64) / (k + 1) as f64 * p / (1.0 - p);
            if k + 1 > load {
                above += term;
            }
        }
        above * bins as f64
    }

    /// Smallest k with n·(2e/k)^k·(1/2.4)^(k−1) ≤ 2^-40: equation (5) of the paper.
    fn equation_5(n: f64) -> usize {
        let bound = |k: f64| n * (2.0 * std::f64::consts::E / k).powf(k) * 2.4_f64.powf(1.0 - k);
        (6..100).find(|k| bound(*k as f64) <= 2.0_f64.powi(-40)).unwrap()
    }

    /// Smallest k ≥ max(6, 2e·log n/log log n): equation (6) of the paper.
    fn equation_6(n: f64) -> usize {
        let log = n.log2();
        (2.0 * std::f64::consts::E * log / log.log2()).ceil().max(6.0) as usize
    }

    #[test]
    fn equations_5_and_6_give_table_2_of_the_paper() {
        let of =
            |equation: fn(f64) -> usize| [12, 16, 20, 24].map(|log| equation(f64::from(1 << log)));
        assert_eq!(of(equation_5), [18, 19, 20, 21]);
        assert_eq!(of(equation_6), [19, 22, 26, 29]);
    }

    #[test]
    fn the_exact_load_is_below_both_equations() {
        for log in 4..25 {
            let n = 1_usize << log;
            let load = max_load(2 * n, (12 * n).div_ceil(5), Runs::ONE);
            assert!(load < equation_5(n as f64), "2^{log}: {load}");
            // (6) is for large n: it says nothing for 2^-40 below 2^12.
            assert!(log < 12 || load < equation_6(n as f64), "2^{log}: {load}");
        }
    }

    #[test]
    fn loads_of_two_functions_with_2_4_bins_per_item() {
        let loads = [8, 12, 16, 20, 24].map(|log| {
            let n = 1_usize << log;
            max_load(2 * n, 12 * n / 5, Runs::ONE)
        });
        assert_eq!(loads, [15, 16, 17, 18, 19]);
    }

    #[test]
    fn the_load_is_the_smallest_that_the_binomial_tail_allows() {
        let shapes = [(512, 614), (8192, 9830), (1 << 21, 2_516_582), (3 << 20, 1 << 20)];
        for (balls, bins) in shapes.into_iter().chain([(4000, 7), (1 << 20, 5000), (3, 100)]) {
            for (runs, bits) in [(Runs::ONE, 40), (Runs::new(1024).unwrap(), 50), (Runs::MAX, 52)] {
                let (load, limit) = (max_load(balls, bins, runs), 2.0_f64.powi(-bits));
                assert!(tail(balls, bins, load) <= limit, "{balls} into {bins}: {load}");
                if load > 0 && tail(balls, bins, load - 1) <= limit {
                    // The bound by a geometric series may be one larger.
                    assert!(
                        load > 1 && tail(balls, bins, load - 2) > limit,
                        "{balls} into {bins}: {load}"
                    );
                }
            }
        }
    }

    #[test]
    fn loads_of_any_magnitude_are_computed() {
        // The mean is 2^20 with a standard deviation of 2^10; forty bits over 16 bins are 7.6 of
        // them.
        let load = max_load(1 << 24, 16, Runs::ONE) as f64;
        let deviations = (load - f64::from(1 << 20)) / (f64::from(1 << 20) * 15.0 / 16.0).sqrt();
        assert!((7.0..8.5).contains(&deviations), "{deviations}");
    }

    #[test]
    fn few_balls_can_all_fall_into_one_bin() {
        assert_eq!(max_load(0, 10, Runs::ONE), 0);
        assert_eq!(max_load(10, 0, Runs::ONE), 0);
        assert_eq!(max_load(3, 2, Runs::MAX), 3);
    }
}
