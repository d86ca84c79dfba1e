"""Runs partitions on Spark executors: the executor side and the driver side.

The driver submits a Spark job for each flight, with a task for each group of partitions. A task reads the items of
its partitions and the messages that they have received, runs the protocol as far as these allow, and writes each
partition's next message to the store. It is a pure function, so Spark may run it any number of times, and twice at
once.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import math
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from vesica import _vesica
from vesica._errors import DataError, InternalError, SettingsError
from vesica._frames import quietly
from vesica._orders import Bucket
from vesica._sealed import FOLDER, Sealed, sealed_in
from vesica._work import write_whole

log = logging.getLogger("vesica")

#: The column that numbers the rows below `work`.
ROW = "_vesica_row"
#: The columns of the bits that tell which rows are common: the number of a piece of rows, and one bit
#: per row, packed in 64-bit words.
PIECE, WORDS = "_vesica_piece", "_vesica_words"
#: Rows of a file of items, about: a task groups that many in memory.
FILE_ROWS = 2 << 20
#: Rows whose bits a task writes, about.
MARKED_ROWS = 8 << 20
#: Items of the partitions that a task advances, about: a task takes some 30 ms in addition to its work.
TASK_ITEMS = 1 << 17
#: The bucket of a row that counts rows with an empty, and with a refused key.
EMPTY, REFUSED = -1, -2
#: Bytes for other tasks that a task holds, about, before it passes them on.
HELD_BYTES = 32 << 20
#: Most bytes of a row between the halves of a job: a multiple of what one row of the DataFrame takes there. Spark makes
#: batches of spark.sql.execution.arrow.maxRecordsPerBatch rows, by default 10,000, and Arrow's have at most 2^31 bytes.
PACKED_BYTES = 26 * 8 * 100
#: Most rows of a row group in a file of items. pyarrow never makes groups of more than 2^26 rows.
GROUP_ROWS = 1 << 20
#: Columns between the two halves of the grouping.
ITEMS = "task int, packed binary, empty long, refused long"
#: Columns between the two halves of the marking.
MARKS = "task int, packed binary"
#: Columns returned by a task that grouped rows.
GROUPED = "bucket int, file string, position int, entries long, distinct long, digest binary"
#: Columns returned by a task that wrote bits.
BITS = "common long"
#: Columns returned by a task that advanced partitions.
TAKEN = "part int, taken binary"

#: Pause between two cancellations of a job that has exceeded its time limit, in seconds.
CANCEL_EVERY = 0.1

#: The property of a job that Spark's pages show.
DESCRIPTION = "spark.job.description"
#: Schemes of stores that grant rights to write separately from rights to read.
BUCKETS = ("s3", "gs", "az")

FAILED = (
    "a job of the run failed",
    "Spark's log says why: executors need this package, `work` and `exchange`, and the job must not be cancelled; "
    "make the same call again: the run resumes",
)


def check_place(exchange: Any, side: int) -> None:
    """Refuse an unusable store before the cluster writes any row. `side` is 0 or 1: this party's position in the
    order of the two names.
    """
    if not isinstance(exchange, (str, os.PathLike)):
        return
    place = os.fspath(exchange)
    try:
        opened = _vesica.Place(place)
        if place.partition("://")[0] in BUCKETS:
            # A policy may let a party write only objects whose names begin with its number.
            opened.check(f"check/{side}-{uuid.uuid4().hex}")
        return
    except SettingsError as error:
        refused = error
    if place.startswith("s3://"):
        bucket, _, prefix = place.removeprefix("s3://").partition("/")
        names = "/".join(filter(None, (bucket, prefix.rstrip("/"))))
        refused = SettingsError(
            str(refused),
            f"{refused.hint}; the driver and executors need s3:ListBucket on arn:aws:s3:::{bucket}, s3:GetObject on "
            f"arn:aws:s3:::{names}/*, and s3:PutObject and s3:DeleteObject on arn:aws:s3:::{names}/*/{side}-*: "
            "docs/exchange.md has a policy that says so",
        )
    raise refused


class Packed:
    """Bytes to be sent to tasks, in few large rows: Spark takes a microsecond for each row, however small."""

    def __init__(self) -> None:
        self.held: dict[int, list[bytes]] = {}
        self.bytes = 0

    def add(self, packed: list[tuple[int, bytes]]) -> None:
        for task, some in packed:
            self.held.setdefault(task, []).append(some)
            self.bytes += len(some)

    def take(self) -> tuple[list[int], list[bytes]]:
        """Take what is held: the tasks, and bytes for each."""
        tasks, packed = [], []
        for task, held in self.held.items():
            whole = b"".join(held)
            for first in range(0, len(whole), PACKED_BYTES):
                tasks.append(task)
                packed.append(whole[first : first + PACKED_BYTES])
        self.held, self.bytes = {}, 0
        return tasks, packed


def items_of(
    agreement: str,
    party: str,
    columns: dict[str, str],
    row: str,
    sealed: Sealed,
    buckets: int,
    tasks: int,
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that turns rows into items, packed for the tasks that group them."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        known, secret = agreement_of(agreement), bytes.fromhex(sealed.order(0))
        held, empty, refused = Packed(), 0, 0

        def passed_on() -> Any:
            to, packed = held.take()
            # The first task does the counting.
            columns = [[*to, 0], [*packed, b""], [0] * len(to) + [empty], [0] * len(to) + [refused]]
            types = ["int32", "binary", "int64", "int64"]
            return batch_of(ITEMS, columns, types)

        for batch in batches:
            keys = batch.drop_columns([row])
            reader = pyarrow.RecordBatchReader.from_batches(keys.schema, [keys])
            given = _vesica.Input.stream(reader.__arrow_c_stream__(), len(batch))
            rows = pyarrow.table([batch.column(row).cast("int64")], ["row"])
            packed, no_key, no_good = _vesica.items(
                known, party, columns, given, rows.__arrow_c_stream__(), secret, buckets, tasks
            )
            held.add(packed)
            empty, refused = empty + no_key, refused + no_good
            if held.bytes >= HELD_BYTES:
                yield passed_on()
                empty, refused = 0, 0
        yield passed_on()

    return work


def batch_of(schema: str, columns: list[Any], types: list[str]) -> Any:
    """A batch of these columns, with the names in a schema of Spark."""
    import pyarrow

    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pyarrow.record_batch(arrays, [field.split()[0] for field in schema.split(", ")])


def grouped_into(files: Any, folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that writes items into a file, bucket by bucket."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet

        # Untyped: pyarrow generates these functions on import.
        compute: Any = pyarrow.compute
        given = list(batches)
        if not given:
            return
        table = pyarrow.Table.from_batches(given)
        found: list[tuple[int, str, int, int, int, bytes]] = [
            (one, "", 0, compute.sum(table[name]).as_py(), 0, b"")
            for one, name in ((EMPTY, "empty"), (REFUSED, "refused"))
        ]
        items, rows, buckets = _vesica.grouped(table.select(["packed"]).__arrow_c_stream__())
        del given, table
        # Each attempt at this task writes its own file; only one of them is used.
        name = f"items-{uuid.uuid4().hex}.parquet"
        if buckets:
            schema = pyarrow.schema([("item", pyarrow.binary(16)), ("row", "int64")])
            ordered = pyarrow.table([pyarrow.array(items), pyarrow.array(rows)], schema)
            with (
                files.open_output_stream(f"{folder}/{name}") as file,
                pyarrow.parquet.ParquetWriter(
                    file, schema, compression="none", use_dictionary=False
                ) as writer,
            ):
                first = position = 0
                for bucket, entries, distinct, digest in buckets:
                    part = ordered.slice(first, entries)
                    first += entries
                    writer.write_table(part, row_group_size=GROUP_ROWS)
                    found.append((bucket, name, position, entries, distinct, digest))
                    position += groups_of(entries)
        types = ["int32", "string", "int32", "int64", "int64", "binary"]
        yield batch_of(GROUPED, list(zip(*found, strict=True)), types)

    return work


def groups_of(entries: int) -> int:
    """How many row groups `entries` entries of a bucket take in its file."""
    return -(-entries // GROUP_ROWS)


def marks_of(
    files: Any, folder: str, groups: list[list[str]], tasks: int
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that reads which rows of partitions are common, packed for the tasks that write bits."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.parquet

        held = Packed()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for name in groups[number]:
                    with files.open_input_file(f"{folder}/{name}") as file:
                        marks = pyarrow.parquet.ParquetFile(file).read()
                    held.add(_vesica.marks(marks.__arrow_c_stream__(), tasks))
                    if held.bytes >= HELD_BYTES:
                        yield batch_of(MARKS, list(held.take()), ["int32", "binary"])
        yield batch_of(MARKS, list(held.take()), ["int32", "binary"])

    return work


def bits_into(files: Any, folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that writes a file of bits, and counts the common rows."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        bits, task = _vesica.Bits(), None
        for batch in batches:
            for packed in batch.column(1):
                bits.add(packed.as_py())
            if len(batch):
                task = batch.column(0)[0].as_py()
        if task is not None:
            yield batch_of(BITS, [[write_bits(files, folder, task, bits)]], ["int64"])

    return work


def write_bits(files: Any, folder: str, number: int, bits: _vesica.Bits) -> int:
    """Write a file of bits, whole or not at all; each attempt writes the same. Returns how many rows are common."""
    import pyarrow

    pieces, words, common = bits.take()
    table = pyarrow.table({PIECE: pyarrow.array(pieces), WORDS: pyarrow.array(words)})
    write_whole(files, folder, f"part-{number:05}.parquet", parquet_of(table))
    return common


def turns_of(
    files: Any, folder: str, place: Any, sealed: Sealed
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that advances one group of partitions; each row has the number of a group."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        store = place_of(place)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                parts, taken, over = [], [], []
                orders, tasks = sealed.order(number)
                spec = _vesica.RunSpec.parse(orders)
                for text, given in tasks:
                    task, buckets = _vesica.Task.parse(text), map(Bucket.of_order, given)
                    came, rows = turn(files, folder, store, spec, task, list(buckets))
                    parts.append(task.part)
                    taken.append(sealed.seal(task.part, came))
                    if rows is not None:
                        over.append((task.part, rows))
                # After everything that the other side can see.
                for part, rows in over:
                    # Each attempt writes the same, and the size does not depend on what was found.
                    name = f"part-{part:05}.parquet"
                    write_whole(files, f"{folder}/marks", name, parquet_of(rows))
                columns = [pyarrow.array(parts, "int32"), pyarrow.array(taken, "binary")]
                yield pyarrow.record_batch(columns, ["part", "taken"])

    return work


def turn(
    files: Any,
    folder: str,
    store: _vesica.Place,
    spec: _vesica.RunSpec,
    task: _vesica.Task,
    buckets: list[Bucket],
) -> tuple[str, Any]:
    """Advance one partition by a turn: returns the outcome and, if the partition has finished, the numbers of all its
    rows, each with whether it is common.
    """
    import pyarrow

    kept = {}
    for name in task.kept:
        with files.open_input_stream(f"{folder}/heard/{name}") as file:
            kept[name] = file.read()
    tables = [read(files, folder, bucket) for bucket in buckets]
    schema = pyarrow.schema([("item", pyarrow.binary(16)), ("row", "int64")])
    entries = pyarrow.concat_tables(tables) if tables else schema.empty_table()
    taken, common = _vesica.take(spec, task, entries.__arrow_c_stream__(), store, kept)
    if common is None:
        return taken, None
    return taken, pyarrow.table({"row": entries["row"], "common": pyarrow.array(common)})


def read(files: Any, folder: str, bucket: Bucket) -> Any:
    """The items of a bucket, and the numbers of their rows."""
    import pyarrow.parquet

    with files.open_input_file(f"{folder}/items/{bucket.file}") as file:
        groups = range(bucket.position, bucket.position + groups_of(bucket.entries))
        table = pyarrow.parquet.ParquetFile(file).read_row_groups(groups)
    digest = _vesica.digest(table.__arrow_c_stream__())
    if len(table) != bucket.entries or digest != bucket.digest:
        raise DataError(
            "the items of a partition have changed",
            "no one else may write to work; start a new run with restart=True",
        )
    return table


def parquet_of(rows: Any) -> Callable[[Any], None]:
    """Returns the function that writes these rows to a file, whose size does not depend on their values."""
    import pyarrow.parquet

    return lambda file: pyarrow.parquet.write_table(
        rows, file, compression="none", use_dictionary=False
    )


@functools.cache
def agreement_of(text: str) -> _vesica.Agreement:
    return _vesica.Agreement.parse(text)


#: The stores that this process has opened.
_places: dict[str, _vesica.Place] = {}


def place_of(place: Any) -> _vesica.Place:
    """The store of the run, opened once in a process."""
    if not isinstance(place, str):
        return _vesica.Place(place)
    if place not in _places:
        _places[place] = _vesica.Place(place)
    return _places[place]


class Executors:
    """The driver's view of the executors that have the rows of a run."""

    def __init__(
        self,
        rows: Any,
        agreement: Any,
        party: str,
        columns: dict[str, str],
        place: Any,
        strict: bool,
    ) -> None:
        self.rows, self.agreement, self.party, self.columns = rows, agreement, party, columns
        self.place, self.strict = place, strict
        self.workers = _vesica.Workers()
        self.buckets: list[Bucket | None] = []
        self.counts = (0, 0)
        #: Whether a job has failed, which does not mean that the rows are unusable.
        self.has_failed = False

    def serve(self) -> None:
        """Serve the request of the run, if there is one."""
        request = self.workers.request(0)
        if isinstance(request, _vesica.GroupRequest):
            self.group(request.secret, request.buckets)
        elif request is not None:
            self.take(request.spec, request.tasks, request.kept)

    def job(self, what: str, work: Callable[[], Any]) -> Any:
        """Returns what `work` returns. If it fails, the same call resumes with the same rows."""
        try:
            with described(self.rows.spark, what):
                return quietly(FAILED, work)
        except BaseException:
            self.has_failed = True
            raise

    def group(self, secret: bytes, buckets: int) -> None:
        """Have the executors turn all rows into items, and group them."""
        rows = self.rows
        rows.take_state()
        total = sum(count for _, count in rows.parts)
        tasks = max(1, min(buckets, max(-(-total // FILE_ROWS), slots(self.rows.spark))))
        log.info("executors group %d rows into %d files", total, tasks)
        from pyspark.sql import functions  # pyright: ignore[reportMissingImports]

        folder = f"{rows.work.path}/{rows.folder}"
        for name in ("items", "marks"):
            rows.work.create(f"{rows.folder}/{name}")
        used = [functions.col(quoted(name)) for name in [*rows.used, ROW]]
        write = grouped_into(rows.work.files, f"{folder}/items")

        def grouped() -> Any:
            with sealed_in(rows.work, rows.folder, [secret.hex()]) as sealed:
                make = items_of(
                    self.agreement.text, self.party, self.columns, ROW, sealed, buckets, tasks
                )
                keyed = rows.read("rows").select(*used).mapInArrow(make, ITEMS)
                return spread(keyed, tasks).drop("task").mapInArrow(write, GROUPED).collect()

        found = self.job("group rows by partition", grouped)
        self.buckets = [None] * buckets
        self.counts = (0, 0)
        for bucket, file, position, entries, distinct, digest in found:
            if bucket >= 0:
                if self.buckets[bucket] is not None:
                    raise InternalError("a bucket was grouped twice", "report this")
                self.buckets[bucket] = Bucket(file, position, entries, distinct, bytes(digest))
            elif bucket == EMPTY:
                self.counts = (self.counts[0] + entries, self.counts[1])
            else:
                self.counts = (self.counts[0], self.counts[1] + entries)
        # A state resumes with the results of these rows, including the files of finished partitions.
        digest = hashlib.sha256(rows.folder.encode())
        for one in self.buckets:
            digest.update(one.digest if one is not None else bytes(32))
        if self.strict and self.counts[1]:
            raise DataError(
                f"{self.counts[1]} rows have a key that its profile refuses",
                "leave out strict=True, or correct them: vesica.check finds them",
            )
        distinct = [0 if one is None else one.distinct for one in self.buckets]
        keyed = sum(one.entries for one in self.buckets if one is not None)
        self.workers.grouped(total, *self.counts, keyed, distinct, digest.digest())

    def take(
        self, spec: _vesica.RunSpec, tasks: list[_vesica.Task], kept: list[tuple[str, bytes]]
    ) -> None:
        """Have the executors advance the partitions of these tasks."""
        rows = self.rows
        folder = f"{rows.work.path}/{rows.folder}"
        rows.work.create(f"{rows.folder}/heard")
        for name, data in kept:
            put = functools.partial(rows.work.put, f"{rows.folder}/heard/{name}", data)
            self.job("store incoming messages", put)
        each, rest = divmod(len(self.buckets), spec.partitions)
        if rest or not each:
            raise InternalError("there are more partitions than buckets", "report this")
        with_items = []
        for task in tasks:
            first = task.part * each
            buckets = [
                one.to_order() for one in self.buckets[first : first + each] if one is not None
            ]
            with_items.append((task.text, buckets))
        # Only from public figures: the other side sees how long this takes.
        items = len(tasks) * self.agreement.partition_rows
        most = max(1, min(len(tasks), max(slots(self.rows.spark), -(-items // TASK_ITEMS))))
        orders = spec.text
        each_order = [(orders, with_items[number::most]) for number in range(most)]
        log.info("executors advance %d partitions in %d tasks", len(tasks), most)

        def turns() -> dict[int, str]:
            with sealed_in(rows.work, rows.folder, each_order) as sealed:
                work = turns_of(rows.work.files, folder, self.place, sealed)
                numbers = rows.spark.range(0, most, 1, most)
                found = numbers.mapInArrow(work, TAKEN).collect()
                return {part: sealed.unseal(part, bytes(taken)) for part, taken in found}

        by_part = self.job(f"advance {len(tasks)} partitions", turns)
        self.workers.taken([by_part[task.part] for task in tasks])

    def write_common(self) -> int:
        """Have the executors write bits for the common rows. Returns how many rows are common."""
        return int(self.job("mark common rows", self.marked))

    def marked(self) -> int:
        rows = self.rows
        folder = f"{rows.work.path}/{rows.folder}"
        total = sum(count for _, count in rows.parts)
        tasks = max(1, -(-total // MARKED_ROWS))
        names = rows.work.names(f"{rows.folder}/marks")
        most = max(1, min(len(names), max(slots(rows.spark), tasks)))
        groups = [names[number::most] for number in range(most)]
        rows.work.create_anew(f"{rows.folder}/common")
        read = marks_of(rows.work.files, f"{folder}/marks", groups, tasks)
        marks = rows.spark.range(0, most, 1, most).mapInArrow(read, MARKS)
        write = bits_into(rows.work.files, f"{folder}/common")
        written = spread(marks, tasks).mapInArrow(write, BITS)
        return sum(common for (common,) in written.collect())

    def clean(self) -> None:
        """Delete what is not needed after the run."""
        for name in ("items", "heard", "marks", FOLDER):
            self.rows.work.remove(f"{self.rows.folder}/{name}")


@contextlib.contextmanager
def described(spark: Any, what: str, limit: float = math.inf) -> Iterator[None]:
    """Describe jobs on Spark's pages, and cancel them if this block raises, or after `limit` seconds."""
    context = None
    with contextlib.suppress(Exception):
        # Spark Connect has no context.
        context = spark.sparkContext
    if context is None:
        yield
        return
    tag = f"vesica-{uuid.uuid4().hex}"
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, f"Vesica: {what}")
    context.addJobTag(tag)
    ended = threading.Event()

    def cancel() -> None:
        left = limit
        # Repeatedly: a job that starts later has the tag too.
        while not ended.wait(left):
            left = CANCEL_EVERY
            with contextlib.suppress(Exception):
                context.cancelJobsWithTag(tag)

    if limit < threading.TIMEOUT_MAX:
        threading.Thread(target=cancel, daemon=True).start()
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            context.cancelJobsWithTag(tag)
        raise
    finally:
        ended.set()
        with contextlib.suppress(Exception):
            context.removeJobTag(tag)
            context.setLocalProperty(DESCRIPTION, before)


def slots(spark: Any) -> int:
    """About how many tasks run at a time."""
    with contextlib.suppress(Exception):
        return int(spark.sparkContext.defaultParallelism)
    return 8


def quoted(name: str) -> str:
    """The name of a column, quoted for Spark."""
    return "`" + name.replace("`", "``") + "`"


def spread(rows: Any, tasks: int) -> Any:
    """Repartition the rows by the number in their column `task`, with a separate task for each number."""
    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(tasks, "task")
    # Before Spark 4.1: for each task a number whose hash selects that task.
    found: dict[int, int] = {}
    first = 0
    while len(found) < tasks:
        numbers = rows.sparkSession.range(first, first + 16 * tasks)
        hashed = numbers.selectExpr("int(id) v", f"pmod(hash(int(id)), {tasks}) task").collect()
        for value, task in hashed:
            found.setdefault(task, value)
        first += 16 * tasks
    slots = ", ".join(str(found[task]) for task in range(tasks))
    return (
        rows.selectExpr("*", f"array({slots})[task] slot").repartition(tasks, "slot").drop("slot")
    )
