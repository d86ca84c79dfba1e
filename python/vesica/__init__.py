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

from vesica import exchange
from vesica._agreement import (
    Agreement,
    Columns,
    Explanation,
    Factors,
    Key,
    Party,
    Rule,
    Values,
)
from vesica._check import Checked, check
from vesica._demo import Demo, demo
from vesica._errors import (
    AgreementMismatch,
    Cancelled,
    DataError,
    Difference,
    InternalError,
    NetworkError,
    PeerError,
    SettingsError,
    StateInUse,
    VesicaError,
)
from vesica._figures import Figure
from vesica._helper import Helper, serve_helper
from vesica._identity import Identity
from vesica._progress import Progress
from vesica._result import Report, Result, Shares, combine
from vesica._run import run, run_async
from vesica._together import together
from vesica._vesica import Column, Table, __version__

__all__ = [
    "Agreement",
    "AgreementMismatch",
    "Cancelled",
    "Checked",
    "Column",
    "Columns",
    "DataError",
    "Demo",
    "Difference",
    "Explanation",
    "Factors",
    "Figure",
    "Helper",
    "Identity",
    "InternalError",
    "Key",
    "NetworkError",
    "Party",
    "PeerError",
    "Progress",
    "Report",
    "Result",
    "Rule",
    "SettingsError",
    "Shares",
    "StateInUse",
    "Table",
    "Values",
    "VesicaError",
    "__version__",
    "check",
    "combine",
    "demo",
    "exchange",
    "run",
    "run_async",
    "serve_helper",
    "together",
]
