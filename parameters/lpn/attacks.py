#!/usr/bin/env python3
"""The attacks that decide the parameters, run at toy size. Each claim is asserted."""

import random

import gf16
from estimate import GREEDY, smallest_subset
from subset import dense_subset


def sparse_rows(r, count, k, weight):
    return [tuple(r.sample(range(k), weight)) for _ in range(count)]


def regular_noise(r, trees, depth):
    return {(b << depth) + r.randrange(1 << depth) for b in range(trees)}


# --- 1. binary code, wide noise values: one elimination -------------------------------------------


class BinaryEchelon:
    def __init__(self, mask):
        self.mask, self.pivots = mask, {}

    def reduce(self, v):
        while v & self.mask:
            pivot = self.pivots.get((v & self.mask).bit_length())
            if pivot is None:
                break
            v ^= pivot
        return v

    def add(self, v):
        v = self.reduce(v)
        if not v & self.mask:
            return False
        self.pivots[(v & self.mask).bit_length()] = v
        return True


def in_smallest_span(r, residuals, sample):
    """The rows whose residual lies in the span of a sample, for the sample of the least rank."""
    best = None
    for _ in range(60):
        span = BinaryEchelon(-1)
        size = sum(span.add(v) for v in r.sample(residuals, sample) if v)
        if best is None or size < best[0]:
            best = (size, span)
    return best[0], [best[1].reduce(v) == 0 if v else True for v in residuals]


def interleaving_on_a_binary_code():
    r = random.Random(1)
    k, trees, depth, width = 400, 100, 5, 128
    count = trees << depth
    rows = sparse_rows(r, count, k, 10)
    x = [r.getrandbits(width) for _ in range(k)]
    noise = {i: r.getrandbits(width) for i in regular_noise(r, trees, depth)}

    order = r.sample(range(count), count)
    echelon, taken, rest = BinaryEchelon(((1 << k) - 1) << width), [], []
    for i in order:
        y = noise.get(i, 0)
        for j in rows[i]:
            y ^= x[j]
        v = sum(1 << (j + width) for j in rows[i]) | y
        if len(taken) < k and echelon.add(v):
            taken.append(i)
        else:
            rest.append((i, v))
    residuals = [echelon.reduce(v) for _, v in rest]
    hits = len(noise.keys() & set(taken))
    size, clean = in_smallest_span(r, residuals, 32)
    found = {i for (i, _), ok in zip(rest, clean) if not ok}
    assert size <= hits < width
    assert found == noise.keys() - set(taken)
    return f"k={k} N={count} t={trees}: {hits} hits, residuals of rank {size}; all {len(found)} other noise positions read off"


# --- 2. the same noise, coefficients in GF(2^16) --------------------------------------------------


def interleaving_on_a_code_with_coefficients():
    r = random.Random(2)
    k, trees, depth, dimension = 72, 80, 3, 5
    count = trees << depth
    rows = sparse_rows(r, count, k, 10)
    x = [[r.randrange(65536) for _ in range(dimension)] for _ in range(k)]
    noise = {i: [r.randrange(65536) for _ in range(dimension)] for i in regular_noise(r, trees, depth)}

    echelon, taken, rest = gf16.Echelon(k), [], []
    for i in r.sample(range(count), count):
        g = r.randrange(65536)
        row = [0] * k
        for place, j in enumerate(rows[i]):
            row[j] = 1 if place < 5 else g
        y = list(noise.get(i, [0] * dimension))
        for j in range(k):
            if row[j]:
                y = [a ^ gf16.mul(row[j], b) for a, b in zip(y, x[j])]
        if len(taken) < k and echelon.add(row + y):
            taken.append(i)
        else:
            rest.append(echelon.reduce(row + y)[k:])
    hits = len(noise.keys() & set(taken))
    assert hits > dimension + 1
    as_bits = [sum(v << (16 * n) for n, v in enumerate(y)) for y in rest]
    binary_rank, _ = in_smallest_span(r, as_bits, 16 * dimension + 20)
    field_rank = min(gf16.rank(r.sample(rest, dimension + 2)) for _ in range(60))
    assert binary_rank == 16 * dimension and field_rank == dimension
    return f"k={k} N={count} t={trees}: {hits} hits, residuals of full rank, {field_rank} over K and {binary_rank} over GF(2)"


