"""B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing", USENIX Security 2015."""

from tables.layout import MB, cell, number, of_paper, print_table

# The names of rows in the papers, and their rows of the catalogue: id and length of items.
PHASING_ROWS = [
    ("Naive hashing (insecure)", "naive_hash", "naive_hash", 128),
    ("Server-aided", "server_aided", "server_aided", 128),
    ("DH-based ECC", "dh", "dh", 128),
    ("32 bit: OT PSI [PSZ14]", "psz14/32", "psz14", 32),
    ("32 bit: OT-Phasing", "ot_phasing/32", "ot_phasing", 32),
    ("64 bit: OT PSI [PSZ14]", "psz14/64", "psz14", 64),
    ("64 bit: OT-Phasing", "ot_phasing/64", "ot_phasing", 64),
    ("128 bit: OT PSI [PSZ14]", "psz14/128", "psz14", 128),
    ("128 bit: OT-Phasing", "ot_phasing/128", "ot_phasing", 128),
    ("beside: OT-Phasing, paper's stash, 32 bit", None, "ot_phasing_paper", 32),
    ("beside: KKRT16", None, "kkrt16", 128),
    ("beside: RR22 VOLE-PSI", None, "rr22", 128),
]


def phasing(bench, paper, largest):
    """Tables 1 and 7 to 12; 5 and 6 are about circuits."""
    table_1(bench, paper["table_1"], largest)
    sizes = [log for log in [8, 12, 16, 20, 24] if log <= largest]
    for network, limit in [("lan", 24), ("wan", 20)]:
        logs = [log for log in sizes if log <= limit]
        header = ["Table 7, " + network.upper()] + [f"n = 2^{log}" for log in logs]
        rows = []
        for name, key, protocol, bits in PHASING_ROWS:
            row = [name]
            for i, log in enumerate(logs):
                # Fewer than 2^log items of that length would remain for the other party.
                found = bench.measure(protocol, 2**log, 2**log, bits, network)
                ours = found and 1e3 * found["wall_s"]
                row.append(cell(of_paper(paper["table_7"][network], key, i), ours))
            rows.append(row)
        print_table("Milliseconds, paper / ours (times less)", header, rows)
    byte_table(bench, "Table 8", paper["table_8"], [(log, log) for log in sizes])

    pairs = [(log, small) for small in [8, 12] for log in [16, 20, 24] if log <= largest]
    columns = {pair: i for i, pair in enumerate((a, b) for b in [8, 12] for a in [16, 20, 24])}
    unequal = [row for row in PHASING_ROWS if row[2] != "psz14"]
    for network, limit in [("lan", 24), ("wan", 20)]:
        fit = [pair for pair in pairs if pair[0] <= limit]
        header = ["Table 9, " + network.upper()] + [f"2^{small}, 2^{log}" for log, small in fit]
        rows = []
        for name, key, protocol, bits in unequal:
            row = [name]
            for pair in fit:
                found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, network)
                ours = found and 1e3 * found["wall_s"]
                row.append(cell(of_paper(paper["table_9"][network], key, columns[pair]), ours))
            rows.append(row)
        print_table("Milliseconds for n_2, n_1, paper / ours (times less)", header, rows)
    byte_table(bench, "Table 10", paper["table_10"], pairs, columns, unequal)
    table_11(bench, paper["table_11"], min(20, largest))
    table_12(bench, paper["table_12"], largest)


def byte_table(bench, title, table, pairs, columns=None, rows=PHASING_ROWS):
    name_of = lambda pair: f"n = 2^{pair[0]}" if pair[0] == pair[1] else f"2^{pair[1]}, 2^{pair[0]}"
    printed = []
    for name, key, protocol, bits in rows:
        row = [name]
        for i, pair in enumerate(pairs):
            found = bench.measure(protocol, 2 ** pair[0], 2 ** pair[1], bits, "lan")
            ours = found and found["bytes_total"] / MB
            row.append(cell(of_paper(table, key, columns[pair] if columns else i), ours))
        printed.append(row)
    header = [title] + [name_of(pair) for pair in pairs]
    print_table("MB of 2^20 bytes, paper / ours (times less)", header, printed)


def table_1(bench, table, largest):
    """Bytes for two and more hash functions, by the paper's formula; ours has two and three."""
    n, small, kappa, bits = 2**20, 2**8, 128, 80
    rows = []
    for h, (used, equal, unequal) in table.items():
        characters = 2
        formula = 2 * kappa * characters * n / (used / 100) + int(h) * n * bits
        ours = {"2": (8, "two-way"), "3": (20, "three-way")}.get(h)
        cells = [None, None]
        # Ours stands beside the paper's figure only at the paper's size.
        if ours and largest >= 20:
            found = bench.measure("ot_phasing", 2**20, 2 ** ours[0], 32, "lan")
            cells[0 if ours[0] == 20 else 1] = found and found["bytes_total"] / MB
        rows.append([
            h,
            f"{used}",
            f"{number(equal)} / {number(formula / 8 / MB)} / {number(cells[0])}",
            f"{number(unequal)} / {number(cells[1])}",
        ])
    header = ["Table 1: h", "utilisation %", "n_1 = n_2 = 2^20", "n_2 = 2^8, n_1 = 2^20"]
    print_table("MB for 32 bits: paper / the paper's formula / ours, and paper / ours", header, rows)


def table_11(bench, table, log):
    """The first column is the protocol of 2014, the last is OT-Phasing; those between are steps of the
    paper that exist in no protocol here."""
    rows = []
    for bits, (times, sizes) in table.items():
        row = [f"OT-Phasing, {bits} bit"]
        for values, of in [(times, lambda m: 1e3 * m["wall_s"]), (sizes, lambda m: m["bytes_total"] / MB)]:
            for i, value in enumerate(values):
                protocol = {0: "psz14", 3: "ot_phasing"}.get(i)
                found = protocol and bench.measure(protocol, 2**log, 2**log, int(bits), "wan")
                row.append(cell(value if log == 20 else None, found and of(found)))
        rows.append(row)
    steps = ["original", "short strings", "permutation", "3-way"]
    header = [f"Table 11, n = 2^{log}, WAN"] + [f"{step} ms" for step in steps]
    header += [f"{step} MB" for step in steps]
    print_table("Step by step, paper / ours (times less)", header, rows)


def table_12(bench, table, log):
    """The paper's phases beside ours, which divide the run differently."""
    log = min(24, log)
    names = ["hashing", "base-OTs", "OT extension", "CRF", "communication", "intersect", "total"]
    rows = []
    for party in ["sender", "receiver"]:
        for bits, values in table[party].items():
            paper = values if log == 24 else [None] * len(values)
            rows.append([f"paper, {party}, {bits} bit"] + [number(value) for value in paper])
    print_table(f"Table 12, milliseconds, n = 2^{log}: the paper's phases", ["phase"] + names, rows)
    rows, names = [], []
    for party in ["sender", "receiver"]:
        for bits in table[party]:
            found = bench.measure("ot_phasing", 2**log, 2**log, int(bits), "lan")
            if not found:
                continue
            phases = {phase["name"]: 1e3 * phase["wall_s"] for phase in found[f"phases_{party}"]}
            names = names or list(phases)
            total = 1e3 * found["wall_s"]
            cells = [number(phases.get(name)) for name in names] + [number(total)]
            rows.append([f"ours, {party}, {bits} bit"] + cells)
    if rows:
        print_table("Ours, waiting for the other party included", ["phase"] + names + ["total"], rows)
