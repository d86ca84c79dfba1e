//! Eight points of the curve -x² + y² = 1 + d x² y² at once, and their multiples by one scalar.
//!
//! Formulas: Hisil, Wong, Carter, Dawson, *Twisted Edwards Curves Revisited*, Asiacrypt 2008,
//! section 3.1 (addition, unified and complete as -1 is a square and d is not) and 3.3 (doubling).
//!
//! The scalar is the same for all points of a batch and is secret; its digits choose table
//! entries by reading the whole table, and signs by masks.

use core::arch::x86_64::*;

use super::constants::{D, D2};
use super::field::{Fe, Limbs, Mask, ONE, TWO, ZERO};
use crate::ristretto::digits::{DIGITS, Digits, LARGEST_DIGIT};

/// Points (X : Y : Z : T), x = X/Z, y = Y/Z, xy = T/Z.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: Fe,
    pub(super) y: Fe,
    pub(super) z: Fe,
    pub(super) t: Fe,
}

/// Points (X : Y : Z): enough to be doubled.
#[derive(Clone, Copy)]
struct ProjectivePoint {
    x: Fe,
    y: Fe,
    z: Fe,
}

/// A sum before its last multiplications: x = E/F, y = G/H.
#[derive(Clone, Copy)]
pub(super) struct CompletedPoint {
    pub(super) e: Fe,
    pub(super) f: Fe,
    pub(super) g: Fe,
    pub(super) h: Fe,
}

/// A summand prepared for many additions.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CachedPoint {
    y_plus_x: Fe,
    y_minus_x: Fe,
    z2: Fe,
    td2: Fe,
}

