//! Normaliser profiles: named, versioned rules that make equal values equal, however people write
//! them.
//!
//! A profile never guesses: it *refuses* and counts a value that it cannot read with certainty. Its
//! version and golden vectors in `vectors/profiles.json` fix the output of a profile; any change of
//! an output raises the version.
//!
//! Text rules shared by all profiles but `exact`:
//!
//! * invisible characters, those with Unicode's `Default_Ignorable_Code_Point` property, are
//!   removed everywhere, and blanks (`White_Space`) at both ends;
//! * `="00123"`, which a spreadsheet shows as `00123`, is read as that, and so is `'00123`;
//! * text is converted to Unicode normalisation form C, so that `é` as one character equals `e`
//!   with a combining accent;
//! * a value that is empty after that is *empty*: the row has no key.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod fold;
mod profile;
mod refusal;

pub use fold::fold;
pub use profile::{CatalogueRow, Normalised, Profile, ProfileError, TypedForm, trimmed};
pub use refusal::Refusal;
