use crate::band;
use crate::clustered;
use crate::polynomial;

/// Memory for encoding and decoding, besides slots and keys. Make one per thread; it grows to the
/// needs of the largest cluster.
#[derive(Default)]
pub struct Scratch {
    pub(crate) clustered: clustered::Buffers,
    pub(crate) band: band::Buffers,
    pub(crate) polynomial: polynomial::Buffers,
}

impl Scratch {
    /// No memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees all memory; later calls allocate what they need.
    ///
    /// Useful between the last encoding and the first decoding: in the band store, encoding takes
    /// 75 bytes per key of a cluster, decoding only 8 bytes per key decoded together.
    pub fn release(&mut self) {
        *self = Self::default();
    }
}
