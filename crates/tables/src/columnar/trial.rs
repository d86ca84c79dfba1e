//! Tries what the second pass needs of a Parquet file, before the parties meet.

use super::batches::BATCH_ROWS;
use super::file::{TableFile, parquet_error};
use super::guard::guarded;
use super::table::Table;
use crate::known_file::KnownFile;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use vesica_inputs::error::InputError;

/// Number of rows tried: writers put at most about this many into a page.
const ROWS_TRIED: usize = 20_000;

/// Decodes the first rows of every column: in an encrypted column, one with a codec that is not
/// supported, and one with a damaged first page that fails.
///
/// # Errors
/// [`InputError::DamagedColumn`], and errors of reading.
pub(crate) fn try_columns(known: &KnownFile, table: &Table) -> Result<(), InputError> {
    let damaged = |column: usize| InputError::DamagedColumn {
        path: known.path().to_path_buf(),
        column: table.schema().field(column).name().clone(),
    };
    let file = table.file();
    let schema = file.file_metadata().schema_descr();
    for group in file.row_groups() {
        let lzo = |chunk: usize| matches!(group.column(chunk).compression(), Compression::LZO);
        if let Some(chunk) = (0..group.num_columns()).find(|chunk| lzo(*chunk)) {
            return Err(damaged(schema.get_column_root_idx(chunk)));
        }
    }
    let Some(group) = file.row_groups().iter().position(|group| group.num_rows() > 0) else {
        return Ok(());
    };
    let Err(error) = first_rows(known, table, group, ProjectionMask::all()) else { return Ok(()) };
    if !matches!(error, InputError::DamagedParquet { .. }) {
        return Err(error);
    }
    for column in 0..table.schema().fields().len() {
        let alone = ProjectionMask::roots(schema, [column]);
        if let Err(InputError::DamagedParquet { .. }) = first_rows(known, table, group, alone) {
            return Err(damaged(column));
        }
    }
    Err(error)
}

/// Decodes the first rows of a row group.
fn first_rows(
    known: &KnownFile,
    table: &Table,
    group: usize,
    columns: ProjectionMask,
) -> Result<(), InputError> {
    let file = TableFile(known.reopen()?);
    guarded(known.path(), || {
        let whole = table.declared().clone();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, whole)
            .with_projection(columns)
            .with_row_groups(vec![group])
            .with_limit(ROWS_TRIED)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| parquet_error(known, &error))?;
        let damaged = || InputError::DamagedParquet { path: known.path().to_path_buf() };
        let mut rows = 0;
        for batch in reader {
            rows += batch.map_err(|_| damaged())?.num_rows();
        }
        // A column may have fewer rows than the file says.
        let expected = u64::try_from(table.file().row_group(group).num_rows()).unwrap_or(0);
        if rows as u64 == expected.min(ROWS_TRIED as u64) { Ok(()) } else { Err(damaged()) }
    })
}
