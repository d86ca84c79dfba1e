//! Grouping of rows on executors: entries are sent to the task that writes the items of their
//! bucket, and marks to the task that writes which rows are common.

use crate::agreement::Agreement;
use crate::away::away;
use crate::export::Column;
use crate::failure::{Failed, Kind};
use crate::input::Input;
use crate::stream::Stream;
use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{FixedSizeBinaryArray, Int64Array, RecordBatch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use vesica_core::Item;
use vesica_core::hash::Transcript;
use vesica_detached::buckets_of;
use vesica_engine::terms::{key_columns, key_items};
use vesica_records::{KeyLimits, NO_ITEM, StreamError, stream_items};

const DIGEST_LABEL: &str = "vesica python 2026 items of a bucket v1";

/// Bytes that the digest takes at a time.
const DIGEST_BYTES: usize = 64 << 10;

/// Bytes of an entry: the bucket, the item and the number of a row.
const ENTRY: usize = 2 + Item::LEN + 8;

/// An entry: a row that is sent to another task.
type Entry = (u16, Item, i64);

/// Pieces of bytes, each with the number of the task that it is sent to.
type Packed<'py> = Vec<(u64, Bound<'py, PyBytes>)>;

/// Collects the batches of a capsule from `__arrow_c_stream__` with `add`.
pub(crate) fn collect<T: Default + Send>(
    py: Python<'_>,
    capsule: &Bound<'_, PyCapsule>,
    add: impl Fn(&RecordBatch, &mut T) -> Option<()> + Send + Sync,
) -> PyResult<T> {
    let stream = Stream::of_capsule(py, capsule)?;
    let read = away(py, || {
        let mut all = T::default();
        for batch in stream.ok()? {
            add(&batch.ok()?, &mut all)?;
        }
        Some(all)
    });
    read.ok_or_else(|| unreadable().raise(py))
}

fn unreadable() -> Failed {
    Failed::new(Kind::Data, "the items of a partition cannot be read", "")
}

fn numbers(batch: &RecordBatch, all: &mut Vec<i64>) -> Option<()> {
    all.extend(batch.column_by_name("row")?.as_primitive_opt::<Int64Type>()?.values());
    Some(())
}

/// Joins `pieces` of bytes, all of one length, for each task.
fn packed<'py, const LEN: usize>(
    py: Python<'py>,
    tasks: u64,
    pieces: impl Iterator<Item = (u64, [u8; LEN])>,
) -> Packed<'py> {
    let mut of_tasks = vec![Vec::new(); tasks.max(1) as usize];
    for (task, piece) in pieces {
        if let Some(bytes) = of_tasks.get_mut(task as usize) {
            bytes.extend_from_slice(&piece);
        }
    }
    let packed = (0..).zip(&of_tasks).filter(|(_, bytes)| !bytes.is_empty());
    packed.map(|(task, bytes)| (task, PyBytes::new(py, bytes))).collect()
}

