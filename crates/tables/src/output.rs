//! The destination of a result: it appears whole or not at all.

use crate::added::Added;
use crate::columnar::cells::type_name;
use crate::columnar::{self, Table};
use crate::sink::text::usual_delimiter;
use crate::source::{Layout, Source, kind_of};
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use vesica_inputs::error::{FileKind, InputError, OutputError, Unlike, WriteError};
use vesica_inputs::format::{Codec, FileFormat, Format};
use vesica_scratch::UnnamedFile;

/// The mode of a file that only its owner may read and write.
const OWNERS_MODE: u32 = 0o600;

/// The destination of the matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// The file; its extension determines the format, as for inputs.
    pub path: PathBuf,
    /// Whether a file of that name may be replaced.
    pub force: bool,
}

/// Checks, before any data moves, that [`crate::write_rows`] can write there any rows: every column
/// of a Parquet file is tried as by [`check_columns`], and columns that may hold what has no text
/// form are read.
///
/// # Errors
/// The format is unknown or cannot hold a column or a cell, the name is taken or is the input
/// itself, the directory is missing or not writable, or the input cannot be read.
pub fn check_output(source: &Source, options: &OutputOptions) -> Result<(), WriteError> {
    let output = TempOutput::create(source.into(), source, options)?;
    if let Layout::Frame(_) = source.layout() {
        return Err(source.already_read().into());
    }
    for index in 0..source.files() {
        let file = source.file(index)?;
        let Layout::Parquet(table) = file.layout() else { return Ok(()) };
        columnar::try_columns(file.known(), table)?;
        if output.format.format == Format::Parquet {
            check_units(source, &file, table)?;
        } else {
            columnar::check_texts(file.known(), &file.at, table)?;
        }
    }
    Ok(())
}

/// Like [`check_output`], for [`crate::write_with`].
///
/// # Errors
/// Errors of [`check_output`], and [`OutputError::ColumnTaken`].
pub fn check_added_output(
    source: &Source,
    added: &Added<'_>,
    options: &OutputOptions,
) -> Result<(), WriteError> {
    check_added(source, added)?;
    check_output(source, options)
}

/// Checks that the columns that [`crate::write_with`] adds have other names than those of the input
/// and each other.
///
/// # Errors
/// [`OutputError::ColumnTaken`].
pub fn check_added(source: &Source, added: &Added<'_>) -> Result<(), OutputError> {
    let mut taken: Vec<&str> = source.columns().iter().map(String::as_str).collect();
    for (at, name) in added.names().enumerate() {
        if taken.contains(&name) {
            let (column, is_mark) = (name.to_owned(), at == added.columns.len());
            return Err(OutputError::ColumnTaken { column, is_mark });
        }
        taken.push(name);
    }
    Ok(())
}

/// Checks that a unit holds each timestamp of a file, for the files of a folder the same one.
fn check_units(source: &Source, file: &Source, table: &Table) -> Result<(), InputError> {
    let own = table.whole(file.known())?.schema();
    let first = source.first_file();
    let Layout::Parquet(first_table) = first.layout() else { return Ok(()) };
    for (known, own) in first_table.whole(first.known())?.schema().fields().iter().zip(own.fields())
    {
        if known.data_type() != own.data_type() {
            let types = [known, own].map(|field| type_name(field.data_type()));
            return Err(InputError::UnlikeParts {
                first: first.path().to_path_buf(),
                second: file.path().to_path_buf(),
                unlike: Unlike::Types { column: own.name().clone(), types },
            });
        }
    }
    Ok(())
}

/// Checks that all columns of a Parquet file can be decoded, not only the key:
/// [`crate::write_rows`] reads all of them. The first rows of each are read; [`check_output`] does
/// the same.
///
/// # Errors
/// [`InputError::DamagedColumn`], and errors of reading.
pub fn check_columns(source: &Source) -> Result<(), InputError> {
    for index in 0..source.files() {
        let file = source.file(index)?;
        let Layout::Parquet(table) = file.layout() else { return Ok(()) };
        columnar::try_columns(file.known(), table)?;
    }
    Ok(())
}

