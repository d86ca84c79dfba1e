"""B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: private set intersection using permutation-based hashing",
USENIX Security 2015.
"""

import json

from tables import hashing
from tables.layout import MB, NEWER, OTHERS, OWN, UNLIKE, Pair, number, of_paper, size_name
from tables.report import Paper, Part, Reason
from tables.store import ROOT

# The paper's networks: Gigabit Ethernet, and between Virginia and Frankfurt 50 MB/s and 96 ms.
NETWORKS = [("lan", "gigabit"), ("wan", "transatlantic")]

SIGMA = 32

# The names of rows in the papers, and their rows of the catalogue: id and length of items; and whose protocol it is.
ROWS = [
    ("Naive hashing (insecure)", "naive_hash", "naive_hash", 128, OTHERS),
    ("Server-aided", "server_aided", "server_aided", 128, OTHERS),
    ("DH-based ECC", "dh", "dh", 128, OTHERS),
    ("32 bit: OT PSI [PSZ14]", "psz14/32", "psz14", 32, OTHERS),
    ("32 bit: OT-Phasing", "ot_phasing/32", "ot_phasing", 32, OWN),
    ("64 bit: OT PSI [PSZ14]", "psz14/64", "psz14", 64, OTHERS),
    ("64 bit: OT-Phasing", "ot_phasing/64", "ot_phasing", 64, OWN),
    ("128 bit: OT PSI [PSZ14]", "psz14/128", "psz14", 128, OTHERS),
    ("128 bit: OT-Phasing", "ot_phasing/128", "ot_phasing", 128, OWN),
    ("extra: OT-Phasing, paper's table, 32 bit", None, "ot_phasing_paper", 32, NEWER),
    ("extra: KKRT16", None, "kkrt16", 128, NEWER),
    ("extra: RR22 VOLE-PSI", None, "rr22", 128, NEWER),
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
        for name, key, protocol, bits, kind in ROWS:
            row = [name]
            for i, log in enumerate(logs):
                # Fewer than 2^log items of that length would remain for the other party.
                found = bench.measure(protocol, 2**log, 2**log, bits, network)
                row.append(Pair(of_paper(paper[place], key, i), found and 1e3 * found["wall_s"], kind=kind))
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
        for name, key, protocol, bits, kind in shown:
            row = [name]
            for pair in fit:
                found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, network)
                ours = found and 1e3 * found["wall_s"]
                told = of_paper(paper[place], key, columns[pair]) if pair in columns else None
                row.append(Pair(told, ours, kind=kind))
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
    for name, key, protocol, bits, kind in rows:
        row = [name]
        for i, pair in enumerate(pairs):
            found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, "gigabit")
            ours = found and found["bytes_of_all"] / MB
            column = columns.get(pair) if columns else i
            row.append(Pair(None if column is None else of_paper(table, key, column), ours, kind=kind))
        printed.append(row)
    header = [title] + [name_of(pair) for pair in pairs]
    bench.report.table("MB of 2^20 bytes, paper / ours (times less)", header, printed)


# The name of a row in "Phasing", its circuit, and its row of the catalogue.
CIRCUIT_ROWS = [
    ("Yao: SCS", "yao/scs", "scs_wn", OTHERS),
    ("Yao: Circuit-Phasing", "yao/circuit_phasing", "circuit_phasing_yao", OWN),
    ("GMW: SCS", "gmw/scs", "scs_wn_gmw_iknp", OTHERS),
    ("GMW: Circuit-Phasing", "gmw/circuit_phasing", "circuit_phasing_iknp", OWN),
    ("GMW: SCS, silent transfers", "gmw/scs", "scs_wn_gmw", NEWER),
    ("GMW: Circuit-Phasing, silent transfers", "gmw/circuit_phasing", "circuit_phasing_paper", NEWER),
    ("GMW: Circuit-Phasing, silent transfers of tables", "gmw/circuit_phasing", "circuit_phasing", NEWER),
]


