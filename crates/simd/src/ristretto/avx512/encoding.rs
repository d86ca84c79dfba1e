//! Decoding, the one-way map and encoding of RFC 9496, sections 4.3.1, 4.3.4 and 4.3.2, for eight
//! elements at once. Names follow the RFC.

use super::constants::{
    D, D_MINUS_ONE_SQ, INVSQRT_A_MINUS_D, ONE_MINUS_D_SQ, SQRT_AD_MINUS_ONE, SQRT_M1,
};
use super::edwards::{CompletedPoint, Point};
use super::field::{Fe, Mask, ONE, Words, ZERO};

/// SQRT_RATIO_M1 (4.2): the lanes where u/v is a square, and the nonnegative root of u/v there and
/// of sqrt(-1) u/v in the other lanes. Runs two independent instances in step, because the chain of
/// squarings is long.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn sqrt_ratio_m1(u: [Fe; 2], v: [Fe; 2]) -> [(Mask, Fe); 2] {
    let v3 = Fe::mul_each(Fe::mul_each(v, v), v);
    let uv3 = Fe::mul_each(u, v3);
    let uv7 = Fe::mul_each(Fe::mul_each(uv3, v3), v);
    let r = Fe::mul_each(uv3, Fe::power_p58(uv7));
    [root_of_candidate(u[0], v[0], r[0]), root_of_candidate(u[1], v[1], r[1])]
}

/// The last step of SQRT_RATIO_M1, from r = u v³ (u v⁷)^((p - 5) / 8).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn root_of_candidate(u: Fe, v: Fe, r: Fe) -> (Mask, Fe) {
    let sqrt_m1 = Fe::splat(&SQRT_M1);
    let check = v.mul(r.square().carry()).carry();
    let correct_sign = check.sub(u).carry().is_zero();
    let flipped_sign = check.add(u).carry().is_zero();
    let flipped_sign_i = check.add(u.mul(sqrt_m1).carry()).carry().is_zero();
    let r_prime = r.mul(sqrt_m1).carry();
    let root = r.select(r_prime, flipped_sign | flipped_sign_i).abs();
    (correct_sign | flipped_sign, root)
}

/// The values that decoding of s computes before the square root.
struct DecodeStart {
    s: Fe,
    u1: Fe,
    u2: Fe,
    v: Fe,
    v_u2_sqr: Fe,
}

