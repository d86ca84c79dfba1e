"""The page about the package is true: its code runs with these outputs, and no name is missing."""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime
import decimal
import doctest
import inspect
import pathlib
import re
import socket
from collections.abc import Iterator
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import vesica as v

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
#: The other side of the examples. Here it listens on this machine.
AIRLINE = "airline.example:7400"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(text: str) -> list[tuple[int, str]]:
    """The blocks of Python, each with the number of the line above it."""
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: one.start()].count("\n") + 1, one[1]) for one in found]


def scene(folder: pathlib.Path) -> None:
    """The files that the page's reader has."""
    (folder / "keys").mkdir()
    keys = {name: v.Identity.generate(folder / f"{name}.key") for name in ("grocer", "airline")}
    v.Agreement.new(keys).save(folder / "agreement.toml")
    own = "".join(f"user{n}@example.org,{n}\n" for n in range(100))
    (folder / "customers.csv").write_text(f"email,spent_cents\n{own}")
    theirs = "".join(f"User{n}@Example.org\n" for n in range(40, 200))
    (folder / "members.csv").write_text(f"email\n{theirs}")


@contextlib.contextmanager
def airline(code: str) -> Iterator[str]:
    """The code with the address of an airline that takes part in its run, if it connects to one."""
    if AIRLINE not in code:
        yield code
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    arguments = {"key": "airline.key", "listen": address, "wait": 10}
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        there = other.submit(v.run, "agreement.toml", "members.csv", **arguments)
        yield code.replace(AIRLINE, address)
        assert there.result().kind == "nothing"


def execute(code: str, line: int, names: dict[str, Any]) -> None:
    """Run a block; what stands after prompts is compared with its output."""
    if not code.startswith(">>>"):
        exec(compile("\n" * line + code, "a page", "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, "a page", None, line)
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    outcome = runner.run(test, out=printed.append, clear_globs=False)
    assert outcome.failed == 0, "".join(printed)
    names.update(test.globs)


def test_the_code_on_the_page_runs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scene(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    found = blocks(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 15
    for line, code in found:
        with airline(code) as here:
            execute(here, line, names)
        if line < 20:
            assert names["r"].rows().height == 60


def test_the_code_in_the_readme_runs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scene(tmp_path)
    names: dict[str, Any] = {}
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(found) == 1
    line, code = found[0]
    with airline(code) as here:
        execute(here, line, names)
    assert names["r"].rows().height == 60


def test_a_wrong_output_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        execute(">>> 1 + 1\n3\n", 1, {})


def test_every_public_name_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    # Named tuples and a text, which have no name for those who use them.
    parts = {
        "__version__",
        "Key",
        "Party",
        "Rule",
        "Values",
        "Factors",
        "Difference",
        "Demo",
        "Explanation",
        "Table",
    }
    public = [name for name in v.__all__ if name not in parts]
    missing = [name for name in public if not re.search(rf"\b{name}\b", text)]
    assert not missing


@pytest.mark.parametrize("function", [v.run, v.check, v.serve_helper, v.Agreement.new])
def test_every_argument_is_on_the_page(function: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    # Named in prose as `wait` or `wait=60`, or used in an example.
    named = set(re.findall(r"`([a-z_]+)=?", text)) | set(re.findall(r"\b([a-z_]+)=", text))
    missing = set(inspect.signature(function).parameters) - named
    assert missing <= {"agreement", "data", "config"}


@pytest.mark.parametrize("kind", [v.Result, v.Checked])
def test_every_attribute_of_a_result_is_on_the_page(kind: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    public = [name for name in dir(kind) if not name.startswith("_")]
    assert not [name for name in public if not re.search(rf"\b{name}\b", text)]


def texts(column: Any) -> list[str]:
    """The keys that the values of a column become, as a union returns them."""
    sides = {name: v.Identity.generate() for name in ("here", "there")}
    deal = v.Agreement.new(sides, {"key": "trim"}, operation="union")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        frame = pl.DataFrame({"key": ["the other side's"]})
        there = other.submit(v.run, deal, frame, key=sides["there"], connect=address, wait=10)
        here = v.run(deal, column, key=sides["here"], listen=address)
        there.result()
    table = here.to_polars()
    return table.filter(~pl.col("new"))["key"].to_list()


NOON = datetime.datetime(2024, 2, 1, 12, 34, 56)
PARIS = pd.to_datetime(["2024-02-01 00:30", None]).tz_localize("Europe/Paris")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pl.Series([-42, None]), "-42"),
        (pl.Series([decimal.Decimal("12.30")]), "12.3"),
        (pl.Series([True]), "true"),
        (pl.Series([NOON.date()]), "2024-02-01"),
        (pl.Series([NOON]), "2024-02-01T12:34:56"),
        (pl.Series([datetime.time(12, 3)]), "12:03:00"),
        (pd.Series(PARIS), "2024-01-31T23:30:00Z"),
        (pd.Series([-42, None], dtype="Int64"), "-42"),
        (pa.array([None, "true"]).dictionary_encode(), "true"),
        (pl.Series(["true", None], dtype=pl.Categorical), "true"),
        (pl.Series(["true", None], dtype=pl.Enum(["true"])), "true"),
        (pd.Series(["true", None, float("nan"), pd.NA], dtype=object), "true"),
        (pa.array([b"\x01\xfe"], pa.binary(2)), "01fe"),
        (pl.Series([b"true"]), "true"),
    ],
)
def test_a_value_becomes_the_text_on_the_page(values: Any, text: str) -> None:
    frame = {pl.Series: pl.DataFrame, pd.Series: pd.DataFrame}.get(type(values), pa.table)
    assert texts(frame({"key": values})) == [text]
    assert text == "01fe" or f"`{text}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("values", [[1.5], [datetime.timedelta(1)], [["a"]], [{"a": 1}]])
def test_a_type_that_the_page_calls_refused_is(values: list[Any]) -> None:
    deal = v.Agreement.new({name: v.Identity.generate() for name in ("here", "there")}, "key")
    with pytest.raises(v.DataError, match="cannot be a key"):
        v.check(deal, pl.DataFrame({"key": values}))
