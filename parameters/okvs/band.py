#!/usr/bin/env python3
"""Computes the tables of crates/okvs/src/band; see README.md in this folder. Needs numpy."""

from functools import lru_cache
from math import ceil, exp, inf, isfinite, lgamma, log, log2, sqrt
from pathlib import Path

import numpy as np

# The failure probability of a run in bits, and the table for it: of a run alone, and of one of up to 4,096 runs.
LEVELS = ((40, "table.rs"), (52, "table_of_many.rs"))
WIDTH = 512
CLUSTER = 1 << 19  # keys a cluster holds on average
OCTAVES = 13  # of clusters: 2^13 of them hold 2^32 keys
SPARE_BITS = 1
DENSE_SPARE_BITS = 3  # of the slots beyond n where every row is random in all slots
TRANSIENT = 1 << 13  # slots that are followed one by one
OUT = Path(__file__).resolve().parents[2] / "crates/okvs/src/band"


# Entry b: log of the probability that none of the first b rows to wait at a slot vanishes. A row that
# finds w rows before it has 512 - w slots of its own for sure, where its bits are random for any
# other rows; so it vanishes with probability 2^-(512 - w).
KEPT = np.concatenate([[0.0], np.cumsum(np.log1p(-(2.0 ** -np.arange(WIDTH, 0, -1.0))))])


@lru_cache(maxsize=4096)
def arrivals(rate):
    """The Poisson distribution, and entry w: the probability that a row vanishes of those that
    start at a slot where w wait."""
    terms = [exp(-rate)]
    while terms[-1] > 1e-40 or len(terms) < rate:
        terms.append(terms[-1] * rate / len(terms))
    terms = np.array(terms)
    kept = np.append(KEPT, np.full(len(terms), -inf))
    lost = [terms @ -np.expm1(kept[w : w + len(terms)] - KEPT[w]) for w in range(WIDTH + 1)]
    return terms, np.array(lost)


def moves(rate):
    """Entry (w, d): the probability that w - 1 + d rows wait at the next slot when w wait at one
    and no row vanishes. Of b rows, one gets the slot unless all their bits there are zero: with
    probability 1 - 2^-b."""
    terms, _ = arrivals(rate)
    result = np.zeros((WIDTH + 1, len(terms) + 1))
    for w in range(WIDTH + 1):
        most = min(len(terms), WIDTH + 1 - w)
        kept = terms[:most] * np.exp(KEPT[w : w + most] - KEPT[w])
        idle = 0.5 ** np.arange(w, w + most)
        result[w, :most] += kept * (1 - idle)
        result[w, 1 : most + 1] += kept * idle
    return result


@lru_cache(maxsize=100_000)
def loss_per_slot(rate):
    """The probability that the first row vanishes at a slot, after many slots, with Poisson
    arrivals of `rate` rows at each.

    That none waits happens in a share of the slots, and each time some row vanishes before it
    happens again with some probability. States are taken out from the top, and nothing is ever
    subtracted, so that tiny probabilities are exact."""
    if rate >= 1:
        return 1.0
    step = moves(rate)
    lost = arrivals(rate)[1].copy()
    width = step.shape[1]
    down = step[:, 0].copy()  # to w - 1, by now through states above
    up = step[:, 2:].copy()  # to w + 1, w + 2, …
    stay = up.shape[1]
    for top in range(WIDTH, 0, -1):
        leaves = down[top] + lost[top]
        for w in range(max(0, top - stay), top):
            through = up[w, top - w - 1] / leaves
            if through == 0:
                continue
            lost[w] += through * lost[top]
            # What returns goes to the state below the one that is taken out.
            if top - 1 > w:
                up[w, top - w - 2] += through * down[top]
    # The distribution in proportion to entry 0: between w and w + 1 it falls as often as it rises.
    waiting = np.zeros(WIDTH + 1)
    waiting[0] = 1.0
    for v in range(WIDTH):
        first = max(0, v - width)
        rises = sum(waiting[w] * step[w, v - w + 2 :].sum() for w in range(first, v + 1))
        waiting[v + 1] = rises / step[v + 1, 0]
    return float(min(1.0, lost[0] / waiting.sum()))


@lru_cache(maxsize=100_000)
def loss_of_first(starts, rate):
    """The probability that a row vanishes at one of the first `starts` slots; none waits at the
    first."""
    terms, lost_at = arrivals(rate)
    kept, idle = np.exp(KEPT), 0.5 ** np.arange(WIDTH + 1)
    waiting = np.zeros(WIDTH + 1)
    waiting[0] = 1.0
    lost = 0.0
    for _ in range(starts):
        lost += float(waiting @ lost_at)
        joined = kept * np.convolve(waiting / kept, terms)[: WIDTH + 1]
        left = joined * idle
        waiting = left
        waiting[:-1] += (joined - left)[1:]
    return lost


@lru_cache(maxsize=100_000)
def log_tail(n, rate):
    """log2 of the probability of at least n Poisson arrivals when `rate` are expected,
    n >= rate; of its first terms, so a lower bound."""
    ratios = rate / (n + 1 + np.arange(100 + int(10 * sqrt(n))))
    total = 1 + float(np.cumprod(ratios).sum())
    return (n * log(rate) - rate - lgamma(n + 1) + log(total)) / log(2)


