"""Checks that the filters of `gbf` fail with probability below 2^-40 at every size."""

import sys
from bloom import gbf_shape, margin


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
    for key, (bits, n) in worst.items():
        print(f"{key}: at least {40 + bits:.2f} bits, worst at n = {n}")
    for log in (0, 8, 12, 16, 20, 24):
        k, b, s = gbf_shape(1 << log, 1 << log)
        print(f"2^{log}: k = {k}, 2^{b} blocks of {s}, m = {s << b}, {40 + margin(1 << log, 1 << log):.2f} bits")


main()
