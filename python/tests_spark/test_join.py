"""Helpers whose lists a cluster compares."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import vesica as v
from pyarrow import fs
from scene import LIMIT, Cluster, Scene, value
from vesica import _vesica
from vesica._join import answer
from vesica._work import Work

#: Keys of each party: the lists have 2 segments, 1 and 1.
SETS = {
    "north": range(280_000),
    "south": range(279_000, 284_000),
    "west": range(200_000, 279_500),
}


class Parties:
    """Parties of a helper with this backend, each with a thread."""

    def __init__(self, folder: Path, sets: Mapping[str, range], backend: str) -> None:
        self.sets = sets
        keys = {name: v.Identity.generate() for name in sets}
        key = v.Identity.generate()
        self.helper = v.serve_helper(
            {name: one.public for name, one in keys.items()},
            key=key,
            listen="127.0.0.1:0",
            state=folder / "helper",
            backend=backend,
            metrics=False,
        )
        self.pool = ThreadPoolExecutor(len(sets))
        deal = v.Agreement.new(keys, "number", helper=key, max_rows=1 << 20)
        self.results: dict[str, Future[v.Result]] = {
            name: self.pool.submit(
                v.run,
                deal,
                pa.table({"number": [f"N{one}" for one in own]}),
                key=keys[name],
                party=name,
                connect=self.helper.address,
                state=folder / name,
                wait=120,
            )
            for name, own in sets.items()
        }

    def check(self) -> None:
        """All have what is really in common."""
        common = set.intersection(*(set(own) for own in self.sets.values()))
        assert len(common) >= 500
        for name, own in self.sets.items():
            found = self.results[name].result(LIMIT).rows()["number"].to_pylist()
            assert found == [f"N{one}" for one in own if one in common]


@contextlib.contextmanager
def parties(folder: Path, sets: Mapping[str, range], backend: str) -> Iterator[Parties]:
    started = Parties(folder, sets, backend)
    try:
        yield started
    finally:
        started.helper.close()
        started.pool.shutdown(cancel_futures=True)


def shared(scene: Scene) -> Path:
    folder = scene.folder / "shared"
    folder.mkdir()
    return folder


def asked(folder: Path) -> Path:
    """The folder of the request that a helper has made."""
    until = time.monotonic() + LIMIT
    while not (found := list(folder.glob("join-*/request"))):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found[0].parent


def join(cluster: Cluster, folder: Path, **settings: Any) -> Future[Any]:
    return cluster.call("helper_join", "", str(folder), **settings)


def test_a_cluster_and_the_helper_itself_find_the_same(
    clusters: list[Cluster], scene: Scene
) -> None:
    two = {name: SETS[name] for name in ("north", "south")}
    folder = shared(scene)
    with parties(scene.folder / "cluster", two, f"cluster:{folder}") as by_cluster:
        # Most often the cluster waits for the request.
        until, served = time.monotonic() + LIMIT, 0
        while served == 0 and time.monotonic() < until:
            served = value(join(clusters[0], folder, wait=2))
        by_cluster.check()
    assert list(folder.iterdir()) == []
    with parties(scene.folder / "disk", two, f"disk:{scene.folder}/lists") as by_helper:
        by_helper.check()
    assert served == 1


def test_three_parties_and_a_damaged_copy(clusters: list[Cluster], scene: Scene) -> None:
    folder = shared(scene)
    with parties(scene.folder, SETS, f"cluster:{folder}") as three:
        copy = asked(folder) / "list-0"
        whole = copy.read_bytes()
        copy.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        failed = join(clusters[0], folder).result(LIMIT)
        assert failed["error"] == "DataError", failed
        assert "comparison of a helper's lists failed" in failed["message"]
        assert not any(one.done() for one in three.results.values())
        copy.write_bytes(whole)
        assert value(join(clusters[0], folder)) == 1
        three.check()
    assert list(folder.iterdir()) == []
    assert value(join(clusters[0], folder)) == 0


def test_a_comparison_that_takes_too_long_is_cancelled(
    clusters: list[Cluster], scene: Scene
) -> None:
    folder = shared(scene)
    two = {name: SETS[name] for name in ("south", "west")}
    with parties(scene.folder, two, f"cluster:{folder}") as both:
        asked(folder)
        refused = join(clusters[0], folder, limit=0.01).result(LIMIT)
        assert refused["error"] == "DataError", refused
        assert "took more than 0.01 s, and was cancelled" in refused["message"]
        assert "limit=" in refused["hint"]
        assert value(join(clusters[0], folder)) == 1
        both.check()


def test_each_attempt_writes_the_same(clusters: list[Cluster], scene: Scene) -> None:
    folder, copies = shared(scene), scene.folder / "copies"
    with parties(scene.folder, SETS, f"cluster:{folder}") as three:
        original = asked(folder)
        copied = copies / original.name
        shutil.copytree(original, copied)
        request = _vesica.JoinRequest.decode((copied / "request").read_bytes())
        assert request is not None and request.ranges == 2
        # With some items for the checks of the parties.
        assert all(
            len(own) <= found for own, found in zip(SETS.values(), request.lens, strict=True)
        )
        assert value(join(clusters[0], copies)) == 1
        written = {one.name: one.read_bytes() for one in copied.iterdir()}
        # An earlier attempt has written all, and the driver died before it has answered.
        (copied / "answer").unlink()
        assert value(join(clusters[0], copies)) == 1
        assert {one.name: one.read_bytes() for one in copied.iterdir()} == written
        # The same without Spark.
        local = fs.LocalFileSystem()
        lists = [local.open_input_file(str(copied / f"list-{list}")) for list in range(3)]
        parts = []
        for first, past in ((0, 1), (1, 2)):
            compared, malformed = request.compare(lists, first, past)
            assert compared is not None and malformed is None
            assert compared[0] == written[f"bits-{first}-{past}"]
            parts.append((first, past, compared[1]))
        assert request.answer(parts[::-1]) == written["answer"]
        assert not any(one.done() for one in three.results.values())
        # The answer to a copy is one to the request itself.
        for name in ("bits-0-1", "bits-1-2", "answer"):
            shutil.copy(copied / name, original / f"_{name}")
            (original / f"_{name}").rename(original / name)
        three.check()


class Withdrawing:
    """A session whose job fails, because the helper has removed its lists."""

    def __init__(self, folder: Path, removed: Path) -> None:
        self.folder, self.removed = folder, removed

    def range(self, *_: int) -> Withdrawing:
        return self

    def mapInArrow(self, *_: Any) -> Withdrawing:
        return self

    def collect(self) -> None:
        self.folder.rename(self.removed)
        raise FileNotFoundError


def test_a_request_that_is_withdrawn_or_of_another_name(
    clusters: list[Cluster], scene: Scene
) -> None:
    folder = shared(scene)
    two = {name: SETS[name] for name in ("south", "west")}
    with parties(scene.folder, two, f"cluster:{folder}") as both:
        original, removed = asked(folder), scene.folder / "removed"
        assert not answer(Withdrawing(original, removed), Work(folder, None), original.name)
        assert not answer(None, Work(folder, None), original.name)
        removed.rename(scene.folder / "join-another")
        with pytest.raises(v.DataError, match="not a request"):
            answer(None, Work(scene.folder, None), "join-another")
        # The helper asks again.
        assert asked(folder) != original
        assert value(join(clusters[0], folder)) == 1
        both.check()


def test_a_folder_that_is_not_there(clusters: list[Cluster], scene: Scene) -> None:
    refused = join(clusters[0], scene.folder / "nowhere").result(LIMIT)
    assert refused["error"] == "DataError" and "cannot be read" in refused["message"]
    open_to_all = shared(scene)
    open_to_all.chmod(0o777)
    refused = join(clusters[0], open_to_all).result(LIMIT)
    assert refused["error"] == "SettingsError" and "can write to" in refused["message"]
    open_to_all.chmod(0o755)
    refused = join(clusters[0], open_to_all, wait=-1).result(LIMIT)
    assert refused["error"] == "SettingsError" and "wait" in refused["message"]