/// Like [`check_output`], for a [`crate::TableWriter`].
///
/// # Errors
/// The name has an unknown format, is taken or is the input itself, or the directory is missing or
/// not writable.
pub fn check_table_output<'a>(
    origin: impl Into<Origin<'a>>,
    options: &OutputOptions,
) -> Result<(), OutputError> {
    TempOutput::table(origin.into(), options).map(drop)
}

/// Like [`check_output`], for [`write_document`].
///
/// # Errors
/// The name does not end in `.json`, is taken or is the input itself, or the directory is missing
/// or not writable.
pub fn check_document_output<'a>(
    origin: impl Into<Origin<'a>>,
    options: &OutputOptions,
) -> Result<(), OutputError> {
    TempOutput::document(origin.into(), options).map(drop)
}

/// Writes a JSON document, in all other respects like [`crate::write_rows`].
///
/// # Errors
/// Any error of writing, including the error of `write`.
pub fn write_document<'a>(
    origin: impl Into<Origin<'a>>,
    options: &OutputOptions,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let output = TempOutput::document(origin.into(), options)?;
    let mut out = BufWriter::new(output.writer()?);
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(|error| OutputError::io(output.path(), &error))?;
    output.commit()
}

/// The source of a result. It is never overwritten, and the result is not readable by more users.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A file of rows.
    Rows(&'a Source),
    /// A file of rows, for a result that only its owner may read, for any mode of the source.
    OwnersAlone(&'a Source),
    /// Other files; the first one's mode applies.
    Files(&'a [PathBuf]),
    /// The same, with a file of rows among them, whose delimiter applies.
    FilesLike(&'a [PathBuf], &'a Source),
}

impl<'a> From<&'a Source> for Origin<'a> {
    fn from(source: &'a Source) -> Self {
        Origin::Rows(source)
    }
}

impl<'a> From<&'a [PathBuf]> for Origin<'a> {
    fn from(files: &'a [PathBuf]) -> Self {
        Origin::Files(files)
    }
}

impl Origin<'_> {
    /// The delimiter of a table in a text `format`: the same as in the rows, if these have that
    /// format.
    pub(crate) fn delimiter(&self, format: Format) -> u8 {
        let source = match self {
            Origin::Rows(source) | Origin::OwnersAlone(source) => Some(source),
            Origin::FilesLike(_, source) => Some(source),
            Origin::Files(_) => None,
        };
        let same = source.filter(|source| source.format() == format);
        same.and_then(|source| source.delimiter()).unwrap_or(usual_delimiter(format))
    }

    fn is_same_file(&self, metadata: &Metadata) -> bool {
        match self {
            Origin::Rows(source) | Origin::OwnersAlone(source) => source.is_same_file(metadata),
            Origin::Files(files) | Origin::FilesLike(files, _) => files.iter().any(|file| {
                let other = std::fs::metadata(file);
                other.is_ok_and(|other| {
                    (other.dev(), other.ino()) == (metadata.dev(), metadata.ino())
                })
            }),
        }
    }

    /// Whether `path` is within the folder that is the input.
    fn is_folder_of(&self, path: &Path) -> bool {
        let (Origin::Rows(source) | Origin::OwnersAlone(source)) = self else { return false };
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let full = |path: &Path| std::fs::canonicalize(path).ok();
        source.parts().is_some()
            && full(parent)
                .zip(full(source.path()))
                .is_some_and(|(at, input)| at.starts_with(input))
    }

    fn mode(&self) -> io::Result<u32> {
        let path = match self {
            // The mode when it was opened: it may be gone by now, which the reader reports.
            Origin::Rows(source) => return Ok(source.mode()),
            Origin::OwnersAlone(_) => return Ok(OWNERS_MODE),
            Origin::Files(files) | Origin::FilesLike(files, _) => {
                files.first().ok_or(io::ErrorKind::NotFound)?
            }
        };
        Ok(std::fs::metadata(path)?.permissions().mode())
    }
}

/// A file in the target's directory that has no name until it is committed.
pub(crate) struct TempOutput {
    file: UnnamedFile,
    path: PathBuf,
    force: bool,
    format: FileFormat,
}

