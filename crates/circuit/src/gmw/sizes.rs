//! The sizes of comparisons in bins.

use super::transfers::PIECE;
use crate::Bins;
use vesica_ot::Traffic;

/// Maximum bits per digit.
pub(super) const DIGIT_BITS: usize = 4;

/// Lanes of slots compared in bins at a time.
const SLOTS_AT_ONCE: usize = 1 << 26;

/// The parts of a comparison in bins, each processed at once.
pub(crate) fn parts(bins: &Bins) -> impl Iterator<Item = (usize, Bins)> + use<> {
    let bins = *bins;
    let at_once = (SLOTS_AT_ONCE / bins.slots.max(1)).max(1);
    (0..bins.count)
        .step_by(at_once)
        .map(move |first| (first, Bins { count: at_once.min(bins.count - first), ..bins }))
}

/// Number of digits, of at most four bits each, in a value of `width` bits.
pub(crate) fn digits_len(width: usize) -> usize {
    digits(width).len()
}

/// Bins per piece of OTs.
fn per_piece(bins: &Bins) -> usize {
    PIECE / bins.width.max(1)
}

/// Pieces of OTs in a comparison.
pub(super) fn pieces(bins: &Bins) -> u64 {
    bins.count.div_ceil(per_piece(bins)) as u64
}

/// Bits of all tables of a bin.
pub(super) fn table_bits(bins: &Bins) -> usize {
    digits(bins.width).iter().map(|bits| ((1 << bits) - 1) * bins.slots).sum()
}

/// The bins of each piece.
pub(super) fn bins_of_pieces(bins: &Bins) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let (count, step) = (bins.count, per_piece(bins));
    (0..count).step_by(step).map(move |first| first..(first + step).min(count))
}

/// Payload bytes, without those of the OTs.
pub(super) fn bytes(bins: &Bins) -> Traffic {
    let mut bytes = Traffic::default();
    for part in bins_of_pieces(bins) {
        bytes.sender_to_receiver += bytes_len(part.len() * table_bits(bins));
        bytes.receiver_to_sender += bytes_len(part.len() * bins.width);
    }
    bytes
}

pub(super) fn bytes_len(bits: usize) -> u64 {
    (bits.div_ceil(u64::BITS as usize) * 8) as u64
}

/// The lengths of the digits of a value of `width` bits, lowest digit first: as few digits as
/// possible, of nearly equal length.
pub(super) fn digits(width: usize) -> Vec<usize> {
    let count = width.div_ceil(DIGIT_BITS);
    (0..count).map(|i| (width + i) / count).collect()
}
