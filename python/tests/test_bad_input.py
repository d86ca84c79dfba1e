"""Data, settings and peers that cannot be used: a clear exception each, and no cell in it."""

from __future__ import annotations

import datetime as dt
import logging
import os
import socket
import threading
import time
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import vesica as v
from support import (
    CANARY,
    CLUB,
    LIMIT,
    QUICK,
    SHOP,
    THIRD,
    all_refused,
    both,
    deal,
    end_of,
    free_address,
    in_thread,
    listed,
    one,
    pair,
    program,
    refused,
    seen,
)

OTHER = pa.table({"k": ["ann", "bob"]})


@pytest.fixture(autouse=True)
def no_cell_is_logged(caplog: Any) -> Any:
    """No test of this file may log a cell."""
    caplog.set_level(logging.DEBUG)
    yield
    assert CANARY not in caplog.text


def arrow_of(column: Any) -> pa.Table:
    return pa.table({"k": column})


# Columns that cannot be keys.


def nested() -> dict[str, Any]:
    categories = pl.Enum([CANARY])
    return {
        "pandas float": pd.DataFrame({"k": [1.5, 2.0]}),
        "pandas ints with a gap": pd.DataFrame({"k": [1, None]}),
        "pandas Float64": pd.DataFrame({"k": pd.array([1.5], dtype="Float64")}),
        "pandas category of floats": pd.DataFrame({"k": pd.Categorical([1.5])}),
        "pandas dictionaries": pd.DataFrame({"k": [{CANARY: 1}]}),
        "pandas lists": pd.DataFrame({"k": [[CANARY]]}),
        "pandas mixed": pd.DataFrame({"k": [CANARY, 1, None]}),
        "pandas mixed, number first": pd.DataFrame({"k": [1, CANARY]}),
        "pandas mixed days": pd.DataFrame({"k": [dt.date(2024, 1, 1), CANARY]}),
        "pandas complex": pd.DataFrame({"k": [1j]}),
        "pandas large ints": pd.DataFrame({"k": [2**70, 1]}, dtype=object),
        "pandas intervals": pd.DataFrame({"k": pd.interval_range(0, 3)}),
        "pandas periods": pd.DataFrame({"k": pd.period_range("2024-01", "2024-03", freq="M")}),
        "pandas sparse": pd.DataFrame({"k": pd.arrays.SparseArray([1, 1, 0])}),
        "pandas surrogates": pd.DataFrame({"k": ["\udc80" + CANARY]}, dtype=object),
        "pandas timedelta": pd.DataFrame({"k": [dt.timedelta(1)]}),
        "polars float": pl.DataFrame({"k": [1.5]}),
        "polars lists of categories": pl.DataFrame(
            {"k": pl.Series([[CANARY]], dtype=pl.List(categories))}
        ),
        "polars arrays": pl.DataFrame({"k": pl.Series([[CANARY]], dtype=pl.Array(pl.String, 1))}),
        "polars structs of categories": pl.DataFrame(
            {"k": pl.Series([{"a": CANARY}], dtype=pl.Struct({"a": categories}))}
        ),
        "polars objects": pl.DataFrame({"k": pl.Series([CANARY, 1], dtype=pl.Object)}),
        "polars Int128": pl.DataFrame({"k": pl.Series([1], dtype=pl.Int128)}),
        "polars Duration": pl.DataFrame({"k": [dt.timedelta(1)]}),
        "pyarrow half": arrow_of(pa.array([1.5], pa.float16())),
        "pyarrow map": arrow_of(pa.array([[(CANARY, 1)]], pa.map_(pa.string(), pa.int64()))),
        "pyarrow struct": arrow_of(pa.array([{CANARY: 1}])),
        "pyarrow run-end encoded": arrow_of(pa.RunEndEncodedArray.from_arrays([1], [CANARY])),
        "pyarrow list view": arrow_of(pa.array([[CANARY]], pa.list_view(pa.string()))),
        "pyarrow union": arrow_of(
            pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([CANARY])], [CANARY])
        ),
        "duckdb double": duckdb.sql("select 1.5::double as k"),
        "duckdb list": duckdb.sql(f"select ['{CANARY}'] as k"),
        "duckdb error": duckdb.sql(f"select '{CANARY}'::int as k"),
    }


