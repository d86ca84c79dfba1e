//! A file of rows: opened and checked once, read as often as needed.

mod columns;
mod files;
mod missing;
mod options;

pub(crate) use files::SourceFile;
pub use options::ReadOptions;

use crate::columnar::{self, Batches, CellColumn, Frame, Table};
use crate::folder::Folder;
use crate::known_file::KnownFile;
use arrow_schema::SchemaRef;
use std::fs::{File, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_inputs::error::{EncodingGuess, FileKind, InputError, Place};
use vesica_inputs::foreign;
use vesica_inputs::format::{Codec, Content, FileFormat, Format, sniff};
use vesica_inputs::snapshot::Snapshot;
use vesica_inputs::text::dialect;
use vesica_inputs::text::reader::{RecordReader, looks_like_utf16};
use vesica_inputs::text::stream::ByteStream;
use vesica_inputs::text::top::{Lines, Skip, Top};
use vesica_inputs::workbook::{self, Workbook};

/// The text that errors about a frame have in place of a path.
pub const FRAME: &str = "the frame";

/// Mode of results that are written from a frame.
const OWNERS_MODE: u32 = 0o600;

/// The format of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextLayout {
    pub(crate) delimiter: u8,
    pub(crate) header: bool,
    /// Whether each row, but not the header, has a delimiter after its last cell.
    pub(crate) ends_with_delimiter: bool,
    /// What stands above the header.
    pub(crate) top: Top,
}

impl TextLayout {
    fn new(delimiter: u8, header: bool, top: Top) -> Self {
        Self { delimiter, header, ends_with_delimiter: false, top }
    }
}

/// The structure of a file.
#[derive(Debug)]
pub(crate) enum Layout {
    Text(TextLayout),
    Parquet(Table),
    Frame(Frame),
    /// A folder, and its first file.
    Folder(Folder, Box<Source>),
}

/// Rows with named columns: a regular file or a folder of such files, which can be read again, or a
/// frame, which is read once.
#[derive(Debug)]
pub struct Source {
    known: KnownFile,
    format: FileFormat,
    columns: Vec<String>,
    layout: Layout,
    /// The delimiter, where it was found by looking at the file.
    guessed: Option<u8>,
    mode: u32,
}

