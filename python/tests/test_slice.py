"""One run through everything: two frames, an agreement, TLS, a protocol, and the rows in common."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import vesica as v

# Spelled differently, repeated, without a key: what every list has.
SHOP = pl.DataFrame(
    {
        "email": ["ann@example.org", "bob@example.org", None, "Cem@Example.org", "dua@example.org"],
        "spent": [10, 20, 30, 40, 50],
    }
)
CLUB = pl.DataFrame(
    {
        "member": [1, 2, 3, 4],
        "email": ["eve@example.org", "cem@example.org", "ANN@example.org", "ann@example.org"],
    }
)
SHOP_IN_COMMON = SHOP[[0, 3]]
CLUB_IN_COMMON = CLUB[[1, 2, 3]]


def learned(result: v.Result) -> pl.DataFrame:
    assert result.kind == "rows"
    assert result.count == 2
    rows = result.rows()
    assert isinstance(rows, pl.DataFrame)
    return rows


def learned_nothing(result: v.Result) -> bool:
    return (result.kind, result.count, result.mask, result.rows()) == ("nothing", None, None, None)


def test_the_shop_receives_its_rows_and_the_club_nothing(agreement: Any, pair: Any) -> None:
    shop, club = pair(agreement("shop"), SHOP, CLUB)
    assert learned(shop).equals(SHOP_IN_COMMON)
    assert learned_nothing(club)


def test_the_club_receives_its_rows_and_the_shop_nothing(agreement: Any, pair: Any) -> None:
    shop, club = pair(agreement("club"), SHOP, CLUB)
    assert learned_nothing(shop)
    assert learned(club).equals(CLUB_IN_COMMON)


def test_both_receive_their_rows(agreement: Any, pair: Any) -> None:
    shop, club = pair(agreement("all"), SHOP, CLUB)
    assert learned(shop).equals(SHOP_IN_COMMON)
    assert learned(club).equals(CLUB_IN_COMMON)
    assert SHOP.filter(shop.mask).equals(SHOP_IN_COMMON)
    assert club.positions.to_list() == [1, 2, 3]


def test_a_failure_of_both_sides_shows_both(agreement: Any, pair: Any) -> None:
    with pytest.raises(v.VesicaError) as caught:
        pair(agreement("all"), SHOP.rename({"email": "mail"}), CLUB, wait=1)
    # The shop tells the club, and which of them ends first is chance.
    assert {type(caught.value), type(caught.value.__cause__)} == {v.DataError, v.NetworkError}