def table_5(bench, papers, largest):
    """Circuits, times."""
    paper = papers["phasing"]["table_5"]
    sizes = powers([8, 12, 16, 20], largest)
    for place, network in [*NETWORKS, ("extra: loopback", "loopback")]:
        rows = []
        for row_name, key, protocol, kind in CIRCUIT_ROWS:
            row = [row_name]
            for i, n in enumerate(sizes):
                found = bench.measure(protocol, n, n, SIGMA, network)
                told = of_paper(paper.get(place, {}), key, i)
                row.append(Pair(told, found and 1e3 * found["wall_s"], kind=kind))
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
                row.append(Pair(of_paper(paper["gates"], key, i), ours, kind=UNLIKE))
            rows.append(row)
    header = ["Table 6: AND gates"] + [f"n = {size_name(n)}" for n in sizes]
    bench.report.table(
        "Paper / ours (times less). On shares, gates that transfers of tables replace are not counted", header, rows
    )

    rows = []
    for name, key, protocol, kind in CIRCUIT_ROWS:
        row = [name]
        for i, n in enumerate(sizes):
            found = bench.measure(protocol, n, n, SIGMA, "gigabit")
            told = of_paper(paper["mb"], key.split("/")[1], i)
            row.append(Pair(told, found and found["bytes_total"] / MB, kind=kind))
        rows.append(row)
    header = ["Table 6: MB"] + header[1:]
    bench.report.table("MB of 2^20 bytes, paper / ours (times less)", header, rows)

    rows = []
    for name, key, protocol, _ in CIRCUIT_ROWS[2:]:
        depth, flights = [name + ", depth"], [name + ", flights in all"]
        for i, n in enumerate(sizes):
            told = of_paper(paper["rounds"], key.split("/")[1], i)
            depth.append(Pair(told, gates[ours_of[key.split("/")[1]], "gmw", n]["depth"], kind=UNLIKE))
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
        of_step = [lambda one: one and 1e3 * one["wall_s"], hashing.megabytes]
        for rows, told_of, of in zip([times, sizes], told, of_step):
            paper = told_of if log == 20 else [None] * len(found)
            kinds = [OTHERS] + [OWN] * len(STEPS)
            pairs = [Pair(value, of(one), kind=kind) for value, one, kind in zip(paper, found, kinds)]
            rows.append([f"OT-Phasing, {bits} bit", *pairs, Pair(None, of(ours), kind=NEWER)])
    steps = ["original", "short strings §6.1", "permutation §4", "3-way §6.2", "extra: ot_phasing"]
    for unit, rows in [("ms", times), ("MB", sizes)]:
        header = [f"Table 11: {unit}, n = 2^{log}, WAN"] + steps
        shown = {"ms": "Milliseconds", "MB": "MB of 2^20 bytes"}[unit]
        bench.report.table(f"{shown}, step by step, paper / ours (times less)", header, rows)


# The paper's steps, and our phases that do the same. One of ours may do the work of two.
PHASES = [
    ("hashing", ["hashing"], lambda spans: spans["hashing"]),
    ("base transfers", ["base-OTs"], lambda spans: spans["setup"]),
    ("OT extension", ["OT extension"], lambda spans: spans["masks/extension"]),
    ("CRF", ["CRF"], lambda spans: spans["masks"] - spans["masks/extension"]),
    ("communication, and intersection of the receiver", ["communication", "intersect"], lambda spans: spans["tags"]),
]
COLUMNS = ["hashing", "base-OTs", "OT extension", "CRF", "communication", "intersect", "total"]


def table_12(bench, papers, largest):
    """The phases of OT-Phasing."""
    table, log = papers["phasing"]["table_12"], min(24, largest)
    rows = []
    for party in ["sender", "receiver"]:
        for bits, values in table[party].items():
            told = dict(zip(COLUMNS, values))
            found = bench.measure("ot_phasing", 2**log, 2**log, int(bits), "gigabit")
            ours = {phase["name"]: 1e3 * phase["wall_s"] for phase in found[f"phases_{party}"]} if found else {}
            row = [f"{party}, {bits} bit"]
            for _, parts, of in PHASES:
                known = [told[part] for part in parts if told[part]] if log == 24 else []
                if ours:
                    bench.report.shows(*known)
                # A step of a party that the other alone works in is a wait.
                row.append(Pair(sum(known) or None, of(ours) if ours else None, kind=UNLIKE))
            total = told["total"] if log == 24 else None
            rows.append([*row, Pair(total, found and 1e3 * found["wall_s"])])
    header = [f"Table 12, n = 2^{log}"] + [shown for shown, _, _ in PHASES] + ["total"]
    bench.report.table("Milliseconds, paper / ours (times less); ours include waiting for the other", header, rows)


