"""Bits of work of the known attacks on LPN with regular noise.

Cost model. One bit operation costs one. An operation in GF(2^m) costs m, what an addition costs; a
multiplication costs more, so this favours the attacker. Memory is free. The result is
log2(cost of one try / probability that a try succeeds). Logarithms are to base 2 throughout.

Letters. N samples, k unknowns, t noisy samples, one in each block of N/t; row weight w.
"""

from functools import cache
from math import e, lgamma, log, log2

NEVER = float("inf")
ROW_WEIGHT = 10


def lg_binomial(n, r):
    if r < 0 or r > n:
        return -NEVER
    return (lgamma(n + 1) - lgamma(r + 1) - lgamma(n - r + 1)) / log(2)


def lg_sum(*terms):
    top = max(terms)
    return top + log2(sum(2 ** max(x - top, -60) for x in terms))


def lg_hits(t, share, h):
    """Probability that exactly h of t blocks have their noise in the chosen share of the samples."""
    return lg_binomial(t, h) + h * log2(share) + (t - h) * log2(1 - share)


def lg_solve(c, right_sides, field_bits, weight):
    """Cost of c equations in c unknowns for several right sides, dense (Strassen) or by Wiedemann."""
    dense = 2.8 * log2(c)
    sparse = log2((3 + right_sides) * (weight + 1)) + 2 * log2(c)
    return min(dense, sparse) + log2(field_bits)


# --- how few unknowns carry enough equations -------------------------------------------------------


def smallest_subset(samples, k, weight):
    """The least share of the unknowns for which a set of unknowns is expected to exist that contains
    the supports of as many rows as it has unknowns (first moment). It bounds every search."""
    return min(1.0, (k / (samples * e * e)) ** (1 / (weight - 2)))


# What the greedy search of `subset.py` reaches, as a multiple of `smallest_subset`.
GREEDY = 1.135


# --- decoding one instance -------------------------------------------------------------------------


