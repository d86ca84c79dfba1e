"""The report on the papers says what was compared, on which machine, and why ours is more where it is."""

# The report has the sign of a product.
# ruff: noqa: RUF001

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import Any

import pytest

BENCH = pathlib.Path(__file__).parents[2] / "bench"


def module(name: str) -> Any:
    if str(BENCH) not in sys.path:
        sys.path.insert(0, str(BENCH))
    return importlib.import_module(name)


layout, machine, pages = module("tables.layout"), module("tables.machine"), module("tables.pages")
report_of, states, store_of = (
    module("tables.report"),
    module("tables.states"),
    module("tables.store"),
)
told, html = module("tables.told"), module("tables.html")
PAPERS = module("tables").PAPERS
PRINTED = told.read()


def reproduce() -> Any:
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("reproduce", str(BENCH / "reproduce"))
    spec = importlib.util.spec_from_loader("reproduce", loader)
    assert spec
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


def report(paper: str, part: str, *rows: list[Any], title: str = "", head: str = "") -> Any:
    """A report with one table of these rows."""
    made = report_of.Report()
    made.machine = "here"
    made.begin(paper, part)
    made.table(title, [head, *(f"column {i}" for i in range(1, len(rows[0])))], list(rows))
    return made


class Bench:
    """Finds nothing but what it is given."""

    runs, limit_s = 3, 60

    def __init__(self, found: Any = None) -> None:
        self.report = report_of.Report()
        self.found = found
        self.asked: list[tuple[Any, ...]] = []

    def once(self, *asked: Any) -> Any:
        self.asked.append(asked)
        return self.found

    def stashes(self, sizes: list[int], _tables: int) -> list[dict[str, int]]:
        return [{"n": n, "stash": 4} for n in sizes]


def test_the_whole_tables_of_the_papers_count() -> None:
    def count(*paths: str) -> int:
        return len(told.printed(PRINTED, paths))

    assert count("dcw13/table_3") == 72
    assert count("phasing/table_5") == 26
    # The sizes at the heads of columns are no figures.
    assert count("kmrs14") == 56
    assert count("gmrss21") == 78
    for name, paper in PAPERS.items():
        for part in paper.parts.values():
            assert not part.printed or told.printed(PRINTED, part.printed), (name, part.of)
    every = told.places({name: one for name, one in PRINTED.items() if name != "about"})
    have = {
        place
        for paper in PAPERS.values()
        for part in paper.parts.values()
        for place in told.printed(PRINTED, part.printed)
    }
    assert every == have, every - have


def test_gigabytes_have_a_thousand_megabytes() -> None:
    text = PRINTED["kmrs14"]["table_3"]["mb_size_hiding"]
    assert text == [7.4, 74.3, 619, 1200]


def test_a_state_counts_what_is_compared_against_the_whole_table() -> None:
    table = PRINTED["dcw13"]["table_3"]["80"]["gbf_pipelined"]
    pair = layout.Pair
    # The same figure twice is one figure; what was left out is none.
    made = report(
        "bloom", "table_3", ["a", pair(table[0], 0.1), pair(table[0], 0.2), pair(table[1], None)]
    )
    assert states.state(made, "bloom", "table_3") == "measured: 1 of the paper's 72 figures"
    whole = PRINTED["prrs24"]["permute_and_share_2^20_128_bit_s"]
    made = report("switching", "network", ["a", pair(whole, 1.0)])
    assert states.state(made, "switching", "network") == "measured: all 1 figures of the paper"
    made = report("switching", "network", ["a", pair(None, 1.0)])
    assert states.state(made, "switching", "network") == "measured: none of the paper's 1 figures"
    made = report("switching", "network", ["a", pair(whole, layout.Failed("exit code 7"))])
    assert states.state(made, "switching", "network") == "cells failed"


def test_points_at_the_sizes_of_a_plot_count() -> None:
    made = report("circuits", "figure_10", ["a", "1"])
    lines = {"SCS-WN": {2**7: 1.0, 2**11: 2.0, 2**20: 3.0}, "PWC": {2**6: 1.0}, "HE": {2**7: None}}
    made.figure("circuits-figure-10-time", "Figure 10: larger sets", lines)
    found = states.state(made, "circuits", "figure_10")
    assert "2 of 21 points at the sizes of the paper's plots" in found, found
    assert "other sizes" not in found
    made = report("bloom", "figure_4", ["a", "1"])
    made.figure("bloom-figure-4a", "Figure 4a", {"gbf_paper": {2**10: 1.0, 2**12: 2.0}})
    assert "2 of 6 points" in states.state(made, "bloom", "figure_4")
    assert "nothing at the sizes" in states.state(
        report("bloom", "figure_4", ["a", "1"]), "bloom", "figure_4"
    )