impl CompletedPoint {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn to_projective(self) -> ProjectivePoint {
        ProjectivePoint {
            x: self.e.mul(self.f).carry(),
            y: self.g.mul(self.h).carry(),
            z: self.f.mul(self.g).carry(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn to_extended(self) -> Point {
        let ProjectivePoint { x, y, z } = self.to_projective();
        Point { x, y, z, t: self.e.mul(self.h).carry() }
    }
}

impl ProjectivePoint {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn double(self) -> CompletedPoint {
        let xx = self.x.square();
        let yy = self.y.square();
        let zz = self.z.square();
        let s = self.x.add(self.y).carry().square();
        // All four with the opposite sign of the paper's, which gives the same point.
        let h = xx.add(yy);
        let g = xx.sub(yy);
        CompletedPoint {
            e: h.sub(s).carry(),
            f: zz.double().add(g).carry(),
            g: g.carry(),
            h: h.carry(),
        }
    }
}

impl Point {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn to_projective(self) -> ProjectivePoint {
        ProjectivePoint { x: self.x, y: self.y, z: self.z }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn to_cached(self) -> CachedPoint {
        CachedPoint {
            y_plus_x: self.y.add(self.x).carry(),
            y_minus_x: self.y.sub(self.x).carry(),
            z2: self.z.add(self.z).carry(),
            td2: self.t.mul(Fe::splat(&D2)).carry(),
        }
    }

    /// The sum, or with the lanes of `minus` the difference.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn add_cached(&self, q: &CachedPoint, minus: Mask) -> CompletedPoint {
        // -Q has y + x and y - x swapped and t negated; the latter swaps F and G.
        let plus = q.y_plus_x.select(q.y_minus_x, minus);
        let diff = q.y_minus_x.select(q.y_plus_x, minus);
        let a = self.y.sub(self.x).carry().mul(diff);
        let b = self.y.add(self.x).carry().mul(plus);
        let c = self.t.mul(q.td2);
        let d = self.z.mul(q.z2);
        let f = d.sub(c).carry();
        let g = d.add(c).carry();
        CompletedPoint {
            e: b.sub(a).carry(),
            f: f.select(g, minus),
            g: g.select(f, minus),
            h: b.add(a).carry(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn add(&self, other: &Point) -> Point {
        self.add_cached(&other.to_cached(), 0).to_extended()
    }

    /// 2P, before the multiplications that the encoding does not need (see there).
    ///
    /// Of the unified addition law: x = 2XY / (Z² + d T²), y = (Y² + X²) / (Z² - d T²).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn double_unified(&self) -> CompletedPoint {
        let zz = self.z.square();
        let dtt = self.t.square().carry().mul(Fe::splat(&D));
        CompletedPoint {
            e: self.x.mul(self.y).double().carry(),
            f: zz.add(dtt).carry(),
            g: self.y.square().add(self.x.square()).carry(),
            h: zz.sub(dtt).carry(),
        }
    }
}

/// The multiples 1P, 2P, .., 8P.
pub(super) struct Table([CachedPoint; LARGEST_DIGIT]);

impl Table {
    /// A table without content, to be filled again and again in place.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn empty() -> Table {
        Table([CachedPoint::identity(); LARGEST_DIGIT])
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn fill(&mut self, p: &Point) {
        let table = &mut self.0;
        table[0] = p.to_cached();
        let mut multiple = [*p; LARGEST_DIGIT + 1];
        for n in 2..=LARGEST_DIGIT {
            multiple[n] = if n % 2 == 0 {
                multiple[n / 2].to_projective().double().to_extended()
            } else {
                multiple[n - 1].add_cached(&table[0], 0).to_extended()
            };
            table[n - 1] = multiple[n].to_cached();
        }
    }

    /// |digit| · P, and the lanes (all or none) where the digit is negative.
    ///
    /// Reads the whole table. The digit is in every lane of a vector that the compiler cannot see
    /// through, so that it cannot turn the comparisons into a branch.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn lookup(&self, digit: i8) -> (CachedPoint, Mask) {
        let digit = core::hint::black_box(_mm512_set1_epi64(i64::from(digit)));
        let minus = _mm512_movepi64_mask(digit);
        let size = _mm512_abs_epi64(digit);
        let mut found = CachedPoint::identity();
        for (n, entry) in (1..).zip(&self.0) {
            let here = _mm512_cmpeq_epi64_mask(size, _mm512_set1_epi64(n));
            found = CachedPoint {
                y_plus_x: found.y_plus_x.select(entry.y_plus_x, here),
                y_minus_x: found.y_minus_x.select(entry.y_minus_x, here),
                z2: found.z2.select(entry.z2, here),
                td2: found.td2.select(entry.td2, here),
            };
        }
        (found, minus)
    }

    /// k P for the scalar k of the digits; the table's former content is overwritten.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn mul(&mut self, p: &Point, k: &Digits) -> Point {
        self.fill(p);
        let (first, minus) = self.lookup(k[DIGITS - 1]);
        let mut sum = Point::identity().add_cached(&first, minus);
        for digit in k[..DIGITS - 1].iter().rev() {
            let mut q = sum.to_projective();
            for _ in 0..3 {
                q = q.double().to_projective();
            }
            let q = q.double().to_extended();
            let (summand, minus) = self.lookup(*digit);
            sum = q.add_cached(&summand, minus);
        }
        sum.to_extended()
    }

    /// Overwrites the table with zeros.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn wipe(&mut self) {
        for entry in &mut self.0 {
            entry.y_plus_x.wipe();
            entry.y_minus_x.wipe();
            entry.z2.wipe();
            entry.td2.wipe();
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn constants<const N: usize>(limbs: [&Limbs; N]) -> [Fe; N] {
    limbs.map(|limbs| Fe::splat(limbs))
}

impl Point {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn identity() -> Point {
        let [x, y, z, t] = constants([&ZERO, &ONE, &ONE, &ZERO]);
        Point { x, y, z, t }
    }
}

impl CachedPoint {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn identity() -> CachedPoint {
        let [y_plus_x, y_minus_x, z2, td2] = constants([&ONE, &ONE, &TWO, &ZERO]);
        CachedPoint { y_plus_x, y_minus_x, z2, td2 }
    }
}
