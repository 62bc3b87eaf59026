"""Tables that can be read: short cells are never broken, and tables of prose are stacked on a narrow screen.

A number such as 1.2e-7 has a hyphen at which browsers break lines. Three columns of sentences do not fit a telephone:
there each row becomes a block, and every cell carries the heading of its column, which wide screens hide.
"""

from __future__ import annotations

from typing import Any

SHORT = 16  # characters: a number, a pair of numbers, a price
LONG = 28  # characters of code without a place to break, more than half of a narrow screen
PROSE = 18  # characters in the middle of all cells: words rather than numbers
COLUMNS = 4  # at most, to be stacked


def _mark(_app: Any, doctree: Any, _name: str) -> None:
    from docutils.nodes import entry, literal, row, table, tbody, thead

    for found in doctree.findall(table):
        for code in found.findall(literal):
            if max(map(len, code.astext().split()), default=0) > LONG:
                code["classes"].append("long")
        for cell in [cell for body in found.findall(tbody) for cell in body.findall(entry)]:
            if len(cell.astext()) <= SHORT:
                cell["classes"].append("short")
        heads = [cell for head in found.findall(thead) for cell in head.findall(entry)]
        rows = [list(line.findall(entry)) for body in found.findall(tbody) for line in body.findall(row)]
        lengths = sorted(len(cell.astext()) for line in rows for cell in line)
        if 2 < len(heads) <= COLUMNS and lengths and lengths[len(lengths) // 2] > PROSE:
            found["classes"].append("stacked")
            for line in rows:
                _label(line, heads)


def _label(line: list[Any], heads: list[Any]) -> None:
    """The heading of its column before every cell but the first."""
    from docutils.nodes import Text, inline

    for cell, head in list(zip(line, heads, strict=False))[1:]:
        if not cell.astext():
            cell["classes"].append("nothing")
        elif head.children:
            words = [word.deepcopy() for word in head.children[0].children]
            cell.children[0].insert(0, inline("", "", *words, Text(": "), classes=["label"]))


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("doctree-resolved", _mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
