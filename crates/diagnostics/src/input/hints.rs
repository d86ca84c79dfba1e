//! Longer hints about an input: which column to choose, and how to convert a file.

use crate::Speech;
use crate::words::{counted, list};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use vesica_tables::{Codec, Columns, Foreign};

/// What to do where a file has no column `column`.
pub(super) fn missing_column(
    column: &str,
    nearest: &[String],
    guessed: Option<u8>,
    columns: &Columns,
    say: Speech,
) -> String {
    let key = format!("with {}, where KEY is its name in the agreement", say.key_column());
    if let Some(line) = columns.line {
        let skipped = line.saturating_sub(1);
        let skip = say
            .either(&format!("--skip-rows {skipped}"), &format!("`skip_rows={skipped}`"))
            .to_owned();
        return format!("line {line} holds a field {column:?}: add {skip}");
    }
    if !nearest.is_empty() {
        return format!("similar columns: {}; choose one {key}", list(nearest));
    }
    let known = match columns.names.len() {
        0 => String::new(),
        shown if shown < columns.count => {
            let names: Vec<String> = columns.names.iter().map(|name| format!("{name:?}")).collect();
            format!("its columns are {} and {} more; ", names.join(", "), columns.count - shown)
        }
        1 => format!("its only column is {}; ", list(&columns.names)),
        _ => format!("its columns are {}; ", list(&columns.names)),
    };
    let choose = match columns.names.is_empty() {
        true if columns.count > 0 => {
            format!("choose one of its {} {key}", counted(columns.count as u64, "column"))
        }
        _ => format!("choose one {key}"),
    };
    if !columns.from_header {
        return format!("{known}{choose}");
    }
    let delimiter = guessed.map_or(String::new(), |guessed| {
        if columns.count == 1 {
            return format!(
                "; if it should have more columns, {} sets the character between them",
                say.delimiter()
            );
        }
        let by = match guessed {
            b'\t' => "tabs".to_owned(),
            byte => format!("{:?}", char::from(byte)),
        };
        format!(
            "; its fields seem to be separated by {by}, {} sets another character",
            say.delimiter()
        )
    });
    format!(
        "{known}{choose}; if the first row is data, add {} and give the number of the \
         column{delimiter}",
        say.no_header()
    )
}

/// What to do with a file of another program.
pub(super) fn foreign(foreign: Foreign) -> &'static str {
    match foreign {
        Foreign::Markup => {
            "often a login page or an error in place of a download: look at it, and export the \
             rows as CSV or Parquet"
        }
        Foreign::Bzip2 | Foreign::Xz | Foreign::SevenZip => {
            "unpack it, and give the file with the rows; gzip and zstd are read as they are"
        }
        Foreign::Pgp => "decrypt it, and give the file with the rows",
        Foreign::LfsPointer => "fetch the file itself: git lfs pull",
        _ => "export the rows as CSV or Parquet, and give that file",
    }
}

/// How to make a table of a workbook.
pub(super) fn workbook(path: &Path, say: Speech) -> String {
    let or = say
        .either(
            &format!(
                "convert it: libreoffice --headless --convert-to 'csv:Text - txt - csv \
                 (StarCalc):44,34,76' {}",
                word(path)
            ),
            "give the frame that pandas.read_excel(…, dtype=str) reads, which keeps zeros at the \
             front",
        )
        .to_owned();
    format!("save the sheet as \"CSV UTF-8\", and give that file; or {or}")
}

/// A command that converts the text file at `path` from `encoding` to UTF-8, compressed as it is.
pub(super) fn converted(path: &Path, encoding: &str) -> String {
    let (file, iconv) = (word(path), format!("iconv -f {encoding} -t UTF-8"));
    match Codec::of(path) {
        Codec::Plain => format!("{iconv} {file} > converted.csv"),
        Codec::Gzip => format!("zcat {file} | {iconv} | gzip > converted.csv.gz"),
        Codec::Zstd => format!("zstdcat {file} | {iconv} | zstd > converted.csv.zst"),
    }
}

/// A path as a word of a shell's command line.
fn word(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,=@%:".contains(byte);
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    match text {
        Some(text) if bytes.iter().all(is_plain) => dashed(text),
        Some(text) => dashed(&format!("'{}'", text.replace('\'', "'\\''"))),
        None => {
            let escaped = |byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b' '..=b'~' => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            };
            dashed(&format!("$'{}'", bytes.iter().map(escaped).collect::<String>()))
        }
    }
}

/// A word that no command takes for an option.
fn dashed(word: &str) -> String {
    match OsStr::new(word).as_bytes() {
        [b'-', ..] => format!("./{word}"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_whatever_the_name_and_the_compression() {
        for (path, command) in [
            (&b"a.csv"[..], "iconv -f X -t UTF-8 a.csv > converted.csv"),
            (b"my file.csv", "iconv -f X -t UTF-8 'my file.csv' > converted.csv"),
            (b"it's.csv", "iconv -f X -t UTF-8 'it'\\''s.csv' > converted.csv"),
            (b"-a.csv", "iconv -f X -t UTF-8 ./-a.csv > converted.csv"),
            (b"m\xe4rz.csv", "iconv -f X -t UTF-8 $'m\\xe4rz.csv' > converted.csv"),
            (b"a.CSV.gz", "zcat a.CSV.gz | iconv -f X -t UTF-8 | gzip > converted.csv.gz"),
            (b"a.tsv.zst", "zstdcat a.tsv.zst | iconv -f X -t UTF-8 | zstd > converted.csv.zst"),
        ] {
            assert_eq!(converted(Path::new(OsStr::from_bytes(path)), "X"), command);
        }
    }

    #[test]
    fn missing_columns_are_explained_by_what_the_file_has() {
        let columns = |names: &[&str], count, from_header, line| Columns {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            count,
            from_header,
            line,
        };
        let hint =
            |columns: &Columns| missing_column("email", &[], Some(b';'), columns, Speech::Command);
        assert_eq!(
            hint(&columns(&[], 1, true, Some(4))),
            "line 4 holds a field \"email\": add --skip-rows 3"
        );
        let table = hint(&columns(&["id", "mail"], 2, false, None));
        assert!(
            table.starts_with("its columns are \"id\" and \"mail\"; choose one with"),
            "{table}"
        );
        assert!(!table.contains("--no-header") && !table.contains("--delimiter"), "{table}");
        let text = hint(&columns(&["id", "b"], 25, true, None));
        assert!(text.starts_with("its columns are \"id\", \"b\" and 23 more; "), "{text}");
        assert!(text.contains("--no-header") && text.contains("separated by ';'"), "{text}");
        let data = hint(&columns(&[], 3, true, None));
        assert!(data.starts_with("choose one of its 3 columns with"), "{data}");
    }
}
