use crate::{Network, Permutation, Segment};
use vesica_core::Secret;

/// The number of settings differs from the number of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of settings differs from the number of switches")]
pub struct WrongSwitchCount;

/// The switch settings of a network; secret, wiped when dropped.
///
/// Each level has input switches and output switches, for its segments from left to right, and
/// within a segment from its first lane on. [`Segment::input`] and [`Segment::output`] use the same
/// numbers.
pub struct Routing {
    network: Network,
    input: Secret<Vec<Vec<bool>>>,
    output: Secret<Vec<Vec<bool>>>,
}

impl Routing {
    /// The settings that realise `permutation` in Waksman's network.
    pub fn waksman(permutation: &Permutation) -> Self {
        Self::new(Network::waksman(permutation.len()), permutation)
    }

    /// The settings that realise `permutation` in Beneš's network.
    pub fn benes(permutation: &Permutation) -> Self {
        Self::new(Network::benes(permutation.len()), permutation)
    }

    /// Given settings: for each level its input switches, then its output switches.
    ///
    /// # Errors
    /// [`WrongSwitchCount`] unless there are [`Network::switch_count`] settings.
    pub fn from_settings(network: Network, settings: &[bool]) -> Result<Self, WrongSwitchCount> {
        if settings.len() != network.switch_count() {
            return Err(WrongSwitchCount);
        }
        let mut rest = settings;
        let mut routing = Self::unset(network);
        let Self { input, output, .. } = &mut routing;
        for (input, output) in input.expose_mut().iter_mut().zip(output.expose_mut()) {
            for switches in [input, output] {
                let (head, tail) = rest.split_at(switches.len());
                switches.copy_from_slice(head);
                rest = tail;
            }
        }
        Ok(routing)
    }

    fn unset(network: Network) -> Self {
        let input = (0..network.levels()).map(|d| vec![false; network.input_count(d)]);
        let output = (0..network.levels()).map(|d| vec![false; network.output_count(d)]);
        Self { network, input: Secret::new(input.collect()), output: Secret::new(output.collect()) }
    }

    /// Routes level by level with the looping algorithm. The time and the order of memory accesses
    /// depend on the permutation.
    fn new(network: Network, permutation: &Permutation) -> Self {
        let mut routing = Self::unset(network);
        let mut order = Order::new(permutation);
        let mut next = Order::zero(network.len());
        let mut routed = vec![false; network.len().div_ceil(2)];
        for level in 0..network.levels() {
            for Segment { lanes, input, output } in network.segments(level) {
                let input = &mut routing.input.expose_mut()[level][input];
                let output = &mut routing.output.expose_mut()[level][output];
                let sources = &order.sources.expose()[lanes.clone()];
                let targets = &order.targets.expose()[lanes.clone()];
                let routed = &mut routed[..lanes.len().div_ceil(2)];
                set_switches(sources, targets, routed, input, output);
                split(sources, output, &mut next.sources.expose_mut()[lanes.clone()]);
                split(targets, input, &mut next.targets.expose_mut()[lanes]);
            }
            std::mem::swap(&mut order, &mut next);
        }
        routing
    }

    /// The network.
    pub fn network(&self) -> Network {
        self.network
    }

    /// The input switches of a level: true where a switch exchanges its lanes.
    ///
    /// # Panics
    /// If the level does not exist.
    pub fn input(&self, level: usize) -> &[bool] {
        &self.input.expose()[level]
    }

    /// The output switches of a level: true where a switch exchanges its lanes.
    ///
    /// # Panics
    /// If the level does not exist.
    pub fn output(&self, level: usize) -> &[bool] {
        &self.output.expose()[level]
    }
}

/// The permutations of the segments of a level, each relative to its own first lane.
struct Order {
    /// The source of the lane at each place.
    sources: Secret<Vec<u32>>,
    /// The target of the lane at each place.
    targets: Secret<Vec<u32>>,
}

impl Order {
    fn new(permutation: &Permutation) -> Self {
        let copied = |permutation: &Permutation| Secret::new(permutation.sources().to_vec());
        Self { sources: copied(permutation), targets: copied(&permutation.inverse()) }
    }

