//! Results as files.

use crate::{Ids, OrderLine, RowSet, SharesOrder, Union};
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_core::hash::hex;
use vesica_core::{Item, Operation};
use vesica_records::payloads::CellType;
use vesica_tables::{
    Added, AddedCell, AddedColumn, AddedType, Origin, OutputError, OutputOptions, Progress, Source,
    TableWriter, WriteError, Written, distinct_columns, write_figures, write_with,
};

/// The column of a union that says which keys only the other party has.
const NEW: &str = "new";
/// The column of identifiers.
const ID: &str = "id";
/// The column of the numbers of the own rows of a key.
const ROWS: &str = "rows";
/// The column of the rules under which a row matches.
const RULES: &str = "matched_rules";

/// The columns that the rows of `party`'s result get, yet without cells; of an unknown party those
/// that every party's result gets. The `mark` comes last.
pub fn added_columns<'a>(
    agreement: &Agreement,
    party: Option<&str>,
    mark: Option<&'a str>,
) -> Added<'a> {
    let empty =
        |name: String, holds| AddedColumn { name, holds, of: Box::new(|_| AddedCell::Empty) };
    let rules = agreement.show_rules.then(|| empty(RULES.to_owned(), AddedType::Text));
    let partner =
        party.and_then(|party| agreement.columns_for(party)).into_iter().flat_map(|columns| {
            let types = columns.types().into_iter().map(CellType::in_result);
            columns.result_names().into_iter().zip(types)
        });
    let partner: Vec<_> = partner.map(|(name, holds)| empty(name, holds)).collect();
    let owners_alone = !partner.is_empty() || agreement.operation() != Operation::Intersection;
    Added { columns: rules.into_iter().chain(partner).collect(), mark, owners_alone }
}

impl RowSet {
    /// The columns that the rows get, with a mark if it is given.
    fn added<'a>(&'a self, mark: Option<&'a str>) -> Added<'a> {
        let rules = self.has_rules().then(|| AddedColumn {
            name: RULES.to_owned(),
            holds: AddedType::Text,
            of: Box::new(|row| AddedCell::Text(self.rules_of(row))),
        });
        let partner = self
            .partner()
            .into_iter()
            .flat_map(|partner| partner.names().iter().zip(partner.types()).enumerate());
        let owners_alone = self.partner().is_some();
        let partner = partner.map(|(at, (name, holds))| AddedColumn {
            name: name.clone(),
            holds,
            of: Box::new(move |row| self.partner_cell(row, at)),
        });
        Added { columns: rules.into_iter().chain(partner).collect(), mark, owners_alone }
    }

    /// Writes the rows of `source` in the set, or all with a `mark`, with the columns that the set
    /// holds of them.
    ///
    /// # Errors
    /// `source` has changed since it was opened or cannot be read, or the file cannot be written.
    pub fn write(
        &self,
        source: &Source,
        mark: Option<&str>,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Written, WriteError> {
        write_with(source, self.len(), self.words(), &self.added(mark), options, progress)
    }
}

impl Union {
    /// Writes a table of the keys, and for own ones the numbers of their rows from 1.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, origin: Origin<'_>, options: &OutputOptions) -> Result<(), OutputError> {
        let mut table =
            TableWriter::create(origin, &with_columns(self.columns(), [NEW, ROWS]), options)?;
        for entry in self.entries() {
            let rows = entry.rows.as_deref().map(numbers);
            let mut cells = entry.values;
            cells.push(if rows.is_none() { "yes" } else { "no" });
            cells.push(rows.as_deref().unwrap_or_default());
            table.row(&cells)?;
        }
        table.finish()
    }

    /// Writes all rows of `source`, with the number of each one's key in the union as a last column
    /// `mark`. In the counts the rows with a key are the wanted ones.
    ///
    /// # Errors
    /// As [`RowSet::write`].
    pub fn write_rows(
        &self,
        source: &Source,
        mark: &str,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Written, WriteError> {
        let cell = |number: u64| AddedCell::Integer(number.cast_signed());
        let cells = Cells { of_rows: &self.by_row(), holds: AddedType::Integer, cell };
        cells.write(source, mark, options, progress)
    }
}

impl Ids {
    /// Writes a table of the identifiers, and for own keys the numbers of their rows from 1.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, origin: Origin<'_>, options: &OutputOptions) -> Result<(), OutputError> {
        let mut names = with_columns(self.columns(), [ROWS, ID]);
        names.rotate_right(1);
        let mut table = TableWriter::create(origin, &names, options)?;
        for entry in self.entries() {
            let (id, rows) = (hex(entry.id), numbers(&entry.rows));
            let mut cells = vec![&*id];
            cells.extend(entry.values.unwrap_or_else(|| vec![""; self.columns().len()]));
            cells.push(&rows);
            table.row(&cells)?;
        }
        table.finish()
    }

