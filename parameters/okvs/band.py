#!/usr/bin/env python3
"""Computes crates/okvs/src/band/table.rs; see README.md beside this file. Needs numpy."""

from functools import lru_cache
from math import ceil, exp, inf, isfinite, lgamma, log, log1p, log2, sqrt
from pathlib import Path

import numpy as np

STATISTICAL = 40
WIDTH = 512
RESERVE = 4  # a row counts as lost when so few slots of its band are left
CLUSTER = 1 << 20  # keys a cluster holds on average
SPARE_BITS = 1
CLUSTER_SLOPE = 17_400_000  # of slots over keys, 2^-24, near a cluster's average load
DENSE = 43  # slots beyond n where every row is random in all slots
OUT = Path(__file__).resolve().parents[2] / "crates/okvs/src/band/table.rs"


@lru_cache(maxsize=100_000)
def log_overflow(starts, rate, width=WIDTH, reserve=RESERVE):
    """log2 of the probability that, with Poisson arrivals of `rate` rows at each of `starts` slots,
    more than width - reserve rows wait at some slot for a slot of their own.

    Of b rows that wait, one gets the slot unless all their bits there are zero: 1 - 2^-b."""
    limit = width - reserve
    arrivals = []
    term = exp(-rate)
    while term > 1e-40 or len(arrivals) < rate:
        arrivals.append(term)
        term *= rate / len(arrivals)
    arrivals = np.array(arrivals)
    served = 1 - 0.5 ** np.arange(limit + 1)
    waiting = np.zeros(limit + 1)
    waiting[0] = 1.0
    lost = 0.0
    previous = None
    step = 0
    while step < starts:
        joined = np.convolve(waiting, arrivals)
        over = joined[limit + 1 :].sum()
        joined = joined[: limit + 1]
        waiting = joined * (1 - served)
        waiting[:-1] += (joined * served)[1:]
        lost += over
        step += 1
        if step % 8192 == 0:
            # The chain forgets its start; from then on each slot loses as much.
            if previous is not None and over > 0 and abs(over - previous) <= 1e-3 * over:
                lost += over * (starts - step)
                break
            previous = over
    return log2(lost) if lost > 0 else -inf


def log_tail(n, rate):
    """log2 of the probability of at least n arrivals when `rate` are expected, n >= rate."""
    term = n * log(rate) - rate - lgamma(n + 1)
    total, ratio, k = 0.0, 1.0, n
    while ratio > 1e-12:
        total += ratio
        k += 1
        ratio *= rate / k
    return (term + log(total)) / log(2)


def log_failure_of(slots, n, width=WIDTH, reserve=RESERVE):
    """log2 of the failure probability of n rows in one cluster, an upper bound.

    More rows fail more often, so P(fail | n rows) <= P(fail) / P(at least n rows) for Poisson
    arrivals of any expectation."""
    if n <= 0:
        return -inf
    starts = slots - width + 1
    if starts < 1:
        return 0.0
    best = 0.0
    for deviations in (0, 1, 2, 3, 4, 6, 8, 11):
        rate = n - deviations * sqrt(n)
        if rate <= 0:
            break
        bound = log_overflow(starts, rate / starts, width, reserve) - log_tail(n, rate)
        if bound > best + 3 and best < 0:
            break
        best = min(best, bound)
    return best


def least_slots(bits, guess):
    """The fewest slots for which `bits(slots)`, nearly linear and falling, is at most -41."""
    target = -(STATISTICAL + SPARE_BITS)
    low, high = None, None  # the greatest known to be too few, the least known to be enough
    slots = guess
    while True:
        value = bits(slots)
        if value <= target:
            high = (slots, value)
        else:
            low = (slots, value)
        if low and high:
            if high[0] - low[0] <= max(1, high[0] >> 16):
                return high[0]
            share = (low[1] - target) / (low[1] - high[1]) if isfinite(high[1]) else 0.5
            share = min(0.95, max(0.05, share))
            slots = low[0] + max(1, ceil((high[0] - low[0]) * share))
            if slots >= high[0]:
                slots = high[0] - 1
        elif low:
            slots = low[0] + max(2, low[0] >> 9)
        else:
            slots = high[0] - max(1, high[0] >> 9)


