"""Data frames of other libraries: their rows in, and rows, columns and tables of the same library out."""

from __future__ import annotations

import os
import sys
from typing import Any

from vesica import _vesica
from vesica._errors import DataError


def module_of(data: object, name: str) -> Any:
    """The module ``name`` if it is imported and the class of ``data`` comes from it; nothing is imported."""
    if type(data).__module__.split(".")[0] == name:
        return sys.modules.get(name)
    return None


class Frame:
    """The rows that a run reads, and how their library takes results back."""

    #: Whether the rows can be read again.
    again = False

    def __init__(self, data: Any) -> None:
        self.data = data

    def input(self, needed: list[str]) -> _vesica.Input:
        """The rows, for one run; ``needed`` are the columns that it uses."""
        return to_input(self.data, None)

    def column(self, column: _vesica.Column) -> Any:
        """A column of this kind of library."""
        return column

    def table(self, table: _vesica.Table) -> Any:
        """A table of this kind of library."""
        return table

    def filter(self, mask: _vesica.Column) -> Any:
        """The rows of the frame for which ``mask`` is true."""
        raise DataError(
            "these rows were a stream, which can be read only once",
            "use mask or positions, or give a data frame or a table",
        )


class PandasFrame(Frame):
    again = True

    def __init__(self, data: Any) -> None:
        # With copy on write this keeps the rows as they are now, and copies nothing.
        super().__init__(data.copy(deep=False))

    def input(self, needed: list[str]) -> _vesica.Input:
        data = self.data
        if not data.columns.is_unique:
            raise DataError(
                "the frame has the same column name twice", "give each column a name of its own"
            )
        if set(needed) <= set(data.columns):
            # Not the others: each would be converted, and may be of a kind that Arrow does not know.
            data = data[needed].reset_index(drop=True)
        return to_input(data, len(data))

    def column(self, column: _vesica.Column) -> Any:
        pandas = sys.modules["pandas"]
        values: Any
        try:
            values = numpy_of(column)
        except TypeError:
            values = column.to_list()
        index = self.data.index if len(column) == len(self.data) else None
        return pandas.Series(values, index=index)

    def table(self, table: _vesica.Table) -> Any:
        pandas = sys.modules["pandas"]
        return pandas.DataFrame({name: table.column(name).to_list() for name in table.names})

    def filter(self, mask: _vesica.Column) -> Any:
        self.check_len(mask)
        return self.data[numpy_of(mask)]

    def check_len(self, mask: _vesica.Column) -> None:
        if len(mask) != len(self.data):
            raise DataError(
                "the frame has another number of rows than during the run",
                "give a copy of the frame to the run, and change another one",
            )


class PolarsFrame(Frame):
    again = True

    def input(self, needed: list[str]) -> _vesica.Input:
        data = self.data
        if set(needed) <= set(data.columns):
            data = data.select(needed)
        return to_input(data, data.height)

    def column(self, column: _vesica.Column) -> Any:
        return sys.modules["polars"].Series(column)

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["polars"].DataFrame(table)

    def filter(self, mask: _vesica.Column) -> Any:
        return self.data.filter(self.column(mask))


class ArrowTable(Frame):
    again = True

    def input(self, needed: list[str]) -> _vesica.Input:
        data, names = self.data, self.data.schema.names
        if set(needed) <= set(names) and len(set(names)) == len(names):
            data = data.select(needed)
        return to_input(data, data.num_rows)

    def column(self, column: _vesica.Column) -> Any:
        return sys.modules["pyarrow"].array(column)

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["pyarrow"].table(table)

    def filter(self, mask: _vesica.Column) -> Any:
        return self.data.filter(self.column(mask))


class File(Frame):
    again = True

    def __init__(self, path: str, delimiter: int | None, header: bool, format: str | None) -> None:
        super().__init__(path)
        self.options = (delimiter, header, format)

    def input(self, needed: list[str]) -> _vesica.Input:
        return _vesica.Input.file(self.data, *self.options)

    def filter(self, mask: _vesica.Column) -> Any:
        raise DataError(
            "the rows are in a file, not in a frame",
            "write them with write(), or read them with to_arrow(), to_pandas() or to_polars()",
        )


def numpy_of(column: _vesica.Column) -> Any:
    """A numpy array of a column of truth values or row numbers."""
    import numpy

    data = column.to_bytes()
    return numpy.frombuffer(data, dtype=bool if len(data) == len(column) else "int64")


def to_input(data: Any, rows: int | None) -> _vesica.Input:
    """The batches of ``data``, by the Arrow C interfaces."""
    kind = None
    try:
        if hasattr(data, "__arrow_c_stream__"):
            capsule = data.__arrow_c_stream__()
            return _vesica.Input.stream(capsule, rows)
        if hasattr(data, "__arrow_c_array__"):
            return _vesica.Input.array(*data.__arrow_c_array__())
    except DataError:
        raise
    except Exception as error:
        kind = type(error)
    # Outside the handler: the other library's error may quote a cell, and must not be shown beside ours.
    if kind is None:
        raise DataError(
            f"{type(data).__name__} is neither a path nor a table that Arrow can read",
            "give a path, or a data frame of pandas, polars, pyarrow or DuckDB",
        )
    if issubclass(kind, ImportError):
        raise DataError(
            f"{type(data).__module__.split('.')[0]} needs pyarrow to hand over its rows",
            "pip install pyarrow",
        )
    raise DataError(
        f"the frame cannot be handed over as Arrow ({kind.__name__})",
        "look at the types of its columns: one of mixed types, for example, has no Arrow type",
    )


def frame(
    data: Any, delimiter: str | None = None, header: bool = True, format: str | None = None
) -> Frame:
    """What ``data`` is: the path of a file, or a frame of a known or unknown library."""
    if isinstance(data, (str, os.PathLike)):
        return File(os.fspath(data), one_byte(delimiter), header, format)
    if module := module_of(data, "pandas"):
        if isinstance(data, module.DataFrame):
            return PandasFrame(data)
    if module := module_of(data, "polars"):
        if isinstance(data, module.DataFrame):
            return PolarsFrame(data)
        if isinstance(data, module.LazyFrame):
            raise DataError("a LazyFrame has no rows yet", "give frame.collect()")
    if module := module_of(data, "pyarrow"):
        if isinstance(data, (module.Table, module.RecordBatch)):
            return ArrowTable(data)
    return Frame(data)


def one_byte(delimiter: str | None) -> int | None:
    if delimiter is None:
        return None
    if len(delimiter) != 1 or not delimiter.isascii():
        raise DataError("a delimiter is one ASCII character", 'for example delimiter=";"')
    return ord(delimiter)
