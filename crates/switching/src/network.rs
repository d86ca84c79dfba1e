use std::ops::Range;

/// Whether an even segment has an output switch on its last pair of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// No: Waksman's network can do without it.
    Waksman,
    /// Yes.
    Benes,
}

/// A permutation network of any number of lanes.
///
/// A. Waksman, "A permutation network", J. ACM 1968; V. Beneš, "Mathematical theory of connecting
/// networks", 1965; for any number of lanes B. Beauquier, E. Darrot, "On arbitrary size Waksman
/// networks and their vulnerability", Parallel Processing Letters 2002.
///
/// ```text
///   7 lanes, input switches                           output switches, 7 lanes
///
///     0 ──┐     ┌── even ──▶ ┌──────────────┐ ──▶ even ──┐     ┌── 0
///     1 ──┘ I_0 └── odd      │    upper:    │      odd ──┘ O_0 └── 1
///     2 ──┐     ┌── even     │  the 3 even  │     even ──┐     ┌── 2
///     3 ──┘ I_1 └── odd      ├──────────────┤      odd ──┘ O_1 └── 3
///     4 ──┐     ┌── even     │    lower:    │     even ──┐     ┌── 4
///     5 ──┘ I_2 └── odd      │  the 3 odd   │      odd ──┘ O_2 └── 5
///     6 ────────── last ───▶ │ and the last │ ──▶ last ─────────── 6
///                            └──────────────┘
/// ```
///
/// An even segment has no unpaired lane; its last pair has an input switch, and an output switch in
/// Beneš networks only. A segment of n lanes has, in this order:
///
/// * an *input switch* on lanes 2i and 2i+1 for each i < ⌊n/2⌋;
/// * a *split*: the even lanes of these pairs become the upper segment, in their order, the odd
///   ones and an unpaired last lane the lower one, which follows it; each is a network of its own;
/// * the *join*, which undoes the split;
/// * an *output switch* on lanes 2i and 2i+1. Waksman networks have it for each i < ⌊(n−1)/2⌋,
///   Beneš networks for each i < ⌊n/2⌋.
///
/// A segment of 2 lanes is one input switch, a shorter one is nothing. A switch that is set
/// exchanges its lanes.
///
/// **Levels.** Level 0 is the one segment of all lanes, level d + 1 has the two parts of each
/// segment of level d, from left to right, upper before lower. So each level's segments lie side by
/// side and cover all lanes, and their lengths differ by at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    kind: Kind,
    len: usize,
}

/// A part of a network, between its input and output switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its lanes, numbered across its level.
    pub lanes: Range<usize>,
    /// Its input switches, numbered across its level. The i-th is on its lanes 2i and 2i + 1.
    pub input: Range<usize>,
    /// Its output switches, numbered in the same way.
    pub output: Range<usize>,
}

impl Segment {
    /// Number of lanes.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }
}

impl Network {
    /// Waksman's network of `len` lanes: Σ ⌈log i⌉ switches for i from 1 to `len`; for a power of
    /// two this is n·log n − n + 1.
    pub const fn waksman(len: usize) -> Self {
        Self { kind: Kind::Waksman, len }
    }

    /// Beneš's network of `len` lanes: n·log n − n/2 switches for a power of two.
    pub const fn benes(len: usize) -> Self {
        Self { kind: Kind::Benes, len }
    }

    /// Number of lanes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of levels: ⌈log n⌉, or 0 for fewer than two lanes.
    pub fn levels(&self) -> usize {
        match self.len {
            0 | 1 => 0,
            n => n.next_power_of_two().ilog2() as usize,
        }
    }

    /// Number of switches.
    pub fn switch_count(&self) -> usize {
        (0..self.levels()).map(|d| self.input_count(d) + self.output_count(d)).sum()
    }

    /// Number of input switches in a level.
    pub fn input_count(&self, level: usize) -> usize {
        over_level(self.len, level, input_switches)
    }

    /// Number of output switches in a level. The last level has none.
    pub fn output_count(&self, level: usize) -> usize {
        over_level(self.len, level, |len| self.output_switches(len))
    }

    /// The 2^level segments of a level, from left to right.
    ///
    /// # Panics
    /// If the level does not exist.
    pub fn segments(&self, level: usize) -> impl Iterator<Item = Segment> + use<> {
        assert!(level < self.levels(), "level in range");
        let network = *self;
        let (mut lane, mut input, mut output) = (0, 0, 0);
        (0..1usize << level).map(move |index| {
            // The first split decides the lowest bit of what is added before the halving.
            let carry =
                if level == 0 { 0 } else { index.reverse_bits() >> (usize::BITS as usize - level) };
            let len = (network.len + carry) >> level;
            network.next_segment(len, &mut lane, &mut input, &mut output)
        })
    }

    /// The segment at `index` from the left in a level. Its parts are the segments 2·`index` and
    /// 2·`index` + 1 of the next level.
    ///
    /// Takes `level` steps; meant for depth-first evaluation.
    ///
    /// # Panics
    /// If the segment does not exist.
    pub fn segment(&self, level: usize, index: usize) -> Segment {
        assert!(level < self.levels() && index >> level == 0, "segment in range");
        let (mut lane, mut input, mut output) = (0, 0, 0);
        let mut len = self.len;
        for below in (0..level).rev() {
            let upper = len / 2;
            if index >> below & 1 == 0 {
                len = upper;
            } else {
                len -= upper;
                lane += upper;
                input += over_level(upper, below, input_switches);
                output += over_level(upper, below, |len| self.output_switches(len));
            }
        }
        self.next_segment(len, &mut lane, &mut input, &mut output)
    }

    /// The segment that starts at the given places. Advances the places to its end.
    fn next_segment(
        &self,
        len: usize,
        lane: &mut usize,
        input: &mut usize,
        output: &mut usize,
    ) -> Segment {
        let take = |at: &mut usize, count: usize| {
            let first = *at;
            *at += count;
            first..*at
        };
        Segment {
            lanes: take(lane, len),
            input: take(input, input_switches(len)),
            output: take(output, self.output_switches(len)),
        }
    }

    pub(crate) fn output_switches(&self, len: usize) -> usize {
        match (self.kind, len) {
            (_, 0..=2) => 0,
            (Kind::Waksman, n) => (n - 1) / 2,
            (Kind::Benes, n) => n / 2,
        }
    }
}

fn input_switches(len: usize) -> usize {
    len / 2
}

/// The sum of `count` over the segments of `len` lanes after `level` splits. Each segment has ⌊len
/// / 2^level⌋ lanes or one more.
fn over_level(len: usize, level: usize, count: impl Fn(usize) -> usize) -> usize {
    let (short, longer) = (len >> level, len & ((1 << level) - 1));
    longer * count(short + 1) + ((1 << level) - longer) * count(short)
}
