//! What several sorted lists have in common.

use crate::ranges::merge;
use crate::{Bits, List, ListError, Ranges};
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
    let ranges_len = Ranges::new(lists).len();
    let stopped = AtomicBool::new(false);
    // Neighbouring ranges stay on one thread, which keeps the segment of a coarser list.
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
            ranges.turn_to(range)?;
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

/// Notes the places in the present range of the labels that all have.
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