@lru_cache(maxsize=None)
def single(n):
    """The fewest slots for n keys in one cluster."""
    return least_slots(lambda slots: log_failure_of(slots, n), n + DENSE + int(0.035 * max(0, n - WIDTH)))


def clustered(n, clusters):
    """The fewest slots of each of many clusters; the load of one is binomial. For so many keys the
    failure probability is exponential in the load, up to curvature that the reserve covers."""
    mean = n / clusters
    deviation = sqrt(mean)

    def bits(slots):
        known = [mean + d * deviation for d in (0, 3, 6, 9)]
        values = [log_failure_of(slots, int(load)) for load in known]
        total = 0.0
        for load in range(int(mean - 4 * deviation), int(mean + 12 * deviation), 16):
            log_p = lgamma(n + 1) - lgamma(load + 1) - lgamma(n - load + 1)
            log_p += -load * log(clusters) + (n - load) * log1p(-1 / clusters)
            failure = min(0.0, float(np.interp(load + 16, known, values)))
            if load + 16 > known[-1]:
                failure = 0.0
            total += 16 * exp(log_p) * 2**failure
        return log2(clusters * total)

    return least_slots(bits, int(1.042 * mean))


def line(points, slope=None):
    """The lowest line (slope in 2^-24, offset) over all `points` that is parallel to the one from
    the first to the last, or has the slope given."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    if slope is None:
        slope = int((y1 - y0) / (x1 - x0) * 2**24)
    return slope, max(int(y - slope * x / 2**24) + 1 for x, y in points)


def single_lines():
    """Lines for one cluster: (greatest n, slope, offset)."""
    edges = [WIDTH - DENSE]
    while edges[-1] < CLUSTER * 3 // 2:
        edges.append(min(edges[-1] * 3 // 2, CLUSTER * 3 // 2))
    for low, high in zip(edges, edges[1:]):
        points = [(n, single(n)) for n in (low, (low + high) // 2, high)]
        slope, offset = line(points)
        # The middle is where a line is farthest from the curve; a little for what lies between.
        yield high, slope, offset + max(1, high >> 14)
        print("one cluster", high, points[-1][1] / high, flush=True)


def cluster_lines():
    """Lines for 2^j .. 2^(j+1) - 1 clusters over the average load: (slope, offset)."""
    for j in range(1, 11):
        points = []
        for clusters, sign in ((2**j, -1), (2 ** (j + 1) - 1, -1), (2 ** (j + 1) - 1, 1)):
            n = clusters * CLUSTER + sign * CLUSTER // 2
            points.append((n / clusters, clustered(n, clusters)))
        slope, offset = line(sorted(points), CLUSTER_SLOPE)
        yield slope, offset
        print("clusters", 2**j, points[-1][1] / points[-1][0], flush=True)


def main():
    text = [
        "//! Computed by parameters/okvs/band.py; do not edit.",
        "",
        "use super::parameters::Line;",
        "",
        "/// How many slots more than keys there are where every row is random in all slots.",
        f"pub(super) const DENSE: usize = {DENSE};",
        "",
        "/// How many keys a cluster holds on average when there are many.",
        f"pub(super) const CLUSTER_KEYS: usize = {CLUSTER};",
        "",
        "/// For a single cluster: the greatest number of keys each line is for.",
        "#[rustfmt::skip]",
        "pub(super) const SINGLE: &[(usize, Line)] = &[",
    ]
    for high, slope, offset in single_lines():
        text.append(f"    ({high}, Line {{ slope: {slope}, offset: {offset} }}),")
    text += [
        "];",
        "",
        "/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.",
        "#[rustfmt::skip]",
        "pub(super) const CLUSTERED: &[Line] = &[",
    ]
    for slope, offset in cluster_lines():
        text.append(f"    Line {{ slope: {slope}, offset: {offset} }},")
    text += ["];", ""]
    OUT.write_text("\n".join(text))


if __name__ == "__main__":
    main()
