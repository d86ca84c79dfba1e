"""Runs of clusters: with each other, and with `vesica.run` and the command."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vesica as v
from scene import LIMIT, ROOT, Cluster, Scene, children, common, keys_of, rows, value


@pytest.mark.parametrize("receives", ["all", "grocer", "airline"])
def test_two_clusters(clusters: list[Cluster], scene: Scene, receives: str) -> None:
    deal = scene.agree(receives=receives)
    sides = {"grocer": (3000, 2), "airline": (500, 3)}
    answers = {
        name: cluster.call(
            "match",
            rows(*sides[name], ", rand() draw, date'2026-01-01' day"),
            deal,
            **scene.settings(name),
        )
        for name, cluster in zip(sides, clusters, strict=True)
    }
    keys = {name: keys_of(*side) for name, side in sides.items()}
    for name, other in (("grocer", "airline"), ("airline", "grocer")):
        found = value(answers[name])
        if receives not in ("all", name):
            assert found is None
            assert scene.left(name) == []
            continue
        expected = common(keys[name], keys[other])
        assert len(expected) > 100
        assert sorted(row["number"] for row in found) == expected
        for row in found:
            assert row["email"] == f"U{keys[name][row['number']]}@X.org"
            assert 0 <= row["draw"] < 1
            assert row["day"] == "2026-01-01"
        assert [one.split("-")[0] for one in scene.left(name)] == ["rows"]


@pytest.mark.smoke
@pytest.mark.parametrize("receives", ["grocer", "airline"])
def test_a_cluster_and_the_command(clusters: list[Cluster], scene: Scene, receives: str) -> None:
    deal = scene.agree(receives=receives)
    table = scene.folder / "airline.csv"
    with table.open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["email", "flight"])
        writer.writerows([f"u{3 * id}@x.org", id] for id in range(700))
    plain = scene.plain("airline")
    command = [Path(sys.executable).with_name("vesica"), "run", deal, "--input", table, "--quiet"]
    for option in ("key", "exchange", "state"):
        command += [f"--{option}", plain[option]]
    if receives == "airline":
        command += ["--output", scene.folder / "common.csv"]
    with subprocess.Popen(command) as process:
        found = value(clusters[0].call("match", rows(1500, 2), deal, **scene.settings("grocer")))
        assert process.wait(LIMIT) == 0
    here, there = keys_of(1500, 2), {id: 3 * id for id in range(700)}
    if receives == "grocer":
        assert sorted(row["number"] for row in found) == common(here, there)
    else:
        with (scene.folder / "common.csv").open() as file:
            flights = [int(row["flight"]) for row in csv.DictReader(file)]
        assert flights == common(there, here)


def test_counts_sums_ids_and_shares(
    clusters: list[Cluster], scene: Scene, laptop: Callable[..., Future[v.Result]]
) -> None:
    cluster, here = clusters[0], scene.settings("grocer")
    table = pa.table({"email": [f"u{3 * id}@x.org" for id in range(400)]})
    own, there = keys_of(600, 2), {id: 3 * id for id in range(400)}
    both = {own[number] for number in common(own, there)}
    amounts = rows(600, 2, ", if(id % 7 = 6, id - 1, id) amount")

    deal = scene.agree(operation="cardinality", receives="all")
    other = laptop(deal, table)
    assert value(cluster.call("count", rows(600, 2), deal, **here)) == len(both)
    assert other.result(LIMIT).count == len(both)

    deal = scene.agree(operation="sum", values_of="grocer", values="amount")
    other = laptop(deal, table)
    assert value(cluster.call("sums", amounts, deal, **here)) is None
    total = sum(own[number] // 2 for number in common(own, there))
    assert other.result(LIMIT).sums == {"amount": total}

    deal = scene.agree(operation="sum", values_of="airline", values="miles")
    other = laptop(deal, table.append_column("miles", pa.array(range(400))))
    total = sum(number for number, key in there.items() if key in both)
    assert value(cluster.call("sums", rows(600, 2), deal, **here)) == {"miles": total}
    assert other.result(LIMIT).kind == "nothing"

    deal = scene.agree(operation="private-id", receives="all")
    other = laptop(deal, table)
    found = value(cluster.call("private_ids", rows(600, 2), deal, **here))
    theirs = dict(enumerate(pa.array(other.result(LIMIT).ids).to_pylist()))
    assert sorted(row["number"] for row in found) == list(own)
    ids = {row["number"]: row["private_id"] for row in found}
    without = [number for number, key in own.items() if key is None]
    assert sorted(number for number, id in ids.items() if id is None) == without
    assert sorted(number for number, id in ids.items() if id in theirs.values()) == common(
        own, there
    )
    by_key = {key: theirs[number] for number, key in there.items()}
    assert all(ids[number] == by_key[own[number]] for number in common(own, there))

    deal = scene.agree(operation="shares")
    other = laptop(deal, table)
    path = str(scene.folder / "grocer-shares.json")
    value(cluster.call("save_shares", rows(600, 2), deal, path, **here))
    shares = other.result(LIMIT).shares
    assert shares is not None
    assert len(pa.table(v.combine(path, shares))) == len(both)

    # Only rows and identifiers need the rows that were written.
    assert len([one for one in scene.left("grocer") if one.startswith("rows-")]) == 1


@pytest.mark.smoke
def test_a_killed_driver_goes_on_with_the_rows_that_it_has_written(
    scene: Scene, laptop: Callable[..., Future[v.Result]]
) -> None:
    deal = scene.agree(receives="all")
    here = scene.settings("grocer")
    # Other rows each time: half of them.
    some = f"select * from ({rows(2000, 2, ', rand() draw')}) where draw < 0.5"
    first = Cluster()
    first.call("match", some, deal, **here)
    until = time.monotonic() + LIMIT
    while not list((scene.folder / "between").rglob("0-*")) + list(
        (scene.folder / "between").rglob("1-*")
    ):
        assert time.monotonic() < until
        time.sleep(0.1)
    first.kill()
    written = scene.left("grocer")
    assert len([one for one in written if one.startswith("rows-")]) == 1

    again = Cluster()
    try:
        other = laptop(deal, pa.table({"email": [f"u{3 * id}@x.org" for id in range(1000)]}))
        found = value(again.call("match", some, deal, **here))
    finally:
        again.kill()
    assert found
    assert sorted(
        f"u{3 * id}@x.org" for id in pa.array(other.result(LIMIT).positions).to_pylist()
    ) == sorted({row["email"].lower() for row in found})
    # The same folder, and no note of an unfinished run.
    assert scene.left("grocer") == [one for one in written if one.startswith("rows-")]


def test_a_new_run_takes_the_new_rows(
    clusters: list[Cluster], scene: Scene, laptop: Callable[..., Future[v.Result]]
) -> None:
    deal = scene.agree()
    # The folder of the state outlives the run, as one does that is mounted.
    state = scene.folder / "state"
    for first in (0, 100):
        state.mkdir(mode=0o700, exist_ok=True)
        other = laptop(deal, pa.table({"email": [f"u{id}@x.org" for id in range(200)]}))
        some = f"select concat('u', id, '@x.org') email from range({first}, {first + 150})"
        here = scene.settings("grocer", state=str(state))
        found = value(clusters[0].call("match", some, deal, **here))
        numbers = sorted(int(row["email"][1:-6]) for row in found)
        assert numbers == list(range(first, min(first + 150, 200)))
        assert other.result(LIMIT).kind == "nothing"


@pytest.mark.smoke
def test_an_executor_is_killed(scene: Scene, laptop: Callable[..., Future[v.Result]]) -> None:
    deal = scene.agree(receives="grocer", max_rows=1_000_000)
    cluster = Cluster(
        **{"spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "1g"},
        **{"spark.speculation": "true", "spark.speculation.interval": "50ms"},
    )
    digest = "sha2(repeat(sha2(cast(id as string), 512), 100), 512) digest"
    columns = f"concat('u', id * 2, '@x.org') email, id number, {digest}"
    many = f"select {columns} from range(0, 120000, 1, 4)"
    try:
        other = laptop(deal, pa.table({"email": [f"u{3 * id}@x.org" for id in range(1000)]}))
        call = cluster.call("match", many, deal, **scene.settings("grocer"))
        until = time.monotonic() + LIMIT
        work = scene.folder / "work-grocer"
        # Some parts are written, and others not yet.
        while not list(work.rglob("*.parquet")):
            assert time.monotonic() < until and not call.done()
            time.sleep(0.01)
        os.kill(children(cluster, b"CoarseGrainedExecutorBackend")[0], signal.SIGKILL)
        assert not list(work.glob("rows-*/rows/_SUCCESS")), "the job had ended before the kill"
        found = value(call)
    finally:
        cluster.kill()
    expected = [id for id in range(120_000) if 2 * id % 3 == 0 and 2 * id < 3000]
    assert sorted(row["number"] for row in found) == expected
    assert other.result(LIMIT).kind == "nothing"


def test_what_is_refused(clusters: list[Cluster], scene: Scene) -> None:
    deal = scene.agree(receives="all")
    here = {**scene.settings("grocer"), "wait": 1}

    def refused(call: str, rows: str, **more: Any) -> dict[str, Any]:
        found = clusters[0].call(call, rows, deal, **{**here, **more}).result(LIMIT)
        assert "error" in found, found
        assert found["hint"]
        return dict(found)

    plain = rows(20, 2)
    assert "no column 'email'" in refused("match", "select 1 as number")["message"]
    assert "twice" in refused("match", "select 'a' as email, 'b' as EMAIL")["message"]
    assert "_vesica_row" in refused("match", "select 'a' email, 1 _vesica_row")["message"]
    assert "count" in refused("count", plain)["message"]
    assert refused("run", plain, output="x.csv")["error"] == "SettingsError"
    for work in ("nowhere://x", "dbfs:/x", "/tmp/[x]"):
        assert refused("match", plain, work=work)["error"] == "SettingsError"
    assert "timestamps" in refused("match", "select timestamp'2026-01-01' email")["message"]
    # What Spark says of a cell is not shown.
    cast = refused("match", "select cast('alice@x.org' as int) number, 'a@x.org' email")
    assert "alice" not in str(cast)
    nobody = refused("match", "select 'a@x.org' email from range(0)")
    assert nobody["error"] == "DataError", nobody
    assert scene.left("grocer") == []

    # Who may write to `work`.
    open_to_all = scene.folder / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    error = refused("match", plain, work=str(open_to_all))
    assert error["error"] == "SettingsError" and "can write to" in error["message"], error
    assert os.listdir(open_to_all) == []

    # The other side does not connect: the rows stay, because the same call continues the run.
    for settings in ({}, {}, {"restart": True}):
        late = refused("match", plain, **settings)
        assert late["error"] == "NetworkError", late
        assert len(scene.left("grocer")) == 2
    [note, kept] = scene.left("grocer")
    assert (note[-5:], kept[:5]) == (".json", "rows-")


def test_two_calls_at_once_with_one_state(
    clusters: list[Cluster], scene: Scene, laptop: Callable[..., Future[v.Result]]
) -> None:
    deal = scene.agree(receives="grocer", partition_rows=1000)
    here = scene.settings("grocer", on_executors=True)
    first = clusters[0].call("match", rows(1500, 2), deal, **here)
    until = time.monotonic() + LIMIT
    while not (scene.folder / "state-grocer" / "meeting").exists():
        assert time.monotonic() < until and not first.done()
        time.sleep(0.02)
    written = scene.left("grocer")
    assert len(written) == 2
    for more in ({}, {"restart": True}):
        second = clusters[1].call("match", rows(1500, 2), deal, **here, **more).result(LIMIT)
        assert second["error"] == "StateInUse", second
        assert "already running" in second["message"] and second["hint"]
        assert scene.left("grocer") == written
    other = laptop(deal, pa.table({"email": [f"u{3 * id}@x.org" for id in range(700)]}))
    found = value(first)
    expected = common(keys_of(1500, 2), {id: 3 * id for id in range(700)})
    assert sorted(row["number"] for row in found) == expected
    assert other.result(LIMIT).kind == "nothing"
    assert scene.left("grocer") == [one for one in written if one.startswith("rows-")]


def test_the_code_on_the_page_runs(scene: Scene, laptop: Callable[..., Future[v.Result]]) -> None:
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    # The second one is for helpers: test_join.py has it.
    code, _ = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    deal = scene.agree()
    shutil.copy(deal, scene.folder / "agreement.toml")
    code = code.replace("/mnt/partner", str(scene.folder / "between"))
    table = pa.table({"email": [f"u{number}@x.org" for number in range(50)]})
    (scene.folder / "customers").mkdir()
    pq.write_table(table, scene.folder / "customers" / "part.parquet")
    other = laptop(deal, table.slice(20))
    command = [sys.executable, "-c", f"{code}\nspark.stop()\n"]
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(scene.folder),
    }
    done = subprocess.run(
        command, cwd=scene.folder, env=environment, capture_output=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found = pq.read_table(scene.folder / "customers-in-common")
    assert sorted(found["email"].to_pylist()) == sorted(table.slice(20)["email"].to_pylist())
    assert other.result(LIMIT).kind == "nothing"


def test_the_benchmark_runs(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "bench" / "spark", "--python", sys.executable]
    options = ["--rows", "2000", "--by", "executors", "--partition-rows", "1000"]
    options += ["--folder", tmp_path, "--calls", "1"]
    done = subprocess.run([*script, *options], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-2000:]
    [line] = [line for line in done.stdout.splitlines() if "2,000" in line]
    assert "executors" in line
    [memory, java] = [int(size) for size in re.findall(r"(\d+) MiB", line)]
    assert memory > java > 0
    assert float(re.findall(r"([\d.]+) MB", line)[0]) > 0
