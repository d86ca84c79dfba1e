"""B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: private set intersection using permutation-based hashing",
USENIX Security 2015.
"""

import math
import statistics

from tables.layout import MB, Pair, beside, number, of_paper, size_name
from tables.report import Paper, Part

# The paper's networks: Gigabit Ethernet, and between Virginia and Frankfurt 50 MB/s and 96 ms.
NETWORKS = [("lan", "gigabit"), ("wan", "transatlantic")]

SIGMA = 32

# The names of rows in the papers, and their rows of the catalogue: id and length of items.
ROWS = [
    ("Naive hashing (insecure)", "naive_hash", "naive_hash", 128),
    ("Server-aided", "server_aided", "server_aided", 128),
    ("DH-based ECC", "dh", "dh", 128),
    ("32 bit: OT PSI [PSZ14]", "psz14/32", "psz14", 32),
    ("32 bit: OT-Phasing", "ot_phasing/32", "ot_phasing", 32),
    ("64 bit: OT PSI [PSZ14]", "psz14/64", "psz14", 64),
    ("64 bit: OT-Phasing", "ot_phasing/64", "ot_phasing", 64),
    ("128 bit: OT PSI [PSZ14]", "psz14/128", "psz14", 128),
    ("128 bit: OT-Phasing", "ot_phasing/128", "ot_phasing", 128),
    ("extra: OT-Phasing, paper's table, 32 bit", None, "ot_phasing_paper", 32),
    ("extra: KKRT16", None, "kkrt16", 128),
    ("extra: RR22 VOLE-PSI", None, "rr22", 128),
]


def powers(logs, largest):
    """The sizes up to the largest, at least the smallest."""
    return [2**log for i, log in enumerate(logs) if i == 0 or log <= largest]


def table_7(bench, papers, largest):
    """Equal sets, times."""
    paper = papers["phasing"]["table_7"]
    for place, network in NETWORKS:
        logs = [log for log in [8, 12, 16, 20, 24] if log <= min(largest, 24 if place == "lan" else 20)]
        header = [f"Table 7, {place.upper()}"] + [f"n = 2^{log}" for log in logs]
        rows = []
        for name, key, protocol, bits in ROWS:
            row = [name]
            for i, log in enumerate(logs):
                # Fewer than 2^log items of that length would remain for the other party.
                found = bench.measure(protocol, 2**log, 2**log, bits, network)
                row.append(Pair(of_paper(paper[place], key, i), found and 1e3 * found["wall_s"]))
            rows.append(row)
        bench.report.table("Milliseconds, paper / ours (times less)", header, rows)


def table_8(bench, papers, largest):
    """Equal sets, bytes."""
    pairs = [(log, log) for log in [8, 12, 16, 20, 24] if log <= largest]
    byte_table(bench, "Table 8", papers["phasing"]["table_8"], pairs)


def unequal(largest):
    """The paper's pairs of sizes, those measured here, and rows. If all are too large, another pair is measured."""
    columns = {pair: i for i, pair in enumerate((a, b) for b in [8, 12] for a in [16, 20, 24])}
    pairs = [(log, small) for small in [8, 12] for log in [16, 20, 24] if log <= largest]
    return columns, pairs or [(largest, max(largest - 4, 0))], [row for row in ROWS if row[2] != "psz14"]


def table_9(bench, papers, largest):
    """Unequal sets, times."""
    paper = papers["phasing"]["table_9"]
    columns, pairs, shown = unequal(largest)
    for place, network in NETWORKS:
        fit = [pair for pair in pairs if pair[0] <= (24 if place == "lan" else 20)]
        header = [f"Table 9, {place.upper()}"] + [f"2^{small}, 2^{log}" for log, small in fit]
        rows = []
        for name, key, protocol, bits in shown:
            row = [name]
            for pair in fit:
                found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, network)
                ours = found and 1e3 * found["wall_s"]
                told = of_paper(paper[place], key, columns[pair]) if pair in columns else None
                row.append(Pair(told, ours))
            rows.append(row)
        if fit:
            bench.report.table("Milliseconds for n_2, n_1, paper / ours (times less)", header, rows)