    fn zero(len: usize) -> Self {
        let zeros = || Secret::new(vec![0; len]);
        Self { sources: zeros(), targets: zeros() }
    }
}

/// Sets the switches of one segment; `routed` has an entry for each of its pairs.
///
/// The two lanes of a pair go through different parts, at the input and at the output. So the part
/// of one lane decides the part of its partner, alternately at both ends, until the loop closes. An
/// unpaired lane, and the last lane of a Waksman network, goes through the lower part, so the loop
/// through the last output comes first.
pub(crate) fn set_switches(
    sources: &[u32],
    targets: &[u32],
    routed: &mut [bool],
    input: &mut [bool],
    output: &mut [bool],
) {
    let len = sources.len();
    routed.fill(false);
    let mut walk = Walk { sources, targets, routed, input, output };
    if len % 2 == 1 {
        let mut out = Some(len - 1);
        while let Some(lower) = out {
            out = walk.through_lower(lower);
        }
    }
    for pair in (0..len / 2).rev() {
        if std::mem::replace(&mut walk.routed[pair], true) {
            continue;
        }
        let (mut lower, mut upper) = (Some(2 * pair + 1), Some(2 * pair));
        // Follows the loop in both directions at once: one waits for memory while the other
        // proceeds.
        while let (Some(at_lower), Some(at_upper)) = (lower, upper) {
            lower = walk.through_lower(at_lower);
            upper = walk.through_upper(at_upper);
        }
    }
}

/// The loops through the pairs of a segment.
struct Walk<'a> {
    sources: &'a [u32],
    targets: &'a [u32],
    routed: &'a mut [bool],
    input: &'a mut [bool],
    output: &'a mut [bool],
}

impl Walk<'_> {
    /// Output `out` comes from the lower part. Sets the switches that this decides, and returns the
    /// next output that comes from the lower part, unless the loop ends.
    fn through_lower(&mut self, out: usize) -> Option<usize> {
        let source = self.sources[out] as usize;
        // When straight, the even lane of a pair goes to the upper part and the odd lane to the
        // lower. An unpaired lane has no switch.
        *self.input.get_mut(source / 2)? = source & 1 == 0;
        let target = self.targets[source ^ 1] as usize;
        self.arrive(target, target & 1 == 1)
    }

    /// The same for an output from the upper part.
    fn through_upper(&mut self, out: usize) -> Option<usize> {
        let source = self.sources[out] as usize;
        *self.input.get_mut(source / 2)? = source & 1 == 1;
        let target = self.targets[source ^ 1] as usize;
        self.arrive(target, target & 1 == 0)
    }

    fn arrive(&mut self, target: usize, exchanged: bool) -> Option<usize> {
        if std::mem::replace(self.routed.get_mut(target / 2)?, true) {
            return None;
        }
        // The last pair of a Waksman network has no switch.
        if let Some(switch) = self.output.get_mut(target / 2) {
            *switch = exchanged;
        }
        Some(target ^ 1)
    }
}

/// The order of the lanes in both parts of a segment, from the segment's order and its switches on
/// that side.
pub(crate) fn split(order: &[u32], exchanged: &[bool], parts: &mut [u32]) {
    let (upper, lower) = parts.split_at_mut(order.len() / 2);
    let (lower, unpaired) = lower.split_at_mut(upper.len());
    let exchanged = exchanged.iter().chain(std::iter::repeat(&false));
    let parts = upper.iter_mut().zip(lower);
    for ((pair, (upper, lower)), exchanged) in order.chunks_exact(2).zip(parts).zip(exchanged) {
        // Branch-free: a branch would be mispredicted half of the time.
        let difference = (pair[0] ^ pair[1]) & u32::from(*exchanged).wrapping_neg();
        *upper = (pair[0] ^ difference) / 2;
        *lower = (pair[1] ^ difference) / 2;
    }
    if let ([unpaired], [.., last]) = (unpaired, order) {
        *unpaired = last / 2;
    }
}
