#!/usr/bin/env python3
"""Prints the parameter tables of the silent correlations with the bits of every attack, for the constants
in the Rust sources. Fails when an entry is below 128, or when the document does not show the same tables."""

import re
import sys
from pathlib import Path

from estimate import NEVER, ROW_WEIGHT, dual, functional, primal

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "crates/ot/src/silent", ROOT / "crates/simd/src/lpn"]
DOCUMENT = ROOT / "docs/lpn.md"
KAPPA = 128
# Relative weight of the lightest word of the dual code that is supposed to be found.
DELTA = 0.25

PUBLISHED = [(1 << 16, 850, 10), (1 << 17, 1170, 11), (1 << 18, 1520, 12), (1 << 19, 1900, 13)]

PRIMAL_ATTACKS = ["gauss", "isd", "subset", "any subset", "hybrid", "algebraic"]
DUAL_ATTACKS = ["isd", "hybrid", "algebraic"]


class Sources:
    """Constants of the Rust sources. One that is missing ends the program."""

    def __init__(self, folders):
        self.text = "\n".join(path.read_text() for f in folders for path in sorted(Path(f).rglob("*.rs")))
        self.folders = ", ".join(str(f) for f in folders)

    def constant(self, name):
        found = re.search(rf"const {name}\s*:\s*usize\s*=\s*([0-9_]+)(?:\s*<<\s*([0-9]+))?;", self.text)
        if not found:
            sys.exit(f"FAIL: no constant {name} under {self.folders}")
        return int(found[1].replace("_", "")) << int(found[2] or 0)

    def rows(self, name):
        """(k, trees, depth) of a table of primal rows."""
        table = re.search(rf"const {name}\s*:[^=]*=(.*?);\s*\n", self.text, re.S)
        literals = re.findall(r"\{([^{}]*)\}", table[1]) if table else []
        if not literals:
            sys.exit(f"FAIL: {name} has no rows under {self.folders}")
        return [tuple(_number(literal, field) for field in ("k", "trees", "depth")) for literal in literals]

    def has(self, code):
        return "".join(code.split()) in "".join(self.text.split())


def _number(literal, field):
    found = re.search(rf"\b{field}\s*:\s*([0-9_]+)(?:\s*<<\s*([0-9]+))?\s*(?:,|$)", literal)
    if not found:
        sys.exit(f"FAIL: no number for {field} in {{{literal}}}")
    return int(found[1].replace("_", "")) << int(found[2] or 0)


class Report:
    """Prints tables, and gathers what is wrong with them."""

    def __init__(self, document):
        self.document, self.failures, self.least = document, [], {}

    def table(self, title, head, rows):
        lines = ["| " + " | ".join(str(c) for c in cells) + " |" for cells in [head, *rows]]
        lines.insert(1, "|" + "---|" * len(head))
        text = "\n".join(lines)
        print(f"## {title}\n\n{text}\n", flush=True)
        if text not in self.document:
            self.failures.append(f"{DOCUMENT.name} does not show the table: {title}")

    def requires(self, words):
        if words not in self.document:
            self.failures.append(f"{DOCUMENT.name} does not say: {words}")

    def judge(self, step, setting, place, bits):
        """Notes the least bits of each attack."""
        for attack, value in bits.items():
            least = self.least.setdefault((step, setting), {})
            if value < least.get(attack, (NEVER,))[0]:
                least[attack] = (value, place)


def power(n):
    mantissa, exponent = n / (1 << n.bit_length() - 1), n.bit_length() - 1
    return f"2^{exponent}" if mantissa == 1 else f"{mantissa:g}·2^{exponent}"


def rounded(bits):
    return "none" if bits == NEVER else f"{bits:.0f}"


def published(report):
    broken, rows = [], []
    for k, trees, depth in PUBLISHED:
        bits = primal(k, trees, depth, (1, 1))
        wide = functional(trees << depth, k, trees, 128, ROW_WEIGHT)
        broken.append([power(k), trees, depth, rounded(wide)])
        shown = ("gauss", "isd", "subset", "any subset", "hybrid")
        rows.append([power(k), trees, depth, *(rounded(bits[a]) for a in shown)])
    report.table(
        "Published rows, binary code with wide noise values",
        ["k", "t", "depth", "bits, binary code with 128-bit values"],
        broken,
    )
    report.table(
        "Published rows, with regard to sparsity",
        ["k", "t", "depth", "Gauss, all unknowns", "ISD, all unknowns", "greedy subset", "any subset", "hybrid"],
        rows,
    )


