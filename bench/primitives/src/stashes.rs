//! What tables of Circuit-Phasing need: stash places in the cuckoo table, room in the bins of the
//! other.

use crate::measure::BenchError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::thread;
use vesica_core::Runs;
use vesica_hashing::locations::Bins;
use vesica_hashing::{Cuckoo, Table, max_load};

/// Larger stashes are counted together.
const LARGEST: usize = 7;

/// Tables of one size.
#[derive(Serialize)]
struct Counted {
    n: u32,
    tables: u64,
    /// How many tables needed 0, 1, … places; the last entry counts larger numbers too.
    needed: [u64; LARGEST + 1],
    /// The stash places that a run has.
    stash: usize,
    /// Room in a bin when the other party places its items by both functions.
    max_load: usize,
}

/// Fills `tables` tables of each size with random bins, and counts what they needed, as JSON.
///
/// # Errors
/// If the result cannot be written as JSON.
pub(crate) fn to_json(
    sizes: &[u32],
    tables: u64,
    threads: NonZeroUsize,
) -> Result<String, BenchError> {
    let counted = sizes.iter().map(|n| {
        let shape = Table::phasing_two_way(*n as usize);
        let max_load = max_load(2 * *n as usize, shape.bins(), Runs::ONE);
        let needed = count(*n, tables, threads);
        Counted { n: *n, tables, needed, stash: shape.stash(), max_load }
    });
    let counted: Vec<_> = counted.collect();
    Ok(serde_json::to_string(&counted)?)
}

fn count(n: u32, tables: u64, threads: NonZeroUsize) -> [u64; LARGEST + 1] {
    let threads = threads.get() as u64;
    let mut needed = [0; LARGEST + 1];
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let share = tables / threads + u64::from(thread < tables % threads);
                scope.spawn(move || count_on_one_thread(n, share))
            })
            .collect();
        for part in parts {
            let part = part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            needed.iter_mut().zip(part).for_each(|(all, one)| *all += one);
        }
    });
    needed
}

fn count_on_one_thread(n: u32, tables: u64) -> [u64; LARGEST + 1] {
    let shape = Table::phasing_two_way(n as usize);
    let table = Table::new(shape.functions(), shape.bins(), LARGEST);
    let mut rng = ChaCha12Rng::from_rng(&mut rand::rng());
    let count = table.bins() as u64;
    let mut needed = [0; LARGEST + 1];
    for _ in 0..tables {
        let mut bin = || ((u64::from(rng.next_u32()) * count) >> 32) as u32;
        let bins: Vec<Bins> = (0..n).map(|_| [bin(), bin(), bin()]).collect();
        let places = Cuckoo::new(&table, &bins).map_or(LARGEST, |cuckoo| cuckoo.stash().len());
        needed[places.min(LARGEST)] += 1;
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_counted_and_few_need_a_stash() {
        let needed = count(256, 301, NonZeroUsize::MIN.saturating_add(1));
        assert_eq!(needed.iter().sum::<u64>(), 301);
        // About one table in thirty.
        assert!(needed[0] > 200, "{needed:?}");
    }
}
