use rand::CryptoRng;
use rand::seq::SliceRandom;
use vesica_core::Secret;

/// The list is not a permutation: a place repeats or is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a permutation")]
pub struct NotAPermutation;

/// A permutation of at most 2^32 − 1 lanes; secret, wiped when dropped.
///
/// For each place after the permutation it holds the place before it that the lane comes from.
pub struct Permutation {
    sources: Secret<Vec<u32>>,
}

impl Permutation {
    /// A uniformly random permutation: Fisher–Yates with unbiased draws.
    ///
    /// # Panics
    /// If `len` is above 2^32 − 1.
    pub fn random(len: usize, rng: &mut impl CryptoRng) -> Self {
        let mut permutation = Self::identity(len);
        permutation.sources.expose_mut().shuffle(rng);
        permutation
    }

    /// The permutation that leaves every lane in place.
    ///
    /// # Panics
    /// If `len` is above 2^32 − 1.
    pub fn identity(len: usize) -> Self {
        let len = u32::try_from(len).expect("there are at most 2^32 - 1 lanes");
        Self::from_list((0..len).collect())
    }

    /// The permutation that moves the lane at `sources[i]` to place i.
    ///
    /// # Errors
    /// [`NotAPermutation`] unless every place below the number of lanes occurs exactly once.
    pub fn from_sources(sources: Vec<u32>) -> Result<Self, NotAPermutation> {
        // From here on the list is wiped on every path.
        let permutation = Self::from_list(sources);
        if u32::try_from(permutation.len()).is_err() {
            return Err(NotAPermutation);
        }
        let mut seen = vec![false; permutation.len()];
        for source in permutation.sources() {
            let seen = seen.get_mut(*source as usize).ok_or(NotAPermutation)?;
            if std::mem::replace(seen, true) {
                return Err(NotAPermutation);
            }
        }
        Ok(permutation)
    }

    fn from_list(sources: Vec<u32>) -> Self {
        Self { sources: Secret::new(sources) }
    }

    /// Number of lanes.
    pub fn len(&self) -> usize {
        self.sources().len()
    }

    /// Whether there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.sources().is_empty()
    }

    /// For each place, the source of its lane.
    pub fn sources(&self) -> &[u32] {
        self.sources.expose()
    }

    /// The sources, for code that consumes the permutation in place.
    pub(crate) fn sources_mut(&mut self) -> &mut [u32] {
        self.sources.expose_mut()
    }

    /// The inverse permutation.
    pub fn inverse(&self) -> Self {
        let mut sources = vec![0; self.len()];
        for (to, from) in (0u32..).zip(self.sources()) {
            sources[*from as usize] = to;
        }
        Self::from_list(sources)
    }

    /// The composition: first `self`, then `next`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn then(&self, next: &Self) -> Self {
        assert_eq!(self.len(), next.len(), "both permute the same lanes");
        Self::from_list(next.apply(self.sources()))
    }

    /// Returns the lanes in their new order.
    ///
    /// # Panics
    /// If the number of lanes differs.
    pub fn apply<T: Clone>(&self, lanes: &[T]) -> Vec<T> {
        assert_eq!(self.len(), lanes.len(), "the permutation and the lanes have the same length");
        self.sources().iter().map(|i| lanes[*i as usize].clone()).collect()
    }
}