impl DecodeStart {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn new(encodings: &Words) -> DecodeStart {
        let one = Fe::splat(&ONE);
        let s = Fe::from_words(encodings);
        let ss = s.square().carry();
        let u1 = one.sub(ss).carry();
        let u2 = one.add(ss).carry();
        let u2_sqr = u2.square().carry();
        let v = u1.square().carry().mul(Fe::splat(&D)).add_fe(u2_sqr).carry().neg();
        DecodeStart { s, u1, u2, v, v_u2_sqr: v.mul(u2_sqr).carry() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn finish(&self, encodings: &Words, (was_square, invsqrt): (Mask, Fe)) -> (Point, Mask) {
        let DecodeStart { s, u1, u2, v, .. } = *self;
        let den_x = invsqrt.mul(u2).carry();
        let den_y = invsqrt.mul(den_x).carry().mul(v).carry();
        let x = s.add(s).carry().mul(den_x).carry().abs();
        let y = u1.mul(den_y).carry();
        let t = x.mul(y).carry();

        let mut top_bits = 0;
        for (lane, word) in encodings[3].iter().enumerate() {
            top_bits |= ((word >> 63) as Mask) << lane;
        }
        let canonical = !top_bits & s.is_canonical();
        let refused = s.is_negative() | t.is_negative() | y.is_zero() | s.is_zero();
        (Point { x, y, z: Fe::splat(&ONE), t }, canonical & was_square & !refused)
    }
}

/// Decodes two times eight encodings to points, and returns the lanes where they are valid and not
/// the identity.
///
/// The points in other lanes are meaningless.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
pub(super) fn decode(encodings: &[Words; 2]) -> [(Point, Mask); 2] {
    let one = Fe::splat(&ONE);
    let [a, b] = [DecodeStart::new(&encodings[0]), DecodeStart::new(&encodings[1])];
    let roots = sqrt_ratio_m1([one; 2], [a.v_u2_sqr, b.v_u2_sqr]);
    [a.finish(&encodings[0], roots[0]), b.finish(&encodings[1], roots[1])]
}

/// The values that MAP of t computes before the square root.
struct MapStart {
    t: Fe,
    r: Fe,
    u: Fe,
    v: Fe,
}

impl MapStart {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn new(elements: &Words) -> MapStart {
        let one = Fe::splat(&ONE);
        let d = Fe::splat(&D);
        let t = Fe::from_words(elements);
        let r = t.square().carry().mul(Fe::splat(&SQRT_M1)).carry();
        let u = r.add(one).carry().mul(Fe::splat(&ONE_MINUS_D_SQ)).carry();
        let minus_one_minus_rd = r.mul(d).add_fe(one).carry().neg();
        MapStart { t, r, u, v: minus_one_minus_rd.mul(r.add(d).carry()).carry() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn finish(&self, (was_square, s): (Mask, Fe)) -> Point {
        let MapStart { t, r, v, .. } = *self;
        let one = Fe::splat(&ONE);
        let s_prime = s.mul(t).carry().abs().neg();
        let s = s_prime.select(s, was_square);
        let c = r.select(one.neg(), was_square);
        let c_times = c.mul(r.sub(one).carry()).carry();
        let n = c_times.mul(Fe::splat(&D_MINUS_ONE_SQ)).carry().sub(v).carry();
        let w0 = s.mul(v).double().carry();
        let w1 = n.mul(Fe::splat(&SQRT_AD_MINUS_ONE)).carry();
        let ss = s.square().carry();
        let w2 = one.sub(ss).carry();
        let w3 = one.add(ss).carry();
        let mut p = Point::identity();
        CompletedPoint { e: w0, f: w3, g: w1, h: w2 }.write::<true>(&mut p);
        p
    }
}

/// MAP (4.3.4) of two times eight field elements; ignores the top bit of each.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
pub(super) fn map(elements: &[Words; 2]) -> [Point; 2] {
    let [a, b] = [MapStart::new(&elements[0]), MapStart::new(&elements[1])];
    let roots = sqrt_ratio_m1([a.u, b.u], [a.v, b.v]);
    [a.finish(roots[0]), b.finish(roots[1])]
}

/// Encodes 2P for each P of the batch, given as [`Point::double_unified`] has it: 2P is
/// (X : Y : Z : T) = (EH : FG : FH : EG).
///
/// The RFC's encoding needs 1/sqrt((Z² - Y²) (XY)²). For a doubled point the root is known without
/// an exponentiation. The four values satisfy F² - d E² = H²: both sides are
/// (Z² - d T²)² for the point that was doubled, as XY = ZT there. With the curve equation,
/// 1 - (G/H)² = -(1 + d) (E/H)², so Z² - Y² = F² (H² - G²) = (a - d) (EF)². All that is left to
/// invert is E F G H, and one inversion serves the whole batch (Montgomery's trick). With
/// c = 1/sqrt(a - d), the RFC's values up to a common sign, which its absolute value removes, are:
///
/// | | no rotation | rotation |
/// |---|---|---|
/// | chosen where | EG/FH not negative | EG/FH negative |
/// | x / z | E/F | i G/H |
/// | s, with - for negative x / z turned to + | c (H - G) / E | (F - i E) / G |
///
/// E G = 0 is the identity, and gives s = 0 with the inverse of 0 taken as 0.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
pub(super) fn encode_doubles(batch: &[CompletedPoint], mut emit: impl FnMut(usize, &Words)) {
    let one = Fe::splat(&ONE);
    let i = Fe::splat(&SQRT_M1);
    let c = Fe::splat(&INVSQRT_A_MINUS_D);

    // before[n] is the product of the first n values.
    let mut before = Vec::with_capacity(batch.len());
    let mut product = one;
    for p in batch {
        before.push(product);
        product = product.mul(nonzero_efgh(p).0).carry();
    }
    let mut inverse = product.invert();
    for (n, p) in batch.iter().enumerate().rev() {
        let CompletedPoint { e, f, g, h } = *p;
        let (efgh, is_identity) = nonzero_efgh(p);
        let inv = inverse.mul(before[n]).carry().select(Fe::splat(&ZERO), is_identity);
        inverse = inverse.mul(efgh).carry();

        let eg = e.mul(g).carry();
        let inv_fh = eg.mul(inv).carry();
        let inv_eg = f.mul(h).carry().mul(inv).carry();
        let rotate = eg.mul(inv_fh).carry().is_negative();

        // If rotated, everything is multiplied by i so that both cases have one form: s = scale
        // (h' - g') g' / (E G).
        let scale = c.select(i, rotate);
        let e_prime = e.select(g, rotate);
        let g_prime = g.select(e.neg(), rotate);
        let h_prime = h.select(f.mul(i).carry(), rotate);
        let flip = h_prime.mul(e_prime).carry().mul(inv_fh).carry().is_negative();
        let g_prime = g_prime.negate_where(flip);
        let numerator = h_prime.sub(g_prime).carry().mul(g_prime).carry();
        let s = numerator.mul(scale).carry().mul(inv_eg).carry().abs();
        emit(n, &s.to_words());
    }
}

/// E F G H, with 1 in place of 0, and the lanes where 0 was replaced.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn nonzero_efgh(p: &CompletedPoint) -> (Fe, Mask) {
    let efgh = p.e.mul(p.f).carry().mul(p.g.mul(p.h).carry()).carry();
    let zero = efgh.is_zero();
    (efgh.select(Fe::splat(&ONE), zero), zero)
}