def primal_steps(report, sources, dimensions):
    if sources.constant("SAMPLE_WEIGHT") != ROW_WEIGHT:
        report.failures.append(f"SAMPLE_WEIGHT is not {ROW_WEIGHT}")
    settings = [("COT", "BINARY", (1, 1)), ("Full", "FULL", (128, 1))]
    settings += [(f"D = {d}", "SUBFIELD", (16, d)) for d in dimensions]
    rows = []
    for name, constant, setting in settings:
        for k, trees, depth in sources.rows(constant):
            bits = primal(k, trees, depth, setting)
            report.judge("primal", name, f"k = {power(k)}", bits)
            cells = [name, power(k), trees, depth, power(trees << depth)]
            # Fewer dimensions have more bits; two are enough to see by how much.
            if setting[0] != 16 or setting[1] >= dimensions[-1] - 1:
                rows.append(cells + [rounded(bits[a]) for a in PRIMAL_ATTACKS])
    head = ["setting", "k", "t", "depth", "N", "Gauss", "ISD", "greedy subset", "any subset", "hybrid", "algebraic"]
    report.table("Primal steps", head, rows)


# The depth of the dual code's trees, as in the sources, and the expression there that it repeats.
DUAL_DEPTH = "(2 * len).div_ceil(DUAL_TREES).next_power_of_two().trailing_zeros().max(1)"


def dual_depth(n, trees):
    return max(1, (-(-2 * n // trees) - 1).bit_length())


def dual_sweep(least, most, trees):
    """(first, last) n of each depth, in order."""
    first = least
    while first <= most:
        last = min(most, (trees << dual_depth(first, trees)) // 2)
        assert dual_depth(last, trees) == dual_depth(first, trees)
        assert last == most or dual_depth(last + 1, trees) == dual_depth(first, trees) + 1
        yield first, last
        first = last + 1


def bootstrap(report, sources, dimensions):
    if not sources.has(DUAL_DEPTH):
        report.failures.append("the sources compute the depth of the dual code otherwise than here")
    trees, weight = sources.constant("DUAL_TREES"), sources.constant("EXPANDER_WEIGHT")
    window = sources.constant("WINDOW")
    settings = {"Full": (128, 1)} | {f"D = {d}": (16, d) for d in dimensions}
    rows = []
    least, most = sources.constant("DIRECT_MAX") + 1, sources.constant("DUAL_MAX")
    report.requires(f"n is {least} to {power(most)}")
    for first, last in dual_sweep(least, most, trees):
        depth = dual_depth(first, trees)
        between = {first + (last - first) * eighth // 8 for eighth in range(9)}
        for n in sorted(between):
            bits = {name: dual(n, trees, depth, s, weight, window, DELTA) for name, s in settings.items()}
            for name in settings:
                report.judge("bootstrap", name, f"n = {n:,}", bits[name])
        full, subfield = bits["Full"], bits[f"D = {dimensions[-1]}"]
        tests = [full["pseudo-distance"], full["linear tests"], subfield["linear tests"]]
        others = [min(b[a] for b in bits.values()) for a in DUAL_ATTACKS]
        rows.append([f"{last:,}", depth, f"{trees << depth:,}", *map(rounded, tests + others)])
    head = ["n", "depth", "N", "pseudo-distance", "linear tests, GF(2^128)", "linear tests, GF(2^16)"]
    report.table("Bootstrap, the largest n of each depth", [*head, "ISD", "hybrid", "algebraic"], rows)


def main():
    sources = Sources(sys.argv[1:] or SOURCES)
    report = Report(DOCUMENT.read_text())
    dimensions = range(1, sources.constant("MAX_DIM") + 1)
    published(report)
    primal_steps(report, sources, dimensions)
    bootstrap(report, sources, dimensions)
    report.requires(f"at most {power(sources.constant('MAX_LEN'))} correlations")
    report.requires(f"dimension D, 1 to {dimensions[-1]}")
    print("## Least bits\n")
    for (step, setting), attacks in report.least.items():
        lowest = sorted((bits, attack, place) for attack, (bits, place) in attacks.items())[:2]
        print(f"{step}, {setting}:", "; ".join(f"{bits:.1f} {attack}, {place}" for bits, attack, place in lowest))
        low = (item for item in attacks.items() if item[1][0] < KAPPA)
        report.failures += [f"{step}, {setting}, {place}: {attack} has {bits:.1f} bits" for attack, (bits, place) in low]
    for failure in report.failures:
        print("FAIL:", failure, file=sys.stderr)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
