"""Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS
2012.

The figures of the first are plots: what its text says in numbers is compared, and there is nothing to compare
with in the other cells.
"""

from tables.layout import MB, UNLIKE, Claim, Pair, number, size_name
from tables.report import Paper, Part, Reason

SIGMA = 32

# The network of the paper's two machines.
NETWORK = "fast-ethernet"


def powers(logs, largest):
    """The sizes up to the largest, at least the smallest."""
    return [2**log for i, log in enumerate(logs) if i == 0 or log <= largest]


def wall(found):
    return found and found["wall_s"]


def times(one, other):
    """`one` divided by `other`, if both are known."""
    return one / other if one and other else None


def rows_of_measured(names, columns, measure):
    """A row for each of `names`, (name, id), with the result of `measure` for the id and each column."""
    return [[name] + [number(measure(protocol, column)) for column in columns] for name, protocol in names]


def counts(bench, papers, largest):
    """NDSS 2012, Table 1."""
    sizes = powers([8, 10, 12, 16, 20], largest)
    log = lambda n: n.bit_length() - 1
    merge = lambda n: 2 * SIGMA * n * (log(n) + 1)
    filter_ = lambda n: (3 * n - 1) * SIGMA - n
    switches = lambda n: SIGMA * (n * log(n) - n + 1)
    # With all of them common, 2·n̂ = 2n; Batcher's sort of n has about a quarter of that.
    sorting = lambda n: 2 * SIGMA * n * (log(n) + 1) ** 2
    # A bound n̂ on the matches that both know: 2·n̂ = n/8.
    blocks = lambda n: 2 * SIGMA * n * (log(n) - 3) ** 2
    found = bench.count_gates(SIGMA, sizes, "scs")
    part = lambda circuit, name, key: (
        lambda n: next(part[key] for part in found[circuit, "yao", n]["parts"] if part["name"] == name)
    )
    whole = lambda circuit, share: (
        lambda n: found[circuit, "yao", n]["ands"] + found[circuit, "yao", n]["one_sided"] / share
    )
    lines = [
        ("merge: 2σ·n·log 2n", merge, part("scs_wn", "merge", "ands")),
        ("filter: (3n − 1)·σ − n", filter_, part("scs_wn", "filter", "ands")),
        ("WN: σ·(n·log n − n + 1), one-sided", switches, part("scs_wn", "shuffle", "one_sided")),
        ("SORT: 2σ·n·log² 2n̂, n̂ = n", sorting, part("scs_sort", "shuffle", "ands")),
        ("SORT in blocks of 2n̂, n̂ = n/16", blocks, part("scs_sort_blocks", "shuffle", "ands")),
        ("HE: (σ + 32)·n; ours (σ + 40 + log n)·n", lambda n: (SIGMA + 32) * n, part("scs_he", "shuffle", "ands")),
        (
            "SCS-WN, a one-sided gate as ⅓, its ciphertexts then",
            lambda n: merge(n) + filter_(n) + switches(n) / 3,
            whole("scs_wn", 3),
        ),
        (
            "SCS-WN, a one-sided gate as ½, its ciphertexts now",
            lambda n: merge(n) + filter_(n) + switches(n) / 2,
            whole("scs_wn", 2),
        ),
        ("SCS-SORT", lambda n: merge(n) + filter_(n) + sorting(n), whole("scs_sort", 1)),
        (
            "SCS-SORT in blocks of 2n̂, n̂ = n/16",
            lambda n: merge(n) + filter_(n) + blocks(n),
            whole("scs_sort_blocks", 1),
        ),
        ("SCS-HE", lambda n: merge(n) + filter_(n) + (SIGMA + 32) * n, whole("scs_he", 1)),
    ]
    rows = [[name] + [whole_numbers(paper(n), ours(n)) for n in sizes] for name, paper, ours in lines]
    audit = ["auditing: n·log n − n; ours n − wt(n)"]
    rows.append(audit + [whole_numbers(n * log(n) - n, found["scs_wn", "yao", n]["audit_ands"]) for n in sizes])

    sizes_of_pairs = [n for n in sizes if n <= 2**12]
    pairs = bench.count_gates(SIGMA, sizes_of_pairs, "pwc")
    blank = [""] * (len(sizes) - len(sizes_of_pairs))
    all_pairs = [whole_numbers(n * n * (SIGMA - 1), pairs["pwc", "yao", n]["ands"]) for n in sizes_of_pairs]
    rows.append(["PWC, n̂ = 0: n²·(σ − 1)"] + all_pairs + blank)
    # If both learn, the number of comparisons depends on the run; a test of the protocol checks it against this.
    half = [f"{round(((2 * n - n // 2) ** 2 + n // 2) * (SIGMA - 1) / 4):,} / –" for n in sizes_of_pairs]
    rows.append(["PWC, n̂ = n/2, matches revealed at once"] + half + blank)
    header = ["Table 1, σ = 32"] + [f"n = {size_name(n)}" for n in sizes]
    bench.report.table("Gates: the paper's formula / ours, or = where they are equal", header, rows, how="counted")

    domains = [8, 12, 16, 20]
    found = {bits: bench.count_gates(bits, [1], "bwa") for bits in domains}
    gates = lambda bits: found[bits]["bwa", "yao", 2**bits]
    rows = [
        ["BWA: 2^σ; ours one-sided"] + [whole_numbers(2**b, gates(b)["one_sided"]) for b in domains],
        ["auditing: σ·2^σ − 2^σ; ours 2^σ − 1"]
        + [whole_numbers(2**b * b - 2**b, gates(b)["audit_ands"]) for b in domains],
    ]
    bench.report.table("Gates of BWA", ["Table 1"] + [f"σ = {b}" for b in domains], rows, how="counted")


