#!/usr/bin/env python3
"""Checks the committed tables: every shape they give has a failure probability of at most 2^-40, or 2^-52 in a run
that is one of up to 4,096.

Reads the tables as the Rust sources hold them and repeats their integer arithmetic. Prints the
sizes of docs/okvs.md and the worst probabilities. `--quick` looks at fewer numbers of keys."""

import re
import sys
from math import exp, lgamma, log2, sqrt
from pathlib import Path

import band
import clustered

CRATE = Path(__file__).resolve().parents[2] / "crates/okvs/src"
MOST_KEYS = 2**32 - 1


class Table:
    """A committed table, and the shape it gives for n keys: (clusters, slots, line)."""

    def __init__(self, module, bits, name):
        text = (CRATE / module / name).read_text()
        # What both tables have in common is in the first.
        all_text = text + (CRATE / module / "table.rs").read_text()
        self.bits = bits
        constant = lambda name: int(re.search(rf"const {name}: usize = (\d+);", all_text)[1])
        self.cluster_keys = constant("CLUSTER_KEYS")
        self.few = constant("DENSE" if module == "band" else "DENSE_ONLY")
        field = r"Line \{ slope: (\d+), offset: (\d+)(?:, dense: (\d+))? \}"
        numbers = lambda found: tuple(int(word or 0) for word in found)
        self.single = [numbers(found) for found in re.findall(rf"\((\d+), {field}\)", text)]
        self.clustered = [numbers(found) for found in re.findall(rf"^    {field},$", text, re.M)]
        edges = [line[0] for line in self.single]
        assert edges == sorted(edges) and self.single and self.clustered

    def shape(self, n):
        for edge, *line in self.single:
            if n <= edge:
                return 1, self.slots(line, n, 1), line
        clusters = (n + self.cluster_keys // 2) // self.cluster_keys
        line = self.clustered[clusters.bit_length() - 2]
        return clusters, self.slots(line, n, clusters), line

    def slots(self, line, n, clusters):
        return -(-n * line[0] // (clusters << self.bits)) + line[1]

    def many(self):
        """Numbers of keys at the edges and in the middle of shapes of many clusters."""
        half = self.cluster_keys // 2
        last = (MOST_KEYS + half) // self.cluster_keys
        assert last.bit_length() - 1 == len(self.clustered), "the table ends with 2^32 keys"
        counts = set()
        for j in range(1, last.bit_length()):
            counts |= {2**j, 2**j + 1, 3 * 2**j // 2, 2 ** (j + 1) - 1}
        for clusters in sorted(count for count in counts if count <= last):
            middle = clusters * self.cluster_keys
            for n in (middle - half, middle, middle + half - 1):
                if self.single[-1][0] < n <= MOST_KEYS:
                    yield n
        yield MOST_KEYS


def poisson_tail(mean, most):
    """The probability of more than `most`."""
    term = exp(-mean) * mean ** (most + 1) / exp(lgamma(most + 2))
    return term / (1 - mean / (most + 2)) if mean < 1 else 1.0


def dependent(slots, keys, dense):
    """The probability of more dependencies than dense columns; four bits of reserve."""
    return 16 * poisson_tail(clustered.expected_dependencies(slots, keys), dense)


def clustered_bits(table, n, with_dense=True):
    """log2 of the failure probability of the clustered encoding of n keys."""
    clusters, slots, line = table.shape(n)
    total = 2.0 ** clustered.log_failure(slots, n, clusters)
    if with_dense:
        # Nine deviations above the average a load is as rare as 2^-62.
        load = n if clusters == 1 else int(n / clusters + 9 * sqrt(n / clusters))
        total += clusters * dependent(slots, load, line[2])
    return log2(total)


def band_bits(table, n):
    """log2 of the failure probability of the band encoding of n keys."""
    if n + table.few <= band.WIDTH:
        return -float(table.few)
    clusters, slots, _ = table.shape(n)
    return band.log_failure(n, slots, clusters)


def edges(table, first, between):
    """The ends of the lines for one cluster, and up to `between` numbers on each line."""
    low = first
    for edge, *_ in table.single:
        steps = max(1, min(between + 1, edge - low))
        yield from sorted({low + (edge - low) * i // steps for i in range(steps + 1)})
        low = edge + 1


def report(limit, name, values):
    worst = max(values, key=lambda entry: entry[1])
    print(f"{name:28} {len(values):6} sizes, worst 2^{worst[1]:.2f} at {worst[0]} keys", flush=True)
    return worst[1] <= -limit


def agreement():
    """Two computations of the probability that the first row vanishes: slot by slot, and by
    taking out states."""
    for rate in (0.85, 0.9, 0.93, 0.95):
        # The start is forgotten by then.
        slow = band.loss_of_first(20_000, rate) - band.loss_of_first(16_000, rate)
        yield abs(slow / (4_000 * band.loss_per_slot(rate)) - 1)


def check(limit, name, quick):
    """Prints what the tables `name` give; whether it is at most 2^-limit everywhere."""
    three, ribbon = Table("clustered", 16, name), Table("band", 24, name)
    good = []
    print(f"\n{name}, at most 2^-{limit}")
    sizes = range(three.few + 1, three.single[-1][0] + 1, 97 if quick else 1)
    peeling = [(n, clustered_bits(three, n, False)) for n in sizes]
    good.append(report(limit, "clustered, peeling", peeling))
    sizes = list(edges(three, three.few + 1, 0 if quick else 1))
    one = [(n, clustered_bits(three, n)) for n in sizes]
    good.append(report(limit, "clustered, one cluster", one))
    sizes = list(three.many())[:: 5 if quick else 1]
    many = [(n, clustered_bits(three, n)) for n in sizes]
    good.append(report(limit, "clustered, many clusters", many))

    first = band.WIDTH - ribbon.few + 1
    # With few slots to start at one slot more or less counts most.
    small = range(first, 1000, 50 if quick else 1)
    sizes = sorted({*small, *edges(ribbon, first, 0 if quick else 6)})
    good.append(report(limit, "band, one cluster", [(n, band_bits(ribbon, n)) for n in sizes]))
    sizes = list(ribbon.many())[:: 5 if quick else 1]
    good.append(report(limit, "band, many clusters", [(n, band_bits(ribbon, n)) for n in sizes]))

    print("\n| n | clustered: clusters | slots of each | slots a key | bits "
          "| band: clusters | slots of each | slots a key | bits |")
    print("|" + "---|" * 9)
    for log_n in range(12, 33, 2):
        n = min(2**log_n, MOST_KEYS)
        row = [f"2^{log_n}" if n == 2**log_n else "2^32 − 1"]
        for table, bits in ((three, clustered_bits), (ribbon, band_bits)):
            clusters, slots, line = table.shape(n)
            slots += sum(line[2:])
            row += [f"{clusters:,}", f"{slots:,}", f"{clusters * slots / n:.4f}"]
            row.append(f"{-bits(table, n):.1f}")
        print("| " + " | ".join(row) + " |")
    return all(good) and ribbon.few >= limit


def main():
    error = max(agreement())
    print(f"two computations of the band's probability differ by {100 * error:.3f} %")
    good = [check(limit, name, "--quick" in sys.argv) for limit, name in band.LEVELS]
    if error >= 0.001:
        sys.exit("the computations of the band's probability differ")
    if not all(good):
        sys.exit("a failure probability is too large")


if __name__ == "__main__":
    main()
