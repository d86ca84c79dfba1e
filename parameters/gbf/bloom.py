"""The failure rates of the blocks of a Bloom filter, exactly up to rounding.

The leading b bits of an item's hash choose one of 2^b blocks of s slots; k hash functions then give
indices in the block, the set of which is the item's. L is the load of a block: of n items, the number
that are in it, binomially distributed with mean n/2^b.

An item that is not in the filter is a false positive if all its D distinct slots are taken. Whether
the slots of a block are taken are negatively associated indicators (throws of balls into bins), each
true with probability f(L) = 1 - (1 - 1/s)^(k L). So the probability is at most E_L E_D [f(L)^D], and
that is what false_positive() computes.
"""

import math

LAMBDA = 40


def ceil_log2(n):
    return 0 if n <= 1 else (n - 1).bit_length()


def gbf_shape(n_x, n_y, lam=LAMBDA):
    """k, b and s as in crates/ot-psi/src/gbf/plan.rs and crates/okvs/src/bloom.rs."""
    k = lam + ceil_log2(n_x)
    slots = -(-k * max(n_x, n_y) * 3 // 2) + 1024
    blocks = -(-slots // (1 << 17))
    b = ceil_log2(blocks)
    return k, b, -(-slots // (1 << b))


def paper_shape(n_x, n_y):
    """k, b and s of `gbf_paper`: k = κ = 128 hash functions, m = k·n·log2(e) slots."""
    slots = -(-128 * max(n_x, n_y) * 14427 // 10000)
    blocks = -(-slots // (1 << 17))
    b = ceil_log2(blocks)
    return 128, b, -(-slots // (1 << b))


def distinct(k, s):
    """The distribution of the number of distinct slots of k throws into s."""
    p = [1.0] + [0.0] * k
    for _ in range(k):
        q = [0.0] * (k + 1)
        for d in range(k):
            q[d] += p[d] * d / s
            q[d + 1] += p[d] * (1 - d / s)
        p = q
    return p


def false_positive(n, k, b, s):
    """log2 of the mean probability that an item outside meets taken slots alone."""
    of_distinct = [(d, p) for d, p in enumerate(distinct(k, s)) if p > 0]
    log_free = math.log1p(-1 / s)

    def given(load):
        f = -math.expm1(k * load * log_free)
        return sum(p * f**d for d, p in of_distinct)

    if b == 0:
        return math.log2(given(n))
    p = 2.0**-b
    mean = n * p
    spread = math.sqrt(mean)
    # Beyond eighteen standard deviations and forty items nothing adds to the sum, as given() is at most 1
    # and grows like the load's k-th power at most.
    low, high = max(0, int(mean - 14 * spread) - 1), min(n, int(mean + 18 * spread) + 40)
    total = 0.0
    for load in range(low, high + 1):
        log_p = (
            math.lgamma(n + 1) - math.lgamma(load + 1) - math.lgamma(n - load + 1)
            + load * math.log(p) + (n - load) * math.log1p(-p)
        )
        total += math.exp(log_p) * given(load)
    return math.log2(total)


def margin(n_x, n_y, lam=LAMBDA, shape=None):
    """Bits beyond λ by which the union over all items of the sender stays below 2^-λ.

    Covers both failures: an item of the sender whose slots are all ones in the receiver's filter,
    and an item that finds no free slot among those before it in the sender's, whose number is at
    most n_x: both filters hold at most max(n_x, n_y) items.
    """
    k, b, s = shape or gbf_shape(n_x, n_y, lam)
    return -false_positive(max(n_x, n_y), k, b, s) - lam - math.log2(n_x)
