"""The notebooks of docs/notebooks run from top to bottom and draw what they draw. `python test_notebooks.py` runs them and keeps what they show."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "notebooks"


def pictures(notebook: Any) -> list[int]:
    """How many pictures each cell has."""
    return [sum("image/png" in output.get("data", {}) for output in cell.get("outputs", [])) for cell in notebook.cells]


def executed(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
    return notebook


def said(notebook: Any) -> list[str]:
    """What the cells print on standard error: warnings."""
    printed = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    return [output["text"] for output in printed if "Warning" in output["text"]]


@pytest.mark.parametrize("name", ["first-steps", "bifurcation", "beam-from-matrices", "valve"])
def test_notebook(name: str) -> None:
    path = FOLDER / f"{name}.ipynb"
    stored = nbformat.read(path, as_version=4)
    assert sum(pictures(stored)) >= 2
    now = executed(path)
    assert pictures(now) == pictures(stored) and said(now) == []


def test_no_notebook_is_forgotten() -> None:
    assert sorted(p.stem for p in FOLDER.glob("*.ipynb")) == ["beam-from-matrices", "bifurcation", "first-steps", "valve"]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(path)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
            if "outputs" in cell:
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        nbformat.write(notebook, path)
        print(path.name, pictures(notebook))
