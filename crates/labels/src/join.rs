//! The intersection of several sorted lists.

use crate::ranges::merge;
use crate::{Bits, List, ListError, Ranges};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use vesica_net::Pool;

/// For each list, marks the labels that occur in all lists. Labels are compared in as many bits as
/// the shortest of them have.
///
/// The finest list's segments divide all lists into ranges. The threads of `pool` process the lists
/// range by range, so memory holds a few segments of each list per thread, and the result. `stop`
/// is polled; once it returns true, the result is `None`.
///
/// # Errors
/// Any [`ListError`], with the index of the list.
pub fn common(
    lists: &[List<'_>],
    pool: &Pool,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Bits>>, (usize, ListError)> {
    let all = lists.iter().map(|list| Mutex::new(Bits::new(list.len()))).collect::<Vec<_>>();
    let ranges_len = Ranges::new(lists).len();
    let stopped = AtomicBool::new(false);
    // Neighbouring ranges run on the same thread, which reuses the segment of a coarser list.
    let ranges_at_once = ranges_len.div_ceil(pool.len() as u32 * 8);
    let chunks: Vec<u32> = (0..ranges_len).step_by(ranges_at_once as usize).collect();
    let one = |first: u32| -> Result<(), (usize, ListError)> {
        let mut ranges = Ranges::new(lists);
        let mut found = vec![Vec::new(); lists.len()];
        for range in first..(first + ranges_at_once).min(ranges_len) {
            if stopped.load(Ordering::Relaxed) || stop() {
                stopped.store(true, Ordering::Relaxed);
                return Ok(());
            }
            ranges.seek(range)?;
            mark(&ranges, &mut found);
            for (found, bits) in found.iter().zip(&all) {
                let mut bits = bits.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                found.iter().for_each(|place| bits.set(*place));
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

/// What [`common`] finds in `ranges` alone: for each list one bit per label, from the first to the
/// last place of [`Ranges::touched`]. The bits of all ranges, set at these places, are those of
/// [`common`]. It uses one thread.
///
/// # Errors
/// Any [`ListError`], with the index of the list.
///
/// # Panics
/// If there are fewer ranges.
pub fn common_in(
    lists: &[List<'_>],
    ranges: Range<u32>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Bits>>, (usize, ListError)> {
    let mut seen = Ranges::new(lists);
    assert!(ranges.end <= seen.len(), "ranges of the lists");
    let touched: Vec<_> = (0..lists.len()).map(|list| seen.touched(list, &ranges)).collect();
    let mut all: Vec<_> =
        touched.iter().map(|places| Bits::new(places.end - places.start)).collect();
    let mut found = vec![Vec::new(); lists.len()];
    for range in ranges {
        if stop() {
            return Ok(None);
        }
        seen.seek(range)?;
        mark(&seen, &mut found);
        for ((found, bits), places) in found.iter().zip(&mut all).zip(&touched) {
            found.iter().for_each(|place| bits.set(place - places.start));
        }
    }
    Ok(Some(all))
}

/// Records the places of the common labels of the current range.
fn mark(ranges: &Ranges<'_, '_>, found: &mut [Vec<u64>]) {
    found.iter_mut().for_each(Vec::clear);
    if ranges.lacks_any() {
        return;
    }
    if let [first, second] = found {
        let (place, other) = (ranges.place(0), ranges.place(1));
        return merge(ranges.labels(0), ranges.labels(1), |i, j| {
            first.push(place + i as u64);
            second.push(other + j as u64);
        });
    }
    let all = ranges.all();
    let Some((first, others)) = all.split_first() else { return };
    let mut common = first.to_vec();
    common.dedup();
    for other in others {
        let mut kept = Vec::new();
        merge(&common, other, |i, _| kept.push(common[i]));
        kept.dedup();
        common = kept;
    }
    for (list, (labels, found)) in all.iter().zip(found).enumerate() {
        let place = ranges.place(list);
        merge(&common, labels, |_, j| found.push(place + j as u64));
    }
}
