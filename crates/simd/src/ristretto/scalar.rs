//! Secret scalars.

#[cfg(target_arch = "x86_64")]
use super::digits;
use core::fmt;
use curve25519_dalek::scalar::Scalar as FullScalar;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret, nonzero scalar modulo the group order ℓ =
/// 2^252 + 27742317777372353535851937790883648493.
///
/// Wiped on drop; its `Debug` output does not show it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Scalar {
    /// k/2 mod ℓ: the encoders take a point P and encode 2P, which is far cheaper for a batch.
    pub(super) half: FullScalar,
    /// The same in the form that the vector backend uses.
    #[cfg(target_arch = "x86_64")]
    pub(super) half_digits: digits::Digits,
}

impl Scalar {
    /// The scalar `bytes` mod ℓ, where the bytes are a little-endian number (RFC 9496, 4.4).
    ///
    /// Uniform bytes yield a scalar within 2^-252 of uniform. `None` if the scalar is zero, which
    /// does not happen with a working generator.
    pub fn from_uniform_bytes(bytes: &[u8; 64]) -> Option<Scalar> {
        let mut k = FullScalar::from_bytes_mod_order_wide(bytes);
        if k == FullScalar::ZERO {
            return None;
        }
        let half = k.div_by_2();
        k.zeroize();
        Some(Scalar {
            half,
            #[cfg(target_arch = "x86_64")]
            half_digits: digits::recode(&half),
        })
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(..)")
    }
}