def stern(samples, c, t, weight, dense_rows=False):
    """Information-set decoding over GF(2) on c unknowns: up to h hits among the c samples that are
    taken as error free, found by collision of two lists (Stern, Dumer). h = 0 is pooled Gauss."""
    best = (NEVER, 0)
    for h in range(0, 25, 2):
        entries = lg_binomial(c // 2, h // 2)
        for ell in range(max(2, int(entries) - 8), int(entries) + 12):
            solve = 2.8 * log2(c) if dense_rows else lg_solve(c, ell, 1, weight)
            lists = log2(ell) + lg_sum(entries + 1, 2 * entries - ell)
            luck = lg_hits(t, (c + ell) / samples, h) + lg_binomial(h, h // 2) - h
            best = min(best, (lg_sum(solve, lists) - luck, h))
    return best


def bjmm(samples, c, t, weight):
    """The same with representations, two levels (May-Meurer-Thomae for extra = 0, BJMM above)."""
    best = (NEVER, 0)
    for h in range(4, 21, 4):
        for extra in range(0, 3):
            half = h // 2 + extra
            base = lg_binomial(c // 2, half // 2)
            ways = lg_binomial(h, h // 2) + lg_binomial(c - h, extra)
            middle = max(0.0, lg_binomial(c, half) - ways)
            for ell in range(max(int(ways) + 1, int(middle)), int(2 * middle + ways) + 12, 2):
                solve = lg_solve(c, ell, 1, weight)
                lists = log2(ell) + lg_sum(base + 2, 2 * base - ways + 1, middle + 1, 2 * middle - ell + ways)
                best = min(best, (lg_sum(solve, lists) - lg_hits(t, (c + ell) / samples, h), h))
    return best


def interleaved(samples, c, t, field_bits, depth, weight):
    """Decoding over K = GF(2^field_bits) with noise values in K^depth, a code linear over K.

    The residuals of the other samples lie in the span of the h noise values that hit the c samples.
    h <= depth: their columns span exactly the hit columns (Metzner and Kapturowski). h = depth + 1:
    modulo that span the hit columns are parallel, found by sorting. Each further hit costs a guess
    of one column, or lists of combinations when K is small."""
    best = (NEVER, 0)
    for h in range(0, depth + 7):
        guesses = max(0, h - depth - 1)
        search = log2(c) + max(0.0, lg_binomial(c, guesses) - lg_binomial(h, guesses))
        if h - depth >= 2:
            side = (h - depth + 1) // 2
            search = min(search, lg_binomial(c, side) + (side - 1) * field_bits + 1)
        ell = depth + 3 + guesses
        work = lg_sum(lg_solve(c, ell, field_bits, weight), search + log2(field_bits * ell))
        best = min(best, (work - lg_hits(t, (c + ell) / samples, h), h))
    return best


def functional(samples, k, t, value_bits, weight):
    """A *binary* code with noise values in GF(2)^value_bits: broken when about value_bits hits are
    as many as one expects (the interleaving attack)."""
    return interleaved(samples, k, t, 1, value_bits, weight)[0]


# --- attacks that use regularity -------------------------------------------------------------------


@cache
def hybrid(samples, k, t, binary):
    """Guess u error-free samples a block, solve the products e_i e_j = 0 of a block as linear
    equations in the monomials (Wiedemann). Hybrid of ePrint 2025/1284."""
    block = samples // t
    best = (NEVER, 0)
    for quarter in range(0, 4 * (block - 2)):
        u = quarter / 4
        guess = -t * log2(1 - u / block)
        unknowns = k - u * t - (t if binary else 0)
        if unknowns <= 1:
            return min(best, (guess + 2 * log2(k), u))
        products = t * (block - u - 1) * (block - u - 2) / 2
        if unknowns * (unknowns + 3) / 2 > products:
            continue
        monomials = 2 * log2(unknowns) - 1
        best = min(best, (guess + 2 * monomials + 2 * log2(unknowns) - 1 - log2(max(monomials, 1)), u))
    return best


@cache
def algebraic(samples, k, t, binary):
    """Briaud and Øygarden (EUROCRYPT 2023), with their guess of mu samples in f blocks: Macaulay
    matrix at the degree where the Hilbert series turns, 3 (k + 1 - f mu) M^2 operations."""
    block = samples // t
    free = samples - k

    def series(f, mu):
        one = [1.0] + [0.0] * 6
        for power, slope in ((f, block - mu - 1), (t - f, block - 1)):
            factor = [1.0]
            for i in range(1, 7):
                factor.append(factor[-1] * (power - i + 1) / i * slope)
            one = _product(one, factor)
        return one

    best = (NEVER, 0)
    for f in sorted({0, t // 4, t // 2, 3 * t // 4, 7 * t // 8, t}):
        for mu in range(0, block - 1, max(1, block // 64)):
            if f * mu > k:
                break
            noise = series(f, mu)
            m = free - 1 if binary else free - t
            equations = [1.0]
            for i in range(1, 7):
                step = -(m + i - 1) / i if binary else -(m - i + 1) / i
                equations.append(equations[-1] * step)
            left = _product(noise, equations)
            size = noise
            if not binary:
                values = [1.0]
                for i in range(1, 7):
                    values.append(values[-1] * (t + i - 2) / i)
                size = _product(noise, values)
            total = 0.0
            monomials = size[1]
            for degree in range(2, 7):
                total += left[degree]
                monomials += size[degree]
                if total < 1:
                    cost = 2 * log2(monomials) + log2(3 * (k + 1 - f * mu))
                    best = min(best, (cost - f * log2(1 - mu / block), degree))
                    break
    return best


def _product(a, b):
    return [sum(a[i] * b[d - i] for i in range(d + 1)) for d in range(7)]


# --- one row, all attacks --------------------------------------------------------------------------


def primal(k, t, depth, setting, weight=ROW_WEIGHT):
    """All attacks on one primal row; `setting` is (field bits, interleaving depth)."""
    field_bits, interleaving = setting
    samples = t << depth
    least = smallest_subset(samples, k, weight)
    found = min(1.0, GREEDY * least)
    binary = field_bits == 1

    def decode(c):
        if binary:
            return min(stern(samples, c, t, weight)[0], bjmm(samples, c, t, weight)[0])
        return interleaved(samples, c, t, field_bits, interleaving, weight)[0]

    # Over GF(2) each block sums to one: t unknowns less, but dense equations.
    whole = decode(k)
    if binary:
        whole = min(whole, stern(samples, k - t, t, weight, dense_rows=True)[0])
    return {
        "gauss": lg_solve(k, 1, field_bits, weight) - t * log2(1 - k / samples),
        "isd": whole,
        "subset": decode(int(found * k)),
        "any subset": decode(int(least * k)),
        "hybrid": hybrid(samples, k, t, binary)[0],
        "algebraic": algebraic(samples, k, t, binary)[0],
    }


def dual(n, t, depth, setting, expander, window, delta):
    """All attacks on a dual instance with an expand-convolute code; `delta` is the relative weight of the
    lightest word one supposes to be found when nothing is known of where it lies."""
    field_bits, interleaving = setting
    samples = t << depth
    k = samples - n
    return {
        "pseudo-distance": -t * log2(1 - delta),
        "linear tests": code_test(n, t, depth, expander, field_bits, window),
        "isd": interleaved(samples, k, t, field_bits, interleaving, k)[0],
        "hybrid": hybrid(samples, k, t, False)[0],
        "algebraic": algebraic(samples, k, t, False)[0],
    }


# --- linear tests of the expand-convolute code -----------------------------------------------------


@cache
def code_test(n, t, depth, weight, field_bits, window, weak=80):
    """Bits of the best linear test against a code over K, but for codes of probability 2^-weak.

    A word is silent until the first position of its rows, counted from the end, then runs on, and may be
    silenced again after a position; `window` linear conditions on the r - 1 free ratios of coefficients
    silence it once. Where the farthest multiplier is zero, one place in |K|, one condition less does, and
    no position is needed. Blocks of noise are contiguous: a block that a word covers wholly is hit for
    sure, so only words with a gap in every block have a bias. Only blocks inside the convolution are
    counted."""
    places = (t << depth) - n
    blocks = places >> depth
    zeros = places / 2**field_bits
    most_zeros = int(zeros + 8 * zeros**0.5 + 8) if zeros > 2**-60 else 0
    bias = [-blocks * log2(1 - covered / blocks) for covered in range(blocks)]
    best = NEVER
    for r in [*range(1, 40), *range(40, 100, 4), *range(100, 501, 20)]:
        points = weight * r
        for at_zeros in range(min(most_zeros, 2 * r + 1) + 1):
            # How often `at_zeros` zeros are found among those of a random code.
            found = at_zeros * log2(zeros) - lgamma(at_zeros + 1) / log(2) if at_zeros else 0.0
            left = r - 1 - (window - 1) * at_zeros
            free = max(0, left // window)
            for at_points in range(max(0, free - 2), free + 9):
                count = lg_binomial(n, r) + found + lg_binomial(points, at_points)
                count += min(0, field_bits * (left - window * at_points))
                # A run is shorter than two blocks, the last one shorter than one.
                most = min(blocks - 1, 2 * (at_zeros + at_points) + 1)

                def words(covered):
                    return count + _lg_beta(covered / blocks, points - at_points, at_zeros + at_points + 1)

                if most < 1 or count < -weak or words(most) < -weak:
                    continue
                for covered in range(_first(most, lambda c: words(c) >= -weak), most + 1):
                    if bias[covered - 1] >= best:
                        break
                    best = min(best, bias[covered - 1] - min(0.0, words(covered)))
    return best


def _first(most, holds):
    """The least of 1..=most for which the monotone condition holds; it holds for the last."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _lg_beta(x, a, b):
    """log2 P[Beta(a, b) <= x] = P[Bin(a + b - 1, x) >= a], at most a little more."""
    n = a + b - 1
    if a <= n * x:
        return 0.0
    # The terms fall at least as fast as a geometric series.
    ratio = (n - a) / (a + 1) * x / (1 - x)
    return min(0.0, lg_binomial(n, a) + a * log2(x) + (n - a) * log2(1 - x) - log2(1 - ratio))
