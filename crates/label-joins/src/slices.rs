//! Cuts lists into slices that are small enough for a server.

use std::ops::Range;
use vesica_labels::{Label, List};

/// How many of `threads` can each hold a segment of every list within `memory_bytes` in total; at
/// least one.
pub(crate) fn threads_within(lists: &[List<'_>], threads: usize, memory_bytes: u64) -> usize {
    let largest = |list: &List<'_>| {
        let segments = 0..list.format().segments();
        let labels = segments.map(|index| list.start(index + 1) - list.start(index)).max();
        let label_bytes = size_of::<Label>() as u64 + u64::from(list.format().rest_bytes());
        labels.unwrap_or(0) * label_bytes
    };
    let each: u64 = lists.iter().map(largest).sum();
    let fit = memory_bytes / each.max(1);
    usize::try_from(fit).unwrap_or(usize::MAX).clamp(1, threads.max(1))
}

/// Cuts sorted lists at common labels, so that a slice has at most `most` different labels of each
/// list.
pub(crate) struct Slices<'a> {
    lists: &'a [&'a [Label]],
    from: Vec<usize>,
    most: usize,
}

impl<'a> Slices<'a> {
    pub(crate) fn new(lists: &'a [&'a [Label]], most: usize) -> Self {
        Self { lists, from: vec![0; lists.len()], most }
    }
}

impl Iterator for Slices<'_> {
    type Item = Vec<Range<usize>>;

    fn next(&mut self) -> Option<Vec<Range<usize>>> {
        let rests = || self.lists.iter().zip(&self.from).map(|(list, from)| &list[*from..]);
        let first = *rests().filter_map(<[Label]>::first).min()?;
        // The first label after the slice. Equal ones stay together.
        let end = rests().filter_map(|rest| rest.get(self.most)).min().copied();
        let len = |rest: &[Label]| match end {
            Some(end) if end > first => rest.partition_point(|label| *label < end),
            Some(_) => rest.partition_point(|label| *label <= first),
            None => rest.len(),
        };
        let lens: Vec<usize> = rests().map(len).collect();
        let piece = self.from.iter().zip(&lens).map(|(from, len)| *from..from + len).collect();
        self.from.iter_mut().zip(&lens).for_each(|(from, len)| *from += len);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_cut_at_the_same_labels_and_none_is_too_long() {
        let one: Vec<Label> = (0..1000).map(|i| i * 3).collect();
        let two: Vec<Label> = (0..100).map(|i| i * 17).collect();
        let equal = vec![500; 30];
        let lists = [&one[..], &two, &equal, &[]];
        let pieces: Vec<_> = Slices::new(&lists, 8).collect();
        for (at, list) in lists.iter().enumerate() {
            let all: Vec<Label> =
                pieces.iter().flat_map(|piece| &list[piece[at].clone()]).copied().collect();
            assert_eq!(all, *list);
        }
        let mut last = None;
        for piece in &pieces {
            let labels: Vec<&[Label]> =
                piece.iter().zip(lists).map(|(range, list)| &list[range.clone()]).collect();
            let least = labels.iter().filter_map(|labels| labels.first()).min().unwrap();
            let most = labels.iter().filter_map(|labels| labels.last()).max().unwrap();
            assert!(last < Some(*least), "a label is in two slices");
            last = Some(*most);
            for labels in labels {
                let mut different = labels.to_vec();
                different.dedup();
                assert!(different.len() <= 8, "{labels:?}");
            }
        }
    }

    #[test]
    fn lists_without_labels_have_no_slices() {
        assert_eq!(Slices::new(&[&[], &[]], 8).count(), 0);
        assert_eq!(Slices::new(&[], 8).count(), 0);
    }
}
