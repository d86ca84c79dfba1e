"""The tables of "Phasing" on hashing: 1 to 4, and Figure 2."""

import functools
import importlib.util
import math
import statistics

from tables.layout import MB, NEWER, Pair, number, pair_of_counts
from tables.store import ROOT

# Bins beyond those that a table of the measured utilisation has. At it, placing fails in half of the tables of that size;
# larger tables are nearer to the limit for infinitely many bins, and fail less often above it.
ROOM = 1.02

# The rows of the catalogue that are added to Table 1, and why.
ADDED_TO_TABLE_1 = [
    ("ot_phasing_paper", "extra: the paper's table (3, or 2 where n_2 is small)"),
    ("ot_phasing", "extra: ours, which fails once in 2^40"),
]


def table_1(bench, papers, largest):
    """Utilisation and bytes for two to five hash functions: the paper calculates them, here they are measured."""
    table = papers["phasing"]["table_1"]
    log, bits, small = min(20, largest), 32, 2**8
    n = 2**log
    # Tables of 2^16 bins are near the limit for infinitely many: within a hundredth for three functions or more.
    loads = bench.loads(2 ** min(16, max(10, largest)), 11)
    rows = []
    for h, (used, equal, unequal) in table.items():
        load = loads[int(h)]["utilisation"]
        bins_per_item = round(ROOM / load, 3)
        run = lambda n_2: bench.table_of_phasing(int(h), bins_per_item, "remainder", bits, n, n_2, "loopback")
        found = {n_2: run(n_2) for n_2 in [n, small]}
        row = [h, f"{number(used)} / {number(100 * load)}"]
        bench.report.shows(used)
        row.append(f"{number(100 / used)} / {number(found[n] and found[n]['bins'] / n)}")
        row.append(f"{h} / {number(found[n] and found[n]['masks'] / n)}")
        for n_2, told in [(n, equal), (small, unequal)]:
            row.append(Pair(told if log == 20 else None, megabytes(found[n_2])))
        # The paper's formula, from its own columns: 2·κ bits for each of two characters of a bin, ℓ bits a mask.
        row.append(number(2 * 128 * 2 * 100 / used * 2**20 / 8 / MB + int(h) * 80 * 2**20 / 8 / MB))
        rows.append(row)
    for protocol, name in ADDED_TO_TABLE_1:
        found = [bench.measure(protocol, n, n_2, bits, "gigabit") for n_2 in [n, small]]
        rows.append([name, "", "", "", *[Pair(None, megabytes(one), kind=NEWER) for one in found], ""])
    header = ["Table 1: h", "utilisation %", "OTs in n_2·t", "masks in n_1"]
    header += [f"n_1 = n_2 = 2^{log}", f"n_2 = 2^8, n_1 = 2^{log}", "the formula, n_1 = n_2 = 2^20"]
    bench.report.table("The paper / ours; MB of 2^20 bytes for items of 32 bits (times less)", header, rows)


def megabytes(found):
    return found and found["bytes_total"] / MB


def table_2(bench, papers, largest):
    """Sizes of bins by the paper's two equations, and by the bound that both parties use here."""
    paper = papers["phasing"]["table_2"]
    logs = [12, 16, 20, 24]
    needed = {one["n"]: one for one in bench.stashes([2**log for log in logs], 0)}
    rows = [
        ["Eq. (5)"] + [pair_of_counts(told, equation_5(2**log)) for told, log in zip(paper["5"], logs)],
        ["Eq. (6)"] + [pair_of_counts(told, equation_6(2**log)) for told, log in zip(paper["6"], logs)],
        ["Circuit-Phasing here"] + [f"{needed[2**log]['max_load']}" for log in logs],
    ]
    header = ["Table 2"] + [f"n = 2^{log}" for log in logs]
    title = "Items in the fullest bin: the paper / its equation calculated again, or = where they are equal"
    bench.report.table(title, header, rows, how="calculated")


def equation_5(n):
    """The smallest k with n·(2e/k)^k·(1/2.4)^(k − 1) ≤ 2^-40."""
    log = lambda k: math.log2(n) + k * math.log2(2 * math.e / k) - (k - 1) * math.log2(2.4)
    return next(k for k in range(6, 100) if log(k) <= -40)


def equation_6(n):
    """The smallest k ≥ 2e·log n / log log n."""
    return max(6, math.ceil(2 * math.e * math.log2(n) / math.log2(math.log2(n))))


# The sizes whose chances are calculated, which takes a minute for the largest.
EXACT = [11, 12, 13, 14, 16]
EXACT_LARGEST = 20

