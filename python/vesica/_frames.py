"""Data frames of other libraries: their rows in; rows, columns and tables of the same library out.

A library is never imported here for its frames: a caller with a frame has imported it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from vesica import _vesica
from vesica._errors import DataError, SettingsError, VesicaError, unwritable

if TYPE_CHECKING:
    from vesica._executors import Executors
    from vesica._result import Result

T = TypeVar("T")


def read_once() -> DataError:
    """The error for rows that would have to be read twice."""
    return DataError(
        "these rows cannot be read a second time",
        "use mask or positions, or give a data frame or a table",
    )


class Frame:
    """The rows that a run reads, and how results become objects of their library.

    This class is for rows from any object with an Arrow C interface.
    """

    #: The executors that have the rows and run the partitions, if this process does not.
    executors: Executors | None = None
    #: Whether a cluster has the rows.
    is_cluster = False

    def __init__(self, data: Any) -> None:
        self.data = data

    def input(self, needed: list[str]) -> _vesica.Input:
        """The rows, for one run; `needed` are the columns that it uses."""
        return to_input(self.data, None)

    def column(self, column: _vesica.Column) -> Any:
        """A column of this library."""
        return column

    def mask(self, mask: _vesica.Column) -> Any:
        """The mask of the rows as a column of this library."""
        return self.column(mask)

    def table(self, table: _vesica.Table) -> Any:
        """A table of this library."""
        return table

    def names(self) -> list[str]:
        """The names of all columns, if a run is given only some of them."""
        return []

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        """The rows of the frame for which `mask` is true, or all, with the columns `added`, which have a cell
        for each row of the frame."""
        try:
            import narwhals
        except ImportError:
            raise read_once() from None
        try:
            rows = narwhals.from_native(self.data, eager_only=True)
        except TypeError:
            raise read_once() from None
        lens = {len(column) for column in (mask, *added.values()) if column is not None}
        if lens != {len(rows)}:
            raise read_once()
        series = [
            narwhals.new_series(name, column.to_list(), backend=rows.implementation)
            for name, column in added.items()
        ]
        rows = rows.with_columns(*series)
        return (rows if mask is None else rows.filter(mask.to_list())).to_native()

    def keep(self, result: Result) -> None:
        """Write the result to its place, before the run forgets it."""

    def detached(self) -> Any:
        """The common rows, if `executors` have marked them."""
        raise DataError("this result has no rows", "see its `kind`")

    def arrow(self, rows: Any) -> Any:
        """Rows of this library, as an object that any library can take."""
        return rows

    def to_parquet(self, rows: Any, file: Any) -> None:
        """Write rows of this library to an open file."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise DataError("to_parquet needs pyarrow", "pip install pyarrow") from None
        quietly(
            UNWRITABLE, lambda: pyarrow.parquet.write_table(pyarrow.table(self.arrow(rows)), file)
        )


