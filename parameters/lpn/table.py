#!/usr/bin/env python3
"""Prints the parameter tables of the silent correlations with the bits of every attack, fails when an
entry is below 128, and, given the folder of the Rust sources, compares with the constants there."""

import re
import sys
from pathlib import Path

from estimate import dual, functional, primal

KAPPA = 128

# setting: (bits of K, depth of interleaving, trees); seeds k = 128 * 2^depth in every row.
SETTINGS = {
    "COT": (1, 1, 1024),
    "FULL": (128, 1, 1536),
    "SUBFIELD 5": (16, 5, 640),
    "SUBFIELD 6": (16, 6, 640),
}
DEPTHS = range(8, 13)

# The bootstrap, linear over K like the step after it: (n, trees, depth).
DUAL = [(19_968, 312, 7), (39_936, 312, 8), (79_872, 312, 9), (159_744, 312, 10)]
DUAL_TREES = 312
DELTA = 0.25
EXPANDER_WEIGHT = 21
WINDOW = {128: 1, 16: 2}

# Constants of the Rust sources, and the settings each of them must be good for.
CONSTANTS = {"BINARY": ["COT"], "FULL": ["FULL"], "SUBFIELD": ["SUBFIELD 5", "SUBFIELD 6"]}

PUBLISHED = [(1 << 16, 850, 10), (1 << 17, 1170, 11), (1 << 18, 1520, 12), (1 << 19, 1900, 13)]

PRIMAL_ATTACKS = ["gauss", "isd", "subset", "any subset", "hybrid", "algebraic"]
DUAL_ATTACKS = ["pseudo-distance", "linear tests", "isd", "hybrid", "algebraic"]


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
    print(line(["---"] * 10))
    for name in ("FULL", "SUBFIELD 5", "SUBFIELD 6"):
        setting = SETTINGS[name][:2]
        for n, trees, depth in DUAL:
            bits = dual(n, trees, depth, setting, EXPANDER_WEIGHT, WINDOW[setting[0]], DELTA)
            print(line([name, n, trees, depth, trees << depth, *(f"{bits[a]:.0f}" for a in DUAL_ATTACKS)]))
            low += [(name, n, a, b) for a, b in bits.items() if b < KAPPA]

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


def check_rust(folder):
    """Every row of a constant must have 128 bits in each setting it serves."""
    source = "\n".join(path.read_text() for path in sorted(Path(folder).rglob("*.rs")))
    wrong = []
    for const, names in CONSTANTS.items():
        table = re.search(rf"const {const}\s*:[^=]*=(.*?);\s*\n", source, re.S)
        literals = re.findall(r"\{([^{}]*)\}", table[1]) if table else []
        if not literals:
            wrong.append(f"{const} has no rows under {folder}")
        for literal in literals:
            fields = {name: number(n) for name, n in re.findall(r"(\w+)\s*:\s*" + NUMBER, literal)}
            for name in names:
                bits = primal(fields["k"], fields["trees"], fields["depth"], SETTINGS[name][:2])
                attack = min(bits, key=bits.get)
                if bits[attack] < KAPPA:
                    wrong.append(f"{const} {fields}: {attack} has {bits[attack]:.0f} bits in {name}")
    for const, least in (("DUAL_TREES", DUAL_TREES), ("EXPANDER_WEIGHT", EXPANDER_WEIGHT)):
        value = re.search(rf"const {const}\s*:\s*usize\s*=\s*{NUMBER}", source)
        if not value or number(value[1]) < least:
            wrong.append(f"{const} is not at least {least}")
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
