"""The progress of a run: a bar, a callback, the log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from vesica import _vesica

LOG = logging.getLogger("vesica")

#: After this many seconds of waiting, a run prints once whom it waits for.
PATIENCE = 5.0

Note = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    phase: str
    """The phase: ``reading``, ``connecting``, ``agreeing``, ``sizes``, ``matching``, ..."""
    step: str = ""
    """The step within it, such as ``matching/points``; empty at the start of a phase."""
    done: int = 0
    """How much of the step is done: rows or items."""
    total: int = 0
    """How much there is; 0 if it is not known."""


Callback: TypeAlias = Callable[[Progress], object]


class Display(Protocol):
    """Something that shows progress."""

    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Shows nothing."""

    def show(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Calls:
    """Passes progress to a function."""

    def __init__(self, function: Callback) -> None:
        self._function = function

    def show(self, progress: Progress) -> None:
        self._function(progress)

    def close(self) -> None:
        pass


class Lines:
    """Prints a line for each phase, where tqdm is not installed."""

    def __init__(self) -> None:
        self._phase = ""

    def show(self, progress: Progress) -> None:
        if progress.phase != self._phase:
            self._phase = progress.phase
            print(f"vesica: {progress.phase}", file=sys.stderr)

    def close(self) -> None:
        pass


class Bars:
    """A bar of tqdm for each step."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._step = ""

    def show(self, progress: Progress) -> None:
        step = progress.step
        if not step:
            # A phase that has no steps would be an empty bar.
            return
        if step != self._step or self._bar is None:
            self.close()
            self._step = step
            self._bar = self._tqdm(desc=step.replace("/", ": "), total=None, unit_scale=True)
        if progress.total and self._bar.total != progress.total:
            self._bar.total = progress.total
        self._bar.update(max(0, progress.done - self._bar.n))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def display(progress: bool | Callback) -> Display:
    """The display for this value of the argument ``progress``."""
    if callable(progress):
        return Calls(progress)
    if not progress:
        return Silent()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Lines()
    return Bars(tqdm)


LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO}


def log_pending() -> None:
    """Pass the log lines of the native module on to `logging`."""
    for level, text in _vesica.log_lines():
        LOG.log(LEVELS[level], "%s", text)


class Follower:
    """Turns the notes of a run into progress and log lines."""

    def __init__(self, shown: Display, peer: str) -> None:
        self._shown = shown
        self._peer = peer
        #: The address at which the run listens, once it does.
        self.address: str | None = None
        #: Whom the run waits for, since when, and whether it was printed.
        self._awaited: str | None = None
        self._since = 0.0
        self._has_logged = False

    def close(self) -> None:
        self._shown.close()

    def _wait_for(self, awaited: str | None) -> None:
        if awaited != self._awaited:
            self._awaited, self._since = awaited, time.monotonic()

    def _say_whom(self) -> None:
        """Log once whom a long wait is for: on standard error if `logging` is not configured."""
        is_long = self._awaited and time.monotonic() - self._since >= PATIENCE
        if is_long and not self._has_logged:
            self._has_logged = True
            place = f" on {self.address}" if self.address else ""
            LOG.warning("waiting for %s%s; Ctrl-C ends the wait", self._awaited, place)

    def follow(self, notes: list[Note]) -> None:
        """Show and log what has happened."""
        log_pending()
        for kind, text, one, two in notes:
            if kind == "phase":
                self._wait_for(None)
                LOG.info("%s", text)
                self._shown.show(Progress(text))
            elif kind == "step":
                phase = text.split("/")[0]
                self._wait_for(self._peer if phase == "waiting" else None)
                self._shown.show(Progress(phase, text, one, two))
            elif kind == "listening":
                self.address = text
                LOG.info("listening on %s for %s", text, self._peer)
            elif kind == "connected":
                self._wait_for(None)
                LOG.info("connected to %s at %s", self._peer, text)
            elif kind == "keys":
                LOG.info("read %d rows", two)
            elif kind == "sizes":
                LOG.info("%d keys here, %d at %s", one, two, self._peer)
            elif kind == "protocol":
                LOG.info("protocol %s", text)
            elif kind == "checked":
                LOG.info("the result is checked")
            elif kind == "waiting":
                self._wait_for(text or None)
                LOG.info("waiting for %s", text or f"{self._peer}, which compares the lists")
            elif kind == "state":
                LOG.info("the state of the run is in %s", text)
            elif kind == "warning":
                LOG.warning("%s", text)
        self._say_whom()