# --- 3. fewer unknowns, because rows are sparse ---------------------------------------------------


def tries_to_solve(r, vectors, unknowns, limit):
    """Pooled Gauss: takes the samples in random order until they have full rank, judges the guess by
    the samples that are left."""
    mask = (1 << unknowns) - 1
    for attempt in range(1, limit + 1):
        r.shuffle(vectors)
        echelon, left, wrong = BinaryEchelon(mask), 0, 0
        for v in vectors:
            if not echelon.add(v):
                left += 1
                wrong += echelon.reduce(v) >> unknowns
        if wrong * 8 <= left:
            return attempt
    return None


def sparse_subset(instances=6, limit=400):
    r = random.Random(7)
    k, weight, trees, depth = 120, 6, 60, 5
    solved = {"all unknowns": 0, "subset": 0}
    for _ in range(instances):
        rows = sparse_rows(r, trees << depth, k, weight)
        x = [r.randrange(2) for _ in range(k)]
        noise = regular_noise(r, trees, depth)
        y = [(sum(x[j] for j in row) + (i in noise)) & 1 for i, row in enumerate(rows)]
        for kind in solved:
            if kind == "subset":
                columns, use = dense_subset(rows, k, 40)
            else:
                columns, use = list(range(k)), r.sample(range(len(rows)), k + 40)
            place = {j: n for n, j in enumerate(columns)}
            vectors = [sum(1 << place[j] for j in rows[i]) | y[i] << len(columns) for i in use]
            solved[kind] += tries_to_solve(r, vectors, len(columns), limit) is not None
    assert solved["subset"] > solved["all unknowns"]
    return f"k={k}, row weight {weight}, {limit} eliminations: {solved['subset']} of {instances} solved, {solved['all unknowns']} without the subset"


def greedy_ratio():
    out = []
    for k, density in ((2000, 5), (2000, 12), (1500, 24)):
        rows = sparse_rows(random.Random(density), k * density, k, 10)
        columns, _ = dense_subset(rows, k, 1)
        least = smallest_subset(k * density, k, 10)
        ratio = len(columns) / k / least
        assert 0.99 * GREEDY < ratio < 1.03 * GREEDY
        out.append(f"N/k={density}: {len(columns) / k:.3f} found, {least:.3f} least")
    return "; ".join(out)


# --- 4. one coefficient a row is as good as ten ---------------------------------------------------


def rank_defects(r, columns, extra, structured, count=60):
    defects = 0
    for _ in range(count):
        matrix = []
        for support in sparse_rows(r, columns + extra, columns, 10):
            g, row = r.randrange(65536), [0] * columns
            for place, j in enumerate(support):
                row[j] = (1 if place < 5 else g) if structured else r.randrange(1, 65536)
            matrix.append(row)
        defects += min(columns, columns + extra) - gf16.rank(matrix)
    return defects


def one_coefficient_is_as_good_as_ten():
    r = random.Random(4)
    out = []
    for extra in (-4, 0):
        one, ten = (rank_defects(r, 48, extra, s) for s in (True, False))
        assert abs(one - ten) <= 4
        out.append(f"{48 + extra} rows on 48 unknowns: {one} and {ten} ranks missing of {60 * (48 + extra)}")
    return "; ".join(out)


def main():
    for claim in (
        interleaving_on_a_binary_code,
        interleaving_on_a_code_with_coefficients,
        sparse_subset,
        greedy_ratio,
        one_coefficient_is_as_good_as_ten,
    ):
        print(f"{claim.__name__.replace('_', ' ')}: {claim()}", flush=True)


if __name__ == "__main__":
    main()
