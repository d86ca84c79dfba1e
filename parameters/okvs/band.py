#!/usr/bin/env python3
"""Computes crates/okvs/src/band/table.rs; see README.md beside this file. Needs numpy."""

from functools import lru_cache
from math import ceil, exp, inf, lgamma, log, log1p, log2, sqrt
from pathlib import Path

import numpy as np

STATISTICAL = 40
WIDTH = 512
RESERVE = 4  # a row counts as lost when so few slots of its band are left
CLUSTER = 1 << 20  # keys a cluster holds on average
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


def least(check, low, high):
    while low < high:
        middle = (low + high) // 2
        if check(middle):
            high = middle
        else:
            low = middle + 1
    return low


def least_slots(n):
    """The fewest slots for n keys in one cluster."""
    check = lambda slots: log_failure_of(slots, n) <= -(STATISTICAL + 1)
    return least(check, n + DENSE, n + DENSE + n // 8 + 600)


if __name__ == "__main__":
    import sys
    for n in map(int, sys.argv[1:]):
        m = least_slots(n)
        print(n, m, m / n, m - n, flush=True)
