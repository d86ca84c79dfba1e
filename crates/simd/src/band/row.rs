//! Rows: the bits over a band.

/// Number of slots of a band.
pub const WIDTH: usize = 512;

/// One bit for each slot of a band.
pub type Row = [u64; WIDTH / 64];

/// Number of rows summed together.
pub(super) const BATCH: usize = 64;

/// Ones from bit `start` modulo 64 on: the part of a band's first word that belongs to its start.
/// The rest of the word belongs to the band's end.
#[inline(always)]
pub(super) fn from_start(start: usize) -> u64 {
    u64::MAX << (start % 64)
}