/// The items of the rows of `input`, whose numbers are in the capsule, for a run of `agreement`.
/// Each has its bucket under `secret`, one of `buckets`, and is packed for the task with that
/// bucket, one of `tasks`. Also returns how many rows have an empty key and how many a refused key.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one function of Python calls it")]
pub(crate) fn items<'py>(
    py: Python<'py>,
    agreement: &Agreement,
    party: &str,
    columns: BTreeMap<String, String>,
    input: &Input,
    rows: &Bound<'_, PyCapsule>,
    secret: [u8; 32],
    buckets: u64,
    tasks: u64,
) -> PyResult<(Packed<'py>, u64, u64)> {
    let rows: Vec<i64> = collect(py, rows, numbers)?;
    let source = input.take(py)?;
    let agreement = &agreement.0;
    let made = away(py, || -> Result<_, Failed> {
        let here = |error: vesica_engine::Error| Failed::here(&error);
        let key = key_columns(agreement, Some(party), &columns).map_err(here)?;
        let hash = key_items(agreement, &key);
        let limits = KeyLimits { max_rows: None, strict: false, may_be_empty: true };
        let mut items = Vec::new();
        let mut sink = |some: &[Item]| -> Result<(), ()> {
            items.extend_from_slice(some);
            Ok(())
        };
        let mut go_on = |_| ControlFlow::Continue(());
        let streamed = stream_items(&source, &key, &hash, &limits, &mut sink, &mut go_on);
        let streamed = streamed.map_err(|error| match error {
            StreamError::Input(error) => Failed::input(&error),
            StreamError::Sink(()) => Failed::panic(),
        })?;
        let places = buckets_of(&secret, &items, buckets);
        Ok((items, places, streamed.counts.empty, streamed.counts.refused))
    });
    let (items, places, empty, refused) = made.map_err(|failed| failed.raise(py))?;
    if items.len() != rows.len() {
        return Err(Failed::panic().raise(py));
    }
    let entries = items.iter().zip(places).zip(rows).filter(|((item, _), _)| **item != NO_ITEM);
    let pieces = entries.map(|((item, bucket), row)| {
        (u64::from(bucket) * tasks / buckets.max(1), bytes_of((bucket, *item, row)))
    });
    Ok((packed(py, tasks, pieces), empty, refused))
}

fn bytes_of((bucket, item, row): Entry) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[..2].copy_from_slice(&bucket.to_le_bytes());
    bytes[2..2 + Item::LEN].copy_from_slice(item.as_bytes());
    bytes[2 + Item::LEN..].copy_from_slice(&row.to_le_bytes());
    bytes
}

fn entry_of(bytes: &[u8; ENTRY]) -> Option<Entry> {
    let (bucket, rest) = bytes.split_first_chunk()?;
    let (item, row) = rest.split_first_chunk()?;
    let row = i64::from_le_bytes(row.try_into().ok()?);
    Some((u16::from_le_bytes(*bucket), Item::from_bytes(*item), row))
}

fn unpack(batch: &RecordBatch, entries: &mut Vec<Entry>) -> Option<()> {
    let column = batch.column_by_name("packed")?;
    let mut add = |bytes: Option<&[u8]>| {
        let (packed, []) = bytes?.as_chunks::<ENTRY>() else { return None };
        entries.reserve(packed.len());
        packed.iter().try_for_each(|one| {
            entries.push(entry_of(one)?);
            Some(())
        })
    };
    match column.as_binary_opt::<i32>() {
        Some(pieces) => pieces.iter().try_for_each(&mut add),
        None => column.as_binary_opt::<i64>()?.iter().try_for_each(&mut add),
    }
}

/// A bucket of grouped entries: its number, the number of entries, of distinct items, and the
/// digest of the items.
type Bucket<'py> = (u16, u64, u64, Bound<'py, PyBytes>);

/// The entries of a task, packed in the batches of a capsule, in ascending order of bucket, item
/// and row: returns the items, the rows, and the buckets.
#[pyfunction]
pub(crate) fn grouped<'py>(
    py: Python<'py>,
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<(Column, Column, Vec<Bucket<'py>>)> {
    let mut entries: Vec<Entry> = collect(py, capsule, unpack)?;
    let (items, rows, found) = away(py, || {
        entries.sort_unstable();
        let buckets = entries.chunk_by(|a, b| a.0 == b.0).map(|bucket| {
            let items = bucket.iter().map(|(_, item, _)| item);
            let distinct = bucket.chunk_by(|a, b| a.1 == b.1).count();
            (bucket[0].0, bucket.len() as u64, distinct as u64, digest_of(items))
        });
        let found: Vec<_> = buckets.collect();
        let rows = Int64Array::from_iter_values(entries.iter().map(|(_, _, row)| *row));
        let items: Vec<u8> = entries.iter().flat_map(|(_, item, _)| *item.as_bytes()).collect();
        drop(entries);
        let items = FixedSizeBinaryArray::try_new(Item::LEN as i32, items.into(), None);
        (items, rows, found)
    });
    let items = items.map_err(|_| Failed::panic().raise(py))?;
    let named = |(bucket, entries, distinct, digest): (u16, u64, u64, [u8; 32])| {
        (bucket, entries, distinct, PyBytes::new(py, &digest))
    };
    let found = found.into_iter().map(named).collect();
    Ok((Column(Arc::new(items)), Column(Arc::new(rows)), found))
}

