"""Streams and arrays of other libraries that are broken or damaged: a clear exception each."""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vesica as v
from support import (
    CANARY,
    all_refused,
    both,
    deal,
    listed,
    pair,
    refused,
    seen,
)

OTHER = pa.table({"k": ["ann", "bob"]})


@pytest.fixture(autouse=True)
def no_cell_is_logged(caplog: Any) -> Any:
    """No test of this file may log a cell."""
    caplog.set_level(logging.DEBUG)
    yield
    assert CANARY not in caplog.text


def arrow_of(column: Any) -> pa.Table:
    return pa.table({"k": column})


def test_a_reader_is_consumed_once() -> None:
    table = arrow_of(["ann", "bob"])
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches()))
    shop, _ = pair(deal("k"), reader, OTHER)
    assert listed(shop.mask) == [True, True]
    with pytest.raises(v.DataError, match="second time") as caught:
        shop.rows()
    seen(caught.value)
    assert isinstance(refused(reader, deal("k")), v.DataError)


def test_a_generator_that_raises_in_the_middle_ends_both_sides() -> None:
    table = arrow_of([f"key{n}" for n in range(1000)])

    def rows(error: BaseException) -> Any:
        yield from table.to_batches()
        raise error

    for error in (ValueError(CANARY), KeyError(CANARY), MemoryError(CANARY), SystemExit(CANARY)):
        reader = pa.RecordBatchReader.from_batches(table.schema, rows(error))
        started = time.monotonic()
        shop, club = both(deal("k"), reader, OTHER)
        assert isinstance(seen(shop), v.DataError)
        assert isinstance(seen(club), (v.NetworkError, v.PeerError))
        assert time.monotonic() - started < 5


def test_a_generator_gets_its_turn_of_python_while_the_run_waits() -> None:
    table = arrow_of([f"key{n}" for n in range(200)])
    turns = []

    def rows() -> Any:
        for at in range(0, 200, 10):
            time.sleep(0.005)
            turns.append(threading.current_thread())
            yield from table.slice(at, 10).to_batches()

    reader = pa.RecordBatchReader.from_batches(table.schema, rows())
    shop, _ = pair(deal("k"), reader, arrow_of(["key7", "key199"]))
    assert [n for n, common in enumerate(listed(shop.mask)) if common] == [7, 199]
    assert len(turns) == 20


class Raises:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError(CANARY)


class Gives:
    """Gives anything as a stream or an array."""

    def __init__(self, **given: Any) -> None:
        if "stream" in given:
            self.__class__ = type(
                "GivesStream",
                (),
                {"__arrow_c_stream__": lambda self, requested_schema=None: given["stream"]},
            )
        else:
            self.__class__ = type(
                "GivesArray",
                (),
                {"__arrow_c_array__": lambda self, requested_schema=None: given["array"]},
            )


def test_a_broken_stream_interface_is_an_error() -> None:
    table = arrow_of([CANARY])
    batch = table.to_batches()[0]
    schema, array = batch.__arrow_c_array__()
    used = table.__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(used)
    old_schema, old_array = batch.__arrow_c_array__()
    pa.RecordBatch._import_from_c_capsule(old_schema, old_array)
    other_schema = arrow_of(pa.array([1.5])).schema.__arrow_c_schema__()
    broken = (
        Raises(),
        Gives(stream=None),
        Gives(stream=CANARY),
        Gives(stream=CANARY.encode()),
        Gives(stream=schema),
        Gives(stream=used),
        Gives(stream=table.to_struct_array().__arrow_c_stream__),
        Gives(array=None),
        Gives(array=(CANARY,)),
        Gives(array=(array, schema)),
        Gives(array=(schema, array, array)),
        Gives(array=(old_schema, old_array)),
        Gives(array=(other_schema, old_array)),
        Gives(stream=pa.array([CANARY]).__arrow_c_array__()[1]),
        Gives(array=pa.array([CANARY]).__arrow_c_array__()),
    )
    for error in all_refused(broken):
        assert isinstance(error, v.DataError)


class CStream(ctypes.Structure):
    """The C stream interface."""


CStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


def capsule(address: int, name: bytes = b"arrow_array_stream") -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, name, None)


class Handmade:
    """A producer in Python, by ctypes: its functions need the GIL while the run waits."""

    def __init__(self, schema: Any = None, batch: Any = None, last_error: bool = True) -> None:
        self.released = 0
        kinds = dict(CStream._fields_)
        self._text = ctypes.create_string_buffer(CANARY.encode())
        self.stream = CStream(
            kinds["get_schema"](schema) if schema else kinds["get_schema"](),
            kinds["get_next"](batch) if batch else kinds["get_next"](),
            kinds["get_last_error"](lambda _: ctypes.addressof(self._text) if last_error else None),
            kinds["release"](self._release),
            None,
        )

    def _release(self, address: int) -> None:
        self.released += 1
        ctypes.cast(address, ctypes.POINTER(CStream)).contents.release = type(self.stream.release)()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return capsule(ctypes.addressof(self.stream))


def good_schema(_: int, out: int) -> int:
    arrow_of([CANARY]).schema._export_to_c(out)
    return 0


