//! The keys in order of their bands.

use super::parameters::Layout;
use vesica_core::Block;

/// Slots per bucket; its keys can be sorted in the cache.
const BUCKET: usize = 1 << 12;

/// The start of the band (upper half) and the index (lower half) of each key, sorted by start.
#[derive(Default)]
pub(super) struct Order {
    entries: Vec<u64>,
    /// The entries of one bucket, while they are moved.
    bucket: Vec<u64>,
}

impl Order {
    pub(super) fn entries(&self) -> &[u64] {
        &self.entries
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        8 * (self.entries.capacity() + self.bucket.capacity())
    }
}

#[inline(always)]
pub(super) fn start(entry: u64) -> u32 {
    (entry >> 32) as u32
}

#[inline(always)]
pub(super) fn index(entry: u64) -> usize {
    entry as u32 as usize
}

/// Sorts the keys by the start of their bands.
///
/// Computes starts twice; storing them would take as much memory as the order itself.
pub(super) fn sort(layout: &Layout, keys: &[Block], order: &mut Order) {
    let Order { entries, bucket } = order;
    let starts = || keys.iter().map(|key| layout.place(*key).1);
    let numbered = || (0_u64..).zip(starts()).map(|(i, start)| u64::from(start) << 32 | i);
    let mut ends = vec![0; layout.starts().div_ceil(BUCKET)];
    let (mut sorted, mut before) = (true, 0);
    for start in starts() {
        ends[start as usize / BUCKET] += 1;
        sorted &= before <= start;
        before = start;
    }
    entries.clear();
    entries.reserve_exact(keys.len());
    if sorted {
        entries.extend(numbered());
        return;
    }
    entries.resize(keys.len(), 0);

    let mut from = 0;
    for end in &mut ends {
        from += std::mem::replace(end, from);
    }
    for entry in numbered() {
        let end = &mut ends[start(entry) as usize / BUCKET];
        entries[*end] = entry;
        *end += 1;
    }
    let mut from = 0;
    for end in ends {
        sort_bucket(&mut entries[from..end], bucket);
        from = end;
    }
}

/// Sorts entries that differ only in the low bits of their starts, by counting.
fn sort_bucket(entries: &mut [u64], unsorted: &mut Vec<u64>) {
    if entries.len() < 256 {
        entries.sort_unstable();
        return;
    }
    let mut places = [0_u32; BUCKET];
    for entry in &*entries {
        places[start(*entry) as usize % BUCKET] += 1;
    }
    let mut next = 0;
    for place in &mut places {
        next += std::mem::replace(place, next);
    }
    unsorted.clear();
    unsorted.extend_from_slice(entries);
    for entry in &*unsorted {
        let place = &mut places[start(*entry) as usize % BUCKET];
        entries[*place as usize] = *entry;
        *place += 1;
    }
}
