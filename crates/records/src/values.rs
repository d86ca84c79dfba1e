//! The values of columns, which are read with the keys for sums and shares of the common ones.

use std::fmt;
use vesica_inputs::error::{InFile, InputError, Place, ValueFault};
use vesica_profiles::trimmed;
use vesica_tables::Row;

/// How the values of several rows with one key are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are summed, column by column.
    #[default]
    Sum,
    /// The values of the first row count.
    First,
    /// The file is refused.
    Refuse,
}

impl Duplicates {
    /// All ways.
    pub const ALL: &[Duplicates] = &[Duplicates::Sum, Duplicates::First, Duplicates::Refuse];

    /// The name in an agreement.
    pub const fn name(self) -> &'static str {
        match self {
            Duplicates::Sum => "sum",
            Duplicates::First => "first",
            Duplicates::Refuse => "refuse",
        }
    }
}

impl fmt::Display for Duplicates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Groups of rows, by the text of a column. Blanks around it are ignored; a row with an empty cell
/// is in no group. A text that names no group is an error, never skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The column's name in this party's file.
    pub by: String,
    /// The texts, without blanks around them, at least one and no two alike.
    pub names: Vec<String>,
}

/// The columns of values.
///
/// A value is a whole number in decimal digits; blanks around it are ignored, and a minus sign is
/// allowed where values are signed. An empty cell counts as 0. The combined value of a key must fit
/// `bits` too. Anything else is an error, never skipped: a sum over the rest would be silently
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueColumns {
    /// Their names in this party's file. At least one, or none with `groups`: then a row has the
    /// value 1.
    pub columns: Vec<String>,
    /// Groups of rows: a row has its values in its own group, and 0 in all others.
    pub groups: Option<Groups>,
    /// The value of a key is below 2^`bits`, 1 to 64; with a sign from −2^(`bits`−1) to
    /// 2^(`bits`−1) − 1.
    pub bits: u32,
    /// Whether values may be negative.
    pub signed: bool,
    /// How rows with the same key are combined.
    pub duplicates: Duplicates,
}

impl ValueColumns {
    /// How many values a key has: one for each column in each group.
    fn width(&self) -> usize {
        self.columns.len().max(1) * self.groups()
    }

    fn groups(&self) -> usize {
        self.groups.as_ref().map_or(1, |groups| groups.names.len())
    }

    /// The names of all columns, the group column last.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().chain(self.groups.iter().map(|groups| &groups.by))
    }

    /// The column that value `index` of a key comes from.
    fn column(&self, index: usize) -> &str {
        let by = self.groups.as_ref().map_or("", |groups| &groups.by);
        self.columns.get(index / self.groups()).map_or(by, String::as_str)
    }

    /// The number of a stored value: 64 bits, two's complement.
    fn number(&self, kept: u64) -> i128 {
        if self.signed { i128::from(kept as i64) } else { i128::from(kept) }
    }
}

/// The smallest and the largest number of `bits` bits, 1 to 64.
fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The values of the rows that have a key, in the order of the rows; the values of one row are
/// adjacent.
pub(crate) struct Values<'a> {
    columns: &'a ValueColumns,
    /// Position of the first among the columns that are read.
    at: usize,
    kept: Vec<u64>,
    scratch: Vec<u8>,
    /// The values of one row, one a column.
    row: Vec<u64>,
    pub(crate) empty: u64,
}

impl<'a> Values<'a> {
    pub(crate) fn new(columns: &'a ValueColumns, at: usize) -> Self {
        let (kept, scratch, row) = (Vec::new(), Vec::new(), Vec::new());
        Self { columns, at, kept, scratch, row, empty: 0 }
    }

    /// Adds the values of a row that has a key. A value of a column whose fault `bad` accepts
    /// counts as 0.
    pub(crate) fn take(
        &mut self,
        row: &impl Row,
        mut bad: impl FnMut(&str, ValueFault) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let mut is_empty = false;
        self.row.clear();
        for (index, column) in self.columns.columns.iter().enumerate() {
            let (bits, signed) = (self.columns.bits, self.columns.signed);
            let cell = row.cell(self.at + index, &mut self.scratch);
            let value = match parse(cell, bits, signed) {
                Ok(value) => value,
                Err(why) => {
                    bad(column, why)?;
                    Some(0)
                }
            };
            is_empty |= value.is_none();
            self.row.push(value.unwrap_or(0));
        }
        if let Some(groups) = &self.columns.groups {
            let at = self.at + self.columns.columns.len();
            let name = trimmed(row.cell(at, &mut self.scratch));
            let own = groups.names.iter().position(|group| *group == *name);
            if own.is_none() && !name.is_empty() {
                bad(&groups.by, ValueFault::NoGroup)?;
            }
            is_empty |= name.is_empty();
            if self.row.is_empty() {
                self.row.push(1);
            }
            for value in &self.row {
                let in_group = |group| if Some(group) == own { *value } else { 0 };
                self.kept.extend((0..groups.names.len()).map(in_group));
            }
        } else {
            self.kept.append(&mut self.row);
        }
        self.empty += u64::from(is_empty);
        Ok(())
    }

