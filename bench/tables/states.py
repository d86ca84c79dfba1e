"""What the report says of each table, from what was compared: its state, how a paper's figures compare, and the cells
where ours is more."""

import dataclasses
import statistics

from tables import PAPERS, told
from tables.layout import NEWER, OTHERS, OWN, Failed, Pair, ratio
from tables.report import Figure, Reason, Table

PAPERS_FIGURES = told.read()


def described(paper, part):
    return PAPERS[paper].parts[part]


def state(report, paper, part, figures=PAPERS_FIGURES):
    """What there is of a part: how many figures of the paper's whole table have one of ours next to them, and how many
    points of its plots."""
    of = (paper, part)
    if why := report.reasons.get(of):
        return f"not whole: {why}"
    found = report.parts.get(of)
    if found is None:
        return "not measured this time"
    if note := report.notes.get(of):
        return note
    if not found:
        return "nothing at these sizes"
    if any(isinstance(cell.ours, Failed) for table in report.tables(of) for cell in table.pairs()):
        return "cells failed"
    hows = sorted({table.how for table in report.tables(of)}) or ["measured"]
    claims = [*compared(report, of, figures), *points(report, of)]
    if not claims:
        is_extra = described(paper, part).of.startswith("extra")
        claims = ["no table of the paper" if is_extra else "the paper prints no figures of it"]
    return f"{' and '.join(hows)}: {'; '.join(claims)}"


def compared(report, of, figures):
    """How much of what the paper prints stands next to ours."""
    printed = told.printed(figures, described(*of).printed)
    if not printed:
        return []
    have = len(report.compared(of) & printed)
    if have == len(printed):
        return [f"all {have} figures of the paper"]
    return [f"{have or 'none'} of the paper's {len(printed)} figures"]


def points(report, of):
    """How many points of the paper's plots ours have: each line at each of the paper's places."""
    claims = []
    for start, places in described(*of).plotted.items():
        drawn = [one for one in report.parts[of] if isinstance(one, Figure) and one.name.startswith(start)]
        if not drawn:
            claims.append("nothing at the sizes of the paper's plot")
            continue
        all_of_it = sum(len(one.lines) * len(places) for one in drawn)
        have = sum(x in places for one in drawn for line in one.ours.values() for x in line)
        claims.append(f"{have} of {all_of_it} points at the sizes of the paper's plots")
    return claims


@dataclasses.dataclass(frozen=True)
class Below:
    """A cell where ours is more, and why."""

    paper: str
    part: str
    table: Table
    row: str
    column: str
    cell: Pair
    reason: Reason | None

    def line(self):
        paper, ours = self.cell.shown()
        of = described(self.paper, self.part).of
        return f"{of}, {self.row}, {self.column}: {paper} / {ours} ({ratio(self.cell.times())})"


def below(report):
    """All cells where ours is more."""
    return [
        Below(paper, part, table, row, column, cell, reason(paper, part, table, row, column, cell))
        for paper, part in report.parts
        for table in report.tables((paper, part))
        for row, column, cell in table.below()
    ]


def reason(paper, part, table, row, column, cell):
    """The first reason of the part that explains the cell."""
    reasons = described(paper, part).reasons
    return next((one for one in reasons if one.explains(table, row, column, cell.times())), None)


KINDS = [
    (OWN, "The paper's own protocols"),
    (OTHERS, "Protocols that it measures for comparison"),
    (NEWER, "Other protocols of Vesica next to its figures"),
]


def summary(report, name):
    """How one paper's figures compare, and how many failed."""
    pairs = [
        (part, cell)
        for (paper, part) in report.parts
        if paper == name
        for table in report.tables((paper, part))
        for cell in table.pairs()
        if not cell.whole
    ]
    failed = sum(isinstance(cell.ours, Failed) for _, cell in pairs)
    parts = [part for part in PAPERS[name].parts.values() if not part.of_another_paper]
    printed = told.printed(PAPERS_FIGURES, [path for part in parts for path in part.printed])
    have = {place for of in report.parts if of[0] == name for place in report.compared(of)} & printed
    lines = [f"{len(have)} of the {len(printed)} figures that the paper prints are compared."]
    for kind, words in KINDS:
        found = [(cell.times(), part) for part, cell in pairs if cell.kind == kind and cell.times()]
        if not found:
            continue
        better = sum(not cell.is_below() for _, cell in pairs if cell.kind == kind and cell.times())
        worst, where = min(found)
        lines.append(
            f"{words}: Vesica needs no more in {better} of {len(found)} cells,"
            f" {ratio(statistics.median(times for times, _ in found))} less in the median cell,"
            f" {ratio(worst)} in the worst ({described(name, where).of})."
        )
    if failed:
        lines.append(f"{failed} cells failed.")
    return " ".join(lines), failed
