//! What a helper and a cluster write for each other into their folder.
//!
//! ```text
//! request   the run, a random name, each list's format and the count and digest of each of its segments
//! list-0    the segments of the first list, one after the other, as they are encoded; list-1, …
//! bits-A-B  the bits of each list for the ranges from A to before B: those of the segments that they touch
//! answer    the digests of all bits-A-B, or which list is malformed
//! ```
//!
//! An answer names the digest of its request, and each request has a random name: so an answer to
//! another request, of the same run too, is not taken for this one's. A cluster knows by the
//! digests of segments whether it reads what the helper wrote: only then it can say that a list is
//! malformed.

use crate::backend::RunName;
use crate::error::BackendError;
use std::fmt;
use std::io;
use std::ops::Range;
use vesica_core::hash::derive;
use vesica_labels::{Bits, Format, List, ListError, Ranges, Segments, join};

const MAGIC: &[u8] = b"vesica join request 1\n";
const ANSWER_MAGIC: &[u8] = b"vesica join answer 1\n";
const REQUEST_LABEL: &str = "vesica backends 2026 request of a join v1";
const SEGMENT_LABEL: &str = "vesica backends 2026 segment of a join v1";
const BITS_LABEL: &str = "vesica backends 2026 bits of a join v1";
const ANSWER_LABEL: &str = "vesica backends 2026 answer of a join v1";

/// A BLAKE3 digest.
pub type Digest = [u8; 32];

/// Bytes for a segment in a request: its count and digest.
const SEGMENT_LEN: usize = 4 + size_of::<Digest>();
/// Bytes for each part in an answer: its first range, its end, and its digest.
const PART_LEN: usize = 8 + size_of::<Digest>();

/// The tags of answers.
const PARTS: u8 = 0;
const MALFORMED: u8 = 1;

/// Reads the copies of lists.
pub trait Copies: Sync {
    /// `len` bytes of the copy of list `list`, from `offset` on.
    ///
    /// # Errors
    /// Those of the storage.
    fn read_at(&self, list: usize, offset: u64, len: u64) -> io::Result<Vec<u8>>;
}

/// A list as a request has it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) format: Format,
    pub(crate) counts: Vec<u32>,
    pub(crate) digests: Vec<Digest>,
}

/// A request to find the common labels of lists, for [`join::common`] in programs of the cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinRequest {
    run: RunName,
    id: [u8; 16],
    lists: Vec<Copied>,
    digest: Digest,
}

/// What a cluster says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JoinAnswer {
    /// The ranges of each file of bits, and its digest.
    Parts(Vec<(Range<u32>, Digest)>),
    /// The index of a list that does not follow the format.
    Malformed(usize),
}

/// The digest of segment `segment` of list `list` in the request `id`.
pub(crate) fn digest_of_segment(id: &[u8; 16], list: usize, segment: u32, bytes: &[u8]) -> Digest {
    let list = list as u64;
    derive(SEGMENT_LABEL, &[id, &list.to_le_bytes(), &segment.to_le_bytes(), bytes])
}

impl fmt::Debug for JoinRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinRequest({}, {} lists)", self.run, self.lists.len())
    }
}

impl JoinRequest {
    /// The name of the file of a request.
    pub const FILE: &str = "request";
    /// The name of the file of an answer.
    pub const ANSWER_FILE: &str = "answer";
    /// The first characters of the name of a request's folder.
    pub const FOLDER_PREFIX: &str = "join-";

    pub(crate) fn new(run: RunName, id: [u8; 16], lists: Vec<Copied>) -> Self {
        let mut request = Self { run, id, lists, digest: Digest::default() };
        request.digest = derive(REQUEST_LABEL, &[&request.body()]);
        request
    }

    fn body(&self) -> Vec<u8> {
        let mut out = [MAGIC, &self.run.0, &self.id].concat();
        out.extend_from_slice(&(self.lists.len() as u32).to_le_bytes());
        for Copied { format, counts, digests } in &self.lists {
            out.extend_from_slice(&[format.scale() as u8, format.label_bits() as u8]);
            for (count, digest) in counts.iter().zip(digests) {
                out.extend_from_slice(&count.to_le_bytes());
                out.extend_from_slice(digest);
            }
        }
        out
    }

    /// The bytes of the file of this request.
    pub(crate) fn encode(&self) -> Vec<u8> {
        Self::sealed_body(&self.body())
    }

    /// `body` and its digest.
    pub(crate) fn sealed_body(body: &[u8]) -> Vec<u8> {
        [body, &derive(REQUEST_LABEL, &[body])].concat()
    }

