"""The benchmark of the package and those of papers run, at tiny sizes."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

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


PAPERS = BENCH.with_name("papers")
ROOT = BENCH.parents[1]


def environment(tmp_path: pathlib.Path, **programs: str) -> dict[str, str]:
    """With the builds that are measured; what is written goes to `tmp_path`."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    primitives = os.environ.get("VESICA_BENCH", str(target / "debug" / "vesica-bench"))
    assert pathlib.Path(primitives).exists(), "scripts/python-tests builds vesica-bench"
    command = str(pathlib.Path(sys.executable).with_name("vesica"))
    variables = {"CARGO_TARGET_DIR": str(tmp_path), "VESICA": command, "VESICA_BENCH": primitives}
    return {**os.environ, **variables, **programs}


@pytest.mark.thorough
def test_every_table_and_figure_of_the_papers_is_measured(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, str(BENCH.with_name("reproduce")), "--quick", "--largest", "8"]
    # RSA of 3072 bits takes half a minute on a busy machine.
    command += ["--limit", "40", "--minutes", "20"]
    done = subprocess.run(
        command, env=environment(tmp_path), capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "failed" not in done.stdout
    out = tmp_path / "reproduction"
    page = (out / "index.html").read_text()
    texts = {one.stem: one.read_text() for one in out.glob("*.md")}
    first = texts.pop("README")
    assert len(texts) == 5
    for missing in ("not whole", "nothing at these sizes", "not measured this time", "failed"):
        assert missing not in first, first
    # The page and its Markdown have the same tables and figures.
    for title in ("Table 12", "Figure 2", "Figure 5", "Server-aided", "SCS-WN on shares"):
        assert title in page and any(title in text for text in texts.values()), title
    figures = sum(text.count(".svg)") for text in texts.values())
    assert page.count("<svg") == figures == len(list(out.glob("*.svg"))) >= 6
    tables = sum(len(re.findall(r"^\| ---", text, re.MULTILINE)) for text in texts.values())
    assert page.count("<caption>") == tables > 30
    # Nothing took too long or was left out, and much is compared.
    kept = out / "measurements.jsonl"
    assert all(json.loads(line)["status"] == 0 for line in kept.read_text().splitlines())
    compared = [int(number) for number in re.findall(r"in \d+ of (\d+) cells", first)]
    assert len(compared) >= 4 and max(compared) > 30, first[:2000]
    # An interruption cut the last measurement: that one is made again, and then all are remembered.
    kept.write_bytes(kept.read_bytes()[:-10])
    for measured in (1, 0):
        again = subprocess.run(
            command, env=environment(tmp_path), capture_output=True, text=True, timeout=120
        )
        assert again.returncode == 0, again.stderr[-2000:]
        assert again.stderr.count("  … ") == measured, again.stderr[-2000:]


def printed(output: str, title: str) -> dict[str, list[str]]:
    """The rows of a printed table by their first cells; `title` begins its header."""
    _, _, rest = output.partition(f"  {title}")
    assert rest, output
    rows: dict[str, list[str]] = {}
    for line in rest.splitlines()[2:]:
        if not line.strip():
            break
        first, *cells = re.split(r"\s{2,}", line.strip())
        rows[first] = cells
    return rows


def measured(cell: str) -> float:
    """Our figure in a cell; this fails if there is none."""
    found = re.search(r"/ ([\d.,]+)", cell)
    assert found, f"nothing is measured: {cell!r}"
    return float(found[1].replace(",", ""))


def test_tables_1_and_11_of_phasing_are_whole(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, str(PAPERS), "phasing", "--largest", "8", "--runs", "1"]
    done = subprocess.run(
        [*command, "--only", "table_1,table_11"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

    table_1 = printed(done.stdout, "Table 1: h")
    by_functions = [table_1[h] for h in "2345"]
    assert len(table_1) == 6 and all(len(cells) == 6 for cells in by_functions), table_1
    loads, transfers, masks, equal, unequal = (
        [measured(cells[i]) for cells in by_functions] for i in range(5)
    )
    # More functions fill more bins, so fewer are needed, and each function costs a mask.
    assert loads == sorted(loads) and 45 < loads[0] < 65 and loads[-1] > 90, loads
    assert transfers == sorted(transfers, reverse=True) and transfers[-1] < 1.2, transfers
    assert masks == [2, 3, 4, 5]
    assert equal == unequal, "both sets have 2^8 items at this size"
    assert equal[1] < equal[0], equal
    # The formula, from the paper's columns, gives what the paper prints.
    assert [cells[5] for cells in by_functions] == ["148", "99.7", "106", "115"]
    extra = [cells for name, cells in table_1.items() if name.startswith("extra")]
    assert len(extra) == 2 and all(measured(cell) > 0 for row in extra for cell in row)

    table_11 = {unit: printed(done.stdout, f"Table 11: {unit}") for unit in ("ms", "MB")}
    for unit, rows in table_11.items():
        assert len(rows) == 3, table_11
        for name, cells in rows.items():
            ours = [measured(cell) for cell in cells]
            assert len(ours) == 5, (unit, name, cells)
            if unit == "MB":
                # A stash of twelve is the most of it at this size; 3-way tables have half the bins.
                assert ours[0] > ours[1] >= ours[2] > ours[3], (name, ours)


def test_a_cell_that_fails_says_so_and_the_others_go_on(tmp_path: pathlib.Path) -> None:
    real = pathlib.Path(sys.executable).with_name("vesica")
    failing = tmp_path / "vesica"
    # Runs of one protocol fail, those of another have a wrong result.
    failing.write_text(
        f"""#!/bin/sh
case "$*" in
  *"bench dh "*) exit 7 ;;
  *"bench kkrt16 "*) "{real}" "$@" | sed 's/"result_ok": *true/"result_ok": false/' ;;
  *) exec "{real}" "$@" ;;
esac
"""
    )
    failing.chmod(0o755)
    command = [sys.executable, str(PAPERS), "phasing", "--largest", "8", "--runs", "1"]
    done = subprocess.run(
        [*command, "--only", "table_8"],
        env=environment(tmp_path, VESICA=str(failing)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "failed: exit code 7" in done.stdout
    assert "failed: a wrong result" in done.stdout
    assert done.stderr.count("exit code 7") == 1 and done.stderr.count("a wrong result") == 1
    measured = json.loads((tmp_path / "bench" / "phasing.json").read_text())["cells"]
    assert {"naive_hash", "rr22"} <= {one["protocol"] for one in measured}
    assert not {"dh", "kkrt16"} & {one["protocol"] for one in measured}


def test_measurements_stop_when_the_time_is_up(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, str(BENCH.with_name("reproduce")), "--quick", "--largest", "8"]
    done = subprocess.run(
        [*command, "--papers", "bloom", "--minutes", "0"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "The time is up" in done.stdout
    assert (tmp_path / "reproduction" / "index.html").exists()


def test_the_tables_of_protocols_and_of_growing_sets(tmp_path: pathlib.Path) -> None:
    # A protocol of each kind: fast, on a domain, on pairs, with an operation of its own.
    protocols = "rr22 bwa pwc gmrss21_union"
    command = [str(BENCH.with_name("run")), "--quick", "--only", "protocols"]
    command += ["--protocols", protocols, "--sizes", "2^6", "--networks", "loopback"]
    growing = [str(BENCH.with_name("scale")), "--sizes", "100,300", "--runs", "1"]
    for one, titles, figure in [
        (command, [f"{name} over loopback" for name in protocols.split()], "bytes.svg"),
        (growing, ["items each", "300"], "scale.svg"),
    ]:
        done = subprocess.run(
            [sys.executable, *one],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        for title in titles:
            assert title in done.stdout, done.stdout
        assert (tmp_path / "bench" / figure).exists()


def tables_of_papers() -> Any:
    sys.path.insert(0, str(ROOT / "bench"))
    return importlib.import_module("tables.measure")


def expected_s(found: dict[str, object], network: str, sizes: tuple[int, int]) -> float:
    """What a run of the second size is expected to take after a run of the first that `found` this."""
    measure = tables_of_papers()

    def cell(size: int) -> Any:
        return measure.Cell("dh", size, size, 128, network, 1)

    bench = object.__new__(measure.Bench)
    bench.known, bench.limit_s, bench.memory = {"dh"}, 1e9, 1e12
    peaks = {"peak_rss_bytes_sender": 1, "peak_rss_bytes_receiver": 1}
    bench.cells = {cell(sizes[0]): {**peaks, **found}}
    return float(bench.expected_s(cell(sizes[1])))


def test_the_time_on_the_way_does_not_grow_with_the_items() -> None:
    found: dict[str, object] = {"wall_s": 1.5, "flights": 25}
    assert abs(expected_s(found, "wan", (2**14, 2**16)) - (1.0 + 4 * 0.5)) < 1e-9
    assert abs(expected_s(found, "loopback", (2**14, 2**16)) - 4 * 1.5) < 1e-9
    # With a helper no flights are counted.
    assert abs(expected_s({**found, "flights": None}, "wan", (2**14, 2**16)) - 4 * 1.5) < 1e-9
    # A run takes no less than it did.
    assert expected_s({**found, "flights": 1000}, "wan", (2**14, 2**16)) == 1.5


def test_the_delays_are_those_of_the_networks() -> None:
    command = str(pathlib.Path(sys.executable).with_name("vesica"))
    done = subprocess.run([command, "bench", "--help"], capture_output=True, text=True, check=True)
    row = re.compile(r"- ([a-z-]+): +.*?, ([0-9.]+) ms round trip")
    delays = {name: float(ms) / 2000 for name, ms in row.findall(done.stdout)}
    assert delays and {"loopback": 0, **delays} == tables_of_papers().ONE_WAY_DELAY_S
