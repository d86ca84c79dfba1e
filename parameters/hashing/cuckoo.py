#!/usr/bin/env python3
"""How often placing fails in the hash tables without a stash of a run that is one of several for one result, and in the
two-way ones of a run alone; see README.md.

Placing fails if and only if some items outnumber their bins. A smallest such set has k + 1 items and exactly k bins,
each of them a bin of two items at least: without an item alone in its bin, and without that bin, the set would be
smaller. The expected number of such sets bounds the probability. No fit and no experiment is used."""

import re
import sys
from math import exp, expm1, inf, lgamma, log, log1p, log2
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "crates/hashing/src/table.rs"
# ⌈log⌉ of the most runs for one result is 12.
LIMIT = 52
# λ of a run alone.
ALONE = 40
MOST_RECEIVER_LEN = 1 << 31
MOST_TWO_WAY_LEN = 1 << 24
# Bins are uniform up to this share times their number.
BIN_HASH_BITS = 42


def log_binomial(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def log_twice_covered(k, balls):
    """ln of a bound on the number of ways to throw numbered balls into k bins with two or more in each: balls! times a
    coefficient of (e^z - 1 - z)^k, which is at most the value at any z over z^balls. At the best z the mean is right."""
    low, high = 1e-12, 4.0 * balls / k
    for _ in range(60):
        z = (low + high) / 2
        if z * expm1(z) / (expm1(z) - z) < balls / k:
            low = z
        else:
            high = z
    return lgamma(balls + 1) + k * log(expm1(high) - high) - balls * log(high)


def three_way(n, bins):
    """ln of the bound for n items with three bins each, by size k of the set of bins."""
    triples = log_binomial(bins, 3)
    k, found = 2, []
    while k < min(n, bins):
        ways = log_binomial(bins, k) + log_binomial(n, k + 1)
        inside = log_binomial(k, 3) - triples if k > 2 else -inf
        # With probability 6/β^2 the spare function repeats a bin too, and an item has two bins.
        two = log(6) - 2 * log(bins) + 2 * log(k / bins)
        each = inside + log1p(exp(two - inside)) if k > 2 else two
        term = ways + (k + 1) * each
        if k > 2:
            covered = log_twice_covered(k, 3 * k + 3) - (k + 1) * (log(6) + triples)
            term = min(term, ways + covered + (k + 1) * (each - inside))
        # Bins that are not quite uniform.
        term += 3 * (k + 1) * log1p(bins / 2**BIN_HASH_BITS)
        # Far from the ends the terms are so small that every thousandth suffices.
        step = max(1, k // 1000)
        found.append((k, term + log(step)))
        k += step
    return found


def two_way(n, bins):
    """The same for two bins each. A set of one bin has two items whose functions both select it."""
    found = [(1, log(n) + log(n - 1) - log(2) - 5 * log(bins))] if n > 1 else []
    pairs = log_binomial(bins, 2)
    for k in range(2, min(n, 200)):
        ways = log_binomial(bins, k) + log_binomial(n, k + 1)
        found.append((k, ways + (k + 1) * (log_binomial(k, 2) - pairs)))
    return found


def bits(terms):
    """-log2 of the sum, and the greatest term's k."""
    if not terms:
        return inf, 0
    k, most = max(terms, key=lambda entry: entry[1])
    return -(most + log(sum(exp(term - most) for _, term in terms))) / log(2), k


def ceil_log2(n):
    return max(0, n - 1).bit_length()


def stashless_bins(n, least):
    """`Table::stashless` of several runs."""
    n = max(n, least)
    return -(-n * (LIMIT + ceil_log2(n) + 256) // 240)


def two_way_bins(n, limit=LIMIT):
    """`Table::two_way`, of several runs or of one: it grows until its own sum is small enough."""
    bins = max(2, 16 * n)
    while bits([entry for entry in two_way(n, bins) if entry[0] < 64])[0] < limit:
        bins += bins // 8
    return bins


def sizes(most):
    """Every number of few items, and the ends and middles of octaves."""
    octaves = [2**j for j in range(12, most.bit_length())]
    return [*range(1, 300), *range(300, 4096, 7), *range(2040, 2060)] + sorted(
        {n for power in octaves for n in (power, power + 1, 3 * power // 2) if n <= most}
    )


def report(name, found, limit=LIMIT):
    worst = min(found)
    print(f"{name:14} {len(found)} sizes, worst 2^-{worst[0]:.2f} at {worst[1]} items", flush=True)
    return worst[0] >= limit


def main():
    text = SOURCE.read_text()
    least = int(re.search(r"const SMALL_SET_LEN_OF_MANY: u64 = (\d+);", text)[1])
    three = [(bits(three_way(n, stashless_bins(n, least)))[0], n) for n in sizes(MOST_RECEIVER_LEN)]
    two = [(bits(two_way(n, two_way_bins(n)))[0], n) for n in sizes(MOST_TWO_WAY_LEN)]
    # A run alone. Its three-way tables rest on a fit.
    alone = [(bits(two_way(n, two_way_bins(n, ALONE)))[0], n) for n in sizes(MOST_TWO_WAY_LEN)]
    good = [report("three-way", three), report("two-way", two), report("two-way, alone", alone, ALONE)]
    print("\n| n | three-way: bins | bins an item | bits | two-way: bins | bits |\n" + "|---" * 6 + "|")
    for log_n in range(8, 25, 4):
        n = 1 << log_n
        bins, wide = stashless_bins(n, least), two_way_bins(n)
        by_three, by_two = bits(three_way(n, bins))[0], bits(two_way(n, wide))[0]
        print(f"| 2^{log_n} | {bins:,} | {bins / n:.3f} | {by_three:.1f} | {wide:,} | {by_two:.1f} |")
    # Half the least size: what a shorter table would give.
    half = bits(three_way(least // 2, stashless_bins(least // 2, least // 2)))[0]
    print(f"\n{least // 2} items in bins of their own number: 2^-{half:.1f}")
    if not all(good):
        sys.exit("a failure probability is above 2^-52, or in a run alone 2^-40")


if __name__ == "__main__":
    main()
