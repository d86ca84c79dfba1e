"""Formats numbers and tables."""

import dataclasses
import math

MB = 2**20


class Failed:
    """In place of figures that could not be measured: says so in each cell that needs them."""

    def __init__(self, reason):
        self.reason = reason

    def __bool__(self):
        return False


@dataclasses.dataclass(frozen=True)
class Pair:
    """A cell: the paper's figure and ours. Less is better. Either may be unknown. Summaries leave out whole numbers, which
    are counts, and what does not `count`: another network, another level of security, an estimate."""

    paper: float | None
    ours: float | Failed | None
    whole: bool = False
    counts: bool = True

    def times(self):
        """How many times less ours is; None unless both are known."""
        return self.paper / self.ours if self.paper and self.ours else None

    def shown(self):
        """Both figures as text."""
        if not self.whole:
            return number(self.paper), number(self.ours)
        return tuple("–" if one is None else f"{round(one):,}" for one in [self.paper, self.ours])

    def __str__(self):
        paper, ours = self.shown()
        if self.whole:
            return f"= {paper}" if paper == ours else f"{paper} / {ours}"
        times = self.times()
        return f"{paper} / {ours}" + (f" ({ratio(times)})" if times else "")


def ratio(times):
    """How many times less, as text."""
    return f"{times:.1f}×" if times >= 1 else f"{times:.2g}×"


def beside(paper, ours):
    """A cell of two whole numbers of which neither is better."""
    return f"= {paper:,}" if paper == ours else f"{paper:,} / {'–' if ours is None else f'{ours:,}'}"


def number(value):
    """Three significant digits, as in the papers."""
    if value is None:
        return "–"
    if isinstance(value, Failed):
        return f"failed: {value.reason}"
    digits = max(0, 2 - int(math.floor(math.log10(value)))) if value > 0 else 0
    return f"{value:,.{min(digits, 3)}f}"


def size_name(n):
    """A power of two, written as one."""
    log = n.bit_length() - 1
    return f"2^{log}" if n == 2**log else f"{n}"


def print_table(title, header, rows):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, ["-" * width for width in widths], *rows]:
        first, *rest = row
        cells = [first.ljust(widths[0])] + [c.rjust(w) for c, w in zip(rest, widths[1:])]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def of_paper(table, key, i):
    values = table.get(key, []) if key else []
    return values[i] if i < len(values) else None
