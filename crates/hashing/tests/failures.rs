//! Failure rates of cuckoo hashing, measured at sizes where failures occur, for the tables used at
//! sizes where they do not.

#![allow(clippy::print_stdout)]

use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::sync::atomic::{AtomicUsize, Ordering};
use vesica_core::{Item, Runs, SessionId};
use vesica_hashing::locations::Bins;
use vesica_hashing::{Cuckoo, Locations, Table};
use vesica_net::Pool;

/// Random bins for `len` items.
fn random_bins(table: &Table, len: usize, rng: &mut SmallRng) -> Vec<Bins> {
    let count = table.bins() as u64;
    let mut bin = || ((u64::from(rng.next_u32()) * count) >> 32) as u32;
    (0..len).map(|_| [bin(), bin(), bin()]).collect()
}

/// Counts by the number of stash places that each of `runs` tables needed; the last entry counts
/// larger numbers.
fn stashes(table: Table, len: usize, runs: usize) -> [usize; 8] {
    let counts: [AtomicUsize; 8] = Default::default();
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let counts = &counts;
            scope.spawn(move || {
                let mut rng = SmallRng::seed_from_u64(0x5eed + thread as u64);
                for _ in 0..runs / threads {
                    let bins = random_bins(&table, len, &mut rng);
                    let used = Cuckoo::new(&table, &bins).map_or(7, |cuckoo| cuckoo.stash().len());
                    counts[used.min(7)].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    counts.map(AtomicUsize::into_inner)
}

#[test]
fn small_stashless_tables_have_room() {
    for len in [1, 2, 10, 200, 511, 512, 1000] {
        let [none, rest @ ..] = stashes(Table::stashless(len, Runs::ONE), len, 2000);
        assert_eq!((none, rest), (2000, [0; 7]), "{len} items");
    }
}

#[test]
fn without_a_stash_the_papers_table_fails_as_often_as_computed() {
    // Once in 55.9 tables of 2^8 items: `parameters/hashing`.
    let runs = 1 << 13;
    let table = Table::phasing_two_way(256).without_stash();
    let failures = stashes(table, 256, runs)[7] as f64;
    let expected = runs as f64 / 55.9;
    assert!((failures - expected).abs() < 5.0 * expected.sqrt(), "{failures} of {runs}");
}

#[test]
#[ignore = "slow: hundreds of thousands of tables"]
fn stashes_are_needed_as_rarely_as_table_3_of_phasing_says() {
    // Table 3: of 2^30 tables, those that needed at least one place, and at least two.
    let runs = 1 << 18;
    for (log, one, two) in [(11, 5_149_535.0, 155_335.0), (12, 2_914_889.0, 53_752.0)] {
        let len = 1 << log;
        let shape = Table::phasing_two_way(len);
        let counts = stashes(Table::new(2, shape.bins(), 7), len, runs);
        let of_runs = |of_2_30: f64| of_2_30 * runs as f64 / (1_u64 << 30) as f64;
        println!("2^{log} items: {counts:?}, expected {:.0} and {:.1}", of_runs(one), of_runs(two));
        let needed: usize = counts[1..].iter().sum();
        let more: usize = counts[2..].iter().sum();
        assert!((needed as f64) < of_runs(one) + 4.0 * of_runs(one).sqrt());
        assert!((needed as f64) > 0.5 * of_runs(one), "the tables are not those of the paper");
        assert!((more as f64) < of_runs(two) + 4.0 * of_runs(two).sqrt() + 4.0);
    }
}

#[test]
#[ignore = "slow: tens of thousands of tables"]
fn consecutive_numbers_fail_no_more_often_than_random_bins() {
    let pool = Pool::new(std::num::NonZeroUsize::MIN).unwrap();
    let runs = 1_u64 << 14;
    // Few bits of each number remain: 2 and 12.
    for (len, bins, item_bits, step) in [(512, 560, 11, 3), (512, 560, 21, 1), (512, 560, 21, 512)]
    {
        let table = Table::new(3, bins, 0);
        let items: Vec<Item> = (0..len).map(|i| Item::from_integer(i * step)).collect();
        let failures = (0..runs).filter(|run| {
            let mut session = [0; 32];
            session[..8].copy_from_slice(&run.to_le_bytes());
            let session = SessionId::from_bytes(session);
            let bins = Locations::permuted(table, &session, item_bits).bins(&pool, &items);
            Cuckoo::new(&table, &bins).is_err()
        });
        let (failures, random) = (failures.count(), stashes(table, len as usize, runs as usize)[7]);
        println!("{item_bits} bits, step {step}: {failures} of {runs}, random bins {random}");
        let sum = (failures + random) as f64;
        assert!(random > 100, "too few failures to compare");
        assert!((failures as f64) < random as f64 + 5.0 * sum.sqrt());
    }
}

#[test]
#[ignore = "slow: hundreds of thousands of tables"]
fn dense_keys_with_few_remaining_bits_fit_into_the_table() {
    // With three rounds only, 7 in 100,000 of these would fail with one remaining bit.
    let pool = Pool::new(std::num::NonZeroUsize::MIN).unwrap();
    for (functions, len, bins) in [(2, 64_u64, 1024), (3, 512, 651), (3, 272, 651)] {
        for left in 1..=6 {
            let table = Table::new(functions, bins, 0);
            let item_bits = bins.ilog2() + left;
            let items: Vec<Item> = (0..len).map(|i| Item::from_integer(i.into())).collect();
            let runs = if left == 1 { 200_000 } else { 50_000 } * 64 / len;
            let failures = (0..runs).filter(|run| {
                let mut session = [7; 32];
                session[..8].copy_from_slice(&run.to_le_bytes());
                let session = SessionId::from_bytes(session);
                let bins = Locations::permuted(table, &session, item_bits).bins(&pool, &items);
                Cuckoo::new(&table, &bins).is_err()
            });
            let failures = failures.count();
            println!(
                "{functions} functions, {len} in {bins}, {left} bits remain: {failures} of {runs}"
            );
            assert!(failures <= 1, "{failures} of {runs}");
        }
    }
}

#[test]
#[ignore = "slow: hundreds of thousands of tables"]
fn the_fit_of_stashless_tables_is_on_the_safe_side() {
    // λ = 240·e − log n − 256, at expansions small enough to observe failures.
    let runs = 1 << 18;
    for (log, bits) in [(9, 6), (10, 6), (10, 9), (12, 6), (12, 9)] {
        let len = 1_usize << log;
        let bins = (len * (bits + log + 256)).div_ceil(240);
        let counts = stashes(Table::new(3, bins, 0), len, runs >> (log - 9));
        let failures = counts[7] as f64 / (runs >> (log - 9)) as f64;
        println!("2^{log} items, {bins} bins: 2^{:.1}, fit 2^-{bits}", failures.log2());
        assert!(failures < 2.0_f64.powi(-(bits as i32)));
    }
}
