//! The order in which both parties go through the network.
//!
//! Depth first: a segment's input switches, its upper part, its lower part, its output switches.
//! Most segments then fit into a cache of any size, and both parties see the switches in the same
//! order.
//!
//! Each segment keeps a prefix of its outputs. Output switches that lead to no kept output are
//! omitted, and so are all switches of a part that keeps nothing. A segment that keeps one output
//! is a tree: each switch hands on its first lane.

use crate::Network;
use std::collections::BTreeMap;
use vesica_core::{Result, SessionId};
use vesica_net::Context;

/// What a party does at the switches, in the order of the walk, piece by piece.
pub(super) trait Switches: Sized {
    /// Sets up the OTs for `switches` switches of rows of `bits` bits.
    fn setup(ctx: &mut Context, session: &SessionId, switches: u64, bits: u32) -> Result<Self>;

    /// Number of switches left in the current piece.
    fn ready(&self) -> usize;

    /// Makes the next piece.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] if no switches are left; connection errors.
    fn begin(&mut self, ctx: &mut Context) -> Result<()>;

    /// Applies the next switches of the piece to `pairs`: for each pair, the words of one lane,
    /// then of the other. A lane has `W` words, or `words` if `W` is 0.
    fn apply<const W: usize>(&mut self, words: usize, pairs: &mut [u64]);

    /// Ends a piece, after all of its switches.
    fn end(&mut self, ctx: &mut Context) -> Result<()>;
}

/// Applies the next switches to `pairs`, which may belong to several pieces.
fn pass<const W: usize>(
    ctx: &mut Context,
    switches: &mut impl Switches,
    words: usize,
    pairs: &mut [u64],
) -> Result<()> {
    let pair_len = 2 * if W == 0 { words } else { W };
    let mut rest = pairs;
    while !rest.is_empty() {
        if switches.ready() == 0 {
            switches.begin(ctx)?;
        }
        let n = (rest.len() / pair_len).min(switches.ready());
        let (now, later) = rest.split_at_mut(pair_len * n);
        switches.apply::<W>(words, now);
        if switches.ready() == 0 {
            switches.end(ctx)?;
        }
        rest = later;
    }
    Ok(())
}

/// A segment of Waksman's network that keeps a prefix of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kept {
    /// Number of lanes.
    pub(super) len: usize,
    /// Number of kept outputs, from the first on.
    pub(super) kept: usize,
}

impl Kept {
    /// Whether the segment has no switches.
    pub(super) fn is_nothing(self) -> bool {
        self.kept == 0 || self.len < 2
    }

    /// Whether it is a tree that leads one of its lanes to its only kept output.
    pub(super) fn is_tree(self) -> bool {
        self.kept == 1 && self.len > 2
    }

    /// Number of input switches, unless it is a tree.
    pub(super) fn inputs(self) -> usize {
        if self.is_nothing() { 0 } else { self.len / 2 }
    }

    /// Number of output switches that lead to a kept output, unless it is a tree: a prefix of them.
    pub(super) fn outputs(self) -> usize {
        self.kept.div_ceil(2).min(Network::waksman(self.len).output_switches(self.len))
    }

    /// The upper and the lower part, unless it is a tree.
    pub(super) fn parts(self) -> [Self; 2] {
        let (upper, lower) = (self.len / 2, self.len - self.len / 2);
        let switched = self.outputs();
        // Outputs without an output switch come straight from the parts, first from the upper one.
        let straight = self.kept.saturating_sub(2 * switched);
        let to_upper = if switched < upper { straight.div_ceil(2) } else { 0 };
        [
            Self { len: upper, kept: switched + to_upper },
            Self { len: lower, kept: switched + straight - to_upper },
        ]
    }