NESTED = nested()


def test_a_column_that_cannot_be_a_key_is_refused() -> None:
    for name, error in zip(NESTED, all_refused(NESTED.values()), strict=True):
        assert isinstance(error, v.DataError), name


def test_a_parquet_file_with_nested_keys_is_refused_without_a_cell(tmp_path: Any) -> None:
    paths = tmp_path / "one.parquet", tmp_path / "other.parquet"
    NESTED["polars structs of categories"].write_parquet(paths[0])
    NESTED["pandas dictionaries"].to_parquet(paths[1])
    for error in all_refused(paths):
        assert isinstance(error, v.DataError)


def without_rows() -> dict[str, tuple[Any, Any]]:
    """For each library a frame without rows, and one without columns."""
    table = pa.table({"k": pa.array([], pa.string())})
    return {
        "pandas": (table.to_pandas(), pd.DataFrame(index=[1, 2])),
        "polars": (pl.from_arrow(table), pl.DataFrame()),
        "pyarrow": (table, pa.table({})),
        "duckdb": (duckdb.from_arrow(table), duckdb.sql("select 1 as other")),
    }


def test_frames_without_rows_or_columns_are_refused() -> None:
    no_rows, no_columns = zip(*without_rows().values(), strict=True)
    for error in all_refused(no_rows):
        assert "no rows" in str(error)
    for error in all_refused(no_columns):
        assert "no column" in str(error)


@pytest.mark.parametrize("library", without_rows())
def test_no_rows_are_allowed_where_the_agreement_says_so(library: str) -> None:
    no_rows, _ = without_rows()[library]
    parties = {"shop": {"identity": SHOP, "min_rows": 0}, "club": CLUB}
    shop, club = pair(v.Agreement.new(parties, "k", receives="all", **QUICK), no_rows, OTHER)
    assert (listed(shop.mask), listed(club.mask)) == ([], [False, False])
    assert type(shop.rows()) is type(no_rows)


def test_rows_without_a_key_alone_are_refused() -> None:
    frames: list[Any] = []
    for keys in ([None], [None, None], ["", "  "]):
        frames.append(pd.DataFrame({"k": keys}, dtype=object))
        frames.append(pl.DataFrame({"k": keys}, schema={"k": pl.String}))
        frames.append(arrow_of(pa.array(keys, pa.string())))
    for error in all_refused(frames):
        assert "usable key" in str(error)


@pytest.mark.filterwarnings("ignore:The DataFrame has column names of mixed type")
def test_repeated_column_names_are_refused() -> None:
    twice = ["k", "k"]
    frames = (
        pd.DataFrame([[CANARY, CANARY]], columns=twice),
        pd.DataFrame([[CANARY, "x", "x"]], columns=["x", "k", "k"]),
        pa.table([pa.array([CANARY])] * 2, names=twice),
        pa.record_batch([pa.array([CANARY])] * 2, names=twice),
        pd.DataFrame([["a", "b"]], columns=[0, "0"]),
    )
    for error in all_refused(frames):
        assert isinstance(error, v.DataError)


def test_columns_that_are_not_used_may_have_one_name() -> None:
    names = ["k", "x", "x"]
    for data in (
        pd.DataFrame([["ann", 1, 2]], columns=names),
        pa.table([pa.array([cell]) for cell in ("ann", "b", "c")], names=names),
    ):
        assert v.check(deal({"k": "trim"}), data).rows == 1