def test_a_producer_in_python_that_breaks_the_interface_is_an_error() -> None:
    one_batch = arrow_of([CANARY]).to_batches()[0]

    def other_columns(_: int, out: int) -> int:
        pa.record_batch({"a": [1.5], "b": [CANARY]})._export_to_c(out)
        return 0

    def no_columns(_: int, out: int) -> int:
        pa.array([CANARY])._export_to_c(out)
        return 0

    def other_type(_: int, out: int) -> int:
        pa.record_batch({"k": pa.array([b"ab"], pa.binary(2))})._export_to_c(out)
        return 0

    def large(_: int, out: int) -> int:
        one_batch._export_to_c(out)
        ctypes.c_int64.from_address(out).value = 2**62
        return 0

    def negative(_: int, out: int) -> int:
        one_batch._export_to_c(out)
        ctypes.c_int64.from_address(out).value = -5
        return 0

    def far(_: int, out: int) -> int:
        one_batch._export_to_c(out)
        ctypes.c_int64.from_address(out + 16).value = 2**61
        return 0

    def fails(_: int, out: int) -> int:
        return 5

    producers = (
        Handmade(),
        Handmade(schema=fails),
        Handmade(schema=lambda _, out: 0),
        Handmade(schema=good_schema),
        Handmade(schema=good_schema, batch=fails),
        Handmade(schema=good_schema, batch=fails, last_error=False),
        Handmade(schema=good_schema, batch=other_columns),
        Handmade(schema=good_schema, batch=no_columns),
        Handmade(schema=good_schema, batch=other_type),
        Handmade(schema=good_schema, batch=large),
        Handmade(schema=good_schema, batch=negative),
        Handmade(schema=good_schema, batch=far),
    )
    for made, error in zip(producers, all_refused(producers), strict=True):
        assert isinstance(error, v.DataError)
        assert made.released == 1


def test_a_producer_in_python_that_works_is_released_once() -> None:
    left = [arrow_of(["ann", "zoe"]).to_batches()[0], arrow_of(["bob"]).to_batches()[0]]

    def batch(_: int, out: int) -> int:
        if left:
            left.pop(0)._export_to_c(out)
        else:
            ctypes.memset(out, 0, 80)
        return 0

    made = Handmade(schema=good_schema, batch=batch)
    shop, _ = pair(deal("k"), made, OTHER)
    assert listed(shop.mask) == [True, False, True]
    assert made.released == 1


# Damaged arrays.


def damaged() -> dict[str, Any]:
    def buffer(*numbers: int, kind: str = "int32") -> pa.Buffer:
        return pa.py_buffer(np.array(numbers, kind).tobytes())

    data = pa.py_buffer(b"annbob")
    text, large = pa.string(), pa.large_string()
    indices = pa.array([0, 1, 9], pa.int8())
    short = pa.array(["ann", "bob"])
    return {
        "not UTF-8": pa.Array.from_buffers(
            text, 2, [None, buffer(0, 3, 6), pa.py_buffer(b"ann\xff\xfe\xfd")]
        ),
        "a cut character": pa.Array.from_buffers(
            text, 2, [None, buffer(0, 1, 2), pa.py_buffer("é".encode())]
        ),
        "decreasing offsets": pa.Array.from_buffers(text, 3, [None, buffer(0, 5, 2, 6), data]),
        "negative offset": pa.Array.from_buffers(text, 2, [None, buffer(0, -3, 6), data]),
        "inner offset beyond": pa.Array.from_buffers(
            text, 3, [None, buffer(0, 2**30, 2**30, 6), data]
        ),
        "large negative offset": pa.Array.from_buffers(
            large, 2, [None, buffer(0, -(2**60), 6, kind="int64"), data]
        ),
        "index beyond": pa.DictionaryArray.from_arrays(indices, short, safe=False),
        "negative index": pa.DictionaryArray.from_arrays(
            pa.array([0, -1], pa.int8()), short, safe=False
        ),
        "view beyond": pa.Array.from_buffers(
            pa.string_view(), 1, [None, buffer(20, 0, 0, 900), pa.py_buffer(b"x" * 20)]
        ),
        "view of no buffer": pa.Array.from_buffers(
            pa.string_view(), 1, [None, buffer(20, 0, 7, 0), pa.py_buffer(b"x" * 20)]
        ),
        "view with a wrong prefix": pa.Array.from_buffers(
            pa.string_view(), 1, [None, buffer(20, 1, 0, 0), pa.py_buffer(b"x" * 20)]
        ),
        "date beyond": pa.array([2**31 - 1], pa.date32()),
        "moment beyond": pa.array([2**62], pa.timestamp("s")),
        "time beyond": pa.array([-1], pa.time64("us")),
    }


DAMAGED = damaged()


def test_a_damaged_array_is_an_error() -> None:
    tables = [pa.table({"k": array}) for array in DAMAGED.values()]
    batches = [pa.RecordBatch.from_arrays([array], ["k"]) for array in DAMAGED.values()]
    for name, error in zip([*DAMAGED, *DAMAGED], all_refused(tables + batches), strict=True):
        assert isinstance(error, v.DataError), name


def test_bytes_that_are_no_text_are_an_error_with_their_row() -> None:
    cells = [b"ann", CANARY.encode() + b"\xff"]
    for error in all_refused([pl.DataFrame({"k": cells}), pd.DataFrame({"k": cells})]):
        assert "row 2" in str(error)


def test_a_page_of_parquet_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "members.parquet"
    table = pa.table({"k": ["ann-of-the-first-row", "bob"]})
    plain: dict[str, Any] = {
        "compression": "none",
        "use_dictionary": False,
        "write_statistics": False,
    }
    pq.write_table(table, path, write_page_checksum=True, **plain)
    v.check(deal("k"), path, party="shop")
    content = path.read_bytes()
    damaged = content.replace(b"ann-of-the-first-row", b"eve-of-the-first-row", 1)
    assert damaged != content
    path.write_bytes(damaged)
    with pytest.raises(v.DataError, match="damaged"):
        v.check(deal("k"), path, party="shop")
