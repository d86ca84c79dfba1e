//! Workbooks of spreadsheet programs, which are no tables of text: known by their content, or by
//! their name.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of a file that tell whether it is a workbook.
pub const HEAD_BYTES: usize = 512;

/// The first bytes of a file of Excel 97, and of other programs of its time.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The first bytes of a ZIP archive.
pub const ZIP: &[u8] = b"PK\x03\x04";

/// The program that a workbook is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Workbook {
    /// Excel: `.xlsx`, `.xlsm`, `.xlsb`, `.xls`.
    Excel,
    /// LibreOffice and others: `.ods`.
    OpenDocument,
    /// Apple Numbers: `.numbers`.
    Numbers,
}

impl fmt::Display for Workbook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Workbook::Excel => "an Excel workbook",
            Workbook::OpenDocument => "an OpenDocument workbook",
            Workbook::Numbers => "a Numbers workbook",
        })
    }
}

impl Workbook {
    /// By the ending of the name.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.as_bytes().to_ascii_lowercase().as_slice() {
            b"xlsx" | b"xlsm" | b"xlsb" | b"xls" => Some(Workbook::Excel),
            b"ods" => Some(Workbook::OpenDocument),
            b"numbers" => Some(Workbook::Numbers),
            _ => None,
        }
    }

    /// By the first bytes of the file, and where these are those of an archive of any kind, by its
    /// name.
    pub fn of_content(head: &[u8], path: &Path) -> Option<Self> {
        let named = Self::of_name(path);
        if head.starts_with(COMPOUND_FILE) {
            return Some(Workbook::Excel);
        }
        if !head.starts_with(ZIP) {
            return None;
        }
        let has = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
        if has(b"application/vnd.oasis.opendocument.spreadsheet") {
            Some(Workbook::OpenDocument)
        } else if has(b"[Content_Types].xml") || has(b"_rels/.rels") || has(b"docProps/") {
            Some(Workbook::Excel)
        } else if has(b"Index/Document.iwa") || has(b"Index/Tables/") {
            Some(Workbook::Numbers)
        } else {
            named
        }
    }
}

/// Whether the first bytes of a file are text. Its name does not count: some programs name HTML or
/// text `.xls`.
pub fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    valid && !head.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workbooks_are_known_by_content_before_their_name() {
        let zip = |inside: &[u8]| [ZIP, &[0; 26], inside].concat();
        let ods = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet";
        for (head, name, workbook) in [
            (zip(b"[Content_Types].xml"), "a.csv", Some(Workbook::Excel)),
            (zip(ods), "a.xlsx", Some(Workbook::OpenDocument)),
            (zip(b"Index/Document.iwa"), "a.csv", Some(Workbook::Numbers)),
            (zip(b"members.csv"), "a.csv", None),
            (zip(b"xl/styles.xml"), "a.XLSM", Some(Workbook::Excel)),
            ([COMPOUND_FILE, &[0; 504]].concat(), "a", Some(Workbook::Excel)),
            (b"id,email\n".to_vec(), "a.xls", None),
        ] {
            assert_eq!(Workbook::of_content(&head, Path::new(name)), workbook, "{name}");
        }
    }
}
