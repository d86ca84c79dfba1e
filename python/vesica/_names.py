"""Unknown names of arguments, with the nearest known one."""

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
    """Wraps `function`: for an unknown argument, the error names the nearest known one."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        check_names(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return checked
