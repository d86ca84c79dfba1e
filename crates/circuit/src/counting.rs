//! Counts what a circuit costs, without any input.

use crate::bit_lanes::paired;
use crate::party::{NUMBER_LEN, equal_in_bins_by_gates};
use crate::{Bins, Computation, EachBins, Gates, InBins, Known, Lanes, Reveal, gmw};
use vesica_core::{Block, Result, Role};
use vesica_ot::{Bits, Traffic};

/// The cost of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// AND gates.
    pub ands: u64,
    /// AND gates with one input that the generator knows.
    pub one_sided: u64,
    /// AND gates in words of 64 lanes; each wire's lanes are rounded up to whole words.
    pub words: u64,
    /// One-sided gates in blocks of 128 lanes and up to 128 wires that share their known bits.
    pub known_blocks: u64,
    /// One-sided gates in blocks of 128 lanes; each wire's lanes are rounded up to whole blocks.
    pub known_words: u64,
    /// AND gates on the longest path.
    pub depth: u64,
    /// Calls for gates: each is a round when the parties hold shares.
    pub rounds: u64,
}

/// The cost of a whole computation, including private inputs and results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Its gates.
    pub count: Count,
    /// Number of private bits in each input of the receiver.
    pub receiver_inputs: Vec<u64>,
    /// Number of those inputs that follow the first gate.
    pub late_inputs: u64,
    /// Bits of each result, and who learns it.
    pub results: Vec<(u64, Reveal)>,
    /// Bits of each checked result.
    pub checked_results: Vec<u64>,
    /// Bits in each public message of the receiver.
    pub public_messages: Vec<u64>,
    /// Public numbers of the sender.
    pub public_numbers: u64,
    /// Comparisons in bins that do not consist of gates alone.
    pub bins: Vec<Bins>,
}

/// Counts gates; as a [`Computation`] it also counts inputs and results. It plays neither party.
/// All results are zero, and all checked results are one.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    cost: Cost,
    steps: u64,
    lanes_at_once: Option<usize>,
    prefers_depth: bool,
    shared: bool,
}

/// Wires reduced to their number of lanes and their depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    len: usize,
    depth: u64,
}

impl Counted {
    /// `len` input lanes.
    pub fn input(len: usize) -> Self {
        Self { len, depth: 0 }
    }

    /// An input word of `width` wires.
    pub fn inputs(width: usize, len: usize) -> Vec<Self> {
        vec![Self::input(len); width]
    }
}

impl Cost {
    /// Payload bytes of public messages and numbers.
    pub fn public_bytes(&self) -> Traffic {
        Traffic {
            sender_to_receiver: self.public_numbers * NUMBER_LEN as u64,
            receiver_to_sender: self.public_messages.iter().map(|bits| bits.div_ceil(8)).sum(),
        }
    }
}

impl Counting {
    /// Counts for an evaluator with these preferences.
    pub fn new(lanes_at_once: usize, prefers_depth: bool) -> Self {
        Self { lanes_at_once: Some(lanes_at_once), prefers_depth, ..Self::default() }
    }

    /// Counts for parties that compute on shares.
    pub(crate) fn shared(lanes_at_once: usize) -> Self {
        Self { shared: true, ..Self::new(lanes_at_once, true) }
    }

    /// The gates counted so far.
    pub fn count(&self) -> Count {
        self.cost.count
    }

    /// The cost counted so far.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// Calls for gates that were made to count, equal parts once: how long the count itself takes.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn below(&mut self, depth: u64, len: usize) -> Counted {
        let depth = depth + 1;
        self.cost.count.depth = self.cost.count.depth.max(depth);
        Counted { len, depth }
    }
}

impl Gates for Counting {
    type Wires = Counted;

    fn constant(&mut self, _: bool, len: usize) -> Counted {
        Counted::input(len)
    }

    fn xor(&self, a: &Counted, b: &Counted) -> Counted {
        assert_eq!(a.len, b.len, "the same number of lanes");
        Counted { len: a.len, depth: a.depth.max(b.depth) }
    }

    fn not(&self, a: &Counted) -> Counted {
        *a
    }