impl TempOutput {
    /// Checks the target for rows of `source`, and creates the temporary file with the mode of
    /// `origin`.
    pub(crate) fn create(
        origin: Origin<'_>,
        source: &Source,
        options: &OutputOptions,
    ) -> Result<Self, OutputError> {
        let output = Self::table(origin, options)?;
        if let Layout::Parquet(table) = source.file_layout() {
            check_types(table, output.format.format)?;
        }
        Ok(output)
    }

    /// The same for a file without rows of the input.
    pub(crate) fn table(origin: Origin<'_>, options: &OutputOptions) -> Result<Self, OutputError> {
        let format = FileFormat::of(&options.path, None)
            .ok_or_else(|| OutputError::UnknownFormat { path: options.path.clone() })?;
        Self::in_format(origin, options, format)
    }

    /// The same for a JSON document.
    fn document(origin: Origin<'_>, options: &OutputOptions) -> Result<Self, OutputError> {
        let extension = options.path.extension().unwrap_or_default();
        if !extension.eq_ignore_ascii_case("json") {
            return Err(OutputError::NotJson { path: options.path.clone() });
        }
        let plain = FileFormat { format: Format::Csv, codec: Codec::Plain };
        Self::in_format(origin, options, plain)
    }

    fn in_format(
        origin: Origin<'_>,
        options: &OutputOptions,
        format: FileFormat,
    ) -> Result<Self, OutputError> {
        let path = options.path.clone();
        check_target(origin, options)?;
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !directory.is_dir() {
            return Err(OutputError::NoDirectory { directory });
        }
        let failed = |error| OutputError::io(&path, &error);
        let mode = origin.mode().map_err(failed)?;
        // The owner must be able to write; the umask narrows the rest further.
        let file = UnnamedFile::create(&directory, mode & 0o666 | OWNERS_MODE).map_err(failed)?;
        Ok(Self { file, path, force: options.force, format })
    }

    pub(crate) fn format(&self) -> FileFormat {
        self.format
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A handle for writing.
    pub(crate) fn writer(&self) -> Result<File, OutputError> {
        self.file.as_file().try_clone().map_err(|error| OutputError::io(&self.path, &error))
    }

    /// Makes the file durable and gives it its name.
    pub(crate) fn commit(self) -> Result<(), OutputError> {
        let Self { file, path, force, .. } = self;
        file.persist(&path, force).map_err(|error| OutputError::io(&path, &error))
    }
}

fn check_types(table: &Table, format: Format) -> Result<(), OutputError> {
    if format == Format::Parquet {
        return Ok(());
    }
    match table.unsupported_as_text() {
        Some((column, type_name)) => Err(OutputError::UnsupportedTextType { column, type_name }),
        None => Ok(()),
    }
}

/// Whether a path can only name a directory: it ends with a slash, or with `.` or `..`.
fn is_folder_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    path.file_name().is_none_or(|name| !bytes.ends_with(name.as_bytes()))
}

fn check_target(origin: Origin<'_>, options: &OutputOptions) -> Result<(), OutputError> {
    let path = options.path.clone();
    if is_folder_name(&path) {
        return Err(OutputError::NotAFile { path, kind: FileKind::Directory });
    }
    match std::fs::metadata(&path) {
        Ok(metadata) if origin.is_same_file(&metadata) => Err(OutputError::SameAsInput { path }),
        // The next run would read it as a part of the data.
        _ if origin.is_folder_of(&path) => Err(OutputError::WithinInput { path }),
        Ok(metadata) => match kind_of(metadata.file_type()) {
            Some(kind) => Err(OutputError::NotAFile { path, kind }),
            None if options.force => Ok(()),
            None => Err(OutputError::Exists { path }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A dangling link also takes the name.
            match std::fs::symlink_metadata(&path) {
                Ok(_) if !options.force => Err(OutputError::Exists { path }),
                _ => Ok(()),
            }
        }
        // A component of the path is a file.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
            Err(OutputError::NoDirectory { directory })
        }
        Err(error) => Err(OutputError::io(&path, &error)),
    }
}
