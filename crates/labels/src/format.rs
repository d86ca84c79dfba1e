//! The shape of a list of labels.

use crate::Label;

/// Largest scale: lists of at most 2^33 labels.
pub const MAX_SCALE: u32 = 33;

/// Most leading bits of a segment.
pub(crate) const MAX_SEGMENT_BITS: u32 = 24;

/// Labels in a bucket on average, at most, as a power of two. Its count of one byte overflows with a probability
/// below 2^-500.
const BUCKET_LOAD_BITS: u32 = 5;

/// Labels in a segment on average, at most, as a power of two.
const SEGMENT_LOAD_BITS: u32 = 18;

/// How a sorted list of labels is written.
///
/// The leading bits of a label, ⌊scale − 5⌋ of them, are its *bucket*; the rest is a number of whole bytes. The list
/// is cut into *segments* by still fewer leading bits, so that both ends work on pieces of some megabytes. A segment
/// is written as the number of its labels (4 bytes, little-endian), the number of labels of each of its buckets
/// (a byte each), and the rest of each label (big-endian), in ascending order. So a label costs about ⌊scale − 5⌋
/// bits less than it has, and the length of a list depends on the number of its labels alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    scale: u32,
    bucket_bits: u32,
    rest_bytes: u32,
    segment_bits: u32,
}

impl Format {
    /// The format of lists of at most 2^`scale` labels of at least `label_bits` bits each: up to 7 more.
    ///
    /// # Panics
    /// If `scale` is above [`MAX_SCALE`], or `label_bits` above 120 or not above `scale`, or both so large that a
    /// label and the number of a row do not fit into 128 bits beside 2^24 segments: never up to 110 bits.
    pub fn new(scale: u32, label_bits: u32) -> Self {
        assert!(
            scale <= MAX_SCALE && scale < label_bits && label_bits <= 120,
            "a list that can be written"
        );
        let bucket_bits = scale.saturating_sub(BUCKET_LOAD_BITS);
        let rest_bytes = (label_bits - bucket_bits).div_ceil(8);
        // The rest of a label and the number of a row fit into a record of 128 bits together.
        let beside_row = (bucket_bits + 8 * rest_bytes + scale + 2).saturating_sub(u128::BITS);
        assert!(beside_row <= MAX_SEGMENT_BITS, "a list that can be sorted");
        let segment_bits = scale.saturating_sub(SEGMENT_LOAD_BITS).max(beside_row).min(bucket_bits);
        Self { scale, bucket_bits, rest_bytes, segment_bits }
    }

    /// Most labels of a list, 2^scale.
    pub fn list_capacity(&self) -> u64 {
        1 << self.scale
    }

    /// Bits of a label.
    pub fn label_bits(&self) -> u32 {
        self.bucket_bits + 8 * self.rest_bytes
    }

    /// Bytes of a label that are written one by one.
    pub fn rest_bytes(&self) -> u32 {
        self.rest_bytes
    }

    /// Number of segments, a power of two.
    pub fn segments(&self) -> u32 {
        1 << self.segment_bits
    }

    /// Leading bits that name a segment.
    pub fn segment_bits(&self) -> u32 {
        self.segment_bits
    }

    /// The segment of a label.
    pub fn segment_of(&self, label: Label) -> u32 {
        label.checked_shr(128 - self.segment_bits).unwrap_or(0) as u32
    }

    /// `value` cut to the bits of a label.
    pub fn truncated(&self, value: u128) -> Label {
        value & (Label::MAX << (128 - self.label_bits()))
    }

    /// Bytes of a segment of `count` labels.
    pub fn segment_bytes(&self, count: u64) -> u64 {
        4 + self.buckets() as u64 + count * u64::from(self.rest_bytes)
    }

    /// Bytes of all segments of a list of `len` labels.
    pub fn list_bytes(&self, len: u64) -> u64 {
        4 * u64::from(self.segments()) + (1 << self.bucket_bits) + len * u64::from(self.rest_bytes)
    }

    /// Most labels that one segment may have: every bucket full.
    pub fn segment_capacity(&self) -> u64 {
        self.buckets() as u64 * u64::from(u8::MAX)
    }

    /// Buckets of a segment.
    pub(crate) fn buckets(&self) -> usize {
        1 << (self.bucket_bits - self.segment_bits.min(self.bucket_bits))
    }

    pub(crate) fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_bits_asked_for_and_at_most_seven_more() {
        for scale in 0..=MAX_SCALE {
            for bits in (scale + 1).max(40)..=110 {
                let format = Format::new(scale, bits);
                assert!((bits..bits + 8).contains(&format.label_bits()), "{scale} {bits}");
                assert!(
                    format.bucket_bits >= format.segment_bits
                        && format.segment_bits <= MAX_SEGMENT_BITS
                );
            }
        }
    }

    #[test]
    fn a_label_of_a_large_list_costs_nine_bytes() {
        // 10^6, 10^7 and 10^8 items against as many: the published figures are 10, 11.4 and 12.4 bytes.
        for (len, scale) in [(1_000_000, 20), (10_000_000, 24), (100_000_000, 27)] {
            let bytes = Format::new(scale, 40 + 2 * scale).list_bytes(len);
            assert!((9.0..9.4).contains(&(bytes as f64 / len as f64)), "{len}: {bytes}");
        }
    }
}
