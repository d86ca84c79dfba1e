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
        let stash = match vesica_core::params::ceil_log2(len as u64 + 1) - 1 {
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
