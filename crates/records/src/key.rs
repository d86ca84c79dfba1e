//! Which columns are the key, and the encoded key of a row.

use crate::encoding::push_cell;
use crate::profile::{Normalised, Profile, Refusal};
use crate::rows::Row;

/// One column of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name in the agreement.
    pub name: String,
    /// Its name in this party's file.
    pub column: String,
    /// The rule its values go through.
    pub profile: Profile,
}

/// What a row's key columns gave.
pub(crate) enum Encoded {
    /// An encoded key, now at the end of the buffer.
    Key,
    /// At least one column is empty.
    Empty,
    /// No column is empty; this one, by position in the key, was refused first.
    Refused { key: usize, reason: Refusal },
}

/// Encodes rows, one after the other.
pub(crate) struct KeyEncoder {
    profiles: Vec<Profile>,
    scratch: Vec<u8>,
}

impl KeyEncoder {
    pub(crate) fn new(columns: &[KeyColumn]) -> Self {
        Self {
            profiles: columns.iter().map(|column| column.profile).collect(),
            scratch: Vec::new(),
        }
    }

    /// Appends the key of `row` to `out`; without a key, `out` is left as it was.
    #[inline]
    pub(crate) fn encode(&mut self, row: &impl Row, out: &mut Vec<u8>) -> Encoded {
        let start = out.len();
        let mut refused = None;
        for (key, profile) in self.profiles.iter().enumerate() {
            let cell = row.cell(key, &mut self.scratch);
            match push_cell(*profile, cell, out) {
                Ok(Normalised::Value) => {}
                Ok(Normalised::Empty) => {
                    out.truncate(start);
                    return Encoded::Empty;
                }
                Err(reason) => refused = refused.or(Some((key, reason))),
            }
        }
        match refused {
            Some((key, reason)) => {
                out.truncate(start);
                Encoded::Refused { key, reason }
            }
            // Without columns there is no key.
            None if out.len() == start => Encoded::Empty,
            None => Encoded::Key,
        }
    }
}
