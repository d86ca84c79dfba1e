//! Merging sorted lists over lanes.

use super::compare::sort_2;
use crate::{Gates, Lanes, word};
use vesica_core::{Error, Result};

/// Sorts lanes that fall and then rise, by their lowest `key` bits, in place: a bitonic merger (K.
/// Batcher, 1968; Huang, Evans, Katz, NDSS 2012, §5.1).
///
/// For N lanes, uses the comparators (i, i + d) of the merger for the next power of two that have
/// both lanes: the missing lanes would hold infinity and never move. N/2·log N comparators for N a
/// power of two, so merging two lists of n elements of σ bits takes 2σ·n·log(2n) gates.
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

/// Depth first while a range is too large to process at once, so that the working set stays in the
/// cache; then layer by layer.
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
        let pairs = len - half;
        let at_once = (g.lanes_at_once() / 2).max(1).min(pairs);
        let mut done = 0;
        let mut compare = |g: &mut G, word: &mut [G::Wires], n: usize| {
            let (low, high) = (first + done, first + done + half);
            let [a, b] = [low, high].map(|first| word::slice(word, first, n));
            let [a, b] = sort_2(g, key, &a, &b)?;
            word::put(word, low, &a);
            word::put(word, high, &b);
            done += n;
            Ok::<_, Error>(())
        };
        g.equal_parts((pairs / at_once) as u64, |g| compare(g, word, at_once))?;
        if !pairs.is_multiple_of(at_once) {
            compare(g, word, pairs % at_once)?;
        }
        if g.only_counts() && half == pairs {
            return g.equal_parts(2, |g| merge_range(g, key, word, first, half));
        }
        merge_range(g, key, word, first, half)?;
        return merge_range(g, key, word, first + half, pairs);
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

/// Sorts lanes of which the first `falling` fall and the others rise, by their lowest `key` bits:
/// Batcher's odd-even merger (K. Batcher, 1968; D. Knuth, "The Art of Computer Programming", volume
/// 3, §5.3.4) for lists of any lengths.
///
/// The elements with odd numbers of both lists are merged, and so are those with even numbers; then
/// a comparator for each two neighbours. A list that is merged with an empty one takes none. So
/// lists of very different lengths take few comparators, a list of one element and one of n take n;
/// two of n elements take n·log n + 1, for n a power of two.
///
/// # Errors
/// Connection errors.
pub fn merge_odd_even<G: Gates>(
    g: &mut G,
    key: usize,
    word: &mut [G::Wires],
    falling: usize,
) -> Result<()> {
    let lens = [falling, word::lanes(word) - falling];
    let at_once = (g.lanes_at_once() / 2).max(1);
    if g.only_counts() {
        for level in levels(lens) {
            let comparators = OddEven::comparators(lens, level);
            for (times, n) in [(comparators / at_once, at_once), (1, comparators % at_once)] {
                if times * n > 0 {
                    let any = vec![g.constant(false, n); word.len()];
                    g.equal_parts(times as u64, |g| sort_2(g, key, &any, &any))?;
                }
            }
        }
        return Ok(());
    }
    let mut merger = OddEven::default();
    for level in levels(lens) {
        merger = merger.next(lens, level);
        for pairs in merger.pairs.chunks(at_once) {
            let [low, high] = [0, 1].map(|i| pairs.iter().map(|pair| pair[i]).collect::<Vec<_>>());
            let [a, b] = [&low, &high].map(|places| word::gather(word, places));
            let [a, b] = sort_2(g, key, &a, &b)?;
            word::scatter(word, &low, &a);
            word::scatter(word, &high, &b);
        }
    }
    word.iter_mut().for_each(|wires| *wires = wires.gather(&merger.places));
    Ok(())
}

/// Number of comparators of [`merge_odd_even`] for lists of these lengths.
pub fn odd_even_comparators(lens: [usize; 2]) -> u64 {
    levels(lens).map(|level| OddEven::comparators(lens, level) as u64).sum()
}

/// The levels of the merger, in the order of their work: at level d there are 2^d merges, each of
/// every 2^d-th element of both lists; in the first of at most one element of each.
fn levels(lens: [usize; 2]) -> impl Iterator<Item = u32> {
    (0..=lens[0].max(lens[1]).max(1).next_power_of_two().ilog2()).rev()
}

/// The odd-even merger after some level.
#[derive(Default)]
struct OddEven {
    /// The lanes of each merge of the level in their order, one merge after the other; the merges
    /// of elements with odd and with even numbers of the same merge of the next level follow each
    /// other.
    places: Vec<u32>,
    /// The comparators of the level: the lane of the smaller element, and that of the larger.
    pairs: Vec<[u32; 2]>,
}

impl OddEven {
    /// The lengths of both lists of a merge.
    fn lens(lens: [usize; 2], level: u32, merge: usize) -> [usize; 2] {
        let first = Self::first(level, merge);
        lens.map(|len| len.saturating_sub(first).div_ceil(1 << level))
    }

    /// The number of the first element of a merge.
    fn first(level: u32, merge: usize) -> usize {
        match level {
            0 => 0,
            _ => merge.reverse_bits() >> (usize::BITS - level),
        }
    }

    /// All comparators of a level.
    fn comparators(lens: [usize; 2], level: u32) -> usize {
        let [m, n] = lens;
        // The first level compares single elements.
        if 1 << level >= m.max(n) {
            return m.min(n);
        }
        // Merges without an element of the shorter list have none.
        let merges = 0..m.min(n).min(1 << level);
        merges
            .map(|first| {
                let [m, n] = lens.map(|len| (len - first).div_ceil(1 << level));
                let [odd, even] = [m.div_ceil(2) + n.div_ceil(2), m / 2 + n / 2];
                even.min(odd - 1)
            })
            .sum()
    }

    /// The next level's work, given that of the level before.
    fn next(self, lens: [usize; 2], level: u32) -> Self {
        let mut next = Self { places: Vec::with_capacity(lens[0] + lens[1]), pairs: Vec::new() };
        if self.places.is_empty() {
            for merge in 0..1 << level {
                let i = Self::first(level, merge);
                let x = (i < lens[0]).then(|| (lens[0] - 1 - i) as u32);
                let y = (i < lens[1]).then(|| (lens[0] + i) as u32);
                next.places.extend(x.into_iter().chain(y));
                next.pairs.extend(x.zip(y).map(|(x, y)| [x, y]));
            }
            return next;
        }
        let mut rest = &self.places[..];
        for merge in 0..1 << level {
            let [m, n] = Self::lens(lens, level, merge);
            let (merged, later) = rest.split_at(m + n);
            rest = later;
            let (odd, even) = merged.split_at(m.div_ceil(2) + n.div_ceil(2));
            // The smallest is in its place, then each two neighbours are compared.
            next.places.extend(odd.first());
            let mut upper = odd.iter().skip(1);
            for low in even {
                next.places.push(*low);
                if let Some(high) = upper.next() {
                    next.places.push(*high);
                    if m > 0 && n > 0 {
                        next.pairs.push([*low, *high]);
                    }
                }
            }
            next.places.extend(upper);
        }
        next
    }
}
