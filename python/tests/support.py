"""Two parties of a run in this process, and what the tests look for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import vesica as v

#: Where `vesica` and this module are imported from, for programs of their own.
PATH = os.pathsep.join([str(Path(v.__file__).parents[1]), str(Path(__file__).parent)])

#: Stands in cells and key files of the tests, and must not stand in anything that a person sees.
CANARY = "canary-in-a-cell"

#: A run between two threads that takes longer than this hangs, in seconds.
LIMIT = 120

#: Keys are made once: an agreement can be equal in two runs.
SHOP, CLUB, THIRD = (v.Identity.generate() for _ in range(3))
IDENTITIES = {"shop": SHOP, "club": CLUB, "third": THIRD}

#: The protocol that takes the least time. Rows are read in the same way for all.
QUICK = {"protocol": "naive_hash", "security": "insecure"}


def deal(keys: Any = "email", **terms: Any) -> v.Agreement:
    """An agreement of the shop and the club; by default both receive the rows in common, quickly."""
    if "operation" not in terms and "helper" not in terms:
        terms = {"receives": "all", **QUICK, **terms}
    return v.Agreement.new({"shop": SHOP, "club": CLUB}, keys, **{"max_rows": 100_000, **terms})


def free_address() -> str:
    """An address of this machine on which no process listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def one(agreement: v.Agreement, data: Any, name: str, **options: Any) -> v.Result:
    """The run of one party."""
    insecure = getattr(agreement, "protocol", "") == "naive_hash"
    options = {"key": IDENTITIES[name], "insecure": insecure, "wait": 20, **options}
    return v.run(agreement, data, **options)


def both(
    agreement: v.Agreement,
    shop: Any,
    club: Any,
    shop_options: dict[str, Any] | None = None,
    club_options: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """What both sides of a run give: a result or an exception each."""

    def attempt(data: Any, name: str, **given: Any) -> Any:
        try:
            return one(agreement, data, name, **{**options, **given})
        except Exception as error:
            return error

    address = free_address()
    pool = ThreadPoolExecutor(2)
    here = pool.submit(attempt, shop, "shop", listen=address, **(shop_options or {}))
    there = pool.submit(attempt, club, "club", connect=address, **(club_options or {}))
    try:
        return here.result(LIMIT), there.result(LIMIT)
    finally:
        # A run that hangs fails its test; waiting for it here would hang the tests.
        pool.shutdown(wait=False)


def pair(agreement: v.Agreement, shop: Any, club: Any, **options: Any) -> tuple[Any, Any]:
    """The results of both sides."""
    results = both(agreement, shop, club, **options)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, v.NetworkError):
            raise result
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def listed(column: Any) -> list[Any]:
    """The values of a column of any library."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def refused(data: Any, agreement: v.Agreement | None = None, **options: Any) -> Exception:
    """The exception of a party whose peer never comes; checked like every one that a person sees."""
    options = {"connect": free_address(), "wait": 5, **options}
    try:
        result = one(agreement or deal(), data, options.pop("name", "shop"), **options)
    except Exception as error:
        return seen(error)
    raise AssertionError(f"accepted: {result!r}")


def all_refused(data: Any, *options: dict[str, Any]) -> list[Exception]:
    """What `refused` gives for each, side by side: a run leaves its peer a moment to come."""
    frames = list(data)
    given = options or [{}] * len(frames)

    def refuse(case: tuple[Any, dict[str, Any]]) -> Exception:
        return refused(case[0], **{"agreement": deal("k"), **case[1]})

    with ThreadPoolExecutor(40) as pool:
        return list(pool.map(refuse, zip(frames, given, strict=True)))


def seen(error: Exception, *secrets: str) -> Exception:
    """`error`, after a look at all that a person can see of it."""
    assert isinstance(error, v.VesicaError), "".join(traceback.format_exception(error))
    assert not isinstance(error, v.InternalError), "".join(traceback.format_exception(error))
    chain, at = [], error
    while at is not None:
        chain.append(at)
        at = at.__cause__ or at.__context__
    shown = "".join(traceback.format_exception(error)) + "".join(
        f"{link!r} {link} {link.args} {getattr(link, '__notes__', '')}" for link in chain
    )
    for secret in (CANARY, "AGE-SECRET", "SECRET-KEY", *secrets):
        assert secret.lower() not in shown.lower(), f"{secret} is shown"
    assert str(error), "no message"
    if not isinstance(error, v.Cancelled):
        assert error.hint, f"no hint: {error}"
    return error


def program(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A Python program of its own."""
    environment = {**os.environ, "PYTHONPATH": PATH, "PYTHONFAULTHANDLER": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def end_of(process: subprocess.Popen[str], limit: float = LIMIT) -> tuple[int, str, str]:
    """The exit status of a program, and what it wrote; it is killed if it hangs."""
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the program hangs\n{out}\n{err}") from None
    return process.returncode, out, err


def in_thread(work: Any, *arguments: Any, **options: Any) -> tuple[threading.Thread, list[Any]]:
    """A thread that does `work`, and the list into which its result or exception goes."""
    box: list[Any] = []

    def attempt() -> None:
        try:
            box.append(work(*arguments, **options))
        except BaseException as error:
            box.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    return thread, box
