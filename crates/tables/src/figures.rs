//! Results that are not rows of the input: separate tables.

use crate::output::{Origin, OutputOptions, TempOutput};
use crate::sink::parquet::TextTable;
use crate::sink::text::{RecordWriter, TextSink};
use std::fs::File;
use vesica_inputs::error::OutputError;
use vesica_inputs::format::Format;

/// A table being written, in the format of the output's name. As with [`crate::write_rows`], it
/// appears under its name when it is finished, and an error leaves no file.
pub struct TableWriter {
    output: TempOutput,
    sink: Sink,
}

enum Sink {
    Text(Box<TextSink<File>>, RecordWriter),
    Parquet(Box<TextTable<File>>),
}

impl TableWriter {
    /// A table with text columns of these names, made from `origin`, which is never overwritten. A
    /// table in CSV has the delimiter of an origin in CSV.
    ///
    /// # Errors
    /// Any error of writing.
    pub fn create<'a>(
        origin: impl Into<Origin<'a>>,
        names: &[String],
        options: &OutputOptions,
    ) -> Result<Self, OutputError> {
        let origin = origin.into();
        let output = TempOutput::table(origin, options)?;
        let out = output.writer()?;
        let sink = match output.format().format {
            Format::Parquet => Sink::Parquet(Box::new(TextTable::new(out, names, output.path())?)),
            format => {
                let sink = TextSink::new(out, output.format().codec, output.path())?;
                Sink::Text(Box::new(sink), RecordWriter::new(origin.delimiter(format)))
            }
        };
        let mut table = Self { output, sink };
        if let Sink::Text(..) = table.sink {
            table.row(names)?;
        }
        Ok(table)
    }

    /// Adds a row with a cell for each column.
    ///
    /// # Errors
    /// Any error of writing.
    pub fn row<C: AsRef<str>>(&mut self, cells: &[C]) -> Result<(), OutputError> {
        match &mut self.sink {
            Sink::Text(sink, writer) => {
                cells.iter().for_each(|cell| writer.push(cell.as_ref().as_bytes()));
                writer.finish(sink)
            }
            Sink::Parquet(table) => {
                for (index, cell) in cells.iter().enumerate() {
                    table.cell(index, cell.as_ref().as_bytes());
                }
                table.end_row()
            }
        }
    }

    /// Completes the table and gives it its name.
    ///
    /// # Errors
    /// Any error of writing.
    pub fn finish(self) -> Result<(), OutputError> {
        match self.sink {
            Sink::Text(sink, _) => sink.finish()?,
            Sink::Parquet(table) => table.finish()?,
        }
        self.output.commit()
    }
}

/// Writes a table with one row of `figures`, each with its name and value.
///
/// # Errors
/// Any error of writing.
pub fn write_figures<'a>(
    origin: impl Into<Origin<'a>>,
    figures: &[(&str, String)],
    options: &OutputOptions,
) -> Result<(), OutputError> {
    let names: Vec<String> = figures.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut table = TableWriter::create(origin, &names, options)?;
    let cells: Vec<&str> = figures.iter().map(|(_, value)| value.as_str()).collect();
    table.row(&cells)?;
    table.finish()
}
