//! The Elias–Fano code of a set of tags: sorted, close to the shortest possible, and of a length
//! that depends only on the number of tags.
//!
//! P. Elias, "Efficient storage and retrieval by content and address of static files", J. ACM 1974.
//! A tag of ℓ bits is split into h high and ℓ − h low bits, h = ⌊log n⌋. The code is the
//! concatenation of 2^s *sections*, one for each value of the leading s bits. For each value of its
//! high bits, a section holds a one for every tag with that value, then a zero; after these come
//! the low bits of its tags in ascending order. In total n + 2^h + n·(ℓ − h) bits, about log n − 2
//! bits per tag less than the plain tags.
//!
//! ```
//! use vesica_core::elias_fano::{Decoder, Shape, encode};
//! use vesica_core::tagged::Tagged;
//!
//! let tags = [7, 1 << 39, 9];
//! let shape = Shape::new(3, 40);
//! let (code, order) = encode(shape, &[0, 1, 2].map(|i| Tagged::new(tags[i as usize], i)));
//! assert_eq!((code.len() as u64, order), (shape.bytes(), vec![0, 2, 1]));
//!
//! let mut decoder = Decoder::new(shape);
//! let group = decoder.group(|| Ok(code.clone()))?;
//! assert_eq!((group.find(9), group.find(10)), (Some(1), None));
//! decoder.finish()?;
//! # Ok::<(), vesica_core::Error>(())
//! ```

use crate::tagged::{AsTag, Gathered, Tagged};
use crate::{Misbehaviour, Result};
use std::ops::Range;

/// Maximum number of leading bits that select a section. A section of a large set has thousands of
/// tags and fits into the cache, and there are few enough sections to write to all at once.
const MAX_SECTION_BITS: u32 = 12;

/// log of the number of sections that are sorted and searched together, if there are as many: a
/// group of a set of 2^20 fits into the second-level cache, and its tags come from few enough
/// groups to write to all at once from there.
const SECTION_BITS_IN_GROUP: u32 = 4;

/// log of the maximum number of high values per section, as long as there are sections to spare.
const HIGH_BITS_IN_SECTION: u32 = 10;

/// Maximum number of tags with the same high bits. An honest set has fewer than two on average, and
/// exceeds the limit with probability below 2^-200. Without a limit a peer could put all its tags
/// into one section and learn from the time of the search whether we have a tag there.
const MAX_TAGS_OF_VALUE: u32 = 64;

/// Bits below the high ones by which a section is sorted without comparisons. Of the pairs that the
/// high bits leave to compare they leave a quarter.
const LOW_BITS_COUNTED: u32 = 2;

/// Tags with the same high bits that are compared at once. More are rare.
const AT_ONCE: usize = 4;

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

    /// The number of leading bits that select a group of consecutive sections.
    pub fn group_bits(&self) -> u32 {
        self.section_bits().saturating_sub(SECTION_BITS_IN_GROUP)
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
        self.high(tag) & ((1 << self.inner_bits()) - 1)
    }

    /// The high bits of a tag, without those of its group.
    #[inline]
    fn in_group(&self, tag: u128) -> usize {
        self.high(tag) & ((1 << (self.high_bits - self.group_bits())) - 1)
    }

    #[inline]
    fn high(&self, tag: u128) -> usize {
        tag.checked_shr(self.low_bits()).unwrap_or(0) as usize
    }

    #[inline]
    fn low(&self, tag: u128) -> u128 {
        tag & (u128::MAX >> (128 - self.low_bits()))
    }
}

/// Sorts the tags of a group; gives the end of each of its sections.
pub fn sort_group<T: AsTag>(shape: &Shape, tags: &mut [T]) -> Vec<u32> {
    let (inner_bits, low_bits) = (shape.inner_bits(), shape.low_bits().min(LOW_BITS_COUNTED));
    let section_of = |tag: &T| shape.in_group(tag.tag()) >> inner_bits;
    let ends = scatter(tags, shape.section_bits() - shape.group_bits(), section_of);
    let shift = shape.low_bits() - low_bits;
    let mask = (1 << (inner_bits + low_bits)) - 1;
    let mut start = 0;
    for end in &ends {
        let section = &mut tags[start..*end as usize];
        start = *end as usize;
        scatter(section, inner_bits + low_bits, |tag| (tag.tag() >> shift) as usize & mask);
        // Few tags share a slot, so insertion sort is fastest.
        for i in 1..section.len() {
            let tag = section[i];
            let mut place = i;
            while place > 0 && section[place - 1].tag() > tag.tag() {
                section[place] = section[place - 1];
                place -= 1;
            }
            section[place] = tag;
        }
    }
    ends
}