class Pandas(Frame):
    def __init__(self, data: Any) -> None:
        # With copy on write (pandas 3) this keeps the rows as they are now, and copies nothing.
        super().__init__(data.copy(deep=False))
        self.pandas = sys.modules["pandas"]

    def input(self, needed: list[str]) -> _vesica.Input:
        data = self.data
        if not data.columns.is_unique:
            for name in needed:
                if list(data.columns).count(name) > 1:
                    raise DataError(
                        f"the frame has two columns {name!r}", "give each column its own name"
                    )
            # The others are not needed.
            data = data.loc[:, ~data.columns.duplicated()]
        if set(needed) <= set(data.columns):
            # Only these: each column is converted, and others may be of a kind that Arrow does not know.
            data = data[unique(needed)].reset_index(drop=True)
            for name, dtype in data.dtypes.items():
                if isinstance(dtype, self.pandas.PeriodDtype):
                    # pandas would pass their ordinals to Arrow.
                    raise DataError(
                        f"column {name!r} holds periods, which Arrow does not know",
                        f"make it text: df[{name!r}].astype(str)",
                    )
                if getattr(dtype, "kind", "") == "f":
                    raise DataError(
                        f"column {name!r} holds floating-point numbers, which cannot be keys or values",
                        f'whole numbers with gaps are Int64: df[{name!r}].astype("Int64")',
                    )
        return to_input(data, len(data))

    def column(self, column: _vesica.Column) -> Any:
        values = numpy_of(column)
        if values is not None:
            return self.pandas.Series(values)
        # Texts, one for each row.
        self.check_len(column)
        return self.pandas.Series(column.to_list(), index=self.data.index)

    def added(self, column: _vesica.Column) -> Any:
        """A column with a cell for each row, some of which may be missing."""
        values = numpy_of(column)
        if values is not None:
            return self.pandas.Series(values, index=self.data.index)
        cells = column.to_list()
        if column.kind == "integer":
            return self.pandas.Series(cells, index=self.data.index, dtype="Int64")
        if column.kind == "date":
            # Nanoseconds, the default, hold no date before 1677.
            return self.pandas.Series(cells, index=self.data.index, dtype="datetime64[s]")
        return self.pandas.Series(cells, index=self.data.index, dtype="object")

    def mask(self, mask: _vesica.Column) -> Any:
        self.check_len(mask)
        return self.pandas.Series(numpy_of(mask), index=self.data.index)

    def table(self, table: _vesica.Table) -> Any:
        columns = {name: table.column(name) for name in table.names}
        listed = {name: column.to_list() for name, column in columns.items() if column is not None}
        return self.pandas.DataFrame(listed)

    def names(self) -> list[str]:
        return list(self.data.columns)

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        rows = self.data
        for column in (mask, *added.values()):
            if column is not None:
                self.check_len(column)
        if added:
            rows = rows.copy(deep=False)
            for name, column in added.items():
                rows[name] = self.added(column)
        return rows if mask is None else rows[numpy_of(mask)]

    def check_len(self, column: _vesica.Column) -> None:
        if len(column) != len(self.data):
            raise DataError(
                "the frame no longer has the number of rows that it had during the run",
                "give the run a copy of the frame, and change the original",
            )

    def to_parquet(self, rows: Any, file: Any) -> None:
        quietly(UNWRITABLE, lambda: rows.to_parquet(file))


class Polars(Frame):
    def __init__(self, data: Any) -> None:
        # Copies nothing, and later changes to `data` do not affect it.
        super().__init__(data.clone())

    def input(self, needed: list[str]) -> _vesica.Input:
        data = self.data
        if set(needed) <= set(data.columns):
            data = data.select(unique(needed))
        objects = [name for name, dtype in data.schema.items() if dtype.is_object()]
        if objects:
            # Polars hands over their addresses in memory.
            raise DataError(
                f"column {objects[0]!r} has Python objects, which Arrow cannot describe",
                "make the column text, whole numbers, decimals or dates",
            )
        return to_input(data, data.height)

    def column(self, column: _vesica.Column) -> Any:
        return sys.modules["polars"].Series(column)

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["polars"].DataFrame(table)

    def names(self) -> list[str]:
        return list(self.data.columns)

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        columns = [self.column(column).alias(name) for name, column in added.items()]
        rows = self.data.with_columns(*columns)
        return rows if mask is None else rows.filter(self.column(mask))

    def to_parquet(self, rows: Any, file: Any) -> None:
        quietly(UNWRITABLE, lambda: rows.write_parquet(file))


class Arrow(Frame):
    """A table or a record batch of pyarrow."""

    def input(self, needed: list[str]) -> _vesica.Input:
        data, names = self.data, self.data.schema.names
        if set(needed) <= set(names) and len(set(names)) == len(names):
            data = data.select(unique(needed))
        # Checks the lengths of buffers, which the C interface does not carry, so they cannot be checked later.
        quietly(DAMAGED, data.validate)
        return to_input(data, data.num_rows)

    def column(self, column: _vesica.Column) -> Any:
        return sys.modules["pyarrow"].array(column)

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["pyarrow"].table(table)

    def names(self) -> list[str]:
        return list(self.data.schema.names)

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        pyarrow = sys.modules["pyarrow"]
        schema, columns = self.data.schema, list(self.data.columns)
        for name, column in added.items():
            columns.append(self.column(column))
            may_miss = columns[-1].null_count > 0 or columns[-1].type != pyarrow.bool_()
            schema = schema.append(pyarrow.field(name, columns[-1].type, nullable=may_miss))
        rows = type(self.data).from_arrays(columns, schema=schema) if added else self.data
        return rows if mask is None else rows.filter(self.column(mask))


