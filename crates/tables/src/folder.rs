//! A folder of files that are one input: which entries are its files, and the columns that names of
//! folders give.
//!
//! Programs that write tables in parts agree on the names: `part-0.parquet` or `data_0.csv` is a
//! file of rows, `country=DE/part-0.parquet` one whose rows all have `DE` in the column `country`,
//! and what begins with `_` or `.` is theirs.

use crate::source::ReadOptions;
use arrow_schema::SchemaRef;
use std::borrow::Cow;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_inputs::error::{InputError, StrayKind};
use vesica_inputs::snapshot::Snapshot;

/// The value in the name of a folder that represents an empty cell.
const EMPTY: &[u8] = b"__HIVE_DEFAULT_PARTITION__";

/// Logs of tables: they say which of the files of a folder count.
const TABLE_LOGS: [&[u8]; 3] = [b"_delta_log", b".hoodie", b"_spark_metadata"];

/// A file of a folder as it was found.
#[derive(Debug)]
pub(crate) struct Part {
    /// Within the folder.
    pub(crate) name: PathBuf,
    pub(crate) snapshot: Arc<Snapshot>,
}

/// The files of a folder. None of them stays open or known in detail: there may be a hundred
/// thousand.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) parts: Vec<Part>,
    /// The length of all files before each.
    pub(crate) before: Vec<u64>,
    /// The columns that names of folders give.
    pub(crate) named: Vec<String>,
    /// As they are given, with the delimiter of the first file.
    pub(crate) options: ReadOptions,
    pub(crate) rows: Option<u64>,
    /// The types of all columns, of Parquet files.
    pub(crate) schema: Option<SchemaRef>,
}

impl Folder {
    pub(crate) fn named(&self) -> &[String] {
        &self.named
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn len_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.snapshot.len_bytes()).sum()
    }

    pub(crate) fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// The types of the columns of Parquet files, including those from folder names.
    pub(crate) fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// Whether `metadata` belongs to one of the files.
    pub(crate) fn has_file(&self, metadata: &Metadata) -> bool {
        self.parts.iter().any(|part| part.snapshot.is_file_of(metadata))
    }

    /// Checks that the folder at `root` has the same files, unchanged.
    pub(crate) fn check_unchanged(&self, root: &Path) -> Result<(), InputError> {
        let now = list(root)?.parts;
        let has_names_of = |(known, now): (&Part, &Part)| known.name == now.name;
        if now.len() != self.parts.len() || !self.parts.iter().zip(&now).all(has_names_of) {
            return Err(InputError::Changed { path: root.to_path_buf() });
        }
        for (known, now) in self.parts.iter().zip(&now) {
            if !known.snapshot.is_untouched(&now.snapshot) {
                let path = root.join(&known.name);
                let file =
                    std::fs::File::open(&path).map_err(|error| InputError::io(&path, &error))?;
                known.snapshot.check(&file, &path)?;
            }
        }
        Ok(())
    }
}

/// The entries of a folder.
pub(crate) struct Listing {
    /// In the order of the bytes of their names.
    pub(crate) parts: Vec<Part>,
    /// The permissions that all files and folders give.
    pub(crate) mode: u32,
}

/// The files of the folder `root`, and of those in it.
pub(crate) fn list(root: &Path) -> Result<Listing, InputError> {
    let mut listing = Listing { parts: Vec::new(), mode: !0 };
    // Links to folders are refused, so that there is an end.
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let at = root.join(&folder);
        let failed = |error: io::Error| InputError::io(&at, &error);
        for entry in std::fs::read_dir(&at).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = folder.join(entry.file_name());
            if let Some(found) = look(root, &name)? {
                listing.mode &= found.permissions().mode();
                if found.is_dir() {
                    folders.push(name);
                } else {
                    listing.parts.push(Part { name, snapshot: Arc::new(Snapshot::of(&found)) });
                }
            }
        }
    }
    let bytes = |part: &Part| part.name.as_os_str().as_bytes().to_vec();
    listing.parts.sort_by_cached_key(bytes);
    Ok(listing)
}

