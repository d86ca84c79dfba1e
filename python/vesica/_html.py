"""What notebooks show."""

from __future__ import annotations

import html
from collections.abc import Iterable


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A title above rows of a name and a value."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<strong>{html.escape(title)}</strong><table>{lines}</table>"