def test_lines_above_the_header_are_skipped_on_request(tmp_path: Any) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a report\n# ours\nk;b\nann;1\n")
    assert v.check(deal({"k": "trim"}), file, skip_rows=1, comment="#").rows == 1
    with pytest.raises(v.DataError, match="skip_rows=2"):
        v.check(deal({"k": "trim"}), file)
    for wrong in ({"skip_rows": -1}, {"skip_rows": True}, {"comment": "##"}, {"comment": "é"}):
        with pytest.raises(v.SettingsError):
            v.check(deal({"k": "trim"}), file, **wrong)


@pytest.mark.filterwarnings("ignore:The DataFrame has column names of mixed type")
def test_wrong_names_in_columns_are_refused() -> None:
    data = pd.DataFrame({"mail": [CANARY], 0: [CANARY]})
    kinds = {
        "mial": v.DataError,
        "": v.DataError,
        0: v.SettingsError,
    }
    agreed = {"agreement": deal()}
    options = [{"columns": {"email": name}, **agreed} for name in kinds]
    options += [{"columns": {name: "mail"}, **agreed} for name in ("emial", 0)]
    expected = [*kinds.values(), v.SettingsError, v.SettingsError]
    errors = all_refused([data] * len(options), *options)
    assert [type(error) for error in errors] == expected
    assert "no column" in str(refused(data, deal()))


def test_what_is_no_frame_is_refused() -> None:
    frames = (
        None,
        7,
        [CANARY],
        {"k": [CANARY]},
        pd.Series([CANARY]),
        pl.Series([CANARY]),
        pa.array([CANARY]),
        pa.chunked_array([[CANARY]]),
        np.array([CANARY]),
        pl.DataFrame({"k": [CANARY]}).lazy(),
        (row for row in [CANARY]),
        duckdb,
        pd.DataFrame,
    )
    for error in all_refused(frames):
        assert isinstance(error, v.DataError)


# Frames that change.


def test_a_frame_that_another_thread_changes_does_not_change_the_run() -> None:
    count = 20_000
    keys = [f"key{n}" for n in range(count)]
    other = arrow_of([f"key{n}" for n in range(0, count, 7)])
    expected = [n % 7 == 0 for n in range(count)]
    for make in (lambda: pd.DataFrame({"k": keys}), lambda: pl.DataFrame({"k": keys})):
        data = make()
        whole = make()
        stop = threading.Event()

        def change(data: Any = data, stop: Any = stop) -> None:
            at = 0
            while not stop.is_set():
                at += 1
                if isinstance(data, pd.DataFrame):
                    data.iloc[at % count, 0] = "changed"
                    data[f"new{at % 5}"] = 1
                else:
                    data[at % count, "k"] = "changed"
                    data.insert_column(0, pl.lit(1).alias(f"new{at}"))
                time.sleep(0.001)

        started = threading.Event()
        thread = threading.Thread(
            target=lambda started=started, change=change: (started.wait(LIMIT), change())
        )
        thread.start()
        # Only after the start: before it, the rows are what the frame has then.
        shop, _ = pair(
            deal("k"), data, other, shop_options={"progress": lambda _, s=started: s.set()}
        )
        stop.set()
        started.set()
        thread.join()
        assert listed(shop.mask) == expected
        rows = shop.rows()
        assert rows["k"].to_list() == whole["k"].to_list()[::7]


# Settings.


