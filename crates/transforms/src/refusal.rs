//! Why a value has no text under a transform.

/// Why a transform refused a value. Completes the sentence "the column …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Not a date as the profile `date` writes it, `YYYY-MM-DD`.
    #[error("holds no date")]
    NotADate,
    /// Letters other than A to Z, of which a code of sounds says nothing.
    #[error("holds letters other than A to Z")]
    OtherLetters,
    /// No letter, or only letters that have no sound of their own.
    #[error("holds no letter that has a sound")]
    NoSound,
    /// No character, or none but hyphens and blanks.
    #[error("holds no word")]
    NoWord,
    /// A character that the transform puts in place of others.
    #[error("holds the control character NUL")]
    Mark,
    /// More characters than [`MAX_CHARS`](crate::MAX_CHARS).
    #[error("holds a value of more than 128 characters")]
    TooLong,
}
