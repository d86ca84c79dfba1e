"""Measures each cell once, with `vesica bench` and `vesica-bench`."""

import dataclasses
import json
import math
import os
import pathlib
import subprocess

import tables
from tables import told
from tables.layout import Failed, size_name
from tables.report import Report
from tables.store import PRIMITIVES, VESICA, Store

PARTIES = ["sender", "receiver"]

# Operations whose protocols have a network of switches.
SWITCHED = ["cardinality", "union", "private-id"]

# Seconds that a message takes one way over each network of `vesica bench`.
ONE_WAY_DELAY_S = {
    "loopback": 0,
    "lan": 10e-6,
    "gigabit": 500e-6,
    "fast-ethernet": 500e-6,
    "transatlantic": 48e-3,
    "wan": 40e-3,
}

# Bits that each network moves in a second; the loopback has no limit.
BITS_A_SECOND = {
    "loopback": math.inf,
    "lan": 10e9,
    "gigabit": 1e9,
    "fast-ethernet": 100e6,
    "transatlantic": 400e6,
    "wan": 50e6,
}

# A run that is likely to take longer runs only once.
LONG_S = 60

# A command ends after this many times as long as each of its runs may be expected to take.
TIMES_AS_LONG = 3

# Runs of the paper's table for unequal sets fail now and then, as the paper's do: once in 56 at 2^8 items.
TRIES = {"ot_phasing_paper": 4}


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


def measure(bench, paper, part, largest):
    """Measures a part of a paper and adds it to the report. Returns why it could not, or None; does not raise, so the
    other parts are measured."""
    papers = told.read()
    bench.report.begin(paper, part)
    try:
        tables.PAPERS[paper].parts[part].measure(bench, papers, largest)
        return None
    except Unmeasured as error:
        why, failed = str(error), error.failed
    except Exception as error:
        why, failed = f"{type(error).__name__}: {error}", True
    if failed:
        bench.failed_parts.append(f"{part}: {why}")
    bench.report.reasons[paper, part] = why
    return why


class Unmeasured(Exception):
    """A part needs the output of a command that failed, or that did not start because the time was up."""

    def __init__(self, command, failed):
        super().__init__(f"{command} failed" if failed else f"{command} was left out, as the time was up")
        self.failed = failed