def test_settings_that_cannot_be_used(tmp_path: Any) -> None:
    good = pd.DataFrame({"k": [CANARY]})
    agreement = deal("k")
    expired = deal("k", expires="2020-01-01")
    for options in (
        {"key": THIRD},
        {"key": tmp_path / "no.key"},
        {"key": tmp_path},
        {"party": "club"},
        {"party": "nobody"},
        {"connect": None},
        {"listen": free_address()},
        {"connect": "no port"},
        {"connect": "127.0.0.1:99999"},
        {"connect": ""},
        {"wait": -1},
        {"wait": float("nan")},
        {"wait": float("inf")},
        {"idle": 0},
        {"total": 1e300},
        {"threads": 0},
        {"memory": 1},
        {"restart": True},
        {"delimiter": ";;"},
        {"format": "xlsx"},
        {"output": tmp_path / "rows.csv"},
        {"insecure": False},
    ):
        if options in ({"delimiter": ";;"}, {"format": "xlsx"}):
            path = tmp_path / "rows.csv"
            path.write_text(f"k\n{CANARY}\n")
            assert isinstance(refused(path, agreement, **options), v.SettingsError)
        else:
            error = refused(good, agreement, **options)
            assert isinstance(error, (v.SettingsError, v.NetworkError)), (options, error)
    assert isinstance(refused(good, expired), v.SettingsError)
    (tmp_path / "bad.key").write_text(CANARY)
    assert isinstance(refused(good, agreement, key=tmp_path / "bad.key"), v.SettingsError)
    (tmp_path / "bad.toml").write_text(f'version = 2\ntitle = "x"\nsecret = "{CANARY}"\n')
    assert isinstance(refused(good, tmp_path / "bad.toml"), v.SettingsError)
    (tmp_path / "bad.toml").write_bytes(b"\xff\x00")
    assert isinstance(refused(good, tmp_path / "bad.toml"), v.SettingsError)


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "shop.key"
    SHOP.save(path)
    secret = path.read_text().split()[-1]
    os.chmod(path, 0o644)
    error = refused(pd.DataFrame({"k": ["ann"]}), deal("k"), key=path)
    seen(error, secret)
    assert isinstance(error, v.SettingsError)
    assert secret not in repr(SHOP) + str(SHOP) + repr(vars(type(SHOP)))


# Peers.


def test_agreements_that_differ_are_shown_on_both_sides() -> None:
    data = pd.DataFrame({"k": [CANARY, "ann"]})
    address = free_address()
    thread, box = in_thread(one, deal("k", title="one"), data, "shop", listen=address)
    try:
        one(deal("k", title="two"), data, "club", connect=address)
        raise AssertionError("matched")
    except v.AgreementMismatch as error:
        there = seen(error)
    thread.join(LIMIT)
    here = seen(box[0])
    assert isinstance(here, v.AgreementMismatch)
    assert [(one.field, one.here, one.there) for one in here.differences] == [
        ("title", here.differences[0].here, here.differences[0].there)
    ]
    assert "one" in here.differences[0].here
    assert "two" in here.differences[0].there
    assert there.differences[0].here == here.differences[0].there


def test_a_peer_with_another_key_is_refused() -> None:
    data = pd.DataFrame({"k": [CANARY, "ann"]})
    other = v.Agreement.new(
        {"shop": SHOP, "club": THIRD}, "k", receives="all", max_rows=100_000, **QUICK
    )
    address = free_address()
    thread, box = in_thread(one, deal("k"), data, "shop", listen=address, wait=2)
    there = None
    try:
        one(other, data, "club", key=THIRD, connect=address, wait=2)
    except v.VesicaError as error:
        there = seen(error)
    thread.join(LIMIT)
    assert isinstance(there, (v.PeerError, v.NetworkError))
    assert isinstance(seen(box[0]), (v.PeerError, v.NetworkError))


def test_addresses_that_cannot_be_used() -> None:
    data = pd.DataFrame({"k": [CANARY]})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        error = refused(data, deal("k"), connect=None, listen=address)
        assert isinstance(error, (v.SettingsError, v.NetworkError))
        # A peer that sends nothing.
        started = time.monotonic()
        assert isinstance(refused(data, deal("k"), connect=address, wait=1), v.NetworkError)
        assert time.monotonic() - started < 5
    started = time.monotonic()
    assert isinstance(refused(data, deal("k"), wait=0.5), v.NetworkError)
    assert time.monotonic() - started < 3
    assert isinstance(
        refused(data, deal("k"), connect="nowhere.invalid:7400", wait=1), v.VesicaError
    )
    assert isinstance(
        refused(data, deal("k"), connect=None, listen="192.0.2.1:7400", wait=1), v.VesicaError
    )