def test_an_estimate_that_was_not_made_is_not_called_one() -> None:
    aided = module("tables.aided")
    bench = Bench()
    bench.report.begin("helper", "fit")
    aided.fit(bench, PRINTED, 12)
    assert not bench.asked
    assert states.state(bench.report, "helper", "fit").startswith("not estimated")
    found = {"median": {"wall_s": 1.0}, "formula_bytes": 1}
    bench = Bench(found)
    bench.report.begin("helper", "fit")
    aided.fit(bench, PRINTED, 24)
    assert states.state(bench.report, "helper", "fit").startswith("estimated")


def test_what_is_typed_or_counted_is_not_called_measured() -> None:
    made = report_of.Report()
    made.begin("circuits", "table_2")
    made.table("hashes", ["a"], [["1"]], how="counted")
    made.table("operations", ["a"], [["1"]], how="calculated")
    made.shows(PRINTED["hek12"]["table_2"]["dl"]["hashes"])
    found = states.state(made, "circuits", "table_2")
    assert found == "calculated and counted: 1 of the paper's 11 figures", found


def test_the_distributed_garbled_bloom_filter_is_named_as_built() -> None:
    (why,) = [why for what, why in PAPERS["bloom"].left_out.items() if "Figure 6" in what]
    assert why.startswith("built") and "Spark" in why
    made = report("bloom", "table_3", ["a", "1"])
    row = next(line for line in pages.first_page(made, {}).splitlines() if "Figure 6" in line)
    assert "| built, on Apache Spark" in row and "not measured" not in row


def test_summaries_keep_competitors_and_newer_protocols_apart() -> None:
    table = PRINTED["gmrss21"]["table_3"]

    def pair(key: str, ours: float, kind: str) -> Any:
        return layout.Pair(table[key]["mb"][0], ours, kind=kind)

    rows = [
        ["a", pair("gmrss21", 1.0, layout.OWN)],
        ["b", pair("gmrss21", 4.0, layout.OWN)],
        ["c", pair("psty19", 0.1, layout.OTHERS)],
        ["d", pair("gmrss21", 0.1, layout.NEWER)],
        ["e", pair("gmrss21", 0.1, layout.UNLIKE)],
        ["f", layout.Pair(5, 7, whole=True)],
    ]
    line, failed = states.summary(report("switching", "table_3", *rows), "switching")
    assert not failed
    assert line.startswith("2 of the 78 figures that the paper prints are compared.")
    assert "own protocols: Vesica needs no more in 1 of 2 cells" in line
    assert "for comparison: Vesica needs no more in 1 of 1 cells" in line
    assert "Other protocols of Vesica next to its figures: Vesica needs no more in 1 of 1" in line


def test_each_row_of_other_authors_is_marked_as_theirs() -> None:
    phasing, bloom, switching = (
        module("tables.phasing"),
        module("tables.bloom"),
        module("tables.switching"),
    )
    own = {protocol for _, _, protocol, _, kind in phasing.ROWS if kind == layout.OWN}
    assert own == {"ot_phasing"}
    assert {kind for _, key, _, _, kind in phasing.ROWS if key is None} == {layout.NEWER}
    own = {bloom.kind_of("80", key, protocol) for _, key, protocol, _ in bloom.ROWS if key}
    assert own == {layout.OWN, layout.OTHERS, layout.NEWER}
    assert bloom.kind_of("80", "huang_java", "scs_wn") == layout.OTHERS
    assert bloom.kind_of("256", "gbf_pipelined", "gbf_paper") == layout.UNLIKE
    assert switching.kind_of("gmrss21_union") == layout.NEWER
    assert switching.kind_of("gmrss21_union_paper") == layout.OWN


def explained(paper: str, part: str, title: str, row: str, column: str, times: float) -> bool:
    table = report_of.Table(title, [title, column], [[row, layout.Pair(times, 1.0)]])
    return states.reason(paper, part, table, row, column, table.rows[0][1]) is not None


