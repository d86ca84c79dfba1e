"""C. Dong, L. Chen, Z. Wen, "When private set intersection meets big data", ACM CCS 2013."""

import math

from tables.layout import MB, NEWER, OTHERS, OWN, UNLIKE, Pair, number, of_paper
from tables.report import Paper, Part, Reason

# The paper's two machines had Gigabit Ethernet between them.
NETWORK = "gigabit"

# The only level here.
LEVEL = 128

# Names of rows, their keys in the paper's table, rows of the catalogue, threads of a party.
ROWS = [
    ("Huang's SCS-WN, 32 bit, ours garbled", "huang_java", "scs_wn", 1),
    ("De Cristofaro's, RSA-2048 (112 bit)", "de_cristofaro", "rsa_dt10", 1),
    ("De Cristofaro's, RSA-3072", "de_cristofaro", "rsa_dt10_3072", 1),
    ("one-more-DH of the same paper, 2048", None, "dl_dt10", 1),
    ("pipelined: gbf_paper, one thread", "gbf_pipelined", "gbf_paper", 1),
    ("parallel: gbf_paper, two threads", "gbf_parallel", "gbf_paper", 2),
    ("pipelined: gbf_iknp, one thread", "gbf_pipelined", "gbf_iknp", 1),
    ("pipelined: gbf, one thread", "gbf_pipelined", "gbf", 1),
    ("parallel: gbf, two threads", "gbf_parallel", "gbf", 2),
    ("extra: gbf_malicious", None, "gbf_malicious", 1),
    ("extra: dh", None, "dh", 1),
    ("extra: psz14", None, "psz14", 1),
    ("extra: OT-Phasing", None, "ot_phasing", 1),
    ("extra: KKRT16", None, "kkrt16", 1),
    ("extra: RR22 VOLE-PSI", None, "rr22", 1),
    ("extra: naive hashing (insecure)", None, "naive_hash", 1),
]


def powers(largest):
    """The paper's sizes, at least the smallest."""
    return [log for log in [10, 12, 14, 16, 18, 20] if log <= max(10, largest)]


def seconds(bench, protocol, log, threads):
    # Huang's items have 32 bits in the paper.
    bits = 32 if protocol.startswith("scs") else 128
    found = bench.measure(protocol, 2**log, 2**log, bits, NETWORK, threads)
    return found and found["wall_s"]


def kind_of(bits, key, protocol):
    """The paper's level of 80 bits is the one below ours; 256 bits are another one."""
    if bits != "80":
        return UNLIKE
    if key and not key.startswith("gbf"):
        return OTHERS
    return OWN if protocol == "gbf_paper" else NEWER


def table_3(bench, papers, largest):
    """Times compared with other protocols."""
    logs = powers(largest)
    for bits, table in papers["dcw13"]["table_3"].items():
        rows = []
        for name, key, protocol, threads in ROWS:
            row = [name]
            for i, log in enumerate(logs):
                ours = seconds(bench, protocol, log, threads)
                row.append(Pair(of_paper(table, key, i), ours, kind=kind_of(bits, key, protocol)))
            rows.append(row)
        header = [f"Table 3, the paper at {bits} bit"] + [f"2^{log}" for log in logs]
        bench.report.table(f"Seconds, paper / ours at {LEVEL} bit (times less)", header, rows)


def figure_4(bench, papers, largest):
    """The modes by size; the steps at the largest."""
    logs = powers(largest)
    table = papers["dcw13"]["table_3"]
    modes = [("pipelined", 1), ("parallel", 2)]
    for letter, (mode, threads) in zip("ac", modes):
        paper = {
            f"paper, {bits} bit": {2**log: of_paper(table[bits], f"gbf_{mode}", i) for i, log in enumerate(logs)}
            for bits in table
        }
        ours = {
            f"{protocol}, {LEVEL} bit": {2**log: seconds(bench, protocol, log, threads) for log in logs}
            for protocol in ["gbf_paper", "gbf"]
        }
        title = f"Figure 4{letter}: {mode}, {threads} thread(s) of each party here"
        bench.report.figure(f"bloom-figure-4{letter}", title, ours, paper)

    log = logs[-1]
    found = bench.measure("gbf_paper", 2**log, 2**log, 128, NETWORK, 1)
    if found:
        rows = [[step, *map(number, times)] for step, times in steps(found).items()]
        header = [f"Figure 4b: gbf_paper, 2^{log}", "server (sender)", "client (receiver)"]
        bench.report.table("Milliseconds of each step, ours; the paper has a plot only", header, rows)

    plain = papers["dcw13"]["plain_pairwise_s"]
    rows = []
    for name, key, protocol, threads in ROWS:
        if protocol in ["gbf_paper", "gbf"]:
            told = of_paper(table["80"], key, logs.index(20)) if 20 in logs else None
            rows.append([name, Pair(told, seconds(bench, protocol, log, threads), kind=UNLIKE)])
    rows.append(["comparing all pairs in clear, one thread (paper)", f"{plain['best']} to {plain['worst']}"])
    if log == 20:
        bench.report.shows(plain["best"], plain["worst"])
    header = ["Figure 4d", f"2^{log}"]
    bench.report.table(f"Seconds, the paper at 80 bit and 2^20 / ours at {LEVEL} bit", header, rows)


