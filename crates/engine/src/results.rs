//! What a run answered, as a file.

use crate::Error;
use crate::agreement::{Agreement, Question};
use crate::answer::{Answer, NamedIds, Union};
use crate::rows;
use crate::shares::SharesFile;
use std::fmt::Write;
use std::ops::ControlFlow;
use vesica_core::{Item, Operation, Role, SessionId};
use vesica_records::{
    KeyColumn, Origin, OutputOptions, Progress, RowNumbers, Source, TableWriter, WriteError,
    check_document_output, check_output, check_table_output, distinct_columns, key_values,
    write_document, write_figures, write_rows,
};

/// The column of a union that says which keys only the other party has.
const NEW: &str = "new";
/// The column of identifiers.
const ID: &str = "id";
/// The column of the numbers of the own rows of a key.
const ROWS: &str = "rows";

/// Whether the result of `agreement` is of use in a file only.
pub(crate) fn must_be_kept(agreement: &Agreement) -> bool {
    !matches!(agreement.operation(), Operation::Cardinality | Operation::Threshold | Operation::Sum)
}

/// Checks, before any data moves, that the result can be written.
pub(crate) fn check(
    agreement: &Agreement,
    source: &Source,
    output: &OutputOptions,
) -> Result<(), WriteError> {
    match agreement.operation() {
        Operation::Intersection => check_output(source, output)?,
        Operation::Shares | Operation::SharedValues => check_document_output(source, output)?,
        _ => check_table_output(source, output)?,
    }
    Ok(())
}

/// What a result is made of besides the answer.
pub(crate) struct Made<'a> {
    pub(crate) agreement: &'a Agreement,
    pub(crate) role: Role,
    pub(crate) session: &'a SessionId,
    pub(crate) source: &'a Source,
    pub(crate) key: &'a [KeyColumn],
    /// The items of all rows, where the result is rows.
    pub(crate) items: &'a [Item],
    /// The rows of each key, where they were read.
    pub(crate) rows: Option<&'a RowNumbers>,
}

impl Made<'_> {
    /// Writes `answer`; gives the number of rows, where it is rows of one's own.
    pub(crate) fn write(
        &self,
        answer: &Answer,
        output: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<u64>, Error> {
        match answer {
            Answer::Items(items) => {
                let (rows, wanted) = (self.items.len() as u64, rows::bits(self.items, items));
                let written = write_rows(self.source, rows, &wanted, output, progress)?;
                return Ok(Some(written.rows));
            }
            Answer::Union(union) => self.union(union, output)?,
            Answer::Ids(ids) => self.ids(ids, output)?,
            Answer::Shares(shares) => {
                let file = SharesFile::new(self.agreement, self.role, self.session, shares);
                write_document(self.owners_alone(), output, |out| file.write(out))?;
            }
            answer => {
                let figures = figures(self.agreement, answer);
                if !figures.is_empty() {
                    let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
                    // A column of values may be called as one of ours.
                    let names = distinct_columns(&names);
                    let cells = figures.iter().map(|(_, cell)| cell.clone());
                    let named: Vec<_> = names.iter().map(String::as_str).zip(cells).collect();
                    write_figures(self.source, &named, output)?;
                }
            }
        }
        Ok(None)
    }

    /// Keys of the other party, identifiers and shares are more than the input tells who may read that.
    fn owners_alone(&self) -> Origin<'_> {
        Origin::OwnersAlone(self.source)
    }

    /// The names of the key columns, and last `more`, which are none of theirs.
    fn with_columns(&self, more: [&str; 2]) -> Vec<String> {
        let keys = self.key.iter().map(|key| key.column.as_str());
        distinct_columns(&keys.chain(more).collect::<Vec<_>>())
    }

    /// The numbers of the rows of an own key.
    fn rows(&self, key: u32) -> Result<String, Error> {
        let rows = self.rows.ok_or(Error::Bug("the rows of keys were not read"))?;
        let numbers: Vec<String> = rows.get(key as usize).iter().map(u64::to_string).collect();
        Ok(numbers.join(" "))
    }

    /// The values of a key, which this party made or has checked.
    fn values<'t>(&self, text: &'t [u8]) -> Result<Vec<&'t str>, Error> {
        key_values(text, self.key.len()).ok_or(Error::Bug("a key has no text"))
    }

    fn union(&self, union: &Union, output: &OutputOptions) -> Result<(), Error> {
        let names = self.with_columns([NEW, ROWS]);
        let mut table = TableWriter::create(self.owners_alone(), &names, output)?;
        for (text, own) in &union.keys {
            let mut cells = self.values(text)?;
            let rows = own.map(|key| self.rows(key)).transpose()?;
            cells.push(if rows.is_none() { "yes" } else { "no" });
            cells.push(rows.as_deref().unwrap_or_default());
            table.row(&cells)?;
        }
        Ok(table.finish()?)
    }

    fn ids(&self, ids: &NamedIds, output: &OutputOptions) -> Result<(), Error> {
        let mut names = self.with_columns([ROWS, ID]);
        names.rotate_right(1);
        let mut table = TableWriter::create(self.owners_alone(), &names, output)?;
        for (id, own) in ids.all.iter().zip(&ids.own) {
            let id = hex(id);
            let rows = own.map(|key| self.rows(key)).transpose()?;
            let mut cells = vec![id.as_str()];
            match own {
                Some(position) => cells.extend(self.values(ids.keys.get(*position as usize))?),
                None => cells.resize(1 + self.key.len(), ""),
            }
            cells.push(rows.as_deref().unwrap_or_default());
            table.row(&cells)?;
        }
        Ok(table.finish()?)
    }
}

/// Two hexadecimal digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}

/// The columns of a result file of one row; none when there is no answer.
fn figures<'a>(agreement: &'a Agreement, answer: &Answer) -> Vec<(&'a str, String)> {
    match (&agreement.question, answer) {
        (_, Answer::Count(count)) => vec![(KEYS_IN_COMMON, count.to_string())],
        (Question::Threshold { min }, Answer::AtLeast(yes)) => {
            vec![("threshold", min.to_string()), ("reached", yes.to_string())]
        }
        (Question::Sum(terms), Answer::Sums { count, sums }) => {
            let mut figures: Vec<_> = match (&terms.columns[..], &sums[..]) {
                ([column], [sum]) => vec![("column", column.clone()), ("sum", sum.to_string())],
                (columns, sums) => {
                    let sums = sums.iter().map(i128::to_string);
                    columns.iter().map(String::as_str).zip(sums).collect()
                }
            };
            if let Some(count) = count {
                figures.push((KEYS_IN_COMMON, count.to_string()));
            }
            figures
        }
        _ => Vec::new(),
    }
}

const KEYS_IN_COMMON: &str = "keys_in_common";
