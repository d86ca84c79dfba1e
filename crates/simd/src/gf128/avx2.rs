//! GF(2^128) with PCLMULQDQ.

use super::MODULUS;
use crate::Block;
use crate::lanes::{load_1, store_1};
use core::arch::x86_64::*;

/// A polynomial of degree below 255: `low + middle X^64 + high X^128`.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    pub(super) low: __m128i,
    pub(super) middle: __m128i,
    pub(super) high: __m128i,
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn product(a: __m128i, b: __m128i) -> Wide {
    // Three products instead of four (Karatsuba), because products dominate the time.
    let low = _mm_clmulepi64_si128::<0x00>(a, b);
    let high = _mm_clmulepi64_si128::<0x11>(a, b);
    let a = _mm_xor_si128(a, _mm_shuffle_epi32::<0b0100_1110>(a));
    let b = _mm_xor_si128(b, _mm_shuffle_epi32::<0b0100_1110>(b));
    let both = _mm_clmulepi64_si128::<0x00>(a, b);
    Wide { low, middle: _mm_xor_si128(both, _mm_xor_si128(low, high)), high }
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn reduce(wide: Wide) -> __m128i {
    let modulus = _mm_set_epi64x(0, MODULUS.cast_signed());
    // First the part at X^192 and above goes to the middle, then the part at X^128 to the low half.
    let fold = _mm_clmulepi64_si128::<0x01>(wide.high, modulus);
    let middle = _mm_shuffle_epi32::<0b0100_1110>(_mm_xor_si128(wide.middle, fold));
    let high = _mm_xor_si128(wide.high, middle);
    let low = _mm_xor_si128(wide.low, _mm_clmulepi64_si128::<0x00>(high, modulus));
    _mm_xor_si128(low, _mm_blend_epi32::<0b1100>(_mm_setzero_si128(), middle))
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn times(a: __m128i, b: __m128i) -> __m128i {
    reduce(product(a, b))
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn block(v: __m128i) -> Block {
    let mut block = Block::ZERO;
    store_1(v, &mut block);
    block
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul(a: Block, b: Block) -> Block {
    block(times(load_1(&a), load_1(&b)))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn square_times(a: Block, n: u32) -> Block {
    let mut a = load_1(&a);
    for _ in 0..n {
        a = reduce(Wide {
            low: _mm_clmulepi64_si128::<0x00>(a, a),
            middle: _mm_setzero_si128(),
            high: _mm_clmulepi64_si128::<0x11>(a, a),
        });
    }
    block(a)
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn scale(xs: &mut [Block], s: Block) {
    let s = load_1(&s);
    for x in xs {
        store_1(times(load_1(x), s), x);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn add_scaled(acc: &mut [Block], xs: &[Block], s: Block) {
    let s = load_1(&s);
    for (acc, x) in acc.iter_mut().zip(xs) {
        store_1(_mm_xor_si128(load_1(acc), times(load_1(x), s)), acc);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul_each(acc: &mut [Block], xs: &[Block]) {
    for (acc, x) in acc.iter_mut().zip(xs) {
        store_1(times(load_1(acc), load_1(x)), acc);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn add_products(acc: &mut [Block], xs: &[Block], ys: &[Block]) {
    for (acc, (x, y)) in acc.iter_mut().zip(xs.iter().zip(ys)) {
        store_1(_mm_xor_si128(load_1(acc), times(load_1(x), load_1(y))), acc);
    }
}

/// The sum of products, not yet reduced.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn wide_inner_product(xs: &[Block], ys: &[Block]) -> Wide {
    let zero = _mm_setzero_si128();
    let mut sum = Wide { low: zero, middle: zero, high: zero };
    for (x, y) in xs.iter().zip(ys) {
        let product = product(load_1(x), load_1(y));
        sum.low = _mm_xor_si128(sum.low, product.low);
        sum.middle = _mm_xor_si128(sum.middle, product.middle);
        sum.high = _mm_xor_si128(sum.high, product.high);
    }
    sum
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn inner_product(xs: &[Block], ys: &[Block]) -> Block {
    block(reduce(wide_inner_product(xs, ys)))
}