class Bench:
    """Measures each cell once, and has the report that tables and figures go to."""

    def __init__(self, limit_s, runs, store=None):
        """`limit_s`: how long one run may take; `runs`: those of a cell, whose median counts."""
        self.limit_s = limit_s
        self.runs = runs
        self.store = store or Store()
        listed = subprocess.run([VESICA, "protocols", "--json"], check=True, stdout=subprocess.PIPE)
        self.known = {row["id"] for row in json.loads(listed.stdout)}
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.memory = 0.8 * memory
        self.cells = {}
        self.with_helper = []
        self.failed_parts = []
        self.report = Report()
        self.report.machine = self.store.machine

    def measure(self, protocol, sender, receiver, bits, network, threads=1, **question):
        """The medians of one cell, None if it is skipped, or why it `Failed`, so that the other cells are
        measured."""
        cell = Cell(protocol, sender, receiver, bits, network, threads, **question)
        if cell not in self.cells:
            expected_s = self.expected_s(cell)
            self.cells[cell] = None if expected_s is None else self.run(cell, expected_s)
        elif found := self.cells[cell]:
            self.report.measured_on(found["machine"])
        return self.cells[cell]

    def expected_s(self, cell):
        """An estimate from smaller cells of the same kind, as cells are in ascending order, or from the same cell over
        another network; None if it is too long."""
        if cell.protocol not in self.known:
            raise ValueError(f"no protocol is called {cell.protocol}")
        if (elsewhere_s := self.expected_from_other_network_s(cell)) is not None:
            return elsewhere_s if elsewhere_s <= self.limit_s else None
        smaller = [other for other in self.cells if other.kind() == cell.kind() and other.work() < cell.work()]
        if any(self.cells[other] is None and other.is_equal() == cell.is_equal() for other in smaller):
            return None
        smaller = [other for other in smaller if self.cells[other]]
        if not smaller:
            return 0
        # The nearest one: fixed costs are a larger part of smaller ones.
        nearest = max(smaller, key=Cell.work)
        found = self.cells[nearest]
        # Half of the time of tiny runs is fixed costs.
        if nearest.sender + nearest.receiver <= 2**12 and found["wall_s"] < 1:
            return 0
        # The delay of messages does not depend on the number of items; all other time grows with the work.
        under_way_s = min((found["flights"] or 0) * ONE_WAY_DELAY_S[cell.network], found["wall_s"])
        times = cell.work() / nearest.work()
        expected_s = under_way_s + times * (found["wall_s"] - under_way_s)
        peak = sum(found[f"peak_rss_bytes_{party}"] for party in PARTIES)
        size_times = (cell.sender + cell.receiver) / (nearest.sender + nearest.receiver)
        if expected_s > self.limit_s or size_times * peak > self.memory:
            return None
        return expected_s

    def expected_from_other_network_s(self, cell):
        """Computing takes as long again; messages and bytes have another way. None if no other network is known."""
        found = [
            (other.network, known)
            for other, known in self.cells.items()
            if known and dataclasses.replace(other, network=cell.network) == cell
        ]
        on_way_s = lambda network, one: (
            (one["flights"] or 0) * ONE_WAY_DELAY_S[network] + 8 * one["bytes_total"] / BITS_A_SECOND[network]
        )
        estimates = [
            one["wall_s"] + max(0, on_way_s(cell.network, one) - on_way_s(network, one)) for network, one in found
        ]
        return min(estimates, default=None)

    def run(self, cell, expected_s):
        once = expected_s > LONG_S
        command = [VESICA, "bench", cell.protocol, *cell.options()]
        command += ["--runs", 1 if once else self.runs, "--json"]
        result = self.result(command, TIMES_AS_LONG * self.limit_s * self.runs)
        if not result:
            return result
        found = result["median"]
        # With a helper both parties are alike, and the figures are those of the party with more.
        peaks = {f"peak_rss_bytes_{party}": found["peak_rss_bytes"] for party in PARTIES}
        more = {"flights": result.get("flights"), "bytes_of_all": bytes_of_all(result), "machine": result["machine"]}
        return {**peaks, **found, **more}

    def ask(self, command, limit_s=None, turn=0):
        """As `Store.run`; the report names the machine."""
        status, output = self.store.run(command, limit_s, turn)
        if status == 0:
            self.report.measured_on(self.store.last_machine)
        return status, output

    def result(self, command, limit_s, turn=0):
        """What `vesica bench` reports; None if it is left out, or why it `Failed`."""
        for _ in range(TRIES.get(command[2], 1)):
            status, output = self.ask(command, limit_s, turn)
            if not status:
                break
        if status is None:
            return None
        why = f"exit code {status}"
        if status == 0:
            result = json.loads(output)
            if result["result_ok"] and bytes_are_right(result):
                return {**result, "machine": self.store.last_machine}
            why = "other bytes than the formula says" if result["result_ok"] else "a wrong result"
            self.store.forget(command, turn)
        return Failed(why)

    def once(self, protocol, n, options, turn):
        """One run with a helper, whole; None if it is left out, or why it `Failed`."""
        command = [VESICA, "bench", protocol, "--size", n, "--runs", 1, "--json", *options]
        result = self.result(command, TIMES_AS_LONG * self.limit_s, turn)
        if result:
            self.with_helper.append(result)
        elif result is not None:
            named = " ".join(str(part) for part in [protocol, "--size", n, *options])
            self.failed_parts.append(f"{named}: {result.reason}")
        return result

    def output(self, command):
        """What a command prints that takes no time worth a limit."""
        status, output = self.ask(command)
        if status != 0:
            shown = [pathlib.Path(command[0]).name, *command[1:]]
            raise Unmeasured(" ".join(str(part) for part in shown), failed=status is not None)
        return output

    def count_gates(self, bits, sizes, only):
        """The gates of circuits, by (circuit, engine, n)."""
        command = [PRIMITIVES, "circuits", "--item-bits", bits, "--only", only]
        command += ["--sizes", ",".join(str(n) for n in sizes)]
        return {(c["circuit"], c["engine"], c["n"]): c for c in json.loads(self.output(command))}

    def count_group_operations(self, counted, n=1):
        """The operations in groups and modulo large numbers of a run with `n` items each."""
        return json.loads(self.output([PRIMITIVES, "public-key", counted, "--items", n]))

    def primitives(self, only, largest):
        """The measurements of `vesica-bench` under these names, of small sizes where sets are small."""
        command = [PRIMITIVES, "primitives", "--only", only, "--runs", self.runs]
        command += ["--quick"] * (largest < 16)
        return json.loads(self.output(command))["figures"]

    def stashes(self, sizes, tables):
        """What `tables` random cuckoo tables of each size needed, and what runs have."""
        command = [PRIMITIVES, "stashes", "--sizes", ",".join(str(n) for n in sizes)]
        command += ["--tables", tables, "--threads", os.cpu_count()]
        return json.loads(self.output(command))

    def loads(self, bins, tables):
        """How full tables with two to five hash functions were when an item did not fit, by the number of functions."""
        output = self.output([PRIMITIVES, "loads", "--bins", bins, "--tables", tables])
        return {one["functions"]: one for one in json.loads(output)}

    def table_of_phasing(self, functions, bins_per_item, compared, bits, sender, receiver, network):
        """OT-Phasing with a table that no row of the catalogue has, both parties in one process, one thread each; None if
        it is left out, or why it `Failed`."""
        command = [PRIMITIVES, "phasing", "--functions", functions, "--bins-per-item", bins_per_item]
        command += ["--compared", compared, "--item-bits", bits, "--sizes", f"{sender},{receiver}"]
        command += ["--network", network, "--runs", self.runs]
        status, output = self.ask(command, TIMES_AS_LONG * self.limit_s * self.runs)
        if status == 0:
            return json.loads(output)
        if status is None:
            return None
        failed = Failed(f"exit code {status}")
        self.failed_parts.append(f"{' '.join(str(part) for part in command[1:])}: {failed.reason}")
        return failed

    def switching(self, form, n, bits):
        """Permute and share: `n` rows through the network of switches, both parties in one process, one thread each."""
        command = [PRIMITIVES, "switching", "--form", form, "--inputs", n, "--bits", bits, "--runs", self.runs]
        return json.loads(self.output(command))

    def failures(self):
        """What failed, a line each."""
        return [
            f"{cell.protocol} {' '.join(str(one) for one in cell.options())}: {found.reason}"
            for cell, found in self.cells.items()
            if isinstance(found, Failed)
        ] + self.failed_parts


def bytes_of_all(result):
    """The payload that all parties together exchanged: between two the same as each has, with a helper the sum."""
    if not result["beside_formula_bytes"]:
        return result["median"]["bytes_total"]
    parties = result["runs"][0]["parties"]
    return sum(party["payload_sent"] + party["payload_received"] for party in parties)


def bytes_are_right(result):
    """Whether the payload is what the catalogue's formula says."""
    formula, sent = result["formula_bytes"], result["median"]["bytes_total"]
    overhead = result["beside_formula_bytes"]
    if overhead:
        # Requests and replies: some kilobytes, and some bytes for each part of a list.
        return formula <= sent and overhead <= 20_000 + formula / 100
    return sent == formula or (sent < formula and result["bytes_depend_on_result"])