/// The digest of the items of a bucket, in their order.
pub(crate) fn digest_of<'a>(items: impl Iterator<Item = &'a Item>) -> [u8; 32] {
    let mut digest = Transcript::new(DIGEST_LABEL, &[]);
    // Many at a time: hashing a long input works on several blocks at once.
    let mut waiting = Vec::with_capacity(DIGEST_BYTES);
    for item in items {
        waiting.extend_from_slice(item.as_bytes());
        if waiting.len() >= DIGEST_BYTES {
            digest.update(&waiting);
            waiting.clear();
        }
    }
    digest.update(&waiting);
    digest.finish()
}

/// The binary logarithm of the number of rows in a piece of bits.
const PIECE_BITS: u32 = 16;
const WORDS: usize = 1 << (PIECE_BITS - 6);

/// Which rows are common, as bits: row r has bit r mod 64 of word (r / 64) mod 1024 of piece r /
/// 65,536.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Bits(Mutex<BTreeMap<i64, Box<[i64; WORDS]>>>);

#[pymethods]
impl Bits {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Adds rows that [`marks`] has packed.
    fn add(&self, py: Python<'_>, packed: &[u8]) -> PyResult<()> {
        let (marks, []) = packed.as_chunks::<8>() else {
            return Err(unreadable().raise(py));
        };
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for mark in marks {
            let mark = i64::from_le_bytes(*mark);
            let row = if mark < 0 { !mark } else { mark };
            let words = pieces.entry(row >> PIECE_BITS).or_insert_with(|| Box::new([0; WORDS]));
            words[(row >> 6) as usize % WORDS] |= i64::from(mark >= 0) << (row & 63);
        }
        Ok(())
    }

    /// The numbers of the pieces, their words, and how many rows are common.
    fn take(&self) -> (Column, Column, u64) {
        let pieces = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let numbers = Int64Array::from_iter_values(pieces.keys().copied());
        let mut words = ListBuilder::new(Int64Builder::with_capacity(pieces.len() * WORDS));
        let mut common = 0;
        for piece in pieces.values() {
            words.values().append_slice(&piece[..]);
            words.append(true);
            common += piece.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        (Column(Arc::new(numbers)), Column(Arc::new(words.finish())), common)
    }
}

/// The rows in the batches of a capsule with the columns `row` and `common`, each with whether it
/// is common, packed for the task that has its bits, one of `tasks`.
#[pyfunction]
pub(crate) fn marks<'py>(
    py: Python<'py>,
    capsule: &Bound<'_, PyCapsule>,
    tasks: u64,
) -> PyResult<Packed<'py>> {
    let rows: Vec<i64> = collect(py, capsule, |batch, marks: &mut Vec<i64>| {
        let rows = batch.column_by_name("row")?.as_primitive_opt::<Int64Type>()?.values();
        let common = batch.column_by_name("common")?.as_boolean_opt()?.values();
        marks.extend(rows.iter().zip(common).map(|(row, is)| if is { *row } else { !*row }));
        Some(())
    })?;
    let pieces = rows.iter().map(|mark| {
        let piece = (if *mark < 0 { !*mark } else { *mark }) >> PIECE_BITS;
        // Each file of rows has its own number from the 33rd bit on: neighbouring pieces go to
        // different tasks.
        let task = ((piece >> (33 - PIECE_BITS)) + piece) as u64 % tasks.max(1);
        (task, mark.to_le_bytes())
    });
    Ok(packed(py, tasks, pieces))
}
