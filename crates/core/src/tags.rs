//! Shortened tags: one party sends them in place of group elements or hashes, and the other looks
//! up its own tags among them.

use crate::params::STATISTICAL_SECURITY_BITS;
use crate::{PsiParams, hash};

/// Longest tag in bytes.
pub const MAX_TAG_LEN: usize = 16;

/// A tag of at most 128 bits, read as a big-endian number.
pub type Tag = u128;

/// A keyed hash to tags of λ + log n_x + log n_y bits, rounded up to whole bytes.
#[derive(Clone)]
pub struct TagHash {
    key: [u8; 32],
    len_bytes: usize,
}

impl TagHash {
    /// The hash under `label`, bound to the session and sizes of `params`.
    pub fn new(label: &'static str, params: &PsiParams) -> Self {
        Self::with_key(label, params.session().as_bytes(), params.tag_len_bytes())
    }

    /// The hash under `label` and the caller's key, to tags of `len_bytes` bytes.
    pub fn with_key(label: &'static str, key: &[u8; 32], len_bytes: usize) -> Self {
        debug_assert!(len_bytes <= MAX_TAG_LEN);
        Self { key: hash::derive(label, &[key]), len_bytes }
    }

    /// Length of a tag in bytes.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The tag of `input`.
    #[inline]
    pub fn tag(&self, input: &[u8]) -> Tag {
        let digest = blake3::keyed_hash(&self.key, input);
        read_tag(&digest.as_bytes()[..self.len_bytes])
    }
}

/// Appends `tags` to `out`, big-endian, `len_bytes` bytes each.
pub fn encode_tags(tags: &[Tag], len_bytes: usize, out: &mut Vec<u8>) {
    debug_assert!(len_bytes <= MAX_TAG_LEN);
    for tag in tags {
        out.extend_from_slice(&tag.to_be_bytes()[MAX_TAG_LEN - len_bytes..]);
    }
}

/// Decodes the output of [`encode_tags`] and appends it to `out`.
pub fn decode_tags(bytes: &[u8], len_bytes: usize, out: &mut Vec<Tag>) {
    out.extend(bytes.chunks_exact(len_bytes).map(read_tag));
}

fn read_tag(bytes: &[u8]) -> Tag {
    let mut wide = [0; MAX_TAG_LEN];
    wide[MAX_TAG_LEN - bytes.len()..].copy_from_slice(bytes);
    Tag::from_be_bytes(wide)
}

/// A set of tags for many look-ups.
///
/// Tags are sorted; an index over their top bits leaves about one tag to compare with if they are
/// uniform. Skewed tags of a peer cost a binary search, no more.
pub struct TagSet {
    sorted: Vec<Tag>,
    starts: Vec<u32>,
    shift: u32,
}

impl TagSet {
    /// The set of `tags` of `len_bytes` bytes each. Sorts on the current rayon pool.
    ///
    /// Takes at most 2^32 − 1 tags. Memory: 16 bytes per tag and about 4 for the index.
    pub fn new(mut tags: Vec<Tag>, len_bytes: usize) -> Self {
        use rayon::slice::ParallelSliceMut;
        tags.par_sort_unstable();
        let index_bits = tags.len().max(1).ilog2().min(len_bytes as u32 * 8);
        let shift = len_bytes as u32 * 8 - index_bits;
        let mut starts = vec![0u32; (1 << index_bits) + 1];
        for tag in &tags {
            starts[Self::bucket(*tag, shift) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Self { sorted: tags, starts, shift }
    }

    fn bucket(tag: Tag, shift: u32) -> usize {
        // Sets of at most one 16-byte tag shift by the full width.
        tag.checked_shr(shift).unwrap_or(0) as usize
    }

    /// Whether `tag` is in the set. `tag` must have the length of the set's tags.
    #[inline]
    pub fn contains(&self, tag: Tag) -> bool {
        let bucket = Self::bucket(tag, self.shift);
        let Some(&[start, end]) = self.starts.get(bucket..bucket + 2) else { return false };
        self.sorted[start as usize..end as usize].binary_search(&tag).is_ok()
    }
}

const _: () = assert!(STATISTICAL_SECURITY_BITS.div_ceil(8) as usize <= MAX_TAG_LEN);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Learns, SessionId};

    fn params(n: u64) -> PsiParams {
        PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Receiver).unwrap()
    }

    #[test]
    fn tags_of_every_length_survive_a_round_trip() {
        for len in 5..=MAX_TAG_LEN {
            let mask = if len == 16 { Tag::MAX } else { (1 << (8 * len)) - 1 };
            let tags = [0, 1, mask, 0x0123_4567_89ab_cdef_u128 & mask];
            let mut bytes = Vec::new();
            encode_tags(&tags, len, &mut bytes);
            assert_eq!(bytes.len(), 4 * len);
            let mut back = Vec::new();
            decode_tags(&bytes, len, &mut back);
            assert_eq!(back, tags);
        }
    }

    #[test]
    fn a_set_contains_its_tags_and_no_others() {
        let hash = TagHash::new("test tags", &params(1 << 12));
        for n in [0u32, 1, 2, 3, 4095, 4096, 5000] {
            let tags: Vec<Tag> = (0..n).map(|i| hash.tag(&i.to_le_bytes())).collect();
            let set = TagSet::new(tags.clone(), hash.len_bytes());
            assert!(tags.iter().all(|tag| set.contains(*tag)));
            let others = n..n + 1000;
            assert!(!others.map(|i| hash.tag(&i.to_le_bytes())).any(|tag| set.contains(tag)));
        }
    }

    #[test]
    fn skewed_tags_are_found() {
        let tags: Vec<Tag> = (0..10_000).collect();
        let set = TagSet::new(tags, 16);
        assert!(set.contains(9_999) && !set.contains(10_000) && !set.contains(Tag::MAX));
        let equal = TagSet::new(vec![7; 1000], 5);
        assert!(equal.contains(7) && !equal.contains(8));
        let one = TagSet::new(vec![Tag::MAX], 16);
        assert!(one.contains(Tag::MAX) && !one.contains(0));
    }

    #[test]
    fn a_tag_depends_on_session_and_label() {
        let one = TagHash::new("test one", &params(4)).tag(b"x");
        let two = TagHash::new("test two", &params(4)).tag(b"x");
        assert_ne!(one, two);
        let other = SessionId::from_bytes([2; 32]);
        let other = PsiParams::new(other, 4, 4, Learns::Receiver).unwrap();
        assert_ne!(one, TagHash::new("test one", &other).tag(b"x"));
    }
}
