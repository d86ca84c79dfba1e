//! Files of other programs that hold no table this program reads: known by their first bytes, not
//! by their name.

use crate::workbook::is_text;
use std::fmt;

/// Bytes of a file that tell whether it is one of these.
pub const HEAD_BYTES: usize = 64;

/// A format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// JSON, one value or one for each line.
    Json,
    /// HTML or XML.
    Markup,
    /// Apache ORC.
    Orc,
    /// Apache Avro.
    Avro,
    /// Arrow's file format, Feather among others.
    Arrow,
    /// An SQLite database.
    Sqlite,
    /// A SAS data set.
    Sas,
    /// A Stata data set.
    Stata,
    /// An SPSS data set.
    Spss,
    /// Compressed by bzip2.
    Bzip2,
    /// Compressed by xz.
    Xz,
    /// A 7-Zip archive.
    SevenZip,
    /// Encrypted by PGP.
    Pgp,
    /// A PDF document.
    Pdf,
    /// A pointer of Git LFS to the file.
    LfsPointer,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::Json => "JSON",
            Foreign::Markup => "HTML or XML",
            Foreign::Orc => "an ORC file",
            Foreign::Avro => "an Avro file",
            Foreign::Arrow => "an Arrow or Feather file",
            Foreign::Sqlite => "an SQLite database",
            Foreign::Sas => "a SAS data set",
            Foreign::Stata => "a Stata data set",
            Foreign::Spss => "an SPSS data set",
            Foreign::Bzip2 => "bzip2 data",
            Foreign::Xz => "xz data",
            Foreign::SevenZip => "a 7-Zip archive",
            Foreign::Pgp => "a message encrypted by PGP",
            Foreign::Pdf => "a PDF document",
            Foreign::LfsPointer => "a pointer of Git LFS in place of the file",
        })
    }
}

/// First bytes that no table of text has.
const FIRST_BYTES: [(&[u8], Foreign); 16] = [
    (b"Obj\x01", Foreign::Avro),
    (b"ARROW1\0", Foreign::Arrow),
    (b"FEA1", Foreign::Arrow),
    (b"SQLite format 3\0", Foreign::Sqlite),
    (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", Foreign::Sas),
    (b"<stata_dta>", Foreign::Stata),
    (b"$FL2@(#)", Foreign::Spss),
    (b"$FL3@(#)", Foreign::Spss),
    (b"BZh", Foreign::Bzip2),
    (b"\xfd7zXZ\0", Foreign::Xz),
    (b"%PDF-", Foreign::Pdf),
    (b"7z\xbc\xaf\x27\x1c", Foreign::SevenZip),
    (b"-----BEGIN PGP MESSAGE-----", Foreign::Pgp),
    (b"version https://git-lfs", Foreign::LfsPointer),
    (b"<?xml", Foreign::Markup),
    (b"ORC", Foreign::Orc),
];

impl Foreign {
    /// By the first bytes of the file.
    pub fn of_content(head: &[u8]) -> Option<Self> {
        let known = FIRST_BYTES.iter().find(|(first, _)| head.starts_with(first));
        if let Some((_, foreign)) = known {
            // Columns of a table may be named so.
            let may_be_text = matches!(foreign, Foreign::Orc | Foreign::Bzip2);
            return (!may_be_text || !is_text(head)).then_some(*foreign);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let is_tag =
            |name: &[u8]| text.len() >= name.len() && text[..name.len()].eq_ignore_ascii_case(name);
        if is_tag(b"<!doctype") || is_tag(b"<html") {
            return Some(Foreign::Markup);
        }
        let inside = match text {
            [b'[', rest @ ..] => rest.trim_ascii_start(),
            text => text,
        };
        let inner = inside.strip_prefix(b"{").map(<[u8]>::trim_ascii_start)?;
        inner.starts_with(b"\"").then_some(Foreign::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_other_programs_are_known_by_their_first_bytes() {
        for (head, foreign) in [
            (&b"ORC\x0a\x80\xff"[..], Some(Foreign::Orc)),
            (b"ORCID,email\n", None),
            (b"BZh91AY&SY\x85\x01", Some(Foreign::Bzip2)),
            (b"BZh,email\n", None),
            (b"[\n  {\"email\": 1}]", Some(Foreign::Json)),
            (b"\xef\xbb\xbf{\"email\": 1}\n{\"email\": 2}\n", Some(Foreign::Json)),
            (b"{id},email\n", None),
            (b"[id],email\n", None),
            (b"<!DOCTYPE html>\n", Some(Foreign::Markup)),
            (b"\n<HTML lang=\"en\">", Some(Foreign::Markup)),
            (b"<id>,email\n", None),
            (b"version,email\n", None),
            (b"version https://git-lfs.github.com/spec/v1\n", Some(Foreign::LfsPointer)),
        ] {
            assert_eq!(Foreign::of_content(head), foreign, "{}", head.escape_ascii());
        }
    }
}
