//! The error of invalid encodings.

/// An element given to [`decode_mul`](super::decode_mul) is not the encoding of a group element, or
/// is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("element {index} is not an encoded group element other than the identity")]
pub struct InvalidPoint {
    /// Position of the first invalid element, from 0.
    pub index: usize,
}
