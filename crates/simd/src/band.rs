//! Sums of the slots that a band of bits selects.
//!
//! A row holds one bit for each of 512 consecutive slots; the bit of slot s is bit s modulo 512 of
//! the row, bits counted from the least significant one of the first word.

use crate::Block;

/// Bits of a band of 512 slots.
pub type Row = [u64; 8];

/// The sum of the slots from `start` to `start` + 511 that `row` selects, as far as there are any.
pub fn dot(row: &Row, slots: &[Block], start: usize) -> Block {
    let mut sum = Block::ZERO;
    let end = start.saturating_add(512).min(slots.len());
    let mut from = start;
    while from < end {
        let to = (from / 64 * 64 + 64).min(end);
        let mut word = row[from / 64 % 8] >> (from % 64);
        for slot in &slots[from..to] {
            sum ^= *slot & Block::mask(word & 1 == 1);
            word >>= 1;
        }
        from = to;
    }
    sum
}
