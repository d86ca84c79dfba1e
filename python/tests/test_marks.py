"""All rows with a mark, and the list of refused rows."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import vesica as v
from support import both, deal, one

EMAILS = ["ann@a.example", "secret-cell", "bob@a.example", "zoe@a.example"]
OTHER = {"email": ["ann@a.example", "zoe@a.example", "kim@a.example"]}
MARKS = [True, False, False, True]
COLUMNS = {"email": EMAILS, "n": [1, 2, 3, 4]}


def frame_of(library: str) -> Any:
    table = pa.table(COLUMNS, metadata={"made": "here"})
    match library:
        case "pandas":
            return pd.DataFrame(COLUMNS, index=[7, 5, 3, 1])
        case "polars":
            return pl.DataFrame(COLUMNS)
        case "duckdb":
            return duckdb.from_arrow(table)
        case "narwhals":
            return nw.from_native(pl.DataFrame(COLUMNS))
        case "batch":
            return table.to_batches()[0]
        case _:
            return table


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "batch", "duckdb", "narwhals"])
def test_all_rows_come_back_with_a_mark(library: str) -> None:
    given = frame_of(library)
    shop, _ = both(deal(), given, pl.DataFrame(OTHER), {"mark": "hit"})
    rows = shop.rows()
    native = rows.to_native() if library == "narwhals" else rows
    arrow = native.to_arrow_table() if library == "duckdb" else native
    table = pa.Table.from_pandas(rows) if library == "pandas" else pa.table(arrow)
    assert table.column("hit").to_pylist() == MARKS
    assert table.column("hit").type == pa.bool_()
    assert table.column("n").to_pylist() == [1, 2, 3, 4]
    assert type(rows) is type(given)
    if library == "pandas":
        assert list(rows.index) == [7, 5, 3, 1] and "hit" not in given.columns
    if library in ("pyarrow", "batch"):
        assert rows.schema.metadata == {b"made": b"here"}
    assert shop.to_polars()["hit"].to_list() == MARKS
    assert list(shop.positions) == [0, 3] or shop.positions.to_pylist() == [0, 3]


def test_a_file_is_written_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    pl.DataFrame(COLUMNS).write_csv(path)
    out = tmp_path / "out.csv"
    club = pl.DataFrame(OTHER)
    shop, _ = both(deal(), path, club, {"mark": "hit", "output": out})
    assert pl.read_csv(out)["hit"].to_list() == [1, 0, 0, 1]
    assert shop.report["result"]["rows_written"] == 4
    assert shop.report["result"]["rows_marked"] == 2
    assert shop.to_polars()["hit"].to_list() == MARKS
    shop.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == out.read_text()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "batch", "duckdb", "narwhals"])
@pytest.mark.parametrize("operation", ["private-id", "union"])
def test_identifiers_join_back_to_the_rows(operation: str, library: str) -> None:
    more = {"key_bytes": 40} if operation == "union" else {}
    agreement = deal(operation=operation, receives="all", **more)
    shop, club = both(
        agreement, frame_of(library), pl.DataFrame(OTHER), {"mark": "id"}, {"mark": "id"}
    )
    ours, theirs = shop.to_polars(), club.rows()
    assert ours["n"].to_list() == [1, 2, 3, 4]
    assert ours["id"].is_null().to_list() == [False, True, False, False]
    of_theirs = dict(zip(theirs["email"], theirs["id"], strict=True))
    of_ours = dict(zip(ours["email"], ours["id"], strict=True))
    for email in ["ann@a.example", "zoe@a.example"]:
        assert of_ours[email] == of_theirs[email]
    known = {*of_ours.values(), *of_theirs.values()} - {None}
    assert len(known) == 4
    if operation == "union":
        assert known == {1, 2, 3, 4}
    assert shop.report["result"]["rows_marked"] is None


def test_a_file_is_written_with_identifiers(tmp_path: Path) -> None:
    path, out = tmp_path / "shop.csv", tmp_path / "out.parquet"
    pl.DataFrame(COLUMNS).write_csv(path)
    agreement = deal(operation="private-id", receives="all")
    shop, _ = both(agreement, path, pl.DataFrame(OTHER), {"mark": "id", "output": out})
    assert shop.report["result"]["rows_marked"] == 3
    written = pl.read_parquet(out)
    assert written["email"].to_list() == EMAILS
    assert written["id"].to_list() == list(shop.ids)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    with pytest.raises(v.SettingsError, match="rows that come from a file"):
        one(agreement, frame_of("polars"), "shop", listen="127.0.0.1:0", mark="id", output=out)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb", "narwhals", "file"])
def test_a_mark_never_takes_the_name_of_a_column(library: str, tmp_path: Path) -> None:
    data = frame_of(library)
    if library == "file":
        data = tmp_path / "shop.csv"
        pl.DataFrame(COLUMNS).write_csv(data)
    with pytest.raises(v.DataError, match="already has a column"):
        one(deal(), data, "shop", listen="127.0.0.1:0", mark="n")


@pytest.mark.parametrize("mark", ["", "a\nb", "x" * 257, 7])
def test_a_mark_is_a_name(mark: Any) -> None:
    with pytest.raises(v.SettingsError, match="mark is the name of a column"):
        one(deal(), frame_of("polars"), "shop", listen="127.0.0.1:0", mark=mark)


def test_a_mark_is_for_rows_that_this_party_receives() -> None:
    data = frame_of("polars")
    count = deal(operation="cardinality", receives="all")
    with pytest.raises(v.SettingsError, match="only for an intersection, a union and private ids"):
        one(count, data, "shop", listen="127.0.0.1:0", mark="hit")
    with pytest.raises(v.SettingsError, match="shop does not receive the result"):
        one(deal(receives="club"), data, "shop", listen="127.0.0.1:0", mark="hit")


def test_refused_rows_are_listed_without_their_value(tmp_path: Path) -> None:
    path = tmp_path / "refused.csv"
    both(deal(), frame_of("polars"), pl.DataFrame(OTHER), {"refused": path})
    listed = pl.read_csv(path)
    assert listed.columns == ["row", "column", "reason"]
    assert listed["row"].to_list() == [2] and listed["column"].to_list() == ["email"]
    assert "secret" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    path.unlink()
    v.check(deal(), frame_of("pandas"), party="shop", refused=path)
    assert pl.read_csv(path).equals(listed)
    with pytest.raises(v.DataError, match="does not show its format"):
        v.check(deal(), frame_of("pandas"), party="shop", refused=tmp_path / "list")
