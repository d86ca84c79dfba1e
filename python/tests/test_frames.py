"""Frames of every library: the rows in, and what comes back."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import uuid
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vesica as v
from support import both, deal, listed, pair, refused

LONG = "x" * 300
TEXTS = ["ann", None, "bob", "", "cem", "ann", " \u00fcn\u00ef ", LONG]
#: What the other party has, and which of the rows it has.
OTHER_TEXTS = ["ann", "cem", "\u00fcn\u00ef", LONG, "zoe"]
IN_TEXTS = [True, False, False, False, True, True, True, True]

NUMBERS = [1, 7, -3, 1, 0, 100]
OTHER_NUMBERS = ["1", "-3", "5"]
IN_NUMBERS = [True, False, True, True, False, False]
NULLS = [1, None, -3, 1, 0, None]
IN_NULLS = [True, False, True, True, False, False]

MOMENTS = [
    dt.datetime(2024, 2, 1, 12, 34, 56),
    None,
    dt.datetime(1969, 12, 31, 23, 59, 59, 500_000),
    dt.datetime(2024, 2, 1),
]
OTHER_MOMENTS = ["2024-02-01T12:34:56", "1969-12-31T23:59:59.500"]
OTHER_ZONED = [f"{moment}Z" for moment in OTHER_MOMENTS]
IN_MOMENTS = [True, False, True, False]
ZONED = [None if one is None else one.replace(tzinfo=dt.UTC) for one in MOMENTS]

DAYS = [dt.date(2024, 2, 1), None, dt.date(1969, 12, 31), dt.date(2024, 2, 2)]
OTHER_DAYS = ["2024-02-01", "1969-12-31"]
IN_DAYS = [True, False, True, False]

AMOUNTS = [decimal.Decimal("1.50"), None, decimal.Decimal("-0.05"), decimal.Decimal("7.00")]
OTHER_AMOUNTS = ["1.5", "-0.05", "7"]
IN_AMOUNTS = [True, False, True, True]

TRUTHS = [True, None, False, True]
OTHER_TRUTHS = ["true"]
IN_TRUTHS = [True, False, False, True]


class Stream:
    """Rows that have the stream interface and nothing else."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)


