"""The report on the papers as one HTML page that needs nothing else."""

import html

from tables import PAPERS, states
from tables.layout import Failed, Pair, ratio
from tables.pages import HOW_TO_READ, Marks, anchor, by_reason, index, other_machines, sentence
from tables.report import Table

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
.about { color: #555; max-width: 60rem; } td.text { white-space: normal; text-align: left; }
"""


def page(report, facts, svgs):
    """The whole report. `svgs` has the text of each figure by its name."""
    escape = html.escape
    below = states.below(report)
    out = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>Five papers, measured again</title><style>{STYLE}</style>",
        "<h1>Five papers, measured again</h1><ul>",
        *(f"<li>{escape(name)}: {escape(value)}" for name, value in facts.items()),
        f"</ul><p>{escape(HOW_TO_READ)}</p>",
        *unexplained(below),
        "<table><thead><tr><th>paper<th>result</thead>",
    ]
    for name, paper in PAPERS.items():
        line, failed = states.summary(report, name)
        shown = f"<span class=failed>{escape(line)}</span>" if failed else escape(line)
        out.append(f"<tr><td><a href='#{name}'>{escape(paper.title)}</a><td class=text>{shown}")
    out.append("</table><table><thead><tr><th>of<th>table or figure<th>state<th>cells below 1×</thead>")
    out += ["<tr>" + "".join(f"<td class=text>{linked(cell)}" for cell in row) for row in index(report, below)]
    out += ["</table><h2>All cells below 1×</h2><ul>", *(f"<li>{escape(text)}" for text in by_reason(below)), "</ul>"]
    for name, paper in PAPERS.items():
        out.append(f"<h2 id='{name}'>{escape(paper.title)}</h2>")
        for part in paper.parts:
            out += of_part(report, name, part, svgs)
        if paper.left_out:
            out.append("<h3>Not measured here</h3><ul>")
            out += [f"<li>{escape(what)}: {escape(why)}" for what, why in paper.left_out.items()]
            out.append("</ul>")
    return "\n".join(out) + "\n</html>\n"


def unexplained(below):
    found = [one.line() for one in below if not one.reason]
    if not found:
        return []
    return ["<h2 class=failed>Unexplained</h2><ul>", *(f"<li>{html.escape(line)}" for line in found), "</ul>"]


def linked(cell):
    """A cell of the index, whose links lead to other pages, with a link into this page."""
    text = str(cell)
    if not text.startswith("["):
        return html.escape(text)
    shown, where = text[1:-1].split("](")
    return f"<a href='#{where.replace('.md#', '-')}'>{html.escape(shown)}</a>"


def of_part(report, name, part, svgs):
    """The tables and figures of a part."""
    described, of = PAPERS[name].parts[part], (name, part)
    state = sentence(states.state(report, name, part))
    # A state of its own says what is wrong or missing.
    is_whole = report.parts.get(of) and of not in report.reasons
    out = [f"<h3 id='{name}-{anchor(described.of)}'>{html.escape(described.of)}</h3>"]
    out.append(f"<p class={'about' if is_whole else 'failed'}>{html.escape(state)}</p>")
    out += [f"<p class=about>{html.escape(text)}</p>" for text in [described.about, other_machines(report, of)] if text]
    marks = Marks(name, part)
    for one in report.parts.get(of, []):
        if isinstance(one, Table):
            out.append(table(one, marks))
        else:
            out.append(f"<figure>{svgs.get(one.name, '')}</figure>")
    if marks.letters:
        out += ["<ul>", *(f"<li>{letter}: {html.escape(text)}" for text, letter in marks.letters.items()), "</ul>"]
    return out


def table(one, marks):
    escape = html.escape
    head = "".join(f"<th>{escape(str(cell))}" for cell in one.header)
    cells = lambda row: zip(one.header, row)
    rows = "".join(
        "<tr>" + "".join(f"<td>{shown(cell, marks.of_cell(one, row, column, cell))}" for column, cell in cells(row))
        for row in one.rows
    )
    return (
        f"<div class=wide><table><caption>{escape(one.title)}</caption><thead><tr>{head}</thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def shown(cell, letter=None):
    if not isinstance(cell, Pair):
        return html.escape(str(cell))
    if isinstance(cell.ours, Failed):
        return f"<span class=failed>{html.escape(str(cell))}</span>"
    if cell.whole:
        return html.escape(str(cell))
    paper, ours = cell.shown()
    text = f"{html.escape(paper)} / {html.escape(ours)}"
    times = cell.times()
    if times:
        text += f"<b class={'more' if cell.is_below() else 'less'}>{ratio(times)}</b>"
    return text + (f" <sup>{letter}</sup>" if letter else "")
