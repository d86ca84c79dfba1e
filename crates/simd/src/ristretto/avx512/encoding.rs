//! Decoding, the one-way map and encoding of RFC 9496, sections 4.3.1, 4.3.4 and 4.3.2, for eight
//! elements at once. Names follow the RFC.

use super::constants::{
    D, D_MINUS_ONE_SQ, INVSQRT_A_MINUS_D, ONE_MINUS_D_SQ, SQRT_AD_MINUS_ONE, SQRT_M1,
};
use super::edwards::{CompletedPoint, Point};
use super::field::{Fe, Mask, ONE, Words, ZERO};

/// SQRT_RATIO_M1 (4.2): the lanes where u/v is a square, and the nonnegative root of u/v there and
/// of sqrt(-1) u/v elsewhere. N independent ones in step, as the chain of squarings is long.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn sqrt_ratio_m1<const N: usize>(u: [Fe; N], v: [Fe; N]) -> [(Mask, Fe); N] {
    let v3: [Fe; N] = core::array::from_fn(|i| v[i].square().carry().mul(v[i]).carry());
    let uv3: [Fe; N] = core::array::from_fn(|i| u[i].mul(v3[i]).carry());
    let uv7: [Fe; N] = core::array::from_fn(|i| uv3[i].mul(v3[i]).carry().mul(v[i]).carry());
    let power = Fe::power_p58(uv7);
    core::array::from_fn(|i| {
        let r = uv3[i].mul(power[i]).carry();
        let check = v[i].mul(r.square().carry()).carry();
        let i_u = u[i].mul(Fe::splat(&SQRT_M1)).carry();
        let correct_sign = check.sub(u[i]).carry().is_zero();
        let flipped_sign = check.add(u[i]).carry().is_zero();
        let flipped_sign_i = check.add(i_u).carry().is_zero();
        let r_prime = r.mul(Fe::splat(&SQRT_M1)).carry();
        let root = r.select(r_prime, flipped_sign | flipped_sign_i).abs();
        (correct_sign | flipped_sign, root)
    })
}

/// Two times eight encodings to points, and the lanes where they are valid and not the identity.
///
/// The points of other lanes have no meaning.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
pub(super) fn decode(encodings: &[Words; 2]) -> [(Point, Mask); 2] {
    let one = Fe::splat(&ONE);
    let s = [Fe::from_words(&encodings[0]), Fe::from_words(&encodings[1])];
    let ss = s.map(|s| s.square().carry());
    let u1 = ss.map(|ss| one.sub(ss).carry());
    let u2 = ss.map(|ss| one.add(ss).carry());
    let u2_sqr = u2.map(|u2| u2.square().carry());
    let v: [Fe; 2] = core::array::from_fn(|i| {
        let d_u1_sqr = u1[i].square().carry().mul(Fe::splat(&D));
        d_u1_sqr.add_fe(u2_sqr[i]).carry().neg()
    });
    let v_u2_sqr = core::array::from_fn(|i| v[i].mul(u2_sqr[i]).carry());
    let roots = sqrt_ratio_m1([one; 2], v_u2_sqr);
    core::array::from_fn(|i| {
        let (was_square, invsqrt) = roots[i];
        let den_x = invsqrt.mul(u2[i]).carry();
        let den_y = invsqrt.mul(den_x).carry().mul(v[i]).carry();
        let x = s[i].add(s[i]).carry().mul(den_x).carry().abs();
        let y = u1[i].mul(den_y).carry();
        let t = x.mul(y).carry();

        let mut high_bits = 0;
        for (lane, word) in encodings[i][3].iter().enumerate() {
            high_bits |= ((word >> 63) as Mask) << lane;
        }
        let canonical = !high_bits & s[i].is_canonical();
        let refused = s[i].is_negative() | t.is_negative() | y.is_zero() | s[i].is_zero();
        (Point { x, y, z: one, t }, canonical & was_square & !refused)
    })
}

/// MAP (4.3.4) of two times eight field elements, of which the top bit is ignored.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
pub(super) fn map(elements: &[Words; 2]) -> [Point; 2] {
    let one = Fe::splat(&ONE);
    let minus_one = one.neg();
    let t = [Fe::from_words(&elements[0]), Fe::from_words(&elements[1])];
    let r = t.map(|t| t.square().carry().mul(Fe::splat(&SQRT_M1)).carry());
    let u = r.map(|r| r.add(one).carry().mul(Fe::splat(&ONE_MINUS_D_SQ)).carry());
    let v = r.map(|r| {
        let minus_one_minus_rd = r.mul(Fe::splat(&D)).add_fe(one).carry().neg();
        minus_one_minus_rd.mul(r.add(Fe::splat(&D)).carry()).carry()
    });
    let roots = sqrt_ratio_m1(u, v);
    core::array::from_fn(|i| {
        let (was_square, s) = roots[i];
        let s_prime = s.mul(t[i]).carry().abs().neg();
        let s = s_prime.select(s, was_square);
        let c = r[i].select(minus_one, was_square);
        let c_times = c.mul(r[i].sub(one).carry()).carry();
        let n = c_times.mul(Fe::splat(&D_MINUS_ONE_SQ)).carry().sub(v[i]).carry();
        let w0 = s.mul(v[i]).double().carry();
        let w1 = n.mul(Fe::splat(&SQRT_AD_MINUS_ONE)).carry();
        let ss = s.square().carry();
        let w2 = one.sub(ss).carry();
        let w3 = one.add(ss).carry();
        CompletedPoint { e: w0, f: w3, g: w1, h: w2 }.to_extended()
    })
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

        // Rotated, everything is multiplied by i to have one form: s = scale (h' - g') g' / (E G).
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

/// E F G H with 1 in place of 0, and the lanes where that was done.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn nonzero_efgh(p: &CompletedPoint) -> (Fe, Mask) {
    let efgh = p.e.mul(p.f).carry().mul(p.g.mul(p.h).carry()).carry();
    let zero = efgh.is_zero();
    (efgh.select(Fe::splat(&ONE), zero), zero)
}
