"""Runs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import SettingsError
from vesica._frames import File, frame
from vesica._identity import Identity
from vesica._progress import Callback, Follower, display
from vesica._result import Result

#: How often a run that is waited for lets Python look at signals and show progress, in seconds.
TICK = 0.05
#: How long a run that was asked to stop is waited for, in seconds.
GRACE = 1.0
#: How long to wait for the other side, in seconds; with a helper, for the other parties.
WAIT, WAIT_AIDED = 60.0, 24 * 3600.0


def run(
    agreement: Agreement | str | os.PathLike[str],
    data: Any,
    *,
    key: Identity | str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    connect: str | None = None,
    listen: str | None = None,
    progress: bool | Callback = False,
    wait: float | None = None,
    idle: float = 60.0,
    total: float = 0.0,
    threads: int | None = None,
    strict: bool = False,
    insecure: bool = False,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    state: str | os.PathLike[str] | None = None,
    memory: int | None = None,
    restart: bool = False,
    delimiter: str | None = None,
    header: bool = True,
    format: str | None = None,
) -> Result:
    """Match ``data`` with the other parties of ``agreement``, and return what this party learns."""
    arguments = dict(locals())
    started, follower, finish = start(**arguments)
    try:
        while not started.wait(TICK):
            follower.follow(started.notes())
        follower.follow(started.notes())
    except BaseException:
        started.cancel()
        until = time.monotonic() + GRACE
        while not started.wait(TICK) and time.monotonic() < until:
            pass
        raise
    finally:
        follower.close()
    return finish()


async def run_async(agreement: Any, data: Any, **arguments: Any) -> Result:
    """Like :func:`run`, for asyncio: other tasks go on meanwhile, and cancelling the task ends the run."""
    raise NotImplementedError


def start(
    agreement: Agreement | str | os.PathLike[str],
    data: Any,
    key: Identity | str | os.PathLike[str],
    columns: Mapping[str, str] | None,
    connect: str | None,
    listen: str | None,
    progress: bool | Callback,
    wait: float | None,
    delimiter: str | None,
    header: bool,
    format: str | None,
    **options: Any,
) -> Any:
    if not isinstance(agreement, Agreement):
        agreement = Agreement.load(agreement)
    if not isinstance(key, Identity):
        key = Identity.load(key)
    mapped = dict(columns or {})
    rows = frame(data, delimiter, header, format)
    needed = [mapped.get(one.name, one.name) for one in agreement.keys]
    again = (rows.data, *rows.options[:2]) if isinstance(rows, File) else None
    if wait is None:
        wait = WAIT
    started = _vesica.Running.start(
        agreement._inner,
        key._inner,
        rows.input(needed),
        mapped,
        listen=listen,
        connect=connect,
        wait=wait,
        again=again,
        **options,
    )
    follower = Follower(display(progress), "the other side")

    def finish() -> Result:
        outcome = started.finish()
        return Result(outcome, rows, agreement)

    return started, follower, finish
