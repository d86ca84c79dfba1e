"""The folder of a run's state, which one call at a time uses."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
import vesica as v
from support import LIMIT, deal, one


def test_a_state_in_use_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "between").mkdir()
    agreement, table = deal(), pa.table({"email": ["a@x.org"]})
    settings = {"exchange": tmp_path / "between", "state": tmp_path / "state", "wait": 5}
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(one, agreement, table, "shop", **settings)
        until = time.monotonic() + LIMIT
        while not (tmp_path / "state" / "meeting").exists():
            assert time.monotonic() < until and not waits.done()
            time.sleep(0.01)
        with pytest.raises(v.StateInUse, match="already running") as refused:
            one(agreement, table, "shop", **settings)
        assert refused.value.hint
        # The first one waits for the other side as before.
        assert isinstance(waits.exception(), v.NetworkError)
    assert issubclass(v.StateInUse, v.SettingsError)
