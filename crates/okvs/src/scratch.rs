use crate::band;
use crate::clustered;

/// Memory that encoding and decoding need besides slots and keys; made once for each thread, grows
/// to what the largest cluster needs.
#[derive(Default)]
pub struct Scratch {
    pub(crate) clustered: clustered::Buffers,
    pub(crate) band: band::Buffers,
}

impl Scratch {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives back the memory that encoding alone needs; for the band store about 67 bytes a key of
    /// a cluster, after which 8 are left.
    ///
    /// Decoding goes on as before; another encoding takes the memory again, which costs its first
    /// cluster the time to have it zeroed.
    pub fn release_encoder(&mut self) {
        self.clustered = clustered::Buffers::default();
        self.band.release_encoder();
    }
}
