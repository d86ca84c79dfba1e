//! Sizes of sets, as options give them.

use std::str::FromStr;
use vesica_core::params::MAX_SET_LEN;

/// Sizes of the two sets, in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// n_x; with a helper, of all parties but the second.
    pub sender: u64,
    /// n_y; with a helper, of the second party.
    pub receiver: u64,
}

impl Sizes {
    /// The size of the smaller set.
    pub fn smaller(self) -> u64 {
        self.sender.min(self.receiver)
    }

    /// The size of the larger set.
    pub fn larger(self) -> u64 {
        self.sender.max(self.receiver)
    }
}

impl FromStr for Sizes {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        match text.split_once(',') {
            Some((sender, receiver)) => {
                Ok(Sizes { sender: size(sender)?, receiver: size(receiver)? })
            }
            None => size(text).map(|n| Sizes { sender: n, receiver: n }),
        }
    }
}

/// A text is not the size of a set.
#[derive(Debug, thiserror::Error)]
#[error(
    "a size is a number below 2^32, for example 5000, or a power of two or ten, for example 2^20 \
     or 10^6"
)]
pub struct SizeError;

/// The size of a set that `text` gives: a number, or a power of two or ten.
///
/// # Errors
/// [`SizeError`] for any other text, and from 2^32 on.
pub fn size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim().replace('_', "");
    let n = match text.split_once('^') {
        Some((base @ ("2" | "10"), power)) => {
            let base: u64 = base.parse().map_err(|_| SizeError)?;
            base.checked_pow(power.parse().map_err(|_| SizeError)?).ok_or(SizeError)?
        }
        _ => text.parse().map_err(|_| SizeError)?,
    };
    if n <= MAX_SET_LEN { Ok(n) } else { Err(SizeError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_or_powers_of_two() {
        let both = |n| Some(Sizes { sender: n, receiver: n });
        assert_eq!("5000".parse().ok(), both(5000));
        assert_eq!("2^20".parse().ok(), both(1 << 20));
        assert_eq!("1_000".parse().ok(), both(1000));
        assert_eq!("10^6".parse().ok(), both(1_000_000));
        assert_eq!("2^20,2^12".parse().ok(), Some(Sizes { sender: 1 << 20, receiver: 1 << 12 }));
        for bad in ["", "2^", "3^4", "2^64", "2^32", "x", "1,2,3", "-1"] {
            assert!(bad.parse::<Sizes>().is_err(), "{bad}");
        }
    }
}
