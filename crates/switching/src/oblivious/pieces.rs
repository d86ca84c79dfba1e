//! The pieces that switches are processed in.

use super::packing::bytes_len;

/// Maximum bytes per message, unless 128 switches take more.
const MESSAGE_BYTES: usize = 256 << 10;

/// Number of switches processed together, a power of two: `rows` rows for each of them are one
/// message.
pub(super) fn piece_len(bits: u32, rows: usize) -> usize {
    let fitting = 8 * MESSAGE_BYTES / (rows * bits as usize);
    1 << fitting.clamp(128, 1 << 14).ilog2()
}

/// Bytes of `rows` rows for each of `switches` switches, in messages of whole pieces.
pub(super) fn rows_bytes(switches: u64, rows: usize, bits: u32) -> u64 {
    let piece = piece_len(bits, rows) as u64;
    let of = |switches: u64| bytes_len(switches as usize * rows, bits) as u64;
    switches / piece * of(piece) + of(switches % piece)
}
