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

/// The largest `most` lanes by their lowest `key` bits, ascending, or all lanes where there are
/// fewer. By sorters of twice that number, each of the largest so far and of the next lanes (Huang,
/// Evans, Katz, NDSS 2012, §5.3.1).
///
/// # Errors
/// Connection errors.
pub fn sort_largest<G: Gates>(
    g: &mut G,
    key: usize,
    word: &[G::Wires],
    most: usize,
) -> Result<Vec<G::Wires>> {
    let len = word::lanes(word);
    let mut largest = word::slice(word, 0, most.min(len));
    if most >= len {
        sort(g, key, &mut largest)?;
        return Ok(largest);
    }
    for first in blocks(len, most) {
        let next = word::slice(word, first, most.min(len - first));
        let mut block = word::concat(&[largest, next]);
        sort(g, key, &mut block)?;
        largest = word::slice(&block, word::lanes(&block) - most, most);
    }
    Ok(largest)
}

/// Number of comparators of [`sort_largest`] on `len` lanes.
pub fn sort_largest_comparators(len: usize, most: usize) -> u64 {
    if most >= len {
        return sort_comparators(len);
    }
    blocks(len, most).map(|first| sort_comparators(most + most.min(len - first))).sum()
}

/// Where the blocks after the first begin.
fn blocks(len: usize, most: usize) -> impl Iterator<Item = usize> {
    let len = if most == 0 { 0 } else { len };
    (most..len).step_by(most.max(1))
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
