"""The report on the papers as one HTML page that needs nothing else, and its first page as Markdown."""

import html
import statistics

from tables import PAPERS
from tables.layout import Failed, Pair, ratio
from tables.report import Figure, Table

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #222; }
h2 { border-bottom: 2px solid #0072b2; margin-top: 3rem; }
h3 { margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; }
caption { text-align: left; color: #555; }
th, td { border: 1px solid #ddd; padding: .2rem .5rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
thead th { background: #f3f6f9; }
td b { font-weight: 600; padding-left: .4rem; }
.less { color: #00704a; } .more { color: #b34700; } .failed { color: #b00020; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
.about { color: #555; max-width: 60rem; }
"""


def summary(report, name):
    """How one paper's figures compare, a line."""
    pairs = [
        (part, cell)
        for (paper, part), found in report.parts.items()
        if paper == name
        for table in found
        if isinstance(table, Table)
        for cell in table.pairs()
    ]
    pairs = [(part, cell) for part, cell in pairs if cell.counts and not cell.whole]
    compared = [(cell.times(), part) for part, cell in pairs if cell.times()]
    failed = sum(isinstance(cell.ours, Failed) for _, cell in pairs)
    missing = sum(bool(cell.paper) and cell.ours is None for _, cell in pairs)
    line = "nothing compared"
    if compared:
        better = sum(times >= 1 for times, _ in compared)
        worst, where = min(compared)
        median = statistics.median(times for times, _ in compared)
        line = (
            f"Vesica needs no more than the paper in {better} of {len(compared)} cells. Paper divided by Vesica:"
            f" {ratio(median)} in the median cell, {ratio(worst)} in the worst ({PAPERS[name].parts[where].of})"
        )
    if missing:
        line += f"; {missing} were left out"
    if failed:
        line += f"; {failed} failed"
    return line, failed


def first_page(report, facts):
    """A line for each paper, the machine, and the state of every table and figure, as Markdown."""
    lines = ["# Five papers, measured again", ""]
    lines += [f"* {name}: {value}" for name, value in facts.items()]
    lines += ["", "| paper | result |", "|---|---|"]
    lines += [f"| {PAPERS[name].title} | {summary(report, name)[0]} |" for name in PAPERS]
    for name, paper in PAPERS.items():
        lines += ["", f"## {paper.title}", "", "| what | state | what differs |", "|---|---|---|"]
        for part, described in paper.parts.items():
            found = report.parts.get((name, part))
            why = report.reasons.get((name, part))
            lines.append(f"| {described.of} | {state(found, why)} | {described.about} |")
        lines += [f"| {what} | not measured: {why} | |" for what, why in paper.left_out.items()]
        lines += [
            f"\n![{one.title}]({one.name}.svg)"
            for (of, _), found in report.parts.items()
            if of == name
            for one in found
            if isinstance(one, Figure)
        ]
    return "\n".join(lines) + "\n"


def state(found, why):
    """What there is of a part, of which `why` says what is missing."""
    if why:
        return f"not whole: {why}"
    if found is None:
        return "not measured this time"
    if not found:
        return "nothing at these sizes"
    pairs = [cell for table in found if isinstance(table, Table) for cell in table.pairs()]
    if any(isinstance(cell.ours, Failed) for cell in pairs):
        return "cells failed"
    if pairs and not any(cell.paper for cell in pairs):
        return "measured at other sizes than the paper's: nothing to compare"
    told = [cell for cell in pairs if cell.paper]
    measured = sum(cell.ours is not None for cell in told)
    if told and measured < len(told):
        return f"measured, {measured} of the paper's {len(told)} figures"
    return "measured"


def page(report, facts, svgs):
    """The whole report. `svgs` has the text of each figure by its name."""
    escape = html.escape
    out = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>Five papers, measured again</title><style>{STYLE}</style>",
        "<h1>Five papers, measured again</h1><ul>",
        *(f"<li>{escape(name)}: {escape(value)}" for name, value in facts.items()),
        "</ul><p>Each cell has the paper's figure, ours, and how many times less ours is. A dash is a figure that the"
        " paper does not print, or that was not measured.</p>",
        "<table><thead><tr><th>paper<th>result</thead>",
    ]
    for name, paper in PAPERS.items():
        line, failed = summary(report, name)
        shown = f"<span class=failed>{escape(line)}</span>" if failed else escape(line)
        out.append(f"<tr><td><a href='#{name}'>{escape(paper.title)}</a><td style='white-space:normal'>{shown}")
    out.append("</table>")
    for name, paper in PAPERS.items():
        out.append(f"<h2 id='{name}'>{escape(paper.title)}</h2>")
        for part, described in paper.parts.items():
            found = report.parts.get((name, part))
            out.append(f"<h3>{escape(described.of)}</h3>")
            if described.about:
                out.append(f"<p class=about>{escape(described.about)}</p>")
            why = report.reasons.get((name, part))
            if why or not found:
                out.append(f"<p class=failed>{escape(state(found, why).capitalize())}.</p>")
            for one in found or []:
                out.append(table(one) if isinstance(one, Table) else f"<figure>{svgs.get(one.name, '')}</figure>")
        if paper.left_out:
            out.append("<h3>Not measured</h3><ul>")
            out += [f"<li>{escape(what)}: {escape(why)}" for what, why in paper.left_out.items()]
            out.append("</ul>")
    return "\n".join(out) + "\n</html>\n"


def table(one):
    escape = html.escape
    head = "".join(f"<th>{escape(str(cell))}" for cell in one.header)
    rows = "".join("<tr>" + "".join(f"<td>{shown(cell)}" for cell in row) for row in one.rows)
    return (
        f"<div class=wide><table><caption>{escape(one.title)}</caption><thead><tr>{head}</thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def shown(cell):
    if not isinstance(cell, Pair):
        return html.escape(str(cell))
    if isinstance(cell.ours, Failed):
        return f"<span class=failed>{html.escape(str(cell))}</span>"
    paper, ours = cell.shown()
    text = f"{html.escape(paper)} / {html.escape(ours)}"
    times = cell.times()
    if times:
        text += f"<b class={'less' if times >= 1 else 'more'}>{ratio(times)}</b>"
    return text
