//! The router's choice at each switch, in the order of the walk.
//!
//! Routing is depth first as well. Below the first levels a whole segment fits into the cache, its
//! parts are independent, and the choices come out in the order in which they are needed.

use super::walk::Kept;
use crate::routing::{set_switches, split};
use crate::{Network, Permutation};
use vesica_core::{ParameterError, Secret};
use vesica_net::Pool;
use zeroize::Zeroize;

/// Minimum number of lanes of a segment whose parts are routed on two threads.
const WORTH_A_THREAD: usize = 1 << 14;

/// One bit per switch; secret, wiped when dropped.
pub(super) struct Choices {
    words: Secret<Vec<u64>>,
}

impl Choices {
    /// The choices that bring the rows at `injection`, out of `inputs` rows, to the front.
    pub(super) fn new(
        pool: &Pool,
        injection: &[u32],
        inputs: usize,
    ) -> Result<Self, ParameterError> {
        let permutation = completed(injection, inputs)?;
        let network = Kept { len: inputs, kept: injection.len() };
        let mut bits = Gathered::default();
        let switches = usize::try_from(network.switch_count()).unwrap_or(usize::MAX);
        // Exact, so that the list never grows and leaves a copy behind.
        bits.words.reserve_exact(switches.div_ceil(64));
        let zeros = || Secret::new(vec![0; inputs]);
        let [mut next_sources, mut next_targets] = [zeros(), zeros()];
        let mut targets = permutation.inverse();
        let mut sources = permutation;
        let order = Order {
            sources: sources.sources_mut(),
            targets: targets.sources_mut(),
            next_sources: next_sources.expose_mut(),
            next_targets: next_targets.expose_mut(),
        };
        let mut settings = Secret::new(vec![false; settings_len(inputs)]);
        route(pool, network, order, settings.expose_mut(), &mut bits);
        Ok(Self { words: Secret::new(bits.into_words()) })
    }

    /// The words with the choices from `first` on, a multiple of 64.
    pub(super) fn from(&self, first: u64) -> &[u64] {
        let words = self.words.expose();
        &words[usize::try_from(first / 64).map_or(words.len(), |first| first.min(words.len()))..]
    }
}

/// A permutation that begins with `injection`. The rest is dropped, so its order is arbitrary.
fn completed(injection: &[u32], inputs: usize) -> Result<Permutation, ParameterError> {
    let mut taken = Secret::new(vec![false; inputs]);
    let mut sources = Vec::with_capacity(inputs.max(injection.len()));
    for source in injection {
        let taken = taken.expose_mut().get_mut(*source as usize);
        let is_new = taken.is_some_and(|taken| !std::mem::replace(taken, true));
        if !is_new {
            sources.zeroize();
            return Err(ParameterError::NotAnInjection);
        }
        sources.push(*source);
    }
    sources.extend((0..).zip(taken.expose()).filter(|(_, taken)| !**taken).map(|(i, _)| i));
    Permutation::from_sources(sources).map_err(|_| ParameterError::NotAnInjection)
}

/// The order of the lanes of a segment, relative to its first lane, and scratch space for its
/// parts' order.
struct Order<'a> {
    /// The source of the lane at each place.
    sources: &'a mut [u32],
    /// The target of the lane at each place.
    targets: &'a mut [u32],
    next_sources: &'a mut [u32],
    next_targets: &'a mut [u32],
}

impl<'a> Order<'a> {
    /// The parts: their orders lie in this segment's scratch space, and they use its order as
    /// theirs.
    fn parts(self) -> [Order<'a>; 2] {
        let upper = self.sources.len() / 2;
        let (sources, lower_sources) = self.next_sources.split_at_mut(upper);
        let (targets, lower_targets) = self.next_targets.split_at_mut(upper);
        let (next_sources, lower_next_sources) = self.sources.split_at_mut(upper);
        let (next_targets, lower_next_targets) = self.targets.split_at_mut(upper);
        let lower = Order {
            sources: lower_sources,
            targets: lower_targets,
            next_sources: lower_next_sources,
            next_targets: lower_next_targets,
        };
        [Order { sources, targets, next_sources, next_targets }, lower]
    }
}

/// Scratch space for the settings of a segment of `len` lanes and of the segments on one path below
/// it.
fn settings_len(len: usize) -> usize {
    2 * len + 2 * usize::BITS as usize
}

/// Routes a segment and appends its choices to `bits`.
fn route(pool: &Pool, this: Kept, order: Order<'_>, settings: &mut [bool], bits: &mut Gathered) {
    if this.is_nothing() {
        return;
    }
    if this.is_tree() {
        bits.push_tree(order.sources[0], this.len);
        return;
    }
    let len = this.len;
    let (input, rest) = settings.split_at_mut(len / 2);
    let (output, rest) = rest.split_at_mut(Network::waksman(len).output_switches(len));
    let routed = &mut rest[..len.div_ceil(2)];
    // The first switch of each loop stays straight.
    input.fill(false);
    output.fill(false);
    set_switches(order.sources, order.targets, routed, input, output);
    bits.push(input);
    if len == 2 {
        return;
    }
    split(order.sources, output, order.next_sources);
    split(order.targets, input, order.next_targets);
    let ([upper, lower], [upper_order, lower_order]) = (this.parts(), order.parts());
    if pool.len() == 1 || len < 2 * WORTH_A_THREAD {
        route(pool, upper, upper_order, rest, bits);
        route(pool, lower, lower_order, rest, bits);
    } else {
        let mut parts = [Gathered::default(), Gathered::default()];
        let [upper_bits, lower_bits] = &mut parts;
        let tasks = vec![(upper, upper_order, upper_bits), (lower, lower_order, lower_bits)];
        pool.for_each(tasks, |(part, order, bits)| {
            bits.words.reserve_exact(part.switch_count().div_ceil(64) as usize);
            let mut settings = Secret::new(vec![false; settings_len(part.len)]);
            route(pool, part, order, settings.expose_mut(), bits);
        });
        parts.iter().for_each(|part| bits.append_all(part));
    }
    bits.push(&output[..this.outputs()]);
}

/// Bits, appended one after the other.
#[derive(Default)]
struct Gathered {
    words: Vec<u64>,
    next: u64,
    len: u32,
}

impl Gathered {
    /// The choices of a tree of `len` lanes that keeps the one at `source`: the second lane of its
    /// pair is taken where its place is odd.
    fn push_tree(&mut self, source: u32, mut len: usize) {
        let mut place = source as usize;
        while len > 1 {
            (0..len / 2).for_each(|pair| self.append(u64::from(2 * pair + 1 == place), 1));
            (place, len) = (place / 2, len.div_ceil(2));
        }
    }

    fn push(&mut self, settings: &[bool]) {
        for setting in settings {
            self.append(u64::from(*setting), 1);
        }
    }

    fn append(&mut self, bits: u64, len: u32) {
        self.next |= bits << self.len;
        self.len += len;
        if self.len >= u64::BITS {
            self.words.push(self.next);
            self.len -= u64::BITS;
            self.next = if self.len == 0 { 0 } else { bits >> (len - self.len) };
        }
    }

    fn append_all(&mut self, other: &Self) {
        other.words.iter().for_each(|word| self.append(*word, u64::BITS));
        self.append(other.next, other.len);
    }

    fn into_words(mut self) -> Vec<u64> {
        if self.len > 0 {
            self.words.push(self.next);
        }
        std::mem::take(&mut self.words)
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.words.zeroize();
        self.next.zeroize();
    }
}
