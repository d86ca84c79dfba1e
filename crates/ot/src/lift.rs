use crate::bits::bits_at;
use vesica_core::Block;
use vesica_simd::gf128;

/// An injective GF(2)-linear map from bit vectors into GF(2^128); it determines the values of a
/// VOLE.
///
/// A VOLE over such values takes one correlated transfer per bit (Gilboa, "Two party RSA key
/// generation", CRYPTO 1999): with w_j = v_j + u_j·Δ for the bits u_j of a value u, Σ_j
/// lift(e_j)·w_j = Σ_j lift(e_j)·v_j + lift(u)·Δ.
#[derive(Clone, Debug)]
pub struct Lift {
    images: Vec<Block>,
}

impl Lift {
    /// All of GF(2^128): bit i is the coefficient of X^i.
    pub fn identity() -> Self {
        Self { images: (0..128).map(|i| Block::new(1 << i)).collect() }
    }

    /// The map from the i-th unit vector to `images[i]`.
    ///
    /// # Panics
    /// If there are no images, or the images are linearly dependent over GF(2): they are constants
    /// of a parameter set.
    pub fn new(images: Vec<Block>) -> Self {
        assert!(!images.is_empty(), "values of at least one bit");
        let mut basis: Vec<u128> = Vec::new();
        for image in &images {
            // The highest bit of each basis vector is zero in all others.
            let reduced = basis.iter().fold(image.get(), |rest, b| rest.min(rest ^ b));
            assert!(reduced != 0, "linearly independent images");
            basis.push(reduced);
        }
        Self { images }
    }

    /// Bits per value, 1 to 128.
    pub fn width_bits(&self) -> usize {
        self.images.len()
    }

    /// The element for the lowest [`width_bits`](Self::width_bits) bits of `value`, in constant
    /// time.
    pub fn apply(&self, value: u128) -> Block {
        let chosen = (0..).zip(&self.images);
        chosen
            .fold(Block::ZERO, |sum, (i, image)| sum ^ (*image & Block::mask(value >> i & 1 == 1)))
    }

    /// Σ_j lift(e_j)·w_j for each value in turn; a value has one column w_j per bit.
    pub(crate) fn combine_each(&self, columns: &[Block]) -> impl Iterator<Item = Block> {
        let values = columns.chunks_exact(self.width_bits());
        values.map(|columns| gf128::inner_product(&self.images, columns))
    }

    /// Value `i` of consecutive values in `bits`, which has 128 bits per block.
    pub(crate) fn value_at(&self, bits: &[Block], i: usize) -> u128 {
        bits_at(bits, i * self.width_bits(), self.width_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_maps_values_to_themselves() {
        for value in [0, 1, u128::MAX, 0x1234_5678_9abc_def0_0fed_cba9_8765_4321] {
            assert_eq!(Lift::identity().apply(value), Block::new(value));
        }
    }

    #[test]
    fn a_lift_is_linear() {
        let lift = Lift::new((0..80).map(|i| Block::new(0x1001 << i)).collect());
        let (a, b) = (0x0123_4567_89ab_cdef_0011, 0xffee_0011_2233_4455_6677);
        assert_eq!(lift.apply(a) ^ lift.apply(b), lift.apply(a ^ b));
    }

    #[test]
    #[should_panic(expected = "linearly independent")]
    fn dependent_images_are_refused() {
        let _ = Lift::new([5, 3, 6].map(Block::new).to_vec());
    }
}
