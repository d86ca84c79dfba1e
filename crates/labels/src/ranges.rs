//! Several lists side by side.

use crate::{Bits, Label, List, ListError};
use std::ops::Range;

/// Several lists, read range by range. The leading bits of labels select a range, as many bits as
/// select a segment in the finest list. Labels are truncated to the length of the shortest. Holds
/// one segment of each list.
pub struct Ranges<'l, 'a> {
    lists: &'l [List<'a>],
    open: Vec<Open>,
    bits: u32,
    mask: Label,
}

/// The open segment of one list.
#[derive(Default)]
struct Open {
    segment: Option<u32>,
    labels: Vec<Label>,
    /// The part of `labels` in the current range, and the place of its first label in the list.
    start: usize,
    end: usize,
    place: u64,
}

impl<'l, 'a> Ranges<'l, 'a> {
    /// The ranges of `lists`.
    pub fn new(lists: &'l [List<'a>]) -> Self {
        Self {
            lists,
            open: lists.iter().map(|_| Open::default()).collect(),
            bits: lists.iter().map(|list| list.format().segment_bits()).max().unwrap_or(0),
            mask: Label::MAX << (128 - compared_bits(lists)),
        }
    }

    /// Number of ranges.
    pub fn len(&self) -> u32 {
        1 << self.bits
    }

    /// Always false: there is at least one range.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Moves to a range; moving to the next one is cheapest.
    ///
    /// # Errors
    /// Any [`ListError`], with the index of the list.
    pub fn seek(&mut self, range: u32) -> Result<(), (usize, ListError)> {
        for (at, (list, open)) in self.lists.iter().zip(&mut self.open).enumerate() {
            open.seek(list, range, self.bits, self.mask).map_err(|error| (at, error))?;
        }
        Ok(())
    }

    /// The labels of list `list` in the current range, ascending; truncated labels can repeat.
    pub fn labels(&self, list: usize) -> &[Label] {
        let open = &self.open[list];
        &open.labels[open.start..open.end]
    }

    /// The place of the first of these labels in list `list`.
    pub fn place(&self, list: usize) -> u64 {
        self.open[list].place
    }

    /// The places in list `list` of all labels of the segments that `ranges` touch. They are at
    /// least those of the ranges, and follow from the counts alone.
    pub fn touched(&self, list: usize, ranges: &Range<u32>) -> Range<u64> {
        let list = &self.lists[list];
        if ranges.is_empty() {
            return 0..0;
        }
        let finer = self.bits - list.format().segment_bits();
        list.start(ranges.start >> finer)..list.start(((ranges.end - 1) >> finer) + 1)
    }

    /// The labels of all lists in the current range.
    pub fn all(&self) -> Vec<&[Label]> {
        (0..self.open.len()).map(|list| self.labels(list)).collect()
    }

    /// Whether some list has no label in the current range, so that there is no common label.
    pub fn lacks_any(&self) -> bool {
        self.open.iter().any(|open| open.start == open.end)
    }
}

/// The length in bits at which labels are compared: that of the shortest.
pub fn compared_bits(lists: &[List<'_>]) -> u32 {
    lists.iter().map(|list| list.format().label_bits()).min().unwrap_or(128)
}

/// Sets the bits, from `place` on, of those `labels` that are in `common`; both are ascending.
/// Returns the number of distinct labels found.
pub fn set_common(bits: &mut Bits, place: u64, labels: &[Label], common: &[Label]) -> usize {
    let (mut found, mut last) = (0, None);
    merge(common, labels, |i, j| {
        bits.set(place + j as u64);
        found += usize::from(last != Some(common[i]));
        last = Some(common[i]);
    });
    found
}

impl Open {
    fn seek(
        &mut self,
        list: &List<'_>,
        range: u32,
        range_bits: u32,
        mask: Label,
    ) -> Result<(), ListError> {
        let finer = range_bits - list.format().segment_bits();
        let segment = range >> finer;
        if self.segment != Some(segment) {
            self.segment = None;
            list.segment(segment, &mut self.labels)?;
            if list.format().truncated(Label::MAX) != mask {
                self.labels.iter_mut().for_each(|label| *label &= mask);
            }
            self.segment = Some(segment);
            self.end = 0;
        }
        if finer == 0 {
            (self.start, self.end) = (0, self.labels.len());
        } else {
            let in_range = |label: &Label| label.checked_shr(128 - range_bits).unwrap_or(0) as u32;
            self.start = self.labels.partition_point(|label| in_range(label) < range);
            self.end = self.labels.partition_point(|label| in_range(label) <= range);
        }
        self.place = list.start(segment) + self.start as u64;
        Ok(())
    }
}

/// Calls `both` with the places of each pair of equal labels. Truncation can make labels of one
/// list equal; all of their pairs are reported.
pub(crate) fn merge(one: &[Label], two: &[Label], mut both: impl FnMut(usize, usize)) {
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(i), two.get(j)) {
        if a == b {
            let equal =
                |list: &[Label], from: usize| list[from..].iter().take_while(|x| *x == a).count();
            let (ends_i, ends_j) = (i + equal(one, i), j + equal(two, j));
            (i..ends_i).for_each(|i| (j..ends_j).for_each(|j| both(i, j)));
            (i, j) = (ends_i, ends_j);
        } else {
            // Branch-free: which label is smaller cannot be predicted.
            i += usize::from(a < b);
            j += usize::from(b < a);
        }
    }
}