def table_10(bench, papers, largest):
    """Unequal sets, bytes."""
    columns, pairs, shown = unequal(largest)
    byte_table(bench, "Table 10", papers["phasing"]["table_10"], pairs, columns, shown)


def byte_table(bench, title, table, pairs, columns=None, rows=ROWS):
    name_of = lambda pair: f"n = 2^{pair[0]}" if pair[0] == pair[1] else f"2^{pair[1]}, 2^{pair[0]}"
    printed = []
    for name, key, protocol, bits in rows:
        row = [name]
        for i, pair in enumerate(pairs):
            found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, "gigabit")
            ours = found and found["bytes_of_all"] / MB
            column = columns.get(pair) if columns else i
            row.append(Pair(None if column is None else of_paper(table, key, column), ours))
        printed.append(row)
    header = [title] + [name_of(pair) for pair in pairs]
    bench.report.table("MB of 2^20 bytes, paper / ours (times less)", header, printed)


# Bins beyond those that a table of the measured utilisation has. At it, placing fails in half of the tables of that size;
# larger tables are nearer to the limit for infinitely many bins, and fail less often above it.
ROOM = 1.02

# The rows of the catalogue that are added to Table 1, and why.
BESIDE_TABLE_1 = [
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
        row.append(f"{number(100 / used)} / {number(found[n] and found[n]['bins'] / n)}")
        row.append(f"{h} / {number(found[n] and found[n]['masks'] / n)}")
        for n_2, told in [(n, equal), (small, unequal)]:
            row.append(Pair(told if log == 20 else None, megabytes(found[n_2])))
        # The paper's formula, from its own columns: 2·κ bits for each of two characters of a bin, ℓ bits a mask.
        row.append(number(2 * 128 * 2 * 100 / used * 2**20 / 8 / MB + int(h) * 80 * 2**20 / 8 / MB))
        rows.append(row)
    for protocol, name in BESIDE_TABLE_1:
        found = [bench.measure(protocol, n, n_2, bits, "gigabit") for n_2 in [n, small]]
        rows.append([name, "", "", "", *[Pair(None, megabytes(one)) for one in found], ""])
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
        ["Eq. (5)"] + [beside(told, equation_5(2**log)) for told, log in zip(paper["5"], logs)],
        ["Eq. (6)"] + [beside(told, equation_6(2**log)) for told, log in zip(paper["6"], logs)],
        ["Circuit-Phasing here"] + [f"{needed[2**log]['max_load']}" for log in logs],
    ]
    header = ["Table 2"] + [f"n = 2^{log}" for log in logs]
    title = "Items in the fullest bin: the paper / its equation calculated again, or = where they are equal"
    bench.report.table(title, header, rows)


def equation_5(n):
    """The smallest k with n·(2e/k)^k·(1/2.4)^(k − 1) ≤ 2^-40."""
    log = lambda k: math.log2(n) + k * math.log2(2 * math.e / k) - (k - 1) * math.log2(2.4)
    return next(k for k in range(6, 100) if log(k) <= -40)


def equation_6(n):
    """The smallest k ≥ 2e·log n / log log n."""
    return max(6, math.ceil(2 * math.e * math.log2(n) / math.log2(math.log2(n))))


