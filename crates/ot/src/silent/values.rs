use super::code::Coefficients;
use super::subfield::Subfield;
use crate::Lift;
use std::sync::LazyLock;
use vesica_core::{Block, ParameterError, Result, Security};

/// The space of the receiver's values a.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// In GF(2^128).
    Full,
    /// The space of dimension `dim` over GF(2^16) with the basis 1, X, …, X^(dim − 1): values of
    /// 16·`dim` bits. Only against a semi-honest peer.
    Subfield16 {
        /// From 1 to 6. With more, fewer of the attacker's guesses must be right than the noise
        /// allows for.
        dim: usize,
    },
}

const MAX_DIM: usize = 6;

/// The map of one space, in both directions.
struct Maps {
    lift: Lift,
    /// (p, c): the coordinates of a value are the sum of c over its set bits p.
    lower: Vec<(u32, u128)>,
}

static MAPS: [LazyLock<Maps>; MAX_DIM] = [
    LazyLock::new(|| Maps::new(1)),
    LazyLock::new(|| Maps::new(2)),
    LazyLock::new(|| Maps::new(3)),
    LazyLock::new(|| Maps::new(4)),
    LazyLock::new(|| Maps::new(5)),
    LazyLock::new(|| Maps::new(6)),
];

impl Maps {
    fn new(dim: usize) -> Self {
        let lift = Subfield::lift(dim);
        // Gauss–Jordan elimination: each vector gets a bit that is zero in all others.
        let mut basis: Vec<(u32, u128, u128)> = Vec::new();
        for i in 0..lift.width_bits() {
            let coordinates = 1 << i;
            let mut vector = (lift.apply(coordinates).get(), coordinates);
            for (bit, image, c) in &basis {
                if vector.0 >> bit & 1 == 1 {
                    vector = (vector.0 ^ image, vector.1 ^ c);
                }
            }
            let bit = vector.0.trailing_zeros();
            for (_, image, c) in &mut basis {
                if *image >> bit & 1 == 1 {
                    (*image, *c) = (*image ^ vector.0, *c ^ vector.1);
                }
            }
            basis.push((bit, vector.0, vector.1));
        }
        Self { lift, lower: basis.into_iter().map(|(bit, _, c)| (bit, c)).collect() }
    }
}

impl Values {
    /// Bits per value.
    ///
    /// # Panics
    /// If the space does not exist.
    pub fn bits(self) -> usize {
        match self {
            Values::Full => 128,
            Values::Subfield16 { .. } => self.maps().lift.width_bits(),
        }
    }

    /// Replaces each value, given as its [`bits`](Self::bits) lowest bits with zeros above, by its
    /// element. GF(2)-linear, in constant time.
    ///
    /// # Panics
    /// If the space does not exist.
    pub fn lift(self, values: &mut [Block]) {
        if self != Values::Full {
            let lift = &self.maps().lift;
            values.iter_mut().for_each(|value| *value = lift.apply(value.get()));
        }
    }

    /// The inverse of [`lift`](Self::lift).
    ///
    /// # Panics
    /// If the space does not exist.
    pub fn lower(self, values: &mut [Block]) {
        if self != Values::Full {
            let lower = &self.maps().lower;
            for value in values {
                let chosen =
                    lower.iter().map(|(bit, c)| Block::new(*c) & Block::mask(value.bit(*bit)));
                *value = chosen.fold(Block::ZERO, |sum, c| sum ^ c);
            }
        }
    }

    /// The map for one value.
    pub(super) fn map(self) -> Lift {
        match self {
            Values::Full => Lift::identity(),
            Values::Subfield16 { .. } => self.maps().lift.clone(),
        }
    }

    /// The field of the coefficients of a linear code over these values.
    pub(super) fn coefficients(self) -> Coefficients {
        match self {
            Values::Full => Coefficients::Field,
            Values::Subfield16 { .. } => Coefficients::Subfield16,
        }
    }

    /// # Errors
    /// [`ParameterError::UnsupportedOperation`] if the space does not exist, or not for this
    /// adversary.
    pub(super) fn check<S: Security>(self) -> Result<()> {
        match self {
            Values::Full => Ok(()),
            Values::Subfield16 { dim: 1..=MAX_DIM } if !S::MALICIOUS => Ok(()),
            Values::Subfield16 { .. } => Err(ParameterError::UnsupportedOperation.into()),
        }
    }

    fn maps(self) -> &'static Maps {
        match self {
            Values::Subfield16 { dim: dim @ 1..=MAX_DIM } => &MAPS[dim - 1],
            _ => panic!("a space of 1 to 6 dimensions over GF(2^16)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Malicious, SemiHonest};

    #[test]
    fn lower_undoes_lift() {
        for values in (1..=MAX_DIM).map(|dim| Values::Subfield16 { dim }).chain([Values::Full]) {
            let mask = u128::MAX >> (128 - values.bits());
            let before: Vec<Block> = (0..200)
                .map(|i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
                .map(|bits| Block::new(bits & mask))
                .collect();
            let mut blocks = before.clone();
            values.lift(&mut blocks);
            if values != Values::Full {
                assert_ne!(blocks, before);
            }
            values.lower(&mut blocks);
            assert!(blocks == before, "{values:?}");
        }
    }

    #[test]
    fn subfield_values_are_refused_against_a_malicious_peer() {
        let subfield = Values::Subfield16 { dim: 5 };
        assert!(
            subfield.check::<SemiHonest>().is_ok() && Values::Full.check::<Malicious>().is_ok()
        );
        let refused = Err(ParameterError::UnsupportedOperation.into());
        assert_eq!(subfield.check::<Malicious>(), refused);
        assert_eq!(Values::Subfield16 { dim: 7 }.check::<SemiHonest>(), refused);
        assert_eq!(Values::Subfield16 { dim: 0 }.check::<SemiHonest>(), refused);
    }
}
