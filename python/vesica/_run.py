"""Runs: `run`, `run_async`, and what all functions that talk to another party share."""

from __future__ import annotations

import atexit
import datetime
import os
import time
from collections.abc import Mapping

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import DataError, SettingsError, VesicaError
from vesica._frames import File, FileOptions, Frame
from vesica._identity import Identity
from vesica._names import takes
from vesica._options import RunOptions, Time
from vesica._progress import Follower, display
from vesica._result import Result

#: How often a wait for a run lets Python handle signals and shows progress, in seconds.
TICK = 0.05
#: The same for asyncio.
ASYNC_TICK = 0.02
#: How long to wait for a run that was asked to stop, in seconds.
GRACE = 0.9
#: How long to wait for the other side, without and with a state, in seconds.
WAIT, WAIT_KEPT = 60.0, 24 * 3600.0
#: The longest time, also used for 0 (no limit): a year.
LONGEST = 366 * 24 * 3600.0


@takes(RunOptions)
def run(options: RunOptions) -> Result:
    """Match `data` with the data of the other parties, and return what this party learns.

    Both sides call this, or ``vesica run``, with the same agreement; one listens, the other
    connects, and either may start first. With a helper, all parties connect to it.

    The GIL is released during the run. Ctrl-C, or an exception in a callback, ends both sides.

    Args:
        agreement: The agreement, or the path of its file.
        data: The path of a CSV or Parquet file, or a data frame: of pandas, polars, pyarrow,
            DuckDB, or anything that has ``__arrow_c_stream__`` or ``__arrow_c_array__``.
        key: Your key, or the path of its file; it determines which party you are.
        columns: The column of the data for a key or a value of the agreement, if the names differ.
        connect: The address of the other side or of the helper, ``host:port``.
        listen: The address at which to wait for the other side.
        proxy: Connect through this proxy, ``http://host:port`` or ``socks5://host:port``, also
            with ``user:password@`` before the host; ``none`` for no proxy. By default that of the
            environment: ``HTTPS_PROXY`` or ``ALL_PROXY``, unless ``NO_PROXY`` lists the host.
        exchange: A place that both sides can reach, through which they exchange messages instead of
            over a connection: a folder, a URL ``s3://bucket/prefix``, ``gs://…``, ``az://…`` or
            ``sftp://user@host/folder``, or an object with the methods of `vesica.exchange.Store`.
        progress: True for bars (of tqdm, where it is installed), or a function that takes a
            `Progress`.
        party: The party that you are; an error if the key belongs to another one.
        wait: How long to wait for the other side, in seconds (60), or for the helper and each of
            the other parties, or with `exchange` or `state` for each message (a day); 0 for no
            limit. Without a helper and `state`, a lost connection must be replaced within this
            time, at most 60 seconds.
        idle: How long the other side may send nothing, in seconds, at least 1.
        total: How long the session may last, in seconds; 0 for no limit.
        threads: CPU threads; all cores by default.
        strict: Whether a value that its profile refuses is an error; otherwise its row is left out.
        insecure: Allow the insecure protocol that the agreement names.
        output: A file for the result, as well. Only for data in a file, or a result without rows.
        mark: A name. `Result.rows` and `output` then have all rows, with one more column of that name:
            whether the row's key is in common, with private ids its identifier, and with a union the
            number of its key in it, from 1. Only for these three, at a party that receives the result.
        refused: A file for a list of the rows that are refused: its line or row from 1, the column and
            the reason, but no value. An existing one is replaced.
        force: Replace an existing `output`.
        state: The folder with which an interrupted run resumes, with a helper or `exchange`, or
            over a connection if both sides give one.
        memory: About how much memory the run may take in addition to your data, in bytes or as a
            text such as "512MiB" or "1.5GB" (1 GiB, or half of what the container or the machine has
            if that is less), for data of any size; data beyond it goes to unnamed temporary files.
        scratch: The folder for these files: by default the current one, or with a helper `state`.
        restart: Abandon an interrupted run that has a state, end it for all, and start a new one.
        delimiter: The character between the fields of a text file; detected by default.
        header: Whether the first row of a text file has the names of the columns.
        format: ``csv``, ``tsv`` or ``parquet``; by default determined by the file's name.
        skip_rows: Lines to skip at the top of a text file, before the row with the names.
        comment: A character; lines at the top of a text file that begin with it are skipped too.

    Raises:
        DataError: Your data cannot be used.
        SettingsError: Your agreement, key, address or another argument.
        AgreementMismatch: The agreements of the two sides differ.
        PeerError: The other side broke the protocol, or the helper refuses.
        NetworkError: The connection could not be made, or failed.
        Cancelled: The run was cancelled on this side.
    """
    return completed(options)


