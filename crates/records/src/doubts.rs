//! What a pass notices of keys that can be used and may cost matches, or match what they should not.
//!
//! * [`float_texts`] — numbers that look like floating-point ones.
//! * [`frequent`] — keys of many rows, placeholders mostly.
//! * [`misfit`] — columns whose profile refuses many values.

pub(crate) mod float_texts;
pub(crate) mod frequent;
pub(crate) mod misfit;

pub use float_texts::FloatTexts;
pub use frequent::{FrequentKey, PartShape};
pub use misfit::Misfit;
