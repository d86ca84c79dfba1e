//! The files of a source: itself, or those of a folder.

use super::{Layout, ReadOptions, Source};
use crate::columnar::cells::type_name;
use crate::folder::{Folder, Listing, Part, keys_of, list, named_cells};
use crate::known_file::KnownFile;
use arrow_schema::{DataType, Field, Schema};
use std::fs::Metadata;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use vesica_inputs::error::{InFile, InputError, StrayKind, Unlike};
use vesica_inputs::format::FileFormat;

/// A file of a source: the source itself, or a part of a folder, which is open as long as this
/// lives.
pub(crate) struct SourceFile<'a> {
    source: Held<'a>,
    pub(crate) at: InFile,
    /// The cells of all its rows in the columns that names of folders give; `None` for an empty
    /// one.
    pub(crate) named: Vec<Option<String>>,
    /// The length of all files before it.
    pub(crate) bytes_before: u64,
}

/// A source that is lent or one that was opened for this.
enum Held<'a> {
    Whole(&'a Source),
    Part(Box<Source>),
}

impl SourceFile<'_> {
    /// The cells of all its rows in the columns that names of folders give.
    pub(crate) fn named_cells(&self) -> impl Iterator<Item = &[u8]> {
        self.named.iter().map(|cell| cell.as_deref().unwrap_or_default().as_bytes())
    }
}

impl Deref for SourceFile<'_> {
    type Target = Source;

    fn deref(&self) -> &Source {
        match &self.source {
            Held::Whole(source) => source,
            Held::Part(source) => source,
        }
    }
}

impl Source {
    /// Opens the folder `root` with this metadata.
    pub(super) fn open_folder(
        root: PathBuf,
        metadata: &Metadata,
        options: &ReadOptions,
    ) -> Result<Self, InputError> {
        let Listing { parts, mode } = list(&root)?;
        let path_of = |part: &Part| root.join(&part.name);
        let Some(first_part) = parts.first() else {
            return Err(InputError::NoParts { path: root });
        };
        let unlike = |part: &Part, unlike| InputError::UnlikeParts {
            first: path_of(first_part),
            second: path_of(part),
            unlike,
        };
        let format_of = |part: &Part| match FileFormat::of(&part.name, options.format) {
            Some(format) => Ok(format.format),
            None => {
                let (folder, path) = (root.clone(), path_of(part));
                Err(InputError::StrayEntry { folder, path, kind: StrayKind::OtherFile })
            }
        };
        let (format, keys) = (format_of(first_part)?, keys_of(&first_part.name));
        for part in &parts {
            if format_of(part)? != format {
                return Err(unlike(part, Unlike::Formats));
            }
            if keys_of(&part.name) != keys {
                return Err(unlike(part, Unlike::Folders));
            }
        }
        let open_part = |part: &Part, options: &ReadOptions| {
            let path = path_of(part);
            let metadata =
                std::fs::metadata(&path).map_err(|error| InputError::io(&path, &error))?;
            Self::open_file(path, &metadata, options)
        };
        let first = open_part(first_part, options)?;
        // A file of few rows tells less about its delimiter than another one.
        let options =
            ReadOptions { delimiter: first.delimiter().or(options.delimiter), ..*options };
        let mut rows = first.rows();
        let mut fields = fields_of(&first);
        for part in &parts[1..] {
            let source = open_part(part, &options)?;
            if source.columns() != first.columns() {
                return Err(unlike(part, Unlike::Columns));
            }
            for (known, new) in fields.iter_mut().zip(fields_of(&source)) {
                if known.data_type() != new.data_type() {
                    let types = [&*known, &new].map(|field| type_name(field.data_type()));
                    let column = known.name().clone();
                    return Err(unlike(part, Unlike::Types { column, types }));
                }
                // Whether a column may have empty cells is a matter of each file.
                known.set_nullable(known.is_nullable() || new.is_nullable());
            }
            rows = rows.zip(source.rows()).map(|(before, own)| before + own);
        }
        let named: Vec<String> = keys.iter().map(|key| key.clone().into_owned()).collect();
        if let Some(column) = named.iter().find(|name| first.columns().contains(name)) {
            let path = path_of(first_part);
            return Err(InputError::ColumnOfFolders { path, column: column.clone() });
        }
        if let Some(at) = (1..named.len()).find(|at| named[..*at].contains(&named[*at])) {
            let path = path_of(first_part);
            return Err(InputError::ColumnOfFolders { path, column: named[at].clone() });
        }
        let schema = match first.layout() {
            Layout::Parquet(table) => {
                fields.extend(named.iter().map(|name| Field::new(name, DataType::Utf8, true)));
                let metadata = table.schema().metadata().clone();
                Some(Arc::new(Schema::new_with_metadata(fields, metadata)))
            }
            _ => None,
        };
        let mut bytes = 0;
        let before = parts.iter().map(|part| {
            bytes += part.snapshot.len_bytes();
            bytes - part.snapshot.len_bytes()
        });
        let before = before.collect();
        // A user who may not list the folder could not read its files.
        let mode = mode & metadata.permissions().mode();
        let folder = Folder { before, named, options, rows, schema, parts };
        Ok(Self::of_folder(root, folder, first, mode))
    }

    /// The rows of a folder, like its first file, with the columns that names give and the
    /// permissions `mode`.
    fn of_folder(path: PathBuf, folder: Folder, first: Source, mode: u32) -> Self {
        let columns = first.columns.iter().chain(folder.named()).cloned().collect();
        let (format, guessed) = (first.format, first.guessed);
        let layout = Layout::Folder(folder, Box::new(first));
        let known = KnownFile { path, snapshot: None };
        Self { known, format, columns, layout, guessed, mode }
    }

    /// Number of files that are read one after another.
    pub(crate) fn files(&self) -> usize {
        self.parts().unwrap_or(1)
    }

    /// File number `index`: the source itself, unless it is a folder.
    pub(crate) fn file(&self, index: usize) -> Result<SourceFile<'_>, InputError> {
        match &self.layout {
            Layout::Folder(folder, _) => self.part(folder, index),
            _ => Ok(SourceFile {
                source: Held::Whole(self),
                at: InFile { path: self.known.path.as_path().into(), part: None },
                named: Vec::new(),
                bytes_before: 0,
            }),
        }
    }

    /// Opens file number `index` of the folder, if it is still the same.
    fn part(&self, folder: &Folder, index: usize) -> Result<SourceFile<'_>, InputError> {
        let part = &folder.parts[index];
        let path = self.known.path.join(&part.name);
        let changed = || InputError::Changed { path: path.clone() };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => changed(),
            _ => InputError::io(&path, &error),
        };
        let opened = std::fs::File::open(&path).map_err(failed)?;
        part.snapshot.check(&opened, &path)?;
        let metadata = opened.metadata().map_err(failed)?;
        let snapshot = Arc::clone(&part.snapshot);
        let source = Self::open_known(path.clone(), &metadata, snapshot, &folder.options)?;
        let named = named_cells(&part.name).into_iter().map(|(_, cell)| cell).collect();
        Ok(SourceFile {
            source: Held::Part(Box::new(source)),
            at: InFile {
                path: path.as_path().into(),
                part: Some(part.name.to_string_lossy().into()),
            },
            named,
            bytes_before: folder.before[index],
        })
    }
}

/// The columns of a Parquet file.
fn fields_of(source: &Source) -> Vec<Field> {
    match source.layout() {
        Layout::Parquet(table) => {
            table.schema().fields().iter().map(|field| field.as_ref().clone()).collect()
        }
        _ => Vec::new(),
    }
}
