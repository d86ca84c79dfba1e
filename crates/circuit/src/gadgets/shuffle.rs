//! Permuting lanes by a network of switches that the generator sets.

use crate::{Gates, Known, word};
use std::ops::Range;
use vesica_core::Result;
use vesica_ot::Bits;
use vesica_switching::{Network, Routing, Segment};

/// Permutes the lanes of `word` by the generator's `routing`: one one-sided gate per wire and
/// switch (Huang, Evans, Katz, NDSS 2012, §5.3.3).
///
/// Only the generator passes a `routing`; its network must be `network`.
///
/// # Errors
/// Connection errors.
///
/// # Panics
/// If the network has a different number of lanes, or the routing belongs to a different network.
pub fn permute<G: Gates>(
    g: &mut G,
    network: &Network,
    routing: Option<&Routing>,
    word: Vec<G::Wires>,
) -> Result<Vec<G::Wires>> {
    assert_eq!(word::lanes(&word), network.len(), "the network has these lanes");
    if network.len() < 2 {
        return Ok(word);
    }
    if g.only_counts() && network.len() <= g.lanes_at_once() {
        return count(g, network, word);
    }
    Walk { g, network, routing }.segment(0, 0, word)
}

/// Counts the gates of the network, level by level.
fn count<G: Gates>(g: &mut G, network: &Network, mut word: Vec<G::Wires>) -> Result<Vec<G::Wires>> {
    let levels = 0..network.levels();
    let inputs = levels.clone().map(|level| network.input_count(level));
    let outputs = levels.rev().map(|level| network.output_count(level));
    for switches in inputs.chain(outputs).filter(|switches| *switches > 0) {
        let pairs = word::slice(&word, 0, switches);
        let pairs: Vec<_> = pairs.iter().collect();
        let changed = g.and_known(&[(Known::Theirs { len: switches }, &pairs)])?;
        changed.iter().for_each(|changed| word::put(&mut word, 0, changed));
    }
    Ok(word)
}

struct Walk<'a, G> {
    g: &'a mut G,
    network: &'a Network,
    routing: Option<&'a Routing>,
}

#[derive(Clone, Copy)]
enum Side {
    Input,
    Output,
}

/// The lanes of a level, and its switches.
#[derive(Default)]
struct Level {
    /// The two lanes of each switch.
    switched: [Vec<u32>; 2],
    /// The source of each lane at the split.
    split: Vec<u32>,
    switches: Range<usize>,
}

