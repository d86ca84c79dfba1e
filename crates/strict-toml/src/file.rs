//! Reads text files written by people.

use super::{Fault, FileFault, Located};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Reads the file `path`, of at most `max_bytes`, and parses its text with `parse`; errors have the
/// path.
///
/// # Errors
/// Any [`FileFault`], and those of `parse`.
pub fn load<A, F: Fault>(
    path: &Path,
    max_bytes: u64,
    parse: impl FnOnce(&str) -> Result<A, Located<F>>,
) -> Result<A, Located<F>> {
    let name = |error: Located<F>| Located { path: Some(path.to_path_buf()), ..error };
    let text = read(path, max_bytes).map_err(|fault| name(Located::without_place(fault.into())))?;
    parse(&text).map_err(name)
}

fn read(path: &Path, max_bytes: u64) -> Result<String, FileFault> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileFault::Missing,
        kind => FileFault::Unreadable(kind),
    };
    // Checked before opening: opening a named pipe would block.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(FileFault::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        return Err(FileFault::TooLong { max_bytes });
    }
    String::from_utf8(bytes).map_err(|_| FileFault::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_irregular_and_long_files_have_different_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert_eq!(read(&path, 3), Err(FileFault::Missing));
        assert_eq!(read(dir.path(), 3), Err(FileFault::NotAFile));
        for (bytes, read_as) in [
            (&b""[..], Ok("")),
            (b"abc", Ok("abc")),
            (b"abcd", Err(FileFault::TooLong { max_bytes: 3 })),
            (b"\xff", Err(FileFault::NotUtf8)),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path, 3), read_as.map(str::to_owned));
        }
    }
}
