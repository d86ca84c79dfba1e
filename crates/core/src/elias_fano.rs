//! The Elias–Fano code of a set of tags: sorted, close to the shortest possible, and of a length that depends only on
//! the number of tags.
//!
//! P. Elias, "Efficient storage and retrieval by content and address of static files", J. ACM 1974. A tag of ℓ bits is
//! split into h high and ℓ − h low bits, h = ⌊log n⌋. The code is the concatenation of 2^s *sections*, one for each
//! value of the leading s bits. For each value of its high bits, a section holds a one for every tag with that value,
//! then a zero; after these come the low bits of its tags in ascending order. In total n + 2^h + n·(ℓ − h) bits, about
//! log n − 2 bits per tag less than the plain tags.
//!
//! ```
//! use vesica_core::elias_fano::{Decoder, Shape, encode};
//! use vesica_core::tagged::Tagged;
//!
//! let tags = [7, 1 << 39, 9];
//! let shape = Shape::new(3, 40);
//! let (code, order) = encode(shape, (0..3).map(|i| Tagged::new(tags[i as usize], i)).collect());
//! assert_eq!((code.len() as u64, order), (shape.bytes(), vec![0, 2, 1]));
//!
//! let mut decoder = Decoder::new(shape);
//! let section = decoder.section(|| Ok(code.clone()))?;
//! assert_eq!((section.find(9), section.find(10)), (Some(1), None));
//! decoder.finish()?;
//! # Ok::<(), vesica_core::Error>(())
//! ```

use crate::tagged::{AsTag, Buckets, Tagged};
use crate::{Misbehaviour, Result};

/// Maximum number of leading bits that select a section. A section of a large set has thousands of tags and fits into
/// the cache, and there are few enough sections to write to all at once.
const MAX_SECTION_BITS: u32 = 12;

/// log of the maximum number of high values per section, as long as there are sections to spare.
const HIGH_BITS_IN_SECTION: u32 = 10;

/// Maximum number of tags with the same high bits. An honest set has fewer than two on average, and exceeds the limit
/// with probability below 2^-200. Without a limit a peer could put all its tags into one section and learn from the
/// time of the search whether we have a tag there.
const MAX_TAGS_OF_VALUE: u32 = 64;

/// The public size of an encoded set: the number of tags and their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    len: u64,
    tag_bits: u32,
    high_bits: u32,
}

impl Shape {
    /// For `len` tags of `tag_bits` bits, 1 to 128.
    ///
    /// # Panics
    /// If `tag_bits` is 0, above 128 or below log `len`, or if `len` is above 2^32.
    pub fn new(len: u64, tag_bits: u32) -> Self {
        let high_bits = len.checked_ilog2().unwrap_or(0);
        assert!(len <= 1 << 32, "a set has at most 2^32 tags");
        assert!((1..=128).contains(&tag_bits) && high_bits < tag_bits, "tags of 1 to 128 bits");
        Self { len, tag_bits, high_bits }
    }

    /// Number of tags.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no tags; the code is then empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bits per tag.
    pub fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// s, the number of leading bits that select a section.
    pub fn section_bits(&self) -> u32 {
        self.high_bits.saturating_sub(HIGH_BITS_IN_SECTION).min(MAX_SECTION_BITS)
    }

    /// Length of the code, in bytes.
    pub fn bytes(&self) -> u64 {
        match self.len {
            0 => 0,
            n => (n + (1 << self.high_bits) + n * u64::from(self.low_bits())).div_ceil(8),
        }
    }

    fn low_bits(&self) -> u32 {
        self.tag_bits - self.high_bits
    }

    /// log of the number of high values per section.
    fn inner_bits(&self) -> u32 {
        self.high_bits - self.section_bits()
    }

    /// The high bits of a tag, without those of its section.
    #[inline]
    fn inner(&self, tag: u128) -> usize {
        tag.checked_shr(self.low_bits()).unwrap_or(0) as usize & ((1 << self.inner_bits()) - 1)
    }

    #[inline]
    fn low(&self, tag: u128) -> u128 {
        tag & (u128::MAX >> (128 - self.low_bits()))
    }
}