/// Orders `tags` by their slots, of `bits` bits; gives the end of each slot.
fn scatter<T: AsTag>(tags: &mut [T], bits: u32, slot_of: impl Fn(&T) -> usize) -> Vec<u32> {
    let mut ends = vec![0; 1 << bits];
    tags.iter().for_each(|tag| ends[slot_of(tag)] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let unsorted = tags.to_vec();
    for tag in unsorted {
        let next = &mut ends[slot_of(&tag)];
        tags[*next as usize] = tag;
        *next += 1;
    }
    ends
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

    /// Appends the next section; its tags must be [sorted](sort_group).
    pub fn section<T: AsTag>(&mut self, sorted: &[T]) {
        let shape = self.shape;
        let unary_len = (1 << shape.inner_bits()) + sorted.len();
        let mut unary = vec![0_u64; unary_len.div_ceil(64)];
        for (i, tag) in sorted.iter().enumerate() {
            // After a zero for each smaller value, and a one for each earlier tag.
            let place = shape.inner(tag.tag()) + i;
            unary[place / 64] |= 1 << (place % 64);
        }
        let mut bits_left = unary_len;
        for word in unary {
            let bits = bits_left.min(64);
            self.bits.push(word, bits as u32);
            bits_left -= bits;
        }
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

/// The decoded tags of one group: low bits in ascending order, by high bits.
pub struct Group {
    shape: Shape,
    /// The end of the tags of each high value.
    ends: Vec<u32>,
    /// The lowest 64 bits of each tag, and [`AT_ONCE`] zeros.
    low: Vec<u64>,
    /// The other low bits, if there are more than 64.
    middle: Vec<u64>,
}

impl Group {
    /// Number of tags.
    pub fn len(&self) -> usize {
        self.low.len() - AT_ONCE
    }

    /// Whether the group has no tags.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of `tag` among the tags of this group, if it is there. `tag` must belong to this
    /// group.
    #[inline]
    pub fn find(&self, tag: u128) -> Option<usize> {
        let (place, is_found) = self.look_up(tag);
        is_found.then_some(place)
    }

    /// Finds the tags of `own`, which belong to this group: (position of the own tag, place in the
    /// group).
    pub fn matches(&self, own: &[Tagged]) -> Vec<(u32, u32)> {
        let mut matches = vec![(0, 0); own.len()];
        let mut len = 0;
        for tag in own {
            // Always written, and kept if it is one: a branch would often go the unforeseen way.
            let (place, is_found) = self.look_up(tag.tag());
            matches[len] = (tag.position(), place as u32);
            len += usize::from(is_found);
        }
        matches.truncate(len);
        matches
    }

    /// The first place of `tag`, and whether it is there.
    #[inline(always)]
    fn look_up(&self, tag: u128) -> (usize, bool) {
        let high = self.shape.in_group(tag);
        let start = if high == 0 { 0 } else { self.ends[high - 1] as usize };
        let len = self.ends[high] as usize - start;
        let (low, middle) = halves(self.shape.low(tag));
        let mut equal = 0_u32;
        for (i, other) in self.low[start..start + AT_ONCE].iter().enumerate() {
            equal |= u32::from(*other == low) << i;
        }
        equal &= (1 << len.min(AT_ONCE)) - 1;
        let place = start + equal.trailing_zeros() as usize % AT_ONCE;
        if len <= AT_ONCE && self.middle.is_empty() {
            return (place, equal != 0);
        }
        if len <= AT_ONCE && equal.count_ones() <= 1 {
            return (place, (equal != 0) & (self.middle.get(place) == Some(&middle)));
        }
        self.search(start..start + len, low, middle)
    }

    /// [`look_up`](Self::look_up) among the tags at `places`.
    #[cold]
    fn search(&self, mut places: Range<usize>, low: u64, middle: u64) -> (usize, bool) {
        let is_equal = |place: &usize| {
            self.low[*place] == low && self.middle.get(*place).is_none_or(|own| *own == middle)
        };
        let found = places.find(is_equal);
        (found.unwrap_or_default(), found.is_some())
    }
}

/// The lower and the upper 64 bits.
#[inline(always)]
fn halves(bits: u128) -> (u64, u64) {
    (bits as u64, (bits >> 64) as u64)
}

/// Decodes the groups of a set in order, from bytes that arrive in pieces.
pub struct Decoder {
    shape: Shape,
    bits: BitReader,
    left: u64,
}

impl Decoder {
    /// A decoder at the first group.
    pub fn new(shape: Shape) -> Self {
        Self { shape, bits: BitReader::default(), left: shape.len }
    }

    /// The next group. Calls `more` for further bytes when it needs them.
    ///
    /// Order and repetition of low bits are not checked: an own tag is found at most once.
    ///
    /// # Errors
    /// Errors of `more`; [`Misbehaviour::InvalidValue`] if the group holds more tags than remain,
    /// or more than 64 with the same high bits, which does not happen by chance.
    pub fn group(&mut self, mut more: impl FnMut() -> Result<Vec<u8>>) -> Result<Group> {
        let shape = self.shape;
        let values = 1usize << (shape.high_bits - shape.group_bits());
        let (ends, low, middle) = (Vec::with_capacity(values), Vec::new(), Vec::new());
        let mut group = Group { shape, ends, low, middle };
        for _ in 0..1 << (shape.section_bits() - shape.group_bits()) {
            self.section(&mut group, &mut more)?;
        }
        group.low.extend([0; AT_ONCE]);
        Ok(group)
    }

    /// Appends the next section to `group`, which has the earlier ones.
    fn section(
        &mut self,
        group: &mut Group,
        more: &mut impl FnMut() -> Result<Vec<u8>>,
    ) -> Result<()> {
        let first = group.low.len() as u32;
        let mut end = first;
        let values = group.ends.len() + (1 << self.shape.inner_bits());
        let mut of_value = 0;
        while group.ends.len() < values {
            of_value += self.bits.pull_ones(more)?;
            let of_section = u64::from(end - first) + u64::from(of_value);
            if of_value > MAX_TAGS_OF_VALUE || of_section > self.left {
                return Err(Misbehaviour::InvalidValue.into());
            }
            if self.bits.pull_zero() {
                end += std::mem::take(&mut of_value);
                group.ends.push(end);
            }
        }
        let len = end - first;
        self.left -= u64::from(len);
        let bits = self.shape.low_bits();
        group.low.reserve(len as usize + AT_ONCE);
        if bits <= 64 {
            for _ in 0..len {
                group.low.push(self.bits.pull(bits, more)?);
            }
        } else {
            for _ in 0..len {
                group.low.push(self.bits.pull(64, more)?);
                group.middle.push(self.bits.pull(bits - 64, more)?);
            }
        }
        Ok(())
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
pub fn encode(shape: Shape, tags: &[Tagged]) -> (Vec<u8>, Vec<u32>) {
    if shape.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut gathered = Gathered::new(tags.len(), shape.tag_bits(), shape.group_bits());
    tags.iter().for_each(|tag| gathered.push(*tag));
    let mut encoder = Encoder::new(shape);
    let mut order = Vec::new();
    for group in gathered.buckets_mut() {
        let mut start = 0;
        for end in sort_group(&shape, group) {
            encoder.section(&group[start..end as usize]);
            start = end as usize;
        }
        order.extend(group.iter().map(Tagged::position));
    }
    (encoder.finish(), order)
}

/// Writes bits from the lowest to the highest, in whole bytes.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    /// Less than 64.
    pending_bits: u32,
}

impl BitWriter {
    /// Appends the lowest `bits` bits of `value`, `bits` ≤ 64; the other bits must be zero.
    #[inline]
    fn push(&mut self, value: u64, bits: u32) {
        let (word, before) = (self.pending | value << self.pending_bits, self.pending_bits);
        self.pending_bits += bits;
        if self.pending_bits < 64 {
            self.pending = word;
            return;
        }
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.pending_bits -= 64;
        // In two steps, as `before` can be zero.
        self.pending = value >> 1 >> (63 - before);
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
    pending: u64,
    pending_bits: u32,
}

impl BitReader {
    /// The next `bits` bits, 1 to 64.
    #[inline]
    fn pull(&mut self, bits: u32, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<u64> {
        let mask = u64::MAX >> (64 - bits);
        let missing = match self.pending_bits {
            at_hand if at_hand >= bits => {
                let value = self.pending & mask;
                self.drop_bits(bits);
                return Ok(value);
            }
            at_hand => bits - at_hand,
        };
        let (first, at_hand) = (self.pending, self.pending_bits);
        self.refill(more)?;
        if self.pending_bits < missing {
            (self.pending, self.pending_bits) =
                (first | self.pending << at_hand, at_hand + self.pending_bits);
            return self.pull(bits, more);
        }
        let value = first | self.pending << at_hand;
        self.drop_bits(missing);
        Ok(value & mask)
    }

    /// Reads a run of ones, as far as it is buffered; reads more bytes only if the buffer is empty.
    #[inline]
    fn pull_ones(&mut self, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<u32> {
        if self.pending_bits == 0 {
            self.refill(more)?;
        }
        let ones = self.pending.trailing_ones().min(self.pending_bits);
        self.drop_bits(ones);
        Ok(ones)
    }

    /// Reads the next bit if it is buffered; after [`pull_ones`](Self::pull_ones) it is a zero.
    #[inline]
    fn pull_zero(&mut self) -> bool {
        let at_hand = u32::from(self.pending_bits > 0);
        self.drop_bits(at_hand);
        at_hand == 1
    }

    /// Drops buffered bits.
    #[inline(always)]
    fn drop_bits(&mut self, bits: u32) {
        self.pending = self.pending.checked_shr(bits).unwrap_or(0);
        self.pending_bits -= bits;
    }

    /// Replaces the buffered bits by the next word, or the next byte where there is no whole word.
    #[inline]
    fn refill(&mut self, more: &mut impl FnMut() -> Result<Vec<u8>>) -> Result<()> {
        loop {
            if let Some(word) = self.bytes.get(self.read..self.read + 8) {
                self.pending = u64::from_le_bytes(word.try_into().unwrap_or_default());
                self.pending_bits = 64;
                self.read += 8;
                return Ok(());
            }
            if let Some(byte) = self.bytes.get(self.read) {
                self.pending = u64::from(*byte);
                self.pending_bits = 8;
                self.read += 1;
                return Ok(());
            }
            self.bytes = more()?;
            self.read = 0;
        }
    }

    fn is_spent(&self) -> bool {
        self.pending == 0 && self.pending_bits < 8 && self.read == self.bytes.len()
    }
}

#[cfg(test)]
mod tests;
