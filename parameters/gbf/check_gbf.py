"""Checks that the filters of `gbf` and of `gbf_paper` fail with probability below 2^-40 at every size."""

import sys
from pathlib import Path

from bloom import LAMBDA, ceil_log2, false_positive, gbf_shape, margin, paper_shape

PAGE = Path(__file__).resolve().parents[2] / "docs/protocols/gbf.md"


def sizes():
    small = list(range(1, 130))
    edges = [n for log in range(7, 33) for n in ((1 << log) - 1, 1 << log, (1 << log) + 1, 3 << (log - 1))]
    # The ends of the blocks' lengths: the largest and the smallest loads of a block.
    return sorted({min(n, 2**32 - 1) for n in small + edges})


def main():
    quick = "--quick" in sys.argv
    worst = {}
    n_max = 1 << 22 if quick else 2**32 - 1
    for n in (n for n in sizes() if n <= n_max):
        for n_x in {1, max(1, n // 1000), n}:
            bits = margin(n_x, n)
            assert bits > 0, f"n_x = {n_x}, n = {n}: {bits:.2f} bits"
            key = "n_x = n" if n_x == n else "n_x < n"
            worst[key] = min(worst.get(key, (bits, n)), (bits, n))
    # Between two changes of k and b the mean fill of a slot varies least where the blocks are shortest.
    for log in range(10, 33 if not quick else 22):
        for step in range(1, 16):
            n = (1 << log) * (16 + step) // 16
            if n < 2**32:
                bits = margin(n, n)
                assert bits > 0, f"n = {n}: {bits:.2f} bits"
                worst["n_x = n"] = min(worst["n_x = n"], (bits, n))
    # k leaves no room where n_x is a power of two, and loads vary most where n_y has just doubled the
    # blocks, which are then half as long.
    for log_x in range(0, 32 if not quick else 20):
        n_x = 1 << log_x
        blocks_of = lambda n_y: gbf_shape(n_x, n_y)[1]
        for log_y in range(max(log_x, 10), 32 if not quick else 22):
            low, high = 1 << log_y, min((1 << (log_y + 1)) - 1, 2**32 - 1)
            if blocks_of(low) == blocks_of(high):
                continue
            while low + 1 < high:
                middle = (low + high) // 2
                low, high = (middle, high) if blocks_of(middle) == blocks_of(1 << log_y) else (low, middle)
            bits = margin(n_x, high)
            assert bits > 0, f"n_x = {n_x}, n_y = {high}: {bits:.2f} bits"
            key = "n_x a power of two, n_y where blocks double"
            worst[key] = min(worst.get(key, (bits, high)), (bits, high))
    # A run of P partitions: λ has log2 P bits more, and no partition has more than 2^21 items.
    for runs in (2, 64, 4096):
        lam = 40 + ceil_log2(runs)
        least = min(
            (margin(n_x, n, lam), n)
            for n in (n for n in sizes() if n <= (1 << (17 if quick else 21)))
            for n_x in {1, max(1, n // 1000), n}
        )
        assert least[0] > 0, f"{runs} runs: {least[0]:.2f} bits at {least[1]}"
        key = f"{runs} partitions, in addition to their {lam - 40} bits"
        worst[key] = least
    for key, (bits, n) in worst.items():
        print(f"{key}: at least {40 + bits:.2f} bits, worst at n = {n}")
    for log in (0, 8, 12, 16, 20, 24):
        k, b, s = gbf_shape(1 << log, 1 << log)
        print(f"2^{log}: k = {k}, 2^{b} blocks of {s}, m = {s << b}, {40 + margin(1 << log, 1 << log):.2f} bits")
    check_paper(n_max)


def check_paper(n_max):
    """`gbf_paper`: the error of one item of the sender, at most 2^-128 by the paper, and of all of them."""
    of_all = lambda n: LAMBDA + margin(n, n, shape=paper_shape(n, n))
    worst = min((of_all(n), n) for n in sizes() if n <= n_max)
    assert worst[0] > LAMBDA, f"gbf_paper, n = {worst[1]}: {worst[0]:.2f} bits"
    print(f"gbf_paper: at least {worst[0]:.2f} bits over all items, worst at n = {worst[1]}")
    told = PAGE.read_text()
    for log in (0, 8, 12, 16, 20, 24):
        n = 1 << log
        k, b, s = shape = paper_shape(n, n)
        one, every = -false_positive(n, *shape), of_all(n)
        print(f"2^{log}: k = {k}, 2^{b} blocks of {s}, m = {s << b}, {one:.1f} bits an item, {every:.1f} for all")
        row = f"| 2^{log} | {s << b:,} | 2^-{one:.1f} | 2^-{every:.1f} |"
        assert n > n_max or row in told, f"docs/protocols/gbf.md lacks the row {row}"


main()
