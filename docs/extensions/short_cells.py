"""Short cells of tables are never broken: a number such as 1.2e-7 has a hyphen at which browsers break lines."""

from __future__ import annotations

from typing import Any

SHORT = 16  # characters: a number, a pair of numbers, a price


def _mark(_app: Any, doctree: Any, _name: str) -> None:
    from docutils.nodes import entry

    for cell in doctree.findall(entry):
        if len(cell.astext()) <= SHORT:
            cell["classes"].append("short")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("doctree-resolved", _mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