    /// Sorts the values into the order in which `groups` lists the rows, values of one key
    /// together, and combines each group. `places` are the places of the rows; `is_last` means that
    /// no more rows follow. If `fault` accepts the error of a group, the group has the value of its
    /// first row, or 0.
    pub(crate) fn merge<'g>(
        &mut self,
        groups: impl Iterator<Item = &'g [u32]> + Clone,
        places: &Places,
        is_last: bool,
        fault: &mut dyn FnMut(InputError, &InFile) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let width = self.columns.width();
        if self.columns.duplicates == Duplicates::Refuse {
            places.refuse_repeated(groups.clone(), fault)?;
        }
        let mut merged = Vec::new();
        for group in groups {
            for column in 0..width {
                let of = |row: u32| self.kept[row as usize * width + column];
                merged.push(match (self.columns.duplicates, group) {
                    (_, [only]) => of(*only),
                    (Duplicates::Sum, rows) => match self.total(rows, of, is_last) {
                        Ok(total) => total,
                        Err(row) => {
                            let (file, place) = places.get(row);
                            fault(self.too_large(file, place, column), file)?;
                            0
                        }
                    },
                    (_, rows) => of(rows[0]),
                });
            }
        }
        self.kept = merged;
        Ok(())
    }

    /// The error for a sum of the values of a column that leaves the range at `place`.
    fn too_large(&self, file: &InFile, place: Place, column: usize) -> InputError {
        let (path, column) = (file.path.to_path_buf(), self.columns.column(column).to_owned());
        let ValueColumns { bits, signed, .. } = *self.columns;
        InputError::TotalTooLarge { path, place, column, bits, signed }
    }

    /// The sum of the values of `rows`, or the row at which it leaves the range. Intermediate sums
    /// may be out of it.
    fn total(&self, rows: &[u32], of: impl Fn(u32) -> u64, is_last: bool) -> Result<u64, u32> {
        // Values stored between two parts of a large file have 64 bits under any agreement.
        let bits = if is_last { self.columns.bits } else { u64::BITS };
        let (min, max) = range(bits, self.columns.signed);
        let mut total = 0;
        let mut left_at = None;
        for row in rows {
            total += self.columns.number(of(*row));
            if (min..=max).contains(&total) {
                left_at = None;
            } else {
                left_at = left_at.or(Some(*row));
            }
        }
        left_at.map_or(Ok(total as u64), Err)
    }

    /// The values of the items, in their order.
    pub(crate) fn into_values(self) -> Vec<u64> {
        self.kept
    }
}

/// The places of the rows: all lines, or all row numbers.
#[derive(Default)]
pub(crate) struct Places {
    /// Within all files, as if these were one: ascending where they are pushed.
    numbers: Vec<u64>,
    last: u64,
    are_rows: bool,
    /// The files, each with the number before its first place.
    files: Vec<(u64, InFile)>,
}

impl Places {
    /// The places that follow are in `file`.
    pub(crate) fn begin(&mut self, file: &InFile) {
        match self.files.last_mut() {
            // No place is in the one before.
            Some((before, known)) if *before == self.last => *known = file.clone(),
            _ => self.files.push((self.last, file.clone())),
        }
    }

    pub(crate) fn push(&mut self, place: Place) {
        let (number, is_row) = match place {
            Place::Line(number) | Place::PartLine { line: number, .. } => (number, false),
            Place::Row(number) | Place::PartRow { row: number, .. } => (number, true),
        };
        self.last = self.files.last().map_or(0, |(before, _)| *before) + number;
        self.numbers.push(self.last);
        self.are_rows = is_row;
    }

