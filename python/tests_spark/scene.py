"""Clusters in processes of their own, the two parties, and the rows that they match."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import vesica as v

#: A call that takes longer hangs, in seconds.
LIMIT = 240

PARTY = Path(__file__).with_name("party.py")
ROOT = Path(__file__).parents[2]


def last_lines(log: bytes) -> str:
    """The end of a log, without the stacks of Java."""
    lines = log.decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if not line.startswith("\tat "))[-4000:]


class Cluster:
    """A process of a party, with its cluster."""

    def __init__(self, environment: Mapping[str, str] | None = None, **settings: str) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 — `kill` closes it.
        self.process = subprocess.Popen(
            [sys.executable, str(PARTY), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
            env={
                **os.environ,
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
                **(environment or {}),
            },
        )
        self.pool = ThreadPoolExecutor(1)
        # The start of the cluster.
        self.started = self.pool.submit(self.answer)

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise AssertionError(last_lines(self.log.read()))
        return dict(json.loads(line))

    def call(
        self,
        call: str,
        rows: str,
        agreement: str,
        *more: Any,
        wrong: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Future[Any]:
        """What `vesica.spark` gives; `wrong` says what is wrong at this party, as `party.py` knows it."""
        self.started.result(LIMIT)
        assert self.process.stdin is not None
        work = {"call": call, "rows": rows, "agreement": agreement, "more": more}
        work |= {"settings": settings, "wrong": dict(wrong or {})}
        print(json.dumps(work), file=self.process.stdin, flush=True)
        return self.pool.submit(self.answer)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.pool.shutdown()
        for file in (self.process.stdin, self.process.stdout, self.log):
            assert file is not None
            with contextlib.suppress(BrokenPipeError):
                file.close()


class Scene:
    """Two parties, the grocer and the airline, and the folder between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = {name: v.Identity.generate() for name in ("grocer", "airline")}
        for name, key in self.keys.items():
            key.save(folder / f"{name}.key")
        (folder / "between").mkdir()

    def agree(self, key: Any = "email", **terms: Any) -> str:
        path = self.folder / "deal.toml"
        agreement = v.Agreement.new(self.keys, key, **{"max_rows": 100_000, **terms})
        agreement.save(path, force=True)
        return str(path)

    def settings(self, name: str, **more: Any) -> dict[str, Any]:
        """Those of a cluster."""
        return {"work": str(self.folder / f"work-{name}"), **self.plain(name), **more}

    def plain(self, name: str) -> dict[str, Any]:
        """Those of anybody."""
        return {
            "key": str(self.folder / f"{name}.key"),
            "exchange": str(self.folder / "between"),
            "state": str(self.folder / f"state-{name}"),
            "wait": 120,
        }

    def stored_objects(self, name: str) -> int:
        """How many objects the executors of this party have stored."""
        parties = [one.name for one in v.Agreement.load(self.folder / "deal.toml").parties]
        return len(list((self.folder / "between").rglob(f"{parties.index(name)}-x*")))

    def left(self, name: str) -> list[str]:
        """What is in the work of this party's cluster."""
        return sorted(os.listdir(self.folder / f"work-{name}"))


def rows(count: int, step: int, more: str = "") -> str:
    """Rows with e-mail addresses in upper case: one in ten has none, and one in seven the same as another."""
    key = f"concat('U', if(id % 7 = 6, id - 1, id) * {step}, '@X.org')"
    return f"select if(id % 10 = 3, null, {key}) email, id number {more} from range({count})"


def keys_of(count: int, step: int) -> dict[int, int | None]:
    """The key of each of these rows."""
    key = {id: (id - 1 if id % 7 == 6 else id) * step for id in range(count)}
    return {id: None if id % 10 == 3 else one for id, one in key.items()}


def common(own: dict[int, int | None], other: dict[int, int | None]) -> list[int]:
    """The numbers of the own rows whose key is in common."""
    there = set(other.values()) - {None}
    return [number for number, key in own.items() if key in there]


def value(answer: Future[Any]) -> Any:
    found = answer.result(LIMIT)
    assert "value" in found, found
    return found["value"]


def children(cluster: Cluster, what: bytes) -> list[int]:
    """The processes of this cluster whose command has this in it, oldest first."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if what in (process / "cmdline").read_bytes():
                if os.getsid(int(process.name)) == cluster.process.pid:
                    found.append(int(process.name))
        except (OSError, ValueError):
            continue
    return sorted(found)
