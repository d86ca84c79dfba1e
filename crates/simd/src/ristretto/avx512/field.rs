//! Arithmetic modulo p = 2^255 - 19 on eight field elements at once.
//!
//! An element is five limbs of radix 2^51; limb i of all eight elements is one vector of eight
//! 64-bit lanes. Lanes never mix. The IFMA instructions multiply the low 52 bits of two limbs
//! and add the low or the high 52 bits of the 104-bit product to a 64-bit lane; bits 52 and up of
//! a factor would be dropped in silence, so limbs that fit and those that may not have different
//! types:
//!
//! | type | each limb is | made by |
//! |---|---|---|
//! | [`Fe`] | below 2^51 + 2^18, so fit to be a factor | [`Sum::carry`], loads, constants |
//! | [`Sum`] | below 2^64, without wrap-around | sums, differences and products of the above |
//!
//! The bounds, for factors below 2^51 + 2^18:
//!
//! * **Product.** A low half is below 2^52, a high half below 2^50 + 2^18. Column k of the product
//!   gets n(k) low halves and 2 n(k-1) high halves (a high half weighs 2^52 = 2 · 2^51), with
//!   n = 1, 2, 3, 4, 5, 4, 3, 2, 1; and 19 times column k + 5, as 2^255 = 19 mod p. Limb 0 is the
//!   largest: below (1 + 19 · 6.5) · 2^52 + 2^28 < 2^59. So a product's limbs are below 2^59.
//! * **Difference.** A minuend is raised by a multiple of p whose limbs are at least those of the
//!   subtrahend: by 2p (limbs at least 2^52 - 38) to subtract an `Fe`, by 2^9 p (limbs at least
//!   2^60 - 19 · 2^9) to subtract a product. A raised product's limbs are below 2^61.
//! * **Carry.** It takes any limbs. The carries are below 2^13 and limb 0 receives 19 times one of
//!   them, so all limbs end below 2^51 + 19 · 2^13 < 2^51 + 2^18.
//!
//! The callers add at most four products and raised products, so no sum reaches 2^64. Debug builds
//! check each factor, sum and difference.
//!
//! Arrays are processed with loops instead of `map` and `from_fn`: the library's functions lack the
//! target features, so nothing would be inlined into them.
//!
//! No branch or memory address here depends on the value of an element.

mod canonical;
mod power;

use core::arch::x86_64::*;

pub(super) use canonical::Words;

/// Elements per vector.
pub(super) const LANES: usize = 8;

const MASK51: u64 = (1 << 51) - 1;

/// Eight field elements, limbs below 2^51 + 2^18.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Fe([__m512i; 5]);

/// Eight field elements, limbs below 2^64.
#[derive(Clone, Copy)]
pub(super) struct Sum([__m512i; 5]);

/// One bit for each of the eight elements.
pub(super) type Mask = __mmask8;

/// The limbs of a constant for all lanes.
pub(super) type Limbs = [u64; 5];

pub(super) const ZERO: Limbs = [0; 5];
pub(super) const ONE: Limbs = [1, 0, 0, 0, 0];
pub(super) const TWO: Limbs = [2, 0, 0, 0, 0];

/// Raises the minuend when an [`Fe`] is subtracted.
const TWO_P: Limbs = multiple_of_p(2);

/// Raises the minuend when a product is subtracted.
const MANY_P: Limbs = multiple_of_p(1 << 9);

