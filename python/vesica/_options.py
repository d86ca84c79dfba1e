"""The arguments of runs and of checks, each written once.

The types here are not texts, as they are elsewhere: `help` shows them, in modules without their names.
"""

import datetime
import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from vesica._agreement import Agreement
from vesica._frames import Frame, frame
from vesica._identity import Identity
from vesica._progress import Callback
from vesica.exchange import Place

#: A time in seconds, or as a timedelta.
Time = float | datetime.timedelta


# No text of them: `proxy` may have a password, and `data` may be large.
@dataclass(frozen=True, repr=False, eq=False)
class Options:
    """The arguments that a run and a check share. `vesica.run` describes them."""

    agreement: Agreement | str | os.PathLike[str]
    data: Any
    _: KW_ONLY
    key: Identity | str | os.PathLike[str] | None
    columns: Mapping[str, str] | None = None
    connect: str | None = None
    listen: str | None = None
    proxy: str | None = None
    progress: bool | Callback = False
    party: str | None = None
    idle: Time = 60.0
    strict: bool = False
    memory: int | str | None = None
    scratch: str | os.PathLike[str] | None = None
    refused: str | os.PathLike[str] | None = None
    delimiter: str | None = None
    header: bool = True
    format: str | None = None
    skip_rows: int = 0
    comment: str | None = None

    def frame(self) -> Frame:
        """The rows of `data`."""
        return frame(
            self.data, self.delimiter, self.header, self.format, self.skip_rows, self.comment
        )


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class RunOptions(Options):
    """The arguments of `vesica.run`, which describes them."""

    key: Identity | str | os.PathLike[str]
    exchange: Place | None = None
    wait: Time | None = None
    total: Time = 0.0
    threads: int | None = None
    insecure: bool = False
    output: str | os.PathLike[str] | None = None
    mark: str | None = None
    force: bool = False
    state: str | os.PathLike[str] | None = None
    restart: bool = False