/// Returns the tags of a section in ascending order.
pub fn sort_section<T: AsTag>(shape: &Shape, tags: &[T]) -> Vec<T> {
    let mut next = vec![0u32; 1 << shape.inner_bits()];
    tags.iter().for_each(|tag| next[shape.inner(tag.tag())] += 1);
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    let mut sorted = vec![T::default(); tags.len()];
    for tag in tags {
        let slot = &mut next[shape.inner(tag.tag())];
        sorted[*slot as usize] = *tag;
        *slot += 1;
    }
    // Tags with equal high bits: about one each, so insertion sort is fastest.
    for i in 1..sorted.len() {
        let tag = sorted[i];
        let mut place = i;
        while place > 0 && sorted[place - 1].tag() > tag.tag() {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = tag;
    }
    sorted
}

/// Encodes the sections of a set in order.
pub struct Encoder {
    shape: Shape,
    bits: BitWriter,
}

impl Encoder {
    /// An encoder at the first section.
    pub fn new(shape: Shape) -> Self {
        Self { shape, bits: BitWriter::default() }
    }

    /// Appends the next section; its tags must be [sorted](sort_section).
    pub fn section<T: AsTag>(&mut self, sorted: &[T]) {
        let shape = self.shape;
        let mut value = 0;
        for tag in sorted {
            let inner = shape.inner(tag.tag());
            self.bits.push_zeros(inner - value);
            value = inner;
            self.bits.push(1, 1);
        }
        self.bits.push_zeros((1 << shape.inner_bits()) - value);
        let low_bits = shape.low_bits();
        if low_bits <= 64 {
            sorted.iter().for_each(|tag| self.bits.push(shape.low(tag.tag()) as u64, low_bits));
        } else {
            sorted.iter().for_each(|tag| self.bits.push_long(shape.low(tag.tag()), low_bits));
        }
    }

    /// The whole bytes written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.bits.take()
    }

    /// The remaining bytes; the last one is padded with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        self.bits.finish()
    }
}

/// The decoded tags of one section: low bits in ascending order, grouped by high bits.
pub struct Section {
    shape: Shape,
    /// The end of the tags of each high value.
    ends: Vec<u32>,
    low: Vec<u128>,
}

impl Section {
    /// Number of tags.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether the section has no tags.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The place of `tag` among the tags of this section, if it is there. `tag` must belong to this section.
    #[inline]
    pub fn find(&self, tag: u128) -> Option<usize> {
        let inner = self.shape.inner(tag);
        let start = if inner == 0 { 0 } else { self.ends[inner - 1] as usize };
        let low = self.shape.low(tag);
        let of_value = &self.low[start..self.ends[inner] as usize];
        of_value.iter().position(|other| *other == low).map(|place| start + place)
    }

    /// Finds the tags of `own`, which belong to this section: (position of the own tag, place in the section).
    pub fn matches(&self, own: &[Tagged]) -> Vec<(u32, u32)> {
        own.iter()
            .filter_map(|tag| self.find(tag.tag()).map(|place| (tag.position(), place as u32)))
            .collect()
    }
}

/// Decodes the sections of a set in order, from bytes that arrive in pieces.
pub struct Decoder {
    shape: Shape,
    bits: BitReader,
    left: u64,
}

impl Decoder {
    /// A decoder at the first section.
    pub fn new(shape: Shape) -> Self {
        Self { shape, bits: BitReader::default(), left: shape.len }
    }

    /// The next section. Calls `more` for further bytes when it needs them.
    ///
    /// Order and repetition of low bits are not checked: an own tag is found at most once.
    ///
    /// # Errors
    /// Errors of `more`; [`Misbehaviour::InvalidValue`] if the section holds more tags than remain, or more than 64
    /// with the same high bits, which does not happen by chance.
    pub fn section(&mut self, mut more: impl FnMut() -> Result<Vec<u8>>) -> Result<Section> {
        let values = 1usize << self.shape.inner_bits();
        let mut ends = Vec::with_capacity(values);
        let mut len = 0u32;
        let mut of_value = 0;
        while ends.len() < values {
            of_value += self.bits.pull_ones(&mut more)?;
            let all = u64::from(len) + u64::from(of_value);
            if of_value > MAX_TAGS_OF_VALUE || all > self.left {
                return Err(Misbehaviour::InvalidValue.into());
            }
            if self.bits.pull_zero() {
                len += std::mem::take(&mut of_value);
                ends.push(len);
            }
        }
        self.left -= u64::from(len);
        let bits = self.shape.low_bits();
        let mut low = Vec::with_capacity(len as usize);
        if bits <= 64 {
            for _ in 0..len {
                low.push(u128::from(self.bits.pull(bits, &mut more)?));
            }
        } else {
            for _ in 0..len {
                low.push(self.bits.pull_long(bits, &mut more)?);
            }
        }
        Ok(Section { shape: self.shape, ends, low })
    }

