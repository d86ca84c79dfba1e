//! Sorting networks over lanes.

use super::compare::sort_2;
use crate::{Gates, word};
use vesica_core::Result;

/// Sorts all lanes by their lowest `key` bits, smallest first, in place. Batcher's odd-even merge
/// sort (K. Batcher,
/// 1968) for any number of lanes; (k² − k + 4)·2^(k−2) − 1 comparators for 2^k lanes.
///
/// # Errors
/// Connection errors.
pub fn sort<G: Gates>(g: &mut G, key: usize, word: &mut [G::Wires]) -> Result<()> {
    let len = word::lanes(word);
    for (p, k) in layers(len) {
        if g.only_counts() {
            let any = vec![g.constant(false, count(len, p, k)); word.len()];
            sort_2(g, key, &any, &any)?;
            continue;
        }
        let places = comparators(len, p, k);
        for places in places.chunks((g.lanes_at_once() / 2).max(1)) {
            let low: Vec<u32> = places.to_vec();
            let high: Vec<u32> = places.iter().map(|place| place + k as u32).collect();
            let [a, b] = [&low, &high].map(|places| word::gather(word, places));
            let [a, b] = sort_2(g, key, &a, &b)?;
            word::scatter(word, &low, &a);
            word::scatter(word, &high, &b);
        }
    }
    Ok(())
}

/// Number of comparators of [`sort`] on `len` lanes.
pub fn sort_comparators(len: usize) -> u64 {
    layers(len).map(|(p, k)| count(len, p, k) as u64).sum()
}

/// The layers of the sort: p, the length of the sorted runs, and k, the distance of the compared
/// lanes.
fn layers(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let powers = |most: usize| (0..usize::BITS).map(|i| 1 << i).take_while(move |p| *p <= most);
    let runs = powers(len.saturating_sub(1)).filter(move |p| *p < len);
    runs.flat_map(move |p| powers(p).collect::<Vec<_>>().into_iter().rev().map(move |k| (p, k)))
}

/// The lower lanes of a layer's comparators, as runs. A run of k lanes starts at a multiple of k,
/// so its comparators lie either all within one pair of sorted runs or all outside.
fn runs(len: usize, p: usize, k: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts = (k % p..len.saturating_sub(k)).step_by(2 * k);
    let within = starts.filter(move |first| first / (2 * p) == (first + k) / (2 * p));
    within.map(move |first| first..(first + k).min(len - k))
}

/// The lower lanes of a layer's comparators.
fn comparators(len: usize, p: usize, k: usize) -> Vec<u32> {
    runs(len, p, k).flatten().map(|lane| lane as u32).collect()
}

/// Number of comparators in a layer.
fn count(len: usize, p: usize, k: usize) -> usize {
    runs(len, p, k).map(|run| run.len()).sum()
}
