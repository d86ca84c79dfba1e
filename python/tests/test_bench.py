"""The benchmark of the package runs, and those of papers whose protocols the command has, at a tiny size."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(
    ("paper", "largest", "tables", "row"),
    [("phasing", "8", 10, "Server-aided"), ("bloom", "10", 3, "paper's formula, 80 bit")],
)
def test_the_tables_of_a_paper(
    tmp_path: pathlib.Path, paper: str, largest: str, tables: int, row: str
) -> None:
    command = str(pathlib.Path(sys.executable).with_name("vesica"))
    done = subprocess.run(
        [
            sys.executable,
            str(BENCH.with_name("papers")),
            paper,
            "--largest",
            largest,
            "--runs",
            "1",
        ],
        env={**os.environ, "CARGO_TARGET_DIR": str(tmp_path), "VESICA": command},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "failed" not in done.stdout
    found = done.stdout.strip().split("\n\n")
    assert len(found) >= tables, found
    # A table has a title, a head, a line and rows.
    for table in found[:tables]:
        title, head, line, *_ = table.splitlines()
        assert title and head.startswith("  ") and set(line) <= {" ", "-"}, table
    assert row in done.stdout
    assert (tmp_path / "bench" / f"{paper}.json").exists()
