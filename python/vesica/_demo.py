"""Both sides of a match in one process, on made-up customers."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from vesica._agreement import Agreement
from vesica._identity import Identity
from vesica._result import Result
from vesica._together import together

FIRST = "ann bob cem dua eve fay gus hal ida jan kim lea max noa oda pia".split()
LAST = "archer baker cooper dyer eaton fisher gray hunter irving jones king lane".split()


class Demo(NamedTuple):
    """What both sides of the demo learned."""

    agreement: Agreement
    grocer: Result
    """The grocer receives the result: its customers who are members of the airline's club."""
    airline: Result
    """The airline learns how many customers the grocer has."""

    def _repr_html_(self) -> str:
        parts = (self.agreement, self.grocer, self.airline)
        return "<hr>".join(part._repr_html_() for part in parts)


def people(count: int, seed: int) -> dict[str, list[Any]]:
    """Made-up customers, among which those of two seeds have many in common."""
    import random

    rng = random.Random(seed)
    numbers = rng.sample(range(2 * count), count)
    names = [(FIRST[n % len(FIRST)], LAST[n // len(FIRST) % len(LAST)], n) for n in numbers]
    return {
        "email": [f"{first.title()}.{last}{n}@example.org" for first, last, n in names],
        "spent_cents": [rng.randrange(100, 100_000) for _ in names],
    }


def demo(rows: int = 1000) -> Demo:
    """Run both sides of a match in this process, over TLS, and return what each of them learned.

    The lists are made up, and have `rows` rows each. They are frames of the library that is
    imported (polars, pandas or pyarrow), or files if there is none.

    >>> both = demo(rows=100)
    >>> both.airline.count is None, both.grocer.count > 0
    (True, True)
    """
    # Not at the top: the package is imported more often than the demo is run.
    import tempfile

    keys = {"grocer": Identity.generate(), "airline": Identity.generate()}
    agreement = Agreement.new(keys, title="Customers who are members", max_rows=rows)
    with tempfile.TemporaryDirectory() as folder:
        lists = {
            name: frame_of(people(rows, seed), folder, seed) for seed, name in enumerate(keys, 1)
        }
        learned = together(agreement, lists, keys)
        return Demo(agreement, learned["grocer"], learned["airline"])


def frame_of(columns: dict[str, list[Any]], folder: str, seed: int) -> Any:
    """The columns as a frame of an imported library, or as a file in `folder`."""
    if "polars" in sys.modules:
        return sys.modules["polars"].DataFrame(columns)
    if "pandas" in sys.modules:
        return sys.modules["pandas"].DataFrame(columns)
    if "pyarrow" in sys.modules:
        return sys.modules["pyarrow"].table(columns)
    import csv

    path = os.path.join(folder, f"{seed}.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
