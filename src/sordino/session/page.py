"""The notebook's HTML of a release: its tables, its picture, its promise."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from sordino.errors import MissingExtra, ParameterError
from sordino.explain import asked, whom
from sordino.session.blocks import blocks

if TYPE_CHECKING:
    from sordino.session.release import Release

PICTURED = 200
"""Numbers that a picture shows unasked: of a thousand it is ten metres high and takes seconds. `plot` draws them."""


def page(release: Release) -> str:
    """Tables with the intervals that were paid for, a picture where matplotlib is installed, words behind a click."""
    tables = "".join(block.html() for block in blocks(release, 110))
    rows = [
        ("asked", asked(release.event)),
        ("protects", whom(release.event.unit, release.event.neighbors)),
        ("promise", repr(release.guarantee)),
        ("release", "not in a ledger" if release.ledger_id is None else str(release.ledger_id)),
    ]
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return (
        f"<div>{tables}{drawing(release)}<table>{cells}</table>"
        f"<details><summary>What does this promise?</summary><pre>{escape(release.explain())}</pre></details></div>"
    )


def drawing(release: Release) -> str:
    """The picture as inline SVG, or that there are too many numbers; nothing without matplotlib or to compare."""
    from sordino import plots

    table = release.table
    if len(table) == 1 and table.rows[0].level is None:
        return ""
    if len(table) > PICTURED:
        return f"<p>{len(table):,} numbers are too many for a picture beside their table.</p>"
    try:
        return plots.inline(release.plot(), title=f"Picture of {asked(release.event)}")
    except (MissingExtra, ParameterError):  # no matplotlib, or an answer without a number
        return ""
