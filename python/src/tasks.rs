//! What programs elsewhere do for a run.

use crate::agreement::Agreement;
use crate::away::away;
use crate::export::Column;
use crate::failure::{Failed, Kind};
use crate::input::Input;
use crate::place;
use crate::stream::{Stream, guarded};
use arrow_array::builder::{FixedSizeBinaryBuilder, Int32Builder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int64Type;
use arrow_array::{BooleanArray, Int64Array, RecordBatch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_core::hash::Transcript;
use vesica_core::{Error, Item};
use vesica_engine::terms::{key_columns, key_items};
use vesica_exchange::{Steady, Store};
use vesica_messages::Speech;
use vesica_records::{KeyLimits, NO_ITEM, StreamError, stream_items};
use vesica_tasks::{Orders, Task, buckets_of};

const DIGEST_LABEL: &str = "vesica python 2026 items of a bucket v1";

/// The items of the rows of `input`, for a run of `agreement`, and their buckets under `secret`, of so many. Returns both
/// columns, in which a row without a usable key is null, and how many rows have an empty and a refused key.
#[pyfunction]
pub(crate) fn items(
    py: Python<'_>,
    agreement: &Agreement,
    party: &str,
    columns: BTreeMap<String, String>,
    input: &Input,
    secret: [u8; 32],
    buckets: u64,
) -> PyResult<(Column, Column, u64, u64)> {
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
        Ok((items, streamed.counts.empty, streamed.counts.refused))
    });
    let (items, empty, refused) = made.map_err(|failed| failed.raise(py))?;
    let mut column = FixedSizeBinaryBuilder::with_capacity(items.len(), Item::LEN as i32);
    let mut places = Int32Builder::with_capacity(items.len());
    for (item, bucket) in items.iter().zip(buckets_of(&secret, &items, buckets)) {
        if *item == NO_ITEM {
            column.append_null();
            places.append_null();
        } else if column.append_value(item.as_bytes()).is_err() {
            return Err(Failed::panic().raise(py));
        } else {
            places.append_value(bucket.into());
        }
    }
    let (column, places) = (Column(Arc::new(column.finish())), Column(Arc::new(places.finish())));
    Ok((column, places, empty, refused))
}

/// The items and the numbers of rows in the batches of a capsule from `__arrow_c_stream__`.
fn entries(py: Python<'_>, capsule: &Bound<'_, PyCapsule>) -> PyResult<(Vec<Item>, Vec<i64>)> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let pointer = pointer.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a valid stream, which this call takes over and marks as released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let broken =
        || Failed::new(Kind::Data, "the items of a partition cannot be read", "").raise(py);
    let read = away(py, || {
        let (mut items, mut rows) = (Vec::new(), Vec::new());
        for batch in guarded(|| Stream::new(stream)).ok()? {
            add(&batch.ok()?, &mut items, &mut rows)?;
        }
        Some((items, rows))
    });
    read.ok_or_else(broken)
}

fn add(batch: &RecordBatch, items: &mut Vec<Item>, rows: &mut Vec<i64>) -> Option<()> {
    let column = batch.column_by_name("item")?.as_fixed_size_binary_opt()?;
    for item in column.iter() {
        items.push(Item::from_bytes(item?.try_into().ok()?));
    }
    rows.extend(batch.column_by_name("row")?.as_primitive_opt::<Int64Type>()?.values());
    Some(())
}

/// The entries of a bucket in ascending order of their items: both columns, how many distinct items there are, and the
/// digest of all.
#[pyfunction]
pub(crate) fn ordered<'py>(
    py: Python<'py>,
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<(Column, Column, u64, Bound<'py, PyBytes>)> {
    let (items, rows) = entries(py, capsule)?;
    let (items, rows, distinct, digest) = away(py, || {
        let mut entries: Vec<(Item, i64)> = items.into_iter().zip(rows).collect();
        entries.sort_unstable_by_key(|(item, _)| *item);
        let (mut items, rows): (Vec<Item>, Vec<i64>) = entries.into_iter().unzip();
        let digest = digest_of(&items);
        let column = column_of(&items);
        items.dedup();
        (column, rows, items.len() as u64, digest)
    });
    let items = items.ok_or_else(|| Failed::panic().raise(py))?;
    let rows = Column(Arc::new(Int64Array::from_iter_values(rows)));
    Ok((items, rows, distinct, PyBytes::new(py, &digest)))
}

/// The digest of the entries of a bucket, in their order.
#[pyfunction]
pub(crate) fn digest<'py>(
    py: Python<'py>,
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (items, _) = entries(py, capsule)?;
    let digest = away(py, || digest_of(&items));
    Ok(PyBytes::new(py, &digest))
}

fn digest_of(items: &[Item]) -> [u8; 32] {
    let mut digest = Transcript::new(DIGEST_LABEL, &[]);
    items.iter().for_each(|item| digest.update(item.as_bytes()));
    digest.finish()
}

/// A column of items; `None` if there is not enough memory.
fn column_of(items: &[Item]) -> Option<Column> {
    let mut column = FixedSizeBinaryBuilder::with_capacity(items.len(), Item::LEN as i32);
    items.iter().try_for_each(|item| column.append_value(item.as_bytes())).ok()?;
    Some(Column(Arc::new(column.finish())))
}

/// A place where two sides meet, opened.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Place(Arc<dyn Store>);

#[pymethods]
impl Place {
    #[new]
    fn new(py: Python<'_>, place: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(Steady::new(place::store(py, place)?.1))))
    }
}

/// Takes a task of a run with the items of its partition, whose rows have numbers, and what was kept under names. Returns
/// what came of it and, if the partition is over and this party learns it, for each entry whether it is common.
#[pyfunction]
pub(crate) fn take(
    py: Python<'_>,
    orders: &str,
    task: &str,
    capsule: &Bound<'_, PyCapsule>,
    place: &Place,
    kept: HashMap<String, Vec<u8>>,
) -> PyResult<(String, Option<Column>)> {
    let bug = || Failed::panic().raise(py);
    let orders = Orders::from_json(orders).ok_or_else(bug)?;
    let task = Task::from_json(task).ok_or_else(bug)?;
    let (items, _) = entries(py, capsule)?;
    let store = &*place.0;
    let taken = away(py, || {
        let kept = |name: &str| kept.get(name).cloned();
        task.take(&orders, &items, store, NonZeroUsize::MIN, &kept)
    });
    let (taken, common) = taken.map_err(|error| failed(&error, store).raise(py))?;
    let common = common.map(|common| Column(Arc::new(BooleanArray::from(common))));
    Ok((taken.to_json(), common))
}

fn failed(error: &Error, store: &dyn Store) -> Failed {
    match error {
        Error::Storage(kind) => {
            let message = format!("the store {} failed: {kind}", store.place());
            Failed::new(Kind::Network, message, "Spark takes the task again")
        }
        Error::Bug(what) => {
            Failed::of(Kind::Internal, vesica_messages::defect(what, Speech::Python))
        }
        _ => Failed::panic(),
    }
}
