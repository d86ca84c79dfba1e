//! Rows: three slots in one word.

/// Three different slots of 16 bits each, the first in the least significant bits; the upper 16
/// bits are zero.
pub type Row = u64;

/// The slots of a row.
#[inline(always)]
pub fn slots_of(row: Row) -> [usize; 3] {
    [row as usize & 0xffff, (row >> 16) as usize & 0xffff, (row >> 32) as usize & 0xffff]
}
