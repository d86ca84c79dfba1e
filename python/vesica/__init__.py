"""Match a data frame with another organisation's, and learn only what you have in common.

>>> import vesica as v
>>> me = v.Identity.generate()
>>> me.public.startswith("vesica1")
True

A run takes an agreement that all parties have, the own rows, and the own key:

    deal = v.Agreement.load("agreement.toml")
    r = v.run(deal, df, key="grocer.key", connect="airline.example:7400")
    r.rows()

``help(v.run)`` says what else it takes; ``v.demo()`` runs both sides in this process.
"""

from vesica._agreement import Agreement, Key, Party
from vesica._errors import (
    AgreementMismatch,
    Cancelled,
    DataError,
    Difference,
    InternalError,
    NetworkError,
    PeerError,
    SettingsError,
    VesicaError,
)
from vesica._identity import Identity
from vesica._progress import Progress
from vesica._result import Report, Result
from vesica._run import run, run_async
from vesica._vesica import __version__

__all__ = [
    "Agreement",
    "AgreementMismatch",
    "Cancelled",
    "DataError",
    "Difference",
    "Identity",
    "InternalError",
    "Key",
    "NetworkError",
    "Party",
    "PeerError",
    "Progress",
    "Report",
    "Result",
    "SettingsError",
    "VesicaError",
    "__version__",
    "run",
    "run_async",
]
