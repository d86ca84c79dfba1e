"""G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from oblivious switching",
PKC 2021, and the network of switches alone.

The paper does not say how many bytes its megabytes have; they are taken as 10^6, which favours it.
"""

from tables.layout import NEWER, OTHERS, OWN, UNLIKE, Pair, number, of_paper, size_name
from tables.report import Paper, Part, Reason

MB = 1e6

LOGS = [12, 16, 20]
NETWORKS = [("lan", "LAN"), ("wan", "WAN")]

# The paper's steps of the core, and the parts of ours that do the same.
STEPS = [
    ("PSTY19: programmable OPRF", "psty19", ["oprf"]),
    ("OSN: oblivious switching", "osn", ["switching"]),
    ("PEqT: equality", "peqt", ["comparison", "equality"]),
]


def powers(largest):
    """The paper's sizes, at least the smallest, and their positions in its tables."""
    return [(i, 2**log) for i, log in enumerate(LOGS) if log <= max(LOGS[0], largest)]


def table_1(bench, papers, largest):
    """The core by steps."""
    paper = papers["gmrss21"]["table_1"]
    sizes = powers(largest)
    for protocol in ["gmrss21_cardinality", "cardinality_low_communication", "gmrss21_cardinality_paper"]:
        rows = [[name] for name, _, _ in STEPS] + [["protocol core"]]
        traffic = [[name] for name, _, _ in STEPS]
        for network, _ in NETWORKS:
            for i, n in sizes:
                found = bench.measure(protocol, n, n, 128, network, operation="cardinality")
                ours = found and seconds(found)
                for row, key in zip(rows, [key for _, key, _ in STEPS] + ["core"]):
                    row.append(Pair(of_paper(paper[network], key, i), ours and ours[key], kind=kind_of(protocol)))
                if network == "lan":
                    for row, (_, _, labels) in zip(traffic, STEPS):
                        row.append(number(found and megabytes(found, labels)))
        header = [f"Table 1: {protocol}"] + heads(sizes)
        bench.report.table("Seconds, paper / ours (times less)", header, rows)
        header = [f"In addition to Table 1: {protocol}"] + [f"n = {size_name(n)}" for _, n in sizes]
        bench.report.table("MB of 10^6 bytes, ours, both ways", header, traffic)


def kind_of(protocol):
    """Rows that end so have the paper's components."""
    return OWN if protocol.endswith("_paper") else NEWER


def heads(sizes):
    return [f"{shown} {size_name(n)}" for _, shown in NETWORKS for _, n in sizes]


def seconds(found):
    """Times by step. The first two end at the sender, which waits for the receiver's data; the last step, which ends at
    the receiver, gets the rest."""
    parts = {phase["name"]: phase["wall_s"] for phase in found["phases_sender"]}
    core, oprf, switching = found["wall_s"], parts["oprf"], parts["switching"]
    return {"psty19": oprf, "osn": switching, "peqt": core - oprf - switching, "core": core}


def megabytes(found, labels):
    """The sum of these parts, including those below them."""
    sent = lambda phase: phase["bytes_sent"] + phase["bytes_received"]
    return sum(sent(phase) for phase in found["phases_receiver"] if phase["name"].split("/")[0] in labels) / MB


def compared(bench, paper, largest, title, operation, other, protocols):
    """A table of the paper: its competitor compared with the same protocol, if we have it, and with our first one; and
    the paper's own compared with all of ours."""
    sizes = powers(largest)
    other_name, other_key, *built = other
    lines = [(f"{other_name} / {protocol}", other_key, protocol, OTHERS) for protocol in built]
    lines += [(f"{other_name} / {protocols[0]}", other_key, protocols[0], NEWER)]
    lines += [(f"the paper's / {protocol}", "gmrss21", protocol, kind_of(protocol)) for protocol in protocols]
    times, sent = [], []
    for name, key, protocol, kind in lines:
        found = {
            (network, n): bench.measure(protocol, n, n, 128, network, operation=operation)
            for network, _ in NETWORKS
            for _, n in sizes
        }
        of = lambda network, n, what: (one := found[network, n]) and one[what]
        times.append([name])
        for network, _ in NETWORKS:
            for i, n in sizes:
                times[-1].append(Pair(of_paper(paper[key], network, i), of(network, n, "wall_s"), kind=kind))
        sent.append([name])
        for i, n in sizes:
            ours = of("lan", n, "bytes_total")
            sent[-1].append(Pair(of_paper(paper[key], "mb", i), ours and ours / MB, kind=kind))
    bench.report.table("Seconds, paper / ours (times less)", [title] + heads(sizes), times)
    header = [title] + [f"n = {size_name(n)}" for _, n in sizes]
    bench.report.table("MB of 10^6 bytes, paper / ours (times less)", header, sent)


def table_2(bench, papers, largest):
    """Union, items of 16 bytes."""
    protocols = ["gmrss21_union", "union_low_communication", "gmrss21_union_paper"]
    paper = papers["gmrss21"]["table_2"]
    compared(bench, paper, largest, "Table 2: union", "union", ("KRTW19", "krtw19"), protocols)