class Relation(Arrow):
    """A DuckDB relation: the rows that it has when the run starts."""

    def __init__(self, data: Any) -> None:
        # Each evaluation of a relation may give other rows, or another order.
        super().__init__(relation_rows(data))

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["duckdb"].from_arrow(super().table(table))

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        return sys.modules["duckdb"].from_arrow(super().rows(mask, added))

    def to_parquet(self, rows: Any, file: Any) -> None:
        super().to_parquet(relation_rows(rows), file)


class Narwhals(Frame):
    """A narwhals frame around a frame of another library."""

    def __init__(self, data: Any) -> None:
        native = data.to_native()
        super().__init__(native)
        self.inner = frame(native)

    def input(self, needed: list[str]) -> _vesica.Input:
        return self.inner.input(needed)

    def column(self, column: _vesica.Column) -> Any:
        native = self.inner.column(column)
        if (pyarrow := library_of(native, "pyarrow")) and isinstance(native, pyarrow.Array):
            # The only kind of pyarrow column that narwhals knows.
            native = pyarrow.chunked_array([native])
        return sys.modules["narwhals"].from_native(native, allow_series=True)

    def table(self, table: _vesica.Table) -> Any:
        return sys.modules["narwhals"].from_native(self.inner.table(table))

    def names(self) -> list[str]:
        return self.inner.names()

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        return sys.modules["narwhals"].from_native(self.inner.rows(mask, added))

    def to_parquet(self, rows: Any, file: Any) -> None:
        self.inner.to_parquet(rows.to_native(), file)


@dataclass(frozen=True)
class FileOptions:
    """A file and how it is read."""

    path: str
    delimiter: int | None
    header: bool
    format: str | None
    skip_rows: int
    comment: int | None


class File(Frame):
    """A CSV or Parquet file."""

    def __init__(self, options: FileOptions) -> None:
        super().__init__(options.path)
        self.options = options

    def input(self, needed: list[str]) -> _vesica.Input:
        return _vesica.Input.file(self.options)

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        raise DataError(
            "the rows are in a file, not in a frame",
            "write them with write(), or read them with to_arrow(), to_pandas() or to_polars()",
        )


def frame(
    data: Any,
    delimiter: str | None = None,
    header: bool = True,
    format: str | None = None,
    skip_rows: int = 0,
    comment: str | None = None,
) -> Frame:
    """Wraps `data`: the path of a file, or a frame of a known or any other library."""
    if isinstance(data, Frame):
        return data
    if isinstance(data, (str, os.PathLike)):
        if isinstance(skip_rows, bool) or not isinstance(skip_rows, int) or skip_rows < 0:
            raise SettingsError("skip_rows is a number of lines, 0 or more", "skip_rows=3")
        marks = [one_byte("a delimiter", delimiter), one_byte("the mark of comments", comment)]
        path = os.fspath(data)
        return File(FileOptions(path, marks[0], header, format, skip_rows, marks[1]))
    if (pandas := library_of(data, "pandas")) and isinstance(data, pandas.DataFrame):
        return Pandas(data)
    if polars := library_of(data, "polars"):
        if isinstance(data, polars.LazyFrame):
            raise DataError("a LazyFrame has no rows yet", "give frame.collect()")
        if isinstance(data, polars.DataFrame):
            return Polars(data)
    if (pyarrow := library_of(data, "pyarrow")) and isinstance(
        data, (pyarrow.Table, pyarrow.RecordBatch)
    ):
        return Arrow(data)
    if library_of(data, "duckdb", "_duckdb") and hasattr(data, "to_arrow_table"):
        return Relation(data)
    if library_of(data, "narwhals") and hasattr(data, "to_native"):
        return Narwhals(data)
    if library_of(data, "pyspark"):
        raise DataError("this is a Spark DataFrame", "give it to vesica.spark.match")
    return Frame(data)


