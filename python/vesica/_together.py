"""All sides of a run in one process, for tests and for teaching."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from vesica._agreement import Agreement
from vesica._errors import NetworkError, SettingsError, VesicaError
from vesica._identity import Identity
from vesica._names import check_names
from vesica._options import RunOptions
from vesica._result import Result
from vesica._run import TICK, Started, agreement_of


def together(
    agreement: Agreement | str | os.PathLike[str],
    data: Mapping[str, Any],
    keys: Mapping[str, Identity | str | os.PathLike[str]],
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    connect: str | None = None,
    **arguments: Any,
) -> dict[str, Result]:
    """Run all sides of `agreement` in this process, over TLS, and return what each of them learns.

    For tests and for teaching only: the caller has the data of all parties. `data` has the data of
    each party by the party's name, `keys` its key, and `columns` its names of columns. The other
    arguments are those of `run`, and the same for all sides. With a helper, `connect` is its address.
    ``progress=True`` shows the bars of the first party of `data`.

    >>> shop, club = Identity.generate(), Identity.generate()
    >>> deal = Agreement.new({"shop": shop, "club": club})
    >>> together(deal, {"shop": "shop.csv", "club": "club.csv"}, {"shop": shop, "club": club})
    Traceback (most recent call last):
    vesica._errors.DataError: the input file shop.csv does not exist
    hint: check the name and the directory you are in
    """
    agreed = agreement_of(agreement)
    names = [party.name for party in agreed.parties]
    for given, what in ((data, "data"), (keys, "keys")):
        if set(given) != set(names):
            raise SettingsError(
                f"{what} needs one entry for each party", f"the parties are {', '.join(names)}"
            )
    check_names("together", arguments, optional())
    # Only one party's bars: several would overwrite each other.
    shown = arguments.pop("progress", RunOptions.progress)
    running: dict[str, Started] = {}
    try:
        # The first side listens; the other one connects to its port.
        for name in data:
            place = {"connect": connect, "listen": None}
            if agreed.helper is None:
                first = next(iter(running.values()), None)
                address = first.listening() if first else None
                place = {"connect": address, "listen": None if first else "127.0.0.1:0"}
            mapped = (columns or {}).get(name)
            own = {
                "party": name,
                "columns": mapped,
                "progress": shown if callable(shown) or not running else False,
            }
            given = {**arguments, **place, **own}
            running[name] = Started(RunOptions(agreed, data[name], key=keys[name], **given))
        while not all(side.running.wait(TICK) for side in running.values()):
            for side in running.values():
                side.follow()
        return finished(running)
    except BaseException:
        for side in running.values():
            side.running.cancel()
        for side in running.values():
            side.stop()
        raise
    finally:
        for side in running.values():
            side.close()


def finished(running: Mapping[str, Started]) -> dict[str, Result]:
    """The results, or the exception of the side that caused the failure."""
    results: dict[str, Result] = {}
    failures: list[VesicaError] = []
    for name, side in running.items():
        try:
            results[name] = side.finish()
        except VesicaError as error:
            failures.append(error)
    # If one side ends, the other sees a broken connection.
    failures.sort(key=lambda error: isinstance(error, NetworkError))
    if failures:
        raise failures[0]
    return results


def optional() -> list[str]:
    """The names of the arguments of `run` that have a default."""
    fields = dataclasses.fields(RunOptions)
    return [one.name for one in fields if one.default is not dataclasses.MISSING]
