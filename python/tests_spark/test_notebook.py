"""The notebook of Spark runs from top to bottom."""

from __future__ import annotations

import os
from pathlib import Path

import nbclient
import nbformat
import pytest
import vesica as v
from scene import LIMIT, ROOT

#: Where the kernel finds the package that is tested.
PACKAGE = Path(v.__file__).absolute().parents[1]


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    # What Jupyter and IPython write for themselves.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    (work := tmp_path / "work").mkdir()
    notebook = nbformat.read(ROOT / "docs" / "notebooks" / "spark.ipynb", as_version=4)
    place = {"metadata": {"path": str(work)}}
    client = nbclient.NotebookClient(
        notebook, timeout=LIMIT, kernel_name="python3", resources=place
    )
    client.execute()
    shown = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    tables = [one for one in shown if "text/html" in one.get("data", {})]
    assert len(tables) >= 4
    assert not list(work.iterdir()), "it leaves files behind"