def library_of(data: object, *names: str) -> Any:
    """The module `names[0]` if the class of `data` is from a package in `names`; None if not, or not imported."""
    root = type(data).__module__.split(".")[0]
    return sys.modules.get(names[0]) if root in names else None


def relation_rows(relation: Any) -> Any:
    return quietly(UNREADABLE, relation.to_arrow_table)


#: What failed, and what to do about it.
UNREADABLE = (
    "the DuckDB relation cannot be evaluated",
    "fetch its rows without Vesica: DuckDB shows what is wrong",
)
UNWRITABLE = (
    "the rows cannot be written as Parquet",
    "look at their columns: one of mixed types, for example, has no type in Parquet",
)
DAMAGED = ("the table is damaged", "pyarrow's table.validate(full=True) shows what is wrong")
NO_ARROW = (
    "the rows cannot be converted",
    "use rows(), and the functions of its library; columns of mixed types have no type in others",
)
UNUSABLE = (
    "the frame cannot be passed as Arrow",
    "look at its columns: one of mixed types, for example, has no type in Arrow; and a stream can be "
    "passed only once",
)


def quietly(failure: tuple[str, str], work: Callable[[], T]) -> T:
    """What `work` returns. Its exceptions come from other libraries and may quote a cell, so they are not shown."""
    try:
        return work()
    except VesicaError:
        raise
    except BaseException as error:
        # A panic in a Rust library raises a BaseException.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        failed = type(error)
    # Outside the handler, so that the other exception does not become this one's context.
    if issubclass(failed, ImportError):
        raise DataError(f"{failure[0]} without pyarrow", "pip install pyarrow")
    raise DataError(f"{failure[0]} ({failed.__name__})", failure[1])


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def numpy_of(column: _vesica.Column) -> Any:
    """A numpy array of a column of booleans or row numbers; None for any other column."""
    try:
        data = column.to_bytes()
    except TypeError:
        return None
    import numpy

    return numpy.frombuffer(data, dtype=bool if column.kind == "boolean" else "int64")


def to_input(data: Any, rows: int | None) -> _vesica.Input:
    """The batches of `data`, by the Arrow C interfaces."""
    if hasattr(data, "__arrow_c_stream__"):
        return quietly(UNUSABLE, lambda: _vesica.Input.stream(data.__arrow_c_stream__(), rows))
    if hasattr(data, "__arrow_c_array__"):
        return quietly(UNUSABLE, lambda: _vesica.Input.array(*data.__arrow_c_array__()))
    raise DataError(
        f"{type(data).__name__} is neither a path nor a table that Arrow can read",
        "give a path, or a data frame of pandas, polars, pyarrow or DuckDB",
    )


def one_byte(what: str, character: str | None) -> int | None:
    if character is None:
        return None
    if len(character) != 1 or not character.isascii():
        raise SettingsError(f"{what} is one ASCII character", 'for example ";" or "#"')
    return ord(character)


def write_whole(path: str | os.PathLike[str], force: bool, write: Callable[[Any], object]) -> None:
    """Let `write` fill a file that only its owner can read, and give it its name when it is complete."""
    import tempfile

    path = os.fspath(path)
    exists = SettingsError(f"{path} exists", "choose another name, or add force=True to replace it")
    if os.path.lexists(path) and not force:
        raise exists
    folder, name = os.path.split(path)
    prefix, suffix = f".{name}-", ".partial"
    try:
        descriptor, partial = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=folder or ".")
    except OSError as error:
        raise unwritable(DataError, path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if force:
            os.replace(partial, path)
        else:
            # Unlike a rename, a link does not replace a file that has appeared in the meantime.
            try:
                os.link(partial, path)
            except FileExistsError:
                raise exists from None
    except OSError as error:
        raise unwritable(DataError, path, error) from None
    finally:
        if os.path.lexists(partial):
            os.unlink(partial)
