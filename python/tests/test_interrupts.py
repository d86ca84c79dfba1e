"""Runs that end early: Ctrl-C, cancelled tasks, callbacks that raise, forks, threads, the end of Python."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import vesica as v
from support import (
    CLUB,
    LIMIT,
    SHOP,
    both,
    deal,
    end_of,
    free_address,
    in_thread,
    listed,
    one,
    pair,
    program,
    seen,
)

#: Within this time both sides end when one is interrupted, in seconds. Other tests use the same cores.
SOON = 4

#: A protocol that takes seconds for these rows.
SLOW = {"protocol": "dh", "security": "semi-honest"}
SLOW_ROWS = 60_000

OTHER = pa.table({"k": ["1", "x"]})

#: What the programs begin with: an agreement, rows that take long in a phase, and a line for each phase.
BEGIN = f"""
import asyncio, os, signal, sys, threading, time
import pyarrow, support, vesica as v
from support import deal, free_address, one
folder, address, phase = sys.argv[1:4]
agreement = v.Agreement.load(folder + "/deal.toml")
key = folder + "/club.key"
support.SHOP = SHOP = support.IDENTITIES["shop"] = v.Identity.load(folder + "/shop.key")
support.CLUB = CLUB = support.IDENTITIES["club"] = v.Identity.load(key)
many = pyarrow.table({{"k": [str(n) for n in range({SLOW_ROWS})]}})
reached = threading.Event()

def slow(pause=0.02, rows=50):
    def batches():
        for batch in many.to_batches(max_chunksize=rows):
            reached.set()
            time.sleep(pause)
            yield batch
    return pyarrow.RecordBatchReader.from_batches(many.schema, batches())

def tell(progress):
    if progress.phase == phase and "told" not in globals():
        globals()["told"] = True
        reached.set()
        print("reached", flush=True)

