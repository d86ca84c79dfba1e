"""Both sides of a match in one process, on made-up customers."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import weakref
from typing import Any, NamedTuple

from vesica._agreement import Agreement
from vesica._frames import Frame, frame
from vesica._identity import Identity
from vesica._result import Result
from vesica._together import together

FIRST = "ann bob cem dua eve fay gus hal ida jan kim lea max noa oda pia".split()
#: Libraries of frames, the preferred one first.
LIBRARIES = ("polars", "pandas", "pyarrow")

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

    The lists are made up, and have `rows` rows each. They are frames of polars, pandas or pyarrow:
    of the first of them that is imported, or else installed. Without any they are files, which last
    as long as the results.

    >>> both = demo(rows=100)
    >>> both.airline.count is None, both.grocer.count > 0
    (True, True)
    """
    keys = {"grocer": Identity.generate(), "airline": Identity.generate()}
    agreement = Agreement.new(keys, title="Customers who are members", max_rows=rows)
    lists = {name: frame_of(people(rows, seed)) for seed, name in enumerate(keys, 1)}
    learned = together(agreement, lists, keys)
    return Demo(agreement, learned["grocer"], learned["airline"])


def frame_of(columns: dict[str, list[Any]]) -> Any:
    """The columns as a frame of a library, or as a file where there is none."""
    library = next((name for name in LIBRARIES if name in sys.modules), None)
    if library is None:
        library = next((name for name in LIBRARIES if importlib.util.find_spec(name)), None)
    if library is None:
        return file_of(columns)
    module = importlib.import_module(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def file_of(columns: dict[str, list[Any]]) -> Frame:
    """The columns as a file, which is removed after its last use."""
    # Not at the top: the package is imported more often than the demo is run.
    import csv
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="vesica-demo-")
    path = os.path.join(folder, "customers.csv")
    made = frame(path)
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return made
