//! K = GF(2^16) inside F = GF(2^128), and the spaces K + K·X + … + K·X^(dim − 1).

use crate::Lift;
use std::sync::LazyLock;
use vesica_core::Block;
use vesica_simd::gf128;

/// The subfield of 2^16 elements, with the basis 1, θ, …, θ^15 over GF(2).
pub(super) struct Subfield {
    basis: [Block; 16],
    /// The elements for the low byte and for the high byte of 16 coordinates.
    bytes: [[Block; 256]; 2],
}

static SUBFIELD: LazyLock<Subfield> = LazyLock::new(Subfield::new);

impl Subfield {
    fn new() -> Self {
        let cofactor = u128::MAX / 0xffff;
        let independent = |theta: &Block| {
            let mut span = vec![Block::ZERO];
            (0..16).all(|i| {
                let power = gf128::pow(*theta, i);
                let new = !span.contains(&power);
                span.extend(span.clone().iter().map(|x| *x ^ power));
                new
            })
        };
        // A power of X + c that generates the subfield; usually the first c works.
        let theta = (0..)
            .map(|c| gf128::pow(Block::new(2 ^ c), cofactor))
            .find(independent)
            .expect("the multiplicative group of a field is cyclic");
        let basis = std::array::from_fn(|i| gf128::pow(theta, i as u128));
        let element = |bits: usize, basis: &[Block]| {
            let chosen = basis.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            chosen.fold(Block::ZERO, |sum, (_, b)| sum ^ *b)
        };
        Self {
            basis,
            bytes: [&basis[..8], &basis[8..]]
                .map(|basis| std::array::from_fn(|bits| element(bits, basis))),
        }
    }

    /// The element with these coordinates, which must be public because they form an address.
    pub(super) fn public(coordinates: u16) -> Block {
        let subfield = &*SUBFIELD;
        let [low, high] = coordinates.to_le_bytes();
        subfield.bytes[0][usize::from(low)] ^ subfield.bytes[1][usize::from(high)]
    }

    /// The elements for the low byte and for the high byte of the coordinates; their sum is the
    /// element.
    pub(super) fn public_tables() -> &'static [[Block; 256]; 2] {
        &SUBFIELD.bytes
    }

    /// The map from 16·`dim` bits onto the space, coordinate by coordinate.
    pub(super) fn lift(dim: usize) -> Lift {
        let power = |i: usize| Block::new(1 << i);
        let images = (0..16 * dim).map(|i| gf128::mul(SUBFIELD.basis[i % 16], power(i / 16)));
        Lift::new(images.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subfield_is_closed_and_fixed_by_frobenius() {
        let elements = [0, 1, 2, 0x1234, 0xffff].map(Subfield::public);
        for a in elements {
            for b in elements {
                let product = gf128::mul(a, b);
                assert_eq!(gf128::pow(product, 1 << 16), product);
            }
        }
        assert_ne!(gf128::pow(Block::new(2), 1 << 16), Block::new(2));
        assert_eq!(Subfield::public(1), Block::ONE);
    }

    #[test]
    fn the_spaces_are_closed_under_the_subfield() {
        for dim in [1, 5, 6, 8] {
            let lift = Subfield::lift(dim);
            let value = lift.apply(0x1234_5678_9abc_def0_1122_3344_5566_7788);
            let scaled = gf128::mul(value, Subfield::public(0xbeef));
            let mut images: Vec<Block> = (0..16 * dim).map(|i| lift.apply(1 << i)).collect();
            let _ = Lift::new(images.clone());
            images.push(scaled);
            let spanned = std::panic::catch_unwind(|| Lift::new(images)).is_err();
            assert!(spanned, "the scaled value left the space");
        }
    }
}
