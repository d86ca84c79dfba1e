"""The helper: a service that the parties of a run connect to."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from vesica import _vesica
from vesica._agreement import one_party, quoted, section
from vesica._identity import Identity
from vesica._progress import log_pending
from vesica._run import check_process, key_of

#: How often log lines of the service go to `logging`, in seconds.
LOG_EVERY = 0.2


class Helper:
    """A helper that serves its parties until it is closed, or until the end of its ``with`` block.

    It finds the keys that all parties of a run have in common, and sees neither keys nor rows. The
    parties rely on it not to collude with any of them.
    """

    def __init__(self, service: _vesica.Service) -> None:
        self._service = service
        self._closing = threading.Event()
        self._logs = threading.Thread(target=self._log, name="vesica-log", daemon=True)
        self._logs.start()

    @property
    def address(self) -> str:
        """The address that parties connect to, ``host:port``."""
        return self._service.addresses[0]

    @property
    def metrics(self) -> str | None:
        """The address of the pages ``/healthz``, ``/readyz`` and ``/metrics``."""
        return self._service.metrics

    def close(self) -> None:
        """End the service. Runs continue when a helper is started again with the same settings."""
        self._service.close()
        self._closing.set()
        self._logs.join()

    def _log(self) -> None:
        while not self._closing.wait(LOG_EVERY):
            log_pending()
        log_pending()

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Helper at {self.address}>"


def serve_helper(
    config: str | os.PathLike[str] | Mapping[str, str | Identity | Mapping[str, Any]],
    *,
    key: Identity | str | os.PathLike[str],
    listen: str | None = None,
    state: str | os.PathLike[str] | None = None,
    backend: str | None = None,
    metrics: bool = True,
) -> Helper:
    """Serve parties as the helper of their runs, like ``vesica helper``, on background threads.

    `config` is its settings file (TOML) with a table for each party, or the public identity of each
    party by its name (or a mapping with ``identity``, ``max_rows`` and other limits). The other
    arguments take precedence over a file. Its log lines go to the logger ``vesica``.

        with v.serve_helper("helper.toml", key="helper.key") as helper:
            print(helper.address)
            ...
    """
    check_process()
    return Helper(
        _vesica.Service.start(
            None if isinstance(config, Mapping) else os.fspath(config),
            settings_of(config) if isinstance(config, Mapping) else "",
            key_of(key)._inner,
            listen,
            None if state is None else os.fspath(state),
            backend,
            not metrics,
        )
    )


def settings_of(parties: Mapping[str, str | Identity | Mapping[str, Any]]) -> str:
    """The text of a settings file that serves these parties."""
    return "\n".join(
        section(f"party.{quoted(name)}", one_party(party)) for name, party in parties.items()
    )
