/// One bit per label of a list, in the list's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: u64,
}

impl Bits {
    /// `len` zeros.
    pub fn new(len: u64) -> Self {
        Self { bytes: vec![0; len.div_ceil(8) as usize], len }
    }

    /// `len` bits from bytes: bit k is bit k mod 8 of byte ⌊k / 8⌋. `None` if there are not exactly
    /// ⌈len / 8⌉ bytes, or an unused bit of the last byte is set.
    pub fn from_bytes(bytes: Vec<u8>, len: u64) -> Option<Self> {
        let rest = (len % 8) as u32;
        let fits = bytes.len() as u64 == len.div_ceil(8)
            && (rest == 0 || bytes.last().is_none_or(|last| last >> rest == 0));
        fits.then_some(Self { bytes, len })
    }

    /// Number of bits.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bit `index`; false beyond the end.
    #[inline]
    pub fn get(&self, index: u64) -> bool {
        self.bytes.get((index / 8) as usize).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
    }

    /// Sets bit `index`.
    ///
    /// # Panics
    /// If `index` is beyond the end.
    #[inline]
    pub fn set(&mut self, index: u64) {
        self.bytes[(index / 8) as usize] |= 1 << (index % 8);
    }

    /// Sets the bits from `place` on that are set in `other`.
    ///
    /// # Panics
    /// If `other` does not end before the end.
    pub fn set_all(&mut self, place: u64, other: &Bits) {
        assert!(place + other.len <= self.len, "bits of a part of the list");
        let (first, shift) = ((place / 8) as usize, place % 8);
        for (at, byte) in other.bytes.iter().enumerate() {
            let wide = u16::from(*byte) << shift;
            let [low, high] = wide.to_le_bytes();
            self.bytes[first + at] |= low;
            if high != 0 {
                self.bytes[first + at + 1] |= high;
            }
        }
    }

    /// Number of ones.
    pub fn count_ones(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_a_round_trip_and_wrong_lengths_are_refused() {
        let mut bits = Bits::new(11);
        [0, 7, 10].iter().for_each(|index| bits.set(*index));
        assert_eq!(
            (bits.count_ones(), bits.get(7), bits.get(8), bits.get(99)),
            (3, true, false, false)
        );
        assert_eq!(Bits::from_bytes(bits.as_bytes().to_vec(), 11), Some(bits.clone()));
        assert_eq!(Bits::from_bytes(bits.as_bytes().to_vec(), 17), None);
        assert_eq!(Bits::from_bytes(vec![0, 8], 11), None);
        assert!(Bits::from_bytes(Vec::new(), 0).is_some());
    }

    #[test]
    fn bits_of_parts_make_the_whole() {
        let mut whole = Bits::new(77);
        (0..77).filter(|index| index * index % 7 < 3).for_each(|index| whole.set(index));
        for len in [1, 3, 8, 13, 77] {
            let mut made = Bits::new(77);
            for place in (0..77).step_by(len as usize) {
                let mut part = Bits::new(len.min(77 - place));
                (0..part.len()).filter(|at| whole.get(place + at)).for_each(|at| part.set(at));
                made.set_all(place, &part);
            }
            assert_eq!(made, whole, "{len}");
        }
    }
}
