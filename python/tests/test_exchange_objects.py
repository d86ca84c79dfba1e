"""Runs through objects of Python: the own ones, and file systems of fsspec and pyarrow."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest
import vesica as v
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from support import CLUB, LIMIT, PATH, SHOP
from vesica import exchange

ROWS = {
    "shop": pa.table({"email": [f"user{n}@example.org" for n in range(300)]}),
    "club": pa.table({"email": [f"User{n}@Example.org" for n in range(200, 900)]}),
}
KEYS = {"shop": SHOP, "club": CLUB}
COMMON = 100


class Board:
    """A place that can only do what it must."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.threads: set[int] = set()

    def put_if_absent(self, name: str, data: bytes) -> bool:
        self.threads.add(threading.get_ident())
        assert type(data) is bytes
        return self.objects.setdefault(name, data) is data

    def get(self, name: str) -> bytes | None:
        return self.objects.get(name)


class Listed(Board):
    """A place that can do all."""

    def list(self, folder: str) -> set[str]:
        parts = [name.split("/") for name in list(self.objects)]
        return {name for into, name in parts if into == folder}

    def folders(self) -> Any:
        return (name.split("/")[0] for name in list(self.objects))

    def remove(self, name: str) -> None:
        self.objects.pop(name, None)


@pytest.fixture(scope="module")
def agreement() -> v.Agreement:
    return v.Agreement.new(KEYS, receives="all", max_rows=5000)


class Sides:
    """Both sides of an agreement, with a state in a folder."""

    def __init__(self, agreement: v.Agreement, folder: pathlib.Path) -> None:
        self.agreement, self.folder = agreement, folder

    def one(self, name: str, place: Any, **options: Any) -> v.Result:
        options = {"wait": LIMIT, "state": self.folder / f"{name}.state", **options}
        return v.run(self.agreement, ROWS[name], key=KEYS[name], exchange=place, **options)

    def both(self, *places: Any) -> None:
        """A run of both, with one place, or one for each."""
        with ThreadPoolExecutor() as threads:
            sides = [
                threads.submit(self.one, name, place)
                for name, place in zip(ROWS, places * 2, strict=False)
            ]
            for side in sides:
                assert side.result().rows().num_rows == COMMON
        assert not list(self.folder.glob("*.state"))


@pytest.fixture
def sides(agreement: v.Agreement, tmp_path: pathlib.Path) -> Sides:
    return Sides(agreement, tmp_path)


def numbers(names: Any) -> set[str]:
    return {name.split("/")[0][-4:] for name in names}


def test_sides_meet_in_an_object_again_and_again(sides: Sides) -> None:
    board = Listed()
    sides.both(board)
    first = len(board.objects)
    assert first > 6
    sides.both(board)
    assert numbers(board.objects) == {"0001", "0002"}
    # Those of the first run are removed but for the marks of its end.
    assert {name for name in board.objects if "-0001/" in name} == {
        name for name in board.objects if name.endswith("-end") and "-0001/" in name
    }
    assert threading.get_ident() not in board.threads


def test_an_object_that_cannot_list_or_remove_is_a_place(sides: Sides) -> None:
    board = Board()
    sides.both(board)
    first = set(board.objects)
    sides.both(board)
    assert first < set(board.objects)
    assert numbers(board.objects) == {"0001", "0002"}


def test_none_in_place_of_a_method_is_a_method_that_is_missing(sides: Sides) -> None:
    board = Listed()
    board.list = board.folders = board.remove = None  # type: ignore[method-assign,assignment]
    sides.both(board)
    sides.both(board)
    assert numbers(board.objects) == {"0001", "0002"}


def test_what_cannot_be_called_is_a_method_that_is_missing(sides: Sides) -> None:
    board = Listed()
    board.size = 7  # type: ignore[attr-defined]
    board.folders = ["run"]  # type: ignore[method-assign,assignment]
    sides.both(board)
    board.get = 7  # type: ignore[method-assign,assignment]
    with pytest.raises(TypeError, match="put_if_absent and get"):
        sides.both(board)


class Fault(Exception):
    """Not an error that anybody else raises."""


