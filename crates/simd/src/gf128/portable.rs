//! Carry-less products from integer products.

use super::MODULUS;
use crate::Block;

/// The low 64 bits of the product of two polynomials.
///
/// Uses integers with three zero bits after each coefficient. At most 16 ones meet at a position,
/// and the carries of the last position leave the word, so every fourth bit is the sum modulo 2.
/// Pornin describes the method for BearSSL ("Constant-time multiplication without carries").
#[inline(always)]
fn low_product(a: u64, b: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let a: [u64; 4] = std::array::from_fn(|i| a & EVERY_FOURTH << i);
    let b: [u64; 4] = std::array::from_fn(|i| b & EVERY_FOURTH << i);
    let mut product = 0;
    for place in 0..4 {
        let sum = (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(4 + place - i) % 4]));
        product |= sum & EVERY_FOURTH << place;
    }
    product
}

/// The product of two polynomials of degree below 64.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    // The high half is the low half of the product of the reversed operands.
    let high = low_product(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(low_product(a, b)) | u128::from(high) << 64
}

/// A polynomial of degree below 255: `low + middle X^64 + high X^128`.
#[derive(Clone, Copy, Default)]
struct Wide {
    low: u128,
    middle: u128,
    high: u128,
}

impl Wide {
    #[inline(always)]
    fn product(a: Block, b: Block) -> Wide {
        let [a, b] = [a.get(), b.get()];
        let (a0, a1) = (a as u64, (a >> 64) as u64);
        let (b0, b1) = (b as u64, (b >> 64) as u64);
        let low = product(a0, b0);
        let high = product(a1, b1);
        Wide { low, middle: product(a0 ^ a1, b0 ^ b1) ^ low ^ high, high }
    }

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        Wide {
            low: self.low ^ other.low,
            middle: self.middle ^ other.middle,
            high: self.high ^ other.high,
        }
    }

    #[inline(always)]
    fn reduce(self) -> Block {
        let high = self.high ^ self.middle >> 64;
        let low = self.low ^ self.middle << 64;
        // X^128 = X^7 + X^2 + X + 1; the part that this shifts beyond X^127 has degree below 7.
        let beyond = (high >> 127 ^ high >> 126 ^ high >> 121) as u64;
        let folded = high ^ high << 1 ^ high << 2 ^ high << 7;
        let again = (0..8).filter(|i| MODULUS >> i & 1 == 1).fold(0, |sum, i| sum ^ beyond << i);
        Block::new(low ^ folded ^ u128::from(again))
    }
}

pub(super) fn mul(a: Block, b: Block) -> Block {
    Wide::product(a, b).reduce()
}

pub(super) fn square_times(a: Block, n: u32) -> Block {
    (0..n).fold(a, |a, _| mul(a, a))
}

pub(super) fn scale(xs: &mut [Block], s: Block) {
    xs.iter_mut().for_each(|x| *x = mul(*x, s));
}

pub(super) fn add_scaled(acc: &mut [Block], xs: &[Block], s: Block) {
    acc.iter_mut().zip(xs).for_each(|(acc, x)| *acc ^= mul(*x, s));
}

pub(super) fn mul_each(acc: &mut [Block], xs: &[Block]) {
    acc.iter_mut().zip(xs).for_each(|(acc, x)| *acc = mul(*acc, *x));
}

pub(super) fn add_products(acc: &mut [Block], xs: &[Block], ys: &[Block]) {
    acc.iter_mut().zip(xs.iter().zip(ys)).for_each(|(acc, (x, y))| *acc ^= mul(*x, *y));
}

pub(super) fn inner_product(xs: &[Block], ys: &[Block]) -> Block {
    let products = xs.iter().zip(ys).map(|(x, y)| Wide::product(*x, *y));
    products.fold(Wide::default(), Wide::add).reduce()
}
