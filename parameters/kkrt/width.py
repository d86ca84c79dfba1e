#!/usr/bin/env python3
"""The lengths of the codewords of the KKRT16 OPRF: checks the committed table with integers.

A codeword of W bits is pseudorandom; two differ in fewer than 128 places with probability
Σ_{i<128} C(W, i) / 2^W. The table has the most pairs for which, over all of them, this is at most
2^-40. `--table` prints it."""

import re
import sys
from math import comb
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "crates/oprf/src/kkrt/width.rs"
DISTANCE = 128
FAILURE_BITS = 40
# Three comparisons for each of 2^32 items, in each of 2^12 runs that make one result.
MOST_COMPARISONS = 3 << 32 << 12


def most_comparisons(width_bits):
    """The most pairs of codewords of `width_bits` bits."""
    near = sum(comb(width_bits, i) for i in range(DISTANCE))
    return (1 << width_bits >> FAILURE_BITS) // near


def table():
    """Rows from the first that serves any pair to the first that serves all."""
    for width_bytes in range(1, 65):
        most = most_comparisons(8 * width_bytes)
        if most:
            yield width_bytes, most
        if most >= MOST_COMPARISONS:
            return


def main():
    expected = list(table())
    if "--table" in sys.argv:
        for width_bytes, most in expected:
            print(f"    ({width_bytes}, {most:_}),")
        return
    text = SOURCE.read_text()
    rows = re.findall(r"^    \((\d+), ([\d_]+)\),$", text, re.M)
    committed = [tuple(int(number) for number in row) for row in rows]
    if committed != expected:
        sys.exit(f"{SOURCE.name} has {committed}, computed are {expected}")
    print(f"{len(expected)} lengths, {8 * expected[0][0]} to {8 * expected[-1][0]} bits: as computed")


if __name__ == "__main__":
    main()
