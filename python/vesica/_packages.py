"""Whether Spark's driver and executors have the packages that a run on executors needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vesica import _vesica
from vesica._errors import SettingsError

#: What executors import.
PACKAGE = "vesica"
#: Most tasks that look for it: one for each core; an executor has several cores.
LOOKS = 64


def check_packages() -> None:
    """Refuse executors if Spark does not accept the installed packages: it needs pandas for Python on executors.

    Raises:
        SettingsError: A package is missing or too old.
    """
    missing = ""
    try:
        # Type checkers may run without Spark.
        from pyspark.sql.pandas import utils  # pyright: ignore[reportMissingImports]

        for name in ("pyarrow", "pandas"):
            missing = name
            getattr(utils, f"require_minimum_{name}_version")()
        return
    except ImportError as error:
        # Before 4.0, Spark uses a module that Python 3.12 removed.
        if error.name == "distutils":
            missing = "setuptools"
    raise SettingsError(
        f"executors need {missing}, which Spark does not find, or not in a version that it accepts",
        f"pip install -U {missing}, on the driver and on executors; or on_executors=False: the driver does the work",
    )


def check_executors(spark: Any, cores: int) -> None:
    """Refuse executors that do not have this package in the driver's version. Checks the executors that `cores` short
    tasks at once reach.

    Raises:
        SettingsError: Some lack it, or have another version; or Spark cannot run a Python task there.
    """
    tasks = min(max(cores, 1), LOOKS)
    found: set[str] = set()
    failed = ""
    try:
        numbers = spark.range(0, tasks, 1, tasks)
        rows = numbers.mapInArrow(looks_for(PACKAGE), "found string").collect()
        found = {row[0] for row in rows}
    except Exception as error:
        failed = type(error).__name__
    if failed:
        raise SettingsError(
            f"executors could not run a Python task ({failed})",
            "Spark's log says why: they need Python with pyarrow, pandas and this package; or on_executors=False: the "
            "driver does the work",
        )
    wrong = sorted(found - {_vesica.__version__})
    if wrong:
        what = f"version {wrong[-1]} of this package" if wrong[-1] else "no package vesica"
        raise SettingsError(
            f"executors have {what}; the driver has version {_vesica.__version__}",
            "install the same wheel on all executors, or send it with spark.submit.pyFiles or an archive of the "
            "environment; or on_executors=False: the driver does the work",
        )


def looks_for(package: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that yields the version of a package where it runs, or "" without one.

    It imports no module of this package.
    """

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib

        import pyarrow

        for batch in batches:
            try:
                version = importlib.import_module(package).__version__
            except ImportError:
                version = ""
            yield pyarrow.record_batch([pyarrow.array([version] * len(batch))], ["found"])

    return look