    /// The file of a row, and the row's place in it.
    fn get(&self, row: u32) -> (&InFile, Place) {
        let number = self.numbers[row as usize];
        let file = self.files.partition_point(|(before, _)| *before < number);
        let (before, file) = &self.files[file.saturating_sub(1)];
        let number = number - before;
        (file, if self.are_rows { Place::Row(number) } else { Place::Line(number) })
    }

    /// Calls `fault` for each row with the key of an earlier one.
    pub(crate) fn refuse_repeated<'g>(
        &self,
        groups: impl Iterator<Item = &'g [u32]>,
        fault: &mut dyn FnMut(InputError, &InFile) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        // In the order of the file, so that the first is reported.
        let mut repeated: Vec<(u32, u32)> =
            groups.flat_map(|group| group[1..].iter().map(|row| (*row, group[0]))).collect();
        repeated.sort_unstable();
        for (second, first) in repeated {
            let (earlier, first) = self.get(first);
            let (file, second) = self.get(second);
            let first = if earlier.part == file.part { first } else { earlier.place(first) };
            let path = file.path.to_path_buf();
            fault(InputError::DuplicateKey { path, first, second }, file)?;
        }
        Ok(())
    }

    /// Keeps the first place of each group, in the order of the groups.
    pub(crate) fn keep_first<'g>(&mut self, groups: impl Iterator<Item = &'g [u32]>) {
        self.numbers = groups.map(|group| self.numbers[group[0] as usize]).collect();
    }
}

/// The number of `bits` bits in a cell, in stored form; `None` for an empty cell.
pub(crate) fn parse(cell: &[u8], bits: u32, signed: bool) -> Result<Option<u64>, ValueFault> {
    let text = trimmed(cell);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() {
        return Ok(None);
    }
    let minus = text.strip_prefix(['-', '\u{2212}']);
    if digits(minus.unwrap_or(&text)) && (signed || minus.is_none()) {
        let number = minus
            .unwrap_or(&text)
            .parse::<i128>()
            .ok()
            .map(|number| if minus.is_some() { -number } else { number });
        let (min, max) = range(bits, signed);
        return match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(Some(number as u64)),
            None if signed => Err(ValueFault::OutOfRange { bits }),
            None => Err(ValueFault::TooLarge { bits }),
        };
    }
    let is_parted = |text: &str| text.split(['.', ',', '\'', '_', ' ']).all(digits);
    Err(match minus {
        Some(rest) if is_parted(rest) && !signed => ValueFault::Negative,
        rest if is_parted(rest.unwrap_or(&text)) => ValueFault::NotPlain,
        _ => ValueFault::NotANumber,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, bits: u32, signed: bool) -> Result<Option<u64>, ValueFault> {
        parse(text.as_bytes(), bits, signed)
    }

    #[test]
    fn whole_numbers_from_zero_are_accepted() {
        assert_eq!(of("0", 8, false), Ok(Some(0)));
        assert_eq!(of(" 0255\u{a0}", 8, false), Ok(Some(255)));
        assert_eq!(of("", 8, false), Ok(None));
        assert_eq!(of("  ", 8, true), Ok(None));
        assert_eq!(of(&u64::MAX.to_string(), 64, false), Ok(Some(u64::MAX)));
    }

    #[test]
    fn signed_numbers_are_accepted_where_values_are_signed() {
        assert_eq!(of("-128", 8, true), Ok(Some(-128_i64 as u64)));
        assert_eq!(of("\u{2212}1", 8, true), Ok(Some(u64::MAX)));
        assert_eq!(of("-0", 1, true), Ok(Some(0)));
        assert_eq!(of("127", 8, true), Ok(Some(127)));
        assert_eq!(of(&i64::MIN.to_string(), 64, true), Ok(Some(i64::MIN as u64)));
        for text in ["128", "-129", "9223372036854775808999999999999999999999999999"] {
            assert_eq!(of(text, 8, true), Err(ValueFault::OutOfRange { bits: 8 }), "{text}");
        }
        for text in ["-1.5", "1,000", "-1 000"] {
            assert_eq!(of(text, 8, true), Err(ValueFault::NotPlain), "{text}");
        }
        for text in ["--1", "-", "+1", "1-"] {
            assert_eq!(of(text, 8, true), Err(ValueFault::NotANumber), "{text}");
        }
    }

    #[test]
    fn other_values_are_refused_with_their_reason() {
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
            assert_eq!(of(text, 8, false), Err(fault), "{text}");
        }
    }
}
