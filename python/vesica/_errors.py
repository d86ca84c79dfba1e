"""Exceptions. The class determines who must act; ``hint`` says what to do."""

from __future__ import annotations

import os
from typing import NamedTuple, TypeVar


class Difference(NamedTuple):
    """A field in which the agreements of two parties differ."""

    field: str
    here: str | None
    there: str | None


class VesicaError(Exception):
    """Any failure of this package.

    Its texts name files, columns, row numbers and parties; never a key or the value of a cell.
    """

    hint: str
    """What to do next."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        differences: list[tuple[str, str | None, str | None]] | None = None,
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self._differences = [Difference(*one) for one in differences or []]
        if hint:
            self.add_note(f"hint: {hint}")

    def __reduce__(
        self,
    ) -> tuple[type[VesicaError], tuple[str, str, list[Difference]]]:
        return type(self), (str(self), self.hint, self._differences)


class DataError(VesicaError):
    """Your data, or the place for the result, cannot be used."""


class SettingsError(VesicaError):
    """Your settings: the agreement, the key, an address or another argument."""


class StateInUse(SettingsError):
    """Another call or process uses the folder of the state: the same call can succeed once that one has ended."""


class PeerError(VesicaError):
    """The other side, or the helper, broke the protocol, or refuses. Find out why before you try again."""


class AgreementMismatch(PeerError):
    """The two sides' agreements, or programs, differ. Both sides must act."""

    @property
    def differences(self) -> list[Difference]:
        """The fields that differ, with the value here and the value there."""
        return self._differences


class NetworkError(VesicaError):
    """The connection could not be made, or failed."""


class Cancelled(VesicaError):
    """The run was asked to stop."""


class InternalError(VesicaError):
    """A defect of Vesica."""


E = TypeVar("E", bound=VesicaError)


def unwritable(kind: type[E], path: str | os.PathLike[str], error: OSError) -> E:
    """The exception for a file that cannot be written."""
    return kind(
        f"{os.fspath(path)} cannot be written: {error.strerror or type(error).__name__}",
        "check the name, the folder and its permissions",
    )