    /// Ends decoding.
    ///
    /// # Errors
    /// [`Misbehaviour::InvalidValue`] if tags are missing or a remaining bit is not zero.
    pub fn finish(self) -> Result<()> {
        let all_read = self.left == 0 && self.bits.is_spent();
        if all_read { Ok(()) } else { Err(Misbehaviour::InvalidValue.into()) }
    }
}

/// The code of a whole set, and the positions of its tags in the order of the code.
pub fn encode(shape: Shape, tags: Vec<Tagged>) -> (Vec<u8>, Vec<u32>) {
    if shape.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let buckets = Buckets::new(tags, shape.tag_bits(), shape.section_bits());
    let mut encoder = Encoder::new(shape);
    let mut order = Vec::new();
    for bucket in 0..buckets.len() {
        let sorted = sort_section(&shape, buckets.bucket(bucket));
        encoder.section(&sorted);
        order.extend(sorted.iter().map(Tagged::position));
    }
    (encoder.finish(), order)
}

/// Writes bits from the lowest to the highest, in whole bytes.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    pending: u128,
    pending_bits: u32,
}

impl BitWriter {
    /// Appends the lowest `bits` bits of `value`, `bits` ≤ 64; the other bits must be zero.
    #[inline]
    fn push(&mut self, value: u64, bits: u32) {
        self.pending |= u128::from(value) << self.pending_bits;
        self.pending_bits += bits;
        if self.pending_bits >= 64 {
            self.bytes.extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.pending_bits -= 64;
        }
    }

    #[inline]
    fn push_zeros(&mut self, count: usize) {
        for _ in 0..count / 64 {
            self.push(0, 64);
        }
        self.push(0, (count % 64) as u32);
    }