    /// The request in a file; `None` if the bytes are not a request.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, digest) = bytes.split_last_chunk::<{ size_of::<Digest>() }>()?;
        if derive(REQUEST_LABEL, &[body]) != *digest {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC)?;
        let run = RunName(*take(&mut rest)?);
        let id = *take(&mut rest)?;
        let len = u32::from_le_bytes(*take(&mut rest)?);
        let mut lists = Vec::new();
        for _ in 0..len {
            let [scale, label_bits] = *take(&mut rest)?;
            let format = Format::checked(scale.into(), label_bits.into())?;
            if format.label_bits() != u32::from(label_bits) {
                return None;
            }
            let segments = (format.segments() as usize).checked_mul(SEGMENT_LEN)?;
            let (entries, after) = rest.split_at_checked(segments)?;
            rest = after;
            let (mut counts, mut digests) = (Vec::new(), Vec::new());
            for mut entry in entries.chunks_exact(SEGMENT_LEN) {
                counts.push(u32::from_le_bytes(*take(&mut entry)?));
                digests.push(*take(&mut entry)?);
            }
            lists.push(Copied { format, counts, digests });
        }
        let is_whole = rest.is_empty() && !lists.is_empty();
        is_whole.then_some(Self { run, id, lists, digest: *digest })
    }

    /// The name of the folder of this request.
    pub fn folder(&self) -> String {
        format!("{}{}-{}", Self::FOLDER_PREFIX, self.run, RunName(self.id))
    }

    /// The name of the file with the copy of list `list`.
    pub fn list_file(list: usize) -> String {
        format!("list-{list}")
    }

    /// The name of the file with the bits of `ranges`.
    pub fn bits_file(ranges: &Range<u32>) -> String {
        format!("bits-{}-{}", ranges.start, ranges.end)
    }

    /// How many labels each list has.
    pub fn lens(&self) -> Vec<u64> {
        let len = |list: &Copied| list.counts.iter().map(|count| u64::from(*count)).sum();
        self.lists.iter().map(len).collect()
    }

    /// How many ranges the lists are cut into.
    pub fn ranges(&self) -> u32 {
        let bits = self.lists.iter().map(|list| list.format.segment_bits()).max();
        1 << bits.unwrap_or(0)
    }

    /// Compares the copies of the lists in `ranges`: the bytes of the file of their bits. `None` if
    /// `stop` returns true.
    ///
    /// # Errors
    /// [`BackendError::Malformed`] and [`BackendError::Storage`], with
    /// [`io::ErrorKind::InvalidData`] if a copy is not what the helper wrote.
    ///
    /// # Panics
    /// If there are fewer ranges.
    pub fn compare(
        &self,
        copies: &dyn Copies,
        ranges: Range<u32>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<u8>>, BackendError> {
        let sources = self.sources(copies);
        let bits = self
            .lists_of(&sources)
            .and_then(|lists| join::common_in(&lists, ranges, stop))
            .map_err(BackendError::of_list)?;
        Ok(bits.map(|bits| bits.iter().flat_map(Bits::as_bytes).copied().collect()))
    }

    fn sources<'a>(&'a self, copies: &'a dyn Copies) -> Vec<Source<'a>> {
        (0..self.lists.len()).map(|list| Source::new(self, list, copies)).collect()
    }

    fn lists_of<'a>(
        &'a self,
        sources: &'a [Source<'a>],
    ) -> Result<Vec<List<'a>>, (usize, ListError)> {
        let list = |(at, source): (usize, &'a Source<'a>)| {
            let Copied { format, counts, .. } = &self.lists[at];
            List::new(*format, counts, source).map_err(|error| (at, error))
        };
        sources.iter().enumerate().map(list).collect()
    }

    /// The digest of the file of the bits of `ranges`.
    pub fn digest_of_bits(&self, ranges: &Range<u32>, bytes: &[u8]) -> Digest {
        let [start, end] = [ranges.start.to_le_bytes(), ranges.end.to_le_bytes()];
        derive(BITS_LABEL, &[&self.digest, &start, &end, bytes])
    }

    /// The bytes of the answer that consists of these files of bits: the ranges of each, from the
    /// first to the last, and its digest.
    pub fn answer(&self, parts: &[(Range<u32>, Digest)]) -> Vec<u8> {
        let mut body = vec![PARTS];
        for (ranges, digest) in parts {
            body.extend_from_slice(&ranges.start.to_le_bytes());
            body.extend_from_slice(&ranges.end.to_le_bytes());
            body.extend_from_slice(digest);
        }
        self.sealed(&body)
    }

    /// The bytes of the answer that list `list` is malformed.
    pub fn answer_malformed(&self, list: u32) -> Vec<u8> {
        self.sealed(&[&[MALFORMED][..], &list.to_le_bytes()].concat())
    }

    pub(crate) fn sealed(&self, body: &[u8]) -> Vec<u8> {
        let digest = derive(ANSWER_LABEL, &[&self.digest, body]);
        [ANSWER_MAGIC, &self.digest, &digest, body].concat()
    }

    /// The longest answer to this request, in bytes.
    pub(crate) fn answer_max_len(&self) -> u64 {
        let head = ANSWER_MAGIC.len() + 2 * size_of::<Digest>() + 5;
        (head + self.ranges() as usize * PART_LEN) as u64
    }

    /// The answer in a file; `None` if the bytes do not answer this request, or do not have each
    /// range exactly once.
    pub(crate) fn decode_answer(&self, bytes: &[u8]) -> Option<JoinAnswer> {
        let mut rest = bytes.strip_prefix(ANSWER_MAGIC)?;
        let (request, digest): (&Digest, &Digest) = (take(&mut rest)?, take(&mut rest)?);
        if *request != self.digest || derive(ANSWER_LABEL, &[request, rest]) != *digest {
            return None;
        }
        let [tag] = *take(&mut rest)?;
        if tag == MALFORMED {
            let list = u32::from_le_bytes(*take(&mut rest)?) as usize;
            let is_one = rest.is_empty() && list < self.lists.len();
            return is_one.then_some(JoinAnswer::Malformed(list));
        }
        if tag != PARTS {
            return None;
        }
        let (mut parts, mut next) = (Vec::new(), 0);
        while !rest.is_empty() {
            let start = u32::from_le_bytes(*take(&mut rest)?);
            let end = u32::from_le_bytes(*take(&mut rest)?);
            if start != next || end <= start {
                return None;
            }
            next = end;
            parts.push((start..end, *take(&mut rest)?));
        }
        (next == self.ranges()).then_some(JoinAnswer::Parts(parts))
    }

    /// No bits yet, for each list.
    pub(crate) fn no_bits(&self) -> Vec<Bits> {
        self.lens().into_iter().map(Bits::new).collect()
    }

    /// How many bytes the file of the bits of `ranges` has.
    pub(crate) fn bits_len(&self, ranges: &Range<u32>) -> u64 {
        self.touched(ranges).iter().map(|places| (places.end - places.start).div_ceil(8)).sum()
    }

    /// Sets those `bits` that are set in the file of the bits of `ranges`; `None` if it is not of
    /// their length.
    pub(crate) fn add(&self, bits: &mut [Bits], ranges: &Range<u32>, bytes: &[u8]) -> Option<()> {
        let mut rest = bytes;
        for (bits, places) in bits.iter_mut().zip(self.touched(ranges)) {
            let len = places.end - places.start;
            let (own, after) = rest.split_at_checked(usize::try_from(len.div_ceil(8)).ok()?)?;
            rest = after;
            bits.set_all(places.start, &Bits::from_bytes(own.to_vec(), len)?);
        }
        rest.is_empty().then_some(())
    }

    /// The places that `ranges` touch in each list.
    fn touched(&self, ranges: &Range<u32>) -> Vec<Range<u64>> {
        let sources = self.sources(&Nothing);
        let Ok(lists) = self.lists_of(&sources) else { return Vec::new() };
        let seen = Ranges::new(&lists);
        (0..lists.len()).map(|list| seen.touched(list, ranges)).collect()
    }

    /// Whether these can be the common labels of the lists. One list with the shortest labels has
    /// each common label once, and any other at least once.
    pub(crate) fn can_be(&self, bits: &[Bits]) -> bool {
        let label_bits = || self.lists.iter().map(|list| list.format.label_bits());
        let shortest = label_bits().min().unwrap_or(0);
        let ones: Vec<u64> = bits.iter().map(Bits::count_ones).collect();
        let exact =
            label_bits().zip(&ones).filter(|(len, _)| *len == shortest).map(|(_, ones)| *ones);
        let Some(common) = exact.clone().max() else { return false };
        let enough = |ones: &u64| if common == 0 { *ones == 0 } else { *ones >= common };
        exact.min() == Some(common) && ones.iter().all(enough)
    }
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(first)
}

/// The segments of a list's copy.
struct Source<'a> {
    request: &'a JoinRequest,
    list: usize,
    copies: &'a dyn Copies,
    /// Where each segment begins; the last entry is the end.
    offsets: Vec<u64>,
}

impl<'a> Source<'a> {
    fn new(request: &'a JoinRequest, list: usize, copies: &'a dyn Copies) -> Self {
        let Copied { format, counts, .. } = &request.lists[list];
        let mut offsets = vec![0];
        let mut end = 0;
        offsets.extend(counts.iter().map(|count| {
            end += format.segment_bytes(u64::from(*count));
            end
        }));
        Self { request, list, copies, offsets }
    }
}

impl Segments for Source<'_> {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        let at = index as usize;
        let (start, end) = (self.offsets[at], self.offsets[at + 1]);
        let bytes = self.copies.read_at(self.list, start, end - start)?;
        let digest = digest_of_segment(&self.request.id, self.list, index, &bytes);
        let is_the_helpers = digest == self.request.lists[self.list].digests[at];
        if is_the_helpers { Ok(bytes) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

/// No copies: for what follows from the counts alone.
struct Nothing;

impl Copies for Nothing {
    fn read_at(&self, _list: usize, _offset: u64, _len: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}