def authors(bench, papers, largest):
    """The code that authors of later protocols published, and ours, in one run on one machine."""
    found = json.loads((ROOT / "bench" / "peers.json").read_text())["in_turn"]
    rows = []
    for one in found["cells"]:
        theirs, ours = one["theirs"], one["ours"]
        row = [one["name"], size_name(one["n"])]
        for name, unit in [("wall_s", 1), ("cpu_s", 1), ("bytes", MB)]:
            row.append(f"{number(theirs[name] / unit)} / {number(ours[name] / unit)}")
        rows.append([*row, f"{theirs['wall_s'] / ours['wall_s']:.1f}×"])
    title = "Theirs / ours: two processes over the loopback, one thread each, half of the items in common;"
    title += f" {found['machine']}, {found['when']}"
    header = ["protocol", "items each", "seconds", "CPU seconds of both", "MB of 2^20 bytes", "times as fast"]
    bench.report.table(title, header, rows)


WAIT = "Times of single steps include waiting for the other party, which works at the same time."

SMALL_BYTES = (
    "At 2^8 items 18 KB are base transfers, which the paper's formula leaves out, and the table has 677 bins for its"
    " 308, so that it fails once in 2^40."
)
INDEX = (
    "The items in a bin name their hash function (M. Lambæk, ePrint 2016/665), without which two different items may"
    " match. At 2^16 items of 32 bits this makes a third character where the paper has two."
)
WIDE = (
    "Tables that fail once in 2^40 have more bins than the paper's, which fail once in some hundred runs where sets"
    " are unequal; `ot_phasing_paper` has the paper's."
)
HELPER_ON_DISK = (
    "Our helper keeps lists in files that are synced, and both parties first meet at it over TLS; the paper's keeps"
    " them in memory."
)
HANDSHAKE = "The paper rounds to a millisecond; our relay has a round trip of 1 ms, and each run makes one."

PARTS_OF_HASHING = {
    "table_1": Part(
        "Table 1",
        hashing.table_1,
        "The paper calculates. Utilisation here is the median of eleven tables of 2^16 bins, filled until an item does"
        " not fit. Bytes are those of runs with 2 % more bins than that and no stash, with a protocol that only"
        " `vesica-bench phasing` has; the tables are drawn again until all items fit. Its values name their function,"
        " and its masks travel compressed.",
        printed=("phasing/table_1",),
    ),
    "table_2": Part(
        "Table 2",
        hashing.table_2,
        "The bound here is not an equation: it sums the binomial distribution.",
        printed=("phasing/table_2",),
    ),
    "stashes": Part(
        "Table 3, Figure 2 and Table 4",
        hashing.stashes,
        "The paper filled 2^30 tables of each size and counted. Ours are exact means, by"
        " `parameters/hashing/stash.py`: the giant component's generating function (S. Janson, D. E. Knuth, T. Luczak,"
        " B. Pittel, 1993). The paper counts some 125,000 tables too many that need one place, at every size, and some"
        " thousand that need two, as from a search that was stopped early. Its four places at 2^16 suffice: they fail"
        " once in 2^45.7. Its six places at 2^12 are too few. From 2^16 on the paper's lines in Figure 2 are"
        " extrapolated from its counts.",
        printed=("phasing/table_3", "phasing/table_4"),
        plotted={"phasing-figure-2": (2**11, 2**12, 2**13, 2**14)},
    ),
}

