"""The notebooks run from top to bottom, each alone, and are kept without outputs."""

from __future__ import annotations

import os
import pathlib

import nbclient
import nbformat
import pytest
import vesica as v

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "notebooks"
#: Where the kernel finds the package that is tested.
PACKAGE = pathlib.Path(v.__file__).resolve().parents[1]
#: How many figures each shows.
FIGURES = {
    "match": {"image/svg+xml": 2},
    "measure": {"image/svg+xml": 1, "image/png": 1},
    "helper": {"image/svg+xml": 1, "image/png": 1},
}
#: Notebooks that need more than this environment has: `python/tests_spark` runs them.
ELSEWHERE = ["spark"]


def read(name: str) -> nbformat.NotebookNode:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_all_notebooks_are_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {*FIGURES, *ELSEWHERE}


@pytest.mark.parametrize("name", [*FIGURES, *ELSEWHERE])
def test_it_is_kept_without_outputs(name: str) -> None:
    for cell in read(name).cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.parametrize("name", FIGURES)
def test_it_runs_from_top_to_bottom(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    # What Jupyter and IPython write for themselves.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    work = tmp_path / "work"
    work.mkdir()
    notebook = read(name)
    place = {"metadata": {"path": str(work)}}
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources=place).execute()

    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    kinds = [kind for one in outputs for kind in one.get("data", {})]
    shown = {kind: kinds.count(kind) for kind in ("image/svg+xml", "image/png")}
    drawn = sum("<svg" in one.get("data", {}).get("text/html", "") for one in outputs)
    shown["image/svg+xml"] += drawn
    assert shown == {"image/png": 0, **FIGURES[name]}
    warned = [one.text for one in outputs if one.get("name") == "stderr"]
    assert not warned
    assert not list(work.iterdir()), "it leaves files behind"
