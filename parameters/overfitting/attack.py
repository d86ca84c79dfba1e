#!/usr/bin/env python3
"""What two simple attacks on the stores of `rr22_malicious` gain for a receiver that deviates.

A receiver that hashes 2^H items looks for more items than slots that one P can hold.

Equal hashes: items with the same row key take one slot together. There are 2^(2H - 129) pairs.

Relations: k items whose rows and values both add up to zero over GF(2) take k - 1 slots. A pool of N items in a
window of t slots has rows of t bits and values of 128 bits (in the clustered store also keys of 128 bits, because its
dense slots add up to zero exactly when the keys do), together L bits. Sums of p items of the pool are merged as in
Wagner's k-list algorithm: a levels with lists of 2^H make a*H bits of sums of 2^a*p items zero. Gaussian elimination
before that makes each of the other bits belong to a single item, so a sum in which i of them are left is a relation of
2^a*p + i items; the least i among 2^H random sums is used. With a = 0 and p = 1 this is Gaussian elimination alone.

This attack is our own, not from a paper, and others may be better. `--table` prints the table of
docs/protocols/rr22.md; without it the table is compared, and relations of either store are found by elimination."""

import random
import re
import sys
from functools import lru_cache
from math import comb, log2
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/protocols/rr22.md"
GUESSES = ROOT / "docs/security/guesses.md"
VALUE_BITS = 128
KEY_BITS = 128
BAND = 512
HASHES = (30, 40, 60, 80)
SELF_CHECK = 16
# The rows that the receiver announces, those of the sender, the store, and its clusters.
CASES = [
    ("16", "2^28", "polynomial", 1),
    ("17", "2^20", "band", 1),
    ("100", "2^20", "band", 1),
    ("1,000", "1,000", "band", 1),
    ("4,096", "4,096", "band", 1),
    ("2^16", "2^16", "clustered", 2),
    ("2^20", "2^20", "clustered", 32),
    ("2^24", "2^24", "clustered", 512),
]
# Rows of weight 3 for each slot of a window that are independent (0.917 in the limit), but for the one relation.
LOAD = 0.85


def free_slots():
    """The slots for guesses and the proven limit, from the table of docs/security/guesses.md, by the rows of receiver and sender."""
    number = r"([\d,^]+)"
    row = re.compile(rf"^\| {number} \| {number} \| {number} \| [\d.]+ \| {number} \| [\d.]+ \|$", re.M)
    found = row.findall(GUESSES.read_text())
    return {(y, x): [int(n.replace(",", "")) for n in figures] for y, x, *figures in found}


@lru_cache(None)
def least_left(bits, trials_bits):
    """The least weight that one of 2^trials_bits random vectors of `bits` bits is expected to have."""
    below = 0
    for weight in range(bits + 1):
        below += comb(bits, weight)
        if below << trials_bits >> bits:
            return weight
    return bits


def log_sums(pool_log, p):
    """log2 of the number of sums of p items of a pool of 2^pool_log."""
    return p * pool_log - sum(log2(i) for i in range(1, p + 1))


def relation(hashes, bits, pool_log):
    """The least k of a relation over `bits` bits from a pool of 2^pool_log items, with lists of 2^hashes sums."""
    if 2 ** min(pool_log, 20) <= bits:
        return None
    p = next((p for p in range(1, 65) if log_sums(pool_log, p) >= hashes), None)
    if p is None:
        return None
    levels = range(bits // hashes + 1)
    return min(p * 2**a + least_left(bits - a * hashes, hashes) for a in levels)


def gain(store, slots, clusters, hashes):
    """(k, slots that one relation needs for itself), the fewest."""
    in_cluster = slots // clusters
    if store == "band":
        # The items of one start. In fewer than 512 slots all items have the same.
        t = min(in_cluster, BAND)
        k = relation(hashes, t + VALUE_BITS, hashes - log2(in_cluster - t + 1))
        return (k, k - 1) if k and k <= t + 1 else None
    found = None
    for t in range(8, 700, 4):
        # The items whose three slots are in the window.
        pool_log = hashes - log2(clusters) - 3 * log2(in_cluster / t)
        k = relation(hashes, t + VALUE_BITS + KEY_BITS, pool_log) if pool_log > 0 else None
        if k and k - 1 <= LOAD * t and (found is None or t < found[1]):
            found = (k, t)
    return found


def rows():
    slots = free_slots()
    for y, x, store, clusters in CASES:
        free, most = slots[y, x]
        cells = []
        for hashes in HASHES:
            by = None if store == "polynomial" else gain(store, free + SELF_CHECK, clusters, hashes)
            cells.append("–" if by is None else f"{free // by[1]:,} ({by[0]})")
        yield f"| {y} | {x} | {store} | {free:,} | {' | '.join(cells)} | {most - free:,} |"


def eliminate(vectors):
    """The sets of vectors, as bits of an integer, that add up to zero."""
    pivots, zero = {}, []
    for i, vector in enumerate(vectors):
        members = 1 << i
        while vector:
            top = vector.bit_length()
            if top not in pivots:
                pivots[top] = (vector, members)
                break
            vector, members = vector ^ pivots[top][0], members ^ pivots[top][1]
        else:
            zero.append(members)
    return zero


def check_by_elimination():
    """Finds a relation in either store, and that its items are otherwise independent."""
    rng = random.Random(1)
    draw = rng.getrandbits
    n = BAND + VALUE_BITS + 1
    items = [(draw(BAND), draw(VALUE_BITS)) for _ in range(n)]
    found = eliminate([row << VALUE_BITS | value for row, value in items])
    ks = [check_one([items[i][0] for i in range(n) if members >> i & 1], 1) for members in found]
    yield f"band: {ks} items in one slot less each, among {n}"
    t = 400
    n = t + VALUE_BITS + KEY_BITS + 1
    items = [(sum(1 << s for s in rng.sample(range(t), 3)), draw(KEY_BITS), draw(VALUE_BITS)) for _ in range(n)]
    found = eliminate([row << 256 | key << 128 | value for row, key, value in items])
    # The dense slots, at least two, take up further dependencies of the sparse rows.
    ks = [check_one([items[i][0] for i in range(n) if members >> i & 1], 3) for members in found]
    yield f"clustered: {ks} items in one slot less each, among {n} within {t} slots"


def check_one(rows, most_dependent):
    dependent = len(eliminate(rows))
    if not 1 <= dependent <= most_dependent:
        sys.exit(f"{len(rows)} rows with {dependent} dependencies")
    return len(rows)


def main():
    table = list(rows())
    if "--table" in sys.argv:
        print("\n".join(table))
        return
    page = PAGE.read_text().splitlines()
    missing = [row for row in table if row not in page]
    if missing:
        sys.exit("docs/protocols/rr22.md lacks\n" + "\n".join(missing))
    for line in check_by_elimination():
        print(line)
    print(f"{len(table)} rows of {PAGE.name}: as computed")


if __name__ == "__main__":
    main()
