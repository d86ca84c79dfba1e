//! Sorting networks over lanes.

use super::compare::sort_2;
use crate::{Gates, word};
use vesica_core::Result;

/// Sorts lanes that fall and then rise, by their lowest `key` bits, in place: a bitonic merger (K. Batcher, 1968;
/// Huang, Evans, Katz, NDSS 2012, §5.1).
///
/// For N lanes, uses the comparators (i, i + d) of the merger for the next power of two that have both lanes: the
/// missing lanes would hold infinity and never move. N/2·log N comparators for N a power of two, so merging two lists
/// of n elements of σ bits takes 2σ·n·log(2n) gates.
///
/// # Errors
/// Connection errors.
pub fn merge_bitonic<G: Gates>(g: &mut G, key: usize, word: &mut [G::Wires]) -> Result<()> {
    let len = word::lanes(word);
    merge_range(g, key, word, 0, len)
}

/// Number of comparators of [`merge_bitonic`] on `len` lanes.
pub fn merge_comparators(len: usize) -> u64 {
    match len {
        0 | 1 => 0,
        _ => {
            let half = len.next_power_of_two() / 2;
            (len - half) as u64 + merge_comparators(half) + merge_comparators(len - half)
        }
    }
}

/// Depth first while a range is too large to process at once, so that the working set stays in the cache; then layer by
/// layer.
fn merge_range<G: Gates>(
    g: &mut G,
    key: usize,
    word: &mut [G::Wires],
    first: usize,
    len: usize,
) -> Result<()> {
    if len < 2 {
        return Ok(());
    }
    let half = len.next_power_of_two() / 2;
    if len > g.lanes_at_once() {
        let mut done = 0;
        while done < len - half {
            let n = (g.lanes_at_once() / 2).max(1).min(len - half - done);
            let (low, high) = (first + done, first + done + half);
            let [a, b] = [low, high].map(|first| word::slice(word, first, n));
            let [a, b] = sort_2(g, key, &a, &b)?;
            word::put(word, low, &a);
            word::put(word, high, &b);
            done += n;
        }
        merge_range(g, key, word, first, half)?;
        return merge_range(g, key, word, first + half, len - half);
    }
    let mut part = word::slice(word, first, len);
    let mut stride = half;
    while stride > 0 {
        let [a, b] = word::halves(&part, stride);
        let [a, b] = sort_2(g, key, &a, &b)?;
        word::put_halves(&mut part, stride, [&a, &b]);
        stride /= 2;
    }
    word::put(word, first, &part);
    Ok(())
}

/// Sorts all lanes by their lowest `key` bits, smallest first, in place. Batcher's odd-even merge sort (K. Batcher,
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

/// The layers of the sort: p, the length of the sorted runs, and k, the distance of the compared lanes.
fn layers(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let powers = |most: usize| (0..usize::BITS).map(|i| 1 << i).take_while(move |p| *p <= most);
    let runs = powers(len.saturating_sub(1)).filter(move |p| *p < len);
    runs.flat_map(move |p| powers(p).collect::<Vec<_>>().into_iter().rev().map(move |k| (p, k)))
}

/// The lower lanes of a layer's comparators, as runs. A run of k lanes starts at a multiple of k, so its comparators
/// lie either all within one pair of sorted runs or all outside.
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
