//! The original places of the labels of a sorted list.

use crate::{Bits, Segment};
use std::io;
use vesica_scratch::{Scratch, ScratchFile};

/// Bytes of an entry: a number of 39 bits, and a flag on the first number of a label.
const ENTRY_LEN: usize = 5;

/// The flag, in its position within an entry.
const FIRST: u64 = 1 << 39;

/// Entries per read.
const READ_LEN: usize = 1 << 15;

/// The numbers of a sorted list's labels, in the list's order: the table from labels to rows. It
/// takes 5 bytes per row, in a scratch file.
pub struct Order {
    file: Box<dyn ScratchFile>,
    segments: Vec<(u64, u64)>,
}

impl Order {
    /// Maximum length of a number in bits.
    pub const NUMBER_BITS: u32 = 39;

    /// An empty table for a list of `segments` segments.
    ///
    /// # Errors
    /// I/O errors of the scratch storage.
    pub fn new(segments: u32, scratch: &dyn Scratch) -> io::Result<Self> {
        Ok(Self { file: scratch.create()?, segments: vec![(0, 0); segments as usize] })
    }

    /// Stores the numbers of segment `index`. Segments may come in any order.
    ///
    /// # Errors
    /// I/O errors of the scratch file.
    pub fn keep(&mut self, index: u32, segment: &Segment) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(segment.numbers.len() * ENTRY_LEN);
        for number in &segment.numbers {
            let entry = match number & Segment::FIRST {
                0 => *number,
                _ => number & !Segment::FIRST | FIRST,
            };
            bytes.extend_from_slice(&entry.to_le_bytes()[..ENTRY_LEN]);
        }
        self.segments[index as usize] = (self.file.len(), segment.numbers.len() as u64);
        self.file.append(&bytes)
    }

    /// Calls `take` for each number of the list, with the number, whether it is the first of its
    /// label, and its label's bit.
    ///
    /// # Errors
    /// I/O errors of the scratch file.
    pub fn each(&self, bits: &Bits, mut take: impl FnMut(u64, bool, bool)) -> io::Result<()> {
        let mut bytes = vec![0; READ_LEN * ENTRY_LEN];
        let (mut rank, mut found) = (0, false);
        for (offset, len) in &self.segments {
            let mut done = 0;
            while done < *len {
                let now = (len - done).min(READ_LEN as u64) as usize;
                let bytes = &mut bytes[..now * ENTRY_LEN];
                self.file.read_exact_at(offset + done * ENTRY_LEN as u64, bytes)?;
                for entry in bytes.as_chunks::<ENTRY_LEN>().0 {
                    let [a, b, c, d, e] = *entry;
                    let entry = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
                    let is_first = entry & FIRST != 0;
                    if is_first {
                        found = bits.get(rank);
                        rank += 1;
                    }
                    take(entry & !FIRST, is_first, found);
                }
                done += now as u64;
            }
        }
        Ok(())
    }
}
