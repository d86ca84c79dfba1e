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


# What a figure of the paper is compared with: its own protocol, built here; a protocol that the paper measures for
# comparison; another protocol than the figure's, as a rule a newer one; and what is no like for like: another network,
# another level of security, an estimate.
OWN, OTHERS, NEWER, UNLIKE = "own", "others", "newer", "unlike"


@dataclasses.dataclass(frozen=True)
class Pair:
    """A cell: the paper's figure and ours. Less is better. Either may be unknown. Summaries leave out whole numbers,
    which are counts."""

    paper: float | None
    ours: float | Failed | None
    whole: bool = False
    kind: str = OWN

    def times(self):
        """How many times less ours is; None unless both are known."""
        return self.paper / self.ours if self.paper and self.ours else None

    def is_below(self):
        """Whether ours is more than the paper's, in the digits that are shown."""
        times = self.times()
        return bool(times) and not self.whole and times < 0.995

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


@dataclasses.dataclass(frozen=True)
class Claim(Pair):
    """A cell: how many times slower the paper says that another protocol is, at least, and how many it is here. More
    confirms it."""

    kind: str = UNLIKE

    def times(self):
        return self.ours / self.paper if self.paper and self.ours else None


def ratio(times):
    """How many times less, as text."""
    return f"{times:.1f}×" if times >= 1 else f"{times:.2g}×"


def pair_of_counts(paper, ours):
    """A cell of two whole numbers of which neither is better."""
    return Pair(paper, ours, whole=True)


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


def markdown(header, rows, right=True):
    """The lines of a table of text; all columns but the first are to the `right`, as numbers."""
    escaped = lambda row: [str(cell).replace("|", "\\|") for cell in row]
    lines = [escaped(header), ["---", *["---:" if right else "---"] * (len(header) - 1)], *map(escaped, rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


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