class Array:
    """Rows that have the array interface and nothing else."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_array__(requested_schema)


def pandas_of(values: list[Any], dtype: Any = None, **options: Any) -> pd.DataFrame:
    """A frame with the key `k`, between columns that cannot be keys."""
    frame = pd.DataFrame({"k": pd.Series(values, dtype=dtype)})
    frame.insert(0, "before", [0.5] * len(values))
    frame["after"] = [[1]] * len(values)
    for name, value in options.items():
        setattr(frame, name, value)
    return frame


def polars_of(values: list[Any], dtype: Any = None) -> pl.DataFrame:
    count = len(values)
    return pl.DataFrame(
        {"before": [0.5] * count, "k": pl.Series(values, dtype=dtype), "after": [[1]] * count}
    )


def arrow_of(array: Any) -> pa.Table:
    return pa.table({"before": [0.5] * len(array), "k": array, "after": [[1]] * len(array)})


def texts(kind: Any) -> pa.Array:
    return pa.array(TEXTS, pa.string()).cast(kind)


def text_cases() -> dict[str, Any]:
    nan = [float("nan") if one is None else one for one in TEXTS]
    na = [pd.NA if one is None else one for one in TEXTS]
    nat = [pd.NaT if one is None else one for one in TEXTS]
    distinct = list(dict.fromkeys(one for one in TEXTS if one is not None))
    days = pd.date_range("2024-01-01", periods=len(TEXTS), name="day")
    levels = pd.MultiIndex.from_tuples([(n % 2, str(n)) for n in range(len(TEXTS))])
    table = arrow_of(texts(pa.string()))
    padded = pa.array(["ann", "zoe", *TEXTS, "ann", None], pa.string())
    one_dictionary = texts(pa.string()).dictionary_encode()
    chunks = [texts(pa.string())[:3], texts(pa.string())[3:3], texts(pa.string())[3:]]
    dictionaries = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])
    null_in_values = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, 4, 0, 5, 6], pa.int8()),
        pa.array(["ann", None, "bob", "", "cem", " \u00fcn\u00ef ", LONG]),
    )
    cases: dict[str, Any] = {
        "pandas object": pandas_of(TEXTS, object),
        "pandas object NaN": pandas_of(nan, object),
        "pandas object NA": pandas_of(na, object),
        "pandas object NaT": pandas_of(nat, object),
        "pandas str": pandas_of(TEXTS, "str"),
        "pandas string python": pandas_of(TEXTS, pd.StringDtype("python")),
        "pandas string pyarrow": pandas_of(TEXTS, pd.StringDtype("pyarrow")),
        "pandas ArrowDtype string": pandas_of(TEXTS, pd.ArrowDtype(pa.string())),
        "pandas ArrowDtype large": pandas_of(TEXTS, pd.ArrowDtype(pa.large_string())),
        "pandas ArrowDtype dictionary": pandas_of(TEXTS, pd.ArrowDtype(one_dictionary.type)),
        "pandas category": pandas_of(TEXTS, "category"),
        "pandas ordered category": pandas_of(TEXTS, pd.CategoricalDtype(distinct[::-1], True)),
        "pandas named index": pandas_of(TEXTS, object, index=pd.Index(range(8, 0, -1), name="n")),
        "pandas index named like the key": pandas_of(
            TEXTS, object, index=pd.Index(["ann"] * 8, name="k")
        ).rename_axis("other"),
        "pandas repeated index": pandas_of(TEXTS, object, index=[0, 0, 1, 1, 2, 2, 3, 3]),
        "pandas date index": pandas_of(TEXTS, "str", index=days),
        "pandas multi index": pandas_of(TEXTS, object, index=levels),
        "pandas every second row": pandas_of(
            list(itertools.chain.from_iterable((one, "bob") for one in TEXTS)), object
        )[::2],
        "pandas reversed twice": pandas_of(TEXTS[::-1], object)[::-1],
        "polars String": polars_of(TEXTS),
        "polars Categorical": polars_of(TEXTS, pl.Categorical),
        "polars Enum": polars_of(TEXTS, pl.Enum(distinct)),
        "polars Binary": polars_of(
            [None if one is None else one.encode() for one in TEXTS], pl.Binary
        ),
        "polars slice": polars_of(["ann", *TEXTS, "bob"]).slice(1, len(TEXTS)),
        "polars chunks": pl.concat([polars_of(TEXTS[:3]), polars_of(TEXTS[3:])], rechunk=False),
        "polars filtered": polars_of(["ann", *TEXTS]).with_row_index().filter(pl.col("index") > 0),
        "narwhals pandas": nw.from_native(pandas_of(TEXTS, object)),
        "narwhals polars": nw.from_native(polars_of(TEXTS)),
        "narwhals pyarrow": nw.from_native(table),
        "pyarrow slice": arrow_of(padded).slice(2, len(TEXTS)),
        "pyarrow sliced array": arrow_of(padded[2:-2]),
        "pyarrow chunks": arrow_of(pa.chunked_array(chunks)),
        "pyarrow dictionary": arrow_of(one_dictionary),
        "pyarrow dictionaries": arrow_of(dictionaries),
        "pyarrow null in dictionary": arrow_of(null_in_values),
        "pyarrow dictionary of views": arrow_of(
            pa.DictionaryArray.from_arrays(
                one_dictionary.indices, one_dictionary.dictionary.cast(pa.large_string())
            )
        ),
        "pyarrow RecordBatch": table.to_batches()[0],
        "pyarrow RecordBatch slice": arrow_of(padded).to_batches()[0].slice(2, len(TEXTS)),
        "array only": Array(table.to_batches()[0]),
        "array only, slice": Array(arrow_of(padded).to_batches()[0].slice(2, len(TEXTS))),
        "struct array": arrow_of(padded).to_struct_array().chunk(0).slice(2, len(TEXTS)),
        "stream only": Stream(table),
        "struct chunks": arrow_of(pa.chunked_array(chunks)).to_struct_array(),
        "duckdb": duckdb.from_arrow(table),
    }
    for kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"):
        cases[f"pyarrow {kind}"] = arrow_of(texts(getattr(pa, kind)()))
        cases[f"pyarrow {kind} slice"] = arrow_of(padded.cast(getattr(pa, kind)())[2:-2])
    return cases


def number_cases() -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for kind in ("int8", "int16", "int32", "int64"):
        cases[f"pandas {kind}"] = pandas_of(NUMBERS, kind), OTHER_NUMBERS, IN_NUMBERS
        cases[f"pandas {kind.title()}"] = pandas_of(NULLS, kind.title()), OTHER_NUMBERS, IN_NULLS
        cases[f"polars {kind}"] = (
            polars_of(NULLS, getattr(pl, kind.title())),
            OTHER_NUMBERS,
            IN_NULLS,
        )
        cases[f"pyarrow {kind}"] = (
            arrow_of(pa.array(NULLS, getattr(pa, kind)())),
            OTHER_NUMBERS,
            IN_NULLS,
        )
    large, other = [2**63 + 1, 2**64 - 1, 0, None], [str(2**63 + 1), "0", str(2**64 - 2)]
    for name, made in (
        ("pandas UInt64", pandas_of(large, "UInt64")),
        ("polars UInt64", polars_of(large, pl.UInt64)),
        ("pyarrow uint64", arrow_of(pa.array(large, pa.uint64()))),
    ):
        cases[name] = made, other, [True, False, True, False]
    strided = pd.DataFrame(np.arange(18, dtype="int64").reshape(6, 3), columns=["a", "k", "b"])
    cases.update(
        {
            "pandas object ints": (pandas_of(NULLS, object), OTHER_NUMBERS, IN_NULLS),
            "pandas strided": (strided, ["4", "10", "11"], [0, 1, 0, 1, 0, 0]),
            "pandas category of ints": (pandas_of(NUMBERS, "category"), OTHER_NUMBERS, IN_NUMBERS),
            "pandas ArrowDtype int": (
                pandas_of(NULLS, pd.ArrowDtype(pa.int64())),
                OTHER_NUMBERS,
                IN_NULLS,
            ),
            "pyarrow int slice": (
                arrow_of(pa.array([1, *NULLS, 1], pa.int64())[1:-1]),
                OTHER_NUMBERS,
                IN_NULLS,
            ),
            "array only, ints, slice": (
                Array(arrow_of(pa.array([1, *NULLS])).to_batches()[0].slice(1)),
                OTHER_NUMBERS,
                IN_NULLS,
            ),
            "pandas bool": (pandas_of([True, False], bool), OTHER_TRUTHS, [True, False]),
            "pandas boolean": (pandas_of(TRUTHS, "boolean"), OTHER_TRUTHS, IN_TRUTHS),
            "pandas object bools": (pandas_of(TRUTHS, object), OTHER_TRUTHS, IN_TRUTHS),
            "polars Boolean": (polars_of(TRUTHS), OTHER_TRUTHS, IN_TRUTHS),
            "pyarrow bool slice": (
                arrow_of(pa.array([None, True, False, *TRUTHS])[3:]),
                OTHER_TRUTHS,
                IN_TRUTHS,
            ),
            "pandas Decimal": (pandas_of(AMOUNTS, object), OTHER_AMOUNTS, IN_AMOUNTS),
            "polars Decimal": (polars_of(AMOUNTS, pl.Decimal(9, 2)), OTHER_AMOUNTS, IN_AMOUNTS),
        }
    )
    for kind in (
        pa.decimal32(9, 2),
        pa.decimal64(18, 2),
        pa.decimal128(9, 2),
        pa.decimal256(60, 2),
    ):
        cases[f"pyarrow {kind}"] = arrow_of(pa.array(AMOUNTS, kind)), OTHER_AMOUNTS, IN_AMOUNTS
    return cases


def time_cases() -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for unit in ("ms", "us", "ns"):
        naive, zoned = pa.array(MOMENTS, pa.timestamp(unit)), pa.timestamp(unit, "Europe/Paris")
        cases[f"pyarrow timestamp {unit}"] = arrow_of(naive), OTHER_MOMENTS, IN_MOMENTS
        cases[f"pyarrow timestamp {unit} zone"] = (
            arrow_of(pa.array(ZONED, zoned)),
            OTHER_ZONED,
            IN_MOMENTS,
        )
        cases[f"pandas datetime64[{unit}]"] = (
            pandas_of(MOMENTS, f"datetime64[{unit}]"),
            OTHER_MOMENTS,
            IN_MOMENTS,
        )
        cases[f"pandas datetime64[{unit}] zone"] = (
            pandas_of(ZONED, f"datetime64[{unit}, Europe/Paris]"),
            OTHER_ZONED,
            IN_MOMENTS,
        )
        cases[f"polars Datetime {unit}"] = (
            polars_of(MOMENTS, pl.Datetime(unit)),
            OTHER_MOMENTS,
            IN_MOMENTS,
        )
        cases[f"polars Datetime {unit} zone"] = (
            polars_of(MOMENTS, pl.Datetime(unit)).with_columns(
                pl.col("k").dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York")
            ),
            OTHER_ZONED,
            IN_MOMENTS,
        )
    whole = [MOMENTS[0], None, MOMENTS[3]]
    times = [dt.time(12, 34, 56), None, dt.time(0, 0, 0, 1)]
    other_times = ["12:34:56", "00:00:00.000001"]
    cases.update(
        {
            "pyarrow timestamp s": (
                arrow_of(pa.array(whole, pa.timestamp("s"))),
                OTHER_MOMENTS,
                [True, False, False],
            ),
            "pandas date": (pandas_of(DAYS, object), OTHER_DAYS, IN_DAYS),
            "polars Date": (polars_of(DAYS), OTHER_DAYS, IN_DAYS),
            "pyarrow date32": (arrow_of(pa.array(DAYS, pa.date32())), OTHER_DAYS, IN_DAYS),
            "pyarrow date64": (arrow_of(pa.array(DAYS, pa.date64())), OTHER_DAYS, IN_DAYS),
            "pandas time": (pandas_of(times, object), other_times, [True, False, True]),
            "polars Time": (polars_of(times, pl.Time), other_times, [True, False, True]),
            "pyarrow time64": (
                arrow_of(pa.array(times, pa.time64("us"))),
                other_times,
                [True, False, True],
            ),
            "pyarrow fixed-size binary": (
                arrow_of(pa.array([b"\x00\xff", None, b"ab"], pa.binary(2))),
                ["00ff", "6162"],
                [True, False, True],
            ),
        }
    )
    return cases


def duckdb_cases() -> dict[str, Any]:
    def column(kind: str, values: str) -> Any:
        return duckdb.sql(f"select k::{kind} as k from (values {values}) t(k)")

    return {
        "duckdb BIGINT": (column("BIGINT", "(1), (null), (-3)"), OTHER_NUMBERS, [1, 0, 1]),
        "duckdb UTINYINT": (column("UTINYINT", "(1), (null), (3)"), OTHER_NUMBERS, [1, 0, 0]),
        "duckdb DECIMAL": (
            column("DECIMAL(9, 2)", "(1.5), (null), (-0.05)"),
            OTHER_AMOUNTS,
            [1, 0, 1],
        ),
        "duckdb DATE": (column("DATE", "('2024-02-01'), (null)"), OTHER_DAYS, [1, 0]),
        "duckdb TIMESTAMP": (
            column("TIMESTAMP", "('2024-02-01 12:34:56'), (null)"),
            OTHER_MOMENTS,
            [1, 0],
        ),
        "duckdb TIMESTAMPTZ": (
            column("TIMESTAMPTZ", "('2024-02-01 12:34:56Z'), (null)"),
            OTHER_ZONED,
            [1, 0],
        ),
        "duckdb BOOLEAN": (column("BOOLEAN", "(true), (null), (false)"), OTHER_TRUTHS, [1, 0, 0]),
        "duckdb BLOB": (column("BLOB", "('ann'), (null), ('bob')"), OTHER_TEXTS, [1, 0, 0]),
        "duckdb ENUM": (
            column("ENUM('bob', 'ann')", "('ann'), (null), ('bob')"),
            OTHER_TEXTS,
            [1, 0, 0],
        ),
    }


def cases() -> dict[str, Any]:
    named = {name: (made, OTHER_TEXTS, IN_TEXTS) for name, made in text_cases().items()}
    return {**named, **number_cases(), **time_cases(), **duckdb_cases()}


CASES = cases()


def to_file(data: Any, path: Any) -> str:
    """The same rows in a Parquet file, written by their own library."""
    if isinstance(data, (Stream, Array)):
        data = data._rows
    if hasattr(data, "to_native"):
        data = data.to_native()
    if isinstance(data, pa.Table) and data is CASES["pyarrow null in dictionary"][0]:
        data = data.set_column(1, "k", data["k"].cast(pa.string()))  # cannot be written
    if isinstance(data, pl.DataFrame):
        data.write_parquet(path)
    elif isinstance(data, pd.DataFrame):
        data.to_parquet(path)
    elif isinstance(data, duckdb.DuckDBPyRelation):
        data.write_parquet(str(path))
    elif isinstance(data, pa.Table):
        pq.write_table(data, path)
    elif isinstance(data, pa.RecordBatch):
        pq.write_table(pa.Table.from_batches([data]), path)
    else:
        chunks = data.chunks if isinstance(data, pa.ChunkedArray) else [data]
        batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks]
        pq.write_table(pa.Table.from_batches(batches), path)
    return str(path)


def mask_of(data: Any, other: list[str], **options: Any) -> list[bool]:
    shop, _ = pair(deal("k"), data, pa.table({"k": other}), **options)
    return [bool(one) for one in listed(shop.mask)]


@pytest.mark.parametrize("name", CASES)
def test_the_mask_of_a_frame_is_that_of_its_rows_in_a_parquet_file(
    name: str, tmp_path: Any
) -> None:
    data, other, expected = CASES[name]
    mask = mask_of(data, other)
    assert mask == mask_of(to_file(data, tmp_path / "rows.parquet"), other)
    assert mask == [bool(one) for one in expected]


def test_batches_of_a_reader_are_like_a_file(tmp_path: Any) -> None:
    table = arrow_of(texts(pa.string()))
    batches = [part for at in range(0, 8, 3) for part in table.slice(at, 3).to_batches()]
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(batches))
    assert mask_of(reader, OTHER_TEXTS) == IN_TEXTS
    assert mask_of(to_file(table, tmp_path / "rows.parquet"), OTHER_TEXTS) == IN_TEXTS


def test_more_rows_than_a_batch_are_all_read(tmp_path: Any) -> None:
    count = 20_000
    rows = pl.DataFrame({"k": [str(n) for n in range(count)]})
    other = [str(n) for n in range(0, 2 * count, 3)]
    expected = [n % 3 == 0 for n in range(count)]
    for data in (rows, rows.to_pandas(), rows.to_arrow(), to_file(rows, tmp_path / "r.parquet")):
        assert mask_of(data, other) == expected


def test_a_struct_column_with_null_rows_is_refused_or_without_keys() -> None:
    struct = pa.StructArray.from_arrays(
        [pa.array(["ann", "bob", "cem"])], names=["k"], mask=pa.array([False, True, False])
    )
    for data in (struct, pa.chunked_array([struct])):
        result, _ = both(deal("k"), data, pa.table({"k": ["ann", "bob"]}), wait=3)
        assert isinstance(result, v.DataError)
        assert result.hint


def test_integer_column_names_are_found_by_their_text() -> None:
    data = pd.DataFrame({0: ["x"] * 2, 1: ["ann", "bob"]})
    mask = mask_of(data, OTHER_TEXTS, shop_options={"columns": {"k": "1"}})
    assert mask == [True, False]


def test_a_named_index_is_a_column_as_in_a_file(tmp_path: Any) -> None:
    data = pd.DataFrame({"x": [1, 2]}, index=pd.Index(["ann", "bob"], name="k"))
    assert mask_of(data, OTHER_TEXTS) == [True, False]
    assert mask_of(to_file(data, tmp_path / "rows.parquet"), OTHER_TEXTS) == [True, False]


def test_rows_of_pandas_keep_index_and_types() -> None:
    data = pandas_of(TEXTS, "str", index=pd.MultiIndex.from_tuples([(n, -n) for n in range(8)]))
    data["n"] = pd.array([1, None] * 4, dtype="Int64")
    data["c"] = pd.Categorical(list("abababab"))
    data["t"] = pd.date_range("2024-01-01", periods=8, tz="Europe/Paris")
    shop, _ = pair(deal("k"), data, pa.table({"k": OTHER_TEXTS}))
    expected = data[np.array(IN_TEXTS)]
    pd.testing.assert_frame_equal(shop.rows(), expected)
    assert isinstance(shop.mask, pd.Series)
    assert shop.mask.dtype == bool
    pd.testing.assert_index_equal(shop.mask.index, data.index)
    pd.testing.assert_frame_equal(data[shop.mask], expected)
    assert shop.positions.tolist() == [0, 4, 5, 6, 7]
    pd.testing.assert_frame_equal(data.iloc[shop.positions], expected)


def test_rows_of_polars_keep_their_types() -> None:
    data = polars_of(TEXTS, pl.Categorical).with_columns(
        d=pl.lit(dt.date(2024, 1, 1)), x=pl.lit("1.50").cast(pl.Decimal(9, 2))
    )
    shop, _ = pair(deal("k"), data, pa.table({"k": OTHER_TEXTS}))
    rows = shop.rows()
    assert rows.schema == data.schema
    assert rows.equals(data.filter(pl.Series(IN_TEXTS)))
    assert data.filter(shop.mask).equals(rows)
    assert isinstance(shop.mask, pl.Series)


@pytest.mark.parametrize("kind", ["table", "batch", "chunks"])
def test_rows_of_pyarrow_are_of_the_same_class(kind: str) -> None:
    table = arrow_of(texts(pa.string()).dictionary_encode())
    data = {
        "table": table,
        "batch": table.to_batches()[0],
        "chunks": pa.concat_tables([table[:3], table[3:]]),
    }[kind]
    shop, _ = pair(deal("k"), data, pa.table({"k": OTHER_TEXTS}))
    rows = shop.rows()
    assert type(rows) is type(data)
    assert rows.schema == data.schema
    assert rows.equals(data.filter(pa.array(IN_TEXTS)))


def test_rows_of_duckdb_and_narwhals_are_theirs() -> None:
    other = pa.table({"k": OTHER_TEXTS})
    shop, _ = pair(deal("k"), duckdb.from_arrow(arrow_of(texts(pa.string()))), other)
    assert isinstance(shop.rows(), duckdb.DuckDBPyRelation)
    assert [row[1] for row in shop.rows().fetchall()] == [
        text for text, is_in in zip(TEXTS, IN_TEXTS, strict=True) if is_in
    ]
    for native in (polars_of(TEXTS), pandas_of(TEXTS, object), arrow_of(texts(pa.string()))):
        shop, _ = pair(deal("k"), nw.from_native(native), other)
        assert isinstance(shop.rows(), nw.DataFrame)
        assert type(shop.rows().to_native()) is type(native)
        assert len(shop.rows()) == 5


def test_rows_are_those_of_the_run_when_the_frame_is_changed_afterwards() -> None:
    other = pa.table({"k": OTHER_TEXTS})
    rows = polars_of(TEXTS)
    shop, _ = pair(deal("k"), rows, other)
    expected = rows.filter(pl.Series(IN_TEXTS))
    rows.extend(polars_of(TEXTS))
    assert shop.rows().equals(expected)
    frame = pandas_of(TEXTS, object)
    shop, _ = pair(deal("k"), frame, other)
    expected = frame[IN_TEXTS].copy()
    frame.iloc[0, 1] = "changed"
    frame.loc[8] = [0.5, "ann", [1]]
    pd.testing.assert_frame_equal(shop.rows(), expected)


def test_a_relation_has_the_rows_of_the_start() -> None:
    connection = duckdb.connect()
    connection.sql("create table people as select * from (values ('ann'), ('bob')) t(k)")
    shop, _ = pair(deal("k"), connection.table("people"), pa.table({"k": OTHER_TEXTS}))
    connection.sql("insert into people values ('cem')")
    assert shop.rows().fetchall() == [("ann",)]


def test_a_uuid_is_one_key_in_every_library_and_type() -> None:
    ones = [uuid.UUID(int=number) for number in (1, 2, 3)]
    raw, texts = [one.bytes for one in ones], [str(one) for one in ones]
    other = pl.DataFrame({"k": [texts[0].upper(), "{" + texts[2] + "}"]})
    terms = deal({"k": "uuid"})
    for frame in (
        pd.DataFrame({"k": texts}),
        pl.DataFrame({"k": texts}),
        pl.DataFrame({"k": raw}),
        pa.table({"k": pa.array(raw, pa.binary(16))}),
        pa.table({"k": pa.ExtensionArray.from_storage(pa.uuid(), pa.array(raw, pa.binary(16)))}),
    ):
        here, _ = pair(terms, frame, other)
        assert [bool(one) for one in listed(here.mask)] == [True, False, True], type(frame)


def test_times_with_a_zone_are_no_days_and_16_bytes_no_text() -> None:
    zoned = pd.DataFrame({"k": pd.to_datetime(["2024-02-01"], utc=True)})
    assert "time zone" in str(refused(zoned, deal({"k": "date"})))
    raw = pa.table({"k": pa.array([b"\xfe" * 16], pa.binary(16))})
    assert "uuid" in getattr(refused(raw, deal({"k": "trim"})), "hint", "")