def stashes(bench, papers, largest):
    """Stash places that tables with two functions and 2.4·n bins need: Table 3, Figure 2, Table 4."""
    table = papers["phasing"]["table_3"]
    logs = [11, 12, 13, 14]
    # The largest count takes two minutes of a core for all sizes.
    count = 2 ** max(10, min(18, largest))
    found = {one["n"]: one for one in bench.stashes([2**log for log in logs], count)}
    scale = 2**30 / count
    rows = []
    for s in range(7):
        row = [f"s = {s}"]
        for i, log in enumerate(logs):
            seen = found[2**log]["needed"][s]
            row.append(beside(table[s][i], round(seen * scale)))
        rows.append(row)
    header = ["Table 3"] + [f"n = 2^{log}" for log in logs]
    title = f"Tables of 2^30 that need s places: the paper / ours, from {count:,} tables of each size"
    bench.report.table(title, header, rows)

    # The chance that s places are not enough, by size.
    above = lambda counts, s: sum(counts[s + 1 :]) / sum(counts)
    theirs, ours = {}, {}
    for s in range(6):
        of_paper_ = [above([table[k][i] for k in range(7)], s) for i in range(4)]
        of_ours = [above(found[2**log]["needed"], s) for log in logs]
        theirs[f"paper, s = {s}"] = {2**log: y for log, y in zip(logs, of_paper_)}
        ours[f"ours, s = {s}"] = {2**log: y for log, y in zip(logs, of_ours)}
    extended = {name: {**points, **extrapolated(points)} for name, points in theirs.items()}
    title = "Figure 2: chance that s places are not enough; from 2^16 on extrapolated"
    bench.report.figure("phasing-figure-2", title, ours, extended, y_label="probability")

    rows = []
    sizes = [8, 12, 16, 20, 24]
    for name, lines in [("paper's counts", theirs), ("our counts", ours)]:
        row = [f"from {name}"]
        for log in sizes:
            row.append(needed_stash(lines, 2**log) or "–")
        rows.append(row)
    rows.insert(0, ["the paper"] + [str(s) for s in papers["phasing"]["table_4"]])
    rows.append(["here"] + [f"{one['stash']}" for one in bench.stashes([2**log for log in sizes], 0)])
    header = ["Table 4"] + [f"n = 2^{log}" for log in sizes]
    bench.report.table("Stash places for failure below 2^-40; extrapolated by regression", header, rows)


def regression(points):
    """The line through (log n, log probability), as a function of n; None with fewer than two points."""
    known = [(math.log2(n), math.log2(y)) for n, y in points.items() if y > 0]
    if len(known) < 2:
        return None
    slope, intercept = statistics.linear_regression(*zip(*known))
    return lambda n: slope * math.log2(n) + intercept


def extrapolated(points):
    line = regression(points)
    return {2**log: 2 ** line(2**log) for log in [16, 20, 24]} if line else {}


def needed_stash(lines, n):
    """The smallest s whose line is below 2^-40 at n; None if no line with two points is."""
    for s, points in enumerate(lines.values()):
        line = regression(points)
        if line and line(n) <= -40:
            return str(s)
    return None


# The name of a row in "Phasing", its circuit, and its row of the catalogue.
CIRCUIT_ROWS = [
    ("Yao: SCS", "yao/scs", "scs_wn"),
    ("Yao: Circuit-Phasing", "yao/circuit_phasing", "circuit_phasing_yao"),
    ("GMW: SCS", "gmw/scs", "scs_wn_gmw"),
    ("GMW: Circuit-Phasing, by gates alone", "gmw/circuit_phasing", "circuit_phasing_paper"),
    ("GMW: Circuit-Phasing, by tables", "gmw/circuit_phasing", "circuit_phasing"),
]


def table_5(bench, papers, largest):
    """Circuits, times."""
    paper = papers["phasing"]["table_5"]
    sizes = powers([8, 12, 16, 20], largest)
    for place, network in [*NETWORKS, ("extra: loopback", "loopback")]:
        rows = []
        for row_name, key, protocol in CIRCUIT_ROWS:
            row = [row_name]
            for i, n in enumerate(sizes):
                found = bench.measure(protocol, n, n, SIGMA, network)
                told = of_paper(paper.get(place, {}), key, i)
                row.append(Pair(told, found and 1e3 * found["wall_s"]))
            rows.append(row)
        header = [f"Table 5, {place.upper() if place in paper else place}"] + [f"n = {size_name(n)}" for n in sizes]
        bench.report.table("Milliseconds, paper / ours (times less)", header, rows)


