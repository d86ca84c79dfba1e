use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, CtEq, NonZero, Odd, Resize};
use vesica_core::group_operations::{self, GroupOperation};
use vesica_core::{Secret, hash};
use zeroize::Zeroize;

/// Extra bytes of the input of a reduction to a uniform residue: the result is within 2^-128 of
/// uniform.
const UNIFORM_EXTRA_BYTES: usize = 16;

/// An odd modulus of whole 64-bit words, with the constants for multiplication.
#[derive(Clone)]
pub struct Modulus {
    params: BoxedMontyParams,
    divisor: NonZero<BoxedUint>,
}

impl Modulus {
    /// The modulus from a big-endian number; `None` if it is even or 1.
    ///
    /// The time depends only on the length.
    pub fn from_be_bytes(bytes: &[u8]) -> Option<Self> {
        let bits = 8 * u32::try_from(bytes.len()).ok()?;
        Self::new(BoxedUint::from_be_slice(bytes, bits).ok()?)
    }

    pub(crate) fn new(value: BoxedUint) -> Option<Self> {
        if value.is_one().to_bool() {
            return None;
        }
        let divisor = NonZero::new(value.clone()).into_option()?;
        let params = BoxedMontyParams::new(Odd::new(value).into_option()?);
        Some(Self { params, divisor })
    }

    /// Length of an encoded residue in bytes: the length of the modulus in whole words.
    pub fn len_bytes(&self) -> usize {
        self.params.bits_precision() as usize / 8
    }

    /// The modulus, big-endian, [`len_bytes`](Self::len_bytes) long.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        self.divisor.to_be_bytes().into_vec()
    }

    /// The residue 1.
    pub fn one(&self) -> Residue {
        Residue(BoxedMontyForm::one(&self.params))
    }

    /// The residue from a big-endian number of [`len_bytes`](Self::len_bytes) bytes; `None` unless
    /// it is above 0 and below the modulus.
    pub fn decode(&self, bytes: &[u8]) -> Option<Residue> {
        let bits = self.params.bits_precision();
        let value = BoxedUint::from_be_slice(bytes, bits).ok()?;
        let in_range = value.is_nonzero().to_bool() && value < *self.integer();
        in_range.then(|| Residue(BoxedMontyForm::new(value, &self.params)))
    }

    /// The residue of a big-endian number of any length. Uniform within 2^-128 if the bytes are
    /// uniform and exceed the modulus by 16 bytes.
    pub fn reduce(&self, bytes: &[u8]) -> Residue {
        let bits = 8 * bytes.len() as u32;
        let value = Secret::new(BoxedUint::from_be_slice_truncated(bytes, bits));
        self.residue(value.expose())
    }

    /// Hashes to residues: BLAKE3 under `label` over `parts`, as in [`hash::derive_into`], with 128
    /// bits more than the modulus, reduced.
    pub fn hash(&self, label: &'static str, parts: &[&[u8]]) -> Residue {
        group_operations::add(GroupOperation::HashToGroup, 1);
        let mut bytes = Secret::new(vec![0; self.len_bytes() + UNIFORM_EXTRA_BYTES]);
        hash::derive_into(label, parts, bytes.expose_mut());
        self.reduce(bytes.expose())
    }

    /// The inverses of all `residues`; `None` if one is not invertible.
    ///
    /// One inversion and three products per residue (P. Montgomery, "Speeding the Pollard and
    /// elliptic curve methods of factorization", Mathematics of Computation 1987).
    pub fn invert_all(&self, residues: &[Residue]) -> Option<Vec<Residue>> {
        let mut product = self.one();
        let mut before = Vec::with_capacity(residues.len());
        for residue in residues {
            let next = product.mul(residue);
            before.push(std::mem::replace(&mut product, next));
        }
        let mut rest = product.invert()?;
        let mut inverses = Vec::with_capacity(residues.len());
        for (residue, before) in residues.iter().zip(&before).rev() {
            inverses.push(before.mul(&rest));
            rest = rest.mul(residue);
        }
        inverses.reverse();
        Some(inverses)
    }

    pub(crate) fn integer(&self) -> &BoxedUint {
        self.divisor.as_ref()
    }

    /// The residue of `value`, which can have any size.
    pub(crate) fn residue(&self, value: &BoxedUint) -> Residue {
        let reduced = BoxedUint::rem(value, &self.divisor);
        let resized = reduced.resize(self.params.bits_precision());
        Residue(BoxedMontyForm::new(resized, &self.params))
    }
}

/// A residue; wiped when dropped. All residues in an expression must have the same modulus.
#[derive(Clone)]
pub struct Residue(pub(crate) BoxedMontyForm);

impl Residue {
    /// The product.
    pub fn mul(&self, other: &Residue) -> Residue {
        Residue(BoxedMontyForm::mul(&self.0, &other.0))
    }

    /// The square.
    pub fn square(&self) -> Residue {
        Residue(self.0.square())
    }

    /// The inverse, if it exists.
    pub fn invert(&self) -> Option<Residue> {
        group_operations::add(GroupOperation::Inversion, 1);
        self.0.invert().into_option().map(Residue)
    }

    /// The power. The time depends only on the length of the exponent.
    pub fn pow(&self, exponent: &Exponent) -> Residue {
        group_operations::add(GroupOperation::Power, 1);
        Residue(self.0.pow_bounded_exp(exponent.0.expose(), exponent.bits()))
    }

    /// Appends the residue to `out`: big-endian, [`Modulus::len_bytes`] long.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let integer = Secret::new(self.0.retrieve());
        out.extend_from_slice(&integer.expose().to_be_bytes());
    }

    /// Whether both are equal, in constant time.
    pub fn equals(&self, other: &Residue) -> bool {
        self.0.as_montgomery().ct_eq(other.0.as_montgomery()).to_bool()
    }
}

impl Drop for Residue {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// A secret exponent of a public length; wiped when dropped.
pub struct Exponent(Secret<BoxedUint>);

impl Exponent {
    /// The exponent from a big-endian number.
    pub fn from_be_bytes(bytes: &[u8]) -> Self {
        Self::new(BoxedUint::from_be_slice_truncated(bytes, 8 * bytes.len() as u32))
    }

    pub(crate) fn new(value: BoxedUint) -> Self {
        Self(Secret::new(value))
    }

    /// Length in bits, including leading zeros, in whole words.
    pub fn bits(&self) -> u32 {
        self.0.expose().bits_precision()
    }

    pub(crate) fn words(&self) -> &[u64] {
        self.0.expose().as_words()
    }
}