    /// Writes all rows of `source`, with the identifier of each as a last column `mark`. In the
    /// counts the rows with an identifier are the wanted ones.
    ///
    /// # Errors
    /// As [`RowSet::write`].
    pub fn write_rows(
        &self,
        source: &Source,
        mark: &str,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Written, WriteError> {
        let cell = |id: [u8; Item::LEN]| AddedCell::Text(hex(&id));
        let cells = Cells { of_rows: &self.by_row(), holds: AddedType::Text, cell };
        cells.write(source, mark, options, progress)
    }
}

/// What the rows of a file get in one column.
struct Cells<'a, T, F> {
    /// `None` for a row whose cell is empty.
    of_rows: &'a [Option<T>],
    holds: AddedType,
    cell: F,
}

impl<T: Copy, F: Fn(T) -> AddedCell> Cells<'_, T, F> {
    /// Writes all rows of `source`, with these cells in a last column `name`.
    fn write(
        &self,
        source: &Source,
        name: &str,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Written, WriteError> {
        // The file may have more rows by now, which is noticed at its end.
        let of = |row: u64| self.of_rows.get(row as usize).copied().flatten();
        let column = AddedColumn {
            name: name.to_owned(),
            holds: self.holds,
            of: Box::new(move |row| of(row).map_or(AddedCell::Empty, &self.cell)),
        };
        let added = Added { columns: vec![column], mark: None, owners_alone: true };
        let len = self.of_rows.len() as u64;
        let written = write_with(source, len, &all(len), &added, options, progress)?;
        Ok(Written { wanted: self.of_rows.iter().flatten().count() as u64, ..written })
    }
}

/// A bit for each of `len` rows.
fn all(len: u64) -> Vec<u64> {
    let mut words = vec![u64::MAX; len.div_ceil(64) as usize];
    if let (Some(last), beyond @ 1..) = (words.last_mut(), len % 64) {
        *last = u64::MAX >> (64 - beyond);
    }
    words
}

impl SharesOrder {
    /// Writes a table of what is known of each share. Numbers start at 1.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, origin: Origin<'_>, options: &OutputOptions) -> Result<(), OutputError> {
        let mut table = TableWriter::create(origin, &self.columns().map(str::to_owned), options)?;
        for (number, line) in (1_u64..).zip(self.lines()) {
            let cell = match line {
                OrderLine::Rows(rows) => numbers(&rows),
                OrderLine::Place(place) => (place + 1).to_string(),
                OrderLine::Common(true) => "yes".to_owned(),
                OrderLine::Common(false) => "no".to_owned(),
            };
            table.row(&[number.to_string(), cell])?;
        }
        table.finish()
    }
}

/// Writes a table of one row with these columns.
///
/// # Errors
/// The file cannot be written.
pub fn write_totals(
    totals: &[(&str, String)],
    source: &Source,
    options: &OutputOptions,
) -> Result<(), OutputError> {
    let names: Vec<&str> = totals.iter().map(|(name, _)| *name).collect();
    // A column of values may have the same name as one of ours.
    let names = distinct_columns(&names);
    let cells = totals.iter().map(|(_, cell)| cell.clone());
    let named: Vec<_> = names.iter().map(String::as_str).zip(cells).collect();
    write_figures(source, &named, options)
}

/// The names of the key columns, then `more`, all different.
fn with_columns(keys: &[String], more: [&str; 2]) -> Vec<String> {
    distinct_columns(&keys.iter().map(String::as_str).chain(more).collect::<Vec<_>>())
}

/// Rows as a cell: their numbers from 1.
fn numbers(rows: &[u64]) -> String {
    let numbers: Vec<String> = rows.iter().map(|row| (row + 1).to_string()).collect();
    numbers.join(" ")
}
