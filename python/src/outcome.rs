//! The result of a run.

use crate::away::away;
use crate::checked::RowCounts;
use crate::export::{Column, Table};
use crate::failure::Failed;
use crate::tables;
use arrow_array::builder::{LargeStringBuilder, StringBuilder};
use arrow_array::{BooleanArray, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::Schema;
use pyo3::prelude::*;
use pythonize::pythonize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use vesica_engine::{Answer, Finished, Report, RowSet, RunResult};
use vesica_tables::{OutputOptions, Source};

/// A part of an expression, and the number or whether it holds.
type NamedAnswer<'a> = (&'a str, Option<i128>, Option<bool>);

/// The result of a run, and its report.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Outcome {
    result: RunResult,
    report: Report,
    /// The file of the rows, opened before the run.
    file: Option<Source>,
    /// The column for marks, if the result is to have all rows.
    mark: Option<String>,
}

impl Outcome {
    pub(crate) fn new(finished: Finished, file: Option<Source>, mark: Option<String>) -> Self {
        let Finished { report, output } = finished;
        Self { result: output, report, file, mark }
    }

    fn row_set(&self) -> Option<&RowSet> {
        self.result.rows()
    }
}

#[pymethods]
impl Outcome {
    /// The name of the variant.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.result {
            RunResult::Nothing => "nothing",
            RunResult::OutsideBounds => "outside-bounds",
            RunResult::Rows(_) => "rows",
            RunResult::Detached { .. } => "detached",
            RunResult::Cardinality(_) => "cardinality",
            RunResult::Threshold { .. } => "threshold",
            RunResult::Sums { .. } => "sums",
            RunResult::Answers { .. } => "answers",
            RunResult::Union(_) => "union",
            RunResult::Ids(_) => "ids",
            RunResult::Shares { .. } => "shares",
        }
    }

    /// The report, as the command writes it.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.report)?)
    }

    /// The name of this party.
    #[getter]
    fn party(&self) -> &str {
        &self.report.party
    }

    /// The name of each party, and its different keys as announced.
    #[getter]
    fn parties(&self) -> Vec<(&str, u64)> {
        self.report.parties.iter().map(|party| (&*party.name, party.keys)).collect()
    }

    /// Whether both sets were padded to the largest size.
    #[getter]
    fn hides_sizes(&self) -> bool {
        self.report.sizes.hidden
    }

    /// The rows of the input.
    #[getter]
    fn input(&self) -> RowCounts {
        RowCounts::from(&self.report)
    }

    /// Keys of either party in a union, or identifiers.
    #[getter]
    fn union_keys(&self) -> Option<u64> {
        self.report.result.union_keys
    }

    /// Entries in the shares.
    #[getter]
    fn shared_entries(&self) -> Option<u64> {
        self.report.result.shared_entries
    }

    /// Different keys in common, if this party learns it.
    #[getter]
    fn keys_in_common(&self) -> Option<u64> {
        self.result.keys_in_common()
    }

    /// Rows in the result, and of the input.
    #[getter]
    fn rows(&self) -> Option<(u64, u64)> {
        match self.result {
            RunResult::Detached { rows, of, .. } => Some((rows, of)),
            _ => self.row_set().map(|rows| (rows.count(), rows.len())),
        }
    }

    /// For each row of the input whether it is in the result.
    fn mask(&self) -> Option<Column> {
        let rows = self.row_set()?;
        let bits = Buffer::from_iter(rows.words().iter().map(|word| word.to_le()));
        let bits = BooleanBuffer::new(bits, 0, usize::try_from(rows.len()).ok()?);
        Some(Column(Arc::new(BooleanArray::new(bits, None))))
    }

    /// What a mark says of each row of the input: whether it is in the result, its identifier, or
    /// the number of its key in the union.
    fn marks(&self) -> Option<Column> {
        match &self.result {
            RunResult::Union(union) => {
                let numbers = union.by_row().into_iter();
                let numbers = numbers.map(|number| number.map(u64::cast_signed));
                Some(Column(Arc::new(Int64Array::from_iter(numbers))))
            }
            RunResult::Ids(_) => self.ids(),
            _ => self.mask(),
        }
    }

    /// The rows in the result, from 0, ascending.
    fn positions(&self) -> Option<Column> {
        let positions = self.row_set()?.iter().map(|row| row as i64);
        Some(Column(Arc::new(Int64Array::from_iter_values(positions))))
    }

    /// The threshold, and whether it is reached.
    #[getter]
    fn threshold(&self) -> Option<(u64, bool)> {
        match self.result {
            RunResult::Threshold { min, reached } => Some((min, reached)),
            _ => None,
        }
    }

    #[getter]
    fn sums(&self) -> Option<Vec<(&str, i128)>> {
        match &self.result {
            RunResult::Sums { columns, .. } => {
                Some(columns.iter().map(|one| (&*one.column, one.sum)).collect())
            }
            _ => None,
        }
    }

    /// What each part of an expression gives: its name, and a number or whether it holds.
    #[getter]
    fn answers(&self) -> Option<Vec<NamedAnswer<'_>>> {
        let RunResult::Answers { answers, .. } = &self.result else { return None };
        let parts = answers.iter().map(|one| match one.answer {
            Answer::Number(number) => (&*one.name, Some(number), None),
            Answer::Condition(holds) => (&*one.name, None, Some(holds)),
        });
        Some(parts.collect())
    }

    /// The keys of a union, the identifiers, or one row of figures.
    fn table(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let batch = away(py, || match &self.result {
            RunResult::Union(union) => tables::union(union).map(Some),
            RunResult::Ids(ids) => tables::ids(ids).map(Some),
            other => tables::figures(other),
        });
        Ok(batch.map_err(|_| Failed::panic().raise(py))?.map(Table))
    }

    /// The rules under which each row of the input matches; `None` for a row that is not in the
    /// result.
    fn matched_rules(&self, py: Python<'_>) -> Option<Column> {
        let rows = self.row_set().filter(|rows| rows.has_rules())?;
        let column = away(py, || {
            // The texts of all rows may be longer than 2 GiB.
            let mut column = LargeStringBuilder::new();
            for row in 0..rows.len() {
                column.append_option(rows.contains(row).then(|| rows.rules_of(row)));
            }
            column.finish()
        });
        Some(Column(Arc::new(column)))
    }

    /// The columns that the rows of the result get, by their names, with a cell for each row of the
    /// input; `None` for a row that is not in the result.
    fn added(&self, py: Python<'_>) -> Vec<(String, Column)> {
        let Some(rows) = self.row_set() else { return Vec::new() };
        let mut added = Vec::new();
        added.extend(self.matched_rules(py).map(|rules| ("matched_rules".to_owned(), rules)));
        let Some(partner) = rows.partner() else { return added };
        for (at, (name, holds)) in partner.names().iter().zip(partner.types()).enumerate() {
            let column =
                away(py, || holds.array((0..rows.len()).map(|row| rows.partner_cell(row, at))));
            added.push((name.clone(), Column(column)));
        }
        added
    }

    /// The identifier of each row of the input; `None` for a row without a usable key.
    fn ids(&self) -> Option<Column> {
        let RunResult::Ids(ids) = &self.result else { return None };
        let mut column = StringBuilder::new();
        ids.by_row().iter().for_each(|id| column.append_option(id.as_ref().map(tables::hex)));
        Some(Column(Arc::new(column.finish())))
    }

    /// The shares, as the JSON document that the command writes.
    fn shares(&self) -> Option<String> {
        let RunResult::Shares { file, .. } = &self.result else { return None };
        let mut text = Vec::new();
        file.write(&mut text).ok()?;
        String::from_utf8(text).ok()
    }

    /// What this party knows of the order of its shares.
    fn order(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Some(order) = self.result.order() else { return Ok(None) };
        let batch = away(py, || tables::order(order));
        Ok(Some(Table(batch.map_err(|_| Failed::panic().raise(py))?)))
    }

    /// Writes the file that the command would write. Not for rows of a frame.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<Option<u64>> {
        let schema = Arc::new(Schema::empty());
        let none: [Result<RecordBatch, _>; 0] = [];
        let written = away(py, || {
            let options = OutputOptions { path, force };
            let mut go_on = |_| ControlFlow::Continue(());
            if let Some(file) = &self.file {
                return match &self.mark {
                    Some(mark) => self.result.write_marked(file, mark, &options, &mut go_on),
                    None => self.result.write(file, &options, &mut go_on),
                };
            }
            let batches = Box::new(RecordBatchIterator::new(none, schema));
            let frame = Source::of_batches(batches, None);
            self.result.write(&frame, &options, &mut go_on)
        })
        .map_err(|error| Failed::here(&error).raise(py))?;
        Ok(written.map(|written| written.rows))
    }
}
