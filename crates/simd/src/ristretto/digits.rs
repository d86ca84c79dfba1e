//! A scalar as signed hexadecimal digits.

use curve25519_dalek::scalar::Scalar;
use subtle::{Choice, ConditionallyNegatable};
use zeroize::Zeroize;

/// Digits of a scalar: n with |n| ≤ (ℓ-1)/2 < 2^251 + 2^124 needs no carry out of digit 62.
pub(super) const DIGITS: usize = 63;

/// The largest absolute value of a digit.
pub(super) const LARGEST_DIGIT: usize = 8;

/// Σ digit[i] · 16^i, each digit in -8..=8. Secret.
pub(super) type Digits = [i8; DIGITS];

/// (ℓ + 1)/2, little-endian: the smallest scalar whose negative is smaller.
const UPPER_HALF: [u8; 32] = [
    0xf7, 0xe9, 0x7a, 0x2e, 0x8d, 0x31, 0x09, 0x2c, 0x6b, 0xce, 0x7b, 0x51, 0xef, 0x7c, 0x6f, 0x0a,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x08,
];

/// The digits of the scalar or of the scalar minus ℓ, whichever is closer to zero. In constant
/// time.
pub(super) fn recode(k: &Scalar) -> Digits {
    let mut borrow = 0;
    for (byte, bound) in k.as_bytes().iter().zip(UPPER_HALF) {
        borrow = (u16::from(*byte).wrapping_sub(u16::from(bound)).wrapping_sub(borrow) >> 8) & 1;
    }
    let upper = Choice::from(1 - borrow as u8);
    let mut size = *k;
    size.conditional_negate(upper);
    let mut bytes = size.to_bytes();

    let mut digits = [0; DIGITS];
    let mut carry = 0;
    for (i, digit) in digits.iter_mut().enumerate() {
        let nibble = ((bytes[i / 2] >> (4 * (i % 2))) & 15).cast_signed() + carry;
        // Digits of 8 and above become negative with a carry, except the top digit, which has no
        // successor and is at most 8.
        carry = if i + 1 < DIGITS { (nibble + 8) >> 4 } else { 0 };
        *digit = nibble - (carry << 4);
    }
    let sign = upper.unwrap_u8().cast_signed();
    for digit in &mut digits {
        // Two's complement: -d = !d + 1.
        *digit = (*digit ^ -sign) + sign;
    }
    bytes.zeroize();
    size.zeroize();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(digits: &Digits) -> Scalar {
        digits.iter().rev().fold(Scalar::ZERO, |sum, digit| {
            let size = Scalar::from(digit.unsigned_abs());
            sum * Scalar::from(16u8) + if *digit < 0 { -size } else { size }
        })
    }

    #[test]
    fn digits_are_small_and_sum_to_the_scalar() {
        let half = Scalar::from(2u8).invert();
        let mut scalars = vec![Scalar::ONE, -Scalar::ONE, half, half - Scalar::ONE, -half];
        let mut power = Scalar::ONE;
        for i in 0..260u16 {
            power += power;
            scalars.extend([power, -power, power - Scalar::ONE, Scalar::ONE - power]);
            let mut bytes = [(i & 0xff) as u8; 32];
            bytes[31] &= 15;
            scalars.push(Scalar::from_bytes_mod_order(bytes));
            scalars.push(power * power * power + Scalar::from(i));
        }
        for k in scalars {
            let digits = recode(&k);
            assert!(digits.iter().all(|digit| usize::from(digit.unsigned_abs()) <= LARGEST_DIGIT));
            assert_eq!(value(&digits), k);
        }
    }

    #[test]
    fn upper_half_starts_where_the_negative_becomes_smaller() {
        let first = Scalar::from_canonical_bytes(UPPER_HALF).unwrap();
        assert_eq!(first + first, Scalar::ONE);
        assert_eq!(recode(&first).map(|d| -d), recode(&-first));
        assert!(recode(&-first)[DIGITS - 1] == 8);
    }
}
