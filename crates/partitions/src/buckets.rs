//! The items of a file's rows, grouped by the leading bits of their prefixes.
//!
//! Rows come in order, and are gathered in memory. When the memory is full, a counting sort groups
//! them by bucket and writes them to a file as a *run*: all buckets one after the other, each in
//! the order of the rows. A partition is a range of buckets, and so one piece of each run. Besides
//! the runs, the bucket of every row is stored in the order of the rows: with it, one pass turns
//! the answers of all partitions into those of the rows.

use crate::plan::MAX_BITS;
use crate::{NO_PREFIX, PartitionBits};
use std::io;
use std::sync::{PoisonError, RwLock};
use vesica_core::Item;
use vesica_scratch::{Scratch, ScratchFile};

/// Bytes that a row takes in memory: its item, its item again when it is grouped, and its bucket.
const WAITING_BYTES: u64 = 2 * Item::LEN as u64 + 2;

/// Bytes that a row takes on disk: its item and its bucket.
pub const DISK_BYTES_PER_ROW: u64 = Item::LEN as u64 + 2;

/// The fewest rows of a run: a shorter one would be written in too small pieces.
const LEAST_RUN: u64 = 1 << 16;

/// Bytes read or written at once.
const PIECE_BYTES: usize = 1 << 20;

/// Items read or written at once.
const PIECE_ITEMS: u64 = (PIECE_BYTES / Item::LEN) as u64;

/// Groups the items of rows. When the memory is full, the items in it are sorted by partition and
/// written to a file.
pub struct Buckets<'a> {
    bits: u32,
    run_rows: usize,
    scratch: &'a dyn Scratch,
    /// The rows of the next run.
    waiting: Vec<Item>,
    waiting_buckets: Vec<u16>,
    runs: Vec<Run>,
    items: Option<Box<dyn ScratchFile>>,
    buckets: Option<Box<dyn ScratchFile>>,
    rows: u64,
    piece: Vec<u8>,
}

/// Where the buckets of a run start.
struct Run {
    /// The first entry of each bucket in the run, and the number of all entries.
    starts: Vec<u32>,
    /// The first entry of the run.
    first: u64,
    /// How many rows there are, with and without an item.
    rows: u64,
}

impl<'a> Buckets<'a> {
    /// Groups by as many leading bits as `most_partitions`, a power of two, needs. What exceeds
    /// `memory_bytes` goes to `scratch`.
    pub fn new(most_partitions: u64, memory_bytes: u64, scratch: &'a dyn Scratch) -> Self {
        let bits = most_partitions.max(1).ilog2().min(MAX_BITS);
        let run_rows = (memory_bytes / WAITING_BYTES).clamp(LEAST_RUN, u32::MAX.into());
        Self {
            bits,
            run_rows: run_rows as usize,
            scratch,
            waiting: Vec::new(),
            waiting_buckets: Vec::new(),
            runs: Vec::new(),
            items: None,
            buckets: None,
            rows: 0,
            piece: Vec::new(),
        }
    }

    /// Adds the items of the next rows with their prefixes. A row with [`NO_PREFIX`] has no item.
    ///
    /// # Errors
    /// The errors of the scratch files; after an error nothing more can be added.
    pub fn push(&mut self, mut items: &[Item], mut prefixes: &[u16]) -> io::Result<()> {
        while !items.is_empty() {
            if self.waiting_buckets.len() == self.run_rows {
                self.write_run()?;
            }
            let now = items.len().min(self.run_rows - self.waiting_buckets.len());
            let shift = MAX_BITS - self.bits;
            let of = |prefix: &u16| if *prefix == NO_PREFIX { NO_PREFIX } else { prefix >> shift };
            self.waiting.extend_from_slice(&items[..now]);
            self.waiting_buckets.extend(prefixes[..now].iter().map(of));
            (items, prefixes) = (&items[now..], &prefixes[now..]);
            self.rows += now as u64;
        }
        Ok(())
    }

