"""What a party has learned."""

from __future__ import annotations

import json
from typing import Any

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._frames import Frame


class Report(dict[str, Any]):
    """What a run did: counts, times and parameters, never a key or a row. The JSON of the command."""


class Result:
    """What this party has learned from a run."""

    __slots__ = ("_frame", "_outcome", "_report", "agreement")

    def __init__(self, outcome: _vesica.Outcome, frame: Frame, agreement: Agreement) -> None:
        self._outcome = outcome
        self._frame = frame
        self._report: Report | None = None
        self.agreement = agreement

    @property
    def report(self) -> Report:
        """What the run did."""
        if self._report is None:
            self._report = Report(json.loads(self._outcome.report))
        return self._report

    @property
    def count(self) -> int | None:
        """How many different keys are in common; None if this party does not learn it."""
        return self._outcome.keys_in_common

    @property
    def mask(self) -> Any:
        """For each row of the input, whether its key is in common: a column of the input's library."""
        mask = self._outcome.mask()
        return None if mask is None else self._frame.column(mask)

    @property
    def positions(self) -> Any:
        """The rows whose key is in common, counted from 0: a column of the input's library."""
        positions = self._outcome.positions()
        return None if positions is None else self._frame.column(positions)

    def rows(self) -> Any:
        """The own rows whose key is in common, as a frame of the input's kind."""
        mask = self._outcome.mask()
        return None if mask is None else self._frame.filter(mask)

    @property
    def sums(self) -> dict[str, int] | None:
        """The sum of each column of values over the common keys."""
        sums = self._outcome.sums
        return None if sums is None else dict(sums)