    /// Number of switches.
    pub(super) fn switch_count(self) -> u64 {
        let mut count = 0;
        // A level has very few different kinds of segments.
        let mut level = BTreeMap::from([(self, 1_u64)]);
        while !level.is_empty() {
            let mut next = BTreeMap::new();
            for (segment, times) in level {
                if segment.is_nothing() {
                    continue;
                }
                if segment.is_tree() {
                    count += times * (segment.len - 1) as u64;
                    continue;
                }
                count += times * (segment.inputs() + segment.outputs()) as u64;
                for part in segment.parts() {
                    *next.entry(part).or_insert(0) += times;
                }
            }
            level = next;
        }
        count
    }
}

/// Takes the lanes through the network. Afterwards the kept outputs come first; the other lanes are
/// arbitrary.
pub(super) fn walk(
    ctx: &mut Context,
    switches: &mut impl Switches,
    network: Kept,
    words: usize,
    lanes: &mut [u64],
) -> Result<()> {
    let mut scratch = zeroize::Zeroizing::new(vec![0; lanes.len()]);
    match words {
        1 => segment::<1>(ctx, switches, network, words, lanes, &mut scratch),
        2 => segment::<2>(ctx, switches, network, words, lanes, &mut scratch),
        _ => segment::<0>(ctx, switches, network, words, lanes, &mut scratch),
    }
}

/// Pairs that are switched and then moved together, while they are in the first-level cache.
const AT_ONCE: usize = 128;

/// A segment that keeps one output: each level halves the lanes.
fn tree<const W: usize>(
    ctx: &mut Context,
    switches: &mut impl Switches,
    words: usize,
    lanes: &mut [u64],
) -> Result<()> {
    let w = if W == 0 { words } else { W };
    let mut len = lanes.len() / w;
    while len > 1 {
        pass::<W>(ctx, switches, words, &mut lanes[..len / 2 * 2 * w])?;
        len = len.div_ceil(2);
        // The second lane of a pair goes; an unpaired last one stays.
        for lane in 1..len {
            lanes.copy_within(2 * lane * w..(2 * lane + 1) * w, lane * w);
        }
    }
    Ok(())
}

