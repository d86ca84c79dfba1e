"""Where Spark puts what tasks know: no secret of a run is there."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from scene import Cluster, Scene, common, keys_of, rows, value

#: How many bytes of a secret the search looks for: its first ones and its last ones.
SOME = 12


def secrets_of(order: Any, name: str = "") -> Iterator[tuple[str, bytes]]:
    """All byte strings of an order, with their names: keys of all kinds, and no text."""
    if isinstance(order, dict):
        for key, one in order.items():
            yield from secrets_of(one, f"{name}.{key}")
    elif isinstance(order, list):
        is_bytes = all(type(one) is int and 0 <= one < 256 for one in order)
        if is_bytes and len(order) >= SOME:
            yield name, bytes(order)
        else:
            for one in order:
                yield from secrets_of(one, name)


def forms(secret: bytes) -> Iterator[bytes]:
    """How the secret may stand in a file."""
    for some in (secret[:SOME], secret[-SOME:]):
        yield some
        yield some.hex().encode()
        yield some.hex().upper().encode()
        # Where it begins in a group of three bytes, and without the characters that have other bits too.
        for before in range(3):
            coded = base64.b64encode(bytes(before) + some)
            yield coded[4:-4] if before else coded[:-4]
        for separator in (",", ", "):
            yield separator.join(str(one) for one in some).encode()


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_no_secret_of_a_run_is_in_files_of_spark(
    clusters: list[Cluster], scene: Scene, master: str
) -> None:
    deal = scene.agree(receives="all", protocol="rr22_malicious", partition_rows=1000)
    folders = {name: scene.folder / name for name in ("local", "events", "kept", "work-grocer")}
    for folder in folders.values():
        folder.mkdir(mode=0o700)
    searched = [str(folders[name]) for name in ("local", "events", "work-grocer")]
    # A closure and a result of this length are files, as those above 1 MiB are by default.
    cluster = Cluster(
        **{
            "spark.master": master,
            "spark.executor.memory": "768m",
            "spark.local.dir": str(folders["local"]),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{folders['events']}",
            "spark.broadcast.UDFCompressionThreshold": "1024",
            "spark.broadcast.compress": "false",
            "spark.shuffle.compress": "false",
            "spark.shuffle.spill.compress": "false",
        }
    )
    noted = scene.folder / "secrets"
    try:
        there = clusters[1].call(
            "match", rows(9000, 3), deal, **scene.settings("airline", on_executors=True)
        )
        settings = scene.settings("grocer", on_executors=True)
        wrong = {"kept": [str(noted), searched, str(folders["kept"])]}
        here = cluster.call("match", rows(20_000, 2), deal, wrong=wrong, **settings)
        found = value(here)
        value(there)
        cluster.log.seek(0)
        logs = [cluster.log.read()]
    finally:
        cluster.kill()
    assert sorted(row["number"] for row in found) == common(keys_of(20_000, 2), keys_of(9000, 3))

    orders = [json.loads(line) for line in noted.read_text().splitlines()]
    secrets = {secret: name for order in orders for name, secret in secrets_of(order)}
    names = set(secrets.values())
    # The secret of the grouping is the splitter.
    assert {".seed", ".desk", ".splitter", ".session", ".key"} <= names
    assert len(secrets) > 100
    wanted = {form: name for secret, name in secrets.items() for form in forms(secret)}

    paths = [path for folder in folders.values() for path in folder.rglob("*")]
    application = next(path.name for path in folders["events"].iterdir())
    # Where a cluster on this machine has the logs of its executors.
    workers = Path(pyspark.__file__).parent / "work"
    for log in workers.glob("app-*"):
        if log.name in application:
            paths += log.rglob("*")
    files = {str(path): path.read_bytes() for path in paths if path.is_file()}
    files["the driver's log"] = logs[0]
    # What is looked for in this way is found: the folder of the rows is in each closure, and in an event.
    [folder] = [one for one in os.listdir(folders["work-grocer"]) if one.startswith("rows-")]
    for name in ("kept", "events"):
        assert any(
            folder.encode() in data
            for path, data in files.items()
            if path.startswith(str(folders[name]))
        ), name
    if master != "local[2]":
        assert any(path.endswith("stderr") for path in files)
    seen = {
        (name, os.path.relpath(path, scene.folder))
        for path, data in files.items()
        for form, name in wanted.items()
        if form in data
    }
    assert seen == set(), sorted(seen)
