use vesica_core::Runs;
use vesica_core::params::ceil_log2;

/// Maximum number of hash functions.
pub const MAX_FUNCTIONS: usize = 3;

/// The sizes of a hash table. Both parties compute them from the public size of the set that goes into the cuckoo
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    functions: usize,
    bins: usize,
    stash: usize,
}

/// Below this size the fits do not hold; extra bins are cheap.
const SMALL_SET_LEN: u64 = 512;

/// Below this size the computed bound is above 2^-52: too often, some four items have only three bins between them.
const SMALL_SET_LEN_OF_MANY: u64 = 2048;

impl Table {
    /// A table of any size, to measure how often placing fails.
    ///
    /// # Panics
    /// If there are not two or three functions.
    pub fn new(functions: usize, bins: usize, stash: usize) -> Self {
        assert!((2..=MAX_FUNCTIONS).contains(&functions), "two or three functions");
        Self { functions, bins, stash }
    }

    /// Three functions, no stash: placing `len` items in each of `runs` that make one result fails with probability
    /// below 2^-40.
    ///
    /// ε = (λ + log n + 256)/240 bins per item for 512 items or more, 1.300 at 2^16 and 1.333 at 2^24: the fit to the
    /// experiments of D. Demmler, P. Rindal, M. Rosulek, N. Trieu, "PIR-PSI", PoPETs 2018. Fewer items get the bins of
    /// 512.
    ///
    /// With two runs or more λ is 52, and fewer than 2,048 items get the bins of 2,048: 1.367 an item at 2^20. Placing
    /// then fails with probability below 2^-52 in each run, by a bound that `parameters/hashing` computes without a fit.
    pub fn stashless(len: usize, runs: Runs) -> Self {
        let (least, lambda) = match runs {
            Runs::ONE => (SMALL_SET_LEN, runs.statistical_bits()),
            _ => (SMALL_SET_LEN_OF_MANY, Runs::MAX.statistical_bits()),
        };
        let n = (len as u64).max(least);
        // ⌈log n⌉ makes ε a rational number that both parties round identically.
        let numerator = u64::from(lambda + ceil_log2(n)) + 256;
        let bins = if len == 0 { 0 } else { (n * numerator).div_ceil(240) as usize };
        Self { functions: 3, bins, stash: 0 }
    }

    /// Three functions and 1.2·n bins, with the stash of [`Table::stash_len`] (Pinkas, Schneider,
    /// Segev, Zohner, "Phasing", USENIX Security 2015, §8 and Table 4).
    pub fn phasing_three_way(len: usize) -> Self {
        let bins = if len == 0 { 0 } else { (len * 6).div_ceil(5).max(3) };
        Self { functions: 3, bins, stash: Self::stash_len(len) }
    }

    /// Two functions and 2.4·n bins, with the stash of [`Table::stash_len`] (same paper, §7.2 and Table 4).
    pub fn phasing_two_way(len: usize) -> Self {
        let bins = if len == 0 { 0 } else { (len * 12).div_ceil(5).max(2) };
        Self { functions: 2, bins, stash: Self::stash_len(len) }
    }

    /// Two functions, no stash, and enough bins that placing `len` items in each of `runs` that make one result fails
    /// with probability below 2^-40. For sets so small that bins cost little compared with the items of the other party.
    ///
    /// Placing fails if some k bins are the only ones of k + 1 items. If two functions never selected the same bin, the
    /// probability would be at most Σ_k C(β, k)·C(n, k + 1)·(k(k − 1)/(β(β − 1)))^(k + 1); since they do so with
    /// probability β^-2, n²/(2·β^5) is added. The largest term is k = 2, so β grows as n^(3/4)·2^10 until it reaches
    /// sixteen times n.
    pub fn two_way(len: usize, runs: Runs) -> Self {
        let mut bins = if len == 0 { 0 } else { (16 * len).max(2) };
        while !is_rare(len, bins, runs) {
            bins += bins / 8;
        }
        Self { functions: 2, bins, stash: 0 }
    }

