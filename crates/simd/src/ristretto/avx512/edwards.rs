//! Eight points of the curve -x² + y² = 1 + d x² y² at once, and their multiples by one scalar or
//! by eight.
//!
//! Formulas: Hisil, Wong, Carter, Dawson, *Twisted Edwards Curves Revisited*, Asiacrypt 2008,
//! section 3.1 (addition, unified and complete as -1 is a square and d is not) and 3.3 (doubling).
//!
//! The scalars are secret. Their digits select table entries by reads of the whole table, and signs
//! by masks.
//!
//! Points are changed in place, and a doubling or an addition is one function with everything
//! inlined: passing half a point through memory costs a tenth of the time.

use core::arch::x86_64::*;
use core::hint::black_box;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::constants::{D, D2};
use super::field::{Fe, LANES, Limbs, Mask, ONE, TWO, ZERO};
use crate::ristretto::digits::{DIGITS, Digits, LARGEST_DIGIT};

/// Points (X : Y : Z : T), x = X/Z, y = Y/Z, xy = T/Z.
///
/// Doubling does not read T, so operations before a doubling need not compute it: `WITH_T` says
/// whether they do.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: Fe,
    pub(super) y: Fe,
    pub(super) z: Fe,
    pub(super) t: Fe,
}

/// A point before its last multiplications: x = E/F, y = G/H.
#[derive(Clone, Copy)]
pub(super) struct CompletedPoint {
    pub(super) e: Fe,
    pub(super) f: Fe,
    pub(super) g: Fe,
    pub(super) h: Fe,
}

/// A summand prepared for many additions: Y + X, Y - X, 2 Z, 2 d T.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CachedPoint([Fe; 4]);

impl CompletedPoint {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn write<const WITH_T: bool>(&self, p: &mut Point) {
        p.x = self.e.mul(self.f).carry();
        p.y = self.g.mul(self.h).carry();
        p.z = self.f.mul(self.g).carry();
        if WITH_T {
            p.t = self.e.mul(self.h).carry();
        }
    }
}

impl Point {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn identity() -> Point {
        let (zero, one) = (Fe::splat(&ZERO), Fe::splat(&ONE));
        Point { x: zero, y: one, z: one, t: zero }
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn double<const WITH_T: bool>(&mut self) {
        let xx = self.x.square_raised();
        let yy = self.y.square();
        let zz = self.z.square();
        let s = self.x.add(self.y).carry().square();
        // All four with the opposite sign of the paper's, which yields the same point.
        let h = xx.add(yy);
        let g = xx.sub_lesser(yy);
        let completed = CompletedPoint {
            e: h.sub_lesser(s).carry(),
            f: zz.double().add(g).carry(),
            g: g.carry(),
            h: h.carry(),
        };
        completed.write::<WITH_T>(self);
    }

    /// Adds q, or subtracts it in the lanes of `minus`.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn add_cached<const WITH_T: bool>(&mut self, q: &CachedPoint, minus: Mask) {
        let [y_plus_x, y_minus_x, z2, td2] = &q.0;
        // -Q has Y + X and Y - X swapped and T negated; negating T swaps F and G.
        let plus = y_plus_x.select(*y_minus_x, minus);
        let diff = y_minus_x.select(*y_plus_x, minus);
        let a = self.y.sub(self.x).carry().mul(diff);
        let b = self.y.add(self.x).carry().mul_raised(plus);
        let e = b.sub_lesser(a).carry();
        let h = b.add(a).carry();
        let c = self.t.mul(*td2);
        let d = self.z.mul_raised(*z2);
        let f = d.sub_lesser(c).carry();
        let g = d.add(c).carry();
        let completed = CompletedPoint { e, f: f.select(g, minus), g: g.select(f, minus), h };
        completed.write::<WITH_T>(self);
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn to_cached(self) -> CachedPoint {
        CachedPoint([
            self.y.add(self.x).carry(),
            self.y.sub(self.x).carry(),
            self.z.add(self.z).carry(),
            self.t.mul(Fe::splat(&D2)).carry(),
        ])
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn add(&mut self, other: &Point) {
        self.add_cached::<true>(&other.to_cached(), 0);
    }

    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn sub(&mut self, other: &Point) {
        self.add_cached::<true>(&other.to_cached(), Mask::MAX);
    }

    /// 2P, before the multiplications that the encoding does not need (see `encode_doubles`).
    ///
    /// From the unified addition law: x = 2XY / (Z² + d T²), y = (Y² + X²) / (Z² - d T²).
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn double_unified(&self) -> CompletedPoint {
        let zz = self.z.square_raised();
        let dtt = self.t.square().carry().mul(Fe::splat(&D));
        CompletedPoint {
            e: self.x.mul(self.y).double().carry(),
            f: zz.add(dtt).carry(),
            g: self.y.square().add(self.x.square()).carry(),
            h: zz.sub_lesser(dtt).carry(),
        }
    }
}

impl CachedPoint {
    const IDENTITY: [Limbs; 4] = [ONE, ONE, TWO, ZERO];

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn identity() -> CachedPoint {
        let [y_plus_x, y_minus_x, z2, td2] = &CachedPoint::IDENTITY;
        CachedPoint([Fe::splat(y_plus_x), Fe::splat(y_minus_x), Fe::splat(z2), Fe::splat(td2)])
    }
}

/// Secret digits as masks: one digit for all lanes, or one for each.
#[derive(Clone, Copy, Default, Zeroize)]
struct Digit {
    minus: Mask,
    /// Whether the absolute value is 1, 2, .., 8.
    size_is: [Mask; LARGEST_DIGIT],
}

/// The digits of secret scalars as masks, least significant first; wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Multiplier([Digit; DIGITS]);

impl Multiplier {
    /// One scalar for all lanes.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn new(digits: &Digits) -> Multiplier {
        Multiplier::each(&[digits; LANES])
    }

