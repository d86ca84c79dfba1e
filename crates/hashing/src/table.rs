use vesica_core::Runs;
use vesica_core::params::ceil_log2;

/// Maximum number of hash functions of a protocol.
pub const MAX_FUNCTIONS: usize = 3;

/// Maximum number of hash functions of a table that is measured: as many as Table 1 of "Phasing"
/// has.
pub const MAX_MEASURED_FUNCTIONS: usize = 5;

/// The sizes of a hash table. Both parties compute them from the public size of the set that goes
/// into the cuckoo table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    functions: usize,
    bins: usize,
    stash: usize,
}

/// Below this size the fits do not hold; extra bins are cheap.
const SMALL_SET_LEN: u64 = 512;

/// Below this size the computed bound is above 2^-52: too often, some four items have only three
/// bins between them.
const SMALL_SET_LEN_OF_MANY: u64 = 2048;

impl Table {
    /// A table of any size, to measure how often placing fails. Only [`Cuckoo`](crate::Cuckoo)
    /// takes more than [`MAX_FUNCTIONS`].
    ///
    /// # Panics
    /// If there are not two to five functions.
    pub fn new(functions: usize, bins: usize, stash: usize) -> Self {
        assert!((2..=MAX_MEASURED_FUNCTIONS).contains(&functions), "two to five functions");
        Self { functions, bins, stash }
    }

    /// Three functions, no stash: placing `len` items in each of `runs` that make one result fails
    /// with probability below 2^-40.
    ///
    /// ε = (λ + log n + 256)/240 bins per item for 512 items or more, 1.300 at 2^16 and 1.333 at
    /// 2^24: the fit to the experiments of D. Demmler, P. Rindal, M. Rosulek, N. Trieu, "PIR-PSI",
    /// PoPETs 2018. Fewer items get the bins of 512.
    ///
    /// With two runs or more λ is 52, and fewer than 2,048 items get the bins of 2,048: 1.367 an
    /// item at 2^20. Placing then fails with probability below 2^-52 in each run, by a bound that
    /// `parameters/hashing` computes without a fit.
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

    /// Two functions and 2.4·n bins, with the stash of [`Table::stash_len`] (same paper, §7.2 and
    /// Table 4).
    pub fn phasing_two_way(len: usize) -> Self {
        let bins = if len == 0 { 0 } else { (len * 12).div_ceil(5).max(2) };
        Self { functions: 2, bins, stash: Self::stash_len(len) }
    }

    /// Two functions, no stash, and enough bins that placing `len` items in each of `runs` that
    /// make one result fails with probability below 2^-40. For sets so small that bins cost little
    /// compared with the items of the other party.
    ///
    /// Placing fails if some k bins are the only ones of k + 1 items. If two functions never
    /// selected the same bin, the probability would be at most Σ_k C(β, k)·C(n, k + 1)·(k(k −
    /// 1)/(β(β − 1)))^(k + 1); since they do so with probability β^-2, n²/(2·β^5) is added. The
    /// largest term is k = 2, so β grows as n^(3/4)·2^10 until it reaches sixteen times n. Two
    /// items have no other term: they get 275 bins in a run alone.
    pub fn two_way(len: usize, runs: Runs) -> Self {
        let mut bins = if len == 0 { 0 } else { (16 * len).max(2) };
        while len > 1 && !is_rare(len, bins, runs) {
            bins += bins / 8;
        }
        Self { functions: 2, bins, stash: 0 }
    }

    /// Removes the stash, as the paper does for n_2 ≪ n_1 (§8.2.2), for comparison with its
    /// figures. Placing in the bins of [`Table::phasing_two_way`] alone fails often: about once in
    /// 56 tables of 2^8 items, 385 of 2^12, 1,400 of 2^14.
    pub fn without_stash(self) -> Self {
        Self { stash: 0, ..self }
    }

