"""DataFrames of Apache Spark: runs whose rows are in a cluster, and results that are DataFrames again.

    from vesica import spark as vs

    rows = vs.match(df, "agreement.toml", key="grocer.key", work="s3a://own-bucket/vesica",
                    exchange="s3://shared-bucket/match")

The cluster writes the rows once, below `work`, as Parquet. A large intersection through `exchange` is
then the work of the executors: each message of the run is a job of Spark. Otherwise the driver reads the
columns that the agreement needs, part by part, and takes part in the run. What is in common goes to
`work` too, and the result is a lazy DataFrame over both.

Nobody but you must be able to read `work`: it has your rows in the clear. Delete it when you no longer
need the DataFrames.
"""

from __future__ import annotations

import hashlib
import logging
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import DataError, InternalError, SettingsError
from vesica._executors import Executors, check_packages, check_place
from vesica._frames import Frame, quietly, unique
from vesica._identity import Identity
from vesica._join import helper_join
from vesica._result import Result
from vesica._run import agreement_of, key_of, names_of, needed
from vesica._run import run as run_frame
from vesica._work import Work

__all__ = ["count", "helper_join", "match", "private_ids", "run", "save_shares", "sums"]

log = logging.getLogger("vesica")

#: The column that numbers the rows below `work`.
ROW = "_vesica_row"
#: The column that says whether a row is common, in files of executors.
COMMON = "_vesica_common"
#: The file of a state that is there as long as its run is unfinished.
MEETING = "meeting"
#: The file of a state that says with which rows it goes on.
PINNED = "rows"
#: The column of the identifiers.
PRIVATE_ID = "private_id"
#: Rows that the driver reads at a time.
BATCH_ROWS = 64 << 10
#: Characters of the agreement's hash in the name of a state.
HASH_CHARS = 16


