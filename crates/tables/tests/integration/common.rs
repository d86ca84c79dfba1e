//! Shared by the tests of this crate: what stands in a file's rows, and results of rows by it.

#![allow(dead_code)]

#[path = "support.rs"]
mod support;

pub(crate) use support::{Scratch, bits, open, silent, write_bits};

use std::ops::ControlFlow;
use std::path::Path;
use vesica_inputs::error::InFile;
use vesica_profiles::{Normalised, Profile};
use vesica_tables::{
    CellColumn, InputError, Meter, OutputOptions, Place, Progress, Row, Source, Visit, WriteError,
    Written, visit, write_rows,
};

/// The normal forms of a row's cells; none without a key.
pub(crate) type Item = Vec<u8>;

/// What stands in some columns of all rows.
#[derive(Debug)]
pub(crate) struct Read {
    /// Sorted, each once.
    pub(crate) items: Vec<Item>,
    pub(crate) counts: Counts,
    /// The places of the rows with a refused cell.
    pub(crate) refused: Vec<Place>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) rows: u64,
    pub(crate) empty: u64,
    pub(crate) refused: u64,
    pub(crate) distinct: u64,
}

/// The cells of a row, and its place.
type Shown = (Vec<Vec<u8>>, Place);

/// Keeps the cells of every row, and its place.
struct Cells {
    width: usize,
    rows: Vec<Shown>,
}

impl Visit for Cells {
    fn file(&mut self, _: &InFile) {}

    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        let mut scratch = Vec::new();
        let cells = (0..self.width).map(|index| row.cell(index, &mut scratch).to_vec()).collect();
        self.rows.push((cells, row.place()));
        Ok(ControlFlow::Continue(()))
    }
}

fn visited(
    source: &Source,
    columns: &[CellColumn],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<Shown>, InputError> {
    let mut cells = Cells { width: columns.len(), rows: Vec::new() };
    let rows = visit(source, columns, &mut Meter::new(source.len_bytes(), progress), &mut cells)?;
    assert_eq!(rows, cells.rows.len() as u64);
    Ok(cells.rows)
}

/// The cells of one column.
pub(crate) fn cells(source: &Source, column: CellColumn) -> Result<Vec<String>, InputError> {
    let rows = visited(source, &[column], &mut silent)?;
    let only = |(mut cells, _): Shown| String::from_utf8(cells.remove(0)).unwrap();
    Ok(rows.into_iter().map(only).collect())
}

/// The items of all rows in their order, and the places of those with a refused cell.
fn every(
    source: &Source,
    columns: &[(&str, &str)],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Vec<Item>, Vec<Place>), InputError> {
    let profiles: Vec<Profile> =
        columns.iter().map(|(_, profile)| profile.parse().unwrap()).collect();
    let found = columns
        .iter()
        .zip(&profiles)
        .map(|((column, _), profile)| source.key_column(column, *profile));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let mut refused = Vec::new();
    let mut item = |(cells, place): Shown| {
        let parts: Vec<_> =
            cells.iter().zip(&profiles).map(|(cell, profile)| part(*profile, cell)).collect();
        if parts.contains(&Ok(None)) {
            Item::new()
        } else if parts.iter().any(Result::is_err) {
            refused.push(place);
            Item::new()
        } else {
            parts.into_iter().flatten().flatten().flatten().collect()
        }
    };
    let rows = visited(source, &found, progress)?.into_iter().map(&mut item).collect();
    Ok((rows, refused))
}

/// The normal form of a cell, with what tells where it ends; `None` for an empty one.
fn part(profile: Profile, cell: &[u8]) -> Result<Option<Vec<u8>>, ()> {
    let mut normal = Vec::new();
    match profile.normalise_cell(cell, &mut normal) {
        Ok(Normalised::Value) => {
            normal.splice(0..0, (normal.len() as u64).to_le_bytes());
            normal.push(profile.tag());
            Ok(Some(normal))
        }
        Ok(Normalised::Empty) => Ok(None),
        Err(_) => Err(()),
    }
}

/// Reads columns, each under its profile, with a caller that follows the progress.
pub(crate) fn read(
    source: &Source,
    columns: &[(&str, &str)],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Read, InputError> {
    let (every, refused) = every(source, columns, progress)?;
    let rows = every.len() as u64;
    let mut items: Vec<Item> = every.into_iter().filter(|item| !item.is_empty()).collect();
    let empty = rows - (items.len() + refused.len()) as u64;
    items.sort();
    items.dedup();
    let counts =
        Counts { rows, empty, refused: refused.len() as u64, distinct: items.len() as u64 };
    Ok(Read { items, counts, refused })
}

pub(crate) fn keys(source: &Source, columns: &[(&str, &str)]) -> Result<Read, InputError> {
    read(source, columns, &mut silent)
}

pub(crate) fn open_keys(
    path: impl AsRef<Path>,
    columns: &[(&str, &str)],
) -> Result<Read, InputError> {
    keys(&open(path)?, columns)
}

/// The items of all rows, in their order; empty for a row without one.
pub(crate) fn every_item(
    source: &Source,
    columns: &[(&str, &str)],
) -> Result<Vec<Item>, InputError> {
    Ok(every(source, columns, &mut silent)?.0)
}

/// The items of the text `value` under `profile`.
pub(crate) fn text_items(value: &str, profile: &str) -> Vec<Item> {
    vec![part(profile.parse().unwrap(), value.as_bytes()).unwrap().unwrap()]
}

/// The items of a column of these values, sorted.
pub(crate) fn items(values: &[&str]) -> Vec<Item> {
    let mut items: Vec<Item> = values.iter().flat_map(|value| text_items(value, "exact")).collect();
    items.sort();
    items.dedup();
    items
}

/// Writes the rows whose cell in `column` is one of `values`.
pub(crate) fn write(
    source: &Source,
    column: &str,
    values: &[&str],
    output: &Path,
    force: bool,
) -> Result<Written, WriteError> {
    let options = OutputOptions { path: output.to_path_buf(), force };
    let (rows, wanted) = bits_of(source, &[(column, "exact")], &items(values))?;
    write_rows(source, rows, &wanted, &options, &mut silent)
}

/// The number of rows, and a bit for each that says whether its item is in `matched`, which is
/// sorted.
pub(crate) fn bits_of(
    source: &Source,
    columns: &[(&str, &str)],
    matched: &[Item],
) -> Result<(u64, Vec<u64>), InputError> {
    let every = every_item(source, columns)?;
    let rows = every.len() as u64;
    Ok((rows, bits(rows, |row| matched.binary_search(&every[row as usize]).is_ok())))
}
