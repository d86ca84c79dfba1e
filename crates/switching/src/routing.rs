use crate::{Network, Permutation, Segment};
use zeroize::Zeroize;

/// In the sources of a part: no lane has been sent there yet.
const NONE: u32 = u32::MAX;

/// The number of settings is not that of the network's switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a setting for each switch")]
pub struct WrongSwitchCount;

/// How the switches of a network stand; secret, wiped when dropped.
///
/// Each level has its input switches and its output switches, of its segments from left to right and
/// in a segment from its first lane on: as [`Segment::input`] and [`Segment::output`] number them.
#[derive(Clone)]
pub struct Routing {
    network: Network,
    input: Vec<Vec<bool>>,
    output: Vec<Vec<bool>>,
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
        for switches in routing.input.iter_mut().zip(&mut routing.output) {
            for switches in [switches.0, switches.1] {
                let (head, tail) = rest.split_at(switches.len());
                switches.copy_from_slice(head);
                rest = tail;
            }
        }
        Ok(routing)
    }

    fn unset(network: Network) -> Self {
        let levels = 0..network.levels();
        Self {
            network,
            input: levels.clone().map(|d| vec![false; network.input_count(d)]).collect(),
            output: levels.map(|d| vec![false; network.output_count(d)]).collect(),
        }
    }

    /// Level by level, by the looping algorithm. The time and the order of memory accesses depend on
    /// the permutation.
    fn new(network: Network, permutation: &Permutation) -> Self {
        let mut routing = Self::unset(network);
        let mut level_lanes = Order::of(permutation);
        let mut next_lanes = Order::unset(network.len());
        for (level, (input, output)) in
            routing.input.iter_mut().zip(&mut routing.output).enumerate()
        {
            next_lanes.sources.fill(NONE);
            for segment in network.segments(level) {
                let Segment { lanes, input: of_input, output: of_output } = segment;
                let (input, output) = (&mut input[of_input], &mut output[of_output]);
                let sources = &level_lanes.sources[lanes.clone()];
                let targets = &level_lanes.targets[lanes.clone()];
                let mut parts = next_lanes.split(lanes);
                route_segment(sources, targets, &mut parts, input, output);
            }
            std::mem::swap(&mut level_lanes, &mut next_lanes);
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
        &self.input[level]
    }

    /// The output switches of a level: whether each exchanges its lanes.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn output(&self, level: usize) -> &[bool] {
        &self.output[level]
    }
}

impl Drop for Routing {
    fn drop(&mut self) {
        self.input.zeroize();
        self.output.zeroize();
    }
}

/// The permutations of the segments of a level, each counting from its own first lane; wiped when
/// dropped.
struct Order {
    /// Where the lane at each place comes from.
    sources: Vec<u32>,
    /// Where the lane at each place goes.
    targets: Vec<u32>,
}

/// The upper or the lower part of a segment.
struct Part<'a> {
    sources: &'a mut [u32],
    targets: &'a mut [u32],
}

impl Order {
    fn of(permutation: &Permutation) -> Self {
        let mut inverse = permutation.inverse();
        Self { sources: permutation.sources().to_vec(), targets: inverse.take_sources() }
    }

    fn unset(len: usize) -> Self {
        Self { sources: vec![NONE; len], targets: vec![NONE; len] }
    }

    fn split(&mut self, lanes: std::ops::Range<usize>) -> [Part<'_>; 2] {
        let upper = lanes.len() / 2;
        let (sources, more_sources) = self.sources[lanes.clone()].split_at_mut(upper);
        let (targets, more_targets) = self.targets[lanes].split_at_mut(upper);
        [Part { sources, targets }, Part { sources: more_sources, targets: more_targets }]
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        self.sources.zeroize();
        self.targets.zeroize();
    }
}

impl Part<'_> {
    fn connect(&mut self, source: usize, target: usize) {
        self.sources[target] = source as u32;
        self.targets[source] = target as u32;
    }
}

/// Sets the switches of one segment and says what its parts have to do.
///
/// The two lanes of a pair go through different parts, at the input as at the output. So one lane's
/// part decides that of the lane it shares a pair with, at one end and then the other, until the loop
/// closes. A lane without a partner, and the last one of a Waksman network, goes through the lower part,
/// so the loop through the last output is taken first.
fn route_segment(
    sources: &[u32],
    targets: &[u32],
    [upper, lower]: &mut [Part<'_>; 2],
    input: &mut [bool],
    output: &mut [bool],
) {
    let len = sources.len();
    let unpaired = if len % 2 == 1 { len - 1 } else { len };
    // The last output is odd in its pair, or unpaired: each loop starts with an odd one.
    for first in (0..len.div_ceil(2)).rev().map(|pair| (2 * pair + 1).min(len - 1)) {
        let mut out = first;
        while lower.sources[out / 2] == NONE {
            let source = sources[out] as usize;
            lower.connect(source / 2, out / 2);
            if source == unpaired {
                break;
            }
            // Straight, the odd lane of a pair goes to the lower part, the even one to the upper.
            input[source / 2] = source % 2 == 0;
            let source = source ^ 1;
            let target = targets[source] as usize;
            upper.connect(source / 2, target / 2);
            if let Some(switch) = output.get_mut(target / 2) {
                *switch = target % 2 == 1;
            }
            out = target ^ 1;
        }
    }
}
