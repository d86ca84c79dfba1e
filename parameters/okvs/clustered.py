#!/usr/bin/env python3
"""Computes the tables of crates/okvs/src/clustered; see README.md in this folder."""

from math import exp, expm1, inf, lgamma, log, log1p, log2, sqrt
from pathlib import Path

# The failure probability of a run in bits, and the table for it: of a run alone, and of one of up to 4,096 runs.
LEVELS = ((40, "table.rs"), (52, "table_of_many.rs"))
CLUSTER = 1 << 15  # keys a cluster holds on average
DENSE_ONLY = 16  # up to this number of keys a cluster has dense columns alone
OCTAVES = 17  # of clusters: 2^17 of them hold 2^32 keys
WEIGHT = 3
SPARE_BITS = 1  # half of the failure probability is the sparse part's, half the dense one's
OUT = Path(__file__).resolve().parents[2] / "crates/okvs/src/clustered"


def log_binomial(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def sparse_bits(slots, keys):
    """-log2 of the probability that `keys` rows of weight 3 do not triangulate: the fit of
    Raghuraman and Rindal 2022, section 4."""
    w = log2(WEIGHT)
    slope = 2 ** (0.555 * log2(keys) + 0.093 * w**3 - 1.01 * w**2 + 2.925 * w - 0.133)
    return slope * (slots / keys - 1.223) - 9.2


def log_failure(slots, n, clusters):
    """log2 of the probability that one of the clusters does not triangulate; the load of a
    cluster is binomial."""
    if clusters == 1:
        return -sparse_bits(slots, n)
    mean = n / clusters
    low = max(1, int(mean - 3 * sqrt(mean)))
    high = min(n, int(mean + 16 * sqrt(mean)))
    total = 0.0
    for load in range(low, high + 1):
        log_p = log_binomial(n, load) - load * log(clusters) + (n - load) * log1p(-1 / clusters)
        total += exp(log_p) * min(1.0, 2.0 ** -sparse_bits(slots, load))
    return log2(clusters * total) if total > 0 else -inf


def least_slots(bits, n, clusters):
    """The fewest sparse slots of a cluster with a failure probability in reach."""
    low, high = n // clusters, 4 * (n // clusters) + 400
    while low < high:
        slots = (low + high) // 2
        if log_failure(slots, n, clusters) <= -(bits + SPARE_BITS):
            high = slots
        else:
            low = slots + 1
    if clusters == 1:
        # The fit was made for larger sets; so few keys may have more room.
        low = max(low, min(2 * n + 32, 480))
    return low


def expected_dependencies(slots, keys):
    """The expected number of non-empty sets of rows of weight 3 that add up to zero, exactly."""
    all_rows = slots * (slots - 1) * (slots - 2) / 6
    total = 0.0
    for k in range(slots + 1):
        rest = slots - k
        # Krawtchouk polynomial of degree 3: what a character of weight k sums to over all rows.
        character = (
            rest * (rest - 1) * (rest - 2) / 6
            - rest * (rest - 1) / 2 * k
            + rest * k * (k - 1) / 2
            - k * (k - 1) * (k - 2) / 6
        ) / all_rows
        log_weight = log_binomial(slots, k) - slots * log(2)
        if character <= -1 + 1e-12:
            total -= exp(log_weight)
            continue
        power = keys * log1p(character)
        total += exp(log_weight + power) - exp(log_weight) if power > 1 else exp(
            log_weight
        ) * expm1(power)
    return total


def dense_columns(bits, slots, keys, clusters):
    """The fewest dense columns that cope with the dependencies, whose number is close to
    Poisson; four bits of reserve for dependencies that share rows."""
    log_mean = log2(expected_dependencies(slots, keys))
    dense = 0
    while True:
        dense += 1
        log_p = log2(clusters) + dense * log_mean - lgamma(dense + 1) / log(2)
        if log_p <= -(bits + SPARE_BITS + 4):
            return dense - 1


def line(points, slope=None):
    """The lowest line (slope in 2^-16, offset) over all `points` that is parallel to the one from
    the first to the last, or has the slope given."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    if slope is None:
        slope = int((y1 - y0) / (x1 - x0) * 65536) if x1 != x0 else 0
    offset = max(int(y - slope * x / 65536) + 1 for x, y in points)
    return slope, offset


def single_lines(bits):
    """Lines for one cluster: (greatest n, slope, offset, dense columns)."""
    edges = [DENSE_ONLY]
    while edges[-1] < CLUSTER * 3 // 2:
        edges.append(min(max(edges[-1] * 5 // 4, edges[-1] + 8), CLUSTER * 3 // 2))
    for low, high in zip(edges, edges[1:]):
        step = max(1, (high - low - 1) // 12)
        sizes = sorted({*range(low + 1, high + 1, step), high})
        slope, offset = line([(n, least_slots(bits, n, 1)) for n in sizes])
        dense = max(dense_columns(bits, slope * n // 65536 + offset, n, 1) for n in (low + 1, high))
        yield high, slope, offset, dense


def cluster_lines(bits):
    """Lines for 2^j .. 2^(j+1) - 1 clusters over the average load: (slope, offset, dense)."""
    for j in range(1, OCTAVES + 1):
        points = []
        for clusters in sorted({2**j, 3 * 2 ** (j - 1), 2 ** (j + 1) - 1}):
            for n in (clusters * CLUSTER - CLUSTER // 2, clusters * CLUSTER + CLUSTER // 2 - 1):
                points.append((n / clusters, least_slots(bits, n, clusters)))
        points.sort()
        slope, offset = line(points, 5 << 14)
        loads = [points[0][0], points[-1][0]]
        dense = max(
            dense_columns(bits, int(slope * x / 65536) + offset, int(x), 2 ** (j + 1)) for x in loads
        )
        yield slope, offset, dense


def write(bits, name):
    # What both tables have in common is in the first.
    both = [
        "/// Up to this number of keys there are dense columns alone, one for each key.",
        f"pub(super) const DENSE_ONLY: usize = {DENSE_ONLY};",
        "",
        "/// How many keys a cluster holds on average when there are many.",
        f"pub(super) const CLUSTER_KEYS: usize = {CLUSTER};",
        "",
    ]
    is_first = bits == LEVELS[0][0]
    of = "" if is_first else " for a run that is one of several"
    text = [
        f"//! Computed by parameters/okvs/clustered.py{of}; do not edit.",
        "",
        "use super::line::Line;",
        "",
        *(both if is_first else []),
        "/// For a single cluster: the greatest number of keys each line is for.",
        "#[rustfmt::skip]",
        "pub(super) const SINGLE: &[(usize, Line)] = &[",
    ]
    for high, slope, offset, dense in single_lines(bits):
        text.append(f"    ({high}, Line {{ slope: {slope}, offset: {offset}, dense: {dense} }}),")
    text += [
        "];",
        "",
        "/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.",
        "#[rustfmt::skip]",
        "pub(super) const CLUSTERED: &[Line] = &[",
    ]
    for slope, offset, dense in cluster_lines(bits):
        text.append(f"    Line {{ slope: {slope}, offset: {offset}, dense: {dense} }},")
    text += ["];", ""]
    (OUT / name).write_text("\n".join(text))


def main():
    for bits, name in LEVELS:
        write(bits, name)


if __name__ == "__main__":
    main()