def test_the_cells_that_a_reader_found_below_the_papers_have_reasons() -> None:
    for case in [
        ("phasing", "table_8", "Table 8", "32 bit: OT-Phasing", "n = 2^8", 0.61),
        ("phasing", "table_8", "Table 8", "64 bit: OT-Phasing", "n = 2^8", 0.57),
        ("phasing", "table_8", "Table 8", "32 bit: OT-Phasing", "n = 2^16", 0.93),
        ("phasing", "table_7", "Table 7, LAN", "Server-aided", "n = 2^12", 0.045),
        ("phasing", "table_6", "Table 6: MB", "Yao: Circuit-Phasing", "n = 2^8", 0.93),
        ("phasing", "table_6", "Table 6: MB", "GMW: Circuit-Phasing", "n = 2^8", 0.92),
        ("phasing", "table_6", "Table 6: MB", "GMW: SCS", "n = 2^8", 0.75),
        ("helper", "table_3", "Table 3", "MB: server_aided_size_hiding", "100,000", 0.55),
        ("switching", "table_3", "MB", "the paper's / gmrss21_cardinality_paper", "n", 0.74),
        ("switching", "table_4", "MB", "the paper's / gmrss21_private_id_paper", "n", 0.78),
        ("switching", "table_2", "MB", "the paper's / gmrss21_union_paper", "n", 0.94),
        ("switching", "table_4", "MB", "BKM+20 / private_id_oprf", "n = 2^12", 0.62),
        ("circuits", "figure_10", "", "SCS-HE over SCS-WN: paper over 7", "n = 2^10", 0.29),
    ]:
        assert explained(*case), case
    for case in [
        # Worse than what the reason says, another row, another size.
        ("phasing", "table_8", "Table 8", "32 bit: OT-Phasing", "n = 2^8", 0.4),
        ("phasing", "table_8", "Table 8", "DH-based ECC", "n = 2^8", 0.61),
        ("phasing", "table_6", "Table 6: MB", "GMW: SCS, silent transfers", "n = 2^8", 0.75),
        ("phasing", "table_8", "Table 8", "32 bit: OT-Phasing", "n = 2^12", 0.95),
        ("switching", "table_3", "Seconds", "the paper's / gmrss21_cardinality_paper", "n", 0.8),
        ("switching", "table_3", "MB", "the paper's / gmrss21_cardinality", "n", 0.8),
    ]:
        assert not explained(*case), case


def test_a_cell_below_the_papers_has_its_reason_or_is_listed_as_unexplained() -> None:
    mb = PRINTED["gmrss21"]["table_3"]["gmrss21"]["mb"]
    rows = [
        ["the paper's / gmrss21_cardinality_paper", layout.Pair(mb[0], mb[0] / 0.85)],
        ["the paper's / gmrss21_cardinality", layout.Pair(mb[0], mb[0] / 0.5)],
        ["equal in three digits", layout.Pair(1.0, 1.001)],
    ]
    made = report("switching", "table_3", *rows, title="MB of 10^6 bytes", head="Table 3")
    below = states.below(made)
    assert [bool(one.reason) for one in below] == [True, False]
    first, page = pages.first_page(made, {}), pages.page(made, "switching")
    unexplained = first.split("## Unexplained")[1].split("## The papers")[0]
    assert "gmrss21_cardinality, column 1: 2.93 / 5.86 (0.5×)" in unexplained
    assert "cardinality_paper" not in unexplained
    everything = first.split("## All cells below 1×")[1]
    assert "its own formula" in everything and "2.93 / 3.45 (0.85×)" in everything
    assert re.search(r"2\.93 / 3\.45 \(0\.85×\) <sup>a</sup>", page)
    assert re.search(r"2\.93 / 5\.86 \(0\.5×\) <sup>unexplained</sup>", page)
    assert "\n* a: The paper prints fewer bytes than its own formula gives" in page
    shown = html.page(made, {}, {})
    assert "Unexplained</h2>" in shown and "<sup>a</sup>" in shown
    refused = reproduce().why_not_published(Store(), below, [])
    assert refused == [
        "1 cells below 1× have no reason; add one next to the table, in bench/tables"
    ]


