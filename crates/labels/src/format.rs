//! The format of a list of labels.

use crate::Label;

/// Largest scale: lists of up to 2^33 labels.
pub const MAX_SCALE: u32 = 33;

/// Maximum number of leading bits that select a segment.
pub(crate) const MAX_SEGMENT_BITS: u32 = 24;

/// Maximum average number of labels per bucket, as a power of two. The one-byte count overflows
/// with a probability below 2^-500.
const BUCKET_LOAD_BITS: u32 = 5;

/// Maximum average number of labels per segment, as a power of two.
const SEGMENT_LOAD_BITS: u32 = 18;

/// The encoding of a sorted list of labels.
///
/// The leading ⌊scale − 5⌋ bits of a label are its *bucket*; the rest is a whole number of bytes.
/// Fewer leading bits divide the list into *segments*, so that both parties work on pieces of a few
/// megabytes. An encoded segment consists of its number of labels (4 bytes, little-endian), the
/// number of labels in each bucket (one byte each), and the rest of each label (big-endian), in
/// ascending order. So a label takes about ⌊scale − 5⌋ bits less than its length, and the length of
/// a list depends only on its number of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    scale: u32,
    bucket_bits: u32,
    rest_bytes: u32,
    segment_bits: u32,
}

impl Format {
    /// The format of lists of at most 2^`scale` labels of at least `label_bits` bits: up to 7 bits
    /// are added.
    ///
    /// # Panics
    /// If `scale` is above [`MAX_SCALE`], `label_bits` is above 120 or not above `scale`, or a
    /// label and a row number do not fit into 128 bits together, given 2^24 segments. They always
    /// fit for up to 110 bits.
    pub fn new(scale: u32, label_bits: u32) -> Self {
        Self::checked(scale, label_bits).expect("a list that can be encoded and sorted")
    }

    /// The same; `None` where [`Format::new`] panics.
    pub fn checked(scale: u32, label_bits: u32) -> Option<Self> {
        if scale > MAX_SCALE || scale >= label_bits || label_bits > 120 {
            return None;
        }
        let bucket_bits = scale.saturating_sub(BUCKET_LOAD_BITS);
        let rest_bytes = (label_bits - bucket_bits).div_ceil(8);
        // The rest of a label and a row number must fit into one record of 128 bits.
        let excess_bits = (bucket_bits + 8 * rest_bytes + scale + 2).saturating_sub(u128::BITS);
        if excess_bits > MAX_SEGMENT_BITS {
            return None;
        }
        let segment_bits =
            scale.saturating_sub(SEGMENT_LOAD_BITS).max(excess_bits).min(bucket_bits);
        Some(Self { scale, bucket_bits, rest_bytes, segment_bits })
    }

    /// The scale: a list has at most 2^scale labels.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Maximum number of labels, 2^scale.
    pub fn list_capacity(&self) -> u64 {
        1 << self.scale
    }

    /// Bits per label.
    pub fn label_bits(&self) -> u32 {
        self.bucket_bits + 8 * self.rest_bytes
    }

    /// Bytes of each label that are encoded individually.
    pub fn rest_bytes(&self) -> u32 {
        self.rest_bytes
    }

    /// Number of segments, a power of two.
    pub fn segments(&self) -> u32 {
        1 << self.segment_bits
    }

    /// Number of leading bits that select a segment.
    pub fn segment_bits(&self) -> u32 {
        self.segment_bits
    }

    /// The segment that a label belongs to.
    pub fn segment_of(&self, label: Label) -> u32 {
        label.checked_shr(128 - self.segment_bits).unwrap_or(0) as u32
    }

    /// `value` truncated to the bits of a label.
    pub fn truncated(&self, value: u128) -> Label {
        value & (Label::MAX << (128 - self.label_bits()))
    }

    /// Encoded length of a segment of `count` labels.
    pub fn segment_bytes(&self, count: u64) -> u64 {
        4 + self.buckets() as u64 + count * u64::from(self.rest_bytes)
    }

    /// Encoded length of all segments of a list of `len` labels.
    pub fn list_bytes(&self, len: u64) -> u64 {
        4 * u64::from(self.segments()) + (1 << self.bucket_bits) + len * u64::from(self.rest_bytes)
    }

    /// Maximum number of labels per segment: every bucket full.
    pub fn segment_capacity(&self) -> u64 {
        self.buckets() as u64 * u64::from(u8::MAX)
    }

    /// Buckets per segment.
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
    fn labels_have_the_requested_bits_and_at_most_seven_more() {
        for scale in 0..=MAX_SCALE {
            for bits in (scale + 1).max(40)..=110 {
                let format = Format::new(scale, bits);
                assert!((bits..bits + 8).contains(&format.label_bits()), "{scale} {bits}");
                if format.label_bits() <= 120 {
                    assert_eq!(Format::new(scale, format.label_bits()), format);
                }
                assert!(
                    format.bucket_bits >= format.segment_bits
                        && format.segment_bits <= MAX_SEGMENT_BITS
                );
            }
        }
    }

    #[test]
    fn a_label_of_a_large_list_costs_nine_bytes() {
        // For 10^6, 10^7 and 10^8 items on each side, the published figures are 10, 11.4 and 12.4
        // bytes.
        for (len, scale) in [(1_000_000, 20), (10_000_000, 24), (100_000_000, 27)] {
            let bytes = Format::new(scale, 40 + 2 * scale).list_bytes(len);
            assert!((9.0..9.4).contains(&(bytes as f64 / len as f64)), "{len}: {bytes}");
        }
    }
}