    fn and(&mut self, pairs: &[(&Counted, &Counted)]) -> Result<Vec<Counted>> {
        self.cost.count.rounds += 1;
        self.steps += 1;
        let gate = |(a, b): &(&Counted, &Counted)| {
            assert_eq!(a.len, b.len, "the same number of lanes");
            self.cost.count.ands += a.len as u64;
            self.cost.count.words += a.len.div_ceil(64) as u64;
            self.below(a.depth.max(b.depth), a.len)
        };
        Ok(pairs.iter().map(gate).collect())
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&Counted])]) -> Result<Vec<Vec<Counted>>> {
        self.cost.count.rounds += 1;
        self.steps += 1;
        let mut results = Vec::with_capacity(lists.len());
        for (known, wires) in lists {
            let blocks = known.len().div_ceil(128);
            self.cost.count.known_blocks += (blocks * wires.len().div_ceil(128)) as u64;
            self.cost.count.known_words += (blocks * wires.len()) as u64;
            let gate = |wires: &&Counted| {
                assert_eq!(known.len(), wires.len, "a bit for each lane");
                self.cost.count.one_sided += wires.len as u64;
                self.below(wires.depth, wires.len)
            };
            results.push(wires.iter().map(gate).collect());
        }
        Ok(results)
    }

    fn lanes_at_once(&self) -> usize {
        self.lanes_at_once.unwrap_or(usize::MAX)
    }

    fn prefers_depth(&self) -> bool {
        self.prefers_depth
    }

    fn only_counts(&self) -> bool {
        true
    }

    fn equal_parts<R>(
        &mut self,
        times: u64,
        mut part: impl FnMut(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let before = self.cost.count;
        let results = part(self)?;
        let count = &mut self.cost.count;
        for (of, before) in [
            (&mut count.ands, before.ands),
            (&mut count.one_sided, before.one_sided),
            (&mut count.words, before.words),
            (&mut count.known_blocks, before.known_blocks),
            (&mut count.known_words, before.known_words),
            (&mut count.rounds, before.rounds),
        ] {
            *of += (*of - before) * times.saturating_sub(1);
        }
        Ok(results)
    }
}

impl Computation for Counting {
    fn role(&self) -> Role {
        Role::Helper
    }

    fn input(
        &mut self,
        of: Role,
        _: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<Counted>> {
        if of == Role::Receiver {
            self.cost.receiver_inputs.push((width * len) as u64);
            self.cost.late_inputs += u64::from(self.cost.count.rounds > 0);
        }
        Ok(Counted::inputs(width, len))
    }

    fn reveal(&mut self, wires: &[Counted], to: Reveal) -> Result<Option<Vec<Bits>>> {
        self.cost.results.push((wires.iter().map(|wires| wires.len as u64).sum(), to));
        let zeros = |len: usize| Bits::new(vec![Block::ZERO; len.div_ceil(128)], len);
        Ok(Some(wires.iter().map(|wires| zeros(wires.len)).collect()))
    }

    fn reveal_checked(&mut self, wires: &[Counted]) -> Result<Vec<Bits>> {
        let bits = wires.iter().map(|wires| wires.len as u64).sum();
        if self.shared {
            self.cost.results.push((bits, Reveal::Both));
        } else {
            self.cost.checked_results.push(bits);
        }
        Ok(wires.iter().map(|wires| (0..wires.len).map(|_| true).collect()).collect())
    }

    fn send_public(&mut self, bits: &Bits) -> Result<()> {
        self.cost.public_messages.push(bits.len() as u64);
        Ok(())
    }

    fn send_number(&mut self, _: u32) -> Result<()> {
        self.cost.public_numbers += 1;
        Ok(())
    }

    fn equal_in_bins(
        &mut self,
        bins: &Bins,
        _: Option<InBins<'_>>,
        none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        if !self.shared {
            return equal_in_bins_by_gates(self, bins, None, none, each);
        }
        for (first, part) in gmw::parts(bins) {
            self.cost.bins.push(part);
            let digits = Counted::inputs(gmw::digits_len(part.width), part.count * part.slots);
            let is_equal = crate::gadgets::all(self, digits)?;
            each(self, first, is_equal)?;
        }
        Ok(())
    }
}

impl Lanes for Counted {
    fn len(&self) -> usize {
        self.len
    }

    fn slice(&self, first: usize, len: usize) -> Self {
        assert!(first + len <= self.len, "lanes in range");
        Self { len, ..*self }
    }

    fn put(&mut self, first: usize, lanes: &Self) {
        assert!(first + lanes.len <= self.len, "lanes in range");
        self.depth = self.depth.max(lanes.depth);
    }

    fn concat(parts: &[Self]) -> Self {
        let len = parts.iter().map(|part| part.len).sum();
        Self { len, depth: parts.iter().map(|part| part.depth).max().unwrap_or(0) }
    }

    fn gather(&self, places: &[u32]) -> Self {
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
        assert!(
            halves.iter().all(|half| half.len == pairs),
            "halves of the length that `halves` returned"
        );
        self.depth = self.depth.max(halves[0].depth).max(halves[1].depth);
    }
}
