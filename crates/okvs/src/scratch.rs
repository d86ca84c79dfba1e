use crate::band;
use crate::clustered;
use crate::polynomial;

/// Memory that encoding and decoding need besides slots and keys; made once for each thread, grows
/// to what the largest cluster needs.
#[derive(Default)]
pub struct Scratch {
    pub(crate) clustered: clustered::Buffers,
    pub(crate) band: band::Buffers,
    pub(crate) polynomial: polynomial::Buffers,
}

impl Scratch {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives all memory back; what comes next takes what it needs.
    ///
    /// Between the last encoding and the first decoding: encoding in the band store takes 75 bytes a
    /// key of a cluster, decoding only 8, and of the keys that are decoded at a time.
    pub fn release(&mut self) {
        *self = Self::default();
    }
}
