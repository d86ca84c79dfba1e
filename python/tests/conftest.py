"""What tests of runs share: identities, agreements, addresses, and both sides of a run in one process."""

from __future__ import annotations

import concurrent.futures
import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import vesica as v

Agreements = Callable[..., v.Agreement]
Pair = Callable[..., tuple[v.Result, v.Result]]

#: How long the parties of a test wait for each other, in seconds: a test that hangs fails.
WAIT = 60


@pytest.fixture(scope="session")
def identities() -> dict[str, v.Identity]:
    """The keys of both parties, by their names."""
    return {name: v.Identity.generate() for name in ("shop", "club")}


@pytest.fixture
def agreement(identities: Mapping[str, v.Identity]) -> Agreements:
    """Makes an agreement of both parties; `receives` is "shop", "club" or "all", and options are those of `new`."""

    def make(receives: str = "shop", keys: Any = "email", **options: Any) -> v.Agreement:
        return v.Agreement.new(identities, keys, receives=receives, **{"max_rows": 1000, **options})

    return make


@pytest.fixture
def address() -> str:
    """An address of this machine with a port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def pair(identities: Mapping[str, v.Identity], address: str) -> Pair:
    """Runs both parties over TLS: ``pair(agreement, rows of the shop, rows of the club)`` returns their results.

    `options` are arguments of `vesica.run` for both, those in `shop` and `club` for one. The first
    error is raised; the other side's is its cause.
    """

    def run(
        agreement: v.Agreement,
        shop_rows: Any,
        club_rows: Any,
        shop: Mapping[str, Any] | None = None,
        club: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> tuple[v.Result, v.Result]:
        errors: list[BaseException] = []

        def side(rows: Any, name: str, own: Mapping[str, Any] | None, **place: str) -> v.Result:
            arguments = {"wait": WAIT, "idle": WAIT, **place, **options, **(own or {})}
            try:
                return v.run(agreement, rows, key=identities[name], **arguments)
            except BaseException as error:
                errors.append(error)
                raise

        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            sides = (
                threads.submit(side, shop_rows, "shop", shop, listen=address),
                threads.submit(side, club_rows, "club", club, connect=address),
            )
        if errors:
            raise errors[0] from (errors[1] if len(errors) > 1 else errors[0].__cause__)
        return sides[0].result(), sides[1].result()

    return run
