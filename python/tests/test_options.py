"""The arguments of runs and checks: what `help` shows of them, and calls with wrong ones."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import vesica as v
from support import SHOP, deal


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


@pytest.mark.parametrize("function", [v.run, v.run_async, v.check])
def test_help_shows_each_argument_with_its_type_and_default(function: Any) -> None:
    shown = parameters(function)
    assert list(shown)[:3] == ["agreement", "data", "key"]
    assert {name: one.annotation for name, one in shown.items()}.items() <= get_type_hints(
        function
    ).items()
    for name, one in shown.items():
        is_first = name in ("agreement", "data")
        kind = one.POSITIONAL_OR_KEYWORD if is_first else one.KEYWORD_ONLY
        assert one.kind is kind
        is_needed = is_first or (name == "key" and function is not v.check)
        assert (one.default is one.empty) == is_needed
    assert (shown["idle"].default, shown["header"].default) == (60.0, True)


def test_runs_and_checks_have_the_same_arguments() -> None:
    assert inspect.signature(v.run) == inspect.signature(v.run_async)
    of_check = parameters(v.check)
    assert set(of_check) - set(parameters(v.run)) == {"rows"}
    differ = {name for name, one in parameters(v.run).items() if of_check.get(name, one) != one}
    assert differ == {"key", "wait"}


def test_each_argument_of_a_run_is_described() -> None:
    described = inspect.getdoc(v.run)
    assert described is not None
    assert not [name for name in parameters(v.run) if f"\n    {name}: " not in described]


@pytest.mark.parametrize("function", [v.run, v.run_async, v.check])
def test_unknown_and_missing_arguments(function: Any) -> None:
    name = function.__name__
    unknown = rf"^{name}\(\) got an unexpected keyword argument "
    with pytest.raises(TypeError, match=unknown + r"'conect'; did you mean 'connect'\?$"):
        function("agreement.toml", "rows.csv", key=SHOP, conect="localhost:1")
    for other in ("kind", "function", "self", "_"):
        with pytest.raises(TypeError, match=f"{unknown}'{other}'"):
            function("agreement.toml", "rows.csv", key=SHOP, **{other: 1})
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 .* argument: 'data'$"):
        function("agreement.toml")
    with pytest.raises(TypeError, match=rf"^{name}\(\) takes 2 positional arguments"):
        function("agreement.toml", "rows.csv", SHOP)
    if function is not v.check:
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 .* argument: 'key'$"):
            function("agreement.toml", "rows.csv")


def test_an_unknown_argument_of_a_run_on_spark_is_found_before_rows_are_written(
    tmp_path: Path,
) -> None:
    from vesica import spark

    with pytest.raises(TypeError, match="argument 'conect'; did you mean 'connect'"):
        spark.run(object(), deal(), key=SHOP, work=str(tmp_path / "work"), conect="localhost:1")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("function", [v.run, v.run_async, v.check])
def test_a_reference_shows_the_same_arguments(function: Any) -> None:
    # pdoc shows what a decorator has wrapped.
    assert inspect.signature(function.__wrapped__) == inspect.signature(function)
