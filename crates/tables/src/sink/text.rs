//! Delimited text, plain or compressed.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use vesica_inputs::error::OutputError;
use vesica_inputs::format::{Codec, Format};

const BUFFER_BYTES: usize = 1 << 18;

/// Compression level of zstd outputs: its default.
const ZSTD_LEVEL: i32 = 3;

/// The delimiter of a text format, where nothing else is known.
pub(crate) fn usual_delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

enum Encoder<W: Write> {
    Plain(BufWriter<W>),
    Gzip(BufWriter<GzEncoder<W>>),
    Zstd(BufWriter<zstd::stream::write::Encoder<'static, W>>),
}

/// A text file being written.
pub(crate) struct TextSink<W: Write> {
    encoder: Encoder<W>,
    path: PathBuf,
}

impl<W: Write> TextSink<W> {
    pub(crate) fn new(out: W, codec: Codec, path: &Path) -> Result<Self, OutputError> {
        let encoder = match codec {
            Codec::Plain => Encoder::Plain(BufWriter::with_capacity(BUFFER_BYTES, out)),
            Codec::Gzip => Encoder::Gzip(BufWriter::with_capacity(
                BUFFER_BYTES,
                GzEncoder::new(out, Compression::default()),
            )),
            Codec::Zstd => Encoder::Zstd(BufWriter::with_capacity(
                BUFFER_BYTES,
                zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)
                    .map_err(|error| OutputError::io(path, &error))?,
            )),
        };
        Ok(Self { encoder, path: path.to_path_buf() })
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let done = match &mut self.encoder {
            Encoder::Plain(out) => out.write_all(bytes),
            Encoder::Gzip(out) => out.write_all(bytes),
            Encoder::Zstd(out) => out.write_all(bytes),
        };
        done.map_err(|error| OutputError::io(&self.path, &error))
    }

    /// Writes the buffered data and the end of the compression.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        let done = match self.encoder {
            Encoder::Plain(mut out) => out.flush(),
            Encoder::Gzip(out) => into_inner(out).and_then(|gzip| gzip.finish().map(drop)),
            Encoder::Zstd(out) => into_inner(out).and_then(|zstd| zstd.finish().map(drop)),
        };
        done.map_err(|error| OutputError::io(&self.path, &error))
    }
}

fn into_inner<W: Write>(out: BufWriter<W>) -> io::Result<W> {
    out.into_inner().map_err(|error| error.into_error())
}

/// Builds records, with quotes where necessary.
pub(crate) struct RecordWriter {
    delimiter: u8,
    record: Vec<u8>,
    cells: usize,
}

impl RecordWriter {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, record: Vec::new(), cells: 0 }
    }

    pub(crate) fn push(&mut self, cell: &[u8]) {
        if self.cells > 0 {
            self.record.push(self.delimiter);
        }
        self.cells += 1;
        push_quoted(cell, self.delimiter, &mut self.record);
    }

    /// Ends the record and writes its bytes to `sink`.
    pub(crate) fn finish<W: Write>(&mut self, sink: &mut TextSink<W>) -> Result<(), OutputError> {
        // A record of one empty cell would be a blank line, which readers skip.
        if self.record.is_empty() {
            self.record.extend_from_slice(b"\"\"");
        }
        self.record.push(b'\n');
        sink.write(&self.record)?;
        self.record.clear();
        self.cells = 0;
        Ok(())
    }
}

/// Appends a cell to a record, with quotes where necessary.
pub(crate) fn push_quoted(cell: &[u8], delimiter: u8, record: &mut Vec<u8>) {
    let special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    // A BOM at the beginning of a file would be read as the file's own.
    if !cell.iter().any(special) && !cell.starts_with(b"\xef\xbb\xbf") {
        record.extend_from_slice(cell);
        return;
    }
    record.push(b'"');
    for byte in cell {
        if *byte == b'"' {
            record.push(b'"');
        }
        record.push(*byte);
    }
    record.push(b'"');
}