    /// Makes a run of the rows in memory.
    fn group(&mut self) -> (Run, Vec<Item>) {
        let mut starts = vec![0_u32; (1 << self.bits) + 1];
        for bucket in self.waiting_buckets.iter().filter(|bucket| **bucket != NO_PREFIX) {
            starts[usize::from(*bucket) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut grouped = vec![Item::from_bytes([0; Item::LEN]); sum as usize];
        for (item, bucket) in self.waiting.iter().zip(&self.waiting_buckets) {
            if *bucket != NO_PREFIX {
                let next = &mut next[usize::from(*bucket)];
                grouped[*next as usize] = *item;
                *next += 1;
            }
        }
        let first = self.runs.last().map_or(0, Run::end);
        (Run { starts, first, rows: self.waiting.len() as u64 }, grouped)
    }

    fn write_run(&mut self) -> io::Result<()> {
        let (run, grouped) = self.group();
        self.waiting.clear();
        let items = match &mut self.items {
            Some(file) => file,
            none => none.insert(self.scratch.create()?),
        };
        for items_of_piece in grouped.chunks(PIECE_BYTES / Item::LEN) {
            self.piece.clear();
            items_of_piece.iter().for_each(|item| self.piece.extend_from_slice(item.as_bytes()));
            items.append(&self.piece)?;
        }
        let buckets = match &mut self.buckets {
            Some(file) => file,
            none => none.insert(self.scratch.create()?),
        };
        for buckets_of_piece in self.waiting_buckets.chunks(PIECE_BYTES / 2) {
            self.piece.clear();
            self.piece.extend(buckets_of_piece.iter().flat_map(|bucket| bucket.to_le_bytes()));
            buckets.append(&self.piece)?;
        }
        self.waiting_buckets.clear();
        self.runs.push(run);
        Ok(())
    }

    /// Ends the adding of rows. Their items can then be read in `partitions`: a power of two, and
    /// at most the `most_partitions` of [`new`](Self::new).
    ///
    /// # Errors
    /// The errors of the scratch files.
    pub fn finish(mut self, partitions: u64) -> io::Result<Grouped> {
        let partition_bits = partitions.max(1).ilog2().min(self.bits);
        let kept = if self.runs.is_empty() {
            let (run, grouped) = self.group();
            self.runs.push(run);
            let buckets = std::mem::take(&mut self.waiting_buckets);
            Kept::InMemory { items: RwLock::new(grouped), buckets }
        } else {
            if !self.waiting.is_empty() {
                self.write_run()?;
            }
            let (Some(items), Some(buckets)) = (self.items, self.buckets) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            Kept::OnDisk { items, buckets }
        };
        let Self { bits, runs, rows, .. } = self;
        Ok(Grouped { bits, partition_bits, runs, rows, kept })
    }
}

impl Run {
    fn end(&self) -> u64 {
        self.first + u64::from(self.starts.last().copied().unwrap_or(0))
    }
}

/// The grouped items of all rows.
pub struct Grouped {
    bits: u32,
    partition_bits: u32,
    runs: Vec<Run>,
    rows: u64,
    kept: Kept,
}

enum Kept {
    InMemory { items: RwLock<Vec<Item>>, buckets: Vec<u16> },
    OnDisk { items: Box<dyn ScratchFile>, buckets: Box<dyn ScratchFile> },
}

impl Kept {
    /// Replaces what `buckets` holds with the buckets of `count` rows from `first` on.
    fn buckets(&self, first: u64, count: usize, buckets: &mut Vec<u16>) -> io::Result<()> {
        buckets.clear();
        match self {
            Kept::InMemory { buckets: all, .. } => {
                buckets.extend_from_slice(&all[first as usize..][..count]);
            }
            Kept::OnDisk { buckets: file, .. } => {
                let mut bytes = vec![0; 2 * count];
                file.read_exact_at(2 * first, &mut bytes)?;
                buckets.extend(bytes.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two)));
            }
        }
        Ok(())
    }
}

impl PartitionBits {
    /// A set of bits that are all zero.
    pub fn new(grouped: &Grouped) -> Self {
        Self::of_lens((0..grouped.partitions()).map(|partition| grouped.len(partition)))
    }
}

/// Where the pieces of the entries from `from` to `to` start.
fn pieces((from, to): (u64, u64)) -> impl Iterator<Item = u64> {
    (from..to).step_by(PIECE_ITEMS as usize)
}

impl Grouped {
    /// Into how many partitions the items are split.
    pub fn partitions(&self) -> u64 {
        1 << self.partition_bits
    }

    /// Splits the same items into another number of partitions: a power of two, and at most the
    /// `most_partitions` of [`Buckets::new`].
    pub fn in_partitions(self, partitions: u64) -> Self {
        Self { partition_bits: partitions.max(1).ilog2().min(self.bits), ..self }
    }

    /// Number of rows, including those without an item.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many items `partition` has, including repeated ones.
    pub fn len(&self, partition: u64) -> u64 {
        self.runs.iter().map(|run| self.piece(run, partition)).map(|(from, to)| to - from).sum()
    }

