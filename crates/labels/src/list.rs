//! A sorted list in its written form.

use crate::code;
use crate::{Format, Label};
use std::io;

/// Where the segments of a list are.
pub trait Segments: Send + Sync {
    /// The bytes of segment `index`.
    ///
    /// # Errors
    /// Those of the file system.
    fn read(&self, index: u32) -> io::Result<Vec<u8>>;
}

/// Why a list could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// Its place cannot be read.
    #[error("a list of labels cannot be read: {0}")]
    Io(io::ErrorKind),
    /// It is no list of labels: whoever wrote it did not follow the format.
    #[error("a list of labels is malformed")]
    Malformed,
}

impl From<io::Error> for ListError {
    fn from(error: io::Error) -> Self {
        ListError::Io(error.kind())
    }
}

/// A sorted list whose segments are read as they are needed.
pub struct List<'a> {
    format: Format,
    /// `starts[s]..starts[s + 1]` are the places of the labels of segment s.
    starts: Vec<u64>,
    source: &'a dyn Segments,
}

impl<'a> List<'a> {
    /// The list of `format` in `source`, `counts` being the number of labels of each segment.
    ///
    /// # Errors
    /// [`ListError::Malformed`] when there are other than the format's number of segments.
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

    /// How it is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of labels.
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place in the list of the first label of segment `index`.
    pub fn start(&self, index: u32) -> u64 {
        self.starts[index as usize]
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

/// Number of labels of a written segment, checked against its length; nothing else of it is.
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
/// [`ListError::Malformed`]: another length than its counts say, or not ascending.
pub fn decode_segment(
    format: Format,
    index: u32,
    bytes: &[u8],
    out: &mut Vec<Label>,
) -> Result<(), ListError> {
    code::decode(format, index, bytes, out).map_err(|_| ListError::Malformed)
}
