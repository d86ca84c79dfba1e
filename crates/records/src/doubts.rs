//! Findings about keys that can be used but may cost matches, or cause wrong ones.
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
