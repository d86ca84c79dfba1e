//! The values of a column beside the keys, for a sum over the common ones.

use crate::error::{InputError, ValueFault};
use crate::profile::trimmed;
use crate::rows::Row;
use std::path::Path;
use vesica_core::Item;

/// The column whose values are added up.
///
/// A value is a whole number from 0 in decimal digits, blanks around it left out. An empty cell
/// counts as 0. The rows of one key add up, and that total must be below 2^`bits` too. What is no
/// such number is an error, never skipped: a sum over the rest would be wrong without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueColumn {
    /// Its name in this party's file.
    pub column: String,
    /// The value of a key is below 2^`bits`, 1 to 64.
    pub bits: u32,
}

/// The values of the rows that have a key, in the order of the rows.
pub(crate) struct Values<'a> {
    column: &'a ValueColumn,
    /// Its position among the columns that are read.
    at: usize,
    path: &'a Path,
    values: Vec<u64>,
    scratch: Vec<u8>,
    pub(crate) empty: u64,
}

impl<'a> Values<'a> {
    pub(crate) fn new(column: &'a ValueColumn, at: usize, path: &'a Path) -> Self {
        Self { column, at, path, values: Vec::new(), scratch: Vec::new(), empty: 0 }
    }

    /// Takes the value of a row that has a key.
    pub(crate) fn take(&mut self, row: &impl Row) -> Result<(), InputError> {
        let value = match parse(row.cell(self.at, &mut self.scratch), self.column.bits) {
            Ok(value) => value,
            Err(fault) => {
                return Err(InputError::BadValue {
                    path: self.path.to_path_buf(),
                    place: row.place(),
                    column: self.column.column.clone(),
                    fault,
                });
            }
        };
        self.empty += u64::from(value.is_none());
        self.values.push(value.unwrap_or(0));
        Ok(())
    }

    /// Sorts `items`, which are those of all rows taken, keeps each once, and adds up the values of
    /// equal ones.
    pub(crate) fn sort_distinct(&mut self, items: &mut Vec<Item>) -> Result<(), InputError> {
        let values = std::mem::take(&mut self.values);
        let mut pairs: Vec<(Item, u64)> = items.drain(..).zip(values).collect();
        pairs.sort_unstable_by_key(|(item, _)| *item);
        for (item, value) in pairs {
            match self.values.last_mut() {
                Some(total) if items.last() == Some(&item) => {
                    let sum = total.checked_add(value).filter(|sum| fits(*sum, self.column.bits));
                    *total = sum.ok_or_else(|| InputError::TotalTooLarge {
                        path: self.path.to_path_buf(),
                        column: self.column.column.clone(),
                        bits: self.column.bits,
                    })?;
                }
                _ => {
                    items.push(item);
                    self.values.push(value);
                }
            }
        }
        Ok(())
    }

    /// The values of the items, in their order.
    pub(crate) fn into_values(self) -> Vec<u64> {
        self.values
    }
}

fn fits(value: u64, bits: u32) -> bool {
    value.checked_shr(bits).unwrap_or(0) == 0
}

/// The number that a cell holds; `None` for an empty one.
fn parse(cell: &[u8], bits: u32) -> Result<Option<u64>, ValueFault> {
    let text = trimmed(cell);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() {
        return Ok(None);
    }
    if digits(&text) {
        let value = text.parse().ok().filter(|value| fits(*value, bits));
        return value.map(Some).ok_or(ValueFault::TooLarge { bits });
    }
    let is_parted = |text: &str| text.split(['.', ',', '\'', '_', ' ']).all(digits);
    Err(match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) if is_parted(rest) => ValueFault::Negative,
        None if is_parted(&text) => ValueFault::NotPlain,
        _ => ValueFault::NotANumber,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_from_zero_are_taken() {
        let of = |text: &str| parse(text.as_bytes(), 8);
        assert_eq!(of("0"), Ok(Some(0)));
        assert_eq!(of(" 0255\u{a0}"), Ok(Some(255)));
        assert_eq!(of(""), Ok(None));
        assert_eq!(of("  "), Ok(None));
        assert_eq!(parse(u64::MAX.to_string().as_bytes(), 64), Ok(Some(u64::MAX)));
    }

    #[test]
    fn other_values_are_refused_for_their_reason() {
        for (text, fault) in [
            ("256", ValueFault::TooLarge { bits: 8 }),
            ("18446744073709551616", ValueFault::TooLarge { bits: 8 }),
            ("-1", ValueFault::Negative),
            ("-1.5", ValueFault::Negative),
            ("1.5", ValueFault::NotPlain),
            ("1.0", ValueFault::NotPlain),
            ("1,000", ValueFault::NotPlain),
            ("1e3", ValueFault::NotANumber),
            ("+1", ValueFault::NotANumber),
            ("twelve", ValueFault::NotANumber),
            (".", ValueFault::NotANumber),
            ("-", ValueFault::NotANumber),
        ] {
            assert_eq!(parse(text.as_bytes(), 8), Err(fault), "{text}");
        }
    }
}
