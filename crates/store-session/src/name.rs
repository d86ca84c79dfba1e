//! The names of runs and of their objects.

use crate::object::{END, GIVEN_UP, HELLO, SHARES};
use crate::store::Lengths;
use std::fmt;
use vesica_link::letters::{HELLO_LEN, LETTER_LEN};

/// More runs than any agreement has.
pub(crate) const MAX_RUNS: u32 = 1_000_000_000;

/// Number of hexadecimal digits of the agreement's hash in the name of a run.
const HASH_CHARS: usize = 16;

/// Bytes of the count of abandoned runs in a hello.
pub(crate) const NOTE_LEN: usize = 4;

/// Maximum bytes of a mark: the code of the reason why a party ended the run.
pub(crate) const MARK_MAX_BYTES: u64 = 1;

/// The lengths that the object `name` of a run of this crate may have.
pub(crate) fn lengths_of(name: &str) -> Lengths {
    let object = name.split_once('/').map_or(name, |(_, object)| object);
    parse_object(object).map_or(Lengths::ANY, |(_, kind)| kind.lengths())
}

/// What the names of all runs of an agreement start with.
pub(crate) fn prefix_of(agreement: &[u8; 32]) -> String {
    agreement[..HASH_CHARS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a run, which is the name of its folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunName {
    prefix: String,
    number: u32,
}

impl RunName {
    /// The run whose folder has this name; `None` if it is not the folder of a run. Anyone can make
    /// folders, so of several spellings of a name only one counts.
    pub fn parse(folder: &str) -> Option<Self> {
        let (prefix, digits) = folder.split_once('-')?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if prefix.len() != HASH_CHARS || !prefix.bytes().all(is_hex) {
            return None;
        }
        let number = digits.parse().ok().filter(|number| *number < MAX_RUNS)?;
        let run = Self { prefix: prefix.to_owned(), number };
        (run.to_string() == folder).then_some(run)
    }

    /// The first 16 hexadecimal digits of the agreement's hash.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The number of the run under its agreement, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether it can be a run of the agreement with this hash.
    pub fn is_of(&self, agreement: &[u8; 32]) -> bool {
        self.prefix == prefix_of(agreement)
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:04}", self.prefix, self.number)
    }
}

/// The kind of an object of a run, which its name gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hello,
    Shares,
    Numbered,
    /// Detached: a numbered object names it.
    Detached,
    End,
    GivenUp,
}

impl Kind {
    /// The lengths of such an object. The length of a detached one is also in the numbered object
    /// that names it.
    pub(crate) fn lengths(self) -> Lengths {
        match self {
            Kind::Hello => Lengths::exactly((HELLO_LEN + NOTE_LEN) as u64),
            Kind::Shares => Lengths::exactly(LETTER_LEN as u64),
            Kind::Numbered | Kind::Detached => Lengths::ANY,
            Kind::End | Kind::GivenUp => Lengths::up_to(MARK_MAX_BYTES),
        }
    }

    /// Whether such an object only marks that a party has ended the run, and so that the run's
    /// number is used.
    pub(crate) fn is_mark(self) -> bool {
        matches!(self, Kind::End | Kind::GivenUp)
    }
}

/// The party and the kind of the object with this name in a run's folder; `None` if it is not one
/// of ours.
pub(crate) fn parse_object(name: &str) -> Option<(u8, Kind)> {
    let (party, what) = name.split_once('-')?;
    let party = match party {
        "0" => 0,
        "1" => 1,
        _ => return None,
    };
    let kind = match what {
        HELLO => Kind::Hello,
        SHARES => Kind::Shares,
        END => Kind::End,
        GIVEN_UP => Kind::GivenUp,
        detached if is_detached(detached) => Kind::Detached,
        digits => {
            let number: u32 = digits.parse().ok()?;
            (format!("{number:06}") == digits).then_some(Kind::Numbered)?
        }
    };
    Some((party, kind))
}

/// The name of a detached object after the party: `x` and 32 hexadecimal digits.
pub(crate) fn what_of(id: &[u8; 16]) -> String {
    format!("x{:032x}", u128::from_be_bytes(*id))
}

/// Whether this is [`what_of`] some id.
pub(crate) fn is_detached(what: &str) -> bool {
    let id = what.strip_prefix('x').and_then(|digits| u128::from_str_radix(digits, 16).ok());
    id.is_some_and(|id| what_of(&id.to_be_bytes()) == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_object_has_its_lengths() {
        let run = "0011223344556677-0001";
        for (object, lengths) in [
            ("0-hello", Lengths::exactly(1316)),
            ("1-shares", Lengths::exactly(1136)),
            ("0-end", Lengths::up_to(1)),
            ("1-given-up", Lengths::up_to(1)),
            ("1-000007", Lengths::ANY),
        ] {
            assert_eq!(lengths_of(&format!("{run}/{object}")), lengths, "{object}");
        }
    }
}