def test_nobody_comes() -> None:
    started = time.monotonic()
    error = refused(
        pd.DataFrame({"k": ["ann"]}), deal("k"), connect=None, listen=free_address(), wait=0.5
    )
    assert isinstance(error, v.NetworkError)
    assert time.monotonic() - started < 3


def test_bytes_that_are_no_tls_are_no_peer() -> None:
    address = free_address()
    thread, box = in_thread(
        one, deal("k"), pd.DataFrame({"k": ["ann"]}), "shop", listen=address, wait=2
    )
    host, port = address.split(":")
    for _ in range(50):
        try:
            with socket.create_connection((host, int(port)), timeout=1) as noise:
                noise.sendall(CANARY.encode() * 100)
            break
        except OSError:
            time.sleep(0.02)
    thread.join(LIMIT)
    assert isinstance(seen(box[0]), v.NetworkError)


GOES_AWAY = """
import os, signal, sys, threading, pyarrow, vesica as v
where = sys.argv[4]
table = pyarrow.table({"k": [str(n) for n in range(50000)]})
met = threading.Event()
def die(progress=None):
    if progress is None or progress.phase == where:
        os.kill(os.getpid(), signal.SIGKILL)
    if progress.phase == "agreeing":
        met.set()
def rows():
    yield from table.to_batches(max_chunksize=1000)
    if where == "rows":
        met.wait(20)
        die()
data = pyarrow.RecordBatchReader.from_batches(table.schema, rows())
v.run(sys.argv[1], data, key=sys.argv[2], connect=sys.argv[3], progress=die)
"""


@pytest.mark.parametrize("phase", ["connecting", "rows", "matching"])
def test_a_peer_that_is_killed_ends_the_run(phase: str, tmp_path: Any) -> None:
    # A protocol that takes seconds.
    agreement = deal("k", protocol="dh", security="semi-honest")
    agreement.save(tmp_path / "deal.toml")
    CLUB.save(tmp_path / "club.key")
    address = free_address()
    rows = pd.DataFrame({"k": [str(n) for n in range(0, 100_000, 2)]})
    # Enough for the other program to start, and not the wait for it to come back after its end.
    wait = 3 if phase == "connecting" else 12
    thread, box = in_thread(one, agreement, rows, "shop", listen=address, wait=wait)
    away = program(
        GOES_AWAY, str(tmp_path / "deal.toml"), str(tmp_path / "club.key"), address, phase
    )
    status, _, err = end_of(away)
    assert status == -9, err
    ended = time.monotonic()
    thread.join(LIMIT)
    assert isinstance(seen(box[0]), (v.NetworkError, v.PeerError))
    # Another connection is waited for, and no longer.
    assert time.monotonic() - ended < wait + 2


# Results.


def test_files_that_cannot_be_written(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"k\n{CANARY}\nann\n")
    there = tmp_path / "there.csv"
    there.write_text("old")
    folder = tmp_path / "folder"
    for output, kind in ((there, v.DataError), (folder / "rows.csv", v.DataError)):
        error = refused(path, deal("k"), output=output)
        assert isinstance(error, (kind, v.SettingsError))
    assert there.read_text() == "old"

    shop, _ = pair(deal("k"), path, OTHER)
    for write in (shop.write, shop.to_parquet):
        with pytest.raises(v.VesicaError) as caught:
            write(there)
        seen(caught.value)
        with pytest.raises(v.VesicaError) as caught:
            write(folder / "rows.parquet")
        seen(caught.value)
    assert there.read_text() == "old"
    with pytest.raises(v.DataError) as caught:
        shop.rows()
    seen(caught.value)
    path.write_text("k\nchanged\n")
    with pytest.raises(v.DataError) as caught:
        shop.to_arrow()
    seen(caught.value)

    frame = pd.DataFrame({"k": ["ann"], "mixed": [CANARY]}, dtype=object)
    frame.loc[1] = ["bob", 7]
    shop, _ = pair(deal("k"), frame, OTHER)
    for write in (shop.write, shop.to_parquet):
        for bad in (there, folder / "rows.parquet", tmp_path / "mixed.parquet"):
            with pytest.raises(v.VesicaError) as caught:
                write(bad)
            seen(caught.value)
    assert not (tmp_path / "mixed.parquet").exists()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".partial")]
    for convert in (shop.to_arrow, shop.to_polars):
        with pytest.raises(v.VesicaError) as caught:
            convert()
        seen(caught.value)
    assert len(shop.to_pandas()) == 2


