#!/usr/bin/env python3
"""Prints the parameter tables of the silent correlations with the bits of every attack, fails when an
entry is below 128, and, given the folder of the Rust sources, compares with the constants there."""

import re
import sys
from pathlib import Path

from estimate import dual, functional, lg_light_words, primal

KAPPA = 128

# setting: (bits of K, depth of interleaving, trees); seeds k = 128 * 2^depth in every row.
SETTINGS = {
    "COT": (1, 1, 1024),
    "FULL": (128, 1, 1536),
    "SUBFIELD5": (16, 5, 768),
    "SUBFIELD6": (16, 6, 640),
}
DEPTHS = range(8, 13)

# The bootstrap: (n, trees, depth, pseudo-distance).
DUAL = [(20_000, 312, 8, 0.25), (39_936, 312, 8, 0.25), (79_872, 312, 9, 0.25), (100_000, 312, 10, 0.25)]
DUAL_EXPANDER = 21
DUAL_WINDOW = 2

PUBLISHED = [(1 << 16, 850, 10), (1 << 17, 1170, 11), (1 << 18, 1520, 12), (1 << 19, 1900, 13)]

PRIMAL_ATTACKS = ["gauss", "isd", "subset", "any subset", "hybrid", "algebraic"]
DUAL_ATTACKS = ["linear tests", "isd", "hybrid", "algebraic"]


def rows():
    for name, (bits, interleaving, trees) in SETTINGS.items():
        for depth in DEPTHS:
            yield name, (bits, interleaving), 128 << depth, trees, depth


def line(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def print_tables():
    low = []
    print("## Primal steps\n")
    print(line(["setting", "k", "t", "depth", "N", "N/k", *PRIMAL_ATTACKS]))
    print(line(["---"] * 12))
    for name, setting, k, trees, depth in rows():
        bits = primal(k, trees, depth, setting)
        samples = trees << depth
        print(line([name, k, trees, depth, samples, samples // k, *(f"{bits[a]:.0f}" for a in PRIMAL_ATTACKS)]))
        low += [(name, k, a, b) for a, b in bits.items() if b < KAPPA]

    print("\n## Dual instances of the bootstrap\n")
    print(line(["setting", "n", "t", "depth", "N", *DUAL_ATTACKS]))
    print(line(["---"] * 9))
    for name in ("FULL", "SUBFIELD5", "SUBFIELD6"):
        for n, trees, depth, delta in DUAL:
            bits = dual(n, trees, depth, SETTINGS[name][:2], delta)
            print(line([name, n, trees, depth, trees << depth, *(f"{bits[a]:.0f}" for a in DUAL_ATTACKS)]))
            low += [(name, n, a, b) for a, b in bits.items() if b < KAPPA]

    print("\n## Words of the expand-convolute code lighter than delta N (log2 of the expected number)\n")
    print(line(["K", "window", "delta", "n", "one row, free positions", "several rows"]))
    print(line(["---"] * 6))
    for bits in (128, 16):
        for window in (1, 2):
            for delta in (0.20, 0.25, 0.30):
                one, several = lg_light_words(100_000, delta, DUAL_EXPANDER, bits, window, rows=80)
                print(line([f"2^{bits}", window, f"{delta:.2f}", 100_000, f"{one:.0f}", f"{several:.0f}"]))
                if window == DUAL_WINDOW and delta == 0.25 and several > -40:
                    low.append(("expander", bits, "light words", several))

    print("\n## For comparison: published rows, row weight 10, without regard to sparsity\n")
    print(line(["k", "t", "depth", *PRIMAL_ATTACKS, "binary code, 128-bit values"]))
    print(line(["---"] * 10))
    for k, trees, depth in PUBLISHED:
        bits = primal(k, trees, depth, (1, 1))
        broken = functional(trees << depth, k, trees, 128, 10)
        print(line([k, trees, depth, *(f"{bits[a]:.0f}" for a in PRIMAL_ATTACKS), f"{broken:.0f}"]))
    return low


NUMBER = r"([0-9_]+(?:\s*<<\s*[0-9]+)?)"


def number(text):
    base, _, shift = text.replace("_", "").partition("<<")
    return int(base) << int(shift or 0)


def rust_rows(folder):
    """Struct literals with the fields `seeds`, `trees` and `depth`, by the constant they stand in."""
    for path in sorted(Path(folder).rglob("*.rs")):
        for const in re.finditer(r"const\s+(\w+)\s*:[^=]*=(.*?);\s*\n", path.read_text(), re.S):
            for literal in re.findall(r"\{([^{}]*)\}", const[2]):
                fields = dict(re.findall(r"(\w+)\s*:\s*" + NUMBER, literal))
                if {"seeds", "trees", "depth"} <= fields.keys():
                    yield const[1], tuple(number(fields[f]) for f in ("seeds", "trees", "depth"))


def check_rust(folder):
    allowed = {(name, k, trees, depth) for name, _, k, trees, depth in rows()}
    seen, wrong = 0, []
    for const, row in rust_rows(folder):
        name = next((s for s in sorted(SETTINGS, key=len, reverse=True) if s in const.replace("_", "")), None)
        seen += 1
        if (name, *row) not in allowed:
            wrong.append(f"{const} {row} is not a row of the table")
    if not seen:
        wrong.append(f"no rows with `seeds`, `trees` and `depth` under {folder}")
    return wrong


def main():
    failures = [f"{name} {k}: {attack} is {bits:.1f}" for name, k, attack, bits in print_tables()]
    if len(sys.argv) > 1:
        failures += check_rust(sys.argv[1])
    for failure in failures:
        print("FAIL:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