def test_the_first_page_has_a_line_for_each_table_that_leads_to_it() -> None:
    made = report("switching", "table_3", ["a", "1"])
    files = pages.pages(made, {"machine": "a machine"})
    first = files["README.md"]
    assert "* machine: a machine" in first
    for name, paper in PAPERS.items():
        for part in paper.parts.values():
            lines = [line for line in first.splitlines() if f"[{part.of}]({name}.md#" in line]
            assert len(lines) == 1, (name, part.of)
            where = re.search(r"\.md#([^)]*)\)", lines[0])
            headings = re.findall(r"^## (.*)$", files[f"{name}.md"], re.MULTILINE)
            assert where and where[1] in [pages.anchor(heading) for heading in headings]


class Store:
    """What a report was made from."""

    def __init__(self, *used: dict[str, Any]) -> None:
        self.used = dict(enumerate(used))
        self.left_out = 0


def test_a_busy_run_is_not_published() -> None:
    refusals = reproduce().why_not_published
    quiet = {"command": ["vesica"], "others_before": 0.1, "others_during": 0.2}
    busy, unknown = {**quiet, "others_during": 0.5}, {**quiet, "others_before": None}
    counted = {"command": ["vesica-bench", "circuits"], "others_before": 2, "others_during": 2}
    assert refusals(Store(quiet, counted), [], []) == []
    (why,) = refusals(Store(quiet, busy, unknown, {"command": ["vesica"]}), [], [])
    assert why.startswith("3 of 4 measurements were made while others used the machine")
    left_out = Store(quiet)
    left_out.left_out = 2
    assert len(refusals(left_out, [], ["a cell failed"])) == 2


def test_single_runs_single_papers_and_other_builds_are_not_published(
    tmp_path: pathlib.Path,
) -> None:
    for options, program, why in [
        (["--quick"], "target/dist/vesica", "3 runs of a cell"),
        (["--papers", "bloom"], "target/dist/vesica", "all papers"),
        ([], "target/release/vesica", "the build of `make dist`"),
        (["--out", str(BENCH.parent / "docs/reproduction")], "target/dist/vesica", "--publish"),
    ]:
        command = [sys.executable, str(BENCH / "reproduce"), "--publish", str(tmp_path), *options]
        env = {**os.environ, "VESICA": program}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and why in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_cell_waits_until_others_leave_the_machine() -> None:
    loads, slept = [1.5, 0.9, 0.1, 3.0], []
    found = machine.wait_until_quiet(600, (), lambda *_: loads.pop(0), slept.append)
    assert (found, loads, len(slept)) == (0.1, [3.0], 2)
    # Without time to wait it says how busy the machine is; an unknown load is not waited for.
    assert machine.wait_until_quiet(0, (), lambda *_: 1.5, slept.append) == 1.5
    assert machine.wait_until_quiet(600, (), lambda *_: None, slept.append) is None
    assert len(slept) == 2


def test_the_work_of_others_is_that_of_all_without_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = machine.TICKS_A_SECOND
    # Waiting and interrupts are nobody's work; stolen time is another machine's.
    line = f"cpu {1 * ticks} {2 * ticks} {3 * ticks} 9999 8888 7777 6666 {4 * ticks} 0 0"
    assert machine.busy_s(f"{line}\ncpu0 1") == 10
    assert machine.busy_s("something else") is None
    now = {"all": 100.0, "own": 50.0, "at": 0.0}
    monkeypatch.setattr(machine, "busy_s", lambda: now["all"])
    monkeypatch.setattr(machine, "own_s", lambda _processes: now["own"])
    monkeypatch.setattr(machine.time, "monotonic", lambda: now["at"])
    watch = machine.Watch()
    now |= {"all": 119.0, "own": 65.0, "at": 8.0}
    assert watch.cores() == 0.5


def test_our_own_processes_are_not_others() -> None:
    before = machine.own_s()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert machine.own_s() > before
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as server:
        try:
            until = time.monotonic() + 20
            while machine.own_s([server.pid]) < machine.own_s() + 0.05:
                assert time.monotonic() < until, "its work is not counted"
                time.sleep(0.05)
        finally:
            server.kill()


def record(command: str, **more: Any) -> dict[str, Any]:
    made = {"command": ["vesica", command], "turn": 0, "build": "ours", "limit_s": None}
    made |= {"status": 0, "output": "kept", "started": 1.0, "seconds": 1.0}
    return made | {"others_before": 0.0, "others_during": 0.0} | more