    /// Whether no row has an item.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.end() == run.first)
    }

    /// Where the entries of `partition` are in `run`, counted over all runs.
    fn piece(&self, run: &Run, partition: u64) -> (u64, u64) {
        let width = 1 << (self.bits - self.partition_bits);
        let first = partition as usize * width;
        let at = |bucket: usize| run.first + u64::from(run.starts[bucket]);
        (at(first), at(first + width))
    }

    /// Replaces what `items` holds with the items of `partition`, including repeated ones.
    ///
    /// # Errors
    /// The errors of the scratch files.
    pub fn read(&self, partition: u64, items: &mut Vec<Item>) -> io::Result<()> {
        items.clear();
        items.reserve(self.len(partition) as usize);
        self.each(partition, &mut |some| {
            items.extend_from_slice(some);
            Ok(())
        })
    }

    /// Passes the items of `partition` to `take`, some tens of thousands at a time, in the order of
    /// [`read`](Self::read). If many rows have one key, a partition can be longer than memory
    /// allows.
    ///
    /// # Errors
    /// The errors of the scratch files and of `take`.
    pub fn each(
        &self,
        partition: u64,
        take: &mut dyn FnMut(&[Item]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut bytes, mut items) = (Vec::new(), Vec::new());
        for run in &self.runs {
            let (first, end) = self.piece(run, partition);
            for from in pieces((first, end)) {
                let now = (end - from).min(PIECE_ITEMS);
                match &self.kept {
                    Kept::InMemory { items: all, .. } => {
                        let all = all.read().unwrap_or_else(PoisonError::into_inner);
                        items.clear();
                        items.extend_from_slice(&all[from as usize..(from + now) as usize]);
                        drop(all);
                        take(&items)?;
                    }
                    Kept::OnDisk { items: file, .. } => {
                        bytes.resize(now as usize * Item::LEN, 0);
                        file.read_exact_at(from * Item::LEN as u64, &mut bytes)?;
                        items.clear();
                        let read = bytes.as_chunks().0.iter();
                        items.extend(read.map(|item| Item::from_bytes(*item)));
                        take(&items)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Overwrites the items of `partition` with the output of `replace`, some tens of thousands at
    /// a time, in the order of [`each`](Self::each). Other partitions may be read and replaced
    /// at the same time.
    ///
    /// # Errors
    /// The errors of the scratch files and of `replace`.
    pub fn replace(
        &self,
        partition: u64,
        replace: &mut dyn FnMut(&mut [Item]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut from = self.runs.iter().map(|run| self.piece(run, partition)).flat_map(pieces);
        let (mut bytes, mut replaced) = (Vec::new(), Vec::new());
        self.each(partition, &mut |items| {
            replaced.clear();
            replaced.extend_from_slice(items);
            replace(&mut replaced)?;
            let from = from.next().ok_or(io::ErrorKind::UnexpectedEof)?;
            match &self.kept {
                Kept::InMemory { items: all, .. } => {
                    let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
                    all[from as usize..][..replaced.len()].copy_from_slice(&replaced);
                    Ok(())
                }
                Kept::OnDisk { items: file, .. } => {
                    bytes.clear();
                    replaced.iter().for_each(|item| bytes.extend_from_slice(item.as_bytes()));
                    file.overwrite_at(from * Item::LEN as u64, &bytes)
                }
            }
        })
    }

    /// Turns the bits of all entries into those of all rows: row r has bit r mod 64 of word ⌊r/64⌋.
    /// The bit of a row without an item is 0.
    ///
    /// # Errors
    /// The errors of the scratch files.
    pub fn into_rows(self, bits: &PartitionBits) -> io::Result<Vec<u64>> {
        let mut words = vec![0; self.rows.div_ceil(64) as usize];
        // The next entry of each partition, then of each bucket of the current run.
        let mut ends: Vec<u64> = (0..self.partitions()).map(|of| bits.start(of as usize)).collect();
        let mut next = vec![0; 1 << self.bits];
        let (mut row, mut piece) = (0, Vec::new());
        for run in &self.runs {
            for (bucket, next) in next.iter_mut().enumerate() {
                let end = &mut ends[bucket >> (self.bits - self.partition_bits)];
                *next = *end;
                *end += u64::from(run.starts[bucket + 1] - run.starts[bucket]);
            }
            let last = row + run.rows;
            while row < last {
                let now = (last - row).min((PIECE_BYTES / 2) as u64) as usize;
                self.kept.buckets(row, now, &mut piece)?;
                for bucket in &piece {
                    if *bucket != NO_PREFIX {
                        let entry = &mut next[usize::from(*bucket)];
                        words[(row / 64) as usize] |= u64::from(bits.get(*entry)) << (row % 64);
                        *entry += 1;
                    }
                    row += 1;
                }
            }
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use proptest::prelude::*;
    use vesica_scratch::MemoryScratch;

    /// A scratch that is full after this many bytes.
    struct Full(usize);

    struct Part(Box<dyn ScratchFile>, usize);

    impl Scratch for Full {
        fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
            Ok(Box::new(Part(MemoryScratch.create()?, self.0)))
        }
    }

    impl ScratchFile for Part {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            if self.0.len() as usize + bytes.len() > self.1 {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                self.0.append(bytes)
            }
        }

        fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            self.0.overwrite_at(offset, bytes)
        }

        fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read_exact_at(offset, out)
        }

        fn len(&self) -> u64 {
            self.0.len()
        }
    }

    fn prefixes(rows: &[Item]) -> Vec<u16> {
        let mut prefixes = Vec::new();
        Splitter::new(&[5; 32]).prefixes(rows, &mut prefixes);
        for (prefix, item) in prefixes.iter_mut().zip(rows) {
            if item.integer() == 0 {
                *prefix = NO_PREFIX;
            }
        }
        prefixes
    }

    fn grouped(
        rows: &[Item],
        most: u64,
        partitions: u64,
        run_rows: usize,
        chunk: usize,
        scratch: &dyn Scratch,
    ) -> io::Result<Grouped> {
        let mut buckets = Buckets::new(most, 0, scratch);
        buckets.run_rows = run_rows;
        let prefixes = prefixes(rows);
        for (rows, prefixes) in rows.chunks(chunk).zip(prefixes.chunks(chunk)) {
            buckets.push(rows, prefixes)?;
        }
        buckets.finish(partitions)
    }

    proptest! {
        #[test]
        fn every_row_gets_the_bit_of_its_item(
            rows in prop::collection::vec(0_u128..500, 0..2000),
            (most, fewer) in (0_u32..=12, 0_u32..=12),
            run_rows in 1_usize..700,
            chunk in 1_usize..300,
        ) {
            let rows: Vec<Item> = rows.into_iter().map(Item::from_integer).collect();
            let (most, partitions) = (1 << most, 1 << fewer.min(most));
            let grouped = grouped(&rows, most, partitions, run_rows, chunk, &MemoryScratch)?;
            prop_assert_eq!(grouped.rows(), rows.len() as u64);
            prop_assert_eq!(grouped.partitions(), partitions);
            let is_in = |item: &Item| item.integer() % 3 == 1;
            let mut bits = PartitionBits::new(&grouped);
            let (mut all, mut items) = (Vec::new(), vec![Item::from_integer(7)]);
            for partition in 0..partitions {
                grouped.read(partition, &mut items)?;
                prop_assert_eq!(items.len() as u64, grouped.len(partition));
                for prefix in prefixes(&items) {
                    prop_assert_eq!(u64::from(prefix) >> (12 - partitions.ilog2()), partition);
                }
                let (first, rest) = items.split_at(items.len() / 2);
                bits.set(partition, 0, first.iter().map(is_in));
                bits.set(partition, first.len() as u64, rest.iter().map(is_in));
                all.append(&mut items);
            }
            // What overwrites a partition is read back from that partition, and from no other.
            let masked = |item: &Item| Item::from_integer(item.integer() + 1000);
            grouped.replace(0, &mut |items| {
                items.iter_mut().for_each(|item| *item = masked(item));
                Ok(())
            })?;
            let mut next = all.iter();
            for partition in 0..partitions {
                grouped.each(partition, &mut |some| {
                    let before = next.by_ref().take(some.len());
                    let of = |item: &Item| if partition == 0 { masked(item) } else { *item };
                    let expected = before.map(of);
                    assert!(some.iter().copied().eq(expected));
                    Ok(())
                })?;
            }
            let words = grouped.into_rows(&bits)?;
            for (row, item) in rows.iter().enumerate() {
                prop_assert_eq!(words[row / 64] >> (row % 64) & 1 == 1, is_in(item));
            }
            let mut expected = rows;
            expected.retain(|row| row.integer() != 0);
            expected.sort_unstable();
            all.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_happens() {
        let rows: Vec<Item> = (1..5000).map(Item::from_integer).collect();
        let of = |most| {
            let grouped = grouped(&rows, 16, 16, 1000, 100, &Full(most));
            grouped.map(|_| ()).map_err(|error| error.kind())
        };
        for most in [0, 2000, 16_000, 20_000, 79_983] {
            assert_eq!(of(most), Err(io::ErrorKind::StorageFull), "{most}");
        }
        assert_eq!(of(79_984), Ok(()));
    }
}
