"""Names of arguments that are not known, with the nearest one that is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def check_names(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an argument that `function` does not know.

    Raises:
        TypeError: With the nearest name, if one is near.
    """
    names = list(known)
    for name in given:
        if name not in names:
            # Only after a mistake.
            import difflib

            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def suggests_names(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """`function`, which names the nearest argument where one is not known."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        check_names(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return checked
