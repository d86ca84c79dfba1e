"""What an order of a run to executors consists of: the tasks of its partitions, and where their items are."""

from __future__ import annotations

import json
from typing import Any


class Task:
    """A task that the run gives to executors, with what Python needs to know of it."""

    text: str
    """The task, as the native module writes and reads it."""
    part: int
    """The partition that it advances."""
    kept: list[str]
    """The files with the messages that it reads."""

    def __init__(self, text: str) -> None:
        task = json.loads(text)
        self.text, self.part = text, task["part"]
        self.kept = [heard["Kept"][0] for heard in task["heard"] if "Kept" in heard]


def partitions_of(orders: str) -> int:
    """How many partitions the run has, by what the native module says to all tasks."""
    partitions: int = json.loads(orders)["partitions"]
    return partitions


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
