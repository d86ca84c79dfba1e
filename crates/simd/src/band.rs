//! Sums of the slots that a band of bits selects.
//!
//! A [`Row`] holds one bit for each of 512 consecutive slots, its band. The bit of slot s is bit s
//! modulo 512 of the row, counted from the least significant bit of the first word. Bits for slots
//! beyond the last one are ignored.
//!
//! Rows whose bands lie close together are summed with tables over a few slots each (the "method of
//! the four Russians"), or with multiplications by 8 × 8 bit matrices if the processor has them.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod row;
mod window;

pub use row::{Row, WIDTH};

use crate::{Backend, Block};
use row::BATCH;

/// Batches of fewer rows are summed one by one.
const SMALL_BATCH: usize = 6;

/// Maximum distance of the starts of a batch, in words of 64 slots: all of their bands must lie in
/// one window.
const SPREAD: usize = window::WORDS - WIDTH / 64;

/// The sum of the slots that `row` selects in the band that starts at `start`.
pub fn sum(row: &Row, slots: &[Block], start: usize) -> Block {
    let mut sum = Block::ZERO;
    let end = start.saturating_add(WIDTH).min(slots.len());
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

/// Sums slots for many rows; fast for rows in order of their bands.
pub struct Sums<'a> {
    slots: &'a [Block],
    tables: Tables,
}

/// Precomputed values for a window of slots.
enum Tables {
    Portable(Box<portable::Tables>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<avx512::Tables>),
}

impl Tables {
    fn new() -> Self {
        match Backend::active() {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Tables::Avx512(Default::default()),
            _ => Tables::Portable(Default::default()),
        }
    }
}

impl<'a> Sums<'a> {
    /// For sums of these slots.
    pub fn new(slots: &'a [Block]) -> Self {
        Self { slots, tables: Tables::new() }
    }

    /// Sets `out[i]` to the sum of the slots that `rows[i]` selects in the band that starts at
    /// `starts[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn compute(&mut self, rows: &[Row], starts: &[u32], out: &mut [Block]) {
        assert_eq!(rows.len(), starts.len(), "one start per row");
        assert_eq!(rows.len(), out.len(), "one output per row");
        let mut done = 0;
        while done < rows.len() {
            let count = batch_len(&starts[done..]);
            let batch = done..done + count;
            done += count;
            let (rows, starts) = (&rows[batch.clone()], &starts[batch.clone()]);
            let out = &mut out[batch];
            if count < SMALL_BATCH {
                for ((row, start), out) in rows.iter().zip(starts).zip(out) {
                    *out = sum(row, self.slots, *start as usize);
                }
                continue;
            }
            match &mut self.tables {
                Tables::Portable(tables) => tables.sums(self.slots, rows, starts, out),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: these tables are made only where that backend is active.
                Tables::Avx512(tables) => unsafe { tables.sums(self.slots, rows, starts, out) },
            }
        }
    }
}

/// Number of leading rows whose bands fit into one window that starts with the first of them.
fn batch_len(starts: &[u32]) -> usize {
    let first = starts[0] as usize;
    let near = |start: &u32| {
        let start = *start as usize;
        start >= first && start / 64 < first / 64 + SPREAD
    };
    starts.iter().take(BATCH).take_while(|start| near(start)).count()
}

/// Solves a system in echelon form, last slot first.
///
/// For each bit s that is set in `solved`, the first bit of row `rows[s]` is bit s, its band starts
/// at slot s, and `slots[s]` holds the required sum of the slots it selects; the function replaces
/// it by the slot's value. All other slots already hold their value, and their rows are ignored.
///
/// # Panics
/// Unless there is one row per slot and one bit in `solved` per row.
pub fn substitute_back(rows: &[Row], solved: &[u64], slots: &mut [Block]) {
    assert_eq!(rows.len(), slots.len(), "one row per slot");
    assert_eq!(solved.len(), slots.len().div_ceil(64), "one bit per slot");
    let mut tables = Tables::new();
    for word in (0..solved.len()).rev() {
        let first = 64 * word;
        let rows = &rows[first..slots.len().min(first + 64)];
        let mut later = [Block::ZERO; BATCH];
        match &mut tables {
            Tables::Portable(tables) => tables.later_sums(slots, word, rows, &mut later),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: these tables are made only where that backend is active.
            Tables::Avx512(tables) => unsafe { tables.later_sums(slots, word, rows, &mut later) },
        }
        let slots = &mut slots[first..first + rows.len()];
        for i in (0..rows.len()).rev().filter(|i| solved[word] >> i & 1 == 1) {
            let mut sum = slots[i] ^ later[i];
            // The later slots of the same word; bit i itself is the slot to solve for.
            let mut others = rows[i][word % 8] >> i >> 1;
            let mut slot = i;
            while others != 0 {
                let step = others.trailing_zeros();
                slot += step as usize + 1;
                others = others >> step >> 1;
                sum ^= slots.get(slot).copied().unwrap_or_default();
            }
            slots[i] = sum;
        }
    }
}