def table_6(bench, papers, largest):
    """Circuits: gates, bytes and rounds."""
    paper = papers["phasing"]["table_6"]
    sizes = powers([8, 12, 16, 20], largest)
    gates = {**bench.count_gates(SIGMA, sizes, "scs_wn"), **bench.count_gates(SIGMA, sizes, "circuit_phasing")}
    ours_of = {"scs": "scs_wn", "circuit_phasing": "circuit_phasing"}
    total = lambda count: count["ands"] + count["one_sided"]
    rows = []
    for name, key in [("SCS", "scs"), ("Circuit-Phasing", "circuit_phasing")]:
        for engine in ["yao", "gmw"]:
            row = [f"{name}, {'garbled' if engine == 'yao' else 'on shares'}"]
            for i, n in enumerate(sizes):
                ours = total(gates[ours_of[key], engine, n])
                row.append(Pair(of_paper(paper["gates"], key, i), ours))
            rows.append(row)
    header = ["Table 6: AND gates"] + [f"n = {size_name(n)}" for n in sizes]
    bench.report.table(
        "Paper / ours (times less). On shares, gates that transfers of tables replace are not counted", header, rows
    )

    rows = []
    for name, key, protocol in CIRCUIT_ROWS:
        row = [name]
        for i, n in enumerate(sizes):
            found = bench.measure(protocol, n, n, SIGMA, "gigabit")
            told = of_paper(paper["mb"], key.split("/")[1], i)
            row.append(Pair(told, found and found["bytes_total"] / MB))
        rows.append(row)
    header = ["Table 6: MB"] + header[1:]
    bench.report.table("MB of 2^20 bytes, paper / ours (times less)", header, rows)

    rows = []
    for name, key, protocol in CIRCUIT_ROWS[2:]:
        depth, flights = [name + ", depth"], [name + ", flights in all"]
        for i, n in enumerate(sizes):
            told = of_paper(paper["rounds"], key.split("/")[1], i)
            depth.append(Pair(told, gates[ours_of[key.split("/")[1]], "gmw", n]["depth"]))
            found = bench.measure(protocol, n, n, SIGMA, "gigabit")
            flights.append(number(found and found["flights"]))
        rows += [depth, flights]
    header = ["Table 6: rounds"] + header[1:]
    bench.report.table("Paper / ours (times less); flights count the transfers' setup and results too", header, rows)


# The paper's steps after the first: functions, bins an item, and what is compared in a bin. None has a stash.
STEPS = [(2, 2.4, "whole"), (2, 2.4, "remainder"), (3, 1.2, "remainder")]


def table_11(bench, papers, largest):
    """The first column is the protocol of 2014. The others are steps that no row of the catalogue stops at, measured as
    variants; the last is such a variant too, and OT-Phasing is given for comparison."""
    table, log, network = papers["phasing"]["table_11"], min(20, largest), "transatlantic"
    n = 2**log
    times, sizes = [], []
    for bits, told in table.items():
        found = [bench.measure("psz14", n, n, int(bits), network)]
        found += [bench.table_of_phasing(*step, int(bits), n, n, network) for step in STEPS]
        ours = bench.measure("ot_phasing", n, n, int(bits), network)
        of_step = [lambda one: one and 1e3 * one["wall_s"], megabytes]
        for rows, told_of, of in zip([times, sizes], told, of_step):
            paper = told_of if log == 20 else [None] * len(found)
            pairs = [Pair(value, of(one)) for value, one in zip(paper, found)]
            rows.append([f"OT-Phasing, {bits} bit", *pairs, Pair(None, of(ours))])
    steps = ["original", "short strings §6.1", "permutation §4", "3-way §6.2", "extra: ot_phasing"]
    for unit, rows in [("ms", times), ("MB", sizes)]:
        header = [f"Table 11: {unit}, n = 2^{log}, WAN"] + steps
        shown = {"ms": "Milliseconds", "MB": "MB of 2^20 bytes"}[unit]
        bench.report.table(f"{shown}, step by step, paper / ours (times less)", header, rows)