def log_failure(n, slots, clusters=1):
    """log2 of an upper bound on the probability that the rows of n keys are dependent in any of
    the clusters, of `slots` slots each.

    More rows fail more often, so P(fail | n rows) <= P(fail) / P(at least n rows) for Poisson
    arrivals of any expectation. Each of many clusters starts again with no row waiting; later
    slots lose more."""
    starts = slots - WIDTH + 1
    if starts < 1:
        return 0.0
    best = 0.0
    for deviations in (*range(17), 18, 20, 22, 25, 28, 32):
        expected = n - deviations * sqrt(n)
        if expected <= 0:
            break
        rate = expected / (starts * clusters)
        if clusters == 1:
            first = min(starts, TRANSIENT)
            lost = loss_of_first(first, rate)
            if starts > first:
                lost += (starts - first) * loss_per_slot(rate)
        else:
            lost = starts * clusters * loss_per_slot(rate)
        bound = (log2(lost) if lost > 0 else -inf) - log_tail(n, expected)
        if bound > best + 1 and best < 0:
            break
        best = min(best, bound)
    return best


def dense(bits):
    """The slots beyond n where every row is random in all slots."""
    return bits + DENSE_SPARE_BITS


def least(bits, n, clusters=1):
    """The fewest slots of a cluster with a failure probability in reach, nearly."""
    target = -(bits + SPARE_BITS)
    mean = n / clusters
    low, high = None, None  # the greatest known to be too few, the least known to be enough
    slots = int(mean) + dense(bits) + int(0.038 * max(0.0, mean - WIDTH))
    while True:
        value = log_failure(n, slots, clusters)
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
            slots = min(slots, high[0] - 1)
        elif low:
            slots = low[0] + max(2, low[0] >> 9)
        else:
            slots = high[0] - max(1, high[0] >> 9)


def line(points):
    """The lowest line (slope in 2^-24, offset >= 0) over all `points` that is parallel to the one
    from the first to the last, or goes through the origin."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    slope = int((y1 - y0) / (x1 - x0) * 2**24)
    offset = max(int(y - slope * x / 2**24) + 1 for x, y in points)
    if offset < 0:
        slope, offset = max(ceil(y * 2**24 / x) for x, y in points), 0
    return slope, offset


def single_lines(bits):
    """Lines for one cluster: (greatest n, slope, offset)."""
    last = CLUSTER * 3 // 2
    edges = [WIDTH - dense(bits)]
    while edges[-1] < last:
        edges.append(min(edges[-1] * (5 if edges[-1] < 8000 else 6) // 4, last))
    for low, high in zip(edges, edges[1:]):
        points = [(n, least(bits, n)) for n in (low + 1, (low + high) // 2, high)]
        slope, offset = line(points)
        # A little for what lies between.
        yield high, slope, offset + max(1, high >> 14)
        print(bits, "bits, one cluster", high, points[-1][1] / high, flush=True)


def cluster_lines(bits):
    """Lines for 2^j .. 2^(j+1) - 1 clusters over the average load: (slope, offset)."""
    for j in range(1, OCTAVES + 1):
        points = []
        for clusters in sorted({2**j, 3 * 2**j // 2, 2 ** (j + 1) - 1}):
            for n in (clusters * CLUSTER - CLUSTER // 2, clusters * CLUSTER + CLUSTER // 2 - 1):
                points.append((n / clusters, least(bits, n, clusters)))
        points.sort()
        slope, offset = line(points)
        yield slope, offset + (CLUSTER >> 14)
        print(bits, "bits, clusters", 2**j, points[-1][1] / points[-1][0], flush=True)


def write(bits, name):
    # What both tables have in common is in the first.
    both = [
        "/// How many keys a cluster holds on average when there are many.",
        f"pub(super) const CLUSTER_KEYS: usize = {CLUSTER};",
        "",
    ]
    is_first = bits == LEVELS[0][0]
    of = "" if is_first else " for a run that is one of several"
    text = [
        f"//! Computed by parameters/okvs/band.py{of}; do not edit.",
        "",
        "use super::line::Line;",
        "",
        "/// How many slots more than keys there are where every row is random in all slots.",
        f"pub(super) const DENSE: usize = {dense(bits)};",
        "",
        *(both if is_first else []),
        "/// For a single cluster: the greatest number of keys each line is for.",
        "#[rustfmt::skip]",
        "pub(super) const SINGLE: &[(usize, Line)] = &[",
    ]
    for high, slope, offset in single_lines(bits):
        text.append(f"    ({high}, Line {{ slope: {slope}, offset: {offset} }}),")
    text += [
        "];",
        "",
        "/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.",
        "#[rustfmt::skip]",
        "pub(super) const CLUSTERED: &[Line] = &[",
    ]
    for slope, offset in cluster_lines(bits):
        text.append(f"    Line {{ slope: {slope}, offset: {offset} }},")
    text += ["];", ""]
    (OUT / name).write_text("\n".join(text))


def main():
    for bits, name in LEVELS:
        write(bits, name)


if __name__ == "__main__":
    main()