/// The kind of an entry of the folder `root`, if it is a part of the data.
fn look(root: &Path, name: &Path) -> Result<Option<Metadata>, InputError> {
    let path = root.join(name);
    let stray = |kind| {
        let (folder, path) = (root.to_path_buf(), path.clone());
        Err(InputError::StrayEntry { folder, path, kind })
    };
    let own = name.file_name().unwrap_or_default().as_bytes();
    if TABLE_LOGS.contains(&own) {
        return stray(StrayKind::TableLog);
    }
    let failed = |error: io::Error| InputError::io(&path, &error);
    // The column of a folder's name may begin with `_`.
    let is_hidden = own.starts_with(b".") || (own.starts_with(b"_") && !own.contains(&b'='));
    if is_hidden || own.ends_with(b".crc") {
        return Ok(None);
    }
    let metadata = std::fs::metadata(&path).map_err(failed)?;
    if metadata.is_dir() {
        if std::fs::symlink_metadata(&path).map_err(failed)?.is_symlink() {
            return stray(StrayKind::LinkToFolder);
        }
        return match own.iter().position(|byte| *byte == b'=') {
            None | Some(0) => stray(StrayKind::Folder),
            Some(_) if parted(own).is_none() => stray(StrayKind::BadName),
            Some(_) => Ok(Some(metadata)),
        };
    }
    let is_file = own.first() != Some(&b'_');
    Ok(Some(metadata).filter(|metadata| is_file && !(metadata.is_file() && metadata.len() == 0)))
}

/// The columns in the names of the folders of a file.
pub(crate) fn keys_of(name: &Path) -> Vec<Cow<'_, str>> {
    folders_of(name).map(|(key, _)| key).collect()
}

/// The columns in the names of the folders of a file, and their cells; `None` for an empty one.
pub(crate) fn named_cells(name: &Path) -> Vec<(String, Option<String>)> {
    let owned = |(key, cell): (Cow<'_, str>, Option<Cow<'_, str>>)| {
        (key.into_owned(), cell.map(Cow::into_owned))
    };
    folders_of(name).map(owned).collect()
}

fn folders_of(name: &Path) -> impl Iterator<Item = (Cow<'_, str>, Option<Cow<'_, str>>)> {
    let folders = name.parent().into_iter().flat_map(Path::components);
    folders.filter_map(|folder| parted(folder.as_os_str().as_bytes()))
}

/// The column and the cell in the name of a folder.
fn parted(name: &[u8]) -> Option<(Cow<'_, str>, Option<Cow<'_, str>>)> {
    let at = name.iter().position(|byte| *byte == b'=')?;
    let (key, cell) = (&name[..at], &name[at + 1..]);
    let cell = if cell == EMPTY { None } else { Some(decoded(cell)?) };
    Some((decoded(key)?, cell))
}

/// A part of a name without its percent encoding; `None` if the bytes are not UTF-8.
fn decoded(text: &[u8]) -> Option<Cow<'_, str>> {
    if !text.contains(&b'%') {
        return std::str::from_utf8(text).ok().map(Cow::Borrowed);
    }
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut bytes, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let encoded = Some(byte).filter(|byte| **byte == b'%');
        match encoded.and_then(|_| digit(at + 1).zip(digit(at + 2))) {
            Some((high, low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            // Writers of these names encode `%` itself; others may not.
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(name: &str) -> Vec<(String, Option<String>)> {
        named_cells(Path::new(name))
    }

    #[test]
    fn names_of_folders_give_columns_and_cells() {
        let some = |key: &str, cell: &str| (key.to_owned(), Some(cell.to_owned()));
        assert_eq!(cells("part-0.csv"), []);
        assert_eq!(cells("a=1/b=x=y/part=0.csv"), [some("a", "1"), some("b", "x=y")]);
        assert_eq!(cells("a=/p.csv"), [some("a", "")]);
        assert_eq!(cells("a=__HIVE_DEFAULT_PARTITION__/p.csv"), [("a".to_owned(), None)]);
        assert_eq!(cells("d%C3%A9%3D=a%2Fb%20c+d/p"), [some("d\u{e9}=", "a/b c+d")]);
        assert_eq!(cells("a=50%/b=%zz%4/p"), [some("a", "50%"), some("b", "%zz%4")]);
    }

    #[test]
    fn names_that_are_not_utf8_after_decoding_have_no_cell() {
        assert_eq!(parted(b"a=%ff"), None);
        assert_eq!(parted(b"a=\xff"), None);
        assert_eq!(parted(b"%c3=a"), None);
        assert_eq!(parted(b"no-cell"), None);
    }
}