# Our phases, and those of the paper's columns that do the same work.
PHASES = [
    ("hashing", "hashing", ["hashing"]),
    ("setup", "base transfers", ["base-OTs"]),
    ("masks", "extension and CRF", ["OT extension", "CRF"]),
    ("tags", "communication and intersection", ["communication", "intersect"]),
]


def table_12(bench, papers, largest):
    """The phases of OT-Phasing."""
    table, log = papers["phasing"]["table_12"], min(24, largest)
    columns = ["hashing", "base-OTs", "OT extension", "CRF", "communication", "intersect", "total"]
    rows = []
    for party in ["sender", "receiver"]:
        for bits, values in table[party].items():
            told = dict(zip(columns, values if log == 24 else []))
            found = bench.measure("ot_phasing", 2**log, 2**log, int(bits), "gigabit")
            ours = {phase["name"]: 1e3 * phase["wall_s"] for phase in found[f"phases_{party}"]} if found else {}
            row = [f"{party}, {bits} bit"]
            for name, _, parts in PHASES:
                paper = sum(told.get(part) or 0 for part in parts)
                row.append(Pair(paper or None, ours.get(name)))
            rows.append([*row, Pair(told.get("total"), found and 1e3 * found["wall_s"])])
    header = [f"Table 12, n = 2^{log}"] + [shown for _, shown, _ in PHASES] + ["total"]
    bench.report.table("Milliseconds, paper / ours (times less); ours include waiting for the other", header, rows)


PAPER = Paper(
    title='B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing", USENIX Security 2015',
    has_primitives=True,
    parts={
        "table_1": Part(
            "Table 1",
            table_1,
            "The paper calculates. Utilisation here is the median of eleven tables of 2^16 bins, filled until an item does"
            " not fit. Bytes are those of runs with 2 % more bins than that and no stash, with a protocol that only"
            " `vesica-bench phasing` has; the tables are drawn again until all items fit. Its values name their function,"
            " and its masks travel compressed.",
        ),
        "table_2": Part("Table 2", table_2, "The bound here is not an equation: it sums the binomial distribution."),
        "stashes": Part(
            "Table 3, Figure 2 and Table 4",
            stashes,
            "The paper filled 2^30 tables of each size. Few of"
            " ours need more than two places, so lines for larger stashes have no points. The paper's own counts, regressed,"
            " give 2^-38.0 for four places at 2^16, where its Table 4 has four: a dash stands there.",
        ),
        "table_5": Part(
            "Table 5",
            table_5,
            "The paper: Gigabit Ethernet, and 50 MB/s with 96 ms. Ours: relays of 1"
            " Gbit/s with 1 ms, and 400 Mbit/s with 96 ms. The paper ran GMW on two threads, ours have one.",
        ),
        "table_6": Part("Table 6", table_6),
        "table_7": Part(
            "Table 7",
            table_7,
            "Networks as for Table 5. One thread a party, in both. Times of the"
            " server-aided row start at the connection to the helper and include the parties' meeting; the others start when"
            " both parties are connected.",
        ),
        "table_8": Part("Table 8", table_8),
        "table_9": Part(
            "Table 9",
            table_9,
            "Networks and clocks as for Table 7. Two-way tables without a stash"
            " have more bins here than in the paper,"
            " so that they do not fail; `ot_phasing_paper` has the paper's.",
        ),
        "table_10": Part("Table 10", table_10, "Bins as for Table 9."),
        "table_11": Part(
            "Table 11",
            table_11,
            "The first column is the row `psz14`, with TLS, two processes and a stash; the next three are variants"
            " without a stash that only `vesica-bench phasing` has, both parties in one process over the same emulated"
            " network without TLS. Their tables are drawn again until all items fit; `ot_phasing` has 1.32·n bins in place"
            " of 1.2·n and need not.",
        ),
        "table_12": Part("Table 12", table_12, "Where ours are not separate, columns of the paper are added up."),
    },
    left_out={"Figure 1": "describes a protocol"},
)
