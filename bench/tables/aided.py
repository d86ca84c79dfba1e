"""S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling private set intersection to billion-element sets", Financial
Cryptography 2014: a helper and two parties as three processes on this machine, over TLS, on items made as they are
needed.

Table 4 needs redis-server; scripts/databases finds it, or installs the databases of the tests with apt. Intermediate data
goes to the target folder: some 50 bytes for each item of each party.
"""

import math
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time

from tables.layout import OTHERS, OWN, UNLIKE, Pair, number
from tables.report import Paper, Part, Reason
from tables.store import ROOT

MB = 1e6

# A public-key protocol is not measured above this many items.
DT10_LARGEST = 10_000

# The paper's own bytes fill 187 Mbit/s at 10^8 items, so its network had more than `wan` has.
NETWORKS = ["transatlantic", "wan", "loopback"]
# Emulated networks are not used above this many items.
NETWORK_LARGEST = 1_000_000

# Times of larger sets vary little, and take long.
ONE_RUN_ABOVE = 20_000_000


def median(bench, protocol, n, *options):
    """The run of median time; None if it is left out, or why it `Failed`."""
    return side_by_side(bench, n, [(protocol, options)])[0]


def side_by_side(bench, n, kinds):
    """The runs of median time of several kinds, measured in turn, so that all see the same machine."""
    found = [[] for _ in kinds]
    for turn in range(bench.runs if n <= ONE_RUN_ABOVE else 1):
        for runs, (protocol, options) in zip(found, kinds):
            # Another turn would not do better.
            if all(runs):
                runs.append(bench.once(protocol, n, options, turn))
    return [middle(runs) for runs in found]