    #[inline]
    fn push_long(&mut self, value: u128, bits: u32) {
        self.push(value as u64, bits.min(64));
        if bits > 64 {
            self.push((value >> 64) as u64, bits - 64);
        }
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn finish(&mut self) -> Vec<u8> {
        let mut bytes = self.take();
        let rest = self.pending.to_le_bytes();
        bytes.extend_from_slice(&rest[..self.pending_bits.div_ceil(8) as usize]);
        bytes
    }
}

/// The inverse of [`BitWriter`].
#[derive(Default)]
struct BitReader {
    bytes: Vec<u8>,
    read: usize,
    pending: u128,
    pending_bits: u32,
}

impl BitReader {
    #[inline]
    fn pull(&mut self, bits: u32, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<u64> {
        if self.pending_bits < bits {
            self.refill(bits, more)?;
        }
        let value = self.pending as u64 & (u64::MAX >> (64 - bits));
        self.pending >>= bits;
        self.pending_bits -= bits;
        Ok(value)
    }

    /// Reads a run of ones, as far as it is buffered; reads more bytes only if the buffer is empty.
    #[inline]
    fn pull_ones(&mut self, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<u32> {
        if self.pending_bits == 0 {
            self.refill(1, more)?;
        }
        let ones = self.pending.trailing_ones().min(self.pending_bits);
        self.pending = self.pending.checked_shr(ones).unwrap_or(0);
        self.pending_bits -= ones;
        Ok(ones)
    }

    /// Reads the next bit if it is buffered; after [`pull_ones`](Self::pull_ones) it is a zero.
    #[inline]
    fn pull_zero(&mut self) -> bool {
        let at_hand = u32::from(self.pending_bits > 0);
        self.pending >>= at_hand;
        self.pending_bits -= at_hand;
        at_hand == 1
    }

    #[inline]
    fn pull_long(&mut self, bits: u32, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<u128> {
        let low = u128::from(self.pull(bits.min(64), more)?);
        match bits {
            0..=64 => Ok(low),
            _ => Ok(low | u128::from(self.pull(bits - 64, more)?) << 64),
        }
    }

    #[inline]
    fn refill(&mut self, bits: u32, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<()> {
        while self.pending_bits < bits {
            if let Some(word) = self.bytes.get(self.read..self.read + 8) {
                let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
                self.pending |= u128::from(word) << self.pending_bits;
                self.pending_bits += 64;
                self.read += 8;
            } else if let Some(byte) = self.bytes.get(self.read) {
                self.pending |= u128::from(*byte) << self.pending_bits;
                self.pending_bits += 8;
                self.read += 1;
            } else {
                self.bytes = more()?;
                self.read = 0;
            }
        }
        Ok(())
    }

    fn is_spent(&self) -> bool {
        self.pending == 0 && self.pending_bits < 8 && self.read == self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn random_tags(len: u32, tag_bits: u32) -> Vec<Tagged> {
        let mut rng = ChaCha20Rng::from_seed([len as u8; 32]);
        let mask = u128::MAX >> (128 - tag_bits);
        (0..len).map(|i| Tagged::new(rng.random::<u128>() & mask, i)).collect()
    }

    fn decode(shape: Shape, code: &[u8], piece_len: usize) -> Result<Vec<Section>> {
        let mut pieces = code.chunks(piece_len);
        let mut decoder = Decoder::new(shape);
        let sections = (0..1 << shape.section_bits())
            .map(|_| {
                decoder.section(|| {
                    pieces.next().map(<[u8]>::to_vec).ok_or(Misbehaviour::InvalidValue.into())
                })
            })
            .collect::<Result<Vec<Section>>>()?;
        decoder.finish()?;
        Ok(sections)
    }

    #[test]
    fn every_tag_is_found_and_no_other() {
        for (len, tag_bits) in
            [(1, 1), (1, 128), (2, 40), (3, 80), (1000, 60), (1024, 128), (5000, 20), (70_000, 88)]
        {
            let shape = Shape::new(u64::from(len), tag_bits);
            let tags = random_tags(len, tag_bits);
            let (code, order) = encode(shape, tags.clone());
            assert_eq!(code.len() as u64, shape.bytes(), "{len} tags of {tag_bits} bits");
            for piece_len in [1, 13, 1 << 20] {
                let sections = decode(shape, &code, piece_len).unwrap();
                let section_of = |tag: u128| {
                    let low = tag_bits - shape.section_bits();
                    if low == 128 { 0 } else { (tag >> low) as usize }
                };
                let mut first = vec![0];
                first.extend(sections.iter().scan(0, |sum, section| {
                    *sum += section.len();
                    Some(*sum)
                }));
                for tag in &tags {
                    let at = section_of(tag.tag());
                    let place = sections[at].find(tag.tag()).unwrap();
                    let owner = order[first[at] + place] as usize;
                    assert_eq!(tags[owner].tag(), tag.tag());
                }
                if tag_bits >= 60 {
                    for other in random_tags(len + 1, tag_bits) {
                        let at = section_of(other.tag());
                        assert_eq!(sections[at].find(other.tag()), None);
                    }
                }
            }
        }
    }

    #[test]
    fn the_code_lists_tags_in_ascending_order() {
        let shape = Shape::new(5000, 30);
        let tags = random_tags(5000, 30);
        let (_, order) = encode(shape, tags.clone());
        assert!(order.is_sorted_by_key(|i| tags[*i as usize].tag()));
        let mut all = order;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..5000));
    }

    #[test]
    fn an_empty_set_has_no_code() {
        let shape = Shape::new(0, 40);
        assert_eq!((shape.bytes(), encode(shape, Vec::new()).0.len()), (0, 0));
    }

    #[test]
    fn a_tag_takes_sixty_two_bits_at_two_to_the_twenty() {
        assert_eq!(Shape::new(1 << 20, 80).bytes() * 8, 62 << 20);
    }

    #[test]
    fn too_many_tags_of_one_value_are_misbehaviour() {
        let shape = Shape::new(1000, 60);
        let heap = |len: u32| {
            let heaped = (0..len).map(|i| Tagged::new(u128::from(i), i));
            let spread = random_tags(1000 - len, 60).into_iter();
            let high = 1 << (60 - 9);
            encode(
                shape,
                heaped.chain(spread.map(|tag| Tagged::new(tag.tag() | high, 0))).collect(),
            )
        };
        assert!(decode(shape, &heap(64).0, 1 << 20).is_ok());
        let refused = decode(shape, &heap(65).0, 1 << 20).map(|_| ());
        assert_eq!(refused, Err(Misbehaviour::InvalidValue.into()));
    }

    #[test]
    fn more_or_fewer_tags_than_announced_are_misbehaviour() {
        let shape = Shape::new(100, 40);
        let (code, _) = encode(shape, random_tags(100, 40));
        let refused =
            |code: Vec<u8>| matches!(decode(shape, &code, 64), Err(Error::PeerMisbehaved(_)));
        assert!(refused(vec![0xff; code.len()]));
        assert!(refused(vec![0; code.len()]));
        let mut grown = code.clone();
        grown.push(0);
        assert!(refused(grown));
        let mut last_bit = code;
        *last_bit.last_mut().unwrap() |= 0x80;
        let used = 100 + 64 + 100 * 34;
        assert_ne!(used % 8, 0, "the case needs spare bits");
        assert!(refused(last_bit));
    }
}