# Places that one line of Figure 2, or one row of Table 3, has at most.
PLACES = 6

# A stash is large enough if it is too small less often than once in 2^40.
LIMIT = -40


@functools.cache
def calculation():
    """The script that calculates how often the stash is too small."""
    path = ROOT / "parameters" / "hashing" / "stash.py"
    spec = importlib.util.spec_from_file_location("stash", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.needs = functools.cache(module.needs)
    return module


def stashes(bench, papers, largest):
    """Stash places that tables with two functions and 2.4·n bins need: Table 3, Figure 2, Table 4."""
    table = papers["phasing"]["table_3"]
    logs = [11, 12, 13, 14]
    exact = calculation()
    means = {(log, s): 2**30 * exact.needs(2**log, s) for log in logs for s in range(PLACES + 1)}
    rows = [
        [f"s = {s}"] + [f"{table[s][i]:,} / {means[log, s]:,.1f}" for i, log in enumerate(logs)]
        for s in range(PLACES + 1)
    ]
    bench.report.shows(*(count for counts in table for count in counts))
    for s in range(1, 4):
        more = [table[s][i] - means[log, s] for i, log in enumerate(logs)]
        rows.append([f"the paper counts too many, s = {s}"] + [f"{round(one):+,}" for one in more])
    header = ["Table 3"] + [f"n = 2^{log}" for log in logs]
    title = "Of 2^30 tables, those that need s places: the paper's count / the exact mean"
    bench.report.table(title, header, rows, how="calculated")

    sizes = [*EXACT, *([EXACT_LARGEST] if largest >= EXACT_LARGEST else [])]
    above = lambda counts, s: sum(counts[s + 1 :]) / sum(counts)
    of_paper = [[table[k][i] for k in range(PLACES + 1)] for i in range(len(logs))]
    theirs = {f"paper, s = {s}": {2**log: above(of_paper[i], s) for i, log in enumerate(logs)} for s in range(PLACES)}
    # At the largest size, only the lines that Table 4 needs.
    wanted = lambda log, s: log < EXACT_LARGEST or s <= 3
    ours = {
        f"exact, s = {s}": {2**log: 2.0 ** exact.fails(2**log, s) for log in sizes if wanted(log, s)}
        for s in range(PLACES)
    }
    extended = {name: {**points, **extrapolated(points)} for name, points in theirs.items()}
    title = "Figure 2: chance that s places are not enough"
    bench.report.figure("phasing-figure-2", title, ours, extended, y_label="probability")
    table_4(bench, papers, exact, largest)


def table_4(bench, papers, exact, largest):
    """The stash for each size: the paper's, the smallest that suffices, and ours."""
    table = papers["phasing"]["table_4"]
    sizes = [8, 12, 16, 20, 24]
    known = [log for log in sizes if log <= max(16, min(largest, EXACT_LARGEST))]
    fails = lambda log, s: exact.fails(2**log, s) if log in known else beyond(exact, known, log, s)
    smallest = [next(s for s in range(40) if fails(log, s) < LIMIT) for log in sizes]
    here = [one["stash"] for one in bench.stashes([2**log for log in sizes], 0)]
    rows = [
        ["the paper / what suffices"] + [pair_of_counts(told, s) for told, s in zip(table, smallest)],
        ["the paper's is too small once in"] + [once_in(fails(log, s)) for log, s in zip(sizes, table)],
        ["here"] + [str(s) for s in here],
        ["ours is too small once in"] + [once_in(fails(log, s)) for log, s in zip(sizes, here)],
    ]
    header = ["Table 4"] + [f"n = 2^{log}" for log in sizes]
    title = f"Stash places for failure below 2^-40, exactly; above 2^{known[-1]} by the law n^-(s + 1)"
    bench.report.table(title, header, rows, how="calculated")


def once_in(log):
    return f"2^{-log:.1f}"


def beyond(exact, known, log, s):
    """log2 of the chance at a size that would take minutes: a stash of s places fails where a component of a random
    graph has s + 1 edges too many, and the chance of these goes with n^-(s + 1)."""
    return exact.fails(2 ** known[-1], s) - (s + 1) * (log - known[-1])


def extrapolated(points):
    """The line through counts, from 2^16 on. Two counts make no line: the last are single events."""
    seen = [(math.log2(n), math.log2(y)) for n, y in points.items() if y > 0]
    if len(seen) < 3:
        return {}
    slope, intercept = statistics.linear_regression(*zip(*seen))
    return {2**log: 2 ** (slope * log + intercept) for log in [16, 20, 24]}
