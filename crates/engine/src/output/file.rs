//! Writes a result to a file.

use super::RunResult;
use crate::event::writing;
use crate::{Error, Event, Observer, Phase};
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_core::Operation;
use vesica_own_rows::{added_columns, write_totals};
use vesica_tables::{
    Origin, OutputOptions, Progress, Source, WriteError, Written, check_added_output,
    check_document_output, check_table_output, write_document,
};

/// The files that a run writes at its end.
pub(crate) struct Results<'a> {
    /// For the result.
    pub(crate) output: Option<OutputOptions>,
    /// The column that says which rows are in the result, if the file gets all of them.
    pub(crate) mark: Option<&'a str>,
    /// For the order of shares.
    pub(crate) order: Option<OutputOptions>,
}

/// Checks, before any data moves, that the result can be written; with a `mark`, that all rows can.
pub(crate) fn check(
    agreement: &Agreement,
    party: &str,
    source: &Source,
    mark: Option<&str>,
    output: &OutputOptions,
) -> Result<(), WriteError> {
    match agreement.operation() {
        operation if mark.is_some() || operation == Operation::Intersection => {
            check_added_output(source, &added_columns(agreement, Some(party), mark), output)?
        }
        Operation::Shares | Operation::SharedValues if agreement.question.computed().is_none() => {
            check_document_output(source, output)?
        }
        _ => check_table_output(source, output)?,
    }
    Ok(())
}

/// Checks, before any data moves, that the order of shares can be written.
pub(crate) fn check_order(source: &Source, output: &OutputOptions) -> Result<(), WriteError> {
    Ok(check_table_output(Origin::OwnersAlone(source), output)?)
}

impl RunResult {
    /// Writes this output to a file, whole or not at all. Returns the counts of what was written if
    /// it is rows of `source`, the file that the job read.
    ///
    /// [`RunResult::Rows`] reads `source` again and writes the rows in the set, with all columns,
    /// and with a column `matched_rules` and the other party's columns if the agreement says so.
    /// It is an error if the file has changed since it was opened. An earlier change is detected
    /// only if it changed the number of rows. Totals are a table of one row, a union and ids a
    /// table, shares a JSON document ([`SharesFile`](crate::shares::SharesFile)). For
    /// [`RunResult::Nothing`], [`RunResult::OutsideBounds`] and [`RunResult::Detached`] no file is
    /// written. `progress` is called at most some tens of times a second while `source` is read;
    /// [`Break`](ControlFlow::Break) ends the writing.
    ///
    /// # Errors
    /// [`InputFault::Data`](crate::InputFault::Data) when `source` has changed since it was opened
    /// or cannot be read; [`InputFault::Output`](crate::InputFault::Output) when the file cannot be
    /// written; [`Error::Interrupted`] after a `Break`.
    pub fn write(
        &self,
        source: &Source,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Written>, Error> {
        // Keys of the other party, identifiers and shares can be more sensitive than the input,
        // which others may read.
        let owners_alone = Origin::OwnersAlone(source);
        match self {
            Self::Nothing | Self::OutsideBounds | Self::Detached { .. } => {}
            Self::Rows(rows) => return Ok(Some(rows.write(source, None, options, progress)?)),
            Self::Union(union) => union.write(owners_alone, options)?,
            Self::Ids(ids) => ids.write(owners_alone, options)?,
            Self::Shares { file, .. } => {
                write_document(owners_alone, options, |out| file.write(out))?
            }
            Self::Cardinality(count) => {
                write_totals(&[(KEYS_IN_COMMON, count.to_string())], source, options)?;
            }
            Self::Threshold { min, reached } => {
                let totals = [("threshold", min.to_string()), ("reached", reached.to_string())];
                write_totals(&totals, source, options)?;
            }
            Self::Sums { keys, columns } => {
                let mut totals: Vec<_> = match &columns[..] {
                    [only] => vec![("column", only.column.clone()), ("sum", only.sum.to_string())],
                    all => all.iter().map(|one| (&*one.column, one.sum.to_string())).collect(),
                };
                totals.extend(keys.map(|keys| (KEYS_IN_COMMON, keys.to_string())));
                write_totals(&totals, source, options)?;
            }
            Self::Answers { keys, answers } => {
                let answers = answers.iter().map(|one| (&*one.name, one.text()));
                let totals: Vec<_> = answers.chain([(KEYS_IN_COMMON, keys.to_string())]).collect();
                write_totals(&totals, source, options)?;
            }
        }
        Ok(None)
    }

    /// Like [`write`](Self::write), but with all rows of `source` and an additional column named
    /// `mark`: for [`RunResult::Rows`] whether a row is in the set, `1` or `0`, or a boolean in
    /// Parquet; for [`RunResult::Ids`] its identifier; for [`RunResult::Union`] its key's number.
    ///
    /// # Errors
    /// Errors of `write`; [`InputFault::Output`](crate::InputFault::Output) too if `source` has a
    /// column of that name.
    pub fn write_marked(
        &self,
        source: &Source,
        mark: &str,
        options: &OutputOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Written>, Error> {
        Ok(Some(match self {
            Self::Rows(rows) => rows.write(source, Some(mark), options, progress)?,
            Self::Union(union) => union.write_rows(source, mark, options, progress)?,
            Self::Ids(ids) => ids.write_rows(source, mark, options, progress)?,
            _ => return self.write(source, options, progress),
        }))
    }

    /// Writes what this party knows of the order of its shares to a table, whole or not at all,
    /// which only its owner can read. Numbers start at 1. For results other than shares no file is
    /// written. `source` is the file that the job read.
    ///
    /// # Errors
    /// [`InputFault::Output`](crate::InputFault::Output) when the file cannot be written.
    pub fn write_order(&self, source: &Source, options: &OutputOptions) -> Result<(), Error> {
        match self.order() {
            Some(order) => Ok(order.write(Origin::OwnersAlone(source), options)?),
            None => Ok(()),
        }
    }

    /// Writes this output, and the order of shares, as a phase of a run.
    pub(crate) fn keep(
        &self,
        source: &Source,
        Results { output, mark, order }: &Results<'_>,
        observer: &dyn Observer,
        go_on: impl Fn() -> ControlFlow<()>,
    ) -> Result<Option<Written>, Error> {
        if output.is_none() && order.is_none() {
            return Ok(None);
        }
        observer.event(&Event::Phase(Phase::Writing));
        let mut progress = |progress| {
            observer.event(&writing(progress));
            go_on()
        };
        // The order is useless without the result, so a failure leaves no file of it.
        let written = match (output, mark) {
            (Some(to), Some(mark)) => self.write_marked(source, mark, to, &mut progress)?,
            (Some(to), None) => self.write(source, to, &mut progress)?,
            (None, _) => None,
        };
        order.as_ref().map_or(Ok(()), |options| self.write_order(source, options))?;
        Ok(written)
    }
}

const KEYS_IN_COMMON: &str = "keys_in_common";
