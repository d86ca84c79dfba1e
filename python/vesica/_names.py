"""Unknown names of arguments, with the nearest known one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
Options = TypeVar("Options")


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


def made(kind: Callable[..., Options], function: str, /, *args: Any, **given: Any) -> Options:
    """Makes the options of `function` of the dataclass `kind`, from arguments of its caller.

    Raises:
        TypeError: An argument is missing or unknown.
    """
    check_names(function, given, inspect.signature(kind).parameters)
    try:
        return kind(*args, **given)
    except TypeError as error:
        text = str(error)
    # Python names the constructor, which the caller does not know.
    raise TypeError(text.replace(f"{kind.__name__}.__init__()", f"{function}()"))


def takes(
    kind: Callable[Given, Options],
) -> Callable[[Callable[[Options], Returned]], Callable[Given, Returned]]:
    """Wraps a function of options, so that it takes each field of the dataclass `kind` as an argument.

    The fields are the function's signature, for `help` and for checks of types.
    """

    def wrap(function: Callable[[Options], Returned]) -> Callable[Given, Returned]:
        # Named here as well, so that Python itself refuses calls without them.
        @functools.wraps(function)
        def checked(agreement: Any, data: Any, **given: Any) -> Returned:
            return function(made(kind, function.__name__, agreement, data, **given))

        returned = inspect.signature(function, eval_str=True).return_annotation
        shown = inspect.signature(kind, eval_str=True).replace(return_annotation=returned)
        named = {name: one.annotation for name, one in shown.parameters.items()}
        checked.__annotations__ = {**named, "return": returned}
        checked.__signature__ = shown  # type: ignore[attr-defined]
        # Programs that write references show what is wrapped.
        function.__signature__ = shown  # type: ignore[attr-defined]
        return cast(Callable[Given, Returned], checked)

    return wrap
