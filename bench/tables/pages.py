"""The report on the papers as Markdown: a first page with a line for each table, and a page for each paper."""

import re

from tables import PAPERS, states
from tables.layout import Pair, markdown
from tables.report import Figure, Table

HOW_TO_READ = (
    "Cells have the paper's figure, ours, and how many times less ours is. A dash is a figure that the paper does not"
    " print, or that was not measured. A letter leads to the reason below a table why ours is more. The states count"
    " what is compared against all that the paper prints in the table."
)


def pages(report, facts):
    """The text of each file by its name."""
    return {"README.md": first_page(report, facts), **{f"{name}.md": page(report, name) for name in PAPERS}}


def first_page(report, facts):
    below = states.below(report)
    lines = ["# Five papers, measured again", ""]
    lines += [f"* {name}: {value}" for name, value in facts.items()]
    lines += ["", HOW_TO_READ, "", *unexplained(below), "## The papers", ""]
    results = [[f"[{paper.title}]({name}.md)", states.summary(report, name)[0]] for name, paper in PAPERS.items()]
    lines += markdown(["paper", "result"], results, right=False)
    lines += ["", "## The tables and figures", ""]
    lines += markdown(["of", "table or figure", "state", "cells below 1×"], index(report, below), right=False)
    lines += ["", "## All cells below 1×", ""]
    lines += [f"* {text}" for text in by_reason(below)] or ["There are none."]
    return "\n".join(lines) + "\n"


def index(report, below):
    """A row for each table, and for what is not measured."""
    rows = []
    for name, paper in PAPERS.items():
        for part, described in paper.parts.items():
            less = sum((one.paper, one.part) == (name, part) for one in below)
            link = f"[{described.of}]({name}.md#{anchor(described.of)})"
            rows.append([short(paper), link, states.state(report, name, part), less or ""])
        rows += [[short(paper), what, left_out(why), ""] for what, why in paper.left_out.items()]
    return rows


def left_out(why):
    """The state of what is not measured, which may be built."""
    return why if why.startswith("built") else f"not measured: {why}"


def short(paper):
    """The title alone, up to a colon."""
    return re.search(r'"([^":?]*)', paper.title)[1].strip()


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def unexplained(below):
    """All cells that are below 1× without a reason."""
    found = [one for one in below if not one.reason]
    if not found:
        return []
    return ["## Unexplained", "", *(f"* **{one.line()}**" for one in found), ""]


def by_reason(below):
    """The cells below 1× of each paper by their reason, a text each."""
    found = {}
    for one in below:
        if one.reason:
            found.setdefault((one.paper, one.reason.text), []).append(one.line())
    return [f"{short(PAPERS[paper])}. {text} {'; '.join(cells)}." for (paper, text), cells in found.items()]


def page(report, name):
    """All tables of a paper."""
    paper = PAPERS[name]
    lines = [f"# {paper.title}", "", states.summary(report, name)[0], "", HOW_TO_READ]
    for part, described in paper.parts.items():
        state = sentence(states.state(report, name, part))
        lines += ["", f"## {described.of}", "", f"{state} {described.about}".strip()]
        if machines := other_machines(report, (name, part)):
            lines += ["", machines]
        marks = Marks(name, part)
        for one in report.parts.get((name, part), []):
            if isinstance(one, Table):
                lines += ["", f"**{one.title}**", "", *markdown(one.header, marks.table(one, sup))]
            elif isinstance(one, Figure):
                lines += ["", f"![{one.title}]({one.name}.svg)"]
        if marks.letters:
            lines += ["", *(f"* {letter}: {text}" for text, letter in marks.letters.items())]
    if paper.left_out:
        lines += ["", "## Not measured here", "", *(f"* {what}: {why}" for what, why in paper.left_out.items())]
    return "\n".join(lines) + "\n"


def sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def sup(letter):
    return f" <sup>{letter}</sup>"


def other_machines(report, of):
    """Where the measurements of a part were made, if not all on this machine."""
    machines = sorted(report.machines.get(of, set()))
    if machines in ([], [report.machine]):
        return ""
    return f"Measured on: {'; '.join(machines)}."


class Marks:
    """Letters for the reasons of a part, in the order of the cells."""

    def __init__(self, paper, part):
        self.of = (paper, part)
        self.letters = {}

    def of_cell(self, table, row, head, cell):
        """The letter of a cell; None if it needs none."""
        if not (isinstance(cell, Pair) and cell.is_below()):
            return None
        found = states.reason(*self.of, table, str(row[0]), str(head), cell)
        if not found:
            return "unexplained"
        return self.letters.setdefault(found.text, "abcdefghijklmnopqrstuvwxyz"[len(self.letters) % 26])

    def table(self, table, show):
        """The cells of a table as text, and what `show` makes of their letters."""
        rows = []
        for row in table.rows:
            found = [(cell, self.of_cell(table, row, head, cell)) for head, cell in zip(table.header, row)]
            rows.append([f"{cell}{show(letter) if letter else ''}" for cell, letter in found])
        return rows