class Breaking(Listed):
    """Raises an exception at a call of one of its methods, before it does anything or afterwards."""

    def __init__(
        self, method: str, at: int, error: BaseException, after: bool = False, times: int = 1
    ) -> None:
        super().__init__()
        self.method, self.at, self.error, self.after = method, at, error, after
        self.times, self.calls = times, 0

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "method" or name != self.method:
            return value

        def call(*given: Any) -> Any:
            self.calls += 1
            if not self.at <= self.calls < self.at + self.times:
                return value(*given)
            if self.after:
                value(*given)
            raise self.error

        return call


CALLS = [("put_if_absent", n, after) for n in (1, 2, 3, 4, 5) for after in (False, True)]
CALLS += [("get", n, False) for n in (1, 2, 3, 4, 5, 6)]
CALLS += [("folders", 1, False), ("list", 1, False)]


@pytest.mark.parametrize(("method", "at", "after"), CALLS)
def test_what_an_object_raises_ends_the_run_which_goes_on_later(
    sides: Sides, method: str, at: int, after: bool
) -> None:
    error = Fault("raised by the object")
    shared = Listed()
    broken = Breaking(method, at, error, after)
    broken.objects = shared.objects
    with ThreadPoolExecutor() as threads:
        club = threads.submit(sides.one, "club", shared)
        try:
            with pytest.raises(v.SettingsError, match="raised Fault") as caught:
                sides.one("shop", broken)
            assert caught.value.__cause__ is error
            assert "raised by the object" not in str(caught.value)
            assert "the run resumes" in str(caught.value.hint)
            assert broken.calls >= at
            assert sides.one("shop", broken).count == COMMON
        except BaseException:
            shared.get = lambda name: 1 / 0  # type: ignore[assignment,method-assign]
            raise
        assert club.result().count == COMMON
    assert numbers(shared.objects) == {"0001"}


@pytest.mark.parametrize(
    "error", [ConnectionResetError(), ConnectionAbortedError(), TimeoutError(), BrokenPipeError()]
)
def test_an_error_of_the_network_is_one(sides: Sides, error: OSError) -> None:
    with pytest.raises(v.NetworkError, match=type(error).__name__) as caught:
        sides.one("shop", Breaking("put_if_absent", 1, error, times=10))
    assert caught.value.__cause__ is error


def test_a_cut_connection_is_tried_again(sides: Sides) -> None:
    shared = Listed()
    flaky = Breaking("put_if_absent", 2, ConnectionResetError(), after=True, times=2)
    flaky.objects = shared.objects
    with ThreadPoolExecutor() as threads:
        club = threads.submit(sides.one, "club", shared)
        assert sides.one("shop", flaky).count == COMMON
        assert club.result().count == COMMON
    assert flaky.calls > 4


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), MemoryError(), NotImplementedError(), OSError()]
)
def test_any_other_exception_is_the_cause_of_one_of_settings(
    sides: Sides, error: BaseException
) -> None:
    for method in ("put_if_absent", "get", "folders"):
        board = Breaking(method, 1, error)
        with ThreadPoolExecutor() as threads, pytest.raises(v.SettingsError) as caught:
            threads.submit(sides.one, "shop", board, wait=3).result()
        assert caught.value.__cause__ is error, method
        shutil.rmtree(sides.folder / "shop.state", ignore_errors=True)


class Gives(Listed):
    """One of its methods gives something else."""

    def __init__(self, method: str, given: Any) -> None:
        super().__init__()
        setattr(self, method, lambda *_: given)


