//! A sorted list in its encoded form.

use crate::code;
use crate::{Format, Label};
use std::io;

/// Storage of the segments of a list.
pub trait Segments: Send + Sync {
    /// The bytes of segment `index`.
    ///
    /// # Errors
    /// Those of the file system.
    fn read(&self, index: u32) -> io::Result<Vec<u8>>;
}

/// Reasons why a list cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The storage cannot be read.
    #[error("a list of labels cannot be read: {0}")]
    Io(io::ErrorKind),
    /// The bytes do not encode a list of labels: their author did not follow the format.
    #[error("a list of labels is malformed")]
    Malformed,
}

impl From<io::Error> for ListError {
    fn from(error: io::Error) -> Self {
        ListError::Io(error.kind())
    }
}

/// A sorted list whose segments are read on demand.
pub struct List<'a> {
    format: Format,
    /// The labels of segment s have the places `starts[s]..starts[s + 1]`.
    starts: Vec<u64>,
    source: &'a dyn Segments,
}

impl<'a> List<'a> {
    /// The list in `source`, in `format`; `counts` holds the number of labels of each segment.
    ///
    /// # Errors
    /// [`ListError::Malformed`] if `counts` does not have one entry per segment.
    pub fn new(
        format: Format,
        counts: &[u32],
        source: &'a dyn Segments,
    ) -> Result<Self, ListError> {
        if counts.len() != format.segments() as usize {
            return Err(ListError::Malformed);
        }
        let mut starts = vec![0];
        let mut sum = 0;
        starts.extend(counts.iter().map(|count| {
            sum += u64::from(*count);
            sum
        }));
        Ok(Self { format, starts, source })
    }

    /// The list's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of labels.
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether the list has no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of the first label of segment `index`.
    pub fn start(&self, index: u32) -> u64 {
        self.starts[index as usize]
    }

    /// The bytes of segment `index` as they are encoded. Of their contents only the count is
    /// checked.
    ///
    /// # Errors
    /// Any [`ListError`].
    pub fn encoded(&self, index: u32) -> Result<Vec<u8>, ListError> {
        let bytes = self.source.read(index)?;
        let count = u64::from(count_segment(self.format, &bytes)?);
        let is_expected = count == self.start(index + 1) - self.start(index);
        if is_expected { Ok(bytes) } else { Err(ListError::Malformed) }
    }

    /// Fills `out` with the labels of segment `index`, ascending.
    ///
    /// # Errors
    /// Any [`ListError`].
    pub fn segment(&self, index: u32, out: &mut Vec<Label>) -> Result<(), ListError> {
        out.clear();
        let bytes = self.source.read(index)?;
        decode_segment(self.format, index, &bytes, out)?;
        let expected = self.starts[index as usize + 1] - self.starts[index as usize];
        if out.len() as u64 == expected { Ok(()) } else { Err(ListError::Malformed) }
    }
}

/// The number of labels of an encoded segment, checked against its length only.
///
/// # Errors
/// [`ListError::Malformed`].
pub fn count_segment(format: Format, bytes: &[u8]) -> Result<u32, ListError> {
    let count = code::count(bytes).ok_or(ListError::Malformed)?;
    let fits = format.segment_bytes(u64::from(count)) == bytes.len() as u64;
    if fits { Ok(count) } else { Err(ListError::Malformed) }
}

/// Appends the labels of a written segment to `out`.
///
/// # Errors
/// [`ListError::Malformed`] if the length does not match the counts, or labels are not ascending.
pub fn decode_segment(
    format: Format,
    index: u32,
    bytes: &[u8],
    out: &mut Vec<Label>,
) -> Result<(), ListError> {
    code::decode(format, index, bytes, out).map_err(|_| ListError::Malformed)
}
