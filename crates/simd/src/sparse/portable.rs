use super::row::{Row, slots_of};
use crate::Block;

#[inline(always)]
fn row(key: Block, slots: u32) -> Row {
    let low = key.get() as u64;
    let middle = (key.get() >> 64) as u64 & 0xffff_ffff;
    let scaled = |word: u64, range: u32| (word * u64::from(range)) >> 32;
    let a = scaled(low & 0xffff_ffff, slots);
    // Each further slot is one of the remaining ones.
    let b = scaled(low >> 32, slots - 1);
    let b = b + u64::from(b >= a);
    let c = scaled(middle, slots - 2);
    let c = c + u64::from(c >= a.min(b));
    let c = c + u64::from(c >= a.max(b));
    a | b << 16 | c << 32
}

pub(super) fn rows(keys: &[Block], slots: u32, rows: &mut [Row]) {
    for (key, out) in keys.iter().zip(rows) {
        *out = row(*key, slots);
    }
}

pub(super) fn sums(keys: &[Block], slots: &[Block], out: &mut [Block]) {
    for (key, out) in keys.iter().zip(out) {
        let [a, b, c] = slots_of(row(*key, slots.len() as u32));
        *out = slots[a] ^ slots[b] ^ slots[c];
    }
}
