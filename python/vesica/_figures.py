"""Figures as SVG: how much two lists overlap, and the fates of the rows."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from vesica._errors import SettingsError, unwritable
from vesica._text import escape

#: Colours that people with red-green colour blindness can distinguish.
OWN, OTHER, COMMON, LOST = "#0072b2", "#e69f00", "#009e73", "#999999"
FONT = "font-family='sans-serif' font-size='13'"


class Figure:
    """A drawing; a notebook shows it."""

    __slots__ = ("svg",)

    svg: str
    """The drawing, as SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file whose name ends in ``.svg``."""
        if not os.fspath(path).lower().endswith(".svg"):
            raise SettingsError("a figure is saved as SVG", 'give a name such as "overlap.svg"')
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.svg)
        except OSError as error:
            raise unwritable(SettingsError, path, error) from None

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure, {len(self.svg)} bytes of SVG>"


def lens(distance: float, one: float, two: float) -> float:
    """The area that circles of radii `one` and `two` share at this distance between their centres.

    >>> round(lens(0.0, 1.0, 2.0), 3), lens(3.0, 1.0, 2.0)
    (3.142, 0.0)
    """
    if distance >= one + two:
        return 0.0
    if distance <= abs(one - two):
        return math.pi * min(one, two) ** 2
    one_part = (distance**2 + one**2 - two**2) / (2 * distance)
    two_part = distance - one_part
    area = 0.0
    for part, radius in ((one_part, one), (two_part, two)):
        area += radius**2 * math.acos(max(-1.0, min(1.0, part / radius)))
        area -= part * math.sqrt(max(0.0, radius**2 - part**2))
    return area


def distance_for(area: float, one: float, two: float) -> float:
    """The distance of the centres at which the circles share this `area`."""
    low, high = abs(one - two), one + two
    for _ in range(60):
        middle = (low + high) / 2
        if lens(middle, one, two) > area:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def overlap(own: tuple[str, int], other: tuple[str, int], common: int) -> Figure:
    """Two circles and what they share, with areas to scale."""
    largest = max(own[1], other[1], 1)
    unit = 110 / math.sqrt(largest)
    radii = [unit * math.sqrt(size) for _, size in (own, other)]
    scale = math.pi * unit**2
    distance = distance_for(common * scale, *radii)
    left = 20 + max(radii[0], radii[1] - distance)
    height = 2 * max(radii) + 60
    y = max(radii) + 10
    centres = [left, left + distance]
    right = max(x + radius for x, radius in zip(centres, radii, strict=True))
    circles = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.2f}' fill='{colour}' fill-opacity='.45' "
        f"stroke='{colour}'/>"
        for x, radius, colour in zip(centres, radii, (OWN, OTHER), strict=True)
    )
    labels = (
        f"<text x='20' y='{height - 26:.0f}' fill='{OWN}' {FONT}>{named(own)}</text>"
        f"<text x='20' y='{height - 8:.0f}' fill='{OTHER}' {FONT}>{named(other)}</text>"
        f"<text x='{right + 14:.0f}' y='{y:.0f}' fill='{COMMON}' {FONT}>"
        f"{common:,} in common</text>"
    )
    return svg(right + 160, height, circles + labels)


def bars(parts: Sequence[tuple[str, int]]) -> Figure:
    """A bar for each part, with its number."""
    largest = max((count for _, count in parts), default=1) or 1
    # About seven pixels a letter.
    left = max(100, 20 + 7.2 * max((len(name) for name, _ in parts), default=0))
    lines = []
    for at, (name, count) in enumerate(parts):
        y = 10 + at * 24
        colour = COMMON if at == 0 else OWN if at == 1 else LOST
        width = 300 * count / largest
        lines.append(
            f"<text x='{left - 10:.0f}' y='{y + 14}' text-anchor='end' {FONT}>{escape(name)}</text>"
            f"<rect x='{left:.0f}' y='{y}' width='{width:.1f}' height='18' fill='{colour}'/>"
            f"<text x='{left + 6 + width:.1f}' y='{y + 14}' {FONT}>{count:,}</text>"
        )
    return svg(left + 400, 20 + 24 * len(parts), "".join(lines))


def named(part: tuple[str, int]) -> str:
    return escape(f"{part[0]}: {part[1]:,} keys")


def svg(width: float, height: float, inside: str) -> Figure:
    return Figure(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {width:.0f} {height:.0f}'>{inside}</svg>"
    )