def recalled(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A store with a build that prints nothing in place of the program."""
    monkeypatch.setattr(store_of, "digest", lambda _program: "ours")
    monkeypatch.setattr(store_of, "code", lambda: "this code")
    monkeypatch.setattr(store_of.machine, "name", lambda: "here")
    monkeypatch.setattr(store_of, "run_whole", lambda _command, _limit_s: (0, "measured"))
    monkeypatch.setattr(store_of.machine, "wait_until_quiet", lambda _wait_s, _servers: 0.0)
    return store_of.Store(path, **options)


def test_another_machine_of_the_same_code_keeps_its_name(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "measurements.jsonl"
    there = {"machine": "there", "build": "theirs", "code": "this code"}
    lines = [
        record("own", machine="here"),
        record("same", **there),
        record("changed", **{**there, "code": "other code"}),
        record("unknown", **{**there, "code": None}),
        record("rebuilt", machine="here", build="older", code="this code"),
        record("both", machine="here", output="of here"),
        record("both", **there),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    store = recalled(path, monkeypatch)
    found = {}
    for command in ["own", "same", "changed", "unknown", "rebuilt", "both"]:
        output = store.run([store_of.VESICA, command])[1]
        found[command] = (output, store.last_machine)
    assert found == {
        "own": ("kept", "here"),
        "same": ("kept", "there"),
        "changed": ("measured", "here"),
        "unknown": ("measured", "here"),
        "rebuilt": ("measured", "here"),
        "both": ("of here", "here"),
    }
    made = report("switching", "table_3", ["a", "1"])
    for one in ("here", "there"):
        made.measured_on(one)
    assert "Measured on: here; there." in pages.page(made, "switching")
    script = reproduce()
    monkeypatch.setattr(script, "VESICA", sys.executable)
    facts = script.facts({"largest": {"bloom": 4, "helper": 5}, "limit": 1, "runs": 3}, store)
    assert facts["other machines"] == "there: 1 runs"
    assert facts["sets"].startswith("up to 2^4 (bloom), 2^5 (helper) items, ")


def test_what_a_busy_machine_measured_is_measured_again_to_publish(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "measurements.jsonl"
    lines = [record("quiet"), record("busy", others_during=1.0)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for only_quiet, expected in [(False, ["kept", "kept"]), (True, ["kept", "measured"])]:
        store = recalled(path, monkeypatch, only_quiet=only_quiet)
        commands = [[store_of.VESICA, name] for name in ("quiet", "busy")]
        assert [store.run(command)[1] for command in commands] == expected
    # The new measurement is in the file.
    last = json.loads(path.read_text().splitlines()[-1])
    assert last["machine"] == "here" and last["code"] == "this code"
    assert {"others_before", "others_during"} <= last.keys()


def test_changed_source_text_has_no_digest(tmp_path: pathlib.Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init")
    assert store_of.code(tmp_path) is None
    (tmp_path / "Cargo.toml").write_text("a")
    (tmp_path / "README.md").write_text("a")
    git("add", ".")
    git("commit", "-m", "first")
    first = store_of.code(tmp_path)
    (tmp_path / "README.md").write_text("b")
    assert first and store_of.code(tmp_path) == first
    (tmp_path / "Cargo.toml").write_text("b")
    assert store_of.code(tmp_path) is None
    git("commit", "--all", "-m", "second")
    assert store_of.code(tmp_path) not in (None, first)


def test_another_network_takes_as_long_but_for_the_way() -> None:
    measure = module("tables.measure")
    bench = object.__new__(measure.Bench)
    bench.known, bench.limit_s, bench.memory = {"dh"}, 20, 1e12

    def cell(log: int, network: str) -> Any:
        return measure.Cell("dh", 2**log, 2**log, 128, network, 1)

    peaks = {"peak_rss_bytes_sender": 1, "peak_rss_bytes_receiver": 1}
    small = {**peaks, "wall_s": 2.0, "flights": 5, "bytes_total": 10**6}
    large = {**peaks, "wall_s": 1.0, "flights": 25, "bytes_total": 10**7}
    bench.cells = {cell(12, "wan"): small}
    # From the smaller set alone, all but the flights is multiplied, and it is left out.
    assert bench.expected_s(cell(16, "wan")) is None
    bench.cells[cell(16, "lan")] = large
    expected = 1.0 + 25 * (40e-3 - 10e-6) + 8e7 * (1 / 50e6 - 1 / 10e9)
    assert abs(bench.expected_s(cell(16, "wan")) - expected) < 1e-9
    # A faster network takes no less than computing does.
    bench.cells = {cell(16, "wan"): {**large, "wall_s": 3.0}}
    assert bench.expected_s(cell(16, "lan")) == 3.0
    bench.limit_s = 2
    assert bench.expected_s(cell(16, "lan")) is None


def test_stashes_are_calculated_and_show_what_the_paper_counts_too_many() -> None:
    hashing = module("tables.hashing")
    bench = Bench()
    bench.report.begin("phasing", "stashes")
    hashing.stashes(bench, PRINTED, 8)
    of = ("phasing", "stashes")
    assert states.state(bench.report, *of).startswith("calculated: all 33 figures of the paper")
    table_3, table_4 = bench.report.tables(of)
    rows = {row[0]: row[1:] for row in table_3.rows}
    assert rows["s = 4"][0] == "407 / 386.9"
    more = [int(one.replace(",", "")) for one in rows["the paper counts too many, s = 1"]]
    assert all(120_000 < one < 130_000 for one in more), more
    rows = {row[0]: row[1:] for row in table_4.rows}
    assert [str(cell) for cell in rows["the paper / what suffices"]] == [
        "12 / 11",
        "6 / 7",
        "= 4",
        "3 / 2",
        "= 2",
    ]
    assert rows["the paper's is too small once in"][1:3] == ["2^36.6", "2^45.7"]
    (figure,) = bench.report.figures()
    # Each line has all exact sizes; two counts make no line of the paper's.
    assert all(len(points) == 5 for points in figure.ours.values())
    assert 2**24 in figure.paper["paper, s = 3"]
    assert max(figure.paper["paper, s = 4"]) == 2**12


def test_the_steps_of_figure_4b_are_the_papers() -> None:
    def phases(*found: tuple[str, float]) -> list[dict[str, object]]:
        return [{"name": name, "wall_s": wall_s} for name, wall_s in found]

    receiver = [("filter", 0.1), ("choices/filter", 0.2), ("strings", 0.9), ("strings/query", 0.3)]
    found = {
        "wall_s": 2.0,
        "phases_sender": phases(("filter", 0.1), ("strings/filter", 0.5), ("setup", 0.2)),
        "phases_receiver": phases(*receiver),
    }
    steps = module("tables.bloom").steps(found)
    rounded = {
        name: tuple(time and round(time, 6) for time in times) for name, times in steps.items()
    }
    assert rounded == {
        "building the Bloom filter": (None, 300),
        "building the garbled Bloom filter, with its pads": (600, None),
        "transfers, and waiting": (1400, 1400),
        "query": (None, 300),
        "total": (2000, 2000),
    }


def test_table_12_has_the_papers_phases() -> None:
    phasing = module("tables.phasing")

    class Measured(Bench):
        def measure(self, *_cell: Any) -> Any:
            spans = {"hashing": 1, "setup": 2, "masks": 9, "masks/extension": 4, "tags": 3}
            phases = [{"name": name, "wall_s": wall_s} for name, wall_s in spans.items()]
            return {"wall_s": 20, "phases_sender": phases, "phases_receiver": phases}

    bench = Measured()
    bench.report.begin("phasing", "table_12")
    phasing.table_12(bench, PRINTED, 24)
    assert states.state(bench.report, "phasing", "table_12") == (
        "measured: all 39 figures of the paper"
    )
    (table,) = bench.report.tables(("phasing", "table_12"))
    receiver = next(row for row in table.rows if row[0] == "receiver, 32 bit")
    ours = [cell.ours for cell in receiver[1:]]
    assert ours == [1000, 2000, 4000, 5000, 3000, 20000]
    assert [cell.paper for cell in receiver[1:]] == [5580, 123, 23133, 585, 4762 + 7886, 46645]
    # At other sizes there is nothing to compare with.
    bench = Measured()
    bench.report.begin("phasing", "table_12")
    phasing.table_12(bench, PRINTED, 8)
    assert "none of the paper's 39" in states.state(bench.report, "phasing", "table_12")
