//! Against whom a protocol is secure, as a type.
//!
//! A party made for one adversary is another type than one made for the other, so that a weaker
//! part can never slip into a stronger protocol by a wrong argument.

mod sealed {
    pub trait Sealed {}
}

/// The adversary a primitive withstands: [`SemiHonest`] or [`Malicious`].
pub trait Security: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Whether the primitive withstands a peer that deviates.
    const MALICIOUS: bool;

    /// The word for it in agreements and reports.
    const NAME: &'static str;
}

/// Secure against a peer that follows the protocol and tries to learn from what it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemiHonest;

/// Secure against a peer that deviates in any way: a deviation is caught or without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malicious;

impl sealed::Sealed for SemiHonest {}
impl sealed::Sealed for Malicious {}

impl Security for SemiHonest {
    const MALICIOUS: bool = false;
    const NAME: &'static str = "semi-honest";
}

impl Security for Malicious {
    const MALICIOUS: bool = true;
    const NAME: &'static str = "malicious";
}