def usable():
    other = deal("k")
    place = free_address()
    thread = threading.Thread(target=one, args=(other, many, "club"), kwargs={{"listen": place}})
    thread.start()
    assert one(other, many, "shop", connect=place).count == {SLOW_ROWS}
    thread.join()
    print("usable", flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    deal("k", **SLOW).save(tmp_path / "deal.toml")
    SHOP.save(tmp_path / "shop.key")
    CLUB.save(tmp_path / "club.key")
    return str(tmp_path)


def many() -> pa.Table:
    return pa.table({"k": [str(n) for n in range(SLOW_ROWS)]})


def slow_reader(pause: float = 0.02, rows: int = 50) -> pa.RecordBatchReader:
    table = many()

    def batches() -> Any:
        for batch in table.to_batches(max_chunksize=rows):
            time.sleep(pause)
            yield batch

    return pa.RecordBatchReader.from_batches(table.schema, batches())


#: For each phase in which a side is interrupted: its rows, and those of the other side.
PHASES = {
    "connecting": ("many", None),
    "reading": ("slow()", many),
    "agreeing": ("many", slow_reader),
    "matching": ("many", many),
}


# Ctrl-C.

INTERRUPTED = (
    BEGIN
    + """
data = eval(sys.argv[4])
place = {sys.argv[5]: address}
try:
    v.run(agreement, data, key=key, progress=tell, **place)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
usable()
"""
)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("place", ["connect", "listen"])
def test_ctrl_c_ends_both_sides_and_python_goes_on(phase: str, place: str, folder: str) -> None:
    rows, other = PHASES[phase]
    address = free_address()
    here: list[Any] = []
    if other is not None:
        opposite = "listen" if place == "connect" else "connect"
        met = threading.Event()

        def tell(progress: v.Progress) -> None:
            if progress.phase == "agreeing":
                met.set()

        thread, here = in_thread(
            one, deal("k", **SLOW), other(), "shop", progress=tell, **{opposite: address}
        )
    process = program(INTERRUPTED, folder, address, phase, rows, place)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "reached\n", end_of(process)
    if other is not None:
        # A side that has not been connected cannot know that the other one has left.
        assert met.wait(LIMIT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    line = process.stdout.readline()
    there_s = time.monotonic() - started
    assert line == "interrupted\n", end_of(process)
    if other is not None:
        thread.join(LIMIT)
        here_s = time.monotonic() - started
        assert isinstance(seen(here[0]), (v.PeerError, v.NetworkError))
        # A producer that is asked for rows is asked again before this side looks.
        assert here_s < SOON, f"the other side took {here_s:.2f} s"
    assert there_s < SOON, f"this side took {there_s:.2f} s"
    status, out, err = end_of(process)
    assert (status, out) == (0, "usable\n"), err


STUCK = (
    BEGIN
    + """
def stuck():
    yield from many.to_batches(max_chunksize=100)[:1]
    print("reached", flush=True)
    # Longer than this program takes to end: before 3.14 Python ends a thread that comes back to it
    # by then, which pyarrow does not survive.
    time.sleep(600)
reader = pyarrow.RecordBatchReader.from_batches(many.schema, stuck())
try:
    v.run(agreement, reader, key=key, listen=address)
except KeyboardInterrupt:
    print("interrupted", flush=True)
usable()
"""
)


def test_ctrl_c_does_not_wait_for_a_producer_that_is_stuck(folder: str) -> None:
    process = program(STUCK, folder, free_address(), "")
    assert process.stdout is not None
    assert process.stdout.readline() == "reached\n"
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.stdout.readline() == "interrupted\n", end_of(process)
    assert time.monotonic() - started < SOON
    status, out, err = end_of(process)
    assert (status, out) == (0, "usable\n"), err


CHECKED = (
    BEGIN
    + """
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
started = time.monotonic()
try:
    v.check(agreement, slow(), key=key)
except KeyboardInterrupt:
    print(time.monotonic() - started, flush=True)
usable()
"""
)


def test_ctrl_c_ends_a_check(folder: str) -> None:
    status, out, err = end_of(program(CHECKED, folder, "", ""))
    assert status == 0, err
    seconds, word = out.split()
    assert (float(seconds) < 0.3 + SOON, word) == (True, "usable")


def test_no_signal_handler_is_installed() -> None:
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    pair(deal("k"), OTHER, OTHER)
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == handlers
    code = """
import signal
def all():
    return {one: signal.getsignal(one) for one in signal.valid_signals()}
before = all()
import vesica
vesica.demo(rows=10)
assert all() == before
"""
    status, _, err = end_of(program(code))
    assert status == 0, err


# asyncio.


@pytest.mark.parametrize("phase", PHASES)
def test_a_cancelled_task_ends_both_sides(phase: str) -> None:
    rows, other = PHASES[phase]
    agreement = deal("k", **SLOW)
    address = free_address()
    here: list[Any] = []
    if other is not None:
        thread, here = in_thread(one, agreement, other(), "shop", listen=address)

    async def main() -> float:
        reached = asyncio.Event()
        data = slow_reader() if rows == "slow()" else many()

        def tell(progress: v.Progress) -> None:
            if progress.phase == phase:
                reached.set()

        task = asyncio.create_task(
            v.run_async(agreement, data, key=CLUB, connect=address, progress=tell)
        )
        await asyncio.wait_for(reached.wait(), LIMIT)
        await asyncio.sleep(0.1)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    started = time.monotonic()
    seconds = asyncio.run(main())
    assert seconds < SOON
    if other is not None:
        thread.join(LIMIT)
        assert time.monotonic() - started < 10
        assert isinstance(seen(here[0]), (v.PeerError, v.NetworkError))
    assert both(deal("k"), OTHER, OTHER)[0].count == 2


def test_a_timeout_of_asyncio_is_a_timeout() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                v.run_async(deal("k"), OTHER, key=CLUB, connect=free_address(), insecure=True), 0.2
            )

    asyncio.run(main())


def test_a_closed_loop_ends_both_sides() -> None:
    agreement = deal("k", **SLOW)
    address = free_address()
    thread, here = in_thread(one, agreement, slow_reader(), "shop", listen=address)
    loop = asyncio.new_event_loop()
    coroutine = v.run_async(agreement, many(), key=CLUB, connect=address)
    task = loop.create_task(coroutine)
    loop.run_until_complete(asyncio.wait([task], timeout=0.5))
    assert not task.done()
    loop.close()
    started = time.monotonic()
    coroutine.close()
    thread.join(LIMIT)
    assert time.monotonic() - started < 2 * SOON
    assert isinstance(seen(here[0]), (v.PeerError, v.NetworkError))
    # The task was destroyed while it was pending: asyncio would say so.
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def test_other_tasks_run_meanwhile() -> None:
    async def main() -> tuple[int, list[Any]]:
        ticks = 0
        address = free_address()
        agreement = deal("k", **SLOW)
        runs = asyncio.gather(
            v.run_async(agreement, many()[:8000], key=SHOP, listen=address),
            v.run_async(agreement, many()[:8000], key=CLUB, connect=address),
        )
        while not runs.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, await runs

    ticks, results = asyncio.run(main())
    assert [result.count for result in results] == [8000, 8000]
    assert ticks > 5


# Callbacks.


class Mine(Exception):
    """An exception of the user's."""


@pytest.mark.parametrize("phase", ["preparing", "connecting", "matching"])
def test_an_exception_in_the_callback_is_raised_and_ends_both_sides(phase: str) -> None:
    agreement = deal("k", **SLOW)
    address = free_address()
    thread, here = in_thread(one, agreement, many(), "shop", listen=address, wait=2)

    def tell(progress: v.Progress) -> None:
        if progress.phase == phase:
            raise Mine(phase)

    with pytest.raises(Mine) as caught:
        one(agreement, many(), "club", connect=address, progress=tell)
    assert not hasattr(caught.value, "result")
    started = time.monotonic()
    thread.join(LIMIT)
    assert time.monotonic() - started < 3
    assert isinstance(seen(here[0]), (v.PeerError, v.NetworkError))


def test_an_exception_after_the_end_keeps_the_result() -> None:
    def tell(progress: v.Progress) -> None:
        if progress.phase == "checking":
            time.sleep(0.5)
            raise Mine

    shop, club = both(deal("k"), OTHER, OTHER, shop_options={"progress": tell})
    assert isinstance(shop, Mine)
    assert shop.result.count == club.count == 2


def test_a_callback_may_run_another_match() -> None:
    inner: list[Any] = []

    def tell(progress: v.Progress) -> None:
        if progress.phase == "connecting" and not inner:
            inner.append(pair(deal("k"), OTHER, OTHER)[0].count)

    shop, _ = pair(deal("k"), OTHER, OTHER, shop_options={"progress": tell})
    assert (shop.count, inner) == (2, [2])


# Forks.

FORKS = (
    BEGIN
    + """
children = []
def fork(progress):
    if progress.phase == "matching" and not children:
        child = os.fork()
        if child:
            children.append(child)
        elif phase == "leaves at once":
            os._exit(0)
        elif phase == "ends":
            sys.exit(0)
        elif phase == "starts another":
            try:
                v.run(agreement, many, key=key, connect=address)
            except v.SettingsError as error:
                os._exit(0 if "forked" in str(error) else 3)
            os._exit(4)
        elif phase == "collects":
            import gc
            gc.collect()
            raise ValueError
        # Otherwise the child would continue the test.
try:
    result = v.run(agreement, many, key=key, connect=address, progress=fork)
except v.SettingsError as error:
    assert phase == "continues" and "forked" in str(error), error
    sys.exit(0)
except ValueError:
    assert phase == "collects"
    sys.exit(0)
_, status = os.waitpid(children[0], 0)
assert os.waitstatus_to_exitcode(status) == 0, status
print(result.count)
"""
)


@pytest.mark.parametrize(
    "child", ["leaves at once", "ends", "starts another", "continues", "collects"]
)
def test_a_fork_in_the_middle_does_not_disturb_the_run(child: str, folder: str) -> None:
    address = free_address()
    thread, here = in_thread(one, deal("k", **SLOW), many(), "shop", listen=address)
    status, out, err = end_of(program(FORKS, folder, address, child))
    assert status == 0, err
    assert out == f"{SLOW_ROWS}\n"
    thread.join(LIMIT)
    assert here[0].count == SLOW_ROWS


# Threads.


def test_eight_pairs_at_once() -> None:
    def work(turn: int) -> tuple[int, int]:
        shop, club = pair(
            deal("k", title=f"turn {turn}"),
            pd.DataFrame({"k": [str(n) for n in range(1000)]}),
            pa.table({"k": [str(n) for n in range(turn, 3000, 3)]}),
        )
        return shop.count, sum(listed(club.mask))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(24)))
    expected = [len(range(turn, 1000, 3)) for turn in range(24)]
    assert [count for count, _ in results] == expected
    assert [count for _, count in results] == expected


