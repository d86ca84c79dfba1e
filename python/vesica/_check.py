"""Checks before a run: the rows, and whether the other parties are connected."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from vesica import _vesica
from vesica._errors import SettingsError
from vesica._figures import Figure, bars
from vesica._html import table
from vesica._identity import Identity
from vesica._names import takes
from vesica._options import Options, Time
from vesica._progress import Callback, Follower, display
from vesica._run import (
    GRACE,
    LONGEST,
    TICK,
    WAIT,
    agreement_of,
    check_process,
    idle_seconds,
    key_of,
    names_of,
    needed,
    path_of,
    seconds,
)

#: Rows whose shapes are counted, by default.
SHAPE_ROWS = 100_000


class Checked:
    """The results of a check: counts, names, places and shapes, never a value."""

    __slots__ = (
        "data",
        "distinct",
        "fates",
        "hint",
        "needs",
        "ok",
        "present",
        "rows",
        "shapes",
        "warnings",
        "why",
    )

    data: dict[str, Any]
    """All results."""
    present: list[str] | None
    """The parties that were connected, if the check was asked to connect."""
    ok: bool
    """Whether a run would take these rows now."""
    why: str | None
    """Why a run would refuse these rows."""
    hint: str | None
    """What to do about it."""
    warnings: list[str]
    """What may cost matches or cause wrong ones: placeholders, a profile that refuses many values, ..."""
    rows: int
    """Rows of the input."""
    distinct: int | None
    """Different keys; None if there are too many to count them here (above 16 million)."""
    needs: dict[str, int | None] | None
    """What a run takes of the machine, in bytes: disk at most, free disk, least memory.

    None if it cannot be known before the run: for operations other than intersections, with a
    helper, and if the party is not known.
    """
    shapes: dict[str, dict[str, int]]
    """For each key column the shapes of its values, with the number of rows.

    ``Aa+@a+.a+`` means a letter, more letters, an @, letters, a point, letters.
    """
    fates: dict[str, int]
    """The fates of the rows: how many have a key, and how many were left out and why."""

    def __init__(self, found: _vesica.Checked, present: list[str] | None) -> None:
        self.data = found.data()
        self.present = present
        self.ok = found.refusal is None
        self.why, self.hint = found.refusal or (None, None)
        self.warnings = found.warnings
        self.rows = found.counts.rows
        self.distinct = found.distinct
        self.needs = needs_of(found.needs)
        self.shapes = {column: dict(shapes) for column, shapes in found.shapes}
        self.fates = fates_of(found)

    @property
    def lost(self) -> Figure:
        """`fates` as bars."""
        return bars(list(self.fates.items()))

    def _figures(self) -> list[tuple[str, object]]:
        lines: list[tuple[str, object]] = [("rows", f"{self.rows:,}")]
        lines.extend((name, f"{count:,}") for name, count in self.fates.items())
        for column, shapes in self.shapes.items():
            lines.extend(
                (f"{column} like", f"{shape or '(empty)'}  ({n:,})") for shape, n in shapes.items()
            )
        if self.needs is not None and self.needs["disk"]:
            lines.append(("disk", f"{self.needs['disk']:,} of {self.needs['free_disk']:,} bytes"))
        if self.present is not None:
            lines.append(("there", ", ".join(self.present) or "no party yet"))
        lines.extend(("warning", text) for text in self.warnings)
        lines.append(("a run would", "take these rows" if self.ok else f"refuse: {self.why}"))
        return lines

    def __repr__(self) -> str:
        lines = (f"{name:>24}  {value}" for name, value in self._figures())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return table("Check", self._figures())


def needs_of(needs: _vesica.Needs | None) -> dict[str, int | None] | None:
    if needs is None:
        return None
    return {
        "disk": needs.disk,
        "free_disk": needs.free_disk,
        "least_memory": needs.least_memory,
    }


def fates_of(found: _vesica.Checked) -> dict[str, int]:
    counts, parts = found.counts, {}
    if found.distinct is not None:
        parts["different keys"] = found.distinct
        parts["with a key seen before"] = found.duplicates
    else:
        parts["with a key"] = counts.rows - counts.empty - counts.refused
    parts["without a key"] = counts.empty
    for column, reason, count in counts.refused_by:
        parts[f"{column}: {reason}"] = count
    return {name: count for at, (name, count) in enumerate(parts.items()) if count or at == 0}


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CheckOptions(Options):
    """The arguments of `check`."""

    key: Identity | str | os.PathLike[str] | None = None
    wait: Time = WAIT
    rows: int = SHAPE_ROWS


@takes(CheckOptions)
def check(options: CheckOptions) -> Checked:
    """Check `data` before a run, and optionally the connection to the other side.

    Counts the rows with a key, without one, and with one that its profile refuses, and shows the
    shapes of the values, but no value. With `connect` or `listen` it also connects to the other side,
    which must make the same call, and compares the agreements; no data is sent. With a helper,
    `connect` asks the helper whether it would accept this party, and which parties are connected.

    The arguments are those of `run`; `rows` is the number of rows whose shapes are counted.

    Raises:
        DataError: The data cannot be read. Rows that a run would refuse do not raise: see
            `Checked.ok`.
    """
    check_process()
    agreed = agreement_of(options.agreement)
    identity = None if options.key is None else key_of(options.key)
    mapped = names_of(options.columns)
    if options.rows < 1:
        raise SettingsError("rows is at least 1", "leave it out for the default")
    who = options.party if identity is None else agreed.party_of(identity)
    rows = options.frame()
    given = rows.input(needed(agreed, who, mapped))
    inner = None if identity is None else identity._inner
    running = _vesica.Running.check(
        agreed._inner,
        inner,
        given,
        mapped,
        party=options.party,
        strict=options.strict,
        shape_rows=options.rows,
        memory=options.memory,
        scratch=path_of(options.scratch),
        refused=path_of(options.refused),
    )
    follow(running, options.progress)
    found = running.finish_check()
    if options.connect is None and options.listen is None:
        return Checked(found, None)
    if identity is None:
        raise SettingsError("connecting to the other side needs a key", "give key=")
    reaching = _vesica.Running.reach(
        agreed._inner,
        identity._inner,
        listen=options.listen,
        connect=options.connect,
        proxy=options.proxy,
        wait=seconds("wait", options.wait) or LONGEST,
        idle=idle_seconds(options.idle),
    )
    follow(reaching, options.progress)
    return Checked(found, reaching.finish_reach())


def follow(running: _vesica.Running, progress: bool | Callback) -> None:
    """Wait for the end of `running`, and show its progress."""
    follower = Follower(display(progress), "the other side")
    try:
        while not running.wait(TICK):
            follower.follow(running.notes())
    except BaseException:
        running.cancel()
        running.wait(GRACE)
        raise
    finally:
        follower.close()
