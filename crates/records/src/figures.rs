//! A result that is no rows: one line of figures under their names.

use crate::error::OutputError;
use crate::format::Format;
use crate::matches::usual_delimiter;
use crate::output::{OutputOptions, TempOutput};
use crate::sink::parquet::TextTable;
use crate::sink::text::{RecordWriter, TextSink};
use crate::source::Source;

/// Writes one row of `figures`, each its name and its value, in the format of the output's name,
/// beside which everything is as for [`crate::write_matches`]. `source` is the input, which is
/// never overwritten.
///
/// # Errors
/// Any error of writing.
pub fn write_figures(
    source: &Source,
    figures: &[(&str, String)],
    options: &OutputOptions,
) -> Result<(), OutputError> {
    let output = TempOutput::figures(source, options)?;
    let out = output.writer()?;
    match output.format().format {
        Format::Parquet => {
            let names: Vec<String> = figures.iter().map(|(name, _)| (*name).to_owned()).collect();
            let mut table = TextTable::new(out, &names, output.path())?;
            for (index, (_, value)) in figures.iter().enumerate() {
                table.cell(index, value.as_bytes());
            }
            table.end_row()?;
            table.finish()?;
        }
        format => {
            let mut sink = TextSink::new(out, output.format().codec, output.path())?;
            let mut writer = RecordWriter::new(usual_delimiter(format));
            figures.iter().for_each(|(name, _)| writer.push(name.as_bytes()));
            writer.finish(&mut sink)?;
            figures.iter().for_each(|(_, value)| writer.push(value.as_bytes()));
            writer.finish(&mut sink)?;
            sink.finish()?;
        }
    }
    output.commit()
}
