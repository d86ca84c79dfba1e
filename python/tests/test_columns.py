"""The columns of the other party, in frames of all libraries."""

from __future__ import annotations

import datetime
import stat
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vesica as v
from support import deal, pair, refused

TYPES = {"ward": "text 12", "beds": "integer", "admitted": "date"}
MALICIOUS = {"security": "malicious", "protocol": "auto"}
OWN = {
    "email": ["ann@a.example", "zoe@a.example", "bob@a.example", "kim@a.example"],
    "n": [1, 2, 3, 4],
}
THEIRS = pl.DataFrame(
    {
        "station": ["Nord", None, "Süd"],
        "email": ["ANN@a.example", "bob@a.example", "eva@a.example"],
        "admitted": [datetime.date(2026, 11, 2), None, datetime.date(1602, 3, 4)],
        "beds": [-(2**62), None, 7],
    }
)
NAMED = {"ward": "station"}
DAY = datetime.date(2026, 11, 2)
ADDED = {
    "club_ward": ["Nord", None],
    "club_beds": [-(2**62), None],
    "club_admitted": [DAY, None],
}


def frame_of(library: str, columns: dict[str, Any]) -> Any:
    match library:
        case "pandas":
            return pd.DataFrame(columns, index=[7, 5, 3, 1][: len(columns["n"])])
        case "polars":
            return pl.DataFrame(columns)
        case "duckdb":
            return duckdb.from_arrow(pa.table(columns))
        case "narwhals":
            return nw.from_native(pl.DataFrame(columns))
        case _:
            return pa.table(columns)


def terms(**more: Any) -> v.Agreement:
    return deal(**{"receives": "shop", "columns": TYPES, **MALICIOUS, **more})


def cells(rows: Any, column: str) -> list[Any]:
    native = rows.to_native() if isinstance(rows, nw.DataFrame) else rows
    if isinstance(native, pd.DataFrame):
        values = native[column].astype("object")
        values = values.where(values.notna(), None)
        return [one.date() if isinstance(one, pd.Timestamp) else one for one in values]
    arrow = native.to_arrow_table() if isinstance(native, duckdb.DuckDBPyRelation) else native
    table = arrow.to_arrow() if isinstance(arrow, pl.DataFrame) else arrow
    return table.column(column).to_pylist()


LIBRARIES = ["pandas", "polars", "pyarrow", "duckdb", "narwhals"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_common_rows_have_the_columns_of_the_other_party(library: str) -> None:
    given = frame_of(library, OWN)
    shop, club = pair(terms(), given, THEIRS, club_options={"columns": NAMED})
    rows = shop.rows()
    assert type(rows) is type(given) and club.kind == "nothing"
    assert cells(rows, "n") == [1, 3]
    for name, expected in ADDED.items():
        assert cells(rows, name) == expected, name
    if library == "pandas":
        assert list(rows.index) == [7, 3] and list(given.columns) == ["email", "n"]
        assert [str(rows[name].dtype) for name in ADDED] == ["object", "Int64", "datetime64[s]"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_marked_rows_have_them_too(library: str) -> None:
    given = frame_of(library, OWN)
    shop, _ = pair(
        terms(), given, THEIRS, shop_options={"mark": "hit"}, club_options={"columns": NAMED}
    )
    rows = shop.rows()
    assert cells(rows, "hit") == [True, False, True, False]
    assert cells(rows, "club_ward") == ["Nord", None, None, None]
    assert cells(rows, "club_admitted") == [DAY, None, None, None]


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_common_row_gives_empty_columns_of_the_same_types(library: str) -> None:
    given = frame_of(library, {"email": ["nora@a.example"], "n": [1]})
    shop, _ = pair(terms(), given, THEIRS, club_options={"columns": NAMED})
    rows = shop.rows()
    assert all(cells(rows, name) == [] for name in ADDED)
    if library == "polars":
        assert [rows[name].dtype for name in ADDED] == [pl.String, pl.Int64, pl.Date]


def test_an_agreement_names_its_columns() -> None:
    agreement = terms()
    assert agreement.columns == v.Columns("club", TYPES, "refuse")
    assert v.Agreement(agreement.text).columns == agreement.columns
    assert deal().columns is None
    assert terms(receives="all").columns.of == "club"
    assert terms(receives="all", columns_of="shop").columns.of == "shop"
    assert terms(receives=["club"], duplicates="first").columns == v.Columns("shop", TYPES, "first")
    assert (
        deal(columns=TYPES, columns_of="club", **{**MALICIOUS, "receives": None}).columns.of
        == "club"
    )
    for wrong in ({"columns_of": "shop"}, {"columns": {"ward": "varchar"}}, {"columns": {}}):
        with pytest.raises(v.SettingsError):
            deal(**wrong)
    with pytest.raises(v.SettingsError, match="columns"):
        terms(operation="cardinality")


def test_a_parquet_file_has_them_with_their_types(tmp_path: Path) -> None:
    given = tmp_path / "own.parquet"
    pq.write_table(pa.table(OWN), given)
    given.chmod(0o644)
    out = tmp_path / "out.parquet"
    pair(terms(), given, THEIRS, shop_options={"output": out}, club_options={"columns": NAMED})
    table = pq.read_table(out)
    assert {name: table.column(name).to_pylist() for name in ADDED} == ADDED
    assert [table.column(name).type for name in ADDED] == [pa.string(), pa.int64(), pa.date32()]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ({"station": "more than twelve bytes"}, "12 bytes"),
        ({"email": "ann@a.example"}, "already in row 1"),
    ],
)
def test_rows_that_do_not_fit_are_refused(cell: dict[str, str], says: str) -> None:
    more = pl.DataFrame(
        {"station": "x", "email": "new@a.example", "admitted": DAY, "beds": 1} | cell
    )
    rows = pl.concat([THEIRS, more.select(THEIRS.columns)])
    error = refused(rows, terms(), name="club", columns=NAMED)
    assert isinstance(error, v.DataError) and says in str(error)


def test_a_frame_with_a_column_of_that_name_is_refused() -> None:
    taken = pl.DataFrame({"email": ["ann@a.example"], "club_ward": ["mine"]})
    error = refused(taken, terms())
    assert isinstance(error, v.DataError) and "club_ward" in str(error)
