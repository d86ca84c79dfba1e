"""What the tests share: two clusters, a bucket, the parties, and the other party on a laptop."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import vesica as v
from scene import Cluster, Scene

REGION = "eu-central-1"

# Each test ends before Java's second compiler would pay off, which takes half of the time on two cores.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

#: How long a server may take to listen, in seconds.
START = 60


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, str]]:
    """A server that speaks the protocol of S3, with a bucket `shared`; gives the environment for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [Path(sys.executable).with_name("moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(program, **quiet) as server:
        try:
            until = time.monotonic() + START
            while True:
                assert server.poll() is None and time.monotonic() < until
                put = urllib.request.Request(f"{url}/shared", method="PUT")
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(put, timeout=START).close()
                    break
                time.sleep(0.1)
            yield {
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_REGION": REGION,
                "AWS_ENDPOINT_URL": url,
                "AWS_ALLOW_HTTP": "true",
            }
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def clusters(s3: dict[str, str]) -> Iterator[list[Cluster]]:
    both = [Cluster(s3), Cluster(s3)]
    yield both
    for one in both:
        one.kill()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def laptop(scene: Scene) -> Callable[..., Future[v.Result]]:
    """The run of the airline, with a table of pyarrow."""
    pool = ThreadPoolExecutor(1)

    def start(deal: str, table: pa.Table, **more: Any) -> Future[v.Result]:
        settings = {**scene.plain("airline"), **more}
        return pool.submit(v.run, deal, table, **settings)

    return start
