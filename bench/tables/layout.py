"""Formats numbers and tables."""

import math

MB = 2**20


class Failed:
    """In place of figures that could not be measured: says so in each cell that needs them."""

    def __init__(self, reason):
        self.reason = reason

    def __bool__(self):
        return False


def number(value):
    """Three significant digits, as in the papers."""
    if value is None:
        return "–"
    if isinstance(value, Failed):
        return f"failed: {value.reason}"
    digits = max(0, 2 - int(math.floor(math.log10(value)))) if value > 0 else 0
    return f"{value:,.{min(digits, 3)}f}"


def cell(paper, ours):
    """`paper / ours (times)`."""
    times = f" ({paper / ours:.1f}×)" if paper and ours else ""
    return f"{number(paper)} / {number(ours)}{times}"


def size_name(n):
    """A power of two, written as one."""
    log = n.bit_length() - 1
    return f"2^{log}" if n == 2**log else f"{n}"


def print_table(title, header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, ["-" * width for width in widths], *rows]:
        first, *rest = row
        cells = [first.ljust(widths[0])] + [c.rjust(w) for c, w in zip(rest, widths[1:])]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def of_paper(table, key, i):
    values = table.get(key, []) if key else []
    return values[i] if i < len(values) else None
