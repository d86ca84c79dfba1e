#!/usr/bin/env python3
"""Checks the padded lengths of partitions in vectors/partitions.json; see README.md in this folder."""

import json
import sys
from math import isqrt, lgamma, log, log1p, log2
from pathlib import Path

STATISTICAL = 40
WHOLE = 3 << 19  # the most items of a set that is not split, by default
MOST = 1 << 12  # partitions
VECTORS = Path(__file__).resolve().parents[2] / "vectors/partitions.json"


def partitions(one, other, rows=WHOLE):
    if min(one, other) == 0:
        return 1
    count = -(-max(one, other) // rows)
    return min(1 << (count - 1).bit_length(), MOST)


def padded(length, count):
    """The formula of crates/partitions/src/plan.rs."""
    if count == 1:
        return length
    bits = STATISTICAL + 1 + count.bit_length() - 1
    c = -(-bits * 710 // 1024)
    mean = -(-length // count)
    return min(length, mean + -(-c // 3) + isqrt(-(-c * c // 9) + 2 * c * mean) + 1)


def log2_tail(n, p, least):
    """log2 of the probability that a binomial variable is `least` or more."""
    if least > n:
        return float("-inf")
    first = lgamma(n + 1) - lgamma(least + 1) - lgamma(n - least + 1)
    first += least * log(p) + (n - least) * log1p(-p)
    total, term, k = 0.0, 1.0, least
    while k <= n and term > total * 1e-12:
        total += term
        term *= (n - k) / (k + 1) * p / (1 - p)
        k += 1
    return (first + log(total)) / log(2)


def exact(length, count):
    """The least padded length of which no partition of either set is longer but with 2^-40."""
    allowed = -(STATISTICAL + 1 + log2(count))
    low, high = -(-length // count) - 1, length
    while low < high:
        middle = (low + high) // 2
        if log2_tail(length, 1 / count, middle + 1) <= allowed:
            high = middle
        else:
            low = middle + 1
    return low


def check(length, count):
    bound, least = padded(length, count), exact(length, count)
    tail = log2_tail(length, 1 / count, bound + 1)
    overhead = 100 * (bound * count / length - 1)
    print(f"{length:>12} {count:>6} {bound:>10} {least:>10} {tail + log2(2 * count):>8.1f} {overhead:>8.2f} %")
    is_larger = count == partitions(length, length)
    return bound >= least and (not is_larger or (overhead <= 2 and bound <= 1.004 * least))


def main():
    print("       items  parts     padded      least  log2 overflow  more")
    good = True
    for length in (WHOLE + 1, 1 << 21, 10**7, 1 << 24, 10**8, 10**9, (1 << 32) - 1):
        good &= check(length, partitions(length, length))
    for length, count in ((1, 2), (10, 2), (1000, 2), (20000, 64), (500, 1024), (10**6, 1024), (10**7, 4096)):
        good &= check(length, count)
    for length, rows in ((1001, 1000), (20016, 1000), (4096000, 1000), (10**7, 1000), (10**6, 20000)):
        good &= check(length, partitions(length, length, rows))
    vectors = json.loads(VECTORS.read_text())
    for plan in vectors["plans"] + vectors["smaller"]:
        count = partitions(*plan["sizes"], plan.get("rows", WHOLE))
        good &= count == plan["partitions"]
        good &= [padded(length, count) for length in plan["sizes"]] == plan["padded"]
    if not good:
        sys.exit("a padded length is too short, too long, or not the recorded one")


if __name__ == "__main__":
    main()
