"""What was measured of the papers: their tables and figures, in order."""

import dataclasses
import re
from collections.abc import Callable

from tables import told
from tables.layout import Failed, Pair, print_table


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why ours is more than the paper's in some cells. The patterns are searched in the title of the table and its
    first head, in the first cell of the row, and in the head of the column."""

    text: str
    tables: str = ""
    rows: str = ""
    columns: str = ""
    # A ratio below this is not explained by it.
    down_to: float = 0.5

    def explains(self, table, row, column, times):
        places = [(self.tables, f"{table.title} {table.header[0]}"), (self.rows, row), (self.columns, column)]
        return times >= self.down_to and all(re.search(pattern, text) for pattern, text in places)


@dataclasses.dataclass(frozen=True)
class Part:
    """A table or figure of a paper that is measured again, or several that share their measurements."""

    of: str
    # Measures and reports it: called with the `Bench`, the papers' figures, and the largest set.
    measure: Callable
    # What its user must know: the paper's network and machine, and where ours differs and why.
    about: str = ""
    # All that the paper prints there: paths in `bench/papers.json`.
    printed: tuple[str, ...] = ()
    # Our figures that have the lines of the paper's plot, by their start: the places on the x axis of the paper's.
    plotted: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    # Whether another paper prints it.
    of_another_paper: bool = False
    # Why cells are below 1×.
    reasons: tuple[Reason, ...] = ()


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, its parts, and what else it prints."""

    title: str
    parts: dict[str, Part]
    # Tables and figures that are not measured, and why or where they are built.
    left_out: dict[str, str]
    # Whether `vesica-bench` is needed.
    has_primitives: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    """A table in the paper's layout. Cells are text or `Pair`."""

    title: str
    header: list
    rows: list
    # How its figures came about: measured, counted, calculated, estimated.
    how: str = "measured"

    def pairs(self):
        return [cell for row in self.rows for cell in row if isinstance(cell, Pair)]

    def below(self):
        """The cells below 1×: row, column, and cell."""
        return [
            (str(row[0]), str(head), cell)
            for row in self.rows
            for head, cell in zip(self.header, row)
            if isinstance(cell, Pair) and cell.is_below()
        ]


@dataclasses.dataclass(frozen=True)
class Figure:
    """Lines over sizes: by name, the value at each x. Both axes are logarithmic."""

    name: str
    title: str
    x_label: str
    y_label: str
    ours: dict
    paper: dict
    # All lines that ours should have, including those without points.
    lines: tuple


class Report:
    """Tables and figures by paper and part."""

    def __init__(self):
        self.parts = {}
        # Why parts are not whole.
        self.reasons = {}
        # The places of printed figures that stand next to ours as text.
        self.shown = {}
        # What could not be done at these sizes.
        self.notes = {}
        # The machines whose measurements parts have, and this one.
        self.machines = {}
        self.machine = None
        self.of = self.current = None

    def begin(self, paper, part):
        """What follows belongs to this part of this paper."""
        self.of = (paper, part)
        self.current = self.parts.setdefault(self.of, [])

    def table(self, title, header, rows, how="measured"):
        print_table(title, header, rows)
        self.current.append(Table(title, header, rows, how))

    def measured_on(self, machine):
        """A machine whose measurements this part has."""
        self.machines.setdefault(self.of, set()).add(machine)

    def shows(self, *values):
        """These figures of the paper stand next to ours in text."""
        self.shown.setdefault(self.of, set()).update(filter(None, map(told.place, values)))

    def note(self, text):
        """Says what this part has not."""
        print(f"\n{text}")
        self.notes[self.of] = text

    def figure(self, name, title, ours, paper=None, x_label="items of each side", y_label="seconds"):
        """Points whose value is unknown are left out, and a figure without points altogether."""
        lines = tuple(ours)
        ours, paper = known(ours), known(paper or {})
        if ours or paper:
            self.current.append(Figure(name, title, x_label, y_label, ours, paper, lines))

    def figures(self):
        return [one for found in self.parts.values() for one in found if isinstance(one, Figure)]

    def tables(self, of):
        return [one for one in self.parts.get(of, []) if isinstance(one, Table)]

    def compared(self, of):
        """The places of the paper's figures that have one of ours next to them."""
        pairs = [cell for table in self.tables(of) for cell in table.pairs()]
        measured = [cell for cell in pairs if cell.ours is not None and not isinstance(cell.ours, Failed)]
        found = {told.place(cell.paper) for cell in measured}
        return {one for one in found | self.shown.get(of, set()) if one}


def known(lines):
    """The lines without unknown values, and without lines that have no point."""
    kept = {
        name: {x: y for x, y in points.items() if y and not isinstance(y, Failed)} for name, points in lines.items()
    }
    return {name: points for name, points in kept.items() if points}
