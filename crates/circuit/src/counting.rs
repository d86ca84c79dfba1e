//! Circuits counted: what they would cost, without a bit of input.

use crate::bit_lanes::paired;
use crate::{Gates, Known, Lanes};
use vesica_core::Result;

/// What a circuit costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// AND gates.
    pub ands: u64,
    /// AND gates one of whose inputs the generator knows.
    pub one_sided: u64,
    /// AND gates in words of 64 lanes, each wire's lanes rounded up.
    pub words: u64,
    /// One-sided gates in blocks of 128 lanes and up to 128 wires that share their known bits.
    pub known_blocks: u64,
    /// One-sided gates in blocks of 128 lanes, each wire's lanes rounded up.
    pub known_words: u64,
    /// The most gates one after the other on a path.
    pub depth: u64,
    /// Calls for gates: rounds, where parties hold shares.
    pub rounds: u64,
}

/// Counts gates.
#[derive(Clone, Debug)]
pub struct Counting {
    count: Count,
    lanes_at_once: usize,
    prefers_depth: bool,
}

/// Wires of which only their number and the depth above them are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    len: usize,
    depth: u64,
}

impl Counted {
    /// `len` lanes of input.
    pub fn input(len: usize) -> Self {
        Self { len, depth: 0 }
    }

    /// A word of `width` wires of input.
    pub fn inputs(width: usize, len: usize) -> Vec<Self> {
        vec![Self::input(len); width]
    }
}

impl Counting {
    /// Counts for an evaluator with these preferences.
    pub fn new(lanes_at_once: usize, prefers_depth: bool) -> Self {
        Self { count: Count::default(), lanes_at_once, prefers_depth }
    }

    /// The gates so far.
    pub fn count(&self) -> Count {
        self.count
    }

    fn below(&mut self, depth: u64, len: usize) -> Counted {
        let depth = depth + 1;
        self.count.depth = self.count.depth.max(depth);
        Counted { len, depth }
    }
}

impl Default for Counting {
    /// Counts for one who does everything at once, with as few gates as can be.
    fn default() -> Self {
        Self::new(usize::MAX, false)
    }
}

impl Gates for Counting {
    type Wires = Counted;

    fn constant(&mut self, _: bool, len: usize) -> Counted {
        Counted::input(len)
    }

    fn xor(&self, a: &Counted, b: &Counted) -> Counted {
        assert_eq!(a.len, b.len, "equally many lanes");
        Counted { len: a.len, depth: a.depth.max(b.depth) }
    }

    fn not(&self, a: &Counted) -> Counted {
        *a
    }

    fn and(&mut self, pairs: &[(&Counted, &Counted)]) -> Result<Vec<Counted>> {
        self.count.rounds += 1;
        let gate = |(a, b): &(&Counted, &Counted)| {
            assert_eq!(a.len, b.len, "equally many lanes");
            self.count.ands += a.len as u64;
            self.count.words += a.len.div_ceil(64) as u64;
            self.below(a.depth.max(b.depth), a.len)
        };
        Ok(pairs.iter().map(gate).collect())
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&Counted])]) -> Result<Vec<Vec<Counted>>> {
        self.count.rounds += 1;
        let mut results = Vec::with_capacity(lists.len());
        for (known, wires) in lists {
            let blocks = known.len().div_ceil(128);
            self.count.known_blocks += (blocks * wires.len().div_ceil(128)) as u64;
            self.count.known_words += (blocks * wires.len()) as u64;
            let gate = |wires: &&Counted| {
                assert_eq!(known.len(), wires.len, "a bit for each lane");
                self.count.one_sided += wires.len as u64;
                self.below(wires.depth, wires.len)
            };
            results.push(wires.iter().map(gate).collect());
        }
        Ok(results)
    }

    fn lanes_at_once(&self) -> usize {
        self.lanes_at_once
    }

    fn prefers_depth(&self) -> bool {
        self.prefers_depth
    }
}

impl Lanes for Counted {
    fn len(&self) -> usize {
        self.len
    }

    fn slice(&self, first: usize, len: usize) -> Self {
        assert!(first + len <= self.len, "lanes of the list");
        Self { len, ..*self }
    }

    fn put(&mut self, first: usize, lanes: &Self) {
        assert!(first + lanes.len <= self.len, "lanes of the list");
        self.depth = self.depth.max(lanes.depth);
    }

    fn concat(parts: &[Self]) -> Self {
        let len = parts.iter().map(|part| part.len).sum();
        Self { len, depth: parts.iter().map(|part| part.depth).max().unwrap_or(0) }
    }

    fn gather(&self, places: &[u32]) -> Self {
        assert!(places.iter().all(|place| (*place as usize) < self.len), "lanes of the list");
        Self { len: places.len(), ..*self }
    }

    fn scatter(&mut self, places: &[u32], lanes: &Self) {
        assert_eq!(places.len(), lanes.len, "a place for each lane");
        self.depth = self.depth.max(lanes.depth);
    }

    fn halves(&self, stride: usize) -> [Self; 2] {
        assert!(stride.is_power_of_two(), "a power of two");
        [Self { len: paired(self.len, stride), ..*self }; 2]
    }

    fn put_halves(&mut self, stride: usize, halves: [&Self; 2]) {
        let pairs = paired(self.len, stride);
        assert!(halves.iter().all(|half| half.len == pairs), "as many as were taken");
        self.depth = self.depth.max(halves[0].depth).max(halves[1].depth);
    }
}
