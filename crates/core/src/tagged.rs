//! Tags with the positions of their items, and their grouping by leading bits.

use std::ops::Range;
use vesica_simd::prefetch::prefetch;

/// Distance in tags at which a bucket's memory is prefetched, so that cache misses overlap.
const AHEAD: usize = 8;

/// A tag of at most 128 bits, and the position of its item in the owner's list.
///
/// Takes 20 bytes: a set of 2^24 takes 320 MiB.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Tagged {
    // Halves, as they are in registers: a processor waits where it reads in one piece what it has
    // just written in two.
    low: u64,
    high: u64,
    position: u32,
}

impl Tagged {
    /// The tag of the item at `position`.
    #[inline]
    pub fn new(tag: u128, position: u32) -> Self {
        Self { low: tag as u64, high: (tag >> 64) as u64, position }
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// The position in the owner's list.
    #[inline]
    pub fn position(&self) -> u32 {
        self.position
    }
}

/// For tags that must not stay in memory.
impl zeroize::DefaultIsZeroes for Tagged {}

/// A tag with a position, or a plain tag.
pub trait AsTag: Copy + Default + Send {
    /// The tag.
    fn tag(&self) -> u128;
}

impl AsTag for Tagged {
    #[inline]
    fn tag(&self) -> u128 {
        Tagged::tag(self)
    }
}

impl AsTag for u128 {
    #[inline]
    fn tag(&self) -> u128 {
        *self
    }
}

/// Tags with or without positions, grouped by leading bits on insertion.
///
/// Takes 16 or 20 bytes per tag, and spare room in each bucket.
pub struct Gathered<T = u128> {
    buckets: Vec<Vec<T>>,
    /// How many tags a bucket gets room for with its first one: by then earlier steps may have
    /// freed memory.
    room: usize,
    shift: u32,
}

impl<T: AsTag> Gathered<T> {
    /// Room for about `len` uniform tags of `tag_bits` bits, in 2^`bucket_bits` buckets.
    ///
    /// # Panics
    /// If `bucket_bits` is above `tag_bits` or 24, or `tag_bits` is not from 1 to 128.
    pub fn new(len: usize, tag_bits: u32, bucket_bits: u32) -> Self {
        assert!((1..=128).contains(&tag_bits), "tags have 1 to 128 bits");
        assert!(bucket_bits <= tag_bits.min(24), "buckets are leading bits");
        let mean = len >> bucket_bits;
        // Four standard deviations, so few buckets have to grow.
        let room = mean + 4 * mean.isqrt() + 4;
        let buckets = (0..1 << bucket_bits).map(|_| Vec::new()).collect();
        Self { buckets, room, shift: tag_bits - bucket_bits }
    }

    /// Adds a tag.
    ///
    /// # Panics
    /// If the tag has more than `tag_bits` bits.
    #[inline(always)]
    pub fn push(&mut self, tag: T) {
        // With one bucket and 128 bits the shift is the full width.
        let bucket = tag.tag().checked_shr(self.shift).unwrap_or(0) as usize;
        let bucket = &mut self.buckets[bucket];
        if bucket.len() == bucket.capacity() {
            grow(bucket, self.room);
        }
        // There are more buckets than the processor follows by itself.
        prefetch(bucket.spare_capacity_mut(), AHEAD);
        bucket.push(tag);
    }

    /// Number of tags.
    pub fn len(&self) -> usize {
        self.buckets.iter().map(Vec::len).sum()
    }

    /// Whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(Vec::is_empty)
    }

    /// The tags of each bucket, by leading bits, in the order of insertion.
    pub fn buckets(&self) -> &[Vec<T>] {
        &self.buckets
    }

    /// As [`buckets`](Self::buckets), to be ordered otherwise.
    pub fn buckets_mut(&mut self) -> &mut [Vec<T>] {
        &mut self.buckets
    }
}

/// Makes room for more tags in a full bucket; of `room` tags, if it has none yet.
#[cold]
fn grow<T>(bucket: &mut Vec<T>, room: usize) {
    bucket.reserve_exact(room.max(bucket.len()));
}

/// Tags of `tag_bits` bits, grouped by their leading `bucket_bits` bits.
pub struct Buckets {
    tags: Vec<Tagged>,
    ends: Vec<usize>,
}

impl Buckets {
    /// Groups `tags`, all below 2^`tag_bits`, into 2^`bucket_bits` buckets; within a bucket they
    /// keep the order of `tags`. One pass over the tags counts them, another moves them.
    ///
    /// # Panics
    /// If `bucket_bits` is above `tag_bits` or 24, or a tag has more than `tag_bits` bits.
    pub fn new(tags: Vec<Tagged>, tag_bits: u32, bucket_bits: u32) -> Self {
        assert!(bucket_bits <= tag_bits.min(24) && tag_bits <= 128, "buckets are leading bits");
        let shift = tag_bits - bucket_bits;
        if bucket_bits == 0 {
            let ends = vec![tags.len()];
            return Self { tags, ends };
        }
        let bucket = |tag: &Tagged| (tag.tag() >> shift) as usize;
        let mut ends = vec![0; 1 << bucket_bits];
        tags.iter().for_each(|tag| ends[bucket(tag)] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut grouped = vec![Tagged::default(); tags.len()];
        for tag in &tags {
            let next = &mut ends[bucket(tag)];
            grouped[*next] = *tag;
            *next += 1;
        }
        Self { tags: grouped, ends }
    }

    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Always false: there is at least one bucket.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The tags with leading bits `bucket`.
    pub fn bucket(&self, bucket: usize) -> &[Tagged] {
        &self.tags[self.range(bucket)]
    }

    /// The range of the bucket among all tags.
    fn range(&self, bucket: usize) -> Range<usize> {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        start..self.ends[bucket]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_takes_twenty_bytes_and_keeps_its_parts() {
        assert_eq!(size_of::<Tagged>(), 20);
        let tag = Tagged::new(u128::MAX - 5, 7);
        assert_eq!((tag.tag(), tag.position()), (u128::MAX - 5, 7));
    }

    #[test]
    fn gathered_tags_are_in_the_bucket_of_their_leading_bits() {
        for (tag_bits, bucket_bits) in [(10, 0), (10, 3), (128, 0), (128, 12)] {
            let mut gathered = Gathered::new(100, tag_bits, bucket_bits);
            assert!(gathered.is_empty());
            let tags = (0..500_u128).map(|i| {
                i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834) >> (128 - tag_bits)
            });
            tags.for_each(|tag| gathered.push(tag));
            assert_eq!(gathered.len(), 500);
            for (bucket, tags) in (0..).zip(gathered.buckets()) {
                let leading = |tag: &u128| tag.checked_shr(tag_bits - bucket_bits).unwrap_or(0);
                assert!(tags.iter().all(|tag| leading(tag) == bucket));
            }
        }
    }

    #[test]
    fn buckets_hold_every_tag_once_in_order() {
        for bucket_bits in [0, 1, 5] {
            let tags: Vec<Tagged> =
                (0..1000u32).map(|i| Tagged::new(u128::from(i * 7919 % 1024), i)).collect();
            let buckets = Buckets::new(tags.clone(), 10, bucket_bits);
            assert_eq!(buckets.len(), 1 << bucket_bits);
            for bucket in 0..buckets.len() {
                let expected: Vec<Tagged> = tags
                    .iter()
                    .filter(|tag| (tag.tag() >> (10 - bucket_bits)) as usize == bucket)
                    .copied()
                    .collect();
                assert!(buckets.bucket(bucket) == expected);
            }
        }
    }
}