impl Source {
    /// Opens a file, or a folder of files, and reads its column names.
    ///
    /// The files of a folder are CSV, TSV or Parquet, all in the same format and with the same
    /// columns; their rows follow each other in the order of the bytes of the files' paths within
    /// the folder. Folders in it are named `column=value`: these columns come last. Empty files,
    /// and names that begin with `_` or `.`, are left out.
    ///
    /// # Errors
    /// The file is missing, unreadable, no regular file, empty, of an unknown or another format,
    /// not UTF-8, damaged, or shorter than what is to be skipped. A folder has no files, has other
    /// entries too, or has files that do not fit together.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, InputError> {
        let path = path.as_ref().to_path_buf();
        if let Some(delimiter) = options.delimiter
            && (!delimiter.is_ascii() || matches!(delimiter, 0 | b'"' | b'\n' | b'\r'))
        {
            return Err(InputError::BadDelimiter { delimiter });
        }
        if let Some(comment) = options.comment
            && (!comment.is_ascii()
                || matches!(comment, 0 | b'"' | b'\n' | b'\r')
                || options.delimiter == Some(comment))
        {
            return Err(InputError::BadComment { comment });
        }
        // Opening a pipe would wait for its other end, so the kind is looked at first.
        let metadata = std::fs::metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if path.as_os_str() == "-" => InputError::StandardInput,
            _ => InputError::io(&path, &error),
        })?;
        if metadata.is_dir() {
            return match Workbook::of_name(&path) {
                // Numbers may write a folder.
                Some(workbook) => Err(InputError::Workbook { path, workbook }),
                None => Self::open_folder(path, &metadata, options),
            };
        }
        Self::open_file(path, &metadata, options)
    }

    /// Opens a regular file with this metadata.
    pub(crate) fn open_file(
        path: PathBuf,
        metadata: &Metadata,
        options: &ReadOptions,
    ) -> Result<Self, InputError> {
        Self::open_known(path, metadata, Arc::new(Snapshot::of(metadata)), options)
    }

    /// Opens a regular file with this metadata, which was the file of `snapshot` at first.
    pub(crate) fn open_known(
        path: PathBuf,
        metadata: &Metadata,
        snapshot: Arc<Snapshot>,
        options: &ReadOptions,
    ) -> Result<Self, InputError> {
        if let Some(kind) = kind_of(metadata.file_type()) {
            return Err(InputError::NotAFile { path, kind });
        }
        refuse_workbook(&path, options.format)?;
        let Some(format) = FileFormat::of(&path, options.format) else {
            return Err(unknown_format(path));
        };
        if metadata.len() == 0 {
            return Err(InputError::Empty { path });
        }
        let known = KnownFile { path, snapshot: Some(snapshot) };
        let layout = Layout::Text(TextLayout::new(b',', options.header, Top::default()));
        let mode = metadata.permissions().mode();
        let columns = Vec::new();
        let mut source = Self { known, format, columns, layout, guessed: None, mode };
        source.check_content()?;
        if format.format == Format::Parquet {
            let table = Table::open(&source.known)?;
            source.columns = table.names();
            source.layout = Layout::Parquet(table);
        } else {
            source.open_text(options)?;
        }
        Ok(source)
    }

    /// The rows of record batches, with their column names. `rows` is their number, if it is known
    /// beforehand. In errors [`FRAME`] stands where the path of a file would.
    ///
    /// The keys are the same as for a Parquet file with the same columns. Batches are read when the
    /// first pass asks for them, and no column is copied that has a text form already; a second
    /// pass is an error ([`InputError::AlreadyRead`]).
    pub fn of_batches(batches: Batches, rows: Option<u64>) -> Self {
        let frame = Frame::new(batches, rows);
        Self {
            known: KnownFile { path: FRAME.into(), snapshot: None },
            format: FileFormat { format: Format::Arrow, codec: Codec::Plain },
            columns: frame.names(),
            layout: Layout::Frame(frame),
            guessed: None,
            mode: OWNERS_MODE,
        }
    }

    /// The path as given, or [`FRAME`].
    pub fn path(&self) -> &Path {
        &self.known.path
    }

    /// The names of the columns, in the file's order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The format, by the name or the options.
    pub fn format(&self) -> Format {
        self.format.format
    }

    /// The compression of the file as a whole.
    pub fn codec(&self) -> Codec {
        self.format.codec
    }

    /// The delimiter of a text file.
    pub fn delimiter(&self) -> Option<u8> {
        match &self.file_layout() {
            Layout::Text(text) => Some(text.delimiter),
            _ => None,
        }
    }

    /// Length of the file in bytes, as it lies on disk; of all files of a folder; 0 for a frame.
    pub fn len_bytes(&self) -> u64 {
        match &self.layout {
            Layout::Folder(folder, _) => folder.len_bytes(),
            _ => self.known.snapshot.as_ref().map_or(0, |snapshot| snapshot.len_bytes()),
        }
    }

    /// Number of files of a folder; `None` for anything else.
    pub fn parts(&self) -> Option<usize> {
        match &self.layout {
            Layout::Folder(folder, _) => Some(folder.len()),
            _ => None,
        }
    }

    /// Number of rows where the file itself (Parquet) or the maker of a frame says it.
    pub fn rows(&self) -> Option<u64> {
        match &self.layout {
            Layout::Text(_) => None,
            Layout::Parquet(table) => Some(table.rows()),
            Layout::Frame(frame) => frame.rows(),
            Layout::Folder(folder, _) => folder.rows(),
        }
    }

    /// The file, to be opened again.
    pub(crate) fn known(&self) -> &KnownFile {
        &self.known
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The source itself, or the first file of a folder.
    pub(crate) fn first_file(&self) -> &Source {
        match &self.layout {
            Layout::Folder(_, first) => first,
            _ => self,
        }
    }

    /// The layout of each file: of the source, or of the first file of a folder.
    pub(crate) fn file_layout(&self) -> &Layout {
        &self.first_file().layout
    }

    /// The columns that names of folders give: the last ones.
    pub(crate) fn named(&self) -> &[String] {
        match &self.layout {
            Layout::Folder(folder, _) => folder.named(),
            _ => &[],
        }
    }

    /// The types of all columns of a folder of Parquet files.
    pub(crate) fn schema(&self) -> Option<&SchemaRef> {
        match &self.layout {
            Layout::Folder(folder, _) => folder.schema(),
            _ => None,
        }
    }

    /// Whether `metadata` belongs to this file, or to one of the folder, by device and inode.
    pub(crate) fn is_same_file(&self, metadata: &Metadata) -> bool {
        match &self.layout {
            Layout::Folder(folder, _) => folder.has_file(metadata),
            _ => self.known.snapshot.as_ref().is_some_and(|snapshot| snapshot.is_file_of(metadata)),
        }
    }

    /// The permission bits of the file.
    pub(crate) fn mode(&self) -> u32 {
        self.mode
    }

    /// The error for rows that no second pass can read.
    pub(crate) fn already_read(&self) -> InputError {
        InputError::AlreadyRead { path: self.known.path.clone() }
    }

    /// Keeps a digest of what a pass over these cells of a Parquet file reads, before it does.
    pub(crate) fn keep_digest(
        &self,
        table: &Table,
        cells: &[CellColumn],
    ) -> Result<(), InputError> {
        match &self.known.snapshot {
            Some(snapshot) if !snapshot.has_digest() => {
                let columns: Vec<usize> = cells.iter().map(|cell| cell.path.column).collect();
                let ranges = columnar::guarded(&self.known.path, || Ok(table.bytes_of(&columns)))?;
                snapshot
                    .keep_of(&self.known.reopen()?, ranges)
                    .map_err(|error| InputError::io(&self.known.path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Keeps the digest of the text file that `reader` has read to its end.
    pub(crate) fn keep_digest_of(&self, reader: &RecordReader) {
        if let (Some(snapshot), Some(value)) = (&self.known.snapshot, reader.digest()) {
            snapshot.keep(reader.bytes_done(), value);
        }
    }

    /// Checks, after a pass, that nothing was written to the file meanwhile.
    pub(crate) fn check_unchanged(&self) -> Result<(), InputError> {
        match &self.layout {
            Layout::Frame(_) => Ok(()),
            Layout::Folder(folder, _) => folder.check_unchanged(&self.known.path),
            _ => self.known.reopen().map(drop),
        }
    }

    /// The records after the header, and the header as it is in the file.
    pub(crate) fn records(&self) -> Result<(RecordReader, Header), InputError> {
        let layout = match &self.layout {
            Layout::Text(text) => text,
            // Only the text passes ask for records.
            _ => &TextLayout::new(b',', true, Top::default()),
        };
        let mut reader = self.reader(layout)?;
        let had_bom = reader.had_bom() || layout.top.had_bom;
        let mut header = Header { had_bom, raw: Vec::new(), body_len: 0 };
        if layout.header
            && let Some(record) = reader.next_record()?
        {
            let (body, whole) = record.raw();
            header.raw.extend_from_slice(whole);
            header.body_len = body.len();
        }
        reader.expect(&self.columns, layout.ends_with_delimiter);
        Ok((reader, header))
    }

    /// The records from the header on.
    fn reader(&self, layout: &TextLayout) -> Result<RecordReader, InputError> {
        let needs_digest =
            self.known.snapshot.as_ref().is_some_and(|snapshot| !snapshot.has_digest());
        let open = if needs_digest { ByteStream::digesting } else { ByteStream::new };
        let mut stream = open(self.known.reopen()?, self.format.codec, &self.known.path)?;
        stream.skip(layout.top.bytes)?;
        let mut reader = RecordReader::new(stream, layout.delimiter)?;
        reader.count_lines_before(layout.top.lines);
        Ok(reader)
    }

    /// The approximate position in the file of a row of a Parquet file.
    pub(crate) fn bytes_at_row(&self, row: u64, table: &Table) -> u64 {
        let part = row as f64 / table.rows().max(1) as f64;
        (part * self.len_bytes() as f64) as u64
    }

    /// Compares the first bytes with the name.
    fn check_content(&self) -> Result<(), InputError> {
        let mut head = [0; foreign::HEAD_BYTES];
        let mut plain = ByteStream::new(self.known.reopen()?, Codec::Plain, &self.known.path)?;
        let len = plain.fill(&mut head)?;
        let found = sniff(&head[..len]);
        let expected = match (self.format.format, self.format.codec) {
            (Format::Parquet | Format::Arrow, _) => Content::Parquet,
            (_, Codec::Gzip) => Content::Gzip,
            (_, Codec::Zstd) => Content::Zstd,
            (_, Codec::Plain) => Content::Text,
        };
        let unknown_is_right = match expected {
            Content::Text => true,
            // A zstd file may begin with a skippable frame, which has no fixed first byte.
            Content::Zstd => head[..len].first().is_some_and(|byte| byte & 0xf0 == 0x50),
            _ => false,
        };
        if found == expected || (found == Content::Unknown && unknown_is_right) {
            return Ok(());
        }
        Err(InputError::WrongContent { path: self.known.path.clone(), expected, found })
    }

    fn open_text(&mut self, options: &ReadOptions) -> Result<(), InputError> {
        let stream = ByteStream::new(self.known.reopen()?, self.format.codec, &self.known.path)?;
        let mut lines = Lines::new(stream);
        if looks_like_utf16(lines.head()?.0) {
            return Err(InputError::InvalidUtf8 {
                path: self.known.path.clone(),
                place: Place::Line(1),
                byte: 1,
                column: None,
                guess: EncodingGuess::Utf16,
            });
        }
        let skip = Skip { rows: options.skip_rows, comment: options.comment };
        let top = lines.skip_top(skip)?;
        let given = options.delimiter.or(top.sep.as_ref().map(|sep| sep.delimiter));
        let delimiter = match (given, self.format.format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            (None, _) => {
                let (head, is_whole) = lines.head()?;
                let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
                let delimiter = dialect::detect(text, is_whole);
                self.guessed = Some(delimiter);
                delimiter
            }
        };
        let mut layout = TextLayout::new(delimiter, options.header, top);
        let mut reader = self.reader(&layout)?;
        let Some(record) = reader.next_record()? else {
            return Err(InputError::Empty { path: self.known.path.clone() });
        };
        let mut scratch = Vec::new();
        self.columns = (0..record.len())
            .map(|index| {
                if options.header {
                    String::from_utf8_lossy(record.cell(index, &mut scratch)).into_owned()
                } else {
                    (index + 1).to_string()
                }
            })
            .collect();
        if let Some(error) = reader.backslashed() {
            return Err(error);
        }
        // A fault of the first row is reported together with the faults of all other rows.
        if options.header
            && let Ok(Some(row)) = reader.next_record()
        {
            let is_longer = row.len() == self.columns.len() + 1;
            layout.ends_with_delimiter = is_longer && row.has_empty_cell(self.columns.len());
        }
        self.layout = Layout::Text(layout);
        Ok(())
    }
}

/// Refuses a workbook, and a file that is named like one unless it is text.
fn refuse_workbook(path: &Path, format: Option<Format>) -> Result<(), InputError> {
    let file = File::open(path).map_err(|error| InputError::io(path, &error))?;
    let mut head = vec![0; workbook::HEAD_BYTES];
    let len = ByteStream::new(file, Codec::Plain, path)?.fill(&mut head)?;
    let head = &head[..len];
    let by_name = || match format {
        None if !workbook::is_text(head) || head.is_empty() => Workbook::of_name(path),
        _ => None,
    };
    match Workbook::of_content(head, path).or_else(by_name) {
        Some(workbook) => Err(InputError::Workbook { path: path.to_path_buf(), workbook }),
        None => Ok(()),
    }
}

/// The error for a file whose name does not show its format: what its first bytes show, if they do.
fn unknown_format(path: PathBuf) -> InputError {
    let mut head = [0; foreign::HEAD_BYTES];
    let found = File::open(&path)
        .map_err(|error| InputError::io(&path, &error))
        .and_then(|file| ByteStream::new(file, Codec::Plain, &path)?.fill(&mut head))
        .map(|len| sniff(&head[..len]));
    match found {
        Ok(found @ (Content::Foreign(_) | Content::Zip)) => {
            InputError::WrongContent { path, expected: Content::Text, found }
        }
        _ => InputError::UnknownFormat { path },
    }
}

/// The header of a text file as it stands there.
pub(crate) struct Header {
    pub(crate) had_bom: bool,
    /// The record with its line end; empty if the file has no header.
    pub(crate) raw: Vec<u8>,
    /// Its length without the line end.
    pub(crate) body_len: usize,
}

/// The kind of a file that is not regular.
pub(crate) fn kind_of(file_type: FileType) -> Option<FileKind> {
    if file_type.is_file() {
        None
    } else if file_type.is_dir() {
        Some(FileKind::Directory)
    } else if file_type.is_fifo() {
        Some(FileKind::Pipe)
    } else if file_type.is_socket() {
        Some(FileKind::Socket)
    } else {
        Some(FileKind::Device)
    }
}
