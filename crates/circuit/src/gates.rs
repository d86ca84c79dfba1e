//! What a circuit is made of, whoever evaluates it.

use vesica_core::Result;
use vesica_ot::Bits;

/// Wires of equal gates: one bit in each of a number of lanes.
///
/// Lanes are numbered from 0. A circuit is written for one lane and computes all of them.
pub trait Lanes: Clone + Send + Sync {
    /// How many lanes there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `len` lanes from `first` on.
    ///
    /// # Panics
    /// If there are fewer.
    fn slice(&self, first: usize, len: usize) -> Self;

    /// Replaces the lanes from `first` on by those of `lanes`.
    ///
    /// # Panics
    /// If there are fewer.
    fn put(&mut self, first: usize, lanes: &Self);

    /// The lanes of all `parts`, one after the other.
    fn concat(parts: &[Self]) -> Self;

    /// Lane `places[i]` for each i.
    ///
    /// # Panics
    /// If there is no such lane.
    fn gather(&self, places: &[u32]) -> Self;

    /// Replaces lane `places[i]` by lane i of `lanes`, for each i.
    ///
    /// # Panics
    /// If there is no such lane, or not a place for each.
    fn scatter(&mut self, places: &[u32], lanes: &Self);

    /// The lanes in blocks of 2·`stride`: the first halves of all blocks, and the second halves.
    ///
    /// The last block may be short: of its first half only the lanes that have a partner, `stride` lanes on,
    /// are taken.
    ///
    /// # Panics
    /// If `stride` is no power of two.
    fn halves(&self, stride: usize) -> [Self; 2];

    /// Puts back what [`halves`](Lanes::halves) took; lanes without a partner stay.
    ///
    /// # Panics
    /// As [`halves`](Lanes::halves), and if the halves have other lengths.
    fn put_halves(&mut self, stride: usize, halves: [&Self; 2]);
}

/// Evaluates Boolean circuits: in clear, by counting, garbled, or on shares.
///
/// XOR and NOT are free. Circuits call [`and`](Gates::and) with as many gates as do not depend on each other:
/// each call is a round of interaction where the parties hold shares.
pub trait Gates {
    /// The wires of one bit.
    type Wires: Lanes;

    /// `bit`, known to both parties, in `len` lanes.
    fn constant(&mut self, bit: bool, len: usize) -> Self::Wires;

    /// a ⊕ b, lane by lane.
    ///
    /// # Panics
    /// If the lanes are not equally many.
    fn xor(&self, a: &Self::Wires, b: &Self::Wires) -> Self::Wires;

    /// ¬a, lane by lane.
    fn not(&self, a: &Self::Wires) -> Self::Wires;

    /// a ∧ b of each pair, lane by lane: one AND gate a lane.
    ///
    /// # Errors
    /// Of the connection.
    ///
    /// # Panics
    /// If the lanes of a pair are not equally many.
    fn and(&mut self, pairs: &[(&Self::Wires, &Self::Wires)]) -> Result<Vec<Self::Wires>>;

    /// s ∧ a of each wire of a list, where the bits s, one a lane, are the same for all wires of the list and
    /// known to the *generator* (see [`Known`]): one *one-sided* AND gate a lane and wire.
    ///
    /// # Errors
    /// As [`and`](Gates::and).
    ///
    /// # Panics
    /// If there is not a bit for each lane.
    fn and_known(
        &mut self,
        lists: &[(Known<'_>, &[&Self::Wires])],
    ) -> Result<Vec<Vec<Self::Wires>>>;

    /// How many lanes circuits should work on at a time: few enough to stay in the cache where wires are large,
    /// many where every call is a round.
    fn lanes_at_once(&self) -> usize;

    /// Whether the depth of a circuit costs more than some more gates.
    fn prefers_depth(&self) -> bool;

    /// Whether nobody computes, so that circuits need not say which lanes go where: only how many.
    fn only_counts(&self) -> bool {
        false
    }
}

/// Bits that the generator of a circuit knows, one a lane: the bits themselves at the generator, nothing
/// but their number at the other party.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// At the party that knows them.
    Mine(&'a Bits),
    /// At the other party.
    Theirs {
        /// How many lanes.
        len: usize,
    },
}

impl Known<'_> {
    /// How many lanes there are.
    pub fn len(&self) -> usize {
        match self {
            Known::Mine(bits) => bits.len(),
            Known::Theirs { len } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
