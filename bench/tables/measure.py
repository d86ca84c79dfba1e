"""Measures each cell once, with `vesica bench` and `vesica-bench`."""

import dataclasses
import json
import math
import os
import pathlib
import subprocess
import sys

from tables.layout import Failed, size_name

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# Tests measure a build that is there anyway.
VESICA = pathlib.Path(os.environ.get("VESICA", TARGET / "dist" / "vesica"))
PRIMITIVES = pathlib.Path(os.environ.get("VESICA_BENCH", TARGET / "dist" / "vesica-bench"))

PARTIES = ["sender", "receiver"]

# Operations whose protocols have a network of switches.
SWITCHED = ["cardinality", "union", "private-id"]

# A run that is likely to take longer runs only once.
LONG_S = 30


@dataclasses.dataclass(frozen=True)
class Cell:
    """The parameters of one measurement."""

    protocol: str
    sender: int
    receiver: int
    item_bits: int
    network: str
    threads: int
    common: int | None = None
    both: bool = False
    max_matches: int | None = None
    operation: str = "intersection"

    def kind(self):
        """Cells of one kind differ only in size."""
        bits = None if self.protocol.startswith("bwa") else self.item_bits
        return (self.protocol, bits, self.network, self.threads, self.max_matches is None, self.operation)

    def is_equal(self):
        return self.sender == self.receiver

    def work(self):
        """The quantity with which its time grows."""
        both = self.sender + self.receiver
        if self.protocol.startswith("bwa"):
            return 2**self.item_bits
        if self.protocol.startswith("pwc"):
            return self.sender * self.receiver
        if self.protocol.startswith("scs") or self.operation in SWITCHED:
            return both * max(1, math.log2(both))
        return both

    def options(self):
        options = ["--size", f"{size_name(self.sender)},{size_name(self.receiver)}"]
        options += ["--item-bits", self.item_bits, "--network", self.network, "--threads", self.threads]
        if self.operation != "intersection":
            options += ["--operation", self.operation]
        if self.both:
            options.append("--both")
        for name, value in [("--common", self.common), ("--max-matches", self.max_matches)]:
            if value is not None:
                options += [name, value]
        return options


class Bench:
    """Measures cells, each once, and stores the results."""

    def __init__(self, limit_s, runs):
        self.limit_s = limit_s
        self.runs = runs
        self.known = {row["id"] for row in json.loads(run([VESICA, "protocols", "--json"]))}
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.memory = 0.8 * memory
        self.cells = {}

    def measure(self, protocol, sender, receiver, bits, network, threads=1, **question):
        """The medians of one cell, None if it is skipped, or why it `Failed`; the other cells go on."""
        cell = Cell(protocol, sender, receiver, bits, network, threads, **question)
        if cell not in self.cells:
            expected_s = self.expected_s(cell)
            self.cells[cell] = None if expected_s is None else self.run(cell, expected_s)
        return self.cells[cell]

    def expected_s(self, cell):
        """An estimate from smaller cells of the same kind, as cells are in ascending order; None if it is too
        long."""
        if cell.protocol not in self.known:
            return None
        smaller = [
            other for other in self.cells if other.kind() == cell.kind() and other.work() < cell.work()
        ]
        if any(self.cells[other] is None and other.is_equal() == cell.is_equal() for other in smaller):
            return None
        smaller = [other for other in smaller if self.cells[other]]
        if not smaller:
            return 0
        # The nearest one: fixed costs, mainly flights, are a larger part of smaller ones.
        nearest = max(smaller, key=Cell.work)
        found = self.cells[nearest]
        # Half of the time of tiny runs is fixed costs.
        if nearest.sender + nearest.receiver <= 2**12 and found["wall_s"] < 1:
            return 0
        times = cell.work() / nearest.work()
        expected_s = times * found["wall_s"]
        peak = sum(found[f"peak_rss_bytes_{party}"] for party in PARTIES)
        size_times = (cell.sender + cell.receiver) / (nearest.sender + nearest.receiver)
        if expected_s > 1.5 * self.limit_s or size_times * peak > self.memory:
            return None
        return expected_s

    def run(self, cell, expected_s):
        once = max(cell.sender, cell.receiver) >= 2**22 or expected_s > LONG_S
        command = [VESICA, "bench", cell.protocol, *cell.options()]
        command += ["--runs", 1 if once else self.runs, "--json"]
        print(f"  … {' '.join(str(part) for part in command[1:])}", file=sys.stderr, flush=True)
        command = [str(part) for part in command]
        try:
            limit_s = 3 * self.limit_s * self.runs
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            return Failed(f"exit code {done.returncode}")
        result = json.loads(done.stdout)
        if not result["result_ok"]:
            return Failed("a wrong result")
        if not bytes_are_right(result):
            return Failed("other bytes than the formula says")
        found = result["median"]
        # With a helper both parties are alike, and the figures are those of the party with more.
        peaks = {f"peak_rss_bytes_{party}": found["peak_rss_bytes"] for party in PARTIES}
        return {**peaks, **found, "flights": result.get("flights")}

    def failures(self):
        """What failed, a line each."""
        return [
            f"{cell.protocol} {' '.join(str(one) for one in cell.options())}: {found.reason}"
            for cell, found in self.cells.items()
            if isinstance(found, Failed)
        ]


def bytes_are_right(result):
    """Whether the payload is what the catalogue's formula says."""
    formula, sent = result["formula_bytes"], result["median"]["bytes_total"]
    if "copies" in result:
        # With a helper the formula counts what goes into slots. Requests and letters come on top.
        return formula <= sent
    return sent == formula or (sent < formula and result["bytes_depend_on_result"])


def count_gates(bits, sizes, only):
    """The gates of circuits, by (circuit, engine, n)."""
    command = [PRIMITIVES, "circuits", "--item-bits", bits, "--only", only]
    command += ["--sizes", ",".join(str(n) for n in sizes)]
    return {(c["circuit"], c["engine"], c["n"]): c for c in json.loads(run(command))}


def primitives(only, runs):
    """The measurements of `vesica-bench` under these names."""
    return json.loads(run([PRIMITIVES, "primitives", "--only", only, "--runs", runs]))["figures"]


def switching(form, n, bits, runs):
    """Permute and share: `n` rows through the network of switches, both parties in one process, one thread each."""
    command = [PRIMITIVES, "switching", "--form", form, "--inputs", n, "--bits", bits, "--runs", runs]
    return json.loads(run(command))


def run(command, timeout=None):
    """The standard output of a command; its errors go to the terminal."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=timeout)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}")
    return done.stdout
