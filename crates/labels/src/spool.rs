//! Sorting of lists that can be larger than memory.

use crate::sort::sort_uniform;
use crate::{Format, Label, code};
use std::io;
use vesica_scratch::{Scratch, ScratchFile};

/// Bytes per record in a file.
const RECORD_LEN: usize = 16;

/// Collects labels, each with a number of the caller, and sorts them.
///
/// A record is 16 bytes: the bits of the label below those of its segment, then the number. Records
/// collect in memory up to a limit, are then ordered by segment, and go to a scratch file as one
/// *run*. Later each segment is read from all runs and sorted alone.
pub struct Spool<'a> {
    format: Format,
    number_bits: u32,
    gathered: Vec<u128>,
    segments: Vec<u32>,
    run_len: usize,
    scratch: &'a dyn Scratch,
    file: Option<Box<dyn ScratchFile>>,
    runs: Vec<SortedRun>,
    len: u64,
}

/// Records ordered by segment, in memory or in the file from `offset` on.
struct SortedRun {
    offset: u64,
    starts: Vec<u64>,
}

impl<'a> Spool<'a> {
    /// An empty spool for labels of `format` with numbers of `number_bits` bits, which takes about
    /// `memory_bytes` before it writes to `scratch`. `None` when a label and a number are too long
    /// for a record together.
    pub fn new(
        format: Format,
        number_bits: u32,
        memory_bytes: u64,
        scratch: &'a dyn Scratch,
    ) -> Option<Self> {
        let kept_bits = format.label_bits() - format.segment_bits();
        if kept_bits + number_bits > u128::BITS {
            return None;
        }
        // Twice, because ordering a run needs a second copy.
        let run_len = (memory_bytes / (2 * RECORD_LEN as u64 + 4)).max(1 << 12) as usize;
        let (gathered, segments, runs) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self {
            format,
            number_bits,
            gathered,
            segments,
            run_len,
            scratch,
            file: None,
            runs,
            len: 0,
        })
    }

    /// Adds a label, truncated to the format's length, with its number.
    ///
    /// # Errors
    /// I/O errors of the scratch file.
    #[inline]
    pub fn push(&mut self, label: Label, number: u64) -> io::Result<()> {
        debug_assert!(number >> self.number_bits == 0, "a number of at most number_bits bits");
        let label = self.format.truncated(label);
        self.segments.push(self.format.segment_of(label));
        self.gathered.push(label << self.format.segment_bits() | u128::from(number));
        if self.gathered.len() >= self.run_len { self.write_run() } else { Ok(()) }
    }

    /// Number of labels so far.
    pub fn len(&self) -> u64 {
        self.len + self.gathered.len() as u64
    }

    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn write_run(&mut self) -> io::Result<()> {
        let (records, starts) = self.ordered();
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.scratch.create()?),
        };
        let offset = file.len();
        let mut bytes = Vec::with_capacity(1 << 20);
        for piece in records.chunks(bytes.capacity() / RECORD_LEN) {
            bytes.clear();
            piece.iter().for_each(|record| bytes.extend_from_slice(&record.to_le_bytes()));
            file.append(&bytes)?;
        }
        self.len += records.len() as u64;
        self.runs.push(SortedRun { offset, starts });
        Ok(())
    }

    /// Takes the collected records, ordered by segment, and the start of each segment.
    fn ordered(&mut self) -> (Vec<u128>, Vec<u64>) {
        let mut starts = vec![0_u64; self.format.segments() as usize + 1];
        self.segments.iter().for_each(|segment| starts[*segment as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next: Vec<usize> = starts.iter().map(|start| *start as usize).collect();
        let mut records = vec![0; self.gathered.len()];
        for (record, segment) in self.gathered.drain(..).zip(self.segments.drain(..)) {
            let place = &mut next[segment as usize];
            records[*place] = record;
            *place += 1;
        }
        (records, starts)
    }

    /// Ends collection and returns all labels, by segment.
    ///
    /// # Errors
    /// I/O errors of the scratch file.
    pub fn finish(mut self) -> io::Result<Sorted> {
        let (records, starts) = if self.file.is_some() && !self.gathered.is_empty() {
            self.write_run()?;
            (Vec::new(), Vec::new())
        } else {
            self.ordered()
        };
        let len = self.len + records.len() as u64;
        let Self { format, number_bits, file, runs, .. } = self;
        let parts = vec![Part { records, starts, file, runs }];
        Ok(Sorted { format, number_bits, len, parts })
    }
}

/// The labels of a [`Spool`], or of several, segment by segment in ascending order.
pub struct Sorted {
    format: Format,
    number_bits: u32,
    len: u64,
    parts: Vec<Part>,
}

/// What one spool has collected.
struct Part {
    records: Vec<u128>,
    starts: Vec<u64>,
    file: Option<Box<dyn ScratchFile>>,
    runs: Vec<SortedRun>,
}

/// One segment of a sorted list.
#[derive(Debug, Default)]
pub struct Segment {
    /// The distinct labels, ascending.
    pub labels: Vec<Label>,
    /// The numbers of each label, ascending per label. The first number of each label has the flag
    /// [`Segment::FIRST`].
    pub numbers: Vec<u64>,
}

impl Segment {
    /// The flag on the first number of a label.
    pub const FIRST: u64 = 1 << 63;
}

impl Sorted {
    /// The format of the labels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// These labels and those of another spool, of the same format and with numbers of as many
    /// bits. `None` if they differ in that.
    pub fn and(mut self, mut other: Self) -> Option<Self> {
        if (self.format, self.number_bits) != (other.format, other.number_bits) {
            return None;
        }
        self.len += other.len;
        self.parts.append(&mut other.parts);
        Some(self)
    }

    /// Number of labels, including repeated ones.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of labels of segment `index`, including repeated ones.
    pub fn segment_len(&self, index: u32) -> u64 {
        let all = self
            .parts
            .iter()
            .flat_map(|part| part.runs.iter().map(|run| &run.starts).chain([&part.starts]));
        all.filter_map(|starts| range_of(starts, index)).map(|(start, end)| end - start).sum()
    }

    /// Reads and sorts segment `index`. Threads may read segments in any order.
    ///
    /// # Errors
    /// I/O errors of the scratch file.
    pub fn segment(&self, index: u32) -> io::Result<Segment> {
        let (mut records, mut bytes) = (Vec::new(), Vec::new());
        for part in &self.parts {
            if let Some((start, end)) = range_of(&part.starts, index) {
                records.extend_from_slice(&part.records[start as usize..end as usize]);
            }
            for (run, file) in part.runs.iter().zip(std::iter::repeat(&part.file)) {
                let (Some((start, end)), Some(file)) = (range_of(&run.starts, index), file) else {
                    continue;
                };
                bytes.resize((end - start) as usize * RECORD_LEN, 0);
                file.read_exact_at(run.offset + start * RECORD_LEN as u64, &mut bytes)?;
                let (whole, _) = bytes.as_chunks();
                records.extend(whole.iter().map(|bytes| u128::from_le_bytes(*bytes)));
            }
        }
        sort_uniform(&mut records, &mut Vec::new());
        Ok(self.split(index, &records))
    }

    fn split(&self, index: u32, records: &[u128]) -> Segment {
        let segment_bits = self.format.segment_bits();
        let leading = Label::from(index).checked_shl(u128::BITS - segment_bits).unwrap_or(0);
        let number_mask = (1_u128 << self.number_bits) - 1;
        let mut out = Segment {
            labels: Vec::with_capacity(records.len()),
            numbers: Vec::with_capacity(records.len()),
        };
        let mut last = None;
        for record in records {
            let kept = record & !number_mask;
            let mut number = (record & number_mask) as u64;
            if last != Some(kept) {
                last = Some(kept);
                out.labels.push(leading | kept >> segment_bits);
                number |= Segment::FIRST;
            }
            out.numbers.push(number);
        }
        out
    }

    /// Encodes the labels of `segment`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if a bucket holds more labels than the format allows.
    pub fn encode(&self, segment: &Segment) -> io::Result<Vec<u8>> {
        code::encode(self.format, &segment.labels).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

/// The range of segment `index`, in records.
fn range_of(starts: &[u64], index: u32) -> Option<(u64, u64)> {
    Some((*starts.get(index as usize)?, *starts.get(index as usize + 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use vesica_scratch::MemoryScratch;

    fn labels(len: u64) -> impl Iterator<Item = (Label, u64)> {
        // Every third label twice; the numbers are unordered.
        (0..len).map(move |i| {
            let key = blake3::hash(&(i - i % 3 / 2).to_le_bytes());
            let mut label = [0; 16];
            label.copy_from_slice(&key.as_bytes()[..16]);
            (u128::from_be_bytes(label), i * 7919 % len.max(1))
        })
    }

    #[test]
    fn a_spool_sorts_equally_in_memory_and_through_files() {
        for (len, scale) in [(0, 0), (1, 0), (5000, 13), (60_000, 20)] {
            let format = Format::new(scale, 40 + 2 * scale);
            let mut expected: BTreeMap<Label, Vec<u64>> = BTreeMap::new();
            labels(len).for_each(|(label, number)| {
                expected.entry(format.truncated(label)).or_default().push(number);
            });
            expected.values_mut().for_each(|numbers| numbers.sort_unstable());
            let ways = [1 << 30, 200_000, 0].into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 3)]);
            for (memory_bytes, spools) in ways {
                let new = |_| Spool::new(format, 20, memory_bytes, &MemoryScratch).unwrap();
                let mut several: Vec<_> = (0..spools).map(new).collect();
                for (at, (label, number)) in labels(len).enumerate() {
                    several[at / 100 % spools].push(label, number).unwrap();
                }
                assert_eq!(several.iter().map(Spool::len).sum::<u64>(), len);
                let finished = several.into_iter().map(|spool| spool.finish().unwrap());
                let sorted = finished.reduce(|all, one| all.and(one).unwrap()).unwrap();
                assert_eq!(sorted.len(), len);
                let mut found: Vec<(Label, Vec<u64>)> = Vec::new();
                for index in 0..format.segments() {
                    let segment = sorted.segment(index).unwrap();
                    assert_eq!(sorted.segment_len(index), segment.numbers.len() as u64);
                    let mut labels = segment.labels.iter();
                    for number in segment.numbers {
                        if number & Segment::FIRST != 0 {
                            found.push((*labels.next().unwrap(), Vec::new()));
                        }
                        found.last_mut().unwrap().1.push(number & !Segment::FIRST);
                    }
                    assert_eq!(labels.next(), None);
                }
                assert!(found.into_iter().eq(expected.clone()), "{len} {memory_bytes} {spools}");
            }
        }
    }

    #[test]
    fn spools_of_other_labels_or_numbers_do_not_go_together() {
        let sorted = |scale, number_bits| {
            let format = Format::new(scale, 60);
            Spool::new(format, number_bits, 0, &MemoryScratch).unwrap().finish().unwrap()
        };
        assert!(sorted(13, 20).and(sorted(13, 20)).is_some());
        assert!(sorted(13, 20).and(sorted(14, 20)).is_none());
        assert!(sorted(13, 20).and(sorted(13, 21)).is_none());
    }

    #[test]
    fn a_number_that_does_not_fit_next_to_the_label_is_refused_at_once() {
        let format = Format::new(30, 100);
        assert!(Spool::new(format, 31, 0, &MemoryScratch).is_some());
        assert!(Spool::new(format, 60, 0, &MemoryScratch).is_none());
    }
}
