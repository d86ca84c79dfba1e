//! Transforms one after another.

use crate::refusal::Refusal;
use crate::texts::Texts;
use crate::transform::{Transform, Values};
use std::collections::HashSet;
use vesica_profiles::Profile;

/// Memory of [`chain`], for many values.
#[derive(Clone, Debug, Default)]
pub struct Room {
    now: Texts,
    next: Texts,
}

/// Why a value has no texts under several transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// A transform made no text of any that the one before it gave.
    #[error(transparent)]
    Refused(Refusal),
    /// There are more texts than were agreed. None is left out.
    #[error("gives more than {most} texts")]
    TooMany {
        /// The agreed number.
        most: usize,
    },
}

/// The position of the first of `transforms` that refuses every value which the profile and the
/// transforms before it can give.
///
/// ```
/// use vesica_transforms::{Profile, Transform, unsuited};
///
/// let transforms: [Transform; 2] = ["soundex".parse()?, "year".parse()?];
/// assert_eq!(unsuited("person-name".parse()?, &transforms), Some(1));
/// assert_eq!(unsuited("digits".parse()?, &transforms), Some(0));
/// assert_eq!(unsuited("date".parse()?, &transforms[1..]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unsuited(profile: Profile, transforms: &[Transform]) -> Option<usize> {
    let mut values = Values::of(profile);
    transforms.iter().position(|transform| {
        let refuses = !transform.suits(values);
        values = transform.gives(values);
        refuses
    })
}

/// Applies `transforms` one after another, each to all texts of the one before: at least one text,
/// each only once. Without transforms it is the value.
///
/// A text that a transform refuses gives none; the value is refused if no text is left. Two texts
/// of one value, such as the words of a name, can differ in that.
///
/// # Errors
/// [`ChainError::Refused`] with the first reason if no text is left, [`ChainError::TooMany`] if
/// after any of the transforms there are more than `most`.
///
/// ```
/// use vesica_transforms::{Room, Transform, chain};
///
/// let transforms: [Transform; 2] = ["split".parse()?, "soundex".parse()?];
/// let mut room = Room::default();
/// let texts = chain(&transforms, "garcia marquez", 8, &mut room)?;
/// assert!(texts.iter().eq(["G620", "M622", "G625"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn chain<'a>(
    transforms: &[Transform],
    value: &str,
    most: usize,
    room: &'a mut Room,
) -> Result<&'a Texts, ChainError> {
    let Room { now, next } = room;
    now.clear();
    now.push(value);
    for transform in transforms {
        next.clear();
        let mut refused = None;
        for text in now.iter() {
            if let Err(reason) = transform.apply(text, next) {
                refused.get_or_insert(reason);
            }
        }
        if let Some(reason) = refused
            && next.is_empty()
        {
            return Err(ChainError::Refused(reason));
        }
        if now.len() == 1 {
            std::mem::swap(now, next);
        } else {
            now.clear();
            let mut seen = HashSet::new();
            next.iter().filter(|text| seen.insert(*text)).for_each(|text| now.push(text));
        }
        if now.len() > most {
            return Err(ChainError::TooMany { most });
        }
    }
    Ok(now)
}

/// The most texts that `transforms` one after another give for a value of at most `max_len`
/// characters: what an agreement multiplies `max_rows` by.
pub fn max_outputs(transforms: &[Transform], max_len: usize) -> usize {
    let (mut most, mut len) = (1_usize, max_len);
    for transform in transforms {
        most = most.saturating_mul(transform.max_outputs(len));
        len = transform.max_output_len(len);
    }
    most
}