def match(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> Any:
    """The rows of `df` whose key is in common, with all their columns: a lazy DataFrame.

    None if this party does not receive the result. The arguments are those of `run`.
    """
    of_kind(agreement := agreement_of(agreement), "match", "intersection")
    return run(df, agreement, key=key, work=work, **settings).rows()


def count(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> int | None:
    """How many keys are in common; None if this party does not receive the result."""
    of_kind(agreement := agreement_of(agreement), "count", "cardinality", "sum")
    return run(df, agreement, key=key, work=work, **settings).count


def sums(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> dict[str, int] | None:
    """The sum of each column of values over the common keys; None if this party does not receive it."""
    of_kind(agreement := agreement_of(agreement), "sums", "sum")
    return run(df, agreement, key=key, work=work, **settings).sums


def private_ids(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> Any:
    """The rows of `df` with a column ``private_id``, which is the same at both parties for a common key.

    It is null for a row without a usable key.
    """
    of_kind(agreement := agreement_of(agreement), "private_ids", "private-id")
    result, rows = run_rows(df, agreement, key=key, work=work, adds=PRIVATE_ID, **settings)
    return None if result.kind != "ids" else rows.with_ids()


def save_shares(
    df: Any,
    agreement: Any,
    path: str | os.PathLike[str],
    *,
    key: Any,
    work: str,
    force: bool = False,
    **settings: Any,
) -> Result:
    """Write this party's shares to a file, which only you can read. `vesica.combine` takes those of both."""
    of_kind(agreement := agreement_of(agreement), "save_shares", "shares", "shared-values")
    result = run(df, agreement, key=key, work=work, **settings)
    if result.shares is not None:
        result.shares.save(path, force=force)
    return result


def run(
    df: Any,
    agreement: Agreement | str | os.PathLike[str],
    *,
    key: Identity | str | os.PathLike[str],
    work: str,
    files: Any = None,
    columns: Mapping[str, str] | None = None,
    state: str | os.PathLike[str] | None = None,
    restart: bool = False,
    on_executors: bool | None = None,
    **settings: Any,
) -> Result:
    """Match the rows of `df` with those of the other party.

    The other party may be a cluster too, or use `vesica.run` or the command ``vesica run``: it does
    not see the difference. `rows` of the result is a DataFrame. Its `mask`, `positions` and `ids` are
    arrays of pyarrow, in the order of the rows below `work`.

    A run with `exchange`, or with `state` at both sides, that was interrupted goes on with the rows
    that it has written, when the same call is made again. `restart` writes them anew.

    Args:
        df: The rows. They are written once, so it may give other rows each time.
        agreement: The agreement, or the path of its file.
        key: Your key, or the path of its file. It stays on the driver.
        work: A folder that the cluster and the driver can both reach, and nobody else: the path of
            a local folder on one machine, otherwise a URL such as ``s3a://bucket/folder``.
        files: The file system of `work` for the driver, of `pyarrow.fs`, where the URL does not say
            enough. The path of `work` in it is that of the URL.
        columns: The column of `df` for a key or a value of the agreement, where names differ.
        state: As for `vesica.run`: a folder of the driver, on a disk that outlives it.
        restart: Drop an interrupted run, end it for the other side, and begin a new one.
        on_executors: Whether executors do the work of the run, which needs `exchange` and an
            intersection. By default they do if a set has more rows than a partition may have. They
            need this package, and access to `work` and to `exchange`.
        settings: All others of `vesica.run`: `exchange`, `connect`, `listen`, `wait`, `threads`,
            `memory`, `scratch`, `progress` and so on.

    Raises:
        DataError: The rows cannot be used, or not be written.
        SettingsError: The agreement, the key or another argument.
        VesicaError: As for `vesica.run`.
    """
    return run_rows(
        df,
        agreement,
        key=key,
        work=work,
        files=files,
        columns=columns,
        state=state,
        restart=restart,
        on_executors=on_executors,
        **settings,
    )[0]


def run_rows(
    df: Any,
    agreement: Agreement | str | os.PathLike[str],
    *,
    key: Identity | str | os.PathLike[str],
    work: str,
    files: Any = None,
    columns: Mapping[str, str] | None = None,
    state: str | os.PathLike[str] | None = None,
    restart: bool = False,
    on_executors: bool | None = None,
    adds: str | None = None,
    **settings: Any,
) -> tuple[Result, Rows]:
    """`run`, and the rows. The result will have a column that `adds` names beside those of `df`."""
    if "output" in settings or "force" in settings:
        raise SettingsError("a result of Spark is a DataFrame", "use the writer of rows()")
    agreement, identity = agreement_of(agreement), key_of(key)
    party = agreement.party_of(identity)
    if party is None:
        names = ", ".join(one.name for one in agreement.parties)
        raise SettingsError(
            "this key belongs to no party of the agreement", f"its parties are {names}"
        )
    place = Work(work, files)
    rows = Rows(df, place, unique(needed(agreement, party, names_of(columns))), adds)
    exchange = settings.get("exchange")
    if on_executors and (exchange is None or agreement.operation != "intersection"):
        raise SettingsError(
            "executors do the work of an intersection through exchange alone",
            "leave out on_executors: the driver can do it",
        )
    if on_executors:
        check_packages()
    if exchange is not None:
        check_place(exchange)
    is_kept = state is not None or exchange is not None or agreement.helper is not None
    folder = ""
    if is_kept:
        folder = state_of(agreement, party, state)
        rows.note = note_of(agreement, party, folder)
        # A process that was killed has left it. A finished run has not.
        rows.find(goes_on=not restart and os.path.isfile(os.path.join(folder, MEETING)))
    rows.write()
    if exchange is not None and rows.are_for_executors(agreement, on_executors):
        meeting, strict = place_of(exchange), bool(settings.get("strict"))
        rows.executors = Executors(rows, agreement, party, names_of(columns), meeting, strict)
    try:
        result = run_frame(
            agreement,
            rows,
            key=identity,
            columns=columns,
            state=state,
            restart=restart,
            **settings,
        )
    except DataError as error:
        if hasattr(error, "result"):
            raise
        if rows.executors is not None and rows.executors.has_failed:
            # The same call goes on with the same rows.
            raise
        if rows.unreadable is None:
            # Whoever mends the rows wants the next call to take those, unless the run goes on with these.
            if not (folder and os.path.isfile(os.path.join(folder, PINNED))):
                rows.remove()
            raise
    except BaseException as error:
        finished = getattr(error, "result", None)
        if finished is not None:
            rows.close(finished)
        elif not (folder and os.path.isfile(os.path.join(folder, MEETING))):
            # The run is over for good, or was none.
            rows.remove()
        raise
    else:
        rows.close(result)
        return result, rows
    # Outside the handler, so that the other exception is no context of this one.
    raise SettingsError(
        f"the driver cannot read what the cluster wrote to {place.url} ({rows.unreadable})",
        "make the same call again when it can",
    )


def place_of(exchange: Any) -> Any:
    """The place where the sides meet, as executors find it."""
    if not isinstance(exchange, (str, os.PathLike)):
        return exchange
    path = os.fspath(exchange)
    return path if "://" in path else os.path.abspath(path)


def of_kind(agreement: Agreement, name: str, *operations: str) -> None:
    if agreement.operation not in operations:
        raise SettingsError(
            f"{name} is not for the operation {agreement.operation!r} of this agreement",
            "run() is for every operation",
        )


def state_of(agreement: Agreement, party: str, state: str | os.PathLike[str] | None) -> str:
    """The folder of a run's state, as the run chooses it."""
    if state is not None:
        return os.fspath(state)
    return f"vesica-run-{agreement.hash[:HASH_CHARS]}-{party}"


def note_of(agreement: Agreement, party: str, state: str) -> str:
    """The name of the note that says which rows an unfinished run has; one for each state."""
    place = hashlib.sha256(os.path.abspath(state).encode()).hexdigest()
    return f"{agreement.hash[:HASH_CHARS]}-{party}-{place[:HASH_CHARS]}.json"


class Rows(Frame):
    """The rows of a DataFrame, written once."""

    def __init__(self, data: Any, work: Work, used: list[str], adds: str | None) -> None:
        if not hasattr(data, "sparkSession") or not hasattr(data, "selectExpr"):
            raise DataError(
                f"{type(data).__name__} is no DataFrame of Spark",
                "vesica.run takes all other frames",
            )
        super().__init__(data)
        self.spark = data.sparkSession
        self.work, self.used = work, used
        self.folder = ""
        #: The files of the rows, and how many rows each has.
        self.parts: list[tuple[str, int]] = []
        #: Whether an earlier process had executors do the work; None if there was none.
        self.were_for_executors: bool | None = None
        #: The name of the note, if the run may go on in another process.
        self.note: str | None = None
        #: The rows of runs that do not go on.
        self.stale: list[str] = []
        #: Why the driver could not read the rows.
        self.unreadable: str | None = None
        if data.isStreaming:
            raise DataError(
                "the rows of a streaming DataFrame never end", "give one of its batches"
            )
        names = [name.lower() for name in data.columns]
        for added in (ROW, adds):
            if added in names:
                raise DataError(f"the DataFrame has a column {added!r}", "rename it")
        if len(set(names)) != len(names):
            raise DataError(
                "the DataFrame has the same column name twice", "give each column a name of its own"
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
                    f"column {name!r} holds points in time",
                    "make it text: date_format(column, 'yyyy-MM-dd HH:mm:ss')",
                )

    def find(self, goes_on: bool) -> None:
        """Take the rows of the unfinished run, if it goes on. Others go when this call has the state."""
        assert self.note is not None
        note = self.work.note(self.note)
        folder = (note or {}).get("rows")
        self.stale = list((note or {}).get("stale", []))
        if not isinstance(folder, str):
            return
        parts = (note or {}).get("parts")
        if goes_on and parts is not None:
            self.folder = folder
            self.parts = [(name, rows) for name, rows in parts]
            self.were_for_executors = (note or {}).get("executors")
            log.warning(
                "the run goes on with the rows that it has written to %s/%s",
                self.work.url,
                folder,
            )
            return
        self.stale.append(folder)

    def write(self) -> None:
        """Have the cluster write all rows, numbered, if they are not there."""
        if self.folder:
            return
        self.folder = f"rows-{uuid.uuid4().hex}"
        log.info("the cluster writes its rows to %s/%s", self.work.url, self.folder)
        if self.note is not None:
            # Before the rows: whoever finds it can delete them.
            self.work.keep_note(self.note, {"rows": self.folder, "stale": self.stale})
        try:
            self.parts = self.write_parts_of(self.data)
            if self.note is not None:
                self.keep_note()
        except BaseException:
            self.remove()
            raise

    def write_parts_of(self, data: Any) -> list[tuple[str, int]]:
        """Have the cluster write these rows; the files, in order, and how many rows each has."""
        import pyarrow.parquet

        # Not everybody who checks the types has Spark.
        from pyspark.sql import Observation, functions  # pyright: ignore[reportMissingImports]

        self.work.create_private(self.folder)
        written = Observation()
        numbered = data.selectExpr("*", f"monotonically_increasing_id() as {ROW}")
        numbered = numbered.observe(written, functions.count(functions.lit(1)).alias("rows"))
        writer = numbered.write.option("compression", "snappy")
        # What Spark raises may quote a cell.
        quietly(UNWRITABLE, lambda: writer.parquet(self.url("rows")))
        count = quietly(UNWRITABLE, lambda: written.get["rows"])
        # Not those of the folder: attempts that failed may have left files, which Spark passes over.
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
                "work is a folder that all of the cluster and the driver can reach; see also files",
            )
        return parts

    def are_for_executors(self, agreement: Agreement, wanted: bool | None) -> bool:
        """Whether executors do the work. A run goes on as it was begun."""
        chosen = self.were_for_executors
        if chosen is None:
            count = sum(rows for _, rows in self.parts)
            is_large = count > agreement.partition_rows
            chosen = wanted if wanted is not None else is_large
            chosen = chosen and agreement.operation == "intersection"
        if chosen:
            check_packages()
        if self.were_for_executors is None and self.note is not None:
            self.keep_note(executors=chosen)
        return chosen

    def keep_note(self, **more: Any) -> None:
        assert self.note is not None
        note = {"rows": self.folder, "parts": self.parts, "stale": self.stale, **more}
        self.work.keep_note(self.note, note)

    def forget_stale(self) -> None:
        """Delete the rows of a run that does not go on: it may be another call's until this one has the state."""
        for folder in self.stale:
            self.work.remove(folder)
        self.stale = []

    def remove(self) -> None:
        """Delete the rows."""
        self.forget_stale()
        self.work.remove(self.folder)
        if self.note is not None:
            self.work.forget(self.note)

    def url(self, what: str) -> str:
        return f"{self.work.url}/{self.folder}/{what}"

    def path(self, what: str) -> str:
        return f"{self.work.path}/{self.folder}/{what}"

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """These columns of the rows, file by file, always in the same order."""
        import pyarrow.parquet

        # This call has the state now.
        self.forget_stale()
        try:
            for name, count in self.parts:
                with self.work.files.open_input_file(self.path(f"rows/{name}")) as file:
                    rows = pyarrow.parquet.ParquetFile(file)
                    if rows.metadata.num_rows != count:
                        raise OSError("another file")
                    for batch in rows.iter_batches(BATCH_ROWS, columns=columns):
                        # In the order of the columns in the file otherwise.
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
        kept = None
        try:
            if result._is_elsewhere:
                self.check_common(result)
            elif result.kind == "rows":
                common = result.mask
                self.write_numbers("common", common, lambda rows, part: rows.filter(part))
            elif result.kind == "ids":
                self.write_numbers(
                    "ids", result.ids, lambda rows, ids: rows.append_column(PRIVATE_ID, ids)
                )
            return
        except Exception as error:
            kept = type(error).__name__
        failed = DataError(
            f"the driver cannot write the result to {self.work.url} ({kept})",
            "the attribute `result` of this exception has it; both sides have finished the run",
        )
        failed.result = result  # type: ignore[attr-defined]
        raise failed

    def check_common(self, result: Result) -> None:
        """Refuse a result of which files are missing."""
        import pyarrow.compute
        import pyarrow.dataset

        common = pyarrow.dataset.dataset(
            self.path("common"), filesystem=self.work.files, format="parquet"
        )
        count = common.count_rows(filter=pyarrow.compute.field(COMMON)) if common.files else 0
        rows = result._common_rows
        if rows is None or count != rows[0]:
            raise SettingsError(
                f"files of the rows in common are missing below {self.work.url}",
                "nobody else may write to work; both sides must run again",
            )

    def close(self, result: Result) -> None:
        """Delete what the result does not need, after the state: a process that finds both goes on."""
        self.forget_stale()
        if result._is_elsewhere:
            assert self.executors is not None
            self.executors.clean()
        elif result.kind not in ("rows", "ids"):
            self.work.remove(self.folder)
        if self.note is not None:
            self.work.forget(self.note)

    def write_numbers(self, name: str, column: Any, of: Callable[[Any, Any], Any]) -> None:
        """Write what `of` makes of the numbers of the rows and of their part of `column`."""
        import pyarrow
        import pyarrow.parquet

        self.work.files.create_dir(self.path(name))
        first, waiting, waiting_rows = 0, [], 0
        empty = pyarrow.table({ROW: pyarrow.array([], "int64")})
        schema = of(empty, column[:0]).schema
        with (
            self.work.files.open_output_stream(self.path(f"{name}/part-00000.parquet")) as file,
            pyarrow.parquet.ParquetWriter(file, schema) as writer,
        ):
            for batch in self.batches([ROW]):
                rows = pyarrow.table([batch.column(0)], [ROW])
                made = of(rows, column[first : first + len(rows)])
                first += len(rows)
                waiting.append(made)
                waiting_rows += len(made)
                # Few groups of rows: Spark cannot take thousands of empty ones.
                if waiting_rows >= BATCH_ROWS:
                    writer.write_table(pyarrow.concat_tables(waiting))
                    waiting, waiting_rows = [], 0
            if waiting_rows:
                writer.write_table(pyarrow.concat_tables(waiting))
        if first != len(column):
            raise InternalError("the rows of the cluster are not those of the run", "report this")

    def filter(self, mask: _vesica.Column) -> Any:
        return self.read("rows").join(self.read("common"), ROW, "left_semi").drop(ROW)

    def elsewhere(self) -> Any:
        # With its schema, as there is no file if no row has a key.
        files = self.spark.read.schema(f"{ROW} long, {COMMON} boolean")
        common = files.parquet(self.url("common")).where(COMMON).drop(COMMON)
        return self.read("rows").join(common, ROW, "left_semi").drop(ROW)

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
        self.work.files.create_dir(f"{self.work.path}/{name}")
        path = f"{self.work.path}/{name}/part-00000.parquet"
        with self.work.files.open_output_stream(path) as file:
            pyarrow.parquet.write_table(pyarrow.table(table), file)
        return self.spark.read.parquet(f"{self.work.url}/{name}")

    def read(self, name: str) -> Any:
        return self.spark.read.parquet(self.url(name))


UNWRITABLE = (
    "the cluster cannot write the rows",
    "df.count() says what is wrong with them; otherwise Spark's log does",
)