def test_an_agreement_a_key_and_a_frame_serve_many_threads() -> None:
    frame = pd.DataFrame({"k": [str(n) for n in range(1000)]})
    agreement = deal("k")

    def work(_: int) -> Any:
        shop, club = pair(agreement, frame, frame)
        assert len(shop.rows()) == 1000
        return shop.count == club.count == 1000

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_a_handle_that_is_dropped_ends_the_other_side() -> None:
    from vesica._options import RunOptions
    from vesica._run import Started

    agreement = deal("k", **SLOW)
    address = free_address()
    thread, here = in_thread(one, agreement, many(), "shop", listen=address)
    place = {"connect": address, "idle": 60}
    started = Started(RunOptions(agreement, many(), key=CLUB, **place))
    time.sleep(0.3)
    del started
    gc.collect()
    start = time.monotonic()
    thread.join(LIMIT)
    assert time.monotonic() - start < SOON
    assert isinstance(seen(here[0]), (v.PeerError, v.NetworkError))


# The end of Python.

ENDS = {
    "a thread that matches": """
threading.Thread(target=one, args=(agreement, many, "shop"), kwargs={"listen": address},
                 daemon=True).start()
threading.Thread(target=one, args=(agreement, many, "club"),
                 kwargs={"connect": address, "progress": tell}, daemon=True).start()
reached.wait(20)
""",
    "a thread that waits": """
threading.Thread(target=one, args=(agreement, many, "shop"), kwargs={"connect": address},
                 daemon=True).start()
time.sleep(0.3)
""",
    "a thread that reads": """
threading.Thread(target=one, args=(agreement, slow(0.01), "shop"), kwargs={"listen": address},
                 daemon=True).start()
reached.wait(20)
time.sleep(0.2)
""",
    "a loop that is left while its run reads without a pause": """
loop = asyncio.new_event_loop()
task = loop.create_task(v.run_async(agreement, slow(0, 1), key=key, listen=address))
loop.run_until_complete(asyncio.wait([task], timeout=0.3))
""",
    "a producer that is stuck": """
threading.Thread(target=one, args=(agreement, slow(3), "shop"), kwargs={"listen": address},
                 daemon=True).start()
reached.wait(20)
""",
    "a check": """
threading.Thread(target=v.check, args=(agreement, slow()), kwargs={"key": SHOP, "party": None},
                 daemon=True).start()
reached.wait(20)
""",
    "a loop that is left": """
loop = asyncio.new_event_loop()
task = loop.create_task(v.run_async(agreement, slow(), key=key, listen=address))
loop.run_until_complete(asyncio.wait([task], timeout=0.3))
""",
    "a callback that leaves": """
def leave(progress):
    if progress.phase == "connecting":
        sys.exit(0)
v.run(agreement, many, key=key, listen=address, progress=leave)
""",
    "a helper": """
with open(folder + "/helper.toml", "w") as file:
    file.write('[helper]\\nlisten = "127.0.0.1:0"\\n[party.shop]\\n')
    file.write(f'identity = "{v.Identity.load(key).public}"\\n')
helper = v.serve_helper(folder + "/helper.toml", key=v.Identity.generate(),
                        state=folder + "/state", metrics=False)
""",
}


@pytest.mark.parametrize("name", ENDS)
def test_python_ends_while_a_run_is_in_progress(name: str, folder: str) -> None:
    code = BEGIN + ENDS[name] + "\nprint('ends', flush=True)\n"
    process = program(code, folder, free_address(), "matching")
    status, _, err = end_of(process, 20)
    assert status == 0, err
    assert "Fatal" not in err
