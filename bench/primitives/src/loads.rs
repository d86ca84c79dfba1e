//! How full cuckoo tables without a stash can be, by the number of hash functions.

use crate::measure::BenchError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::Serialize;
use std::ops::RangeInclusive;
use vesica_hashing::{Cuckoo, MAX_MEASURED_FUNCTIONS, Table};

/// Functions of a table.
const FUNCTIONS: RangeInclusive<usize> = 2..=MAX_MEASURED_FUNCTIONS;

/// Tables of one number of functions.
#[derive(Serialize)]
struct Filled {
    functions: usize,
    bins: u32,
    tables: u32,
    /// Items per bin when the first item did not fit, the median of the tables.
    utilisation: f64,
}

/// Fills `tables` tables of `bins` bins item by item until one does not fit, for each number of
/// functions, as JSON.
///
/// # Errors
/// If the result cannot be written as JSON.
pub(crate) fn to_json(bins: u32, tables: u32) -> Result<String, BenchError> {
    let filled: Vec<_> = FUNCTIONS
        .map(|functions| {
            let mut most: Vec<u32> = (0..tables.max(1)).map(|_| fill(functions, bins)).collect();
            most.sort_unstable();
            let utilisation = f64::from(most[most.len() / 2]) / f64::from(bins);
            Filled { functions, bins, tables: most.len() as u32, utilisation }
        })
        .collect();
    Ok(serde_json::to_string(&filled)?)
}

/// How many items with random bins fit, one after the other, until one does not.
fn fill(functions: usize, bins: u32) -> u32 {
    let table = Table::new(functions, bins as usize, 0);
    let mut rng = ChaCha12Rng::from_rng(&mut rand::rng());
    let mut bin = || ((u64::from(rng.next_u32()) * u64::from(bins)) >> 32) as u32;
    // More items than bins never fit.
    let items: Vec<_> = (0..=bins).map(|_| [(); MAX_MEASURED_FUNCTIONS].map(|()| bin())).collect();
    // Placing fails exactly if no assignment exists, so what fits fits without its last items too.
    let (mut fit, mut too_many) = (0, bins + 1);
    while too_many - fit > 1 {
        let middle = fit + (too_many - fit) / 2;
        match Cuckoo::new(&table, &items[..middle as usize]) {
            Ok(_) => fit = middle,
            Err(_) => too_many = middle,
        }
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_functions_fill_tables_better() {
        // Dietzfelbinger and others: 50.0, 91.8, 97.7 and 99.2 % of infinitely many bins.
        let loads = FUNCTIONS.map(|functions| f64::from(fill(functions, 4096)) / 4096.0);
        let loads: Vec<f64> = loads.collect();
        // With two functions the first cycles are a matter of luck: the load of one filling has a
        // wide distribution.
        for (load, limit) in loads.iter().zip([0.500, 0.918, 0.977, 0.992]).skip(1) {
            assert!((limit - 0.12..limit + 0.02).contains(load), "{loads:?}");
        }
        assert!((0.1..0.8).contains(&loads[0]), "{loads:?}");
        assert!(loads.is_sorted(), "{loads:?}");
    }
}
