//! Conversion between words and elements, and predicates of the value in 0..p.

use core::arch::x86_64::*;

use super::{Fe, MASK51, Mask, load, splat, store, times19};

/// Eight elements of four little-endian 64-bit words each: word i of all elements, then i + 1.
pub(in super::super) type Words = [[u64; 8]; 4];

impl Fe {
    /// The low 255 bits of each element's words, without reduction modulo p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn from_words(words: &Words) -> Fe {
        let w = [load(&words[0]), load(&words[1]), load(&words[2]), load(&words[3])];
        let mask = splat(MASK51);
        let cut = |low: __m512i, high: __m512i| _mm512_and_epi64(_mm512_or_epi64(low, high), mask);
        Fe([
            _mm512_and_epi64(w[0], mask),
            cut(_mm512_srli_epi64::<51>(w[0]), _mm512_slli_epi64::<13>(w[1])),
            cut(_mm512_srli_epi64::<38>(w[1]), _mm512_slli_epi64::<26>(w[2])),
            cut(_mm512_srli_epi64::<25>(w[2]), _mm512_slli_epi64::<39>(w[3])),
            _mm512_and_epi64(_mm512_srli_epi64::<12>(w[3]), mask),
        ])
    }

    /// The canonical words of each element: its value in 0..p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn to_words(self) -> Words {
        let l = self.canonical().0;
        let join = |low, high| _mm512_or_epi64(low, high);
        let mut words = [[0; 8]; 4];
        store(&mut words[0], join(l[0], _mm512_slli_epi64::<51>(l[1])));
        store(&mut words[1], join(_mm512_srli_epi64::<13>(l[1]), _mm512_slli_epi64::<38>(l[2])));
        store(&mut words[2], join(_mm512_srli_epi64::<26>(l[2]), _mm512_slli_epi64::<25>(l[3])));
        store(&mut words[3], join(_mm512_srli_epi64::<39>(l[3]), _mm512_slli_epi64::<12>(l[4])));
        words
    }

    /// The lanes where the canonical value is odd ("negative" in RFC 9496).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn is_negative(self) -> Mask {
        _mm512_test_epi64_mask(self.canonical().0[0], splat(1))
    }

    /// The lanes where the element is zero modulo p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn is_zero(self) -> Mask {
        let l = self.canonical().0;
        let any = _mm512_or_epi64(_mm512_or_epi64(l[0], l[1]), _mm512_or_epi64(l[2], l[3]));
        !_mm512_test_epi64_mask(_mm512_or_epi64(any, l[4]), splat(u64::MAX))
    }

    /// The lanes where the limbs, which must be below 2^51, represent a value in 0..p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn is_canonical(self) -> Mask {
        let canonical = self.canonical().0;
        let mut equal = Mask::MAX;
        for (limb, canonical) in self.0.iter().zip(canonical) {
            equal &= _mm512_cmpeq_epi64_mask(*limb, canonical);
        }
        equal
    }

    /// The nonnegative value of x and -x.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn abs(self) -> Fe {
        self.negate_where(self.is_negative())
    }

    /// The limbs of the value in 0..p, each below 2^51.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn canonical(self) -> Fe {
        let mut l = self.0;
        // The value is below 2p, so it contains p at most once: exactly if value + 19 reaches
        // 2^255.
        let mut carry = splat(19);
        for limb in l {
            carry = _mm512_srli_epi64::<51>(_mm512_add_epi64(limb, carry));
        }
        carry = times19(carry);
        for limb in &mut l {
            let sum = _mm512_add_epi64(*limb, carry);
            *limb = _mm512_and_epi64(sum, splat(MASK51));
            carry = _mm512_srli_epi64::<51>(sum);
        }
        // The last carry is the 2^255 of value + 19 - 2^255 = value - p, and is dropped.
        Fe(l)
    }
}
