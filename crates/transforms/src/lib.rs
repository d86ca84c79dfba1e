//! Transforms of normalised values, with which a rule matches what is alike and not equal: codes of
//! sounds, parts of texts and dates, the texts that one typing error leaves.
//!
//! A transform takes a value that a profile has made, and gives one text or several. Two values
//! *meet* if one text of the first equals one of the second. A transform never guesses: a value
//! that it does not take is *refused*, and its row has no key under the rule.
//!
//! Its version and golden vectors in `vectors/transforms.json` fix the outputs of a transform; any
//! change of an output raises the version.
//!
//! ```
//! use vesica_transforms::{Texts, Transform};
//!
//! let soundex: Transform = "soundex".parse()?;
//! let mut texts = Texts::new();
//! soundex.apply("robert", &mut texts)?;
//! soundex.apply("rupert", &mut texts)?;
//! assert!(texts.iter().eq(["R163", "R163"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod chain;
mod cologne;
mod dates;
mod double_metaphone;
mod letters;
mod nysiis;
mod parts;
mod refusal;
mod soundex;
mod texts;
mod transform;
mod typing_errors;

pub use chain::{ChainError, Room, chain, max_outputs, unsuited};
pub use refusal::Refusal;
pub use texts::Texts;
pub use transform::{CatalogueRow, Transform, TransformError};
pub use vesica_profiles::Profile;

/// The most characters of a value under transforms whose cost grows with its length.
pub const MAX_CHARS: usize = 128;
