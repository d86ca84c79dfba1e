use vesica_core::params::STATISTICAL_SECURITY_BITS;

/// Most hash functions of a table.
pub const MAX_FUNCTIONS: usize = 3;

/// The shape of a hash table, computed alike by both parties from the public size of the set that
/// cuckoo hashing places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    functions: usize,
    bins: usize,
    stash: usize,
}

/// Below this, bins are so few that the fits do not hold; more bins are cheap.
const SMALL_SET_LEN: u64 = 512;

impl Table {
    /// A table of any shape, for measuring how often placing fails.
    ///
    /// # Panics
    /// If there are not two or three functions.
    pub fn new(functions: usize, bins: usize, stash: usize) -> Self {
        assert!((2..=MAX_FUNCTIONS).contains(&functions), "two or three functions");
        Self { functions, bins, stash }
    }

    /// Three functions, no stash: placing `len` items fails with probability below 2^-40.
    ///
    /// ε = (λ + log n + 256)/240 bins an item from 512 items on, 1.300 at 2^16 and 1.333 at 2^24,
    /// the fit of the experiments of D. Demmler, P. Rindal, M. Rosulek, N. Trieu, "PIR-PSI", PoPETs
    /// 2018. For fewer items the bins of 512.
    pub fn stashless(len: usize) -> Self {
        let n = (len as u64).max(SMALL_SET_LEN);
        // ⌈log n⌉ makes ε a rational that both parties round alike.
        let log = u64::from(vesica_core::params::ceil_log2(n));
        let numerator = u64::from(STATISTICAL_SECURITY_BITS) + log + 256;
        let bins = if len == 0 { 0 } else { (n * numerator).div_ceil(240) as usize };
        Self { functions: 3, bins, stash: 0 }
    }

    /// Three functions and 1.2·n bins, with the stash of [`Table::stash_len`] (Pinkas, Schneider,
    /// Segev, Zohner, "Phasing", USENIX Security 2015, §8 and Table 4).
    pub fn phasing_three_way(len: usize) -> Self {
        let bins = if len == 0 { 0 } else { (len * 6).div_ceil(5).max(2) };
        Self { functions: 3, bins, stash: Self::stash_len(len) }
    }

    /// Two functions and 2.4·n bins, with the stash of [`Table::stash_len`] (the same, §7.2 and
    /// Table 4).
    pub fn phasing_two_way(len: usize) -> Self {
        let bins = if len == 0 { 0 } else { (len * 12).div_ceil(5).max(2) };
        Self { functions: 2, bins, stash: Self::stash_len(len) }
    }

    /// The same without a stash, as the paper does where n_2 ≪ n_1 (§8.2.2).
    pub fn without_stash(self) -> Self {
        Self { stash: 0, ..self }
    }

    /// Stash places for `len` items in 2.4·`len` bins under two functions, for failure below 2^-40:
    /// Table 4 of the paper, at the next smaller size of the table, where the stash is larger.
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

    /// s, the places of the stash.
    pub fn stash(&self) -> usize {
        self.stash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stash_sizes_are_those_of_table_4() {
        let sizes = [(8, 12), (12, 6), (16, 4), (20, 3), (24, 2)];
        for (log, stash) in sizes {
            assert_eq!(Table::stash_len(1 << log), stash);
            assert!(Table::stash_len((1 << log) - 1) >= stash);
        }
        assert_eq!(Table::stash_len(0), 0);
        assert_eq!(Table::stash_len(3), 3);
    }

    #[test]
    fn bins_are_those_of_the_papers() {
        assert_eq!(Table::phasing_three_way(1 << 20).bins(), 1_258_292);
        assert_eq!(Table::phasing_two_way(1 << 20).bins(), 2_516_583);
        assert_eq!(Table::stashless(1 << 16).bins(), 85_197);
        assert_eq!(Table::stashless(1 << 20).bins(), 1_380_626);
        assert_eq!(Table::stashless(1).bins(), Table::stashless(512).bins());
        assert_eq!(Table::stashless(0).bins(), 0);
    }
}
