"""Agreements: what the parties compute together, and who learns it."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from vesica import _vesica


class Key(NamedTuple):
    """A column of the key, and the profile that makes equal what is spelled differently."""

    name: str
    profile: str


class Party(NamedTuple):
    """A party of an agreement."""

    name: str
    identity: str
    min_rows: int
    max_rows: int


class Agreement:
    """A checked agreement. All parties have the same one."""

    __slots__ = ("_inner", "_text")

    def __init__(self, text: str) -> None:
        self._inner = _vesica.Agreement.parse(text)
        self._text = text

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Agreement:
        """Read the file of an agreement (TOML)."""
        inner = _vesica.Agreement.load(os.fspath(path))
        agreement = object.__new__(Agreement)
        agreement._inner = inner
        agreement._text = inner.canonical
        return agreement

    @property
    def hash(self) -> str:
        """Names this agreement: parties whose hashes are the same have agreed on the same."""
        return self._inner.hash

    @property
    def title(self) -> str:
        return self._inner.title

    @property
    def operation(self) -> str:
        return self._inner.operation

    @property
    def parties(self) -> list[Party]:
        return [Party(*party) for party in self._inner.parties]

    @property
    def keys(self) -> list[Key]:
        return [Key(*key) for key in self._inner.keys]

    def explain(self) -> str:
        """In plain words: who learns what, what is assumed, what it costs, what is not protected."""
        return self._inner.explain()[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Agreement) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"Agreement({self.title!r}, {self.operation}, hash {self.hash[:16]})"
