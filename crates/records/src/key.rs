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
pub(crate) enum Encoded<'a> {
    /// The encoded key.
    Key(&'a [u8]),
    /// At least one column is empty.
    Empty,
    /// No column is empty; this one, by position in the key, was refused first.
    Refused { key: usize, reason: Refusal },
}

/// Encodes rows, one after the other, into the same buffer.
pub(crate) struct KeyEncoder {
    profiles: Vec<Profile>,
    key: Vec<u8>,
    scratch: Vec<u8>,
}

impl KeyEncoder {
    pub(crate) fn new(columns: &[KeyColumn]) -> Self {
        Self {
            profiles: columns.iter().map(|column| column.profile).collect(),
            key: Vec::new(),
            scratch: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn encode(&mut self, row: &impl Row) -> Encoded<'_> {
        self.key.clear();
        let mut refused = None;
        for (key, profile) in self.profiles.iter().enumerate() {
            let cell = row.cell(key, &mut self.scratch);
            match push_cell(*profile, cell, &mut self.key) {
                Ok(Normalised::Value) => {}
                Ok(Normalised::Empty) => return Encoded::Empty,
                Err(reason) => refused = refused.or(Some((key, reason))),
            }
        }
        match refused {
            Some((key, reason)) => Encoded::Refused { key, reason },
            // Without columns there is no key.
            None if self.key.is_empty() => Encoded::Empty,
            None => Encoded::Key(&self.key),
        }
    }
}
