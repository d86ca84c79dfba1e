"""Key files."""

from __future__ import annotations

import os
from typing import NoReturn

from vesica import _vesica


class Identity:
    """A secret key, which proves to the other parties who you are.

    >>> me = Identity.generate()
    >>> me
    Identity('vesica1...')
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: _vesica.Identity) -> None:
        self._inner = inner

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Identity:
        """Read a key file. Only its owner may be able to read it."""
        return Identity(_vesica.Identity.load(os.fspath(path)))

    @staticmethod
    def generate(path: str | os.PathLike[str] | None = None) -> Identity:
        """Make a new key, and save it if a path is given. An existing file is never replaced."""
        identity = Identity(_vesica.Identity.generate())
        if path is not None:
            identity.save(path)
        return identity

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key file, which only its owner can read."""
        self._inner.save(os.fspath(path))

    @property
    def public(self) -> str:
        """The public half, for the agreement and the other side: ``vesica1...``."""
        return self._inner.public

    def __repr__(self) -> str:
        return f"Identity({self.public!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.public == self.public

    def __hash__(self) -> int:
        return hash(self.public)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret key is not pickled: give the path of the key file")
