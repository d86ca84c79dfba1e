"""Every operation, from every library, with two parties and with a helper."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import vesica as v
from support import CLUB, SHOP, deal, listed, pair

OPERATIONS: dict[str, dict[str, Any]] = {
    "intersection": {},
    "cardinality": {},
    "threshold": {"threshold": 2},
    "sum": {"values_of": "shop", "values": "n"},
    "union": {},
    "private-id": {},
    "shares": {"values_of": "shop", "values": "n"},
    "shared-values": {"values_of": "shop", "values": "n"},
}
SHOP_KEYS = ["a@x.org", "B@x.org ", None, "c@x.org", "b@x.org", "", "lone@x.org"]
SHOP_N = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
CLUB_KEYS = ["b@x.org", "c@x.org", "c@x.org", "d@x.org", None, "e@x.org", "f@x.org", "g@x.org"] * 2
KEYS_BOTH, SUM_BOTH = 2, 11_010


def frame_of(library: str, columns: dict[str, Any], folder: Any) -> Any:
    table = pa.table(columns)
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        return pl.from_arrow(table)
    if library == "path":
        path = folder / f"{len(table)}.csv"
        table.to_pandas().to_csv(path, index=False)
        return path
    return table


LIBRARIES = ["pandas", "polars", "pyarrow", "path"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("receives", ["shop", "club", "all"])
def test_every_operation_gives_the_same_from_every_library(
    operation: str, library: str, receives: str, tmp_path: Any
) -> None:
    terms = OPERATIONS[operation]
    try:
        agreement = deal(operation=operation, receives=receives, security="semi-honest", **terms)
    except v.SettingsError as error:
        assert error.hint or str(error)
        # Refused as a whole, with every library.
        assert (operation, receives) in NOT_OFFERED
        return
    assert (operation, receives) not in NOT_OFFERED
    shop = frame_of(library, {"email": SHOP_KEYS, "n": SHOP_N}, tmp_path)
    club = frame_of(LIBRARIES[LIBRARIES.index(library) - 1], {"email": CLUB_KEYS}, tmp_path)
    results = pair(agreement, shop, club)
    for name, result in zip(("shop", "club"), results, strict=True):
        if operation not in ("shares", "shared-values") and receives not in ("all", name):
            assert result.kind == "nothing"
            assert result.rows() is None
            continue
        check_result(operation, name, result)
        assert repr(result)
        assert result._repr_html_()
    if operation in ("shares", "shared-values"):
        check_shares(operation, v.combine(results[0].shares, results[1].shares))


#: What no protocol offers.
NOT_OFFERED = {
    (operation, receives)
    for operation in ("private-id", "shares", "shared-values")
    for receives in ("shop", "club")
}


def check_result(operation: str, name: str, result: v.Result) -> None:
    if operation == "intersection":
        own = SHOP_KEYS if name == "shop" else CLUB_KEYS
        common = {"b@x.org", "c@x.org"}
        expected = [key is not None and key.strip().lower() in common for key in own]
        assert listed(result.mask) == expected
        assert result.count == KEYS_BOTH
        assert result.to_arrow().num_rows == sum(expected)
        assert len(result.to_pandas()) == sum(expected)
        assert result.to_polars().height == sum(expected)
    elif operation == "cardinality":
        assert result.count == KEYS_BOTH
        assert result.to_arrow().to_pylist() == [{"keys_in_common": KEYS_BOTH}]
    elif operation == "threshold":
        assert result.reached is True
    elif operation == "sum":
        assert result.sums == {"n": SUM_BOTH}
    elif operation == "union":
        keys = result.to_arrow().column("email").to_pylist()
        lone = {"a@x.org", "lone@x.org"}
        assert sorted(keys) == sorted({f"{c}@x.org" for c in "bcdefg"} | lone)
        assert result.to_polars().height == 8
    elif operation == "private-id":
        own = SHOP_KEYS if name == "shop" else CLUB_KEYS
        ids = listed(result.ids)
        assert [one is None or one != one for one in ids] == [not key for key in own]
        assert len(result.to_arrow()) == 8


EXPRESSION = "sum(n * n) > 1000, sum(n), count(by n in 1000, 10000)"


@pytest.mark.parametrize("receives", [None, "shop", "all"])
@pytest.mark.parametrize("circuit", ["garbled", "gmw"])
def test_an_expression_gives_answers_and_no_shares(
    circuit: str, receives: str | None, tmp_path: Any
) -> None:
    agreement = deal(
        operation="shares",
        receives=receives,
        values_of="shop",
        values="n",
        compute=EXPRESSION,
        circuit=circuit,
    )
    assert agreement.compute == EXPRESSION
    # By default the party without the values receives.
    assert (
        agreement.receives == {None: ["club"], "shop": ["shop"], "all": ["club", "shop"]}[receives]
    )
    results = pair(
        agreement,
        pd.DataFrame({"email": SHOP_KEYS, "n": SHOP_N}),
        pl.DataFrame({"email": CLUB_KEYS}),
    )
    for name, result in zip(("shop", "club"), results, strict=True):
        if name not in agreement.receives:
            assert (result.kind, result.answers) == ("nothing", None)
            continue
        assert result.kind == "answers"
        # Two rows have b@x.org.
        expected = {
            "sum(n * n) > 1000": True,
            "sum(n)": SUM_BOTH,
            "count() for n < 1000": 0,
            "count() for 1000 <= n < 10000": 1,
            "count() for n >= 10000": 1,
        }
        assert result.answers == expected
        assert [type(answer) for answer in result.answers.values()] == [bool, int, int, int, int]
        assert (result.count, result.shares, result.order) == (KEYS_BOTH, None, None)
        [row] = result.to_arrow().to_pylist()
        assert row == expected | {"keys_in_common": KEYS_BOTH}
        assert "sum(n * n) > 1000: yes" in repr(result)
        assert result._repr_html_()
        path = tmp_path / f"{name}.csv"
        result.write(path)
        assert path.read_text().splitlines()[1] == "true,11010,0,1,1,2"


def test_an_expression_that_cannot_be_computed_is_refused() -> None:
    with pytest.raises(v.SettingsError, match='no column "m"'):
        deal(operation="shares", values_of="shop", values="n", compute="sum(m)")
    with pytest.raises(v.SettingsError, match="an expression needs values"):
        deal(operation="shares", compute="count()")
    with pytest.raises(v.SettingsError, match="circuit"):
        deal(operation="shares", values="n", compute="count()", circuit="yao")


def check_shares(operation: str, table: Any) -> None:
    combined = pa.table(table)
    by_value = sorted(combined.column("n").to_pylist())
    if operation == "shares":
        assert by_value == [1000, 10_010]
    else:
        assert by_value == [0, 0, 1000, 10_010]
    assert len(pl.DataFrame(table)) == len(combined)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_order_of_shared_values_has_the_rows_of_each_entry(library: str, tmp_path: Any) -> None:
    agreement = deal(
        operation="shared-values", security="semi-honest", **OPERATIONS["shared-values"]
    )
    shop, club = pair(
        agreement,
        frame_of(library, {"email": SHOP_KEYS, "n": SHOP_N}, tmp_path),
        pd.DataFrame({"email": CLUB_KEYS}),
    )
    values = pa.table(v.combine(shop.shares, club.shares)).column("n").to_pylist()
    rows = listed(column_of(shop.order, "rows"))
    common = listed(club.order["common"])
    assert listed(column_of(shop.order, "entry")) == listed(club.order["entry"]) == [0, 1, 2, 3]
    assert sorted(list(one) for one in rows) == [[0], [1, 4], [3], [6]]
    for own, value, is_common in zip(rows, values, common, strict=True):
        assert is_common == (list(own) in ([1, 4], [3]))
        assert value == (sum(SHOP_N[row] for row in own) if is_common else 0)


def test_both_parts_of_the_order_of_shares_give_the_rows() -> None:
    agreement = deal(operation="shares", security="semi-honest", **OPERATIONS["shares"])
    shop, club = pair(
        agreement,
        pl.DataFrame({"email": SHOP_KEYS, "n": SHOP_N}),
        pl.DataFrame({"email": CLUB_KEYS}),
    )
    values = pl.DataFrame(v.combine(shop.shares, club.shares))["n"].to_list()
    assert (shop.order.columns, club.order.columns) == (["place", "rows"], ["entry", "place"])
    assert sorted(shop.order["rows"].to_list()) == [[0], [1, 4], [3], [6]]
    rows = [shop.order["rows"][place].to_list() for place in club.order["place"]]
    assert sorted(rows) == [[1, 4], [3]]
    assert values == [sum(SHOP_N[row] for row in own) for own in rows]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("values", [None, "n", ["n", "m"]])
def test_each_group_has_its_sums(library: str, values: Any, tmp_path: Any) -> None:
    regions = ["north", "south", "south", None, "north", "west", "west"]
    agreement = deal(
        operation="sum",
        values_of="shop",
        values=values,
        by="region",
        groups=["north", "south", "west"],
    )
    assert agreement.values == (
        "shop",
        [values] if values == "n" else values or [],
        "region",
        ["north", "south", "west"],
    )
    ms = [2 * n for n in SHOP_N]
    columns = {"email": SHOP_KEYS, "n": SHOP_N, "m": ms, "region": regions}
    shop, club = pair(
        agreement, frame_of(library, columns, tmp_path), pd.DataFrame({"email": CLUB_KEYS})
    )
    assert shop.kind == "nothing"
    # b@x.org spends 10 in the south and 10,000 in the north; c@x.org 1,000 without a region.
    if values is None:
        assert club.sums == {"north": 1, "south": 1, "west": 0}
    else:
        expected = {"n[north]": 10_000, "n[south]": 10, "n[west]": 0}
        more = {"m[north]": 20_000, "m[south]": 20, "m[west]": 0} if values != "n" else {}
        assert club.sums == expected | more
    assert club.count == 2


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_inner_product_takes_values_of_both_parties(library: str, tmp_path: Any) -> None:
    agreement = deal(
        operation="inner-product", values_of="shop", values="n", times="w", times_bits=8
    )
    assert agreement.factors == ("club", "w")
    weights = [1, 2, 3, 4, 5, 6, 7, 8] * 2
    shop, club = pair(
        agreement,
        frame_of(library, {"email": SHOP_KEYS, "n": SHOP_N}, tmp_path),
        frame_of("pandas", {"email": CLUB_KEYS, "w": weights}, tmp_path),
    )
    assert shop.kind == "nothing"
    # Rows with the same key add up on both sides: b 10,010 times 2, c 1,000 times 10.
    assert (club.sums, club.count) == ({"n*w": 2 * 10_010 + 10 * 1000}, 2)


def test_other_results_have_no_order() -> None:
    shop, _ = pair(deal(), pl.DataFrame({"email": SHOP_KEYS}), pl.DataFrame({"email": CLUB_KEYS}))
    assert shop.order is None


def column_of(frame: Any, name: str) -> Any:
    """A column of a frame of any library, or of the table of a run from a file."""
    return pa.table(frame).column(name)


def test_identifiers_of_common_keys_are_equal_on_both_sides() -> None:
    shop, club = pair(
        deal(operation="private-id"),
        pd.DataFrame({"email": SHOP_KEYS}),
        pl.DataFrame({"email": CLUB_KEYS}),
    )
    ours, theirs = listed(shop.ids), listed(club.ids)
    assert ours[1] == ours[4] == theirs[0]
    assert ours[3] == theirs[1] == theirs[2]
    assert len({ours[0], ours[6]} & set(theirs)) == 0


# With a helper.


@pytest.fixture
def helper(tmp_path: Any) -> Any:
    from support import IDENTITIES

    key = v.Identity.generate()
    parties = "".join(
        f'[party.{name}]\nidentity = "{one.public}"\n' for name, one in IDENTITIES.items()
    )
    config = tmp_path / "helper.toml"
    config.write_text(f'[helper]\nlisten = "127.0.0.1:0"\n\n{parties}')
    with v.serve_helper(config, key=key, state=tmp_path / "helper", metrics=False) as served:
        served.key = key
        yield served


@pytest.mark.parametrize("library", LIBRARIES)
def test_three_parties_with_a_helper(library: str, helper: Any, tmp_path: Any) -> None:
    from support import IDENTITIES, LIMIT, in_thread, one

    agreement = v.Agreement.new(dict(IDENTITIES), "email", helper=helper.key, max_rows=1000)
    lists = {
        "shop": SHOP_KEYS,
        "club": CLUB_KEYS,
        "third": ["c@x.org", None, "zz@x.org", "c@x.org"],
    }
    at = LIBRARIES.index(library)
    work = {}
    for turn, (name, keys) in enumerate(lists.items()):
        kind = LIBRARIES[(at + turn) % len(LIBRARIES)]
        work[name] = in_thread(
            one,
            agreement,
            frame_of(kind, {"email": keys}, tmp_path),
            name,
            connect=helper.address,
            state=tmp_path / name,
        )
    for name, (thread, box) in work.items():
        thread.join(LIMIT)
        assert box, f"the run of {name} hangs"
        result = box[0]
        if isinstance(result, BaseException):
            raise result
        assert listed(result.mask) == [key == "c@x.org" for key in lists[name]]


def test_a_result_that_nobody_took_is_given_again(helper: Any, tmp_path: Any) -> None:
    from support import IDENTITIES, in_thread, one
    from vesica._options import RunOptions
    from vesica._run import Started

    names = ("shop", "club")
    keys = {name: IDENTITIES[name] for name in names}
    agreement = v.Agreement.new(keys, "email", helper=helper.key, max_rows=1000)
    place = {"connect": helper.address, "state": tmp_path / "shop"}
    shop = pl.DataFrame({"email": SHOP_KEYS})
    started = Started(RunOptions(agreement, shop, key=keys["shop"], **place))
    club = pl.DataFrame({"email": CLUB_KEYS})
    thread, box = in_thread(
        one, agreement, club, "club", connect=helper.address, state=tmp_path / "club"
    )
    assert started.running.wait(30)
    thread.join()
    # As in a program that ends before it has taken its result.
    del started
    assert (tmp_path / "shop").exists()

    for _ in range(100):
        try:
            again = v.run(agreement, shop, key=keys["shop"], **place)
            break
        except v.SettingsError as error:
            # The thread of the run needs a moment to leave the folder.
            assert "another process uses" in str(error), error
            time.sleep(0.05)
    assert again.count == box[0].count == KEYS_BOTH
    assert not (tmp_path / "shop").exists()


def test_a_check_says_what_a_large_set_takes(tmp_path: Path) -> None:
    agreement = deal(max_rows=3_000_000, protocol="rr22", security="semi-honest")
    keys = pl.DataFrame({"email": [f"{i}@a.org" for i in range(2_000_000)]})
    found = v.check(agreement, keys, party="shop", memory=130 << 20, scratch=tmp_path)
    assert found.ok
    assert found.needs is not None
    assert found.needs["disk"] == 34 * len(keys)
    assert "68,000,000 of " in repr(found)
    text = v.check(agreement, keys, party="shop", memory="64MiB")
    with pytest.raises(v.SettingsError, match="an amount of memory is a number and a unit"):
        v.check(agreement, keys, party="shop", memory="much")
    found = v.check(agreement, keys, party="shop", memory=64 << 20)
    without_free = [{**one.data["needs"], "free_disk": 0} for one in (text, found)]
    assert without_free[0] == without_free[1]
    assert {**text.data, "needs": None} == {**found.data, "needs": None}
    assert not found.ok
    assert found.why is not None
    assert "memory" in found.why
    assert v.check(deal(operation="cardinality"), keys[:9], party="shop").needs is None


def test_counts_of_partitions_are_a_term_of_unions() -> None:
    terms: dict[str, Any] = {"operation": "union", "protocol": "gmrss21_union", "receives": "shop"}
    agreement = deal(max_rows=2_000_000, partition_counts=True, **terms)
    assert agreement.hash != deal(max_rows=2_000_000, **terms).hash
    with pytest.raises(v.SettingsError):
        deal(partition_counts=True)


def test_partitions_are_as_small_as_agreed() -> None:
    terms: dict[str, Any] = {"protocol": "rr22_malicious", "security": "malicious"}
    agreement = deal(partition_rows=1000, **terms)
    assert agreement.hash != deal(**terms).hash
    assert agreement.hash == deal(partition_rows=1000, **terms).hash
    assert deal(partition_rows=1_572_864, **terms).hash == deal(**terms).hash
    assert "`partition_rows = 1000`" in " ".join(str(agreement.explain(full=True)).split())
    with pytest.raises(v.SettingsError, match="partition_rows"):
        deal(partition_rows=999, **terms)
    lists = [[f"{i}@a.org" for i in part] for part in (range(3000), range(2000, 4500))]
    shop, club = (pl.DataFrame({"email": keys}) for keys in lists)
    split, whole = (v.check(made, shop, party="shop").needs for made in (agreement, deal(**terms)))
    assert split is not None
    assert split["least_memory"] == 44 << 20
    assert whole is not None
    assert whole["least_memory"] is None
    for result, keys in zip(pair(agreement, shop, club), lists, strict=True):
        assert result.count == 1000
        assert listed(result.mask) == [2000 <= int(key.split("@")[0]) < 3000 for key in keys]


def test_two_sides_meet_in_a_folder(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    agreement = deal(protocol="rr22", security="semi-honest")
    frames = [pl.DataFrame({"email": keys}) for keys in (SHOP_KEYS, CLUB_KEYS)]

    def side(number: int) -> v.Result:
        return v.run(
            agreement,
            frames[number],
            key=(SHOP, CLUB)[number],
            exchange=shared,
            state=tmp_path / f"state-{number}",
            wait=60,
        )

    with ThreadPoolExecutor() as both_sides:
        shop, club = both_sides.map(side, range(2))
    assert listed(shop.rows()["email"]) == ["B@x.org ", "c@x.org", "b@x.org"]
    assert len(club.rows()) == 6
    assert not list(tmp_path.glob("state-*"))
    # The next run waits for the other side.
    with pytest.raises(v.NetworkError, match="not finished"):
        v.run(agreement, frames[0], key=SHOP, exchange=shared, state=tmp_path / "state-0", wait=0.1)
    with pytest.raises(v.SettingsError, match="there is no connection"):
        v.run(agreement, frames[0], key=SHOP, exchange=shared, listen="127.0.0.1:1")


def test_placeholders_are_excluded_and_frequent_keys_are_told() -> None:
    agreement = v.Agreement.new(
        {"shop": SHOP, "club": CLUB}, {"phone": "digits", "name": "trim"}, never={"phone": ["N/A"]}
    )
    assert agreement.keys == [("name", "trim", ()), ("phone", "digits", ("N/A",))]
    assert agreement != v.Agreement.new(
        {"shop": SHOP, "club": CLUB}, {"phone": "digits", "name": "trim"}
    )
    rows = {"phone": ["1", " N/A", *["000"] * 30], "name": ["a", "b", *["unknown"] * 30]}
    found = v.check(agreement, pa.table(rows), party="shop")
    assert (found.rows, found.distinct, found.data["refused"]) == (32, 2, 1)
    assert found.data["refused_by"][0]["reason"] == "holds a value that the agreement excludes"
    assert found.data["frequent"][0]["count"] == 30
    (warning,) = found.warnings
    assert "30 of 32 rows" in warning and "unknown" not in repr(found)
    both = v.Agreement.new({"shop": SHOP, "club": CLUB}, ["a", "b"], never=["NULL"])
    assert [key.never for key in both.keys] == [("NULL",), ("NULL",)]
    for never in ("NULL", {"c": ["NULL"]}, {"a": "NULL"}, {"a": []}, ["NULL", "NULL "]):
        with pytest.raises(v.SettingsError):
            v.Agreement.new({"shop": SHOP, "club": CLUB}, ["a", "b"], never=never)


def test_a_profile_that_refuses_much_is_told_in_a_check() -> None:
    agreement = v.Agreement.new({"shop": SHOP, "club": CLUB}, {"born": "date"})
    born = pa.table({"born": ["31.12.1985", "03.04.1985", "01.04.1990"]})
    (warning,) = v.check(agreement, born, party="shop").warnings
    assert "the profile date:dmy takes most of them" in warning
