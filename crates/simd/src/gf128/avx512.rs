//! GF(2^128) with VPCLMULQDQ, four elements to a vector.

use super::{MODULUS, avx2};
use crate::Block;
use crate::lanes::{LANES, load_1, load_4, store_4};
use core::arch::x86_64::*;

pub(super) use avx2::{mul, square_times};

/// The XOR of three operands.
const XOR3: i32 = 0x96;

/// Polynomials of degree below 255: `low + middle X^64 + high X^128`, the middle in two parts.
#[derive(Clone, Copy)]
struct Wide {
    low: __m512i,
    middle: [__m512i; 2],
    high: __m512i,
}

/// Four products instead of three: here, the shuffles for three cost more.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn product(a: __m512i, b: __m512i) -> Wide {
    Wide {
        low: _mm512_clmulepi64_epi128::<0x00>(a, b),
        middle: [_mm512_clmulepi64_epi128::<0x01>(a, b), _mm512_clmulepi64_epi128::<0x10>(a, b)],
        high: _mm512_clmulepi64_epi128::<0x11>(a, b),
    }
}

/// Like the kernel for single elements, in each lane.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn reduce(wide: Wide) -> __m512i {
    let modulus = _mm512_set1_epi64(MODULUS.cast_signed());
    let fold = _mm512_clmulepi64_epi128::<0x01>(wide.high, modulus);
    let [a, b] = wide.middle;
    let middle = _mm512_ternarylogic_epi64::<XOR3>(a, b, fold);
    let middle = _mm512_shuffle_epi32::<0b0100_1110>(middle);
    let high = _mm512_xor_si512(wide.high, middle);
    let low = _mm512_xor_si512(wide.low, _mm512_clmulepi64_epi128::<0x00>(high, modulus));
    _mm512_mask_xor_epi64(low, 0b1010_1010, low, middle)
}

/// The product of each lane.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(crate) fn times(a: __m512i, b: __m512i) -> __m512i {
    reduce(product(a, b))
}

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn scale(xs: &mut [Block], s: Block) {
    let (vectors, rest) = xs.as_chunks_mut::<LANES>();
    let factor = _mm512_broadcast_i32x4(load_1(&s));
    for xs in vectors {
        store_4(times(load_4(xs), factor), xs);
    }
    avx2::scale(rest, s);
}

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn add_scaled(acc: &mut [Block], xs: &[Block], s: Block) {
    let (accs, acc) = acc.as_chunks_mut::<LANES>();
    let (vectors, rest) = xs.as_chunks::<LANES>();
    let factor = _mm512_broadcast_i32x4(load_1(&s));
    for (acc, xs) in accs.iter_mut().zip(vectors) {
        store_4(_mm512_xor_si512(load_4(acc), times(load_4(xs), factor)), acc);
    }
    avx2::add_scaled(acc, rest, s);
}

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn mul_each(acc: &mut [Block], xs: &[Block]) {
    let (accs, acc) = acc.as_chunks_mut::<LANES>();
    let (vectors, rest) = xs.as_chunks::<LANES>();
    for (acc, xs) in accs.iter_mut().zip(vectors) {
        store_4(times(load_4(acc), load_4(xs)), acc);
    }
    avx2::mul_each(acc, rest);
}

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn add_products(acc: &mut [Block], xs: &[Block], ys: &[Block]) {
    let (accs, acc) = acc.as_chunks_mut::<LANES>();
    let (vectors, xs) = xs.as_chunks::<LANES>();
    let (factors, ys) = ys.as_chunks::<LANES>();
    for (acc, (x, y)) in accs.iter_mut().zip(vectors.iter().zip(factors)) {
        store_4(_mm512_xor_si512(load_4(acc), times(load_4(x), load_4(y))), acc);
    }
    avx2::add_products(acc, xs, ys);
}

/// The sum of the four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_lanes(v: __m512i) -> __m128i {
    let low = _mm_xor_si128(_mm512_castsi512_si128(v), _mm512_extracti32x4_epi32::<1>(v));
    let high = (_mm512_extracti32x4_epi32::<2>(v), _mm512_extracti32x4_epi32::<3>(v));
    _mm_xor_si128(low, _mm_xor_si128(high.0, high.1))
}

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn inner_product(xs: &[Block], ys: &[Block]) -> Block {
    let (vectors, xs) = xs.as_chunks::<LANES>();
    let (factors, ys) = ys.as_chunks::<LANES>();
    let zero = _mm512_setzero_si512();
    let mut sum = Wide { low: zero, middle: [zero; 2], high: zero };
    for (x, y) in vectors.iter().zip(factors) {
        let product = product(load_4(x), load_4(y));
        sum.low = _mm512_xor_si512(sum.low, product.low);
        sum.middle[0] = _mm512_xor_si512(sum.middle[0], product.middle[0]);
        sum.middle[1] = _mm512_xor_si512(sum.middle[1], product.middle[1]);
        sum.high = _mm512_xor_si512(sum.high, product.high);
    }
    let rest = avx2::wide_inner_product(xs, ys);
    let middle = _mm512_xor_si512(sum.middle[0], sum.middle[1]);
    avx2::block(avx2::reduce(avx2::Wide {
        low: _mm_xor_si128(rest.low, add_lanes(sum.low)),
        middle: _mm_xor_si128(rest.middle, add_lanes(middle)),
        high: _mm_xor_si128(rest.high, add_lanes(sum.high)),
    }))
}
