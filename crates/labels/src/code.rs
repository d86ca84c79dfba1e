//! The byte encoding of the segments of a sorted list.

use crate::{Format, Label};

/// Length of the count of labels.
const COUNT_LEN: usize = 4;

/// A bucket holds more labels than a byte can count. Labels are pseudorandom, so this does not
/// happen to a list of the size that its format allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDense;

/// The bytes do not encode a segment: wrong length, not ascending, or labels of another segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Encodes the labels of one segment, ascending and distinct.
pub(crate) fn encode(format: Format, labels: &[Label]) -> Result<Vec<u8>, TooDense> {
    let mut out = vec![0; format.segment_bytes(labels.len() as u64) as usize];
    out[..COUNT_LEN].copy_from_slice(&(labels.len() as u32).to_le_bytes());
    let (counts, rest) = out[COUNT_LEN..].split_at_mut(format.buckets());
    let width = format.rest_bytes() as usize;
    let (shift, mask) = bucket_of(format);
    let left = format.bucket_bits();
    for (label, place) in labels.iter().zip(rest.chunks_exact_mut(width)) {
        let count = &mut counts[label.checked_shr(shift).unwrap_or(0) as usize & mask];
        *count = count.checked_add(1).ok_or(TooDense)?;
        place.copy_from_slice(&(label << left).to_be_bytes()[..width]);
    }
    Ok(out)
}

/// The number of labels that an encoded segment claims.
pub(crate) fn count(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|count| u32::from_le_bytes(*count))
}

/// Appends the labels of segment `segment` to `out`.
pub(crate) fn decode(
    format: Format,
    segment: u32,
    bytes: &[u8],
    out: &mut Vec<Label>,
) -> Result<(), Malformed> {
    let len = count(bytes).ok_or(Malformed)?;
    if format.segment_bytes(u64::from(len)) != bytes.len() as u64 {
        return Err(Malformed);
    }
    let (counts, rest) = bytes[COUNT_LEN..].split_at(format.buckets());
    if counts.iter().map(|count| u32::from(*count)).sum::<u32>() != len {
        return Err(Malformed);
    }
    let width = format.rest_bytes() as usize;
    let (shift, _) = bucket_of(format);
    let left = format.bucket_bits();
    let first_bucket = Label::from(segment) << (format.bucket_bits() - format.segment_bits());
    let width_mask = u128::MAX << (128 - 8 * width);
    // Reads a fixed-size chunk if enough bytes follow: a copy of variable length costs a call.
    let wide_at = |at: usize| match rest.get(at..).and_then(<[u8]>::first_chunk) {
        Some(wide) => u128::from_be_bytes(*wide) & width_mask,
        None => {
            let mut wide = [0; 16];
            wide[..width].copy_from_slice(&rest[at..at + width]);
            u128::from_be_bytes(wide)
        }
    };
    out.reserve(len as usize);
    let mut ascending = true;
    let mut at = 0;
    for (bucket, count) in counts.iter().enumerate() {
        let leading = (first_bucket | bucket as Label).checked_shl(shift).unwrap_or(0);
        let mut last = None;
        out.extend((0..usize::from(*count)).map(|index| {
            let low = wide_at(at + index * width);
            ascending &= last.is_none_or(|last| last < low);
            last = Some(low);
            leading | low >> left
        }));
        at += usize::from(*count) * width;
    }
    if ascending { Ok(()) } else { Err(Malformed) }
}

/// How far to shift a label to get its bucket, and a mask for the bucket's index within its
/// segment.
fn bucket_of(format: Format) -> (u32, usize) {
    (128 - format.bucket_bits(), format.buckets() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment_labels(format: Format, segment: u32, values: &[u128]) -> Vec<Label> {
        let own = Label::from(segment).checked_shl(128 - format.segment_bits()).unwrap_or(0);
        let mut labels: Vec<Label> = values
            .iter()
            .map(|value| {
                format.truncated(own | value.checked_shr(format.segment_bits()).unwrap_or(0))
            })
            .collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    proptest! {
        #[test]
        fn segments_survive_a_round_trip(
            scale in 0_u32..24,
            extra in 1_u32..60,
            pick in any::<u32>(),
            values in prop::collection::vec(any::<u128>(), 0..200),
        ) {
            let format = Format::new(scale, scale + extra);
            let segment = pick % format.segments();
            let labels = segment_labels(format, segment, &values);
            let bytes = encode(format, &labels).unwrap();
            prop_assert_eq!(bytes.len() as u64, format.segment_bytes(labels.len() as u64));
            let mut back = Vec::new();
            decode(format, segment, &bytes, &mut back).unwrap();
            prop_assert_eq!(&back, &labels);
            for cut in [0, 3, bytes.len() - 1] {
                prop_assert!(decode(format, segment, &bytes[..cut], &mut Vec::new()).is_err());
            }
        }
    }

    #[test]
    fn unordered_repeated_and_miscounted_labels_are_refused() {
        let format = Format::new(0, 40);
        let labels: Vec<Label> = [3_u128, 5, 9].iter().map(|value| value << 88).collect();
        let good = encode(format, &labels).unwrap();
        let refused = |bytes: &[u8]| decode(format, 0, bytes, &mut Vec::new()).is_err();
        assert!(!refused(&good));
        let rest = COUNT_LEN + 1;
        for (at, byte) in [(rest + 4, 6), (rest + 4, 5), (COUNT_LEN, 2), (0, 2)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert!(refused(&bad), "byte {at} = {byte}");
        }
    }

    #[test]
    fn a_bucket_of_more_than_255_is_refused_without_a_panic() {
        let labels: Vec<Label> = (0..256_u128).map(|value| value << 88).collect();
        assert_eq!(
            encode(Format::new(0, 40), &labels[..255]).map(|bytes| bytes.len()),
            Ok(4 + 1 + 255 * 5)
        );
        assert_eq!(encode(Format::new(0, 40), &labels), Err(TooDense));
    }
}