@takes(RunOptions)
async def run_async(options: RunOptions) -> Result:
    """Like `run`, for asyncio: other tasks keep running, and cancelling the task ends both sides."""
    # Importing asyncio takes longer than importing this package.
    import asyncio

    started = Started(options)
    try:
        while not started.running.wait(0):
            started.follow()
            await asyncio.sleep(ASYNC_TICK)
        started.follow()
    except asyncio.CancelledError as error:
        started.running.cancel()
        until = time.monotonic() + GRACE
        while not started.running.wait(0) and time.monotonic() < until:
            await asyncio.sleep(ASYNC_TICK)
        started.keep(error)
        raise
    except BaseException as error:
        # Also if the loop was closed, and nothing can be awaited.
        started.stop()
        started.keep(error)
        raise
    finally:
        started.close()
    return started.finish()


def completed(options: RunOptions) -> Result:
    """Run until the end, for functions that have made the options themselves."""
    started = Started(options)
    try:
        while not started.running.wait(TICK):
            started.follow()
        started.follow()
    except BaseException as error:
        started.stop()
        started.keep(error)
        raise
    finally:
        started.close()
    return started.finish()


class Started:
    """A run in progress, with what is needed to finish it."""

    def __init__(self, options: RunOptions) -> None:
        check_process()
        self.agreement = agreement_of(options.agreement)
        identity = key_of(options.key)
        self.party = self.agreement.party_of(identity)
        mapped = names_of(options.columns)
        self.frame = options.frame()
        is_aided = self.agreement.helper is not None
        if options.threads is not None and not 1 <= options.threads <= 1024:
            raise SettingsError("the number of threads is from 1 to 1024", "None is all cores")
        self.mark = None if options.mark is None else column_name(options.mark, self.frame)
        check_added(self.agreement, self.party, self.mark, self.frame)
        if options.refused is not None and self.frame.is_cluster:
            raise SettingsError(
                "refused= is not for a frame of a cluster, whose rows have no numbers",
                "leave refused= out",
            )
        has_rows = self.agreement.operation == "intersection" or self.mark is not None
        if options.output is not None and has_rows:
            if not isinstance(self.frame, File):
                raise SettingsError(
                    "output= is for rows that come from a file", "use the rows() of the result"
                )
        exchange = options.exchange
        try:
            given = self.frame.input(needed(self.agreement, self.party, mapped))
        except DataError:
            # The other side may already wait for this one. Through a store it keeps waiting.
            if exchange is not None:
                raise
            _vesica.leave_word(
                self.agreement._inner,
                identity._inner,
                options.listen,
                options.connect,
                options.proxy,
            )
            raise
        is_kept = is_aided or exchange is not None or options.state is not None
        limit = WAIT_KEPT if is_kept else WAIT
        self.running = _vesica.Running.start(
            self.agreement._inner,
            identity._inner,
            given,
            mapped,
            party=options.party,
            listen=options.listen,
            connect=options.connect,
            proxy=options.proxy,
            exchange=os.fspath(exchange) if isinstance(exchange, os.PathLike) else exchange,
            wait=limit if options.wait is None else seconds("wait", options.wait) or LONGEST,
            idle=idle_seconds(options.idle),
            total=seconds("total", options.total),
            threads=options.threads,
            state=path_of(options.state),
            memory=options.memory,
            scratch=path_of(options.scratch),
            restart=options.restart,
            insecure=options.insecure,
            strict=options.strict,
            output=path_of(options.output),
            mark=self.mark,
            refused=path_of(options.refused),
            force=options.force,
            again=again(self.frame),
            workers=None if self.frame.executors is None else self.frame.executors.workers,
        )
        peers = [one.name for one in self.agreement.parties if one.name != self.party]
        self.follower = Follower(
            display(options.progress), self.agreement.helper or ", ".join(peers)
        )

    def follow(self) -> None:
        """Show what has happened, and serve the run's requests to executors."""
        self.follower.follow(self.running.notes())
        if self.frame.executors is not None:
            self.frame.executors.serve()

    def listening(self) -> str:
        """The address at which this side waits, once it does."""
        while self.follower.address is None and not self.running.wait(TICK):
            self.follow()
        self.follow()
        # If the run has ended before that, `finish` raises the reason.
        return self.follower.address or "127.0.0.1:0"

    def stop(self) -> None:
        """Ask the run to end, and wait a moment for it."""
        try:
            self.running.cancel()
            self.running.wait(GRACE)
        except VesicaError:
            # In a forked process, and at the end of Python. The exception that ended the run matters more.
            pass

    def keep(self, error: BaseException) -> None:
        """Put the result into `error` if the run had succeeded before that: the other side will not run again."""
        try:
            outcome = self.running.finish()
        except Exception:
            return
        if outcome is not None:
            error.result = self.result(outcome)  # type: ignore[attr-defined]
            error.add_note(
                "the run had finished: this exception's attribute `result` is its result"
            )
            self.frame.keep(error.result)  # type: ignore[attr-defined]
            self.running.release()

    def result(self, outcome: _vesica.Outcome) -> Result:
        return Result(outcome, self.frame, self.agreement, self.mark)

    def close(self) -> None:
        """End the display."""
        self.follower.close()

    def finish(self) -> Result:
        """The result, or the exception."""
        outcome = self.running.finish()
        if outcome is None:
            raise SettingsError("the result of this run was taken before", "start a new run")
        result = self.result(outcome)
        self.frame.keep(result)
        self.running.release()
        return result


