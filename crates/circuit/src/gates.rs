//! The operations of a circuit, independent of the evaluator.

use vesica_core::Result;
use vesica_ot::Bits;

/// The wires of parallel copies of a gate: one bit in each lane.
///
/// Lanes are numbered from 0. A circuit is written for one lane and computes all of them.
pub trait Lanes: Clone + Send + Sync {
    /// Number of lanes.
    fn len(&self) -> usize;

    /// Whether there are no lanes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `len` lanes from `first` on.
    ///
    /// # Panics
    /// If there are fewer lanes.
    fn slice(&self, first: usize, len: usize) -> Self;

    /// Replaces the lanes from `first` on with those of `lanes`.
    ///
    /// # Panics
    /// If there are fewer lanes.
    fn put(&mut self, first: usize, lanes: &Self);

    /// Concatenates all `parts`.
    fn concat(parts: &[Self]) -> Self;

    /// Lane `places[i]` for each i.
    ///
    /// # Panics
    /// If a place is out of range.
    fn gather(&self, places: &[u32]) -> Self;

    /// Replaces lane `places[i]` with lane i of `lanes`, for each i.
    ///
    /// # Panics
    /// If a place is out of range, or the lengths differ.
    fn scatter(&mut self, places: &[u32], lanes: &Self);

    /// Splits the lanes into blocks of 2·`stride` and returns the first halves of all blocks, and
    /// the second halves.
    ///
    /// The last block may be short. Its first half then contributes only the lanes that have a
    /// partner `stride` lanes later.
    ///
    /// # Panics
    /// If `stride` is not a power of two.
    fn halves(&self, stride: usize) -> [Self; 2];

    /// Writes back the output of [`halves`](Lanes::halves). Lanes without a partner stay unchanged.
    ///
    /// # Panics
    /// As [`halves`](Lanes::halves), and if the halves have the wrong length.
    fn put_halves(&mut self, stride: usize, halves: [&Self; 2]);
}

/// Evaluates Boolean circuits: in the clear, by counting, garbled, or on shares.
///
/// XOR and NOT are free. Circuits pass all independent gates to one call of [`and`](Gates::and):
/// each call is a round of interaction if the parties hold shares.
pub trait Gates: Sized {
    /// The wires that carry one bit in each lane.
    type Wires: Lanes;

    /// `bit`, known to both parties, in each of `len` lanes.
    fn constant(&mut self, bit: bool, len: usize) -> Self::Wires;

    /// a ⊕ b, lane by lane.
    ///
    /// # Panics
    /// If the numbers of lanes differ.
    fn xor(&self, a: &Self::Wires, b: &Self::Wires) -> Self::Wires;

    /// ¬a, lane by lane.
    fn not(&self, a: &Self::Wires) -> Self::Wires;

    /// a ∧ b for each pair, lane by lane. Costs one AND gate per lane.
    ///
    /// # Errors
    /// Connection errors.
    ///
    /// # Panics
    /// If the lanes of a pair differ in number.
    fn and(&mut self, pairs: &[(&Self::Wires, &Self::Wires)]) -> Result<Vec<Self::Wires>>;

    /// For each list: s ∧ a for each wire a of the list. The bits s, one per lane, apply to all
    /// wires of the list, and the *generator* knows them (see [`Known`]). Costs one *one-sided* AND
    /// gate per lane and wire.
    ///
    /// # Errors
    /// As [`and`](Gates::and).
    ///
    /// # Panics
    /// If the number of known bits is not the number of lanes.
    fn and_known(
        &mut self,
        lists: &[(Known<'_>, &[&Self::Wires])],
    ) -> Result<Vec<Vec<Self::Wires>>>;

    /// Evaluates `circuit`. If the party has several threads, each evaluates some of the lanes;
    /// what is sent is the same.
    ///
    /// # Errors
    /// As [`and`](Gates::and).
    ///
    /// # Panics
    /// If the words differ in their number of lanes.
    fn lane_wise(
        &mut self,
        circuit: &impl LaneWise,
        words: &[&[Self::Wires]],
    ) -> Result<Vec<Self::Wires>> {
        circuit.evaluate(self, words)
    }

    /// Number of lanes that a circuit should process at a time. Small if the wires are large, so
    /// that they stay in the cache; large if every call is a round.
    fn lanes_at_once(&self) -> usize;

    /// Whether extra depth costs more than a few extra gates.
    fn prefers_depth(&self) -> bool;

    /// Whether this evaluator only counts, so that circuits need not compute which lanes go where.
    fn only_counts(&self) -> bool {
        false
    }

    /// Evaluates `times` equal parts, at least one: `part`, again and again, and returns the
    /// results of the last. One that [only counts](Gates::only_counts) evaluates it once.
    ///
    /// # Errors
    /// As `part`.
    fn equal_parts<R>(
        &mut self,
        times: u64,
        mut part: impl FnMut(&mut Self) -> Result<R>,
    ) -> Result<R> {
        for _ in 1..times {
            part(self)?;
        }
        part(self)
    }
}

/// A part of a circuit in which no lane depends on another. An evaluator may evaluate it several
/// times, on several threads at once, and on no lanes: a part in which lanes depend on each other
/// gives wrong results.
pub trait LaneWise: Sync {
    /// Evaluates the part for all lanes of `words`. Its gates are [`and`](Gates::and) on all of
    /// these lanes, and the calls are the same for any number of lanes, also for none. Results have
    /// as many lanes.
    ///
    /// # Errors
    /// As [`and`](Gates::and).
    fn evaluate<G: Gates>(&self, g: &mut G, words: &[&[G::Wires]]) -> Result<Vec<G::Wires>>;
}

/// Bits that the circuit's generator knows, one per lane. The other party has only their number.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// At the party that knows them.
    Mine(&'a Bits),
    /// At the other party.
    Theirs {
        /// Number of lanes.
        len: usize,
    },
}

impl Known<'_> {
    /// Number of lanes.
    pub fn len(&self) -> usize {
        match self {
            Known::Mine(bits) => bits.len(),
            Known::Theirs { len } => *len,
        }
    }

    /// Whether there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
