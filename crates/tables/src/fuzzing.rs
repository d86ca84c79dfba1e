//! Entry points for fuzzers: plain functions of bytes, no files.

use vesica_inputs::InputError;
use vesica_inputs::text::dialect;
use vesica_inputs::text::reader::RecordReader;
use vesica_inputs::text::stream::ByteStream;

/// Reads delimited text and every cell; returns the number of records and of bytes in their cells.
/// Detects the delimiter if it is `None`.
///
/// # Errors
/// The error of [`crate::Source`] or a pass for a file with these bytes.
pub fn read_text(bytes: &[u8], delimiter: Option<u8>) -> Result<(u64, u64), InputError> {
    let delimiter = delimiter.unwrap_or_else(|| dialect::detect(bytes, true));
    let mut reader = RecordReader::new(ByteStream::from_memory(bytes.to_vec()), delimiter)?;
    let (mut records, mut cell_bytes) = (0, 0);
    let mut scratch = Vec::new();
    while let Some(record) = reader.next_record()? {
        records += 1;
        for index in 0..record.len() {
            cell_bytes += record.cell(index, &mut scratch).len() as u64;
        }
    }
    Ok((records, cell_bytes))
}