PAPER = Paper(
    title='B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing", USENIX Security 2015',
    has_primitives=True,
    parts={
        **PARTS_OF_HASHING,
        "table_5": Part(
            "Table 5",
            table_5,
            "The paper: Gigabit Ethernet, and 50 MB/s with 96 ms. Ours: relays of 1 Gbit/s with 1 ms, and 400 Mbit/s"
            " with 96 ms. GMW extends its transfers on two threads, one for each direction, in both; all else has one."
            " Rows with silent transfers are newer than the paper, which has IKNP, and have one thread.",
            printed=("phasing/table_5",),
        ),
        "table_6": Part(
            "Table 6",
            table_6,
            "Gates are counted, bytes measured. The paper multiplies the gates by 256 bits. Ours in GMW take 258: 127"
            " for each of two IKNP transfers, and four masked bits. Rows with silent transfers are newer than the"
            " paper.",
            printed=("phasing/table_6",),
            reasons=(
                Reason(
                    "Ours are the gates of the formula in Table 1 of Huang, Evans and Katz, whose circuit this is; the"
                    " paper prints 1.4 % fewer at 2^16, and one digit at 2^20.",
                    tables="AND gates",
                    rows="^SCS, garbled",
                    columns=r"2\^(16|20)$",
                    down_to=0.93,
                ),
                Reason(
                    "A string in a bin has a bit that names its hash function (M. Lambæk, ePrint 2016/665), and empty"
                    " places hold values that no item has: there is more to compare than in the paper.",
                    tables="AND gates",
                    rows="^Circuit-Phasing",
                    down_to=0.9,
                ),
                Reason(
                    "The paper gives the gates of the circuit that it garbles; on shares it runs one of little depth"
                    " with more gates, as ours does, whose depth is the paper's.",
                    tables="AND gates",
                    rows="on shares",
                    down_to=0.4,
                ),
                Reason(
                    "More is compared in a bin, as for the gates above; bytes also include the base transfers and the"
                    " labels of both parties' inputs.",
                    tables="MB",
                    rows="^Yao: Circuit-Phasing",
                    down_to=0.85,
                ),
                Reason(
                    "More is compared in a bin, as for the gates above; bytes also include base transfers, in both"
                    " directions.",
                    tables="MB",
                    rows="^GMW: Circuit-Phasing$",
                    down_to=0.85,
                ),
                Reason(
                    "The paper gives the bytes of the circuit that it garbles, for both. The circuit of little depth"
                    " has more gates, as above.",
                    tables="MB",
                    rows="^GMW: SCS$",
                    down_to=0.7,
                ),
            ),
        ),
        "table_7": Part(
            "Table 7",
            table_7,
            "Networks as for Table 5. One thread a party, in both. Times of the server-aided row start at the"
            " connection to the helper and include the parties' meeting; the others start when both parties are"
            " connected.",
            printed=("phasing/table_7",),
            reasons=(
                Reason(HELPER_ON_DISK, rows="^Server-aided", columns=r"2\^(8|12|16)$", down_to=0.02),
                Reason(HANDSHAKE, rows="^Naive", columns=r"2\^(8|12)$", down_to=0.2),
            ),
        ),
        "table_8": Part(
            "Table 8",
            table_8,
            "MB of 2^20 bytes. The paper calculates, ours are those of runs, base transfers included.",
            printed=("phasing/table_8",),
            reasons=(
                Reason(
                    "The paper's formula has labels alone; ours are the bytes of the exchange, requests included.",
                    rows="^Server-aided",
                    columns=r"2\^8$",
                    down_to=0.5,
                ),
                Reason(SMALL_BYTES, rows="OT", columns=r"2\^8$", down_to=0.55),
                Reason(
                    "The stash has seven places where the paper's six fail more often than once in 2^40, and base"
                    " transfers are included.",
                    rows="OT PSI",
                    columns=r"2\^12$",
                    down_to=0.9,
                ),
                Reason("The paper rounds to hundredths.", rows="^Naive", columns=r"2\^12$", down_to=0.95),
                Reason(INDEX, rows="32 bit: OT-Phasing", columns=r"2\^16$", down_to=0.9),
                Reason(WIDE, rows="OT-Phasing", columns=r"2\^(16|20|24)$", down_to=0.9),
            ),
        ),
        "table_9": Part(
            "Table 9",
            table_9,
            "Networks and clocks as for Table 7. Two-way tables without a stash"
            " have more bins here than in the paper,"
            " so that they do not fail; `ot_phasing_paper` has the paper's.",
            printed=("phasing/table_9",),
        ),
        "table_10": Part(
            "Table 10",
            table_10,
            "Bins as for Table 9.",
            printed=("phasing/table_10",),
            reasons=(
                Reason(WIDE, rows="OT-Phasing", down_to=0.75),
                Reason("Ours are tags of whole bytes: nine for 68 bits.", rows="^Naive", down_to=0.85),
            ),
        ),
        "table_11": Part(
            "Table 11",
            table_11,
            "The first column is the row `psz14`, with TLS, two processes and a stash; the next three are variants"
            " without a stash that only `vesica-bench phasing` has, both parties in one process over the same emulated"
            " network without TLS. Their tables are drawn again until all items fit; `ot_phasing` has 1.32·n bins in"
            " place of 1.2·n and need not.",
            printed=("phasing/table_11",),
        ),
        "table_12": Part(
            "Table 12",
            table_12,
            "Our receiver looks tags up as they come, so that its two last columns are one. CRF is the time for masks"
            " without the extension.",
            printed=("phasing/table_12",),
            reasons=(Reason(WAIT, down_to=0.02),),
        ),
        "authors": Part(
            "extra: later protocols next to their authors' code",
            authors,
            "Not measured again by this script: `bench/peers.json` says from which commits the other"
            " programs were built, and how. Theirs without encryption, ours over TLS.",
        ),
    },
    left_out={"Figure 1": "describes a protocol"},
)
