//! Tags that remember whose they are, and their grouping by leading bits.

use std::ops::Range;

/// A tag of at most 128 bits and the position in its owner's list of the item it stands for.
///
/// Takes 20 bytes: a set of 2^24 fits in 320 MiB.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Tagged {
    tag: [u8; 16],
    position: u32,
}

impl Tagged {
    /// The tag of the item at `position`.
    #[inline]
    pub fn new(tag: u128, position: u32) -> Self {
        Self { tag: tag.to_le_bytes(), position }
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> u128 {
        u128::from_le_bytes(self.tag)
    }

    /// The position in the owner's list.
    #[inline]
    pub fn position(&self) -> u32 {
        self.position
    }
}

/// Tags of `tag_bits` bits grouped by their leading `bucket_bits` bits.
pub struct Buckets {
    tags: Vec<Tagged>,
    ends: Vec<usize>,
}

impl Buckets {
    /// Groups `tags`, all below 2^`tag_bits`, into 2^`bucket_bits` buckets; the order within a
    /// bucket is that of `tags`. One pass over the tags to count, one to move.
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

    /// Never true: there is at least one bucket.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The tags whose leading bits are `bucket`.
    pub fn bucket(&self, bucket: usize) -> &[Tagged] {
        &self.tags[self.range(bucket)]
    }

    /// Where the bucket lies among all tags.
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
