"""What an order of a run to executors has in addition to its tasks: where the items of their partitions are."""

from __future__ import annotations

from typing import Any


class Bucket:
    """The location of a bucket's items."""

    def __init__(self, file: str, position: int, entries: int, distinct: int, digest: bytes):
        self.file, self.position = file, position
        self.entries, self.distinct, self.digest = entries, distinct, digest

    def to_order(self) -> list[Any]:
        """For the order of a task."""
        return [self.file, self.position, self.entries, self.distinct, self.digest.hex()]

    @classmethod
    def of_order(cls, order: list[Any]) -> Bucket:
        file, position, entries, distinct, digest = order
        return cls(file, position, entries, distinct, bytes.fromhex(digest))
