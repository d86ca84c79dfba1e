"""The bits that say which rows of a cluster are common."""

from __future__ import annotations

import pyarrow as pa
import pytest
from vesica import _vesica

#: Numbers at the ends of words and pieces, and of files, which Spark numbers from multiples of 2^33 on.
ROWS = [0, 1, 63, 64, 65_535, 65_536, (1 << 33) - 1, 1 << 33, 5 * (1 << 33) + 70_000]


@pytest.mark.parametrize("tasks", [1, 7])
@pytest.mark.parametrize("odd", [0, 1])
def test_bits_of_rows(tasks: int, odd: int) -> None:
    marks = pa.table({"row": ROWS, "common": [at % 2 == odd for at in range(len(ROWS))]})
    packed = _vesica.marks(marks.__arrow_c_stream__(), tasks)
    # Twice, as by two attempts.
    packed += packed
    found, total = set(), 0
    pieces_of: dict[int, list[int]] = {}
    for task in range(tasks):
        bits = _vesica.Bits()
        for to, some in packed:
            if to == task:
                bits.add(some)
        pieces, words, common = bits.take()
        total += common
        for piece, its in zip(pieces.to_list(), words.to_list(), strict=True):
            pieces_of.setdefault(piece, []).append(task)
            assert len(its) == 1024
            for at, word in enumerate(its):
                for bit in range(64):
                    # As the DataFrame of the result finds it.
                    if word >> bit & 1:
                        found.add(piece << 16 | at << 6 | bit)
    assert found == set(ROWS[odd::2])
    assert total == len(found)
    # One task has all of a piece, and there are pieces without a common row.
    assert all(len(tasks) == 1 for tasks in pieces_of.values())
    assert sorted(pieces_of) == sorted({row >> 16 for row in ROWS})