    /// Removes the stash, as the paper does for n_2 ≪ n_1 (§8.2.2).
    pub fn without_stash(self) -> Self {
        Self { stash: 0, ..self }
    }

    /// Stash places for `len` items in 2.4·`len` bins under two functions, for failure below 2^-40: Table 4 of the
    /// paper, at the next smaller size of the table, where the stash is larger.
    pub fn stash_len(len: usize) -> usize {
        let stash = match len.checked_ilog2().unwrap_or(0) {
            0..12 => 12,
            12..16 => 6,
            16..20 => 4,
            20..24 => 3,
            _ => 2,
        };
        stash.min(len)
    }

    /// h, the number of hash functions.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// β, the number of bins, without the stash.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// s, the number of stash places.
    pub fn stash(&self) -> usize {
        self.stash
    }
}

/// Whether the sum of [`Table::two_way`] is at most 2^-λ. Uses only sums and products, which IEEE 754 rounds
/// identically everywhere. For `bins` ≥ 16·`len`, where each further term is less than half of the last.
fn is_rare(len: usize, bins: usize, runs: Runs) -> bool {
    let (n, beta) = (len as f64, bins as f64);
    // Two items whose functions all select one bin. A run alone has always been planned without them.
    let alike = if runs == Runs::ONE {
        0.0
    } else {
        n * (n - 1.0) / (2.0 * beta * beta * beta * beta * beta)
    };
    let mut sum = alike;
    let mut last = 0.0;
    for k in 2..len.min(64) {
        let inside = (k * (k - 1)) as f64 / (beta * (beta - 1.0));
        let mut term = inside * (n - k as f64) / (k + 1) as f64;
        for i in 0..k {
            let i = i as f64;
            term *= (beta - i) * (n - i) / ((i + 1.0) * (i + 1.0)) * inside;
        }
        sum += term;
        last = term;
    }
    sum + last <= 1.0 / (1_u64 << runs.statistical_bits()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stash_sizes_match_table_4() {
        let sizes = [(8, 12), (12, 6), (16, 4), (20, 3), (24, 2)];
        for (log, stash) in sizes {
            assert_eq!(Table::stash_len(1 << log), stash);
            assert!(Table::stash_len((1 << log) - 1) >= stash);
        }
        assert_eq!(Table::stash_len(0), 0);
        assert_eq!(Table::stash_len(3), 3);
    }

    #[test]
    fn wide_tables_grow_with_the_set_to_the_power_of_three_quarters() {
        assert_eq!(Table::two_way(0, Runs::ONE).bins(), 0);
        assert_eq!(Table::two_way(1, Runs::ONE).bins(), 16);
        for (len, least, most) in [(256, 50_000, 80_000), (4096, 400_000, 650_000)] {
            let bins = Table::two_way(len, Runs::ONE).bins();
            assert!((least..most).contains(&bins), "{len} items, {bins} bins");
            assert!(is_rare(len, bins, Runs::ONE) && !is_rare(len, bins * 3 / 4, Runs::ONE));
        }
        assert!((16 << 24..21 << 24).contains(&Table::two_way(1 << 24, Runs::ONE).bins()));
    }

    #[test]
    fn bins_match_the_papers() {
        assert_eq!(Table::phasing_three_way(1 << 20).bins(), 1_258_292);
        assert_eq!(Table::phasing_two_way(1 << 20).bins(), 2_516_583);
        assert_eq!(Table::stashless(1 << 16, Runs::ONE).bins(), 85_197);
        assert_eq!(Table::stashless(1 << 20, Runs::ONE).bins(), 1_380_626);
        assert_eq!(Table::stashless(1, Runs::ONE).bins(), Table::stashless(512, Runs::ONE).bins());
        assert_eq!(Table::stashless(0, Runs::ONE).bins(), 0);
    }
}
