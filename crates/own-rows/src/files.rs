//! Results as files.

use crate::{Ids, OrderLine, RowSet, SharesOrder, Union};
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_core::hash::hex;
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
/// that every party's result gets.
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
    let owners_alone = !partner.is_empty();
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