def whole_numbers(paper, ours):
    return Pair(paper, ours, whole=True)


def figure_8(bench, papers, largest):
    """BWA compared with SCS-WN for small domains."""
    paper = papers["hek12"]["figure_8"]
    domains = [bits for bits in range(8, 21, 2) if bits <= largest + 4]

    def bwa(protocol, bits, audited=False):
        n = 2 ** min(largest, bits - 2)
        question = {"max_matches": n} if audited else {}
        return wall(bench.measure(protocol, n, n, bits, NETWORK, **question))

    def scs(n, bits):
        # Half of the smaller set is common, and zero is in use.
        fits = n // 2 * 3 < 2**bits
        return wall(bench.measure("scs_wn", n, n, bits, NETWORK)) if fits else None

    rows = []
    for name, protocol, audited, key in [
        ("BWA", "bwa", False, "bwa_s"),
        ("BWA with auditing", "bwa", True, "bwa_audited_s"),
        ("extra: on shares", "bwa_gmw", False, None),
        ("extra: on shares with auditing", "bwa_gmw", True, None),
    ]:
        told = paper.get(key, {})
        rows.append([name] + [Pair(told.get(str(b)), bwa(protocol, b, audited)) for b in domains])
    sizes = powers([5, 7, 9, 11, 13], largest)
    for n in sizes:
        rows.append([f"SCS-WN, n = {n:,}"] + [Pair(None, scs(n, bits)) for bits in domains])
    faster = []
    for bits in domains:
        told = paper["bwa_is_faster_above_n"].get(str(bits))
        at = crossing(bwa("bwa", bits), [(n, scs(n, bits)) for n in sizes])
        faster.append(f"{number(told)} / {at}" if at else f"{number(told)} / –")
        bench.report.shows(told if at else None)
    rows.append(["BWA is faster above n"] + faster)
    header = ["Figure 8"] + [f"σ = {bits}" for bits in domains]
    bench.report.table("Seconds, paper / ours (times less)", header, rows)

    told = lambda key: {2 ** int(bits): seconds for bits, seconds in paper[key].items()}
    lines = {
        "BWA": {2**bits: bwa("bwa", bits) for bits in domains},
        "BWA with auditing": {2**bits: bwa("bwa", bits, audited=True) for bits in domains},
        **{f"SCS-WN, n = {n:,}": {2**bits: scs(n, bits) for bits in domains} for n in sizes},
    }
    others = {"paper: BWA": told("bwa_s"), "paper: BWA with auditing": told("bwa_audited_s")}
    title = "Figure 8: small domains; of the paper, the points of its text"
    bench.report.figure("circuits-figure-8", title, lines, others, x_label="2^σ, size of the domain")


