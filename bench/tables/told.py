"""What the papers print: every number knows its place in `bench/papers.json`, so that a report can say which of them it
compares."""

import json

from tables.store import ROOT

FILE = ROOT / "bench" / "papers.json"

# Numbers of this name are the sizes at the heads of columns.
HEADS = "n"


class Whole(int):
    """A printed whole number. `place` is its path in the file."""

    place: str


class Fraction(float):
    """A printed number that is not whole."""

    place: str


def read(path=FILE):
    """The file, in which each number has its place."""
    return marked(json.loads(path.read_text()), ())


def marked(value, path):
    if isinstance(value, dict):
        return {name: marked(one, (*path, name)) for name, one in value.items()}
    if isinstance(value, list):
        return [marked(one, (*path, str(i))) for i, one in enumerate(value)]
    if value is None or isinstance(value, str):
        return value
    number = (Whole if isinstance(value, int) else Fraction)(value)
    number.place = "/".join(path)
    return number


def place(value):
    """The place of a number that a paper prints; None for any other value."""
    return getattr(value, "place", None)


def places(value):
    """Those of all numbers below, without the heads of columns."""
    if isinstance(value, dict):
        return {one for name, below in value.items() if name != HEADS for one in places(below)}
    if isinstance(value, list):
        return {one for below in value for one in places(below)}
    return {found for found in [place(value)] if found}


def printed(papers, paths):
    """The places of all numbers below some paths, such as "gmrss21/table_1"."""
    found = set()
    for path in paths:
        value = papers
        for name in path.split("/"):
            value = value[name]
        found |= places(value)
    return found
