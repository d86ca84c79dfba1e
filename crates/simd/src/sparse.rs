//! Sums of the three slots that a key selects.
//!
//! The three least significant 32-bit words of a key, each scaled to the remaining slots, select
//! three different slots. All sets of three have the same probability, up to a relative bias below
//! 2^-15.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod row;

pub use row::{Row, slots_of};

use crate::{Backend, Block};

/// Maximum number of slots.
pub const MAX_SLOTS: usize = 1 << 16;

/// Sets `rows[i]` to the row of `keys[i]` among `slots` slots.
///
/// # Panics
/// If the lengths differ, or `slots` is not from 3 to [`MAX_SLOTS`].
pub fn rows(keys: &[Block], slots: usize, rows: &mut [Row]) {
    assert_eq!(keys.len(), rows.len(), "one row per key");
    assert!((3..=MAX_SLOTS).contains(&slots), "three positions of 16 bits");
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only a backend that the processor can run is ever active.
        Backend::Avx512 => unsafe { avx512::rows(keys, slots as u32, rows) },
        _ => portable::rows(keys, slots as u32, rows),
    }
}

/// Sets `out[i]` to the sum of the three slots of `keys[i]`.
///
/// # Panics
/// If the lengths differ, or there are not from 3 to [`MAX_SLOTS`] slots.
pub fn sums(keys: &[Block], slots: &[Block], out: &mut [Block]) {
    assert_eq!(keys.len(), out.len(), "one output per key");
    assert!((3..=MAX_SLOTS).contains(&slots.len()), "three positions of 16 bits");
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only a backend that the processor can run is ever active.
        Backend::Avx512 => unsafe { avx512::sums(keys, slots, out) },
        _ => portable::sums(keys, slots, out),
    }
}