def steps(found):
    """The paper's four steps in milliseconds, by party; None for the step of the other. What is not spent on filters goes to
    the transfers: setup, extension, sending, and waiting for the other party."""
    spans = {
        party: {phase["name"]: 1e3 * phase["wall_s"] for phase in found[f"phases_{party}"]}
        for party in ["sender", "receiver"]
    }
    under = lambda party, step: sum(time for name, time in spans[party].items() if name.split("/")[-1] == step)
    garbled, built, query = under("sender", "filter"), under("receiver", "filter"), under("receiver", "query")
    # Two streams of a party overlap, so its steps together may take longer than the run.
    rest = lambda *times: max(0.0, 1e3 * found["wall_s"] - sum(times))
    return {
        "building the Bloom filter": (None, built),
        "building the garbled Bloom filter, with its pads": (garbled, None),
        "transfers, and waiting": (rest(garbled), rest(built, query)),
        "query": (None, query),
        "total": (1e3 * found["wall_s"],) * 2,
    }


def figure_5(bench, papers, largest):
    """Bytes."""
    logs = powers(largest)
    formula = {
        # The paper's figure has no numbers; these follow its formula, 2·λ·m bits, m = 1.44·k·n, k = λ.
        f"paper's formula, {bits} bit": {2**log: 2 * bits * math.log2(math.e) * bits * 2**log / 8 / MB for log in logs}
        for bits in [80, 256]
    }
    ours = {}
    for name, _, protocol, threads in ROWS:
        if threads == 1:
            bits = 32 if protocol.startswith("scs") else 128
            found = {2**log: bench.measure(protocol, 2**log, 2**log, bits, NETWORK) for log in logs}
            ours[name] = {n: one and one["bytes_total"] / MB for n, one in found.items()}
    rows = [[name, *map(number, points.values())] for name, points in {**formula, **ours}.items()]
    header = ["Figure 5"] + [f"2^{log}" for log in logs]
    bench.report.table("MB of 2^20 bytes", header, rows)
    shown = {name: points for name, points in ours.items() if not name.startswith("extra")}
    title = "Figure 5: bytes, ours at 128 bit"
    bench.report.figure("bloom-figure-5", title, shown, formula, y_label="MB of 2^20 bytes")


PAPER = Paper(
    title='C. Dong, L. Chen, Z. Wen, "When private set intersection meets big data", ACM CCS 2013',
    parts={
        "table_3": Part(
            "Table 3",
            table_3,
            "The paper: a server of 12 cores and a client of 4 over Gigabit Ethernet, at 80 and at 256 bits. Ours: one"
            " machine, a relay of 1 Gbit/s with 1 ms, at 128 bits, the only level here: labels, transfers and curves"
            ' have it built in. "Parallel" is two threads of each party. De Cristofaro\'s code has two threads'
            " a side and leaves out the"
            " last step, and RSA of 1024 and 15360 bits; ours has one thread and 2048 or 3072 bits. The summary counts"
            " only `gbf_paper` at the paper's 80 bits. Java's rows of the paper are left out.",
            printed=("dcw13/table_3",),
            reasons=(
                Reason(
                    "The paper's RSA has 1024 bits at 80 bits of security, ours 2048 or 3072: an operation with the"
                    " private key takes 8 to 27 times as long.",
                    tables="80 bit",
                    rows="^De Cristofaro",
                    down_to=0.02,
                ),
                Reason(
                    "Base transfers of 128-bit security and the round trips of the relay, which four threads on two cores"
                    " do not shorten; the paper's parties have 12 and 4 cores.",
                    rows="two threads",
                    columns=r"^2\^10$",
                    down_to=0.7,
                ),
            ),
        ),
        "figure_4": Part(
            "Figure 4",
            figure_4,
            "Points of the paper are those of its Table 3. Its bars, 4b (steps by level) and 4d (modes by level), are"
            " tables here: there is one level. In 4b the paper's four steps overlap: blocks of the filters are built,"
            " sent and queried while others are under way.",
            printed=("dcw13/plain_pairwise_s",),
            plotted={"bloom-figure-4": tuple(2**log for log in [10, 12, 14, 16, 18, 20])},
        ),
        "figure_5": Part(
            "Figure 5",
            figure_5,
            "The paper has plots without numbers; its line is its formula.",
            plotted={"bloom-figure-5": tuple(2**log for log in [10, 12, 14, 16, 18, 20])},
        ),
    },
    left_out={
        "Table 1": "compares costs asymptotically",
        "Table 2": "lists groups and hash functions by level; ours has Curve25519 and SHA-2 or BLAKE3 at 128 bits",
        "Figures 1 to 3": "describe protocols",
        "Figure 6 and §6.4": "built, on Apache Spark in place of Hadoop: its executors run partitions of a match ([Spark]"
        "(../spark.md)), and `bench/spark` measures it; the figure has no numbers. A version for graphics processors,"
        " which §6.4 mentions, is not built",
    },
)
