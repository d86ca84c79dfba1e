"""Apache Spark DataFrames: runs whose rows are in a cluster, and whose results are DataFrames.

    from vesica import spark as vs

    rows = vs.match(df, "agreement.toml", key="grocer.key", work="s3a://own-bucket/vesica",
                    exchange="s3://shared-bucket/match")

The cluster writes the rows once, below `work`, as Parquet. Executors then do the work of a large
intersection through `exchange`: each message of the run is a Spark job. Otherwise the driver reads the
columns that the agreement needs, part by part, and takes part in the run. The marks of the common rows
go to `work` too, and the result is a lazy DataFrame over both.

Only you may be able to read `work`: it has your rows in the clear. Delete it when you no longer need the
DataFrames.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from vesica._agreement import Agreement
from vesica._errors import DataError, SettingsError, StateInUse
from vesica._executors import Executors, check_place, slots
from vesica._frames import unique
from vesica._identity import Identity
from vesica._join import helper_join
from vesica._names import made
from vesica._options import RunOptions
from vesica._packages import check_executors, check_packages
from vesica._result import Result
from vesica._rows import PRIVATE_ID, Rows, can_executors
from vesica._run import agreement_of, completed, key_of, names_of, needed
from vesica._work import Work

__all__ = ["count", "helper_join", "match", "private_ids", "run", "save_shares", "sums"]

#: The file of a state that exists while its run is unfinished.
MEETING = "meeting"
#: The file of a state that pins the rows with which it resumes.
PINNED = "rows"
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
    of_kind(agreement := agreement_of(agreement), "count", "cardinality", "sum", "inner-product")
    return run(df, agreement, key=key, work=work, **settings).count


def sums(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> dict[str, int] | None:
    """The sum of each column of values over the common keys; None if this party does not receive it."""
    of_kind(agreement := agreement_of(agreement), "sums", "sum", "inner-product")
    return run(df, agreement, key=key, work=work, **settings).sums


def private_ids(df: Any, agreement: Any, *, key: Any, work: str, **settings: Any) -> Any:
    """The rows of `df` with a column ``private_id``, which for a common key is the same at both parties.

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
    """Write this party's shares to a file, which only you can read. `vesica.combine` takes both parties' files."""
    of_kind(agreement := agreement_of(agreement), "save_shares", "shares", "shared-values")
    if agreement.compute is not None:
        raise SettingsError(
            "save_shares is not for an agreement that computes on shares: no party gets them",
            "run() gives a result with answers",
        )
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
    not see the difference. `rows` of the result is a DataFrame. Its `mask`, `positions`, `ids` and
    `matched_rules` are pyarrow arrays, in the order of the rows below `work`.

    An interrupted run with `exchange`, or with `state` at both sides, resumes with the rows that it
    has written when the same call is made again. With `restart` it writes them again.

    Args:
        df: The rows. They are evaluated and written once, so `df` may give other rows each time.
        agreement: The agreement, or the path of its file.
        key: Your key, or the path of its file. It stays on the driver.
        work: A folder that the cluster and the driver can both reach, and no one else: the path of
            a local folder on one machine, otherwise a URL such as ``s3a://bucket/folder``.
        files: The `pyarrow.fs` file system of `work` for the driver, if the URL is not enough. The path
            of `work` in it is the path of the URL.
        columns: The column of `df` for a key or a value of the agreement, if the names differ.
        state: As for `vesica.run`: a folder of the driver, on a disk that outlives it.
        restart: Abandon an interrupted run, end it for the other side, and start a new one.
        on_executors: Whether executors do the work of the run, which needs `exchange` and an
            intersection. By default they do if a set has more rows than a partition may have. They
            need this package, and access to `work` and to `exchange`.
        settings: All other arguments of `vesica.run`: `exchange`, `connect`, `listen`, `wait`, `threads`,
            `memory`, `scratch`, `progress` and so on.

    Raises:
        DataError: The rows cannot be used or written.
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
    on_executors: bool | None = None,
    adds: str | None = None,
    **settings: Any,
) -> tuple[Result, Rows]:
    """`run`, and the rows. `adds` names a column that the result has in addition to the columns of `df`.

    `settings` are those arguments of `run` that `vesica.run` has too.
    """
    if "output" in settings or "force" in settings:
        raise SettingsError("a Spark result is a DataFrame", "use the writer of rows()")
    agreement, identity = agreement_of(agreement), key_of(key)
    options = made(RunOptions, "run", agreement, df, key=identity, **settings)
    party = agreement.party_of(identity)
    if party is None:
        names = ", ".join(one.name for one in agreement.parties)
        raise SettingsError(
            "this key belongs to no party of the agreement", f"its parties are {names}"
        )
    exchange, state = options.exchange, options.state
    place = Work(work, files)
    place.check()
    mapped = names_of(options.columns)
    rows = Rows(df, place, unique(needed(agreement, party, mapped)), adds)
    sent = agreement.columns
    if sent is not None and sent.of != party:
        raise SettingsError(
            "the other party's columns do not come into a data frame of Spark yet",
            "give the rows as files, or as a frame of pandas, polars or pyarrow",
        )
    if on_executors and (exchange is None or not can_executors(agreement)):
        raise SettingsError(
            "executors can do the work only of an intersection without rules and columns through exchange",
            "leave out on_executors: the driver can do it",
        )
    if on_executors:
        check_packages()
        check_executors(rows.spark, slots(rows.spark))
    if exchange is not None:
        check_place(exchange, sorted(one.name for one in agreement.parties).index(party))
    is_kept = state is not None or exchange is not None or agreement.helper is not None
    folder = ""
    if is_kept:
        folder = state_of(agreement, party, state)
        rows.note, rows.state = note_of(agreement, party, folder), folder
        # The file MEETING exists only if a process was killed or interrupted, not after a finished run.
        rows.find(goes_on=not options.restart and os.path.isfile(os.path.join(folder, MEETING)))
    rows.write()
    try:
        are_apt = exchange is not None and rows.are_for_executors(agreement, on_executors)
    except SettingsError:
        # Nothing was sent to the other side. The next call may have other rows.
        if not (folder and os.path.isfile(os.path.join(folder, MEETING))):
            rows.remove()
        raise
    if are_apt:
        meeting, strict = place_of(exchange), bool(options.strict)
        rows.executors = Executors(rows, agreement, party, mapped, meeting, strict)
    try:
        result = completed(dataclasses.replace(options, data=rows))
    except DataError as error:
        if hasattr(error, "result"):
            raise
        if rows.executors is not None and rows.executors.has_failed:
            # The same call resumes with the same rows.
            raise
        if rows.unreadable is None:
            # Delete the written rows: the next call must use the corrected ones, unless the run is pinned to these.
            if not (folder and os.path.isfile(os.path.join(folder, PINNED))):
                rows.remove()
            raise
    except StateInUse:
        # The other call may not have started its session yet.
        rows.withdraw()
        raise
    except BaseException as error:
        finished = getattr(error, "result", None)
        if finished is not None:
            rows.close(finished)
        elif not (folder and os.path.isfile(os.path.join(folder, MEETING))):
            # The run has ended and cannot resume, or it never started.
            rows.remove()
        raise
    else:
        rows.close(result)
        return result, rows
    # Outside the handler, so that the other exception does not become this one's context.
    raise SettingsError(
        f"the driver cannot read what the cluster wrote to {place.url} ({rows.unreadable})",
        "make the same call again when it can",
    )


def place_of(exchange: Any) -> Any:
    """The store of the run, as executors can open it."""
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
    """The folder of a run's state: the given one or the default."""
    if state is not None:
        return os.fspath(state)
    return f"vesica-run-{agreement.hash[:HASH_CHARS]}-{party}"


def note_of(agreement: Agreement, party: str, state: str) -> str:
    """The name of the note that records the rows of an unfinished run; one for each state."""
    place = hashlib.sha256(os.path.abspath(state).encode()).hexdigest()
    return f"{agreement.hash[:HASH_CHARS]}-{party}-{place[:HASH_CHARS]}.json"