    /// Stash places for `len` items in 2.4·`len` bins under two functions, for failure below 2^-40:
    /// Table 4 of the paper, at the next smaller size of the table, where the stash is larger. From
    /// 2^12 to below 2^13 there is a seventh place: six fail with probability 2^-36.6 at 2^12,
    /// seven with 2^-40.5, as `parameters/hashing` computes.
    pub fn stash_len(len: usize) -> usize {
        let stash = match len.checked_ilog2().unwrap_or(0) {
            0..12 => 12,
            12 => 7,
            13..16 => 6,
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

/// Whether the sum of [`Table::two_way`] is at most 2^-λ. Uses only sums and products, which IEEE
/// 754 rounds identically everywhere. For `bins` ≥ 16·`len`, where each further term is less than
/// half of the last.
fn is_rare(len: usize, bins: usize, runs: Runs) -> bool {
    let (n, beta) = (len as f64, bins as f64);
    // Two items whose functions all select one bin.
    let mut sum = n * (n - 1.0) / (2.0 * beta * beta * beta * beta * beta);
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
    use crate::Cuckoo;
    use crate::locations::Bins;

    #[test]
    fn stash_sizes_match_table_4_but_for_one_place_more() {
        let sizes = [(8, 12), (12, 7), (13, 6), (16, 4), (20, 3), (24, 2)];
        for (log, stash) in sizes {
            // The paper has six at 2^12.
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

    /// Each function, and the spare one that replaces the second where the first two agree.
    fn bins_of(functions: [u32; 3]) -> Bins {
        let [first, second, spare] = functions;
        [first, if second == first { spare } else { second }, 0]
    }

    #[test]
    fn two_items_rarely_have_one_bin_between_them() {
        // All values of all functions of both items: the probability is exactly β^-5.
        for bins in [2_u32, 3, 4] {
            let table = Table::new(2, bins as usize, 0);
            let value = |i: u32, of: u32| i / bins.pow(of) % bins;
            let of_item = |i: u32, at: u32| bins_of([0, 1, 2].map(|of| value(i, at + of)));
            let all = bins.pow(6);
            let failed = (0..all)
                .filter(|i| Cuckoo::new(&table, &[of_item(*i, 0), of_item(*i, 3)]).is_err());
            assert_eq!(failed.count() as u32 * bins.pow(5), all, "{bins} bins");
        }
        let bins = Table::two_way(2, Runs::ONE).bins();
        assert_eq!(bins, 275);
        assert!((bins as f64).powi(-5) < 2.0_f64.powi(-40));
        // Three items are those whose sets of two bins counted before: they keep their bins.
        assert_eq!(Table::two_way(3, Runs::ONE).bins(), 1936);
        assert!(32.0_f64.powi(-5) > 2.0_f64.powi(-40), "what two items had before");
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

    fn runs(count: u64) -> Runs {
        Runs::new(count).unwrap()
    }

    #[test]
    fn tables_of_several_runs_have_the_computed_bins() {
        for count in [2, 1024, 4096] {
            let bins = |log: u32| Table::stashless(1 << log, runs(count)).bins();
            let found = [8, 11, 12, 16, 20, 24].map(bins);
            assert_eq!(found, [2723, 2723, 5462, 88_474, 1_433_054, 23_208_483]);
            assert_eq!(Table::stashless(1, runs(count)).bins(), 2723);
            assert_eq!(Table::stashless(0, runs(count)).bins(), 0);
        }
        let bins = |log: u32, count| Table::two_way(1 << log, runs(count)).bins();
        assert_eq!(
            [8, 12, 16, 20].map(|log| bins(log, 4096)),
            [512_138, 4_043_939, 31_917_021, 251_899_837]
        );
        assert_eq!([0, 1].map(|len| Table::two_way(len, Runs::MAX).bins()), [0, 16]);
        for len in [1, 2, 3, 256, 4096] {
            let [one, some, most] =
                [1, 1024, 4096].map(|count| Table::two_way(len, runs(count)).bins());
            assert!(one <= some && some <= most, "{len} items");
            assert!(is_rare(len, some, runs(1024)) && is_rare(len, most, Runs::MAX));
            assert!(len == 1 || !is_rare(len, some * 3 / 4, runs(1024)), "{len} items");
        }
        // Both functions of both items select one bin with probability β^-5.
        assert!((Table::two_way(2, Runs::MAX).bins() as f64).powi(5) >= 2.0_f64.powi(52));
    }

    /// ln i! for i up to `most`.
    fn log_factorials(most: usize) -> Vec<f64> {
        let mut sum = 0.0;
        let next = |i: usize| {
            sum += (i.max(1) as f64).ln();
            sum
        };
        (0..=most).map(next).collect()
    }

    /// log of a bound on the probability that some k + 1 of `n` items have only k of `bins` bins
    /// between them, each of these a bin of two of the items: `parameters/hashing`.
    fn log_three_way_failure(n: usize, bins: usize) -> f64 {
        let factorials = log_factorials(bins.max(3 * n + 6));
        let binomial = |n: usize, k: usize| factorials[n] - factorials[k] - factorials[n - k];
        let triples = binomial(bins, 3);
        let term = |k: usize| {
            let (items, balls) = (k + 1, 3 * k + 3);
            // The z at which a bin of two balls or more has three on average is near 2.15; more for
            // few bins.
            let covered = |z: f64| (k as f64) * (z.exp_m1() - z).ln() - balls as f64 * z.ln();
            let covered =
                (0..60).map(|i| covered(2.0 + 0.05 * f64::from(i))).fold(f64::MAX, f64::min);
            let covered = covered + factorials[balls] - items as f64 * 6.0_f64.ln();
            let inside = (items as f64 * binomial(k, 3)).min(covered) - items as f64 * triples;
            (binomial(bins, k) + binomial(n, items) + inside).exp()
        };
        (3..n.min(bins)).map(term).sum::<f64>().log2()
    }

    #[test]
    fn tables_of_several_runs_fail_more_rarely_than_two_to_the_minus_52() {
        for n in [4, 5, 16, 100, 500, 1024, 2000, 2047, 2048, 2049, 3000, 4096, 4097, 10_000] {
            let bins = Table::stashless(n, Runs::MAX).bins();
            let log = log_three_way_failure(n, bins);
            assert!(log < -52.0, "{n} items, {bins} bins: 2^{log}");
        }
        // The bins of the fit for 512 items do not suffice for them: four items share three bins
        // too often.
        let few = (512 * (52 + 9 + 256_usize)).div_ceil(240);
        assert!(log_three_way_failure(512, few) > -52.0);
    }

    /// The expected number of tables in one that need exactly `stash` places for `n` items with two
    /// random bins each.
    ///
    /// Items are edges between their two bins. A component of e edges and v bins needs e − v places
    /// if that is positive: the excess. Graphs of a total excess have a generating function: S.
    /// Janson, D. E. Knuth, T. Łuczak, B. Pittel, "The birth of the giant component", Random
    /// Structures and Algorithms 4, 1993. T is that of rooted trees. Components without a place
    /// have U = T − T²/2 and exp V = (1 − T)^(−1/2); others are kernels of v bins, each of three
    /// edge ends or more, and e = v + s edges, with T at each bin and 1/(1 − T) at each edge. The
    /// coefficient of z^β follows by Lagrange's inversion.
    fn needs(n: usize, bins: usize, stash: usize) -> f64 {
        let log_factorial = |most: usize| (1..=most).map(|i| (i as f64).ln()).sum::<f64>();
        let Some(trees) = (bins + stash).checked_sub(n) else { return 0.0 };
        let log_all = n as f64 * (2.0_f64.ln() - 2.0 * (bins as f64).ln())
            + log_factorial(n)
            + log_factorial(bins)
            - log_factorial(trees);
        let of_kernels = |v: usize| {
            let Some(rest) = n.checked_sub(stash + v) else { return 0.0 };
            let e = v + stash;
            let weight = log_factorial(2 * e)
                - log_factorial(e)
                - log_factorial(v)
                - e as f64 * 2.0_f64.ln()
                + kernels(v, 2 * e).ln();
            (log_all + weight + log_coefficient(bins, trees, 0.5 - e as f64, rest)).exp()
        };
        (0..=2 * stash).map(of_kernels).sum()
    }

    /// [x^ends] (e^x − 1 − x − x²/2)^v.
    fn kernels(v: usize, ends: usize) -> f64 {
        let mut factorial = 1.0_f64;
        let coefficient = |i: usize| {
            factorial *= i.max(1) as f64;
            if i >= 3 { 1.0 / factorial } else { 0.0 }
        };
        let one: Vec<f64> = (0..=ends).map(coefficient).collect();
        let mut power = vec![0.0; ends + 1];
        power[0] = 1.0;
        for _ in 0..v {
            let product = |k: usize| (0..=k).map(|i| power[i] * one[k - i]).sum();
            power = (0..=ends).map(product).collect();
        }
        power[ends]
    }

    /// ln [t^at] e^(β·t)·(1 − t/2)^k·(1 − t)^a, by the recurrence of its differential equation.
    fn log_coefficient(bins: usize, k: usize, a: f64, at: usize) -> f64 {
        let (beta, k) = (bins as f64, k as f64);
        let by = [beta - k / 2.0 - a, (k + a - 3.0 * beta) / 2.0, beta / 2.0];
        let (mut last, mut log) = ([1.0_f64, 0.0, 0.0], 0.0);
        for i in 0..at {
            let i = i as f64;
            let sum =
                (1.5 * i + by[0]) * last[0] + (by[1] - 0.5 * (i - 1.0)) * last[1] + by[2] * last[2];
            last = [sum / (i + 1.0), last[0], last[1]];
            if last[0] > 1e200 {
                log += last[0].ln();
                last = last.map(|value| value / last[0]);
            }
        }
        last[0].ln() + log
    }

    /// The probability that `stash` places are too few; each further place is needed far more
    /// rarely.
    fn is_too_small(n: usize, stash: usize) -> f64 {
        let bins = Table::phasing_two_way(n).bins();
        (1..4).map(|more| needs(n, bins, stash + more)).sum()
    }

    #[test]
    fn needed_places_are_distributed_as_in_table_3_of_the_paper() {
        // Of 2^30 tables; those of the paper need a little more, by a random walk.
        let counted = [
            (11, [1_068_592_289.0, 4_994_200.0, 147_893.0, 7_005.0, 407.0]),
            (12, [1_070_826_935.0, 2_861_137.0, 52_038.0, 1_647.0, 62.0]),
        ];
        for (log, counts) in counted {
            let n = 1_usize << log;
            let bins = Table::phasing_two_way(n).bins();
            let all: f64 = (0..8).map(|stash| needs(n, bins, stash)).sum();
            assert!((all - 1.0).abs() < 1e-6, "{all}");
            for (stash, count) in counts.into_iter().enumerate() {
                let exact = needs(n, bins, stash) * f64::from(1 << 30);
                let ratio: f64 = exact / count;
                assert!((0.9..1.001).contains(&ratio), "2^{log}, {stash} places: {exact}");
            }
        }
        // All tables of three items in three bins.
        let tables = |stash| needs(3, 3, stash) * 729.0;
        let mut found = [0.0; 4];
        for i in 0..729_u32 {
            let value = |of: u32| i / 3_u32.pow(of) % 3;
            let bins = [0, 2, 4].map(|of| [value(of), value(of + 1), 0]);
            let cuckoo = Cuckoo::new(&Table::new(2, 3, 3), &bins).unwrap();
            found[cuckoo.stash().len()] += 1.0;
        }
        for (stash, count) in found.into_iter().enumerate() {
            assert!((tables(stash) - count).abs() < 1e-6, "{stash} places: {count}");
        }
    }

    #[test]
    fn stashes_fail_more_rarely_than_two_to_the_minus_40() {
        let edges = [13, 16, 64, 200, 256, 300, 400, 1000, 4095, 4096, 4097, 6000, 8191, 8192];
        for n in edges.into_iter().chain([65_535, 65_536, 1 << 18]) {
            let stash = Table::stash_len(n);
            let log = is_too_small(n, stash).log2();
            assert!(log < -40.0, "{n} items, {stash} places: 2^{log}");
        }
        // Table 4 has six places at 2^12.
        let log = is_too_small(1 << 12, 6).log2();
        assert!((-36.8..-36.5).contains(&log), "2^{log}");
        // Up to twelve items, each has a place.
        assert_eq!(Table::stash_len(12), 12);
    }

    #[test]
    fn without_a_stash_placing_fails_as_often_as_documented() {
        for (log, tables) in [(8, 55.9), (12, 384.8), (14, 1398.7)] {
            let n = 1_usize << log;
            let fails = 1.0 - needs(n, Table::phasing_two_way(n).bins(), 0);
            assert!((1.0 / fails - tables).abs() < 0.1, "2^{log}: once in {}", 1.0 / fails);
        }
    }
}