#: The process in which this package was used first.
_process: int | None = None


def check_process() -> None:
    """Raise if this process was forked after vesica was used.

    Threads do not survive a fork, and locks that they held stay locked.
    """
    global _process
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise SettingsError(
            "this process was forked from one that had used vesica",
            'use multiprocessing.get_context("spawn"), or use vesica in the new process only',
        )


@atexit.register
def end_all() -> None:
    """End all runs: once Python is shutting down, threads of a run must no longer call into it."""
    if _process == os.getpid():
        _vesica.end_all(GRACE)


def agreement_of(agreement: Agreement | str | os.PathLike[str]) -> Agreement:
    return agreement if isinstance(agreement, Agreement) else Agreement.load(agreement)


def key_of(key: Identity | str | os.PathLike[str]) -> Identity:
    if isinstance(key, str) and key.startswith("vesica1"):
        raise SettingsError(
            "this is the public half of a key", "give the Identity, or the path of its file"
        )
    return key if isinstance(key, Identity) else Identity.load(key)


def path_of(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def names_of(columns: Mapping[str, str] | None) -> dict[str, str]:
    """`columns` as a dict, checked."""
    mapped = dict(columns or {})
    if not all(isinstance(name, str) for pair in mapped.items() for name in pair):
        raise SettingsError(
            "columns maps names to names of columns, which are texts",
            'a column that is named by a number: columns={"email": "0"}',
        )
    return mapped


def column_name(mark: str, rows: Frame) -> str:
    """The name of a column that is added to `rows`."""
    if not isinstance(mark, str) or not 1 <= len(mark.encode()) <= 256 or not mark.isprintable():
        raise SettingsError(
            "mark is the name of a column, of 1 to 256 bytes in one line", 'mark="in_common"'
        )
    if rows.is_cluster:
        raise SettingsError("mark is not for a cluster", "join the rows of the result with df")
    if mark in rows.names():
        raise DataError(
            f"the input already has a column {mark!r}", "give `mark=` a name that no column has"
        )
    return mark


def check_added(agreement: Agreement, party: str | None, mark: str | None, rows: Frame) -> None:
    """Refuse a frame with a column that the result adds."""
    added = list(agreement._inner.added_columns(party))
    for name in added:
        if name in rows.names():
            raise DataError(
                f"the input already has a column {name!r}, which the result adds",
                "rename that column of the input",
            )
    if mark in added:
        raise DataError(
            f"the result already has a column {mark!r}", "give `mark=` a name that no column has"
        )


def needed(agreement: Agreement, party: str | None, columns: Mapping[str, str]) -> list[str]:
    """The columns of the data that a run uses."""
    names = [key.name for key in agreement.keys]
    values = agreement.values
    if values is not None and party in (None, values.of):
        names += values.columns
        if values.by is not None:
            names.append(values.by)
    sent = agreement.columns
    if sent is not None and party in (None, sent.of):
        names += sent.types
    factors = agreement.factors
    if factors is not None and party in (None, factors.of):
        names.append(factors.column)
    return [columns.get(name, name) for name in names]


def again(rows: Frame) -> FileOptions | None:
    """The options to open the file of `rows` again, if they are in one."""
    return rows.options if isinstance(rows, File) else None


def seconds(name: str, time: Time) -> float:
    if isinstance(time, datetime.timedelta):
        time = time.total_seconds()
    if not isinstance(time, (int, float)):
        raise SettingsError(f"{name} is a number of seconds, or a timedelta", f"{name}=60")
    if not 0 <= time <= LONGEST:
        raise SettingsError(
            f"{name} is a time from 0 to {LONGEST:.0f} seconds", f"for example {name}=60"
        )
    return float(time)


def idle_seconds(time: Time) -> float:
    limit = seconds("idle", time)
    if not 1 <= limit <= 24 * 3600:
        raise SettingsError("idle is a time from 1 second to a day", "for example idle=60")
    return limit
