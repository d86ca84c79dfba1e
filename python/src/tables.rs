//! Results other than rows of the input, as tables.

use arrow_array::builder::{BooleanBuilder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use std::sync::Arc;
use vesica_engine::shares::Combined;
use vesica_engine::{Answer, NamedAnswer, OrderLine, RunResult, SharesOrder};
use vesica_tables::distinct_columns;

/// 32 hexadecimal digits.
pub(crate) fn hex(bytes: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*bytes))
}

/// The text columns of keys.
struct KeyColumns(Vec<StringBuilder>);

impl KeyColumns {
    fn new(columns: &[String]) -> Self {
        Self(columns.iter().map(|_| StringBuilder::new()).collect())
    }

    fn push(&mut self, values: Option<&[&str]>) {
        for (at, column) in self.0.iter_mut().enumerate() {
            column.append_option(values.and_then(|values| values.get(at)));
        }
    }

    fn finish(self) -> impl Iterator<Item = ArrayRef> {
        self.0.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef)
    }
}

fn push_rows(column: &mut ListBuilder<Int64Builder>, rows: Option<&[u64]>) {
    for row in rows.unwrap_or_default() {
        column.values().append_value(*row as i64);
    }
    column.append(rows.is_some());
}

fn batch(names: &[String], columns: Vec<ArrayRef>) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(name, column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The keys of a union: the columns of the key, `new`, and the own `rows`.
pub(crate) fn union(union: &vesica_engine::Union) -> Result<RecordBatch, ArrowError> {
    let mut keys = KeyColumns::new(union.columns());
    let (mut new, mut rows) = (BooleanBuilder::new(), ListBuilder::new(Int64Builder::new()));
    for entry in union.entries() {
        keys.push(Some(&entry.values));
        new.append_value(entry.rows.is_none());
        push_rows(&mut rows, entry.rows.as_deref());
    }
    let names: Vec<&str> =
        union.columns().iter().map(String::as_str).chain(["new", "rows"]).collect();
    let mut columns: Vec<ArrayRef> = keys.finish().collect();
    columns.extend([Arc::new(new.finish()) as ArrayRef, Arc::new(rows.finish())]);
    batch(&distinct_columns(&names), columns)
}

/// The identifiers: `id`, the columns of the key, and the own `rows`.
pub(crate) fn ids(ids: &vesica_engine::Ids) -> Result<RecordBatch, ArrowError> {
    let mut keys = KeyColumns::new(ids.columns());
    let (mut id, mut rows) = (StringBuilder::new(), ListBuilder::new(Int64Builder::new()));
    for entry in ids.entries() {
        id.append_value(hex(entry.id));
        keys.push(entry.values.as_deref());
        push_rows(&mut rows, entry.values.is_some().then_some(&entry.rows));
    }
    let names: Vec<&str> = ids.columns().iter().map(String::as_str).chain(["rows", "id"]).collect();
    let mut names = distinct_columns(&names);
    names.rotate_right(1);
    let mut columns: Vec<ArrayRef> = vec![Arc::new(id.finish())];
    columns.extend(keys.finish());
    columns.push(Arc::new(rows.finish()));
    batch(&names, columns)
}

/// The order of shares: `entry` or `place`, and the own `rows`, the `place`, or whether it is
/// `common`.
pub(crate) fn order(order: &SharesOrder) -> Result<RecordBatch, ArrowError> {
    let (mut rows, mut common) = (ListBuilder::new(Int64Builder::new()), BooleanBuilder::new());
    let mut places = Int64Builder::new();
    for line in order.lines() {
        match line {
            OrderLine::Rows(own) => push_rows(&mut rows, Some(&own)),
            OrderLine::Place(place) => places.append_value(place as i64),
            OrderLine::Common(is_common) => common.append_value(is_common),
        }
    }
    let names = order.columns().map(str::to_owned);
    let cells: ArrayRef = match &*names[1] {
        "rows" => Arc::new(rows.finish()),
        "place" => Arc::new(places.finish()),
        _ => Arc::new(common.finish()),
    };
    let numbers = Int64Array::from_iter_values(0..order.len() as i64);
    batch(&names, vec![Arc::new(numbers), cells])
}

/// One row with the figures of a result that is a count, a yes or no, or sums.
pub(crate) fn figures(result: &RunResult) -> Result<Option<RecordBatch>, ArrowError> {
    let number = |value: u64| Arc::new(UInt64Array::from(vec![value])) as ArrayRef;
    let (names, columns): (Vec<String>, Vec<ArrayRef>) = match result {
        RunResult::Cardinality(count) => (vec!["keys_in_common".to_owned()], vec![number(*count)]),
        RunResult::Threshold { min, reached } => (
            vec!["threshold".to_owned(), "reached".to_owned()],
            vec![number(*min), Arc::new(BooleanArray::from(vec![*reached]))],
        ),
        RunResult::Sums { keys, columns } => {
            let mut names: Vec<&str> = columns.iter().map(|one| &*one.column).collect();
            let sums = columns.iter().map(|one| whole(&[one.sum.to_string()]));
            let mut arrays: Vec<ArrayRef> = sums.collect();
            if let Some(keys) = keys {
                names.push("keys_in_common");
                arrays.push(number(*keys));
            }
            (distinct_columns(&names), arrays)
        }
        RunResult::Answers { keys, answers } => {
            let mut names: Vec<&str> = answers.iter().map(|one| &*one.name).collect();
            let cell = |one: &NamedAnswer| match one.answer {
                Answer::Number(_) => whole(&[one.text()]),
                Answer::Condition(holds) => Arc::new(BooleanArray::from(vec![holds])) as ArrayRef,
            };
            let mut arrays: Vec<ArrayRef> = answers.iter().map(cell).collect();
            names.push("keys_in_common");
            arrays.push(number(*keys));
            (distinct_columns(&names), arrays)
        }
        _ => return Ok(None),
    };
    batch(&names, columns).map(Some)
}

/// The combined values of two files of shares: the `item` of each common key, if keys were shared,
/// and the values.
pub(crate) fn combined(combined: &Combined) -> Result<RecordBatch, ArrowError> {
    let names = combined.names(&[]);
    let mut cells: Vec<Vec<String>> = names.iter().map(|_| Vec::new()).collect();
    for entry in 0..combined.entries() {
        for (column, cell) in cells.iter_mut().zip(combined.cells(entry)) {
            column.push(cell);
        }
    }
    let has_items = combined.keys.is_some();
    let arrays = cells.iter().enumerate().map(|(at, column)| match at {
        0 if has_items => Arc::new(StringArray::from_iter_values(column)) as ArrayRef,
        _ => whole(column),
    });
    batch(&names, arrays.collect())
}

/// A column of 64-bit whole numbers; of their decimal texts if one needs more bits.
fn whole(cells: &[String]) -> ArrayRef {
    let signed: Result<Vec<i64>, _> = cells.iter().map(|cell| cell.parse()).collect();
    let unsigned: Result<Vec<u64>, _> = cells.iter().map(|cell| cell.parse()).collect();
    match (signed, unsigned) {
        (Ok(numbers), _) => Arc::new(Int64Array::from(numbers)),
        (_, Ok(numbers)) => Arc::new(UInt64Array::from(numbers)),
        _ => Arc::new(StringArray::from_iter_values(cells)),
    }
}
