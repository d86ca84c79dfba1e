"""Many runs leave no memory, thread or open file behind."""

from __future__ import annotations

import gc
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import vesica as v
from support import (
    deal,
    free_address,
    listed,
    one,
    pair,
)

OTHER = pa.table({"k": ["1", "x"]})


def test_many_runs_leave_nothing_behind() -> None:
    data = pd.DataFrame({"k": [str(n) for n in range(500)]})
    agreement = deal("k")

    def some(count: int) -> None:
        for _ in range(count):
            shop, club = pair(agreement, data, OTHER)
            shop.rows()
            listed(club.mask)

    def resident() -> int:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    some(60)
    descriptors, threads, before = len(os.listdir("/proc/self/fd")), tasks(), resident()
    some(200)
    grown = resident() - before
    deadline = time.monotonic() + 5
    while tasks() > threads and time.monotonic() < deadline:
        time.sleep(0.05)
    assert tasks() <= threads
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    # About 20 kB a run would be 4 MB.
    assert grown < 4 << 20, f"{grown:,} bytes more after 200 runs"


def tasks() -> int:
    return len(os.listdir("/proc/self/task")) - threading.active_count()


def test_failed_runs_leave_nothing_behind() -> None:
    table = pa.table({"k": ["1", "2"]})

    def broken() -> Any:
        yield from table.to_batches()
        raise ValueError

    def some(count: int) -> None:
        def fails(_: int) -> None:
            reader = pa.RecordBatchReader.from_batches(table.schema, broken())
            with pytest.raises(v.DataError):
                one(deal("k"), reader, "shop", listen=free_address())

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(fails, range(count)))

    some(8)
    descriptors = len(os.listdir("/proc/self/fd"))
    some(32)
    assert len(os.listdir("/proc/self/fd")) <= descriptors