impl<G: Gates> Walk<'_, G> {
    /// Depth first while a segment is too large to process at once; then level by level.
    fn segment(
        &mut self,
        level: usize,
        index: usize,
        word: Vec<G::Wires>,
    ) -> Result<Vec<G::Wires>> {
        let len = word::lanes(&word);
        if level == self.network.levels() || len < 2 {
            return Ok(word);
        }
        if len <= self.g.lanes_at_once() {
            return self.by_level(level, index, word);
        }
        let segment = self.network.segment(level, index);
        let [upper, lower] = self.input_switches(level, &segment, word)?;
        let upper = self.segment(level + 1, 2 * index, upper)?;
        let lower = self.segment(level + 1, 2 * index + 1, lower)?;
        self.output_switches(level, &segment, [upper, lower])
    }

    fn input_switches(
        &mut self,
        level: usize,
        segment: &Segment,
        word: Vec<G::Wires>,
    ) -> Result<[Vec<G::Wires>; 2]> {
        let len = segment.len();
        let (mut uppers, mut lowers) = (Vec::new(), Vec::new());
        let mut done = 0;
        while done < segment.input.len() {
            let n = (self.g.lanes_at_once() / 2).max(1).min(segment.input.len() - done);
            let pairs = word::slice(&word, 2 * done, 2 * n);
            let first = segment.input.start + done;
            let [upper, lower] =
                self.switch(level, Side::Input, first..first + n, word::halves(&pairs, 1))?;
            uppers.push(upper);
            lowers.push(lower);
            done += n;
        }
        if len % 2 == 1 {
            lowers.push(word::slice(&word, len - 1, 1));
        }
        drop(word);
        Ok([word::concat(&uppers), word::concat(&lowers)])
    }

    fn output_switches(
        &mut self,
        level: usize,
        segment: &Segment,
        [upper, lower]: [Vec<G::Wires>; 2],
    ) -> Result<Vec<G::Wires>> {
        let (len, pairs) = (segment.len(), word::lanes(&upper));
        let mut parts = Vec::new();
        let mut done = 0;
        while done < pairs {
            let n = (self.g.lanes_at_once() / 2).max(1).min(pairs - done);
            let [mut up, mut low] = [&upper, &lower].map(|part| word::slice(part, done, n));
            let switched = segment.output.len().saturating_sub(done).min(n);
            if switched > 0 {
                let first = segment.output.start + done;
                let now = [&up, &low].map(|part| word::slice(part, 0, switched));
                let [a, b] = self.switch(level, Side::Output, first..first + switched, now)?;
                word::put(&mut up, 0, &a);
                word::put(&mut low, 0, &b);
            }
            let mut joined = word::concat(&[up.clone(), low.clone()]);
            word::put_halves(&mut joined, 1, [&up, &low]);
            parts.push(joined);
            done += n;
        }
        if len % 2 == 1 {
            parts.push(word::slice(&lower, pairs, 1));
        }
        Ok(word::concat(&parts))
    }

    fn by_level(
        &mut self,
        top: usize,
        index: usize,
        mut word: Vec<G::Wires>,
    ) -> Result<Vec<G::Wires>> {
        let levels = top..self.network.levels();
        let mut outputs = Vec::with_capacity(levels.len());
        for level in levels {
            let below = level - top;
            let segments = || index << below..(index + 1) << below;
            let input = self.level(level, segments(), Side::Input);
            outputs.push((level, self.level(level, segments(), Side::Output)));
            self.switch_in_place(level, Side::Input, &input, &mut word)?;
            word = word::gather(&word, &input.split);
        }
        for (level, output) in outputs.into_iter().rev() {
            let joined = word.clone();
            word::scatter(&mut word, &output.split, &joined);
            self.switch_in_place(level, Side::Output, &output, &mut word)?;
        }
        Ok(word)
    }

    /// The places of the segments of a level, relative to the first lane of the first segment.
    fn level(&self, level: usize, indices: Range<usize>, side: Side) -> Level {
        let mut places = Level::default();
        let mut segment = self.network.segment(level, indices.start);
        let first_lane = segment.lanes.start;
        for index in indices {
            segment = self.network.segment(level, index);
            let switches = match side {
                Side::Input => segment.input.clone(),
                Side::Output => segment.output.clone(),
            };
            if places.switched[0].is_empty() {
                places.switches = switches.clone();
            }
            places.switches.end = switches.end;
            let first = (segment.lanes.start - first_lane) as u32;
            let (len, pairs) = (segment.len() as u32, segment.len() as u32 / 2);
            let of = |odd: u32, n: u32| (0..n).map(move |i| first + 2 * i + odd);
            places.switched[0].extend(of(0, switches.len() as u32));
            places.switched[1].extend(of(1, switches.len() as u32));
            places.split.extend(of(0, pairs).chain(of(1, pairs)));
            if len % 2 == 1 {
                places.split.push(first + len - 1);
            }
        }
        places
    }

    fn switch_in_place(
        &mut self,
        level: usize,
        side: Side,
        places: &Level,
        word: &mut [G::Wires],
    ) -> Result<()> {
        if places.switched[0].is_empty() {
            return Ok(());
        }
        let [a, b] = places.switched.each_ref().map(|places| word::gather(word, places));
        let [a, b] = self.switch(level, side, places.switches.clone(), [a, b])?;
        word::scatter(word, &places.switched[0], &a);
        word::scatter(word, &places.switched[1], &b);
        Ok(())
    }

    fn switch(
        &mut self,
        level: usize,
        side: Side,
        switches: Range<usize>,
        [a, b]: [Vec<G::Wires>; 2],
    ) -> Result<[Vec<G::Wires>; 2]> {
        let g = &mut *self.g;
        let differences: Vec<_> = a.iter().zip(&b).map(|(a, b)| g.xor(a, b)).collect();
        let differences: Vec<_> = differences.iter().collect();
        let settings = self.routing.map(|routing| match side {
            Side::Input => &routing.input(level)[switches.clone()],
            Side::Output => &routing.output(level)[switches.clone()],
        });
        let settings: Option<Bits> = settings.map(|settings| settings.iter().copied().collect());
        let known = match &settings {
            Some(settings) => Known::Mine(settings),
            None => Known::Theirs { len: switches.len() },
        };
        let changes = g.and_known(&[(known, &differences)])?.pop().unwrap_or_default();
        let change =
            |word: &[G::Wires]| word.iter().zip(&changes).map(|(w, c)| g.xor(w, c)).collect();
        Ok([change(&a), change(&b)])
    }
}