def test_shares_that_are_damaged_or_do_not_belong_together(tmp_path: Any) -> None:
    agreement = deal("k", operation="shares")
    data = pd.DataFrame({"k": ["ann", "bob"]})
    one_run, other_run = pair(agreement, data, OTHER), pair(agreement, data, OTHER)
    with pytest.raises(v.DataError) as caught:
        v.combine(one_run[0].shares, other_run[1].shares)
    seen(caught.value)
    with pytest.raises(v.DataError) as caught:
        v.combine(one_run[0].shares, one_run[0].shares)
    seen(caught.value)
    for text in ("", CANARY, "{}", one_run[0].shares.document[:-9]):
        with pytest.raises(v.DataError) as caught:
            v.combine(v.Shares(text), one_run[1].shares)
        seen(caught.value)
    (tmp_path / "shares.json").write_bytes(b"\xff" + CANARY.encode())
    with pytest.raises(v.VesicaError) as caught:
        v.combine(tmp_path / "shares.json", one_run[1].shares)
    seen(caught.value)
    with pytest.raises(v.VesicaError) as caught:
        v.combine(tmp_path / "missing.json", one_run[1].shares)
    seen(caught.value)
    one_run[0].shares.save(tmp_path / "good.json")
    with pytest.raises(v.VesicaError) as caught:
        one_run[0].shares.save(tmp_path / "good.json")
    seen(caught.value)
    with pytest.raises(v.VesicaError) as caught:
        one_run[0].shares.save(tmp_path / "missing" / "good.json")
    seen(caught.value)


def test_results_show_no_cell() -> None:
    data = pd.DataFrame({"k": [CANARY, "ann"]})
    shop, club = pair(deal("k"), data, pa.table({"k": [CANARY]}))
    for result in (shop, club):
        shown = f"{result!r} {result._repr_html_()} {result.report} {result.report._repr_html_()}"
        assert CANARY not in shown + repr(result.overlap) + repr(result.lost)


@pytest.mark.slow
def test_a_column_over_two_gibibytes_loses_no_match() -> None:
    # The cells of the column together have more bytes than offsets of 32 bits can count.
    cell_bytes, chunks, rows = 1 << 10, 70, 1 << 15
    filler = "x" * (cell_bytes - 12)
    parts = [
        pa.array([f"{chunk:04}{row:08}{filler}" for row in range(rows)]) for chunk in range(chunks)
    ]
    table = pa.table({"k": pa.chunked_array(parts)})
    assert table.nbytes > 2**31
    wanted = [f"{chunk:04}{row:08}{filler}" for chunk, row in ((0, 0), (35, 77), (69, rows - 1))]
    at = [0, 35 * rows + 77, chunks * rows - 1]
    agreement = deal("k", max_rows=5_000_000)
    for data in (table, pl.from_arrow(table), table.to_pandas()):
        shop, _ = both(agreement, data, arrow_of([*wanted, "other"]), idle=600, wait=600)
        if isinstance(shop, Exception):
            raise shop
        assert shop.count == 3
        assert listed(shop.positions) == at
        assert len(shop.rows()) == 3
