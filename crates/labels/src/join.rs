//! What several sorted lists have in common.

use crate::{Bits, Label, List, ListError};
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use vesica_net::Pool;

/// Of each list the bits of those of its labels that all lists have; the lists' labels are compared in the bits
/// that the shortest of them have.
///
/// Lists are cut into as many ranges as the finest of them has segments, and read range by range on the threads of
/// `pool`: memory is some segments of each list for each thread, and the bits. `stop` is asked now and then;
/// when it says so the result is `None`.
///
/// # Errors
/// Any [`ListError`] of a list, with its place among them.
pub fn common(
    lists: &[List<'_>],
    pool: &Pool,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Bits>>, (usize, ListError)> {
    let all = lists.iter().map(|list| Mutex::new(Bits::new(list.len()))).collect::<Vec<_>>();
    let range_bits = lists.iter().map(|list| list.format().segment_bits()).max().unwrap_or(0);
    let shortest = lists.iter().map(|list| list.format().label_bits()).min().unwrap_or(128);
    let mask = Label::MAX << (128 - shortest);
    let stopped = AtomicBool::new(false);
    // Neighbouring ranges stay on one thread, which keeps the segment of a coarser list.
    let ranges_at_once = (1_u32 << range_bits).div_ceil(pool.len() as u32 * 8);
    let chunks: Vec<u32> = (0..1 << range_bits).step_by(ranges_at_once as usize).collect();
    let one = |first: u32| -> Result<(), (usize, ListError)> {
        let mut open: Vec<Open> = lists.iter().map(|_| Open::default()).collect();
        for range in first..(first + ranges_at_once).min(1 << range_bits) {
            if stopped.load(Ordering::Relaxed) || stop() {
                stopped.store(true, Ordering::Relaxed);
                return Ok(());
            }
            for (at, (list, open)) in lists.iter().zip(&mut open).enumerate() {
                open.turn_to(list, range, range_bits, mask).map_err(|error| (at, error))?;
            }
            mark(&mut open);
            for (open, bits) in open.iter().zip(&all) {
                let mut bits = bits.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                open.found.iter().for_each(|place| bits.set(*place));
            }
        }
        Ok(())
    };
    pool.run(|| chunks.into_par_iter().try_for_each(one))?;
    if stopped.into_inner() {
        return Ok(None);
    }
    let bits = all
        .into_iter()
        .map(|bits| bits.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
    Ok(Some(bits.collect()))
}

/// The part of one list that is being looked at.
#[derive(Default)]
struct Open {
    segment: Option<u32>,
    labels: Vec<Label>,
    /// The part of `labels` in the present range, and the place in the list of its first.
    start: usize,
    end: usize,
    place: u64,
    found: Vec<u64>,
}

impl Open {
    fn turn_to(
        &mut self,
        list: &List<'_>,
        range: u32,
        range_bits: u32,
        mask: Label,
    ) -> Result<(), ListError> {
        let finer = range_bits - list.format().segment_bits();
        let segment = range >> finer;
        if self.segment != Some(segment) {
            list.segment(segment, &mut self.labels)?;
            self.labels.iter_mut().for_each(|label| *label &= mask);
            self.segment = Some(segment);
            self.end = 0;
        }
        let in_range = |label: &Label| label.checked_shr(128 - range_bits).unwrap_or(0) as u32;
        if finer == 0 {
            (self.start, self.end) = (0, self.labels.len());
        } else {
            self.start = self.labels.partition_point(|label| in_range(label) < range);
            self.end = self.labels.partition_point(|label| in_range(label) <= range);
        }
        self.place = list.start(segment) + self.start as u64;
        self.found.clear();
        Ok(())
    }

    fn labels(&self) -> &[Label] {
        &self.labels[self.start..self.end]
    }
}

/// Notes the places of the labels that all have.
fn mark(open: &mut [Open]) {
    let Some((first, others)) = open.split_first_mut() else { return };
    if let [second] = others {
        let (one, two) =
            (&first.labels[first.start..first.end], &second.labels[second.start..second.end]);
        merge(one, two, |i, j| {
            first.found.push(first.place + i as u64);
            second.found.push(second.place + j as u64);
        });
        return;
    }
    let mut common = first.labels().to_vec();
    common.dedup();
    for other in others.iter() {
        let mut kept = Vec::new();
        merge(&common, other.labels(), |i, _| kept.push(common[i]));
        kept.dedup();
        common = kept;
    }
    for open in open.iter_mut() {
        let (place, found) = (open.place, &mut open.found);
        merge(&common, &open.labels[open.start..open.end], |_, j| found.push(place + j as u64));
    }
}

/// Calls `both` with the places of each pair of equal labels. Labels of one list are different but for what was cut
/// off them; where equal ones follow each other, all of their pairs are called.
fn merge(one: &[Label], two: &[Label], mut both: impl FnMut(usize, usize)) {
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(i), two.get(j)) {
        if a == b {
            let equal =
                |list: &[Label], from: usize| list[from..].iter().take_while(|x| *x == a).count();
            let (ends_i, ends_j) = (i + equal(one, i), j + equal(two, j));
            (i..ends_i).for_each(|i| (j..ends_j).for_each(|j| both(i, j)));
            (i, j) = (ends_i, ends_j);
        } else {
            // No branch: which is smaller is a coin toss to the processor.
            i += usize::from(a < b);
            j += usize::from(b < a);
        }
    }
}
