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
}
