"""The rows of a Spark DataFrame, written once, and the DataFrames of a result."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import DataError, InternalError, SettingsError, StateInUse
from vesica._executors import PIECE, ROW, WORDS, described, quoted, slots, write_bits
from vesica._frames import Frame, quietly
from vesica._packages import check_executors, check_packages
from vesica._result import Result
from vesica._work import Work

log = logging.getLogger("vesica")

#: The column of the identifiers.
PRIVATE_ID = "private_id"
#: Rows that the driver reads at a time.
BATCH_ROWS = 64 << 10
#: Rows of a piece of bits. Each file of rows starts a new piece.
PIECE_ROWS = 1 << 16
#: Bits that every executor can hold: 128 MiB.
BROADCAST_BITS = 1 << 30
#: The file of a state that a run holds locked.
LOCK = "vesica-run.lock"


def can_executors(agreement: Agreement) -> bool:
    """Whether executors can do the work of a run."""
    has_more = agreement.rules or agreement.columns is not None
    return agreement.operation == "intersection" and not has_more


class Rows(Frame):
    """The rows of a DataFrame, written once."""

    is_cluster = True

    def __init__(self, data: Any, work: Work, used: list[str], adds: str | None) -> None:
        if not hasattr(data, "sparkSession") or not hasattr(data, "selectExpr"):
            raise DataError(
                f"{type(data).__name__} is not a Spark DataFrame",
                "vesica.run takes all other frames",
            )
        super().__init__(data)
        self.spark = data.sparkSession
        self.work, self.used = work, used
        self.folder = ""
        #: The files of the rows, and how many rows each has.
        self.parts: list[tuple[str, int]] = []
        #: Whether executors did the work for an earlier process; None if there was no such process.
        self.were_for_executors: bool | None = None
        #: The name of the note; None if another process cannot continue the run.
        self.note: str | None = None
        #: The folder of the run's state, if it has one.
        self.state: str | None = None
        #: The folders with the rows of abandoned runs.
        self.stale: list[str] = []
        #: The note that this call found.
        self.found: dict[str, Any] | None = None
        #: Whether this call has written the rows, and whether it has the state of the run.
        self.is_new, self.has_state = False, False
        #: Whether the bits of all rows are written.
        self.has_bits = False
        #: Why the driver could not read the rows.
        self.unreadable: str | None = None
        if data.isStreaming:
            raise DataError(
                "the rows of a streaming DataFrame never end", "give one of its batches"
            )
        names = [name.lower() for name in data.columns]
        for added in (ROW, PIECE, WORDS, adds):
            if added in names:
                raise DataError(f"the DataFrame has a column {added!r}", "rename it")
        if len(set(names)) != len(names):
            raise DataError(
                "the DataFrame has the same column name twice", "give each column its own name"
            )
        kinds = dict(data.dtypes)
        for name in used:
            if name not in kinds:
                has = ", ".join(data.columns)
                raise DataError(
                    f"the DataFrame has no column {name!r}",
                    f"it has {has}: name the right one with columns={{{name!r}: …}}",
                )
            if kinds[name] == "timestamp":
                # Parquet may have it in a form without a time zone, and with a smaller range.
                raise DataError(
                    f"column {name!r} holds timestamps",
                    "make it text: date_format(column, 'yyyy-MM-dd HH:mm:ss')",
                )

    def find(self, goes_on: bool) -> None:
        """Use the rows of the unfinished run, if it resumes. Other rows are deleted once this call has the state."""
        assert self.note is not None
        self.check_free()
        self.found = self.work.note(self.note)
        if self.found is None:
            return
        folder, parts = self.found["rows"], self.found.get("parts")
        self.stale = list(self.found["stale"])
        if goes_on and parts is not None:
            self.work.check_own(folder)
            self.folder = folder
            self.parts = [(name, rows) for name, rows in parts]
            self.were_for_executors = self.found.get("executors")
            log.warning(
                "the run resumes with the rows that it has written to %s/%s",
                self.work.url,
                folder,
            )
            return
        self.stale.append(folder)

    def check_free(self) -> None:
        """Refuse a state that another call has. The run takes it only once the rows are written and noted."""
        if self.state is not None and not self.has_state and is_locked(self.state):
            raise StateInUse(
                f"another process uses {self.state}: this party is already running",
                "wait for that process or end it; for a different run give another folder with state=",
            )

    def write(self) -> None:
        """Have the cluster write all rows, numbered, unless they are already there."""
        if self.folder:
            return
        self.check_free()
        self.folder, self.is_new = f"rows-{uuid.uuid4().hex}", True
        log.info("the cluster writes its rows to %s/%s", self.work.url, self.folder)
        if self.note is not None:
            # Before the rows are written, so that a later call can find and delete them.
            self.work.keep_note(self.note, {"rows": self.folder, "stale": self.stale})
        try:
            self.parts = self.write_parts_of(self.data)
            if self.note is not None:
                # Another call may have taken the state since: then the note is that call's.
                self.check_free()
                self.keep_note()
        except BaseException:
            self.remove()
            raise

    def write_parts_of(self, data: Any) -> list[tuple[str, int]]:
        """Have the cluster write these rows. Returns the files, in order, and how many rows each has."""
        import pyarrow.parquet

        # Type checkers may run without Spark.
        from pyspark.sql import Observation, functions  # pyright: ignore[reportMissingImports]

        self.work.create_private(self.folder)
        written = Observation()
        numbered = data.selectExpr("*", f"monotonically_increasing_id() as {ROW}")
        numbered = numbered.observe(written, functions.count(functions.lit(1)).alias("rows"))
        writer = numbered.write.option("compression", "snappy")
        # Spark's exceptions may quote a cell.
        with described(self.spark, "write the rows"):
            quietly(UNWRITABLE, lambda: writer.parquet(self.url("rows")))
        count = quietly(UNWRITABLE, lambda: written.get["rows"])
        # Not the folder's own list: failed attempts may have left files, which Spark ignores.
        files = quietly(UNWRITABLE, lambda: self.read("rows").inputFiles()) if count else []
        names = sorted(name.rsplit("/", 1)[-1] for name in files)
        if not count:
            raise DataError("the DataFrame has no rows", "look at its filters")
        parts, unseen = [], None
        try:
            for name in names:
                with self.work.files.open_input_file(self.path(f"rows/{name}")) as file:
                    parts.append((name, pyarrow.parquet.ParquetFile(file).metadata.num_rows))
        except Exception as error:
            unseen = type(error).__name__
        if unseen is not None or sum(rows for _, rows in parts) != count:
            raise SettingsError(
                f"the driver does not see all that the cluster wrote to {self.work.url}",
                "work must be a folder that the driver and the whole cluster can reach; see also files",
            )
        return parts

    def are_for_executors(self, agreement: Agreement, wanted: bool | None) -> bool:
        """Whether executors do the work. A run resumes as it was started."""
        chosen = self.were_for_executors
        if chosen is None:
            count = sum(rows for _, rows in self.parts)
            is_large = count > agreement.partition_rows
            chosen = wanted if wanted is not None else is_large
            chosen = chosen and can_executors(agreement)
        if chosen and wanted is None:
            # With wanted=True this was checked before the rows were written.
            check_packages()
            check_executors(self.spark, slots(self.spark))
        if self.were_for_executors is None:
            self.were_for_executors = chosen
            if self.note is not None:
                try:
                    self.check_free()
                except StateInUse:
                    self.withdraw()
                    raise
                self.keep_note()
        return chosen

    def keep_note(self) -> None:
        assert self.note is not None
        note = {"rows": self.folder, "parts": self.parts, "stale": self.stale}
        self.work.keep_note(self.note, {**note, "executors": self.were_for_executors})

    def take_state(self) -> None:
        """Record that this call has the state, and delete the rows of abandoned runs, which until now could have been
        another call's.
        """
        if self.has_state:
            return
        self.has_state = True
        self.forget_stale()
        if self.note is not None:
            # A call that wanted the state too may have written its own note. This run can finish without one.
            with contextlib.suppress(SettingsError):
                self.keep_note()

    def forget_stale(self) -> None:
        for folder in self.stale:
            self.work.remove(folder)
        self.stale = []

    def remove(self) -> None:
        """Delete the rows, and the rows of abandoned runs if this call has the state."""
        if not self.has_state:
            self.withdraw()
            return
        self.forget_stale()
        self.work.remove(self.folder)
        self.forget_note()

    def withdraw(self) -> None:
        """Delete what this call has written. All other rows may belong to a call that has the state."""
        if not self.is_new:
            return
        self.work.remove(self.folder)
        if self.found is None or not self.has_note():
            self.forget_note()
            return
        assert self.note is not None
        with contextlib.suppress(SettingsError):
            self.work.keep_note(self.note, self.found)

    def has_note(self) -> bool:
        """Whether the note is this call's."""
        there = None
        if self.note is not None:
            with contextlib.suppress(SettingsError):
                there = self.work.note(self.note)
        return there is not None and there["rows"] == self.folder

    def forget_note(self) -> None:
        """Delete the note, unless it is another call's."""
        if self.has_note():
            assert self.note is not None
            self.work.forget(self.note)

    def url(self, what: str) -> str:
        return f"{self.work.url}/{self.folder}/{what}"

    def path(self, what: str) -> str:
        return f"{self.work.path}/{self.folder}/{what}"

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Yield these columns of the rows, file by file, always in the same order."""
        import pyarrow.parquet

        self.take_state()
        try:
            for name, count in self.parts:
                with self.work.files.open_input_file(self.path(f"rows/{name}")) as file:
                    rows = pyarrow.parquet.ParquetFile(file)
                    if rows.metadata.num_rows != count:
                        raise OSError("another file")
                    for batch in rows.iter_batches(BATCH_ROWS, columns=columns):
                        # `iter_batches` keeps the column order of the file.
                        yield batch.select(columns)
        except Exception as error:
            self.unreadable = type(error).__name__
            raise

    def input(self, needed: list[str]) -> _vesica.Input:
        import pyarrow
        import pyarrow.parquet

        with self.work.files.open_input_file(self.path(f"rows/{self.parts[0][0]}")) as file:
            schema = pyarrow.parquet.read_schema(file)
        schema = pyarrow.schema([schema.field(name) for name in needed])
        reader = pyarrow.RecordBatchReader.from_batches(schema, self.batches(needed))
        count = sum(rows for _, rows in self.parts)
        return _vesica.Input.stream(reader.__arrow_c_stream__(), count)

    def column(self, column: _vesica.Column) -> Any:
        import pyarrow

        return pyarrow.array(column)

    def keep(self, result: Result) -> None:
        """Write what the DataFrames of the result need, if executors have not written it."""
        if result._is_detached:
            # If this fails, the same call can be made again: the run still has its state.
            self.check_common(result)
            return
        kept = None
        try:
            if result.kind == "rows":
                self.write_common(result.mask)
            elif result.kind == "ids":
                self.write_ids(result.ids)
            return
        except Exception as error:
            kept = type(error).__name__
        failed = DataError(
            f"the driver cannot write the result to {self.work.url} ({kept})",
            "this exception's `result` has it as `mask`, `positions` or `ids`; both sides have finished the run",
        )
        failed.result = result  # type: ignore[attr-defined]
        raise failed

    def check_common(self, result: Result) -> None:
        """Refuse a result if files of it are missing."""
        assert self.executors is not None
        common, rows = self.executors.write_common(), result._common_rows
        if rows is None or common != rows[0]:
            raise SettingsError(
                f"files of the rows in common are missing below {self.work.url}",
                "no one else may write to work; add restart=True: both sides must run again",
            )
        self.has_bits = True

    def close(self, result: Result) -> None:
        """Delete what the result does not need, after the state: a process that finds both resumes the run."""
        self.forget_stale()
        if result._is_detached:
            assert self.executors is not None
            self.executors.clean()
        elif result.kind not in ("rows", "ids"):
            self.work.remove(self.folder)
        self.forget_note()

    def write_common(self, mask: Any) -> None:
        """Write the bits of the common rows."""
        import pyarrow

        self.work.create_anew(f"{self.folder}/common")
        bits, first = _vesica.Bits(), 0
        for batch in self.batches([ROW]):
            marks = pyarrow.table([batch.column(0), mask[first : first + len(batch)]], MARKED)
            first += len(batch)
            for _, packed in _vesica.marks(marks.__arrow_c_stream__(), 1):
                bits.add(packed)
        if first != len(mask):
            raise InternalError(*OTHER_ROWS)
        write_bits(self.work.files, self.path("common"), 0, bits)
        self.has_bits = True

    def write_ids(self, ids: Any) -> None:
        """Write the numbers of the rows, with their identifiers."""
        import pyarrow
        import pyarrow.parquet

        self.work.create(f"{self.folder}/ids")
        first, waiting, waiting_rows = 0, [], 0
        schema = pyarrow.schema([(ROW, "int64"), (PRIVATE_ID, ids.type)])
        with (
            self.work.files.open_output_stream(self.path("ids/part-00000.parquet")) as file,
            pyarrow.parquet.ParquetWriter(file, schema) as writer,
        ):
            for batch in self.batches([ROW]):
                part = ids[first : first + len(batch)]
                waiting.append(pyarrow.table([batch.column(0), part], schema))
                first += len(batch)
                waiting_rows += len(batch)
                # Few row groups: Spark cannot handle thousands of empty ones.
                if waiting_rows >= BATCH_ROWS:
                    writer.write_table(pyarrow.concat_tables(waiting))
                    waiting, waiting_rows = [], 0
            if waiting_rows:
                writer.write_table(pyarrow.concat_tables(waiting))
        if first != len(ids):
            raise InternalError(*OTHER_ROWS)

    def rows(self, mask: _vesica.Column | None, added: Mapping[str, _vesica.Column]) -> Any:
        return self.detached()

    def detached(self) -> Any:
        from pyspark.sql import functions  # pyright: ignore[reportMissingImports]

        if not self.has_bits:
            raise DataError("the rows in common were not written", "see `mask` and `positions`")
        rows = self.read("rows")
        columns = [quoted(name) for name in rows.columns if name != ROW]
        # Give Spark the schema: if no row has a key, there is no file to infer it from.
        files = self.spark.read.schema(f"{PIECE} long, {WORDS} array<long>")
        bits = files.parquet(self.url("common"))
        pieces = sum(-(-count // PIECE_ROWS) for _, count in self.parts)
        if pieces * PIECE_ROWS <= BROADCAST_BITS:
            bits = functions.broadcast(bits)
        joined = rows.join(bits, functions.expr(f"shiftright({ROW}, 16) = {PIECE}"))
        word = f"{WORDS}[int(shiftright({ROW}, 6) & 1023)]"
        return joined.where(f"getbit({word}, int({ROW} & 63)) = 1").select(*columns)

    def with_ids(self) -> Any:
        """All rows, with their identifiers."""
        return self.read("rows").join(self.read("ids"), ROW, "left").drop(ROW)

    def arrow(self, rows: Any) -> Any:
        import pyarrow

        if hasattr(rows, "toArrow"):
            return rows.toArrow()
        return pyarrow.Table.from_pandas(rows.toPandas(), preserve_index=False)

    def table(self, table: _vesica.Table) -> Any:
        import pyarrow
        import pyarrow.parquet

        name = f"table-{uuid.uuid4().hex}"
        self.work.create_private(name)
        self.work.create(name)
        path = f"{self.work.path}/{name}/part-00000.parquet"
        with self.work.files.open_output_stream(path) as file:
            pyarrow.parquet.write_table(pyarrow.table(table), file)
        return self.spark.read.parquet(f"{self.work.url}/{name}")

    def read(self, name: str) -> Any:
        return self.spark.read.parquet(self.url(name))


def is_locked(state: str) -> bool:
    """Whether a run has this state now."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    # The run reports what is wrong with the folder.
    with contextlib.suppress(OSError):
        lock = os.open(os.path.join(state, LOCK), flags)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
    return False


#: The columns of rows that get their bits.
MARKED = ["row", "common"]

OTHER_ROWS = ("the cluster's rows differ from the rows of the run", "report this")
UNWRITABLE = (
    "the cluster cannot write the rows",
    "df.count() shows what is wrong with them; otherwise see Spark's log",
)
