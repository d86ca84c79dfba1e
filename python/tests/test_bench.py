"""The benchmark of the package runs, at a tiny size."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).parents[2] / "bench" / "python"


def test_the_benchmark_measures_the_command_and_a_frame(tmp_path: pathlib.Path) -> None:
    options = ["--python", sys.executable, "--no-peers", "--sizes", "2^8", "--runs", "1"]
    options += ["--frames", "polars"]
    done = subprocess.run(
        [sys.executable, str(BENCH), *options],
        env={**os.environ, "CARGO_TARGET_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for kind in ("command, Parquet", "vesica.run, polars"):
        assert done.stdout.count(kind) == 1, done.stdout
    assert (tmp_path / "bench" / "python.json").exists()