@pytest.mark.parametrize(
    ("method", "given", "kind", "words"),
    [
        ("put_if_absent", None, TypeError, "put_if_absent gives True, or False if .* not NoneType"),
        ("put_if_absent", 1, TypeError, "not int"),
        ("get", "text", TypeError, "get gives bytes or None, not str"),
        ("get", [1], TypeError, "get gives bytes or None, not list"),
        ("folders", None, TypeError, "folders gives names, not NoneType"),
        ("folders", "0001", TypeError, "folders gives names, not str"),
        ("folders", [b"0001"], TypeError, "folders gives names, not bytes"),
        ("folders", ["a/b"], ValueError, "folders gives names alone"),
    ],
)
def test_what_a_method_may_not_give_is_named(
    sides: Sides, method: str, given: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(v.SettingsError, match=f"raised {kind.__name__}") as caught:
        sides.one("shop", Gives(method, given))
    cause = caught.value.__cause__
    assert type(cause) is kind
    assert re.search(words, str(cause)), cause


def test_a_bytearray_is_an_object(sides: Sides) -> None:
    board = Listed()
    plain = board.get
    board.get = lambda name: None if plain(name) is None else bytearray(plain(name))  # type: ignore
    sides.both(board)


@pytest.mark.parametrize("place", [3, b"folder", object(), ["s3://x"], Board])
def test_what_is_no_place_is_refused(sides: Sides, place: Any) -> None:
    if place is Board:
        # A class has the functions, and no objects.
        with pytest.raises(v.SettingsError, match="raised TypeError"):
            sides.one("shop", place)
        return
    with pytest.raises(TypeError, match="put_if_absent and get"):
        sides.one("shop", place)


def test_an_object_goes_with_no_address_and_no_helper(sides: Sides) -> None:
    with pytest.raises(v.SettingsError, match="address"):
        sides.one("shop", Board(), connect="127.0.0.1:1")
    helped = v.Agreement.new(KEYS, helper=v.Identity.generate())
    with pytest.raises(v.SettingsError, match="helper"):
        v.run(helped, ROWS["shop"], key=SHOP, exchange=Board())


def test_an_altered_object_is_found_out(sides: Sides) -> None:
    class Altering(Listed):
        def get(self, name: str) -> bytes | None:
            data = super().get(name)
            return data[:-1] + bytes([data[-1] ^ 1]) if data and "/1-0000" in name else data

    # Party 0 is the club, which gets altered messages of the shop.
    shared, altering = Listed(), Altering()
    altering.objects = shared.objects
    with ThreadPoolExecutor() as threads:
        shop = threads.submit(sides.one, "shop", shared, wait=5)
        with pytest.raises(v.PeerError, match="was changed") as caught:
            sides.one("club", altering)
        assert caught.value.__cause__ is None
        assert "object of class Altering" in str(caught.value)
        again = threads.submit(sides.one, "club", shared)
        assert shop.result().count == again.result().count == COMMON


def test_a_run_that_waits_says_so_and_goes_on(sides: Sides) -> None:
    board = Listed()
    with pytest.raises(v.NetworkError, match="waits for club in an object of class Listed"):
        sides.one("shop", board, wait=0.2)
    sides.both(board)
    assert numbers(board.objects) == {"0001"}


def test_objects_meet_under_asyncio(sides: Sides) -> None:
    board = Listed()

    async def one(name: str) -> v.Result:
        place = {"key": KEYS[name], "exchange": board, "state": sides.folder / f"{name}.state"}
        return await v.run_async(sides.agreement, ROWS[name], wait=LIMIT, **place)

    async def run() -> list[v.Result]:
        return await asyncio.gather(one("shop"), one("club"))

    assert [result.count for result in asyncio.run(run())] == [COMMON] * 2


def test_an_object_is_released_after_its_run(sides: Sides) -> None:
    board = Listed()
    released = weakref.ref(board)
    sides.both(board)
    del board
    end = time.monotonic() + 5
    while released() is not None and time.monotonic() < end:
        time.sleep(0.01)
        gc.collect()
    assert released() is None


PROGRAM = """
import sys, threading, time
import pyarrow, support, vesica as v
called = threading.Event()

class Slow:
    def put_if_absent(self, name, data):
        return True
    def get(self, name):
        called.set()
        time.sleep(float(sys.argv[2]))

rows = pyarrow.table({"email": ["a@example.org"]})
options = {"key": support.SHOP, "exchange": Slow(), "state": sys.argv[1]}
deal = v.Agreement.new({"shop": support.SHOP, "club": support.CLUB}, max_rows=10)
threading.Thread(target=v.run, args=(deal, rows), kwargs=options, daemon=True).start()
assert called.wait(20)
print("waits", flush=True)
"""


@pytest.mark.parametrize("pause", ["0.0", "0.05", "0.5"])
def test_python_ends_while_an_object_is_called(tmp_path: pathlib.Path, pause: str) -> None:
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "state"), pause]
    environment = {**os.environ, "PYTHONPATH": PATH}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout) == (0, "waits\n"), done.stderr


