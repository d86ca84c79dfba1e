"""What was measured of the papers: their tables and figures, in order."""

import dataclasses
from collections.abc import Callable

from tables.layout import Failed, Pair, print_table


@dataclasses.dataclass(frozen=True)
class Part:
    """A table or figure of a paper that is measured again, or several that share their measurements."""

    of: str
    # Measures and reports it: called with the `Bench`, the papers' figures, and the largest set.
    measure: Callable
    # What its user must know: the paper's network and machine, and where ours differs and why.
    about: str = ""


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, its parts, and what else it prints."""

    title: str
    parts: dict[str, Part]
    # Tables and figures that are not measured, and why.
    left_out: dict[str, str]
    # Whether `vesica-bench` is needed.
    has_primitives: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    """A table in the paper's layout. Cells are text or `Pair`."""

    title: str
    header: list
    rows: list

    def pairs(self):
        return [cell for row in self.rows for cell in row if isinstance(cell, Pair)]


@dataclasses.dataclass(frozen=True)
class Figure:
    """Lines over sizes: by name, the value at each x. Both axes are logarithmic."""

    name: str
    title: str
    x_label: str
    y_label: str
    ours: dict
    paper: dict


class Report:
    """Tables and figures by paper and part."""

    def __init__(self):
        self.parts = {}
        # Why parts are not whole.
        self.reasons = {}
        self.current = None

    def begin(self, paper, part):
        """What follows belongs to this part of this paper."""
        self.current = self.parts.setdefault((paper, part), [])

    def table(self, title, header, rows):
        print_table(title, header, rows)
        self.current.append(Table(title, header, rows))

    def figure(self, name, title, ours, paper=None, x_label="items of each side", y_label="seconds"):
        """Points whose value is unknown are left out, and a figure without points altogether."""
        ours, paper = known(ours), known(paper or {})
        if ours or paper:
            self.current.append(Figure(name, title, x_label, y_label, ours, paper))

    def figures(self):
        return [one for found in self.parts.values() for one in found if isinstance(one, Figure)]


def known(lines):
    """The lines without unknown values, and without lines that have no point."""
    kept = {
        name: {x: y for x, y in points.items() if y and not isinstance(y, Failed)} for name, points in lines.items()
    }
    return {name: points for name, points in kept.items() if points}