def crossing(level, line):
    """Where the rising `line` of (n, seconds) meets `level`, between its points on a straight line."""
    known = [(n, seconds) for n, seconds in line if seconds]
    if level is None or not known:
        return None
    if known[0][1] >= level:
        return f"< {known[0][0]}"
    for (n, low), (m, high) in zip(known, known[1:]):
        if high >= level:
            return f"{round(n + (m - n) * (level - low) / (high - low)):,}"
    return f"> {known[-1][0]:,}"


def figure_9(bench, papers, largest):
    """PWC compared with SCS-WN for small sets. Both parties learn the intersection: then PWC reveals matches early, and
    its time depends on their number."""
    sizes = powers(range(3, 9), largest)
    rows, lines = [], {}
    for name, protocol in [("PWC", "pwc"), ("SCS-WN", "scs_wn"), ("PWC on shares", "pwc_gmw")]:
        for share, common in [("0", lambda n: 0), ("n/2", lambda n: n // 2), ("n", lambda n: n)]:
            found = [wall(bench.measure(protocol, n, n, SIGMA, NETWORK, common=common(n), both=True)) for n in sizes]
            rows.append([f"{name}, n̂ = {share}"] + [number(seconds) for seconds in found])
            lines[f"{name}, n̂ = {share}"] = dict(zip(sizes, found))
    header = ["Figure 9, σ = 32"] + [f"n = {n}" for n in sizes]
    bench.report.table("Seconds, ours; the paper has a plot only", header, rows)
    bench.report.figure("circuits-figure-9", "Figure 9: small sets, both learn the intersection", lines)


def figure_10(bench, papers, largest):
    """Larger sets, and 2^20."""
    paper = papers["hek12"]["figure_10"]
    sizes = powers(range(7, 14), largest)
    names = [
        ("PWC, all pairs", "pwc"),
        ("SCS-WN", "scs_wn"),
        ("SCS-HE", "scs_he"),
        ("SCS-SORT", "scs_sort"),
        ("extra: PWC on shares", "pwc_gmw"),
        ("extra: SCS-WN on shares", "scs_wn_gmw"),
        ("extra: SCS-HE on shares", "scs_he_gmw"),
        ("extra: SCS-SORT on shares", "scs_sort_gmw"),
        ("extra: Circuit-Phasing on shares", "circuit_phasing"),
        ("extra: Circuit-Phasing garbled", "circuit_phasing_yao"),
    ]
    measured = lambda protocol, n: bench.measure(protocol, n, n, SIGMA, NETWORK)
    # The paper's PWC reveals matches early, so both parties learn them.
    early = lambda n: bench.measure("pwc", n, n, SIGMA, NETWORK, common=n // 2, both=True)
    with_early = lambda rows, of: [["PWC, early reveal: both learn"] + [number(of(n)) for n in sizes]] + rows
    header = ["Figure 10, σ = 32, n̂ = n/2"] + [f"n = {size_name(n)}" for n in sizes]
    rows = rows_of_measured(names, sizes, lambda protocol, n: wall(measured(protocol, n)))
    rows = with_early(rows, lambda n: wall(early(n)))
    ratios = [
        ("PWC, early reveal, over SCS-WN: paper {} to {}".format(*paper["pwc_over_scs_wn"]), "pwc_over_scs_wn", early),
        ("SCS-HE over SCS-WN: paper over 7", "scs_he_over_scs_wn", lambda n: measured("scs_he", n)),
    ]
    for name, key, of in ratios:
        found = [times(wall(of(n)), wall(measured("scs_wn", n))) for n in sizes]
        rows.append([name] + [Claim(paper[key][0], one) for one in found])
        if any(found):
            bench.report.shows(*paper[key])
    bench.report.table("Seconds, ours; the paper has a plot only", header, rows)
    sent = lambda found: found and found["bytes_total"] / MB
    rows = rows_of_measured(names, sizes, lambda protocol, n: sent(measured(protocol, n)))
    rows = with_early(rows, lambda n: sent(early(n)))
    bench.report.table("MB of 2^20 bytes, ours; the paper has a plot only", header, rows)
    title = "Figure 10: larger sets, half in common"
    for name, of, label in [("time", wall, "seconds"), ("bytes", sent, "MB of 2^20 bytes")]:
        lines = {shown: {n: of(measured(protocol, n)) for n in sizes} for shown, protocol in names[:4]}
        lines["PWC, early reveal"] = {n: of(early(n)) for n in sizes}
        bench.report.figure(f"circuits-figure-10-{name}", title, lines, y_label=label)

    # At 2^20 the paper's network would need more than an hour for the bytes alone.
    measured = lambda protocol, n: bench.measure(protocol, n, n, SIGMA, "loopback")
    sizes = powers([min(16, max(largest, 4)), 20], largest)
    gates = bench.count_gates(SIGMA, sizes, "scs_wn")
    rows = []
    for n in sizes:
        found = measured("scs_wn", n)
        ours = gates["scs_wn", "yao", n]
        is_told = n == 2**20
        weighed = ours["ands"] + ours["one_sided"] / 3
        all_gates = ours["ands"] + ours["one_sided"]
        rows.append(
            [
                size_name(n),
                Pair(paper["scs_wn_2^20_s"] if is_told else None, wall(found), kind=UNLIKE),
                Pair(paper["scs_wn_2^20_gates"] if is_told else None, weighed, kind=UNLIKE),
                number(found and found["bytes_total"] / MB),
                number(found and found["peak_rss_bytes_sender"] / 1e6),
                number(found and found["peak_rss_bytes_receiver"] / 1e6),
                number(found and all_gates / found["wall_s"] / 1e6),
            ]
        )
    header = [
        "SCS-WN, n, loopback",
        "seconds",
        "gates, one-sided as ⅓",
        "MB",
        "sender's peak, 10^6 bytes",
        "receiver's",
        "10^6 gates/s",
    ]
    bench.report.table("Paper / ours (times less)", header, rows)


def figure_11(bench, papers, largest):
    """Compared with the protocols of De Cristofaro and Tsudik, at the only security level here."""
    paper = papers["hek12"]["figure_11"]
    n = 2 ** min(10, largest)
    names = [
        ("SCS-WN, 32 bit", "scs_wn", 32),
        ("SCS-WN, digests (paper: 160 bit)", "scs_wn", 128),
        ("one-more-DL, 2048 bits (short)", "dl_dt10", 128),
        ("one-more-DL, 3072 bits (medium)", "dl_dt10_3072", 128),
        ("one-more-RSA, 2048 bits (short)", "rsa_dt10", 128),
        ("one-more-RSA, 3072 bits (medium)", "rsa_dt10_3072", 128),
        ("extra: SCS-HE, 32 bit", "scs_he", 32),
        ("extra: SCS-HE, digests", "scs_he", 128),
        ("extra: SCS-WN on shares, digests", "scs_wn_gmw", 128),
        ("extra: PWC, digests", "pwc", 128),
        ("extra: Circuit-Phasing on shares, digests", "circuit_phasing", 128),
        ("extra: DH on a curve", "dh", 128),
    ]
    range_of = lambda values: f"{number(values[0])} to {number(values[1])}"
    rows = []
    for name, protocol, bits in names:
        found = bench.measure(protocol, n, n, bits, NETWORK)
        told = ""
        if n == 1024 and (protocol, bits) == ("scs_wn", 128):
            told = range_of(paper["scs_wn_160_bit_mb"])
            bench.report.shows(*paper["scs_wn_160_bit_mb"])
        elif n == 1024 and protocol in ["dl_dt10", "dl_dt10_3072", "rsa_dt10", "rsa_dt10_3072"]:
            told = range_of(paper["de_cristofaro_mb"])
            bench.report.shows(*paper["de_cristofaro_mb"])
        rows.append([name, number(wall(found)), told, number(found and found["bytes_total"] / MB)])
    header = [f"Figure 11, n = {n:,}", "seconds, ours", "MB, paper (80 to 256 bit)", "MB, ours"]
    bench.report.table("Security of 128 bits; moduli as named", header, rows)


def table_2(bench, papers, largest):
    """Expensive operations, n = 1024. A length of 160 bits is a digest here, of which the circuit compares fewer."""
    paper, n = papers["hek12"]["table_2"], 1024
    bits = 40 + 2 * 10
    gates = bench.count_gates(bits, [n], "scs_wn")["scs_wn", "yao", n]
    # The garbler hashes four blocks for an AND gate and two for a one-sided one, the evaluator half as many.
    hashes = 6 * gates["ands"] + 3 * gates["one_sided"]
    base = bench.count_group_operations("base-transfers")
    rows = [
        [
            "exponentiations of the base transfers",
            f"{paper['scs_wn']['exponentiations_per_k'] * 80:,}",
            f"{base['powers'] + base['powers_from_table']:,}",
        ],
        ["hashes of blocks", f"{paper['scs_wn']['hashes'] / 1e6:.2f} M", f"{hashes / 1e6:.2f} M"],
    ]
    header = ["Table 2: SCS-WN", "paper, σ = 160, 80 bit", f"ours, {bits} bits compared, 128 bit"]
    bench.report.table("Counts; the transfers' own hashes are left out of ours", header, rows, how="counted")
    bench.report.shows(*paper["scs_wn"].values())
    dl, rsa = paper["dl"], paper["rsa"]
    compared = [count for one in [dl, rsa] for name, count in one.items() if name != "multiplications"]
    bench.report.shows(*compared)
    of_dl, of_rsa = bench.count_group_operations("dl-dt10", n), bench.count_group_operations("rsa-dt10", n)
    rows = [
        [
            "one-more-DL",
            "exponentiations",
            f"{dl['exponentiations']:,}",
            f"{of_dl['powers'] + of_dl['powers_from_table']:,}",
        ],
        ["one-more-DL", "inverses", f"{dl['inverses']:,}", f"{of_dl['inversions']:,}"],
        ["one-more-DL", "hashes", f"{dl['hashes']:,}", f"{of_dl['hashes_to_group']:,}"],
        ["one-more-RSA", "exponentiations, secret", f"{rsa['long']:,}", f"{of_rsa['roots']:,}"],
        [
            "one-more-RSA",
            "exponentiations, public",
            f"{rsa['short']:,}",
            f"{of_rsa['short_powers']:,}, two thirds of them to check roots",
        ],
        ["one-more-RSA", "inverses", f"{rsa['inverses']:,}", f"{of_rsa['inversions']:,}"],
        ["one-more-RSA", "hashes", f"{rsa['hashes']:,}", f"{of_rsa['hashes_to_group']:,}"],
    ]
    header = ["Table 2: DT10", "operation", "paper", "ours"]
    bench.report.table(
        "Counted in runs, both parties together; ours without products, the search for primes and hashes of tags."
        " One-more-DL hashes the receiver's items twice, and one-more-RSA derives the receiver's random numbers by two"
        " hashes each; sixteen items share an inversion, of RSA thirty-two, and its key takes one",
        header,
        rows,
        how="counted",
    )


def auditing(bench, papers, largest):
    """NDSS 2012, §6: the cost of checking the size of the intersection first."""
    paper = papers["hek12"]["auditing"]
    n = 2 ** min(12, largest)
    names = [
        ("BWA, σ = 12", "bwa", 12, min(n, 2**10), "bwa"),
        ("BWA, σ = 16", "bwa", 16, n, "bwa"),
        ("BWA, σ = 20", "bwa", 20, n, None),
        ("BWA on shares, σ = 16", "bwa_gmw", 16, n, None),
        ("BWA on shares, σ = 20", "bwa_gmw", 20, n, None),
        ("PWC, n = 2^8", "pwc", SIGMA, 2**8, None),
        ("SCS-WN", "scs_wn", SIGMA, n, "scs"),
        ("SCS-SORT", "scs_sort", SIGMA, n, "scs"),
        ("SCS-HE", "scs_he", SIGMA, n, "scs"),
        ("SCS-WN on shares", "scs_wn_gmw", SIGMA, n, None),
        ("Circuit-Phasing on shares", "circuit_phasing", SIGMA, n, None),
        ("Circuit-Phasing garbled", "circuit_phasing_yao", SIGMA, n, None),
    ]
    if largest >= 16:
        names.insert(7, ("SCS-WN, n = 2^16", "scs_wn", SIGMA, 2**16, "scs"))
        names.append(("Circuit-Phasing on shares, n = 2^16", "circuit_phasing", SIGMA, 2**16, None))
    # A domain far larger than the sets would take all the time.
    names = [one for one in names if not one[1].startswith("bwa") or one[2] <= largest + 4]
    rows = []
    for name, protocol, bits, len_, key in names:
        without = bench.measure(protocol, len_, len_, bits, NETWORK)
        with_it = bench.measure(protocol, len_, len_, bits, NETWORK, max_matches=len_)
        of = lambda field: [found and found[field] for found in [without, with_it]]
        row = [name, number(paper.get(key))]
        bench.report.shows(paper.get(key) if without and with_it else None)
        for field in ["wall_s", "cpu_s", "bytes_total"]:
            before, after = of(field)
            row.append(number(times(after, before)))
        rows.append(row + [number(value) for value in of("wall_s")])
    header = [f"§6, n = {n:,}", "paper", "time", "CPU time", "bytes", "s without", "s with"]
    bench.report.table("With auditing over without", header, rows)


def rates(bench, papers, largest):
    """Gates and comparisons per second of CPU time, and of runs over the loopback."""
    figures = [one for name in ["gates", "comparisons"] for one in bench.primitives(name, largest)]
    rows = [[figure["name"], number(figure["per_s"] / 1e6), number(bytes_each(figure))] for figure in figures]
    header = ["gates", "10^6 a CPU second", "bytes each"]
    bench.report.table("One core for what is named: a party, or both together", header, rows)

    n = 2 ** min(16, largest)
    gates = {**bench.count_gates(SIGMA, [n], "scs"), **bench.count_gates(SIGMA, [n], "circuit_phasing")}
    rows = []
    for name, circuit, engine, protocol in [
        ("SCS-WN", "scs_wn", "yao", "scs_wn"),
        ("SCS-SORT", "scs_sort", "yao", "scs_sort"),
        ("Circuit-Phasing garbled", "circuit_phasing", "yao", "circuit_phasing_yao"),
        ("SCS-WN on shares", "scs_wn", "gmw", "scs_wn_gmw"),
        ("SCS-SORT on shares", "scs_sort", "gmw", "scs_sort_gmw"),
        # Gates of the garbled circuit: on shares, tables replace most gates.
        ("Circuit-Phasing on shares, gates of the garbled one", "circuit_phasing", "yao", "circuit_phasing"),
    ]:
        found = bench.measure(protocol, n, n, SIGMA, NETWORK)
        count = gates[circuit, engine, n]
        total = count["ands"] + count["one_sided"]
        rows.append(
            [
                name,
                f"{total:,}",
                number(wall(found)),
                number(found and total / found["wall_s"] / 1e6),
                number(found and total / found["cpu_s"] / 1e6),
            ]
        )
    header = [f"n = {size_name(n)}, σ = 32", "gates", "seconds", "10^6 a second", "10^6 a CPU second"]
    bench.report.table("Whole runs: inputs, transfers and setup included", header, rows)


def bytes_each(figure):
    return figure["bytes"] / figure["n"] if figure["bytes"] else None


MACHINES = (
    "The paper: two desktops of 3 GHz, 100 Mbit/s, labels of 80 bits, Java; without 1.2 s of making circuits and less"
    " than 1 s of starting transfers. Ours: one machine, a relay of 100 Mbit/s with 1 ms, labels of 128 bits, all"
    " included."
)

PAPER = Paper(
    title='Y. Huang, D. Evans, J. Katz, "Are garbled circuits better than custom protocols?", NDSS 2012',
    has_primitives=True,
    parts={
        "counts": Part(
            "Table 1",
            counts,
            "Ours needs fewer gates in the sort (the paper takes log² where Batcher's network needs a quarter) and in"
            " counting matches, more in the masks of SCS-HE. Where a bound n̂ on the matches is known, blocks of 2n̂"
            " are sorted one after the other: n/n̂ − 1 of our sorters. No row of the catalogue does it: SCS-WN"
            " shuffles with fewer bytes unless n̂ is below a handful.",
            # Formulas, no figures.
        ),
        "figure_8": Part(
            "Figure 8",
            figure_8,
            MACHINES + " Of plots, the numbers that the text gives are compared.",
            printed=("hek12/figure_8",),
        ),
        "figure_9": Part(
            "Figure 9",
            figure_9,
            MACHINES + " Both parties learn the intersection: then PWC reveals early.",
            plotted={"circuits-figure-9": tuple(2**log for log in range(3, 9))},
        ),
        "figure_10": Part(
            "Figure 10",
            figure_10,
            MACHINES + " Only the receiver learns the intersection, but"
            " in the rows with an"
            " early reveal. 2^20 items run over the loopback: at 100 Mbit/s the bytes alone would take 78 minutes.",
            printed=("hek12/figure_10",),
            plotted={"circuits-figure-10": tuple(2**log for log in range(7, 14))},
            reasons=(
                Reason(
                    "The ratio of two of our own protocols. Computing took most of the paper's time and takes little"
                    " of ours: at 100 Mbit/s SCS-WN and PWC wait for the network, so that their ratio is that of their"
                    " bytes; SCS-HE has about as many bytes as SCS-WN, and encrypts in little more than the time that"
                    " they take.",
                    rows="over SCS-WN",
                    down_to=0.1,
                ),
            ),
        ),
        "figure_11": Part(
            "Figure 11",
            figure_11,
            "Labels are one block of AES, so there is one level, 128 bits; 80 and 112 bits would cost the same, 192 and"
            " 256 bits would need labels of two blocks. So there is a table in place of a curve over the levels. The"
            " public-key protocols have the levels of their moduli: 112 and 128 bits.",
            printed=("hek12/figure_11",),
        ),
        "table_2": Part(
            "Table 2",
            table_2,
            "Nothing is timed. The hashes of SCS-WN follow from the gates that the counting evaluator sees, all else is"
            " counted in runs.",
            printed=("hek12/table_2",),
        ),
        "auditing": Part("§6, auditing", auditing, "The paper gives ratios only.", printed=("hek12/auditing",)),
        "rates": Part("extra: rates of gates", rates),
    },
    left_out={
        "Table 3": 'recommendations of NIST; ours is the level "medium", with ffdhe2048 and RSA of 2048 bits at "short"',
        "Figures 1 to 7": "describe circuits and protocols",
    },
)