def memory(_: pathlib.Path) -> Any:
    files = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    return exchange.fsspec(files, "memory://partner/runs/")


def local(folder: pathlib.Path) -> Any:
    return exchange.fsspec(LocalFileSystem(), f"file://{folder}")


def wrapped(folder: pathlib.Path) -> Any:
    return exchange.fsspec(DirFileSystem(str(folder), LocalFileSystem()), "runs")


def arrow_local(folder: pathlib.Path) -> Any:
    return exchange.pyarrow(pa.fs.LocalFileSystem(), str(folder))


def arrow_subtree(folder: pathlib.Path) -> Any:
    return exchange.pyarrow(
        pa.fs.SubTreeFileSystem(str(folder.parent), pa.fs.LocalFileSystem()), folder.name
    )


def arrow_mock(_: pathlib.Path) -> Any:
    return exchange.pyarrow(pa._fs._MockFileSystem(), "partner/runs")


def arrow_of_fsspec(_: pathlib.Path) -> Any:
    files = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    handler = pa.fs.FSSpecHandler(files)
    return exchange.pyarrow(pa.fs.PyFileSystem(handler), "/partner")


PLACES = [memory, local, wrapped, arrow_local, arrow_subtree, arrow_mock, arrow_of_fsspec]


@pytest.mark.parametrize("make", PLACES)
def test_sides_meet_in_file_systems(
    sides: Sides, make: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    (folder := tmp_path / "shared").mkdir()
    place = make(folder)
    sides.both(place)
    sides.both(place)
    if isinstance(place, str):
        assert pathlib.Path(place) == folder
        found = [
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        ]
    else:
        found = [f"{run}/{name}" for run in place.folders() for name in place.list(run)]
    assert numbers(found) == {"0001", "0002"}
    assert not [name for name in found if "-0001/" in name and not name.endswith("-end")]
    assert not list(folder.rglob(".unfinished-*"))


@pytest.mark.parametrize("make", [memory, wrapped, arrow_mock, arrow_of_fsspec])
def test_file_systems_keep_what_a_place_promises(
    make: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    place = make(tmp_path)
    assert list(place.folders()) == list(place.list("run")) == []
    assert place.get("run/a") is None
    assert place.put_if_absent("run/a", b"one") is True
    assert place.put_if_absent("run/a", b"two") is False
    assert place.put_if_absent("run/b", b"") is True
    assert (place.get("run/a"), place.get("run/b")) == (b"one", b"")
    assert sorted(place.list("run")) == ["a", "b"]
    assert place.put_if_absent("other/a", b"x" * 3_000_000) is True
    assert place.get("other/a") == b"x" * 3_000_000
    assert sorted(place.folders()) == ["other", "run"]
    place.remove("run/a")
    place.remove("run/a")
    assert (list(place.list("run")), place.get("run/a")) == (["b"], None)


def test_a_file_that_is_not_complete_has_no_name(tmp_path: pathlib.Path) -> None:
    class Breaks(DirFileSystem):
        def pipe_file(self, path: str, *given: Any, **options: Any) -> None:
            super().pipe_file(path, b"half", **options)
            raise ConnectionResetError

    place: Any = exchange.fsspec(Breaks(str(tmp_path), LocalFileSystem()), "runs")
    with pytest.raises(ConnectionResetError):
        place.put_if_absent("run/a", b"whole")
    assert place.get("run/a") is None
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_top_of_a_file_system_is_no_place() -> None:
    for make in (
        lambda: exchange.fsspec(MemoryFileSystem(), "/"),
        lambda: exchange.fsspec(MemoryFileSystem(), ""),
        lambda: exchange.pyarrow(pa._fs._MockFileSystem(), ""),
        lambda: exchange.pyarrow(pa.fs.LocalFileSystem(), "/"),
    ):
        with pytest.raises(v.SettingsError, match="is the top of a file system"):
            make()


def test_a_local_folder_that_is_missing_is_named(sides: Sides, tmp_path: pathlib.Path) -> None:
    place = exchange.fsspec(LocalFileSystem(), str(tmp_path / "missing"))
    with pytest.raises(v.SettingsError, match="missing"):
        sides.one("shop", place)
