//! Formats by the extension of the name, and by a file's first bytes.

use crate::foreign::Foreign;
use crate::workbook::ZIP;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated values, RFC 4180, with the delimiters found in practice.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow record batches in memory; never a file.
    Arrow,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
        })
    }
}

/// The compression of a whole text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not compressed.
    Plain,
    /// gzip, RFC 1952, one or more members.
    Gzip,
    /// Zstandard, RFC 8878, one or more frames.
    Zstd,
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Codec::Plain => "plain",
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
        })
    }
}

impl Codec {
    /// The codec that a name in lower case ends with.
    fn of_name(name: &[u8]) -> Self {
        if name.ends_with(b".gz") {
            Codec::Gzip
        } else if name.ends_with(b".zst") {
            Codec::Zstd
        } else {
            Codec::Plain
        }
    }

    /// The codec of the file at `path`, by the ending of its name.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.as_bytes().to_ascii_lowercase());
        Self::of_name(&name.unwrap_or_default())
    }
}

/// The content of a file according to its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// Parquet (`PAR1`).
    Parquet,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// A ZIP archive that is no workbook as far as its first bytes tell.
    Zip,
    /// A format of another program.
    Foreign(Foreign),
    /// Text.
    Text,
    /// None of these.
    Unknown,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Content::Parquet => "Parquet data",
            Content::Gzip => "gzip data",
            Content::Zstd => "zstd data",
            Content::Zip => "a ZIP archive",
            Content::Foreign(foreign) => return foreign.fmt(f),
            Content::Text => "text",
            Content::Unknown => "something else",
        })
    }
}

/// Format and compression together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFormat {
    pub format: Format,
    pub codec: Codec,
}

impl FileFormat {
    /// From the name, unless `format` overrides it; `None` if it cannot be determined.
    pub fn of(path: &Path, format: Option<Format>) -> Option<Self> {
        let name = path.file_name()?.as_bytes().to_ascii_lowercase();
        let codec = Codec::of_name(&name);
        let stem = match codec {
            Codec::Gzip => name.strip_suffix(b".gz"),
            Codec::Zstd => name.strip_suffix(b".zst"),
            Codec::Plain => None,
        };
        let stem = stem.unwrap_or(&name);
        let by_name = match stem.rsplit(|byte| *byte == b'.').next() {
            _ if !stem.contains(&b'.') => None,
            Some(b"csv" | b"txt") => Some(Format::Csv),
            Some(b"tsv") => Some(Format::Tsv),
            Some(b"parquet" | b"pq") => Some(Format::Parquet),
            _ => None,
        };
        let format = format.or(by_name)?;
        if format == Format::Parquet && codec != Codec::Plain {
            return None;
        }
        Some(Self { format, codec })
    }
}

/// The content of a file with the first bytes `head`.
pub fn sniff(head: &[u8]) -> Content {
    if head.starts_with(b"PAR1") || head.starts_with(b"PARE") {
        Content::Parquet
    } else if head.starts_with(&[0x1f, 0x8b]) {
        Content::Gzip
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Content::Zstd
    } else if head.starts_with(ZIP) {
        Content::Zip
    } else {
        Foreign::of_content(head).map_or(Content::Unknown, Content::Foreign)
    }
}
