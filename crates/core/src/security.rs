//! The adversary of a protocol, as a type.
//!
//! A party for one adversary has a different type than a party for the other, so a wrong argument
//! can never put a weaker part into a stronger protocol.

mod sealed {
    pub trait Sealed {}
}

/// The adversary a primitive withstands: [`SemiHonest`] or [`Malicious`].
pub trait Security: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Whether the primitive withstands a peer that deviates.
    const MALICIOUS: bool;

    /// The name in agreements and reports.
    const NAME: &'static str;
}

/// Secure against a peer that follows the protocol and tries to learn from its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemiHonest;

/// Secure against a peer that deviates in any way: a deviation is detected or has no effect.
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
