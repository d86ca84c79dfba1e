"""What notebooks show."""

from __future__ import annotations

from collections.abc import Iterable

from vesica._text import escape


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A title above rows of a name and a value."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        # Blanks matter in shapes.
        f"<td style='text-align:left;white-space:pre-wrap'>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<strong>{escape(title)}</strong><table>{lines}</table>"
