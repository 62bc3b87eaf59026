"""Run the notebooks and keep what they print: `python docs/notebooks/run.py`, or with names for some of them.

The tests run the same cells in their own process and keep nothing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]


def notebooks() -> list[Path]:
    """The notebooks of the docs, the tutorial first."""
    return [*sorted((DOCS / "tutorial").glob("*.ipynb")), *sorted((DOCS / "notebooks").glob("*.ipynb"))]


def run(path: Path) -> None:
    """Run a notebook in an empty folder and write its outputs into it."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/svg+xml" in data:  # one picture is enough
                data.pop("image/png", None)
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or [path.stem for path in notebooks()]:
        run(next(path for path in notebooks() if path.stem == name))
