"""Runs in which executors do the work of partitions: with each other, with the command, and through faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from scene import LIMIT, Cluster, Scene, children, common, keys_of, rows, value

#: Partitions of 1,000 rows.
SMALL = {"partition_rows": 1000}


def numbers(found: Any) -> list[int]:
    return sorted(row["number"] for row in found)


@pytest.mark.parametrize("receives", ["all", "grocer", "airline"])
def test_executors_with_executors(clusters: list[Cluster], scene: Scene, receives: str) -> None:
    deal = scene.agree(receives=receives, protocol="rr22_malicious", **SMALL)
    sides = {"grocer": (6000, 2), "airline": (4000, 3)}
    answers = {
        name: cluster.call(
            "match", rows(*sides[name]), deal, **scene.settings(name, on_executors=True)
        )
        for name, cluster in zip(sides, clusters, strict=True)
    }
    keys = {name: keys_of(*side) for name, side in sides.items()}
    for name, other in (("grocer", "airline"), ("airline", "grocer")):
        found = value(answers[name])
        if receives in ("all", name):
            expected = common(keys[name], keys[other])
            assert len(expected) > 500
            assert numbers(found) == expected
        else:
            assert found is None
            assert scene.left(name) == []
    # Each flight of a partition is an object of its own.
    assert all(scene.stored_objects(name) >= 8 for name in sides)


@pytest.mark.parametrize("receives", ["grocer", "airline"])
@pytest.mark.parametrize("protocol", ["rr22_malicious", "gbf"])
def test_executors_and_the_command(
    clusters: list[Cluster], scene: Scene, receives: str, protocol: str
) -> None:
    deal = scene.agree(receives=receives, protocol=protocol, security="semi-honest", **SMALL)
    table = scene.folder / "airline.csv"
    lines = "".join(f"u{3 * id}@x.org,{id}\n" for id in range(5000))
    table.write_text(f"email,flight\n{lines}")
    plain = scene.plain("airline")
    command = [Path(sys.executable).with_name("vesica"), "run", deal, "--input", table, "--quiet"]
    for option in ("key", "exchange", "state"):
        command += [f"--{option}", plain[option]]
    if receives == "airline":
        command += ["--output", scene.folder / "common.csv"]
    settings = scene.settings("grocer", on_executors=True)
    with subprocess.Popen(command) as process:
        found = value(clusters[0].call("match", rows(7000, 2), deal, **settings))
        assert process.wait(LIMIT) == 0
    assert scene.stored_objects("grocer") >= 8 and not scene.stored_objects("airline")
    here, there = keys_of(7000, 2), {id: 3 * id for id in range(5000)}
    if receives == "grocer":
        assert numbers(found) == common(here, there)
    else:
        flights = (scene.folder / "common.csv").read_text().splitlines()[1:]
        assert [int(one.split(",")[1]) for one in flights] == common(there, here)


def wait_for(what: Callable[[], Any], call: Future[Any]) -> Any:
    until = time.monotonic() + LIMIT
    while not (found := what()):
        assert time.monotonic() < until
        assert not call.done(), call.result()
        time.sleep(0.02)
    return found


def test_a_run_comes_to_its_end_through_all_faults(scene: Scene, tmp_path: Path) -> None:
    """In one run of 64 partitions: a store that fails, attempts side by side, unequal numbers of slots; a worker and an
    executor that are killed, an executor that is removed, and a driver that is killed and started again.
    """
    deal = scene.agree(receives="all", protocol="rr22_malicious", **SMALL)
    sides = {"grocer": (45_000, 2), "airline": (40_000, 3)}
    sign = tmp_path / "remove"
    unequal = {
        "spark.master": "local-cluster[2,1,1024]",
        "spark.executor.memory": "768m",
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.quantile": "0.3",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "10ms",
    }
    flaky = {"flaky": str(scene.folder / "between"), "on_executors": True, "wait": LIMIT}
    grocer = Cluster(**unequal)
    airline = Cluster(**{"spark.master": "local[3,4]"})

    def start(name: str, cluster: Cluster) -> Future[Any]:
        return cluster.call("match", rows(*sides[name]), deal, **scene.settings(name, **flaky))

    try:
        there = start("airline", airline)
        here = start("grocer", grocer)
        work = scene.folder / "work-grocer"
        wait_for(lambda: list(work.glob("rows-*/items/items-*.parquet")), here)
        workers = wait_for(lambda: children(grocer, b"pyspark.daemon"), here)
        os.kill(workers[-1], signal.SIGKILL)
        wait_for(lambda: scene.stored_objects("grocer") >= 5, here)
        os.kill(children(grocer, b"CoarseGrainedExecutorBackend")[0], signal.SIGKILL)
        wait_for(lambda: scene.stored_objects("grocer") >= 64 + 5, here)
        grocer.kill()
        grocer = Cluster({"REMOVE_AN_EXECUTOR": str(sign)}, **unequal)
        here = start("grocer", grocer)
        sign.write_text("")
        found = {"grocer": value(here), "airline": value(there)}
        assert not sign.exists()
    finally:
        grocer.kill()
        airline.kill()
    keys = {name: keys_of(*side) for name, side in sides.items()}
    for name, other in (("grocer", "airline"), ("airline", "grocer")):
        assert numbers(found[name]) == common(keys[name], keys[other])
