//! Sorting records with uniform leading bits.

/// Maximum number of leading bits per pass: their counters stay in the cache.
const MAX_BITS: u32 = 16;

/// Longest group sorted by insertion.
const SHORT: usize = 24;

/// Sorts `records`: first into small groups by their leading bits, then within each group.
/// Overwrites `spare`.
///
/// Labels are pseudorandom, so groups are short. Longer groups, such as those of a key that many
/// rows share, go to the library's sort.
pub(crate) fn sort_uniform(records: &mut Vec<u128>, spare: &mut Vec<u128>) {
    let bits = records.len().max(1).ilog2().saturating_sub(1).min(MAX_BITS);
    if bits < 4 {
        return records.sort_unstable();
    }
    let group = |record: u128| (record >> (u128::BITS - bits)) as usize;
    let mut ends = vec![0_u32; 1 << bits];
    records.iter().for_each(|record| ends[group(*record)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    spare.clear();
    spare.resize(records.len(), 0);
    for record in records.iter() {
        let end = &mut ends[group(*record)];
        spare[*end as usize] = *record;
        *end += 1;
    }
    std::mem::swap(records, spare);
    let mut start = 0;
    for end in ends {
        let group = &mut records[start..end as usize];
        start = end as usize;
        if group.len() <= SHORT { by_insertion(group) } else { group.sort_unstable() }
    }
}

fn by_insertion(records: &mut [u128]) {
    for at in 1..records.len() {
        let record = records[at];
        let mut place = at;
        while place > 0 && records[place - 1] > record {
            records[place] = records[place - 1];
            place -= 1;
        }
        records[place] = record;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_of_any_distribution_are_sorted(
            mut records in prop::collection::vec(any::<u128>(), 0..3000),
            shift in 0_u32..128,
            repeated in 0_usize..200,
        ) {
            records.iter_mut().for_each(|record| *record >>= shift);
            records.extend(std::iter::repeat_n(7, repeated));
            let mut expected = records.clone();
            expected.sort_unstable();
            sort_uniform(&mut records, &mut vec![1, 2, 3]);
            prop_assert_eq!(records, expected);
        }
    }
}
