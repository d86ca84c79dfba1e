use crate::{Network, Permutation, Segment};
use vesica_core::Secret;

/// The number of settings is not that of the network's switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a setting for each switch")]
pub struct WrongSwitchCount;

/// How the switches of a network stand; secret, wiped when dropped.
///
/// Each level has its input switches and its output switches, of its segments from left to right and
/// in a segment from its first lane on: as [`Segment::input`] and [`Segment::output`] number them.
pub struct Routing {
    network: Network,
    input: Secret<Vec<Vec<bool>>>,
    output: Secret<Vec<Vec<bool>>>,
}

impl Routing {
    /// The settings that make `permutation` of Waksman's network.
    pub fn waksman(permutation: &Permutation) -> Self {
        Self::new(Network::waksman(permutation.len()), permutation)
    }

    /// The settings that make `permutation` of Beneš' network.
    pub fn benes(permutation: &Permutation) -> Self {
        Self::new(Network::benes(permutation.len()), permutation)
    }

    /// Given settings: of each level its input switches, then its output switches.
    ///
    /// # Errors
    /// [`WrongSwitchCount`] unless there are [`Network::switch_count`] of them.
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

    /// Level by level, by the looping algorithm. The time and the order of memory accesses depend on
    /// the permutation.
    fn new(network: Network, permutation: &Permutation) -> Self {
        let mut routing = Self::unset(network);
        let mut order = Order::of(permutation);
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

    /// The input switches of a level: whether each exchanges its lanes.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn input(&self, level: usize) -> &[bool] {
        &self.input.expose()[level]
    }

    /// The output switches of a level: whether each exchanges its lanes.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn output(&self, level: usize) -> &[bool] {
        &self.output.expose()[level]
    }
}

/// The permutations of the segments of a level, each counting from its own first lane.
struct Order {
    /// Where the lane at each place comes from.
    sources: Secret<Vec<u32>>,
    /// Where the lane at each place goes.
    targets: Secret<Vec<u32>>,
}

impl Order {
    fn of(permutation: &Permutation) -> Self {
        let copied = |permutation: &Permutation| Secret::new(permutation.sources().to_vec());
        Self { sources: copied(permutation), targets: copied(&permutation.inverse()) }
    }

    fn zero(len: usize) -> Self {
        let zeros = || Secret::new(vec![0; len]);
        Self { sources: zeros(), targets: zeros() }
    }
}

/// Sets the switches of one segment; `routed` has a place for each of its pairs.
///
/// The two lanes of a pair go through different parts, at the input as at the output. So one lane's
/// part decides that of the lane it shares a pair with, at one end and then the other, until the loop
/// closes. A lane without a partner, and the last one of a Waksman network, goes through the lower part,
/// so the loop through the last output is taken first.
fn set_switches(
    sources: &[u32],
    targets: &[u32],
    routed: &mut [bool],
    input: &mut [bool],
    output: &mut [bool],
) {
    let len = sources.len();
    let unpaired = if len % 2 == 1 { len - 1 } else { len };
    routed.fill(false);
    // The last output is odd in its pair, or unpaired: each loop starts with an odd one.
    for first in (0..len.div_ceil(2)).rev().map(|pair| (2 * pair + 1).min(len - 1)) {
        // The output of the loop that goes through the lower part.
        let mut out = first;
        while !std::mem::replace(&mut routed[out / 2], true) {
            let source = sources[out] as usize;
            if source == unpaired {
                break;
            }
            // Straight, the odd lane of a pair goes to the lower part, the even one to the upper.
            input[source / 2] = source & 1 == 0;
            let target = targets[source ^ 1] as usize;
            if let Some(exchanged) = output.get_mut(target / 2) {
                *exchanged = target & 1 == 1;
            }
            out = target ^ 1;
        }
    }
}

/// The order of the lanes of both parts of a segment, given its own and its switches on that side.
fn split(order: &[u32], exchanged: &[bool], parts: &mut [u32]) {
    let (upper, lower) = parts.split_at_mut(order.len() / 2);
    let (lower, unpaired) = lower.split_at_mut(upper.len());
    let exchanged = exchanged.iter().chain(std::iter::repeat(&false));
    let parts = upper.iter_mut().zip(lower);
    for ((pair, (upper, lower)), exchanged) in order.chunks_exact(2).zip(parts).zip(exchanged) {
        // Without a branch, which would be mispredicted half the time.
        let difference = (pair[0] ^ pair[1]) & u32::from(*exchanged).wrapping_neg();
        *upper = (pair[0] ^ difference) / 2;
        *lower = (pair[1] ^ difference) / 2;
    }
    if let ([unpaired], [.., last]) = (unpaired, order) {
        *unpaired = last / 2;
    }
}
