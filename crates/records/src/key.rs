//! The key columns, and the encoded key of a row.

use crate::encoding::push_cell;
use crate::rows::Row;
use vesica_profiles::{Normalised, Profile, Refusal};

/// One column of the key.
///
/// ```
/// use std::ops::ControlFlow;
/// use vesica_core::hash::ItemHash;
/// use vesica_records::{KeyColumn, KeyItems, KeyLimits, ReadOptions, Source, read_keys};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("customers.csv");
/// std::fs::write(&file, "id,mail\n1,Ann@example.org\n2,ann@example.org \n3,bob@example.org\n4,\n")?;
///
/// let source = Source::open(&file, &ReadOptions::default())?;
/// let key = [KeyColumn {
///     name: "email".into(),
///     column: "mail".into(),
///     profile: "email".parse()?,
/// }];
/// let hash = KeyItems::digests(ItemHash::new("an example", &[]));
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let keys = read_keys(&source, &key, &hash, &KeyLimits::default(), go_on)?;
/// assert_eq!(keys.items.len(), 2);
/// let counts = &keys.counts;
/// assert_eq!((counts.rows, counts.duplicates, counts.empty), (4, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name in the agreement.
    pub name: String,
    /// Its name in this party's file.
    pub column: String,
    /// The rule that normalises its values.
    pub profile: Profile,
}

/// The result for a row's key columns.
pub(crate) enum Encoded {
    /// An encoded key, now at the end of the buffer.
    Key,
    /// At least one column is empty.
    Empty,
    /// No column is empty; this one, by its position in the key, was the first refused.
    Refused { key: usize, reason: Refusal },
}

/// Encodes rows in sequence.
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

    /// Appends the key of `row` to `out`; without a key, `out` is unchanged.
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