const fn multiple_of_p(n: u64) -> Limbs {
    [(MASK51 - 18) * n, MASK51 * n, MASK51 * n, MASK51 * n, MASK51 * n]
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn splat(limb: u64) -> __m512i {
    _mm512_set1_epi64(limb.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn store(lanes: &mut [u64; 8], v: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn times19(v: __m512i) -> __m512i {
    _mm512_mullo_epi64(v, splat(19))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn twice(v: __m512i) -> __m512i {
    _mm512_add_epi64(v, v)
}

/// The product from its ten columns: 2^255 = 19 mod p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn fold(c: [__m512i; 10]) -> Sum {
    Sum([
        _mm512_add_epi64(c[0], times19(c[5])),
        _mm512_add_epi64(c[1], times19(c[6])),
        _mm512_add_epi64(c[2], times19(c[7])),
        _mm512_add_epi64(c[3], times19(c[8])),
        _mm512_add_epi64(c[4], times19(c[9])),
    ])
}

impl Fe {
    /// The same element in all lanes; limbs below 2^51.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn splat(limbs: &Limbs) -> Fe {
        Fe(Sum::splat(limbs).0)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn mul(self, rhs: Fe) -> Sum {
        self.mul_plus(rhs, &ZERO)
    }

    /// The product, raised to be the minuend of another product in [`Sum::sub_lesser`]. This is
    /// free, because the sums of the columns start from the multiple of p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn mul_raised(self, rhs: Fe) -> Sum {
        self.mul_plus(rhs, &MANY_P)
    }

    /// The product plus a constant with even limbs, which costs nothing: the sums start from it.
    /// The product plus a constant whose limbs are even.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn mul_plus(self, rhs: Fe, constant: &Limbs) -> Sum {
        self.check_is_factor();
        rhs.check_is_factor();
        let (a, b) = (self.0, rhs.0);
        // The high halves first: they count twice, so one doubling serves them all.
        let mut c = [_mm512_setzero_si512(); 10];
        c[0] = splat(constant[0]);
        for i in 1..5 {
            c[i] = splat(constant[i] / 2);
        }
        for i in 0..5 {
            for j in 0..5 {
                c[i + j + 1] = _mm512_madd52hi_epu64(c[i + j + 1], a[i], b[j]);
            }
        }
        for column in &mut c[1..] {
            *column = twice(*column);
        }
        for i in 0..5 {
            for j in 0..5 {
                c[i + j] = _mm512_madd52lo_epu64(c[i + j], a[i], b[j]);
            }
        }
        fold(c)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn square(self) -> Sum {
        self.square_plus(&ZERO)
    }

    /// Like [`mul_raised`](Fe::mul_raised).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn square_raised(self) -> Sum {
        self.square_plus(&MANY_P)
    }

    /// The square plus a constant with limbs divisible by 4.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn square_plus(self, constant: &Limbs) -> Sum {
        self.check_is_factor();
        let a = self.0;
        // Column = 2 (2 high mixed + high squares + low mixed) + low squares.
        let mut c = [_mm512_setzero_si512(); 10];
        c[0] = splat(constant[0]);
        c[1] = splat(constant[1] / 2);
        for i in 2..5 {
            c[i] = splat(constant[i] / 4);
        }
        for i in 0..5 {
            for j in i + 1..5 {
                c[i + j + 1] = _mm512_madd52hi_epu64(c[i + j + 1], a[i], a[j]);
            }
        }
        for column in &mut c[2..9] {
            *column = twice(*column);
        }
        for i in 0..5 {
            c[2 * i + 1] = _mm512_madd52hi_epu64(c[2 * i + 1], a[i], a[i]);
            for j in i + 1..5 {
                c[i + j] = _mm512_madd52lo_epu64(c[i + j], a[i], a[j]);
            }
        }
        for column in &mut c[1..] {
            *column = twice(*column);
        }
        for i in 0..5 {
            c[2 * i] = _mm512_madd52lo_epu64(c[2 * i], a[i], a[i]);
        }
        fold(c)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn add(self, rhs: Fe) -> Sum {
        Sum(self.0).add(Sum(rhs.0))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn sub(self, rhs: Fe) -> Sum {
        Sum::splat(&TWO_P).add(Sum(self.0)).sub_lesser(Sum(rhs.0))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn neg(self) -> Fe {
        Fe::splat(&ZERO).sub(self).carry()
    }

    /// -x in the lanes of `mask`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn negate_where(self, mask: Mask) -> Fe {
        self.select(self.neg(), mask)
    }

    /// `other` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn select(self, other: Fe, mask: Mask) -> Fe {
        let limb = |i: usize| _mm512_mask_blend_epi64(mask, self.0[i], other.0[i]);
        Fe([limb(0), limb(1), limb(2), limb(3), limb(4)])
    }

    /// Whether all limbs are within the type's bound; debug builds only.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check_is_factor(self) {
        if cfg!(debug_assertions) {
            for limb in self.0 {
                let within = _mm512_cmplt_epu64_mask(limb, splat((1 << 51) + (1 << 18)));
                assert_eq!(within, Mask::MAX, "a factor's limb is out of bounds");
            }
        }
    }

    /// Overwrites the element with zeros, even if nothing reads it again.
    pub(super) fn wipe(&mut self) {
        // SAFETY: the reference is to a valid, aligned element, and zeros are a valid one.
        unsafe { core::ptr::write_volatile(self, core::mem::zeroed()) }
    }
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn splat(limbs: &Limbs) -> Sum {
        Sum([splat(limbs[0]), splat(limbs[1]), splat(limbs[2]), splat(limbs[3]), splat(limbs[4])])
    }

    /// The sum; each limb of both together must be below 2^64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn add(self, rhs: Sum) -> Sum {
        let limb = |i: usize| {
            if cfg!(debug_assertions) {
                let sum = _mm512_add_epi64(self.0[i], rhs.0[i]);
                let whole = _mm512_cmpge_epu64_mask(sum, rhs.0[i]);
                assert_eq!(whole, Mask::MAX, "a sum's limb wraps around");
            }
            _mm512_add_epi64(self.0[i], rhs.0[i])
        };
        Sum([limb(0), limb(1), limb(2), limb(3), limb(4)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn add_fe(self, rhs: Fe) -> Sum {
        self.add(Sum(rhs.0))
    }

    /// The difference; no limb of `rhs` may exceed the same limb of `self`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn sub_lesser(self, rhs: Sum) -> Sum {
        let limb = |i: usize| {
            if cfg!(debug_assertions) {
                let within = _mm512_cmple_epu64_mask(rhs.0[i], self.0[i]);
                assert_eq!(within, Mask::MAX, "a subtrahend's limb is out of bounds");
            }
            _mm512_sub_epi64(self.0[i], rhs.0[i])
        };
        Sum([limb(0), limb(1), limb(2), limb(3), limb(4)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn double(self) -> Sum {
        self.add(self)
    }

    /// The same elements with limbs small enough for factors.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn carry(self) -> Fe {
        let v = self.0;
        let mask = splat(MASK51);
        let low = |i: usize| _mm512_and_epi64(v[i], mask);
        let high = |i: usize| _mm512_srli_epi64::<51>(v[i]);
        Fe([
            _mm512_madd52lo_epu64(low(0), high(4), splat(19)),
            _mm512_add_epi64(low(1), high(0)),
            _mm512_add_epi64(low(2), high(1)),
            _mm512_add_epi64(low(3), high(2)),
            _mm512_add_epi64(low(4), high(3)),
        ])
    }
}

#[cfg(test)]
impl Fe {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn from_limbs(limbs: [__m512i; 5]) -> Fe {
        Fe(limbs)
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn limbs(self) -> [[u64; 8]; 5] {
        Sum(self.0).limbs()
    }
}

#[cfg(test)]
impl Sum {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn from_limbs(limbs: [__m512i; 5]) -> Sum {
        Sum(limbs)
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn limbs(self) -> [[u64; 8]; 5] {
        let mut limbs = [[0; 8]; 5];
        for (lanes, vector) in limbs.iter_mut().zip(self.0) {
            store(lanes, vector);
        }
        limbs
    }
}