    /// One scalar per lane.
    ///
    /// The digits are compared in vectors that the compiler cannot see through. It does not know
    /// which lanes are equal, so it cannot turn the masks into branches.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn each(digits: &[&Digits; LANES]) -> Multiplier {
        let mut multiplier = Multiplier([Digit::default(); DIGITS]);
        for (place, masks) in multiplier.0.iter_mut().enumerate() {
            let [a, b, c, d, e, f, g, h] = digits.map(|digits| i64::from(digits[place]));
            let digit = black_box(_mm512_set_epi64(h, g, f, e, d, c, b, a));
            let size = _mm512_abs_epi64(digit);
            masks.minus = _mm512_movepi64_mask(digit);
            for (n, here) in (1..).zip(&mut masks.size_is) {
                *here = _mm512_cmpeq_epi64_mask(size, _mm512_set1_epi64(n));
            }
        }
        multiplier
    }
}

/// The multiples 1P, 2P, .., 8P.
pub(super) struct Table([CachedPoint; LARGEST_DIGIT]);

impl Table {
    /// A table without contents, which can be filled repeatedly in place.
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
            if n % 2 == 0 {
                multiple[n] = multiple[n / 2];
                multiple[n].double::<true>();
            } else {
                multiple[n] = multiple[n - 1];
                multiple[n].add_cached::<true>(&table[0], 0);
            }
            table[n - 1] = multiple[n].to_cached();
        }
    }

    /// Sets coordinate `i` of `found` to that of |digit| · P. Reads this coordinate of the whole
    /// table.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn select(&self, i: usize, digit: &Digit, found: &mut CachedPoint) {
        let mut coordinate = Fe::splat(&CachedPoint::IDENTITY[i]);
        for (entry, here) in self.0.iter().zip(&digit.size_is) {
            coordinate = coordinate.select(entry.0[i], *here);
        }
        found.0[i] = coordinate;
    }

    /// k P; overwrites the table.
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(super) fn mul(&mut self, p: &Point, k: &Multiplier) -> Point {
        self.fill(p);
        let mut sum = Point::identity();
        let mut summand = CachedPoint::identity();
        for (place, digit) in k.0.iter().enumerate().rev() {
            // Otherwise the compiler would copy the whole table to the stack before the loop.
            let table = black_box(&*self);
            // Selections are loads and moves, and doublings are mostly multiplications, so they can
            // overlap.
            for i in 0..4 {
                table.select(i, digit, &mut summand);
                if place + 1 == DIGITS {
                    continue;
                }
                match i {
                    3 => sum.double::<true>(),
                    _ => sum.double::<false>(),
                }
            }
            match place {
                0 => sum.add_cached::<true>(&summand, digit.minus),
                _ => sum.add_cached::<false>(&summand, digit.minus),
            }
        }
        sum
    }
}

impl Drop for Table {
    /// Wipes the multiples, because they reveal the multiplied point.
    fn drop(&mut self) {
        for entry in &mut self.0 {
            for coordinate in &mut entry.0 {
                coordinate.wipe();
            }
        }
    }
}