def middle(runs):
    for one in runs:
        if not one:
            return one
    return sorted(runs, key=wall)[len(runs) // 2]


def wall(found):
    return found and found["median"]["wall_s"]


def ms(found):
    return found and wall(found) * 1000


def megabytes(found):
    """What a party puts into slots; requests and letters come on top."""
    return found and found["formula_bytes"] / MB


def over(one, other):
    return wall(one) / wall(other) if one and other else None


def sizes(table, largest):
    """The paper's sizes, at least the smallest, and their positions in its tables."""
    return [(i, n) for i, n in enumerate(table["n"]) if i == 0 or n <= 2**largest]


def heads(chosen):
    return [f"{n:,}" for _, n in chosen]


def table_1(bench, papers, largest):
    """Sizes up to 10^9 over the Internet."""
    table = papers["kmrs14"]["table_1"]
    chosen = sizes(table, largest)
    rows = [[f"ms, {network}"] for network in NETWORKS]
    # The others are slower or faster than the Internet between two coasts.
    kinds = {network: OWN if network == NETWORKS[0] else UNLIKE for network in NETWORKS}
    traffic, memory, helper = ["MB a party"], ["MB, party"], ["MB, helper"]
    for i, n in chosen:
        found = None
        for row, network in zip(rows, NETWORKS):
            if network == "loopback" or n <= NETWORK_LARGEST:
                found = median(bench, "server_aided", n, "--network", network, "--threads", 2)
                row.append(Pair(table["ms"][i], ms(found), kind=kinds[network]))
            else:
                row.append(Pair(table["ms"][i], None, kind=kinds[network]))
        traffic.append(Pair(table["mb"][i], megabytes(found)))
        memory.append(number(found and found["median"]["peak_rss_bytes"] / MB))
        helper.append(number(found and found["median"]["peak_rss_bytes_helper"] / MB))
    title = "Table 1: server_aided, two threads, paper / ours (times less)"
    bench.report.table(title, ["n"] + heads(chosen), [*rows, traffic])
    bench.report.table("In addition to Table 1: peak memory", ["n"] + heads(chosen), [memory, helper])


def table_2(bench, papers, largest):
    """A local network, compared with a public-key protocol."""
    table = papers["kmrs14"]["table_2"]
    chosen = sizes(table, largest)
    rows = []
    for key, protocol, most in [
        ("dt10", "rsa_dt10", DT10_LARGEST),
        ("server_aided", "server_aided", math.inf),
        ("server_aided_size_hiding", "server_aided_size_hiding", math.inf),
    ]:
        # The paper's helper keeps lists in memory. Ours writes them to its disk without `--backend memory:`.
        backends = [[]] if key == "dt10" else [["--backend", "memory:"], []]
        for backend in backends:
            row = [" ".join([protocol, *backend])]
            kind = OTHERS if key == "dt10" else OWN if backend else UNLIKE
            for i, n in chosen:
                found = median(bench, protocol, n, "--network", "lan", *backend) if n <= most else None
                row.append(Pair(table[key][i], ms(found), kind=kind))
            rows.append(row)
    title = "Table 2: ms in a local network, paper / ours (times less)"
    bench.report.table(title, ["n"] + heads(chosen), rows)


def table_3(bench, papers, largest):
    """Compared with the same exchange of the items themselves."""
    table = papers["kmrs14"]["table_3"]
    chosen = sizes(table, largest)
    lines = [("plain", "server_aided", ["--in-clear"]), ("server_aided", "server_aided", [])]
    lines += [("server_aided_malicious", "server_aided_malicious", [])]
    lines += [("server_aided_size_hiding", "server_aided_size_hiding", [])]
    rows, ratios = [[name] for name, _, _ in lines], [["over plain: " + name] for name, _, _ in lines[1:]]
    traffic = [["MB: server_aided"], ["MB: server_aided_size_hiding"]]
    for i, n in chosen:
        kinds = [(protocol, [*options, "--threads", 2]) for _, protocol, options in lines]
        found = side_by_side(bench, n, kinds)
        for row, (name, _, _), one in zip(rows, lines, found):
            row.append(Pair(table.get(name, {i: None})[i], ms(one), kind=UNLIKE))
        for row, (name, _, _), one in zip(ratios, lines[1:], found[1:]):
            told = table[name][i] / table["plain"][i] if name in table else None
            row.append(f"{number(told)} / {number(over(one, found[0]))}")
        traffic[0].append(Pair(table["mb"][i], megabytes(found[1])))
        traffic[1].append(Pair(table["mb_size_hiding"][i], megabytes(found[3])))
    title = "Table 3: ms over the loopback, two threads, paper / ours; measured in turn"
    bench.report.table(title, ["n"] + heads(chosen), [*rows, *ratios, *traffic])


def table_4(bench, papers, largest):
    """Redis in place of the helper's own store."""
    table = papers["kmrs14"]["table_4"]
    chosen = sizes(table, largest)
    lines = [("plain", "server_aided", ["--in-clear"]), ("server_aided", "server_aided", [])]
    lines += [("server_aided_malicious", "server_aided_malicious", [])]
    rows = [[name] for name, _, _ in lines]
    redis = Redis()
    with redis as url:
        # Another run of this script, on another port, measures the same.
        bench.store.names[url] = "redis"
        bench.store.servers.add(redis.server.pid)
        for i, n in chosen:
            kinds = [(protocol, [*options, "--backend", url]) for _, protocol, options in lines]
            for row, (name, _, _), one in zip(rows, lines, side_by_side(bench, n, kinds)):
                known = table[name]
                row.append(Pair(known[i] if i < len(known) else None, ms(one), kind=UNLIKE))
    title = "Table 4: ms with Redis, paper / ours (times less)"
    bench.report.table(title, ["n"] + heads(chosen), rows)


class Redis:
    """A separate server on a free port of this machine, with its data only in memory."""

    def __enter__(self):
        places = subprocess.run([ROOT / "scripts" / "databases"], stdout=subprocess.PIPE, text=True, check=True)
        program = next(
            path
            for place in places.stdout.strip().split(":")
            if (path := pathlib.Path(place) / "redis-server").exists()
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command = [str(part) for part in [program, *options, "--dir", self.folder.name]]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        return f"redis://127.0.0.1:{port}"
                time.sleep(0.1)
            raise RuntimeError("redis-server does not answer")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()


# The size of the paper's sets in its Figure 5.
FIGURE_5_ITEMS = 10_000_000


def figure_5(bench, papers, largest):
    """Threads."""
    n = min(FIGURE_5_ITEMS, 2**largest)
    counts = [1, 2, 4, 8]
    rows, lines = [], {}
    for protocol in ["server_aided", "server_aided_size_hiding"]:
        # The parties and the helper share this machine's cores.
        found = [median(bench, protocol, n, "--threads", threads) for threads in counts]
        shown = [f"{number(wall(one))} s ({number(over(found[0], one))}×)" for one in found]
        rows.append([protocol, "up to 3×", *shown])
        lines[protocol] = dict(zip(counts, map(wall, found)))
    heads = [f"{threads} threads" for threads in counts]
    title = f"Figure 5: threads, {n:,} items, {os.cpu_count()} cores for three processes"
    bench.report.table(title, ["row", "the paper's text"] + heads, rows)
    if n < FIGURE_5_ITEMS:
        bench.report.note(f"measured with {n:,} items, the paper's plots have {FIGURE_5_ITEMS:,}: nothing to compare")
    bench.report.figure("aided-figure-5", title, lines, x_label="threads of a party")


def fit(bench, papers, largest):
    """An estimate for 10^9 items."""
    chosen = [n for n in [1_000_000, 10_000_000, 100_000_000] if n <= 2**largest]
    if len(chosen) < 2:
        bench.report.note("not estimated: that takes sets of 10^6 and 10^7 items")
        return
    found = [median(bench, "server_aided", n, "--threads", 2) for n in chosen]
    if not all(found):
        bench.report.note("not estimated: the sets that it takes were left out")
        return
    logs = [math.log(n) for n in chosen]
    walls = [math.log(wall(one)) for one in found]
    slope = statistics.linear_regression(logs, walls)
    billion = 10**9
    at = math.exp(slope.intercept + slope.slope * math.log(billion))
    # Fixed costs make small sizes look slow; sorting and disks make large ones slow.
    last_slope = (walls[-1] - walls[-2]) / (logs[-1] - logs[-2])
    from_last = wall(found[-1]) * (billion / chosen[-1]) ** last_slope
    growth = billion / chosen[-1]
    told = papers["kmrs14"]["table_1"]["ms"][4] / 1000
    rows = [
        [f"seconds, which grow as n^{slope.slope:.2f}", Pair(told, at, kind=UNLIKE)],
        [f"seconds, by the last two alone, which grow as n^{last_slope:.2f}", Pair(told, from_last, kind=UNLIKE)],
        ["GB that each party sends and the helper keeps of it", number(growth * found[-1]["formula_bytes"] / 1e9)],
        ["GB of intermediate files of each party", number((16 + 5) * billion / 1e9)],
    ]
    title = (
        f"An estimate from {', '.join(f'{n:,}' for n in chosen)} items; the paper measured three machines of 8 cores"
    )
    bench.report.table(title, ["n", f"{billion:,}"], rows, how="estimated")


PAPER = Paper(
    title='S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, "Scaling private set intersection to billion-element sets",'
    " Financial Cryptography 2014",
    parts={
        "table_1": Part(
            "Table 1",
            table_1,
            "The paper: three machines of 8 cores, 20 to 100 threads, clients in the East and the helper in the West of"
            " the USA; it gives no bandwidth, but its bytes at 10^8 fill 187 Mbit/s. Ours: three processes on one"
            " machine, relays of 400 Mbit/s with 96 ms and of 50 Mbit/s with 80 ms. Times run from each party's"
            " connection to the helper to the later result.",
            printed=("kmrs14/table_1",),
            reasons=(
                Reason(
                    "`wan` has 50 Mbit/s, on which the bytes of both parties alone take that long; the paper's network"
                    " had more.",
                    rows="wan",
                    columns="1,000,000",
                    down_to=0.5,
                ),
            ),
        ),
        "table_2": Part(
            "Table 2",
            table_2,
            "The paper: three servers of 3 GHz, ten threads, no encryption. Ours: one thread a party; times include the"
            " parties' meeting at the helper and, without `memory:`, files that are synced.",
            printed=("kmrs14/table_2",),
            reasons=(
                Reason(
                    "The paper's has ten threads and, as it fits, RSA of 1024 bits; ours has one thread and 2048 bits.",
                    rows="rsa_dt10",
                    down_to=0.1,
                ),
                Reason(
                    "Ours include TLS and the parties' meeting at the helper, some milliseconds at any size.",
                    rows="memory:",
                    columns="^10?,000$",
                    down_to=0.25,
                ),
                Reason(
                    "Our helper keeps lists in files that are synced; the paper's keeps them in memory.",
                    rows="^server_aided(_size_hiding)?$",
                    down_to=0.02,
                ),
            ),
        ),
        "table_3": Part(
            "Table 3",
            table_3,
            "The paper gives no network; its times are those of its Table 1,"
            " over the Internet. Ours are over the loopback.",
            printed=("kmrs14/table_3",),
            reasons=(
                Reason(
                    "The paper's figures cannot hold its own dummies: with c = 3 copies and t = 10^6 of them, as it"
                    " says, a party sends 74 MB at 10^5 items, ten times what is printed. Ours takes as many copies"
                    " and dummies as 2^-40 needs.",
                    rows="^MB: server_aided_size_hiding",
                    down_to=0.5,
                ),
            ),
        ),
        "table_4": Part(
            "Table 4",
            table_4,
            "The paper gives no network, and used a port of Redis to Windows. Ours: the loopback, one thread a party.",
            printed=("kmrs14/table_4",),
        ),
        "figure_5": Part(
            "Figure 5",
            figure_5,
            "The paper has plots for 10^7 items, and a factor in its text (§4.1): up to 3 by more threads, on machines"
            " of 8 cores each. Here three processes share the cores.",
        ),
        "fit": Part("extra: 10^9 items, estimated", fit),
    },
    left_out={"Figures 1 to 4": "describe protocols"},
)