def table_3(bench, papers, largest):
    """Cardinality."""
    protocols = ["gmrss21_cardinality", "cardinality_low_communication", "gmrss21_cardinality_paper"]
    paper = papers["gmrss21"]["table_3"]
    compared(bench, paper, largest, "Table 3: cardinality", "cardinality", ("PSTY19", "psty19", "psty19"), protocols)


def table_4(bench, papers, largest):
    """Private ids, half in common as in the paper."""
    protocols = [
        "private_id_oprf",
        "private_id_low_communication",
        "gmrss21_private_id",
        "gmrss21_private_id_paper",
    ]
    paper = papers["gmrss21"]["table_4"]
    compared(bench, paper, largest, "Table 4: private ids", "private-id", ("BKM+20", "bkm20"), protocols)


def other_questions(bench, papers, largest):
    """Protocols of the paper that it does not measure, with our transfers and with its own."""
    sizes = powers(min(largest, 16))
    rows = []
    for protocol, operation in [
        ("gmrss21_intersection", "intersection"),
        ("gmrss21_cardinality_sum", "sum"),
        ("gmrss21_secret_shared_intersection", "shares"),
        ("gmrss21_inner_product", "inner-product"),
    ]:
        for row in [protocol, f"{protocol}_paper"][: 1 if operation == "inner-product" else 2]:
            found = {
                (network, n): bench.measure(row, n, n, 128, network, operation=operation)
                for network, _ in NETWORKS
                for _, n in sizes
            }
            times = [number((one := found[network, n]) and one["wall_s"]) for network, _ in NETWORKS for _, n in sizes]
            sent = [number((one := found["lan", n]) and one["bytes_total"] / MB) for _, n in sizes]
            rows.append([row, *times, *sent])
    header = ["row", *heads(sizes)] + [f"MB, n = {size_name(n)}" for _, n in sizes]
    bench.report.table("Seconds, and MB of 10^6 bytes, ours", header, rows)


def network(bench, papers, largest):
    """Permute and share alone, compared with S. Peceny, S. Raghuraman, P. Rindal, H. Shah, ePrint 2024/547."""
    paper = papers["prrs24"]
    rows = []
    for name, form in [("silent correlated transfers", "correlated"), ("as published, on IKNP", "two-ciphertexts")]:
        for _, n in powers(largest):
            found = bench.switching(form, n, 128)
            told = paper["permute_and_share_2^20_128_bit_s"] if n == 2**20 else None
            sent = found["bytes_holder_to_router"] + found["bytes_router_to_holder"]
            rows.append(
                [
                    f"{name}, n = {size_name(n)}",
                    Pair(told, found["seconds"], kind=UNLIKE),
                    number(found["cpu_s"]),
                    f"{found['switches']:,}",
                    number(sent / MB),
                ]
            )
    header = ["rows of 128 bits", "seconds, PRRS24 / ours", "CPU s of both", "switches", "MB of 10^6 bytes"]
    bench.report.table("Oblivious switching alone, both parties in one process", header, rows)


NETWORKS_DIFFER = (
    "The paper: one machine, networks and bytes by `tc`, 10 Gbit/s with 0.02 ms and 50 Mbit/s with 80 ms. Ours: relays"
    " of the same shapes over TLS; bytes are the payload."
)

FORMULA = (
    "The paper prints fewer bytes than its own formula gives: 1,030 MB for cardinality at 2^20, where the switches"
    " alone take 1.27·n·log n·(128 + 4·60) bits, 1,225 MB (§5). Ours follows the formula, so it takes 17 to 35 % more"
    " than is printed."
)

PAPER = Paper(
    title='G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from oblivious'
    ' switching", PKC 2021',
    has_primitives=True,
    parts={
        "table_1": Part(
            "Table 1",
            table_1,
            NETWORKS_DIFFER + " The first two steps end at our sender.",
            printed=("gmrss21/table_1",),
        ),
        "table_2": Part(
            "Table 2",
            table_2,
            NETWORKS_DIFFER + " Items have 16 bytes here, 60 bits in the paper.",
            printed=("gmrss21/table_2",),
            reasons=(Reason(FORMULA, tables="MB", rows="_paper$", down_to=0.85),),
        ),
        "table_3": Part(
            "Table 3",
            table_3,
            NETWORKS_DIFFER,
            printed=("gmrss21/table_3",),
            reasons=(Reason(FORMULA, tables="MB", rows="_paper$", down_to=0.72),),
        ),
        "table_4": Part(
            "Table 4",
            table_4,
            NETWORKS_DIFFER,
            printed=("gmrss21/table_4",),
            reasons=(
                Reason(FORMULA, tables="MB", rows="_paper$", down_to=0.72),
                Reason(
                    "BKM+20 sends points of a curve alone, which takes fewer bytes and longer.",
                    tables="MB",
                    rows="^BKM",
                    down_to=0.55,
                ),
            ),
        ),
        "other_questions": Part(
            "extra: other questions",
            other_questions,
            "The paper describes these protocols (Figures 8, 9, 11 and 13) and does not measure them. Rows that end in"
            " `_paper` have its transfers and its network.",
        ),
        "network": Part(
            "extra: the network alone",
            network,
            "Not of this paper: S. Peceny and others, ePrint 2024/547, measured the network alone.",
            printed=("prrs24",),
            of_another_paper=True,
        ),
    },
    left_out={"Figures 1 to 15": "describe functionalities and protocols"},
)