fn segment<const W: usize>(
    ctx: &mut Context,
    switches: &mut impl Switches,
    this: Kept,
    words: usize,
    lanes: &mut [u64],
    scratch: &mut [u64],
) -> Result<()> {
    if this.is_nothing() {
        return Ok(());
    }
    if this.is_tree() {
        return tree::<W>(ctx, switches, words, lanes);
    }
    if this.len == 2 {
        return pass::<W>(ctx, switches, words, lanes);
    }
    let w = if W == 0 { words } else { W };
    let half = this.len / 2 * w;
    {
        let (upper, lower) = scratch.split_at_mut(half);
        let (paired, unpaired) = lanes.split_at_mut(2 * half);
        let (lower, last) = lower.split_at_mut(half);
        let parts = upper.chunks_mut(AT_ONCE * w).zip(lower.chunks_mut(AT_ONCE * w));
        for (pairs, (upper, lower)) in paired.chunks_mut(2 * AT_ONCE * w).zip(parts) {
            pass::<W>(ctx, switches, words, pairs)?;
            let parts = upper.chunks_exact_mut(w).zip(lower.chunks_exact_mut(w));
            for (pair, (upper, lower)) in pairs.chunks_exact(2 * w).zip(parts) {
                upper.copy_from_slice(&pair[..w]);
                lower.copy_from_slice(&pair[w..]);
            }
        }
        last.copy_from_slice(unpaired);
    }
    let [upper, lower] = this.parts();
    {
        let (upper_lanes, lower_lanes) = scratch.split_at_mut(half);
        let (upper_scratch, lower_scratch) = lanes.split_at_mut(half);
        segment::<W>(ctx, switches, upper, words, upper_lanes, upper_scratch)?;
        segment::<W>(ctx, switches, lower, words, lower_lanes, lower_scratch)?;
    }
    let (upper, lower) = scratch.split_at(half);
    let switched = this.outputs() * w;
    let parts = upper[..switched].chunks(AT_ONCE * w).zip(lower[..switched].chunks(AT_ONCE * w));
    for (pairs, (upper, lower)) in lanes[..2 * switched].chunks_mut(2 * AT_ONCE * w).zip(parts) {
        let parts = upper.chunks_exact(w).zip(lower.chunks_exact(w));
        for (pair, (upper, lower)) in pairs.chunks_exact_mut(2 * w).zip(parts) {
            pair[..w].copy_from_slice(upper);
            pair[w..].copy_from_slice(lower);
        }
        pass::<W>(ctx, switches, words, pairs)?;
    }
    // At most two lanes remain: a last pair without a switch, or an unpaired lane.
    let straight = &mut lanes[2 * switched..][..(this.kept * w).saturating_sub(2 * switched)];
    let sources = upper[switched..].iter().take(w).chain(&lower[switched..]);
    straight.iter_mut().zip(sources).for_each(|(lane, source)| *lane = *source);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Counts the switches of Waksman's network that lead to one of the first outputs, by going
    /// backwards. A segment of which one output is needed counts as a tree.
    fn that_lead_there(len: usize, kept: usize) -> u64 {
        let network = Network::waksman(len);
        let mut leads: BTreeSet<usize> = (0..kept).collect();
        let mut count = 0;
        for level in 0..network.levels() {
            let mut parts = BTreeSet::new();
            for segment in network.segments(level) {
                let (first, half) = (segment.lanes.start, segment.len() / 2);
                let mut needed: BTreeSet<usize> =
                    segment.lanes.clone().filter(|lane| leads.contains(lane)).collect();
                if needed.len() == 1 && segment.len() > 1 {
                    assert!(needed.contains(&first), "the first of {segment:?}");
                    count += segment.len() as u64 - 1;
                    continue;
                }
                for switch in 0..segment.output.len() {
                    let pair = [first + 2 * switch, first + 2 * switch + 1];
                    if pair.iter().any(|lane| needed.contains(lane)) {
                        count += 1;
                        needed.extend(pair);
                    }
                }
                // Each input leads to each output, so the input switches count if any output is
                // needed.
                count += if needed.is_empty() { 0 } else { segment.input.len() as u64 };
                parts.extend(needed.iter().map(|lane| {
                    let i = lane - first;
                    if i % 2 == 0 && i / 2 < half { first + i / 2 } else { first + half + i / 2 }
                }));
            }
            leads = parts;
        }
        count
    }

    #[test]
    fn the_switches_are_those_that_lead_to_a_kept_output() {
        for len in 0..70 {
            for kept in 0..=len {
                let count = Kept { len, kept }.switch_count();
                assert_eq!(count, that_lead_there(len, kept), "{kept} of {len}");
            }
        }
    }

    #[test]
    fn few_outputs_cost_a_few_switches_a_lane() {
        let switches = |len, kept| Kept { len, kept }.switch_count();
        for len in [3, 10, 1000, 1 << 16, 1_331_691] {
            assert_eq!(switches(len, 1), len as u64 - 1, "one of {len}");
            for kept in [2, 5, 100, 1000].into_iter().filter(|kept| *kept < len) {
                // Half a switch a lane for each level until a segment keeps one output, then a
                // tree.
                let levels = kept.next_power_of_two().ilog2() as f64;
                let most = len as f64 * (levels / 2.0 + 1.0) + kept as f64 * levels;
                assert!((switches(len, kept) as f64) < most, "{kept} of {len}");
            }
        }
    }

    #[test]
    fn all_switches_are_those_of_the_network() {
        for len in (0..2000).chain([1 << 16, 1_331_691, 1 << 20]) {
            let count = Kept { len, kept: len }.switch_count();
            assert_eq!(count, Network::waksman(len).switch_count() as u64, "{len} lanes");
        }
    }
}
