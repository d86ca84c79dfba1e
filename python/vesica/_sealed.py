"""Secrets of a run in transit between the driver and the tasks of a job.

Spark keeps the closure of a task, and what a task returns, in memory and in files below `spark.local.dir`, and sends
both over the network: all this in the clear by default. So a closure has only a key. The key decrypts a file in `work`,
which is deleted after the job; neither is of use without the other. What tasks return is encrypted under the same key.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from typing import Any

from vesica import _vesica
from vesica._errors import DataError
from vesica._work import Work

#: The folder of these files, below the folder of the rows.
FOLDER = "orders"


class Sealed:
    """A file with an order for each task. Tasks receive this object in their closures."""

    def __init__(self, files: Any, path: str, key: bytes, places: list[tuple[int, int]]) -> None:
        self.files, self.path, self.key, self.places = files, path, key, places

    def order(self, number: int) -> Any:
        """The order with this number."""
        start, length = self.places[number]
        with self.files.open_input_file(self.path) as file:
            sealed = file.read_at(length, start)
        order = _vesica.unseal(self.key, True, number, sealed)
        if order is None:
            raise DataError(
                "the order of a task is not the one that the driver wrote",
                "no other user may write to work; make the same call again",
            )
        return json.loads(order)

    def seal(self, number: int, given: str) -> bytes:
        """Encrypt what a task returns."""
        return _vesica.seal(self.key, False, number, given.encode())

    def unseal(self, number: int, sealed: bytes) -> str:
        given = _vesica.unseal(self.key, False, number, sealed)
        if given is None:
            raise DataError("what a task returned is damaged", "make the same call again")
        return given.decode()


@contextlib.contextmanager
def sealed_in(work: Work, rows: str, orders: list[Any]) -> Iterator[Sealed]:
    """A file in the folder `rows` of `work` with these orders, one for each task; deleted after the job."""
    key, name = os.urandom(32), f"{rows}/{FOLDER}/{uuid.uuid4().hex}"
    whole, places = bytearray(), []
    for number, order in enumerate(orders):
        sealed = _vesica.seal(key, True, number, json.dumps(order).encode())
        places.append((len(whole), len(sealed)))
        whole += sealed
    work.create(f"{rows}/{FOLDER}")
    work.put(name, bytes(whole))
    try:
        yield Sealed(work.files, work.below(name), key, places)
    finally:
        work.forget(name)
