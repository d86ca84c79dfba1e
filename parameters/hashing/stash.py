#!/usr/bin/env python3
"""How often the stash is too small in a cuckoo table of two functions, exactly up to rounding; see README.md.

Items are the edges of a random graph with two random bins each. A component of v bins and e edges needs e - v places of the
stash if that is positive. The number of graphs in which all components together need s places has a generating function
(S. Janson, D. E. Knuth, T. Luczak, B. Pittel, "The birth of the giant component", Random Structures and Algorithms 4,
1993): with T the one of rooted trees, U = T - T^2/2 those of trees, (1 - T)^(-1/2) sets of components with one cycle, and
the sum of K(v, e) T^v / (1 - T)^e over v with e = v + s the rest, where K counts the graphs without bins of one or two
edges. Lagrange's inversion turns the coefficient of z^bins into one of a product of powers, which obeys a recurrence."""

import re
import sys
from fractions import Fraction
from math import exp, factorial, lgamma, log, log2
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "crates/hashing/src/table.rs"
LIMIT = 40

# Table 3 of Phasing: of 2^30 tables of 2^11, …, 2^14 items, those that needed s = 0, 1, … places.
TABLE_3 = {
    11: [1068592289, 4994200, 147893, 7005, 407],
    12: [1070826935, 2861137, 52038, 1647, 62],
    13: [1072132187, 1592951, 16404, 274, 8],
    14: [1072845430, 891497, 4840, 56, 1],
}


def two_way_bins(n):
    return max(2, -(-12 * n // 5))


def kernels(places):
    """[(v, e, K(v, e))] of graphs that need `places`: K is (2e)! / (2^e e! v!) times [x^2e] (e^x - 1 - x - x^2/2)^v."""
    found = []
    ends = 6 * places
    one = [Fraction(0)] * 3 + [Fraction(1, factorial(i)) for i in range(3, ends + 1)]
    power = [Fraction(1)] + [Fraction(0)] * ends
    for v in range(2 * places + 1):
        e = v + places
        if v > 0:
            power = [sum(power[i] * one[k - i] for i in range(k - 2) if power[i]) for k in range(ends + 1)]
        weight = Fraction(factorial(2 * e), 2**e * factorial(e) * factorial(v)) * power[2 * e]
        if weight:
            found.append((v, e, float(weight)))
    return found


KERNELS = {}


def log_coefficient(bins, k, a, at):
    """ln [t^at] e^(bins t) (1 - t/2)^k (1 - t)^a."""
    first, second, third = bins - k / 2 - a, (k + a - 3 * bins) / 2, bins / 2
    c, c_1, c_2, scale = 1.0, 0.0, 0.0, 0.0
    for i in range(at):
        c, c_1, c_2 = ((1.5 * i + first) * c + (second - 0.5 * (i - 1)) * c_1 + third * c_2) / (i + 1), c, c_1
        if c > 1e200:
            scale += log(c)
            c, c_1, c_2 = 1.0, c_1 / c, c_2 / c
    return log(c) + scale


def needs(n, places, bins=None):
    """The probability that n items need exactly that number of places."""
    bins = bins or two_way_bins(n)
    trees = bins - n + places
    if places not in KERNELS:
        KERNELS[places] = kernels(places)
    every = n * log(2) + lgamma(n + 1) + lgamma(bins + 1) - 2 * n * log(bins) - lgamma(trees + 1)
    return sum(
        weight * exp(every + log_coefficient(bins, trees, 0.5 - e, bins - trees - v))
        for v, e, weight in KERNELS[places]
        if bins - trees >= v
    )


def fails(n, stash):
    """log2 of the probability that `stash` places are too few."""
    # Each further place is needed at least four times as rarely.
    found = [needs(n, stash + more) for more in (1, 2)]
    assert found[1] <= found[0] / 4, (n, stash, found)
    total = found[0] + found[1] * 4 / 3
    return log2(total) if total else float("-inf")


def stash_len():
    """`Table::stash_len` as the source has it."""
    body = re.search(r"fn stash_len.*?match [^{]*\{(.*?)\}", SOURCE.read_text(), re.S)[1]
    arms = [arm.split("=>") for arm in body.replace("\n", " ").split(",") if "=>" in arm]
    lows = [int(re.match(r"\s*(\d+)", pattern)[1]) if "_" not in pattern else None for pattern, _ in arms]
    places = [int(value) for _, value in arms]
    ends = [int(m[1]) if (m := re.search(r"\.\.(\d+)", pattern)) else None for pattern, _ in arms]

    def of(n):
        octave = max(n, 1).bit_length() - 1
        for low, end, value in zip(lows, ends, places):
            if low is None or (octave < end if end else octave == low):
                return min(value, n)

    return of


def main():
    quick = "--quick" in sys.argv
    print("Table 3 of the paper, of 2^30 tables / the exact mean")
    for n_log, counts in TABLE_3.items():
        exact = [needs(1 << n_log, places) * 2**30 for places in range(5)]
        print(f"2^{n_log}:", ", ".join(f"{told:,} / {mean:,.1f}" for told, mean in zip(counts, exact)), flush=True)
        for told, mean in zip(counts[1:], exact[1:]):
            # The paper's tables need one place more in some 125,000 of 2^30, at every size: a walk that was stopped.
            assert mean - 5 * mean**0.5 <= told <= 1.2 * mean + 5 * mean**0.5, (n_log, told, mean)

    of = stash_len()
    assert [of(1 << n_log) for n_log in (8, 12, 13, 16, 20, 24)] == [12, 7, 6, 4, 3, 2]
    few = [*range(13, 100, 7), *range(100, 1000, 90), 1024, 2048, 4095, 4096, 4097, 5000, 6144, 8191, 8192, 12288]
    many = [1 << 14, (1 << 16) - 1, 1 << 16, 1 << 18] + ([] if quick else [1 << 20])
    worst = max((fails(n, of(n)), n) for n in few + many)
    print(f"\nstashes of the code: {len(few + many)} sizes, worst 2^{worst[0]:.2f} at {worst[1]} items", flush=True)
    print("\n| n | stash | too small | one place fewer | no stash: fails once in |\n|---|---|---|---|---|")
    for n_log in (8, 10, 11, 12, 13, 14, 16) + (() if quick else (20,)):
        n = 1 << n_log
        s = of(n)
        alone = 1 / sum(needs(n, places) for places in (1, 2, 3, 4))
        print(f"| 2^{n_log} | {s} | 2^{fails(n, s):.1f} | 2^{fails(n, s - 1):.1f} | {alone:,.1f} |", flush=True)
    if worst[0] >= -LIMIT:
        sys.exit("a stash is too small with a probability above 2^-40")
    assert fails(1 << 12, 6) > -LIMIT, "the six places of the paper's Table 4 suffice"


if __name__ == "__main__":
    main()
