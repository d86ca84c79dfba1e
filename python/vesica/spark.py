"""DataFrames of Apache Spark: runs whose rows are in a cluster, and results that are DataFrames again.

    from vesica import spark as vs

    rows = vs.match(df, "agreement.toml", key="grocer.key", work="s3a://own-bucket/vesica",
                    exchange="s3://shared-bucket/match")

The cluster writes the rows once, below `work`, as Parquet. The driver reads the columns that the
agreement needs, part by part, and takes part in the run: it needs no more memory for more rows. What
is in common goes to `work` too, and the result is a lazy DataFrame over both. Nothing here runs Python
on executors.

Nobody but you must be able to read `work`: it has your rows in the clear. Delete it when you need the
DataFrames no more.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import DataError, SettingsError
from vesica._frames import Frame, unique
from vesica._identity import Identity
from vesica._result import Result
from vesica._run import agreement_of, key_of, names_of, needed
from vesica._run import run as run_frame

__all__ = ["count", "match", "private_ids", "run", "save_shares", "sums"]

log = logging.getLogger("vesica")

#: The column that numbers the rows below `work`.
ROW = "_vesica_row"
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
    result, rows = run_rows(df, agreement, key=key, work=work, **settings)
    return None if result.ids is None else rows.with_ids()


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
    **settings: Any,
) -> tuple[Result, Rows]:
    if "output" in settings or "force" in settings:
        raise SettingsError("a result of Spark is a DataFrame", "use the writer of rows()")
    agreement, identity = agreement_of(agreement), key_of(key)
    party = agreement.party_of(identity)
    if party is None:
        names = ", ".join(one.name for one in agreement.parties)
        raise SettingsError(
            "this key belongs to no party of the agreement", f"its parties are {names}"
        )
    exchange = settings.get("exchange")
    is_kept = state is not None or exchange is not None or agreement.helper is not None
    folder = state_of(agreement, party, state) if is_kept else None
    place = Work(work, files)
    kept = f"{agreement.hash[:HASH_CHARS]}-{party}.json"
    used = unique(needed(agreement, party, names_of(columns)))
    rows = Rows(df, place, used)
    if folder is None:
        rows.write()
    else:
        may_go_on = os.path.isdir(folder) and not restart
        rows.write_or_find(kept, place.note(kept) if may_go_on else None)
    result = None
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
        rows.keep(result)
        return result, rows
    except DataError:
        # Whoever mends the rows wants the next call to take those.
        folder = None
        raise
    finally:
        # As long as there is a state, the next call goes on with these rows.
        if folder is None or not os.path.isdir(folder):
            place.forget(kept)
            if result is None or result.kind not in ("rows", "ids"):
                place.remove(rows.folder)


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


class Work:
    """A folder that the cluster and the driver can both reach."""

    def __init__(self, url: str, files: Any) -> None:
        if not isinstance(url, (str, os.PathLike)) or not os.fspath(url):
            raise SettingsError(
                "work names no folder", 'for example work="s3a://own-bucket/vesica"'
            )
        try:
            from pyarrow import fs
        except ImportError:
            raise SettingsError("Spark's rows need pyarrow", "pip install vesica[spark]") from None
        self.url = os.fspath(url).rstrip("/") or "/"
        if "://" not in self.url:
            self.url = os.path.abspath(self.url)
            os.makedirs(self.url, mode=0o700, exist_ok=True)
            self.files, self.path = files or fs.LocalFileSystem(), self.url
            self.url = f"file://{self.url}"
            return
        # What Hadoop calls its client of S3, others do not.
        scheme, rest = self.url.split("://", 1)
        scheme = {"s3a": "s3", "s3n": "s3"}.get(scheme, scheme)
        if files is not None:
            self.files, self.path = files, rest
            return
        refused = None
        try:
            self.files, self.path = fs.FileSystem.from_uri(f"{scheme}://{rest}")
        except Exception as error:
            refused = type(error).__name__
        if refused is not None:
            raise SettingsError(
                f"the driver cannot reach {self.url} ({refused})",
                "give its file system of pyarrow: files=pyarrow.fs.…",
            )

    def parts(self, name: str) -> list[str]:
        """The files of Parquet in the folder of this name, in the order of their names."""
        from pyarrow import fs

        found = self.files.get_file_info(fs.FileSelector(f"{self.path}/{name}"))
        files = (one.path for one in found if one.is_file)
        return sorted(path for path in files if not os.path.basename(path).startswith(("_", ".")))

    def has(self, name: str) -> bool:
        from pyarrow import fs

        kind = self.files.get_file_info(f"{self.path}/{name}").type
        return bool(kind != fs.FileType.NotFound)

    def note(self, name: str) -> dict[str, Any] | None:
        """What `keep_note` wrote."""
        try:
            with self.files.open_input_stream(f"{self.path}/{name}") as file:
                return dict(json.loads(file.read()))
        except (OSError, ValueError):
            return None

    def keep_note(self, name: str, note: Mapping[str, Any]) -> None:
        with self.files.open_output_stream(f"{self.path}/{name}") as file:
            file.write(json.dumps(note).encode())

    def forget(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self.files.delete_file(f"{self.path}/{name}")

    def remove(self, name: str) -> None:
        try:
            self.files.delete_dir(f"{self.path}/{name}")
        except OSError:
            log.warning("%s/%s cannot be deleted: delete it, it has your rows", self.url, name)


class Rows(Frame):
    """The rows of a DataFrame, written once."""

    def __init__(self, data: Any, work: Work, used: list[str]) -> None:
        if not hasattr(data, "sparkSession") or not hasattr(data, "write"):
            raise DataError(
                f"{type(data).__name__} is no DataFrame of Spark",
                "vesica.run takes all other frames",
            )
        super().__init__(data)
        self.spark = data.sparkSession
        self.work, self.used = work, used
        self.folder = ""
        names = [name.lower() for name in data.columns]
        if ROW in names:
            raise DataError(f"the DataFrame has a column {ROW!r}", "rename it")
        if len(set(names)) != len(names):
            raise DataError(
                "the DataFrame has the same column name twice", "give each column a name of its own"
            )
        missing = [name for name in used if name not in data.columns]
        if missing:
            has = ", ".join(data.columns)
            raise DataError(
                f"the DataFrame has no column {missing[0]!r}",
                f"it has {has}: name the right one with columns={{{missing[0]!r}: …}}",
            )

    def write(self) -> None:
        """Have the cluster write all rows, numbered."""
        self.folder = f"rows-{uuid.uuid4().hex}"
        log.info("the cluster writes its rows to %s/%s", self.work.url, self.folder)
        numbered = self.data.selectExpr("*", f"monotonically_increasing_id() as {ROW}")
        try:
            numbered.write.parquet(self.url("rows"))
        except BaseException:
            self.work.remove(self.folder)
            raise
        if not self.work.has(f"{self.folder}/rows"):
            self.work.remove(self.folder)
            raise SettingsError(
                f"the driver does not see what the cluster wrote to {self.work.url}",
                "work is a folder that both can reach; see also files",
            )

    def write_or_find(self, name: str, note: dict[str, Any] | None) -> None:
        """The rows of the interrupted run that left this note, or new ones."""
        folder = (note or {}).get("rows")
        if isinstance(folder, str) and self.work.has(f"{folder}/rows"):
            log.info("the run goes on with the rows in %s/%s", self.work.url, folder)
            self.folder = folder
            return
        self.write()
        self.work.keep_note(name, {"rows": self.folder})

    def url(self, what: str) -> str:
        return f"{self.work.url}/{self.folder}/{what}"

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """These columns of the rows, file by file, always in the same order."""
        import pyarrow.parquet

        for path in self.work.parts(f"{self.folder}/rows"):
            with self.work.files.open_input_file(path) as file:
                # In the order of the columns' names in the file otherwise.
                parts = pyarrow.parquet.ParquetFile(file).iter_batches(BATCH_ROWS, columns=columns)
                for batch in parts:
                    yield batch.select(columns)

    def input(self, needed: list[str]) -> _vesica.Input:
        import pyarrow
        import pyarrow.parquet

        parts = self.work.parts(f"{self.folder}/rows")
        with self.work.files.open_input_file(parts[0]) as file:
            schema = pyarrow.parquet.read_schema(file)
        schema = pyarrow.schema([schema.field(name) for name in needed])
        reader = pyarrow.RecordBatchReader.from_batches(schema, self.batches(needed))
        return _vesica.Input.stream(reader.__arrow_c_stream__(), None)

    def column(self, column: _vesica.Column) -> Any:
        import pyarrow

        return pyarrow.array(column)

    def keep(self, result: Result) -> None:
        """Write which rows are in the result, or their identifiers."""
        if result.kind == "rows":
            common = result.mask
            self.write_parts("common", lambda rows, first: rows.filter(common[first:][: len(rows)]))
        elif result.kind == "ids":
            ids = result.ids
            self.write_parts(
                "ids",
                lambda rows, first: rows.append_column(PRIVATE_ID, ids[first:][: len(rows)]),
            )

    def write_parts(self, name: str, of: Callable[[Any, int], Any]) -> None:
        """Write what `of` makes of the numbers of the rows, batch by batch; it has the number of rows before, too."""
        import pyarrow
        import pyarrow.parquet

        path = f"{self.work.path}/{self.folder}/{name}"
        self.work.files.create_dir(path)
        writer, first = None, 0
        with self.work.files.open_output_stream(f"{path}/part-00000.parquet") as file:
            for batch in self.batches([ROW]):
                rows = of(pyarrow.table([batch.column(0)], [ROW]), first)
                first += len(batch)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(file, rows.schema)
                writer.write_table(rows)
            if writer is not None:
                writer.close()

    def filter(self, mask: _vesica.Column) -> Any:
        return self.read("rows").join(self.read("common"), ROW, "left_semi").drop(ROW)

    def with_ids(self) -> Any:
        """All rows, with their identifiers."""
        return self.read("rows").join(self.read("ids"), ROW, "left").drop(ROW)

    def table(self, table: _vesica.Table) -> Any:
        import pyarrow

        return self.spark.createDataFrame(pyarrow.table(table).to_pylist())

    def read(self, name: str) -> Any:
        return self.spark.read.parquet(self.url(name))
