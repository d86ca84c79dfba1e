"""The comparison of a helper's lists as jobs of Spark.

A helper with `backend = "cluster:FOLDER"` writes its lists there, cut by the leading bits of labels, and a request. For
each request a job compares them: a task reads some ranges of leading bits from all lists, and writes the bits of these
ranges. The driver writes what the helper waits for: the digests of what the tasks wrote. So no machine holds a list.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Container, Iterator
from typing import Any

from vesica import _vesica
from vesica._errors import DataError, SettingsError, VesicaError
from vesica._executors import batch_of, described, slots
from vesica._frames import quietly
from vesica._packages import check_packages
from vesica._work import Work, found_in, opened_in, write_whole

log = logging.getLogger("vesica")

#: Labels of all lists that a task compares, about: some 80 MB to read, and a second of work.
TASK_LABELS = 1 << 23
#: Columns returned by a task: its ranges, and the digest of their bits or the index of a malformed list.
COMPARED = "first int, past int, digest binary, malformed int"
#: Pause before the folder is listed for requests again, in seconds.
LOOK_EVERY = 1.0
#: Pause after the first failed try to answer a request, and the longest pause, in seconds. It doubles each time.
TRY_AFTER, TRY_WITHIN = 30.0, 3600.0
#: The longest that the comparison of a request may take by default, in seconds.
LIMIT = 6 * 3600.0
#: Most new requests, and most that failed before, that are tried before the folder is listed again; the oldest first.
MOST_REQUESTS = 1000
#: Most bytes of a request: 36 for each segment of a list.
REQUEST_BYTES = 64 << 20

FAILED = (
    "the comparison of a helper's lists failed",
    "Spark's log says why: executors need this package and must read and write the folder, and the job must not be "
    "cancelled; call it again: the helper still waits",
)


def helper_join(
    spark: Any,
    folder: str | os.PathLike[str],
    *,
    files: Any = None,
    wait: float = 0,
    limit: float = LIMIT,
) -> int:
    """Compare the lists of a helper whose backend is ``cluster:`` and this folder.

    Answers all outstanding requests in `folder`, the oldest first, each by a Spark job, and further ones
    that arrive within `wait` seconds; with ``wait=math.inf`` it never ends. Returns how many requests it has
    answered. One job runs at a time, and is cancelled after `limit` seconds (6 hours); ``limit=math.inf``
    means no limit. A request that fails does not delay others: it is retried after 30 seconds, then after
    twice that and so on up to an hour, and its error is raised at the end.

        from vesica import spark as vs

        vs.helper_join(spark, "/mnt/shared/join", wait=math.inf)

    `folder` is a URL, or a path, that the driver and executors can reach, and `files` a pyarrow file system
    for it if the URL is not enough. Run this only on a cluster of the helper's own operator: anyone who can read
    the folder sees what the helper sees, and anyone who can write there can change what parties receive. A folder
    of this machine that users outside its group can write to is refused.

    Raises:
        DataError: A request could not be answered, or the folder cannot be read.
        SettingsError: An argument is wrong, or other users can write to the folder.
    """
    if not wait >= 0:
        raise SettingsError("wait is a number of seconds from 0 on", "for example wait=600")
    if not limit > 0:
        raise SettingsError("limit is a number of seconds above 0", "for example limit=3600")
    check_packages()
    work = Work(folder, files, name="folder", example="/mnt/shared/join", is_shared=True)
    until = time.monotonic() + wait
    answered = 0
    #: The requests that could not be answered: why, the number of tries, and the time of the next one.
    failed: dict[str, tuple[VesicaError, int, float]] = {}
    if wait:
        log.info("answering requests of a helper in %s", work.url)
    while True:
        there = outstanding(work)
        failed = {name: why for name, why in failed.items() if name in there}
        due = [name for name in there if name in failed and failed[name][2] <= time.monotonic()]
        chosen, is_cut = first_of(there, failed)
        if is_cut:
            log.warning(
                "%s has %d requests: the oldest %d new ones come first",
                work.url,
                len(there),
                MOST_REQUESTS,
            )
        moved = False
        for name in chosen + due[:MOST_REQUESTS]:
            try:
                is_answered = answer(spark, work, name, limit)
                answered, moved = answered + is_answered, moved or is_answered
                failed.pop(name, None)
            except VesicaError as error:
                # Other requests may come from other helpers.
                moved = True
                log.warning("%s: %s (%s)", name, error, error.hint)
                tries = failed[name][1] + 1 if name in failed else 1
                failed[name] = (error, tries, time.monotonic() + pause(tries))
        left = until - time.monotonic()
        if is_cut and moved:
            # Try each request that was there before waiting.
            continue
        if left <= 0:
            break
        time.sleep(min(LOOK_EVERY, left))
    for why, *_ in failed.values():
        raise why
    return answered


def pause(tries: int) -> float:
    """How long a request waits after `tries` failed tries, in seconds."""
    return min(TRY_AFTER * 2.0 ** min(tries - 1, 30), TRY_WITHIN)


def outstanding(work: Work) -> list[str]:
    """The folders of requests without an answer, by their names, the oldest first."""
    from pyarrow import fs

    def found() -> list[tuple[int, str]]:
        names = []
        for one in work.files.get_file_info(fs.FileSelector(work.path)):
            if is_of_request(one.base_name) and (
                work.local is None or work.local.is_folder(one.base_name)
            ):
                names.append(one.base_name)
        request, ages = _vesica.JoinRequest, []
        for name in names:
            folder = f"{work.path}/{name}"
            # A link does not count: it may lead to any file of the operator.
            asked = found_in(work.files, folder, request.FILE)
            if asked is not None and found_in(work.files, folder, request.ANSWER_FILE) is None:
                ages.append((asked[1], name))
        return sorted(ages)

    unread = (
        f"the folder of the helper's lists, {work.url}, cannot be read",
        "it must exist, and the driver must have the right to list and to read it",
    )
    work.check()
    return [name for _, name in quietly(unread, found)]


def first_of(there: list[str], failed: Container[str]) -> tuple[list[str], bool]:
    """The requests to try next that have not failed yet, and whether there are more."""
    untried = [name for name in there if name not in failed]
    return untried[:MOST_REQUESTS], len(untried) > MOST_REQUESTS


def is_of_request(name: str) -> bool:
    return name.startswith(_vesica.JoinRequest.FOLDER_PREFIX)


def answer(spark: Any, work: Work, name: str, limit: float = LIMIT) -> bool:
    """Answer a request within `limit` seconds; returns whether the helper still wanted the answer."""
    start = time.monotonic()
    folder = f"{work.path}/{name}"
    path, data, unread = f"{folder}/{_vesica.JoinRequest.FILE}", b"", None
    try:
        with opened_in(work.files, folder, _vesica.JoinRequest.FILE) as file:
            data = bytes(file.read_at(REQUEST_BYTES, 0))
    except FileNotFoundError:
        return False
    except OSError as error:
        unread = type(error).__name__
    if unread is not None:
        raise DataError(
            f"{work.url}/{name}/request cannot be read ({unread})",
            "the driver must have the right to read it; or delete the folder if no helper has written it",
        )
    request = _vesica.JoinRequest.decode(data)
    # A request that was copied to another folder has files with the right digests, but no helper waits for it.
    if request is None or request.folder != name:
        raise DataError(
            f"{work.url}/{name}/request is not a request of a helper of this version",
            "install the same version of vesica for the helper and here, or delete the folder",
        )
    if not has_lists(work, name, request):
        if not is_there(work.files, path):
            return False
        raise DataError(
            f"the lists of the request {work.url}/{name} are missing, or shorter than it says",
            "check the storage, or delete the folder if no helper has written it",
        )
    tasks = min(request.ranges, max(slots(spark), -(-sum(request.lens) // TASK_LABELS)))
    cuts = [request.ranges * one // tasks for one in range(tasks + 1)]
    lens = ", ".join(str(one) for one in request.lens)
    log.info("%s: comparing lists of %s labels in %d tasks", name, lens, tasks)
    numbers = spark.range(0, tasks, 1, tasks)
    try:
        compared = numbers.mapInArrow(compared_by(work.files, folder, data, cuts), COMPARED)
        found = within(limit, spark, compared.collect)
        malformed = [one[3] for one in found if one[3] is not None]
        if malformed:
            reply = request.answer_malformed(min(malformed))
        else:
            reply = request.answer(
                [(first, past, bytes(digest)) for first, past, digest, _ in found]
            )
        unwritten = (
            f"the driver cannot write the answer for the helper below {work.url}",
            "the driver must have the right to write there; call it again: the helper still waits",
        )
        file = _vesica.JoinRequest.ANSWER_FILE
        quietly(
            unwritten, lambda: write_whole(work.files, folder, file, lambda out: out.write(reply))
        )
    except Exception:
        if not is_there(work.files, path):
            log.info("%s: the helper has withdrawn its request", name)
            return False
        raise
    log.info("%s: answered after %.1f s", name, time.monotonic() - start)
    return True


def within(limit: float, spark: Any, collect: Callable[[], Any]) -> Any:
    """What a job returns; it is cancelled after `limit` seconds."""
    start = time.monotonic()
    try:
        with described(spark, "compare the lists of a helper", limit):
            found = quietly(FAILED, collect)
    except DataError:
        if time.monotonic() - start < limit:
            raise
    else:
        # A job that started only after the limit may have missed its cancellation.
        if time.monotonic() - start < limit:
            return found
    raise DataError(
        f"the comparison of a helper's lists took more than {limit:g} s, and was cancelled",
        "give a larger limit=, or more executors; call it again: the helper still waits",
    )


def has_lists(work: Work, name: str, request: _vesica.JoinRequest) -> bool:
    """Whether each list is a file large enough for the labels that the request names; otherwise no job starts."""
    folder = f"{work.path}/{name}"
    for list, labels in enumerate(request.lens):
        found = found_in(work.files, folder, request.list_file(list))
        # A label takes a byte or more.
        if found is None or found[0] < labels:
            return False
    return True


def is_there(files: Any, path: str) -> bool:
    """Whether the file exists; True if that cannot be determined."""
    from pyarrow import fs

    with contextlib.suppress(Exception):
        return bool(files.get_file_info(path).type != fs.FileType.NotFound)
    return True


def compared_by(
    files: Any, folder: str, data: bytes, cuts: list[int]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that compares the lists of a request between two cuts; each row has the number of a cut."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        request = _vesica.JoinRequest.decode(data)
        assert request is not None
        for batch in batches:
            for number in batch.column(0).to_pylist():
                first, past = cuts[number], cuts[number + 1]
                digest, malformed = compare(files, folder, request, first, past)
                columns = [[first], [past], [digest], [malformed]]
                yield batch_of(COMPARED, columns, ["int32", "int32", "binary", "int32"])

    return work


def compare(
    files: Any, folder: str, request: _vesica.JoinRequest, first: int, past: int
) -> tuple[bytes | None, int | None]:
    """Compare lists in these ranges. Writes the bits; returns their digest, or the index of a malformed list."""
    with contextlib.ExitStack() as opened:
        lists = [
            opened.enter_context(opened_in(files, folder, request.list_file(list)))
            for list in range(len(request.lens))
        ]
        found, malformed = request.compare(lists, first, past)
    if found is None:
        return None, malformed
    bits, digest = found
    write_whole(files, folder, request.bits_file(first, past), lambda out: out.write(bits))
    return digest, None
